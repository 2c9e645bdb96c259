//! Disassembler: bytes to text.

use super::print::{LINE, write_inst};
use crate::decode::{DecodeError, Decoded, decode, len};
use crate::inst::{Inst, InstOpts, Src, Target};
use crate::message::{SendText, comment};
use crate::op::Op;
use crate::platform::Platform;
use crate::reg::Reg;
use crate::region::ExecSize;

/// Instruction of a program, or the error in decoding it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listing {
    /// Offset from the start of the program, in bytes.
    pub offset: usize,
    /// Size in bytes: 8 or 16.
    pub len: usize,
    /// Instruction or error.
    pub inst: Result<Inst<Reg>, DecodeError>,
}

/// Decodes a program instruction by instruction, and continues after bytes that are not an
/// instruction. Trailing bytes shorter than an instruction are omitted.
pub fn list(platform: Platform, bytes: &[u8]) -> Vec<Listing> {
    let mut out = Vec::new();
    let mut offset = 0;
    while let Some(rest) = bytes.get(offset..) {
        let len = len(rest);
        if rest.len() < len {
            break;
        }
        out.push(Listing {
            offset,
            len,
            inst: decode(platform, rest).map(|Decoded { inst, .. }| inst),
        });
        offset += len;
    }
    out
}

/// Returns the default label of an offset: `L328`, or `L_N16` before the start of the program.
pub(super) fn label_at(offset: i64) -> String {
    if offset < 0 {
        format!("L_N{}", -offset)
    } else {
        format!("L{offset}")
    }
}

/// Returns the offset that a target names, in bytes from the start of the program.
fn place(l: &Listing, s: &Src<Reg>) -> Option<i64> {
    match (s, &l.inst) {
        (Src::Target(Target::Rel(r)), _) => Some(l.offset as i64 + i64::from(*r)),
        (Src::Imm { bits, .. }, Ok(i)) if i.op == Op::Calla => Some(i64::from(*bits as u32 as i32)),
        _ => None,
    }
}

/// Disassembles a program exactly as `iga64 -d` prints it, with a comment that describes the
/// message of each send.
///
/// Bytes that are not an instruction become `illegal` with the reason in a comment. A branch to an
/// offset at which no instruction starts shows its distance in bytes.
pub fn disassemble(platform: Platform, bytes: &[u8]) -> String {
    disassemble_with(platform, bytes, |_| None)
}

/// Disassembles a program with notes. The note on the instruction at an offset precedes it, as a
/// comment on a line of its own.
pub fn disassemble_with(
    platform: Platform,
    bytes: &[u8],
    mut note: impl FnMut(u64) -> Option<String>,
) -> String {
    let insts = list(platform, bytes);
    let end = insts.last().map_or(0, |l| l.offset + l.len) as i64;
    let is_valid = |at: i64| {
        let found = insts.binary_search_by_key(&at, |l| l.offset as i64);
        found.is_ok() || at == end
    };
    // A block starts at the program's start, at targets, after branches and after the end of a
    // thread.
    let mut starts = vec![0i64];
    for l in &insts {
        let Ok(i) = &l.inst else { continue };
        if i.op.format().is_branch() || i.opts.contains(InstOpts::EOT) {
            starts.push((l.offset + l.len) as i64);
        }
        let places = i.srcs.iter().filter_map(|s| place(l, s));
        starts.extend(places.filter(|p| is_valid(*p)));
    }
    starts.sort_unstable();
    starts.dedup();
    let mut out = String::with_capacity(insts.len() * LINE);
    let mut next = starts.into_iter().peekable();
    let mut head = |out: &mut String, upto: i64| {
        while let Some(at) = next.next_if(|at| *at <= upto) {
            out.push_str(&label_at(at));
            out.push_str(":\n");
        }
    };
    for l in &insts {
        head(&mut out, l.offset as i64);
        if let Some(said) = note(l.offset as u64) {
            out.push_str("         // ");
            out.push_str(&said);
            out.push('\n');
        }
        let label = |t| match t {
            // A target outside of the program remains a distance, which assembles to the same bits.
            Target::Rel(r) => match l.offset as i64 + i64::from(r) {
                at if is_valid(at) => label_at(at),
                _ => r.to_string(),
            },
            Target::Label(n) => format!("label{n}"),
        };
        match &l.inst {
            Ok(i) => {
                write_inst(&mut out, platform, i, &label);
                if let Some(send) = SendText::of(i) {
                    out.push_str(" // ");
                    out.push_str(&comment(platform, &send));
                }
            }
            Err(e) => {
                let mut i = Inst::<Reg>::new(Op::Illegal, ExecSize::S1);
                i.opts.set(InstOpts::COMPACTED, l.len == 8);
                write_inst(&mut out, platform, &i, &label);
                out.push_str(" // ");
                out.push_str(&e.to_string());
            }
        }
        out.push('\n');
    }
    head(&mut out, i64::MAX);
    out
}
