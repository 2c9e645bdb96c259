//! The one place where fields meet bits: both directions walk the same layout.

use crate::table::{Case, Cases, Field, Layout};

/// Extracts bits `lo ..= hi` of a word.
pub(crate) fn extract(word: u128, (hi, lo): (u8, u8)) -> u64 {
    let width = u32::from(hi.saturating_sub(lo)) + 1;
    ((word >> lo) as u64) & mask(width)
}

/// The word with bits `lo ..= hi` replaced.
pub(crate) fn deposit(word: u128, (hi, lo): (u8, u8), value: u64) -> u128 {
    let m = mask(u32::from(hi.saturating_sub(lo)) + 1);
    (word & !(u128::from(m) << lo)) | (u128::from(value & m) << lo)
}

/// The lowest `width` bits set, for a width of 1 to 64.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> 64u32.saturating_sub(width).min(63)
}

/// Several runs of bits as one number, the first run least significant.
pub(crate) fn gather(word: u128, parts: &[(u8, u8)]) -> u64 {
    let mut value = 0;
    let mut at = 0;
    for part in parts {
        value |= extract(word, *part).checked_shl(at).unwrap_or(0);
        at += u32::from(part.0.saturating_sub(part.1)) + 1;
    }
    value
}

/// Writes a number to several runs of bits.
pub(crate) fn scatter(mut word: u128, parts: &[(u8, u8)], mut value: u64) -> u128 {
    for part in parts {
        word = deposit(word, *part, value);
        let width = u32::from(part.0.saturating_sub(part.1)) + 1;
        value = value.checked_shr(width).unwrap_or(0);
    }
    word
}

/// The values of an instruction's fields, and the cases that decide which of them exist.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    values: [u64; Field::ALL.len()],
    set: u128,
    /// Which cases hold.
    pub cases: Cases,
}

const _: () = assert!(Field::ALL.len() <= 128 && Case::ALL.len() <= 32);

impl Fields {
    pub(crate) fn new() -> Self {
        Fields {
            values: [0; Field::ALL.len()],
            set: 0,
            cases: Cases::default(),
        }
    }

    pub(crate) fn get(&self, f: Field) -> u64 {
        self.values.get(f as usize).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, f: Field, value: u64) {
        if let Some(v) = self.values.get_mut(f as usize) {
            *v = value;
            self.set |= 1 << f as u32;
        }
    }

    pub(crate) fn on(&self, f: Field) -> bool {
        self.get(f) != 0
    }

    /// Packs every field that exists. Fails with a field that was set but does not exist, or does not fit.
    pub(crate) fn pack(&self, layout: &Layout) -> Result<u128, Field> {
        let mut word = 0;
        let mut left = self.set;
        for f in layout.fields {
            if !self.cases.allow(f.when) {
                continue;
            }
            left &= !(1 << f.field as u32);
            let value = self.get(f.field);
            if value == 0 {
                continue;
            }
            let width: u32 = f.parts.iter().map(|p| u32::from(p.0 - p.1) + 1).sum();
            if value & !mask(width) != 0 {
                return Err(f.field);
            }
            word = scatter(word, f.parts, value);
        }
        match Field::ALL.get(left.trailing_zeros() as usize) {
            // A zero is what an absent field holds anyway.
            Some(f) if self.get(*f) != 0 => Err(*f),
            _ => Ok(word),
        }
    }

    /// Reads every field that exists under the cases known so far.
    pub(crate) fn unpack(&mut self, layout: &Layout, word: u128) {
        for f in layout.fields {
            if self.cases.allow(f.when) {
                self.set(f.field, gather(word, f.parts));
            }
        }
    }
}

/// Reads one field, whatever the cases.
pub(crate) fn peek(layout: &Layout, word: u128, field: Field) -> u64 {
    layout
        .fields
        .iter()
        .find(|f| f.field == field)
        .map_or(0, |f| gather(word, f.parts))
}
