//! SWSB field: a distance, a token, or a combination of both that has an encoding.

use super::{XeCtx, operand_error};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Inst, InstOpts};
use crate::op::Format;
use crate::reg::Reg;
use crate::swsb::{Distance, Pipe, Swsb, Token, TokenKind};
use crate::table::Field;
use crate::table::xe::{NO_BASE, SwsbTable};

const NAME: &str = "swsb";
/// Mask of the bits of a distance.
const DISTANCE: u64 = 7;
const KINDS: [TokenKind; 3] = [TokenKind::Set, TokenKind::Dst, TokenKind::Src];

impl SwsbTable {
    /// Returns the combinations of distance and token of a format.
    #[inline]
    pub(crate) fn pairs_of(&self, format: Format) -> &'static [(Pipe, TokenKind, u16)] {
        let [send, math, dpas, others] = self.pairs;
        match format {
            Format::XeSend => send,
            Format::Math => math,
            Format::Dpas => dpas,
            _ => others,
        }
    }
}

#[inline]
fn distance(d: Distance) -> Result<u64, EncodeError> {
    match d.n {
        1..=7 => Ok(d.n.into()),
        _ => Err(operand_error(NAME, "a distance must be 1 to 7")),
    }
}

#[inline]
fn token(t: &SwsbTable, token: Token) -> Result<u64, EncodeError> {
    if u32::from(token.sbid) >> t.token_bits != 0 {
        return Err(operand_error(NAME, "the platform has fewer tokens"));
    }
    Ok(token.sbid.into())
}

pub(super) fn lower(cx: &XeCtx, i: &Inst<Reg>) -> Result<u64, EncodeError> {
    let t = &cx.x.swsb;
    if i.opts.contains(InstOpts::NO_ACC_SB_SET) {
        return match t.no_acc {
            Some(bits) if i.swsb.is_empty() => Ok(bits.into()),
            Some(_) => Err(operand_error(
                NAME,
                "{NoAccSBSet} takes the place of an annotation",
            )),
            None => Err(operand_error(NAME, "the platform has no {NoAccSBSet}")),
        };
    }
    match (i.swsb.distance, i.swsb.token) {
        (None, None) => Ok(0),
        (Some(d), None) => match t.pipes.get(d.pipe as usize) {
            Some(base) if *base != NO_BASE => Ok(u64::from(*base) | distance(d)?),
            _ => Err(operand_error(NAME, "the platform has no such pipe")),
        },
        (None, Some(k)) => {
            let base = t.tokens.get(k.kind as usize).copied().unwrap_or(0);
            Ok(u64::from(base) | token(t, k)?)
        }
        (Some(d), Some(k)) => {
            let (_, _, base) = t
                .pairs_of(cx.c.info.format)
                .iter()
                .find(|(pipe, kind, _)| *pipe == d.pipe && *kind == k.kind)
                .ok_or_else(|| {
                    operand_error(
                        NAME,
                        "the instruction has no bits for this distance with this token",
                    )
                })?;
            Ok(u64::from(*base) | distance(d)? << t.token_bits | token(t, k)?)
        }
    }
}

pub(super) fn lift(cx: &XeCtx, bits: u64, i: &mut Inst<Reg>) -> Result<(), DecodeError> {
    if bits == 0 {
        return Ok(());
    }
    let t = &cx.x.swsb;
    if t.no_acc.is_some_and(|b| u64::from(b) == bits) {
        i.opts.insert(InstOpts::NO_ACC_SB_SET);
        return Ok(());
    }
    let low = (1u64 << t.token_bits) - 1;
    let sbid = (bits & low) as u8;
    let pipe = t
        .pipes
        .iter()
        .position(|b| u64::from(*b) == bits & !DISTANCE);
    if let Some(pipe) = pipe.and_then(|n| Pipe::ALL.get(n)) {
        let n = (bits & DISTANCE) as u8;
        // A pipe without a distance has no effect.
        i.swsb.distance = (n != 0).then_some(Distance { pipe: *pipe, n });
        return Ok(());
    }
    let kind = t.tokens.iter().position(|b| u64::from(*b) == bits & !low);
    if let Some(kind) = kind.and_then(|n| KINDS.get(n)) {
        i.swsb.token = Some(Token { sbid, kind: *kind });
        return Ok(());
    }
    let n = (bits >> t.token_bits & DISTANCE) as u8;
    let head = bits & !(low | DISTANCE << t.token_bits);
    let (pipe, kind, _) = t
        .pairs_of(cx.c.info.format)
        .iter()
        .find(|(_, _, base)| u64::from(*base) == head && n != 0)
        .ok_or_else(|| DecodeError::field(Field::Swsb, bits))?;
    i.swsb = Swsb {
        distance: Some(Distance { pipe: *pipe, n }),
        token: Some(Token { sbid, kind: *kind }),
    };
    Ok(())
}
