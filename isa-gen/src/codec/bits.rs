//! The one place where fields meet bits: both directions walk the same layout.

use crate::table::{Field, Layout, NOWHERE, Place};

/// The lowest `width` bits set, for a width of 1 to 64.
#[inline]
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> 64u32.saturating_sub(width).min(63)
}

/// The fields of a native instruction, read from and written to its bits by the layout of its format.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    layout: &'static Layout,
    /// The bits, the low half first. No run of a layout lies in both.
    halves: [u64; 2],
    /// The first field that had no room for its value.
    wrong: Option<(Field, u64)>,
}

impl Fields {
    /// The fields of a word.
    pub(crate) fn new(layout: &'static Layout, word: u128) -> Self {
        Fields {
            layout,
            halves: [word as u64, (word >> 64) as u64],
            wrong: None,
        }
    }

    /// The bits.
    pub(crate) fn word(&self) -> u128 {
        let [low, high] = self.halves;
        u128::from(high) << 64 | u128::from(low)
    }

    /// The half that a bit is in.
    #[inline]
    fn half(&mut self, lo: u8) -> &mut u64 {
        let [low, high] = &mut self.halves;
        if lo < 64 { low } else { high }
    }

    /// The bits of a run.
    #[inline]
    fn run(&self, (lo, width): (u8, u8)) -> u64 {
        let [low, high] = self.halves;
        let half = if lo < 64 { low } else { high };
        half >> (lo & 63) & mask(width.into())
    }

    #[inline]
    fn place(&self, f: Field) -> &'static Place {
        self.layout.places.get(f as usize).unwrap_or(&NOWHERE)
    }

    #[inline]
    fn more(&self, place: &Place) -> &'static [(u8, u8)] {
        let (start, n) = (usize::from(place.more.0), usize::from(place.more.1));
        self.layout.more.get(start..start + n).unwrap_or(&[])
    }

    /// The field's value; 0 where the layout does not have it.
    #[inline]
    pub(crate) fn get(&self, f: Field) -> u64 {
        let place = self.place(f);
        let width = place.first.1;
        if width == 0 {
            return 0;
        }
        let mut value = self.run(place.first);
        if place.more.1 != 0 {
            let mut at = u32::from(width);
            for run in self.more(place) {
                value |= self.run(*run) << at;
                at += u32::from(run.1);
            }
        }
        value
    }

    /// Bytes that a branch target counts.
    pub(crate) fn target_unit(&self) -> i32 {
        self.layout.target_unit.max(1)
    }

    /// How many bits the field's first run has; 0 where the layout does not have the field.
    #[inline]
    pub(crate) fn width(&self, f: Field) -> u8 {
        self.place(f).first.1
    }

    /// Whether the field is not 0.
    #[inline]
    pub(crate) fn on(&self, f: Field) -> bool {
        self.get(f) != 0
    }

    /// Writes a field over what it holds. A value without room is remembered for [`Self::finish`].
    #[inline]
    pub(crate) fn set(&mut self, f: Field, value: u64) {
        let place = self.place(f);
        for &(lo, width) in std::iter::once(&place.first).chain(self.more(place)) {
            if width != 0 {
                *self.half(lo) &= !(mask(width.into()) << (lo & 63));
            }
        }
        self.put(f, value);
    }

    /// Writes a field that holds 0 so far (or the value itself). A value without room is remembered for
    /// [`Self::finish`].
    #[inline]
    pub(crate) fn put(&mut self, f: Field, value: u64) {
        if value == 0 {
            return;
        }
        let place = self.place(f);
        let (lo, width) = place.first;
        if place.more.1 == 0 && width != 0 && value <= mask(width.into()) {
            *self.half(lo) |= value << (lo & 63);
        } else {
            self.put_runs(f, value);
        }
    }

    /// The same for a field in several runs of bits, or a value without room.
    fn put_runs(&mut self, f: Field, value: u64) {
        let place = self.place(f);
        let mut left = value;
        for &(lo, width) in std::iter::once(&place.first).chain(self.more(place)) {
            if width == 0 {
                break;
            }
            *self.half(lo) |= (left & mask(width.into())) << (lo & 63);
            left = left.checked_shr(width.into()).unwrap_or(0);
        }
        if left != 0 {
            self.wrong = self.wrong.or(Some((f, value)));
        }
    }

    /// The bits, or the first field that had no room for its value.
    pub(crate) fn finish(self) -> Result<u128, (Field, u64)> {
        self.wrong.map_or(Ok(self.word()), Err)
    }
}
