//! Parsing of the parts that only sends have: payloads as whole registers, and descriptors.

use super::cursor::{Cursor, Parsed};
use super::number::descriptor;
use super::operands::{opt_type, register, scalar};
use crate::inst::{Desc, InstOpts, SendDescs, Src, SrcMods};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::types::Type;

/// Bit of the extended descriptor at which the length of source 1 starts, on platforms whose
/// instruction has no field for it.
const EX_SRC1_LEN: u32 = 6;

/// Maximum of a length.
const MOST: u32 = 31;

/// Parses a descriptor: an address sub-register or a number.
pub(super) fn desc(c: &mut Cursor<'_>, f: &Features) -> Parsed<Desc> {
    if c.sees("a") {
        return scalar(c, f, Arf::Address, 4).map(Desc::Reg);
    }
    descriptor(c).map(Desc::Imm)
}

/// Parses a payload and its length, if `:N` follows. A type is accepted and ignored.
pub(super) fn payload(c: &mut Cursor<'_>, f: &Features) -> Parsed<(Src<Reg>, Option<u8>)> {
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    let Some(reg) = register(word, f) else {
        return c.error_from(start, format!("expected a register, found `{word}`"));
    };
    let mut len = None;
    for _ in 0..2 {
        let mut ahead = c.clone();
        if len.is_none()
            && ahead.eat_close(":")
            && ahead.rest().starts_with(|c: char| c.is_ascii_digit())
        {
            len = Some(ahead.number("a payload's length", MOST)? as u8);
            *c = ahead;
        } else {
            opt_type(c)?;
        }
    }
    let s = Src::Direct {
        at: RegRef::new(reg, 0),
        region: Region::SCALAR,
        ty: Type::Ud,
        mods: SrcMods::default(),
    };
    Ok((s, len))
}

/// Reconciles the length of source 1 with the extended descriptor and the options, as Intel's
/// assembler does. `start` is the position of source 1.
pub(super) fn settle_length(
    c: &Cursor<'_>,
    platform: Platform,
    start: usize,
    send: &mut SendDescs,
    opts: &mut InstOpts,
) -> Parsed<()> {
    let f = platform.features();
    match (&mut send.ex, send.src1_len) {
        (Desc::Reg(_), Some(_)) if f.ex_bso => opts.insert(InstOpts::EX_BSO),
        (Desc::Imm(ex), len) if f.src1_len => {
            let inside = (*ex >> EX_SRC1_LEN & MOST) as u8;
            match len {
                Some(len) if inside != 0 && inside != len => {
                    return c.error_from(
                        start,
                        format!(
                            "source 1 is {len} long, but the extended descriptor says {inside}"
                        ),
                    );
                }
                _ => send.src1_len = len.or(Some(inside)),
            }
            *ex &= !(MOST << EX_SRC1_LEN);
        }
        (_, Some(_)) => {
            return c.error_from(
                start,
                format!("on {platform} the length of source 1 is in the extended descriptor"),
            );
        }
        (_, None) => {}
    }
    if opts.contains(InstOpts::EX_BSO) {
        if matches!(send.ex, Desc::Imm(_)) {
            return c.error_from(start, "{ExBSO} needs the extended descriptor in a register");
        }
        if send.src1_len.is_none() {
            return c.error_from(start, "{ExBSO} needs the length of source 1, as in `r10:4`");
        }
    }
    Ok(())
}
