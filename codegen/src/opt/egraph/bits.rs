//! Recognition of bit reversal.
//!
//! For each dword that constants shift, mask or join, the source bit of each of its bits is
//! tracked. A dword whose bits end up in reverse order becomes one `bfrev`. Loops that reverse a
//! number bit by bit have this form once they are unrolled. So do exchanges of neighbours, pairs,
//! nibbles, bytes and words.

use super::EGraph;
use crate::ir::{InstData, Opcode, Scalar, Type, Value};

/// Bits of a dword.
const BITS: usize = 32;

/// Source of each bit of a dword.
#[derive(Clone, Copy)]
pub(super) struct BitSources {
    source: Value,
    /// Bit of the source for each bit; [`ZERO`] for zero bits.
    from: [u8; BITS],
}

/// Marks a bit that is zero.
const ZERO: u8 = u8::MAX;

impl BitSources {
    fn of(source: Value) -> BitSources {
        BitSources {
            source,
            from: std::array::from_fn(|n| n as u8),
        }
    }

    /// Returns the bits shifted right by `down`, or left if that is negative.
    fn shifted(self, down: i64) -> BitSources {
        let by = usize::try_from(down.unsigned_abs()).map_or(BITS, |n| n.min(BITS));
        let mut from = [ZERO; BITS];
        if down < 0 {
            from[by..].copy_from_slice(&self.from[..BITS - by])
        } else {
            from[..BITS - by].copy_from_slice(&self.from[by..])
        }
        BitSources { from, ..self }
    }
}

impl EGraph<'_> {
    /// Tracks the bits of a new node. Returns the bit reversal that it is equal to, if any.
    pub(super) fn bit_reversal(&mut self, this: Value, ty: Type, data: &InstData) -> Option<Value> {
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
        let known = |e: &Self| e.bits.get(&x).copied().unwrap_or(BitSources::of(x));
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
                BitSources {
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
                BitSources {
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
