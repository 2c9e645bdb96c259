//! Bits that are moved one by one: a doubleword that ends up the other way round is turned round.
//!
//! Of each doubleword that constants shift, mask or join, it is known which bit of which value each
//! of its bits is. Loops that turn a number round bit by bit come to that when they are unrolled;
//! so do exchanges of neighbours, pairs, nibbles, bytes and words.

use super::EGraph;
use crate::ir::{InstData, Opcode, Scalar, Type, Value};

/// Bits of a doubleword.
const BITS: usize = 32;

/// Where the bits of a doubleword come from.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    source: Value,
    /// The source's bit that each is; [`ZERO`] where it is zero.
    from: [u8; BITS],
}

/// No bit of the source.
const ZERO: u8 = u8::MAX;

impl Bits {
    fn of(source: Value) -> Bits {
        Bits {
            source,
            from: std::array::from_fn(|n| n as u8),
        }
    }

    /// The bits that are so many places further down, or, if that is less than zero, further up.
    fn shifted(self, down: i64) -> Bits {
        let by = usize::try_from(down.unsigned_abs()).map_or(BITS, |n| n.min(BITS));
        let mut from = [ZERO; BITS];
        if down < 0 {
            from[by..].copy_from_slice(&self.from[..BITS - by])
        } else {
            from[..BITS - by].copy_from_slice(&self.from[by..])
        }
        Bits { from, ..self }
    }
}

impl EGraph<'_> {
    /// Notes the bits of a new node; gives what turns a value round, if this is that.
    pub(super) fn turned(&mut self, this: Value, ty: Type, data: &InstData) -> Option<Value> {
        let &InstData::Binary {
            opcode,
            args: [x, y],
        } = data
        else {
            return None;
        };
        if ty.scalar() != Scalar::I32 {
            return None;
        }
        let known = |e: &Self| e.bits.get(&x).copied().unwrap_or(Bits::of(x));
        let count = |e: &Self| e.immediate(y).filter(|n| *n < BITS as u64);
        let bits = match opcode {
            Opcode::Ishl => known(self).shifted(-(count(self)? as i64)),
            Opcode::Ushr => known(self).shifted(count(self)? as i64),
            Opcode::Band => {
                let mask = self.immediate(y)?;
                let bits = known(self);
                let from = |n: usize| match mask >> n & 1 {
                    0 => ZERO,
                    _ => bits.from[n],
                };
                Bits {
                    from: std::array::from_fn(from),
                    ..bits
                }
            }
            Opcode::Bor => {
                let (a, b) = (self.bits.get(&x)?, self.bits.get(&y)?);
                let apart = (0..BITS).all(|n| a.from[n] == ZERO || b.from[n] == ZERO);
                if a.source != b.source || !apart {
                    return None;
                }
                Bits {
                    from: std::array::from_fn(|n| a.from[n].min(b.from[n])),
                    ..*a
                }
            }
            _ => return None,
        };
        self.bits.insert(this, bits);
        let round = (0..BITS).all(|n| usize::from(bits.from[n]) == BITS - 1 - n);
        if opcode != Opcode::Bor || !round || self.ty(bits.source) != ty {
            return None;
        }
        let (opcode, arg) = (Opcode::Bfrev, bits.source);
        Some(self.node(ty, InstData::Unary { opcode, arg }, None))
    }
}
