//! Access to the fields of an instruction's bits, for encoding and decoding with the same layout.

use crate::codec::error::EncodeError;
use crate::table::{Field, FieldPosition, NO_POSITION, NativeLayout};
use std::marker::PhantomData;

/// Returns a mask of the lowest `width` bits, for a width of 1 to 64.
#[inline]
pub(crate) const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Fields of a native instruction, read from and written to its bits by the layout of its format.
///
/// Everything here is inlined with a constant field, and compiles to a shift and a mask.
#[derive(Debug)]
pub(crate) struct Fields<L> {
    /// Bits 63:0. No bit range of a layout crosses into the other half.
    low: u64,
    /// Bits 127:64.
    high: u64,
    /// First field whose value did not fit.
    wrong: Option<(Field, u64)>,
    layout: PhantomData<L>,
}

impl<L: NativeLayout> Fields<L> {
    /// Wraps the bits of an instruction.
    #[inline(always)]
    pub(crate) fn new(word: u128) -> Self {
        Fields {
            low: word as u64,
            high: (word >> 64) as u64,
            wrong: None,
            layout: PhantomData,
        }
    }

    /// Returns the bits.
    #[inline(always)]
    pub(crate) fn word(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// Merges the fields of `other`, which are 0 here.
    #[inline(always)]
    pub(crate) fn join(&mut self, other: &Self) {
        self.low |= other.low;
        self.high |= other.high;
        self.wrong = self.wrong.or(other.wrong);
    }

    /// Returns the half that holds a bit.
    #[inline(always)]
    fn half(&mut self, lo: u8) -> &mut u64 {
        if lo < 64 {
            &mut self.low
        } else {
            &mut self.high
        }
    }

    /// Returns the bits of a range.
    #[inline(always)]
    fn range(&self, (lo, width): (u8, u8)) -> u64 {
        let half = if lo < 64 { self.low } else { self.high };
        match width {
            0 => 0,
            _ => half >> (lo & 63) & mask(width.into()),
        }
    }

    #[inline(always)]
    fn position(f: Field) -> &'static FieldPosition {
        L::LAYOUT.positions.get(f as usize).unwrap_or(&NO_POSITION)
    }

    #[inline(always)]
    fn more(position: &FieldPosition) -> &'static [(u8, u8)] {
        let (start, n) = (usize::from(position.more.0), usize::from(position.more.1));
        L::LAYOUT.more.get(start..start + n).unwrap_or(&[])
    }

    /// Returns the value of a field, or 0 if the layout does not have it.
    #[inline(always)]
    pub(crate) fn get(&self, f: Field) -> u64 {
        let position = Self::position(f);
        let mut value = self.range(position.first);
        let mut at = u32::from(position.first.1);
        for range in Self::more(position) {
            value |= self.range(*range) << (at & 63);
            at += u32::from(range.1);
        }
        value
    }

    /// Returns the unit of a branch target in bytes.
    pub(crate) fn target_unit(&self) -> i32 {
        L::LAYOUT.target_unit.max(1)
    }

    /// Returns the width of the field's first bit range, or 0 if the layout does not have the
    /// field.
    #[inline(always)]
    pub(crate) fn width(&self, f: Field) -> u8 {
        Self::position(f).first.1
    }

    /// Returns true if the field is not 0.
    #[inline(always)]
    pub(crate) fn on(&self, f: Field) -> bool {
        self.get(f) != 0
    }

    /// Overwrites a field. A value that does not fit is recorded for [`Self::finish`].
    #[inline(always)]
    pub(crate) fn set(&mut self, f: Field, value: u64) {
        let position = Self::position(f);
        for &(lo, width) in std::iter::once(&position.first).chain(Self::more(position)) {
            if width != 0 {
                *self.half(lo) &= !(mask(width.into()) << (lo & 63));
            }
        }
        self.put(f, value);
    }

    /// Writes a field that is 0 or holds the same value. A value that does not fit is recorded for
    /// [`Self::finish`].
    #[inline(always)]
    pub(crate) fn put(&mut self, f: Field, value: u64) {
        let position = Self::position(f);
        let left = self.put_range(position.first, value);
        let left = Self::more(position)
            .iter()
            .fold(left, |left, range| self.put_range(*range, left));
        if left != 0 {
            self.wrong = self.wrong.or(Some((f, value)));
        }
    }

    /// Writes the low bits of a value to a bit range that is 0, and returns the remaining bits.
    #[inline(always)]
    fn put_range(&mut self, (lo, width): (u8, u8), value: u64) -> u64 {
        if width == 0 {
            return value;
        }
        *self.half(lo) |= (value & mask(width.into())) << (lo & 63);
        value.checked_shr(width.into()).unwrap_or(0)
    }

    /// Returns the bits.
    ///
    /// # Errors
    /// Returns the first field whose value did not fit.
    #[inline(always)]
    pub(crate) fn finish(self) -> Result<u128, EncodeError> {
        match self.wrong {
            None => Ok(self.word()),
            Some((field, value)) => Err(EncodeError::Field {
                field: field.name(),
                layout: L::LAYOUT.name,
                value,
            }),
        }
    }
}
