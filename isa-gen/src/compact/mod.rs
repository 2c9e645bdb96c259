//! Compact instructions: the 8-byte form, whose omitted bits come from tables.

use crate::platform::Platform;
use crate::table::PlatformTables;
use crate::table::compact::{
    BitRange, CompactClass, CompactColumn, CompactImm, CompactShape, CompactTable, ImmKind,
    ImmPlace,
};

/// Bit of an instruction that has 8 bytes.
const COMPACTED: u64 = 1 << 29;
/// First bit of a native immediate, which extends to bit 127.
const IMM: u32 = 96;
/// Class number of opcodes whose class depends on the `math` function. Both forms have the function
/// in the same bits.
const MATH_CLASS: u8 = 0xfe;
const MATH_FN: BitRange = (24, 4);

fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width)).min(63)
}

fn get((lo, width): BitRange, word: u128) -> u64 {
    (word >> lo) as u64 & mask(width)
}

/// Concatenates several bit ranges, the first least significant.
fn gather(runs: &[BitRange], word: u64) -> u64 {
    let (mut value, mut at) = (0, 0);
    for (lo, width) in runs {
        value |= (word >> (lo & 63) & mask(*width)) << (at & 63);
        at += width;
    }
    value
}

/// Distributes a number over several bit ranges.
fn scatter(runs: &[BitRange], mut value: u64) -> u64 {
    let mut word = 0;
    for (lo, width) in runs {
        word |= (value & mask(*width)) << (lo & 63);
        value >>= width & 63;
    }
    word
}

impl CompactTable {
    /// Returns the index of an entry.
    fn find(&self, entry: u128) -> Option<u64> {
        let (low, high) = (entry as u64, (entry >> 64) as u64);
        let product = low
            .wrapping_mul(self.multiplier)
            .wrapping_add(high.wrapping_mul(self.multiplier.rotate_left(32)));
        let index = *self.slots.get((product >> (self.shift & 63)) as usize)?;
        (self.entries.get(usize::from(index)) == Some(&entry)).then_some(u64::from(index))
    }
}

impl CompactColumn {
    /// Returns the class of an instruction from its lowest 32 bits, which hold opcode and function
    /// in both forms.
    fn class(&self, low: u32) -> Option<&'static CompactClass> {
        let mut class = *self.opcodes.get((low & 0x7f) as usize)?;
        if class == MATH_CLASS {
            let f = get(MATH_FN, u128::from(low));
            class = *self.math.get(f as usize)?;
        }
        self.classes.get(usize::from(class))
    }
}

impl CompactClass {
    fn shape(&self, word: u128) -> Option<&'static CompactShape> {
        let value = get(self.test, word) as usize;
        self.shapes.get(value).copied().flatten()
    }
}

impl CompactImm {
    fn kind(&self, word: u128) -> Option<ImmKind> {
        match self.kinds {
            [only] => *only,
            kinds => kinds
                .get(get(self.type_at, word) as usize)
                .copied()
                .flatten(),
        }
    }

    fn width(&self) -> u32 {
        self.from.iter().map(|r| u32::from(r.1)).sum()
    }
}

impl ImmKind {
    /// Expands `width` compact bits to the native 32 bits.
    fn expand(self, narrow: u64, width: u32) -> u32 {
        let full = if self.halves { 16 } else { 32u32 };
        let spare = full.saturating_sub(width);
        let up = (narrow << spare) as u32;
        let value = match self.place {
            ImmPlace::Low => narrow as u32,
            ImmPlace::High => up,
            ImmPlace::Signed if self.halves => ((up as u16 as i16) >> spare) as u16 as u32,
            ImmPlace::Signed => ((up as i32) >> spare) as u32,
        };
        if self.halves {
            (value & 0xffff) | value << 16
        } else {
            value
        }
    }

    /// Compacts the native 32 bits to `width` bits, if they suffice.
    fn compact(self, native: u32, width: u32) -> Option<u64> {
        let full = if self.halves { 16 } else { 32u32 };
        let down = match self.place {
            ImmPlace::High => full.saturating_sub(width),
            ImmPlace::Low | ImmPlace::Signed => 0,
        };
        let narrow = u64::from(native >> down) & ((1 << width) - 1);
        (self.expand(narrow, width) == native).then_some(narrow)
    }
}

impl CompactShape {
    fn expand(&self, narrow: u64) -> Option<u128> {
        let mut word = 0;
        for c in self.copies {
            word |= u128::from((narrow >> c.from) & mask(c.width)) << c.to;
        }
        for t in self.tables {
            word |= t.entries.get(gather(t.index, narrow) as usize)?;
        }
        if let Some(imm) = &self.imm {
            let bits = imm
                .kind(word)?
                .expand(gather(imm.from, narrow), imm.width());
            word |= u128::from(bits) << IMM;
        }
        Some(word)
    }

    fn compact(&self, word: u128) -> Option<u64> {
        if word & !self.covered != 0 {
            return None;
        }
        let mut narrow = COMPACTED;
        if let Some(imm) = &self.imm {
            let bits = imm.kind(word)?.compact((word >> IMM) as u32, imm.width())?;
            narrow |= scatter(imm.from, bits);
        }
        for t in self.tables {
            narrow |= scatter(t.index, t.find(word & t.mask)?);
        }
        for c in self.copies {
            narrow |= get((c.to, c.width), word) << c.from;
        }
        Some(narrow)
    }
}

/// Expands a compact instruction to its native bits, or returns `None` if it is not valid. The
/// compaction bit is clear in the result.
pub(crate) fn expand(platform: Platform, compact: u64) -> Option<u128> {
    let class = PlatformTables::of(platform).compact.class(compact as u32)?;
    // The bits that select the shape are in the tables, and agree in every shape.
    let mut fallback = None;
    for shape in class.shapes.into_iter().flatten() {
        let Some(word) = shape.expand(compact) else {
            continue;
        };
        match class.shape(word) {
            Some(s) if std::ptr::eq(s, shape) => return Some(word),
            // Intel's assembler does not produce such a word, but its meaning is unambiguous.
            None if shape.imm.is_none() => fallback = Some(word),
            _ => {}
        }
    }
    fallback
}

/// Compacts a native instruction to the 8-byte form that Intel's assembler would choose, or returns
/// `None` if it has none.
///
/// ```
/// use gantry_isa_gen::{Platform, compact::compact};
/// // nop has none.
/// assert_eq!(compact(Platform::Gen9, &[0x7e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
/// ```
pub fn compact(platform: Platform, native: &[u8; 16]) -> Option<[u8; 8]> {
    let word = u128::from_le_bytes(*native);
    let class = PlatformTables::of(platform).compact.class(word as u32)?;
    if class.only_expand {
        return None;
    }
    let narrow = class.shape(word)?.compact(word)?;
    Some(narrow.to_le_bytes())
}

/// Expands an 8-byte instruction to its native form, or returns `None` if it is not valid.
///
/// ```
/// use gantry_isa_gen::{Platform, compact::{compact, native}};
/// let sync = [0x01, 0, 0x8c, 0x24, 0, 0, 0, 0];
/// let long = native(Platform::XeHpc, &sync).expect("a compacted `sync.nop`");
/// assert_eq!(compact(Platform::XeHpc, &long), Some(sync));
/// ```
pub fn native(platform: Platform, compact: &[u8; 8]) -> Option<[u8; 16]> {
    let narrow = u64::from_le_bytes(*compact);
    if narrow & COMPACTED == 0 {
        return None;
    }
    expand(platform, narrow).map(u128::to_le_bytes)
}
