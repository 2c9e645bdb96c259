//! Encoding of instructions: compact where possible, with the branch distances that result.

use super::NATIVE;
use crate::error::CodegenError;
use gantry_isa_gen::{self as isa, Inst, InstOpts, Op, Platform, Reg, Src, Target};

/// Bytes of a compact instruction.
const COMPACT: u32 = 8;

/// Encoded code.
pub(super) struct EncodedCode {
    pub(super) bytes: Vec<u8>,
    /// Offset of each instruction, and the end of the code.
    pub(super) offsets: Vec<u32>,
    /// Number of compact instructions.
    pub(super) compacted: u32,
}

/// Returns the bytes of an instruction.
pub(super) fn size<R: Copy>(inst: &Inst<R>) -> u32 {
    if inst.opts.contains(InstOpts::COMPACTED) {
        COMPACT
    } else {
        NATIVE as u32
    }
}

/// Returns true for branches. They are never compacted, as in Intel's assembler: their distance
/// depends on the size of other instructions.
fn goes_elsewhere(inst: &Inst<Reg>) -> bool {
    // By a register, `jmpi` goes to an entry of the table behind it.
    inst.op == Op::Jmpi || inst.srcs.iter().any(|s| matches!(s, Src::Target(_)))
}

/// Encodes instructions whose branch distances assume that none is compact. Sets the option of
/// those that become compact.
///
/// With `compact`, instructions are compacted if possible, except those at `fixed`, in order, which
/// the loader patches. With `check`, every instruction also passes the legality rules.
///
/// # Errors
/// Instruction that the encoder or the legality check rejects, which is a bug of earlier stages.
pub(super) fn encode(
    name: &str,
    platform: Platform,
    insts: &mut [Inst<Reg>],
    fixed: &[usize],
    compact: bool,
    check: bool,
) -> Result<EncodedCode, CodegenError> {
    let mut out = EncodedCode {
        bytes: Vec::with_capacity(insts.len() * NATIVE as usize),
        offsets: Vec::with_capacity(insts.len() + 1),
        compacted: 0,
    };
    let mut branches = Vec::new();
    let mut fixed = fixed.iter().peekable();
    for (i, inst) in insts.iter_mut().enumerate() {
        out.offsets.push(out.bytes.len() as u32);
        let stays = fixed.next_if(|f| **f == i).is_some();
        if goes_elsewhere(inst) {
            branches.push(i);
            out.bytes.resize(out.bytes.len() + NATIVE as usize, 0);
            continue;
        }
        let native = native(name, platform, i, inst, check)?;
        let short = if compact && !stays {
            isa::compact::compact(platform, &native)
        } else {
            None
        };
        match short {
            Some(short) => {
                inst.opts |= InstOpts::COMPACTED;
                out.bytes.extend_from_slice(&short);
                out.compacted += 1;
            }
            None => out.bytes.extend_from_slice(&native),
        }
    }
    out.offsets.push(out.bytes.len() as u32);
    for i in branches {
        let Some(inst) = insts.get_mut(i) else {
            continue;
        };
        let here = i64::from(out.offsets[i]);
        for s in &mut inst.srcs {
            if let Src::Target(Target::Rel(by)) = *s {
                let to = (i as i64 + i64::from(by / NATIVE)).max(0) as usize;
                let to = out.offsets.get(to).copied().unwrap_or(0);
                *s = Src::Target(Target::Rel((i64::from(to) - here) as i32));
            }
        }
        let native = native(name, platform, i, inst, check)?;
        let at = here as usize;
        if let Some(bytes) = out.bytes.get_mut(at..at + native.len()) {
            bytes.copy_from_slice(&native);
        }
    }
    Ok(out)
}

/// Encodes an instruction in its native form.
fn native(
    name: &str,
    platform: Platform,
    i: usize,
    inst: &Inst<Reg>,
    check: bool,
) -> Result<[u8; 16], CodegenError> {
    if check && let Some(finding) = isa::legal::check(platform, inst).first() {
        return Err(CodegenError::internal(
            name,
            format!(
                "instruction {i} is not legal: {finding}: {}",
                isa::text::print_inst(platform, inst, &|_| String::new()).trim()
            ),
        ));
    }
    isa::encode::encode(platform, inst)
        .map_err(|e| CodegenError::internal(name, format!("instruction {i} ({inst:?}): {e}")))
}
