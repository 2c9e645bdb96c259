//! Comment that Intel's disassembler prints after a send.

use super::Sfid;
use super::describe::{ExDesc, describe};
use crate::inst::{Desc, Inst, Src, Subfn};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::sfid::traits::{SendTraits, traits};
use std::fmt::{self, Write as _};

/// Fields of a send that its comment depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendText {
    /// Shared function in the mnemonic, or `None` if mnemonics of the platform do not name one.
    pub sfid: Option<Sfid>,
    /// Number of channels of the instruction.
    pub exec: u32,
    /// Extended descriptor.
    pub ex: Desc,
    /// Descriptor.
    pub desc: Desc,
    /// Length of source 1 in GRFs, if the instruction has a field for it. Otherwise it is taken
    /// from an immediate extended descriptor.
    pub src1_len: Option<u8>,
    /// True if source 1 is null or absent.
    pub src1_null: bool,
}

/// Returns the comment, without the `// `. It gives the lengths that are written and read back, the
/// shared function if the platform's mnemonics do not name it, and the message.
///
/// ```
/// use gantry_isa_gen::Platform;
/// use gantry_isa_gen::inst::Desc;
/// use gantry_isa_gen::message::{SendText, comment};
/// let send = SendText {
///     sfid: None,
///     exec: 16,
///     ex: Desc::Imm(0x8c),
///     desc: Desc::Imm(0x0402_5e00),
///     src1_len: None,
///     src1_null: false,
/// };
/// assert_eq!(
///     comment(Platform::Gen9, &send),
///     "wr:2+2, rd:0; hdc.dc1; untyped surface write with x"
/// );
/// ```
pub fn comment(platform: Platform, send: &SendText) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write(&traits(platform), send, &mut out);
    out
}

impl SendText {
    /// Extracts the fields of a send, or returns `None` for other instructions.
    pub fn of(inst: &Inst<Reg>) -> Option<SendText> {
        let descs = inst.send?;
        Some(SendText {
            sfid: match inst.subfn {
                Subfn::Send(sfid) => Some(sfid),
                _ => None,
            },
            exec: inst.exec.channels(),
            ex: descs.ex,
            desc: descs.desc,
            src1_len: descs.src1_len,
            src1_null: match inst.srcs[1] {
                Src::Direct { at, .. } => at.reg.is_null(),
                _ => true,
            },
        })
    }
}

/// Returns the dword of a0 that holds a descriptor.
fn sub(d: &Desc) -> u16 {
    match d {
        Desc::Reg(r) => r.sub / 4,
        Desc::Imm(_) => 0,
    }
}

fn write(t: &SendTraits, send: &SendText, out: &mut String) -> fmt::Result {
    let ex = match send.ex {
        Desc::Imm(v) => ExDesc::Imm(v),
        Desc::Reg(_) => ExDesc::Reg(sub(&send.ex)),
    };
    let sfid = match ex {
        _ if !t.sfid_in_ex => send.sfid,
        ExDesc::Imm(v) => Some(Sfid::of_ex_desc(v)),
        ExDesc::Reg(_) => None,
    };
    let lsc_port = matches!(sfid, Some(Sfid::UGM | Sfid::UGML | Sfid::SLM))
        || (t.lsc && sfid == Some(Sfid::TGM));
    match send.desc {
        Desc::Imm(v) => {
            write!(out, "wr:{}", v >> 25 & 15)?;
            if v >> 19 & 1 == 1 && !lsc_port {
                out.push('h');
            }
        }
        Desc::Reg(_) => write!(out, "wr:a0.{}[28:25]", sub(&send.desc))?,
    }
    match (send.src1_len, ex) {
        (Some(n), _) => write!(out, "+{n}")?,
        (None, ExDesc::Imm(v)) => write!(out, "+{}", v >> 6 & 31)?,
        (None, ExDesc::Reg(_)) if send.src1_null => out.push_str("+0"),
        (None, ExDesc::Reg(a)) => write!(out, "+a0.{a}[10:6]")?,
    }
    match send.desc {
        Desc::Imm(v) => write!(out, ", rd:{}", v >> 20 & 31)?,
        Desc::Reg(_) => write!(out, ", rd:a0.{}[24:20]", sub(&send.desc))?,
    }
    match ex {
        ExDesc::Reg(a) if t.sfid_in_ex => write!(out, "; sfid a0.{a}[3:0]")?,
        ExDesc::Imm(v) if t.sfid_in_ex => {
            write!(out, "; {}", t.long_name(Sfid::of_ex_desc(v)))?;
        }
        _ => {}
    }
    let Desc::Imm(desc) = send.desc else {
        return Ok(());
    };
    let d = describe(t, sfid, send.exec, ex, desc, false);
    write!(out, "; {}", if d.text.is_empty() { "?" } else { &d.text })?;
    let names = ["u", "u,v", "u,v,r", "u,v,r,lod"];
    let coordinates = d.coordinate_grfs.map_or(0, |each| (desc >> 25 & 15) / each);
    if let Some(name) = coordinates
        .checked_sub(1)
        .and_then(|n| names.get(n as usize))
    {
        write!(out, "; {name}")?;
    }
    Ok(())
}
