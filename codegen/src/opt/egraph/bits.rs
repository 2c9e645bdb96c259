//! Bits that are moved one by one: a doubleword that ends up the other way round is turned round.
//!
//! Of each doubleword that constants shift, mask or join, it is known which bit of which value each of its bits is. Loops that turn a number round bit by bit come to that when they are
//! unrolled; so do exchanges of neighbours, pairs, nibbles, bytes and words.

use super::EGraph;
use crate::ir::{InstData, Opcode, Scalar, Type, Value};

/// Bits of a doubleword.
const BITS: usize = 32;

/// Where the bits of a doubleword come from.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    source: Value,
    /// The source's bit that each is; nothing where it is zero.
    from: [Option<u8>; BITS],
}

impl Bits {
    fn of(source: Value) -> Bits {
        Bits {
            source,
            from: std::array::from_fn(|n| Some(n as u8)),
        }
    }

    /// The bits that are so many places further down, or, if that is less than zero, further up.
    fn shifted(self, down: i64) -> Bits {
        let at = |n: usize| usize::try_from(n as i64 + down).ok();
        Bits {
            from: std::array::from_fn(|n| at(n).and_then(|n| self.from.get(n).copied().flatten())),
            ..self
        }
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
                let from = |n: usize| bits.from[n].filter(|_| mask >> n & 1 == 1);
                Bits {
                    from: std::array::from_fn(from),
                    ..bits
                }
            }
            Opcode::Bor => {
                let (a, b) = (self.bits.get(&x)?, self.bits.get(&y)?);
                let apart = (0..BITS).all(|n| a.from[n].is_none() || b.from[n].is_none());
                if a.source != b.source || !apart {
                    return None;
                }
                Bits {
                    from: std::array::from_fn(|n| a.from[n].or(b.from[n])),
                    ..*a
                }
            }
            _ => return None,
        };
        self.bits.insert(this, bits);
        let round = (0..BITS).all(|n| bits.from[n] == Some((BITS - 1 - n) as u8));
        if opcode != Opcode::Bor || !round || self.ty(bits.source) != ty {
            return None;
        }
        let (opcode, arg) = (Opcode::Bfrev, bits.source);
        Some(self.node(ty, InstData::Unary { opcode, arg }, None))
    }
}
