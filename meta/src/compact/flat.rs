//! Forms by shape, as `isa-gen` walks them: no conditions left, and each table with its inverse.

use super::{Copy, Form, ImmKind, Shape, Shapes, Table};
use crate::layout::Bits;

/// Where a native immediate is.
pub(super) const IMM: Bits = Bits { hi: 127, lo: 96 };

/// Number of bits.
pub(super) fn width(b: Bits) -> u32 {
    u32::from(b.hi.saturating_sub(b.lo)) + 1
}

/// The bits themselves, in a word.
pub(super) fn mask(b: Bits) -> u128 {
    (u128::MAX >> (128 - width(b).min(128))) << b.lo
}

/// The inverse of a table: where an entry is by a multiplicative hash without collisions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Find {
    /// The multiplier; the upper bits of the product name the slot.
    pub multiplier: u64,
    /// How far to shift the product down.
    pub shift: u32,
    /// An index into the entries by slot. An empty slot has 0, since the entry is compared anyway.
    pub slots: Vec<u8>,
}

impl Find {
    /// The inverse of the entries; of equal entries, the first counts.
    pub fn of(entries: &[u64]) -> Find {
        let mut first: Vec<(u64, u8)> = Vec::new();
        for (i, e) in (0..).zip(entries) {
            if !first.iter().any(|(x, _)| x == e) {
                first.push((*e, i));
            }
        }
        let mut bits = entries.len().next_power_of_two().trailing_zeros() + 1;
        let mut multiplier = 0x9e37_79b9_7f4a_7c15u64;
        loop {
            for _ in 0..4000 {
                if let Some(slots) = Find::slots(&first, multiplier, bits) {
                    return Find {
                        multiplier,
                        shift: 64 - bits,
                        slots,
                    };
                }
                // Any sequence of odd numbers does.
                multiplier = multiplier
                    .rotate_left(23)
                    .wrapping_mul(0xd134_2543_de82_ef95)
                    | 1;
            }
            bits += 1;
        }
    }

    fn slots(first: &[(u64, u8)], multiplier: u64, bits: u32) -> Option<Vec<u8>> {
        let mut slots: Vec<Option<u8>> = vec![None; 1 << bits];
        for (e, i) in first {
            let slot = slots.get_mut((e.wrapping_mul(multiplier) >> (64 - bits)) as usize)?;
            if slot.replace(*i).is_some() {
                return None;
            }
        }
        Some(slots.into_iter().map(|s| s.unwrap_or(0)).collect())
    }
}

/// A table in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatTable {
    /// The index's bits in the compact form, the least significant first.
    pub index: Vec<Bits>,
    /// Where an entry's bits go in the native form, the least significant first.
    pub to: Vec<Bits>,
    /// One entry per index value.
    pub entries: Vec<u64>,
    /// From an entry to its index.
    pub find: Find,
}

/// An immediate in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatImm {
    /// Its bits in the compact form, the least significant first.
    pub from: Vec<Bits>,
    /// The kind for each value of the type field, or the only kind.
    pub kinds: Vec<Option<ImmKind>>,
    /// The native type field.
    pub type_at: Bits,
}

/// A form in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatShape {
    /// The tables that apply.
    pub tables: Vec<FlatTable>,
    /// The copies that apply.
    pub copies: Vec<Copy>,
    /// The immediate.
    pub imm: Option<FlatImm>,
    /// All native bits that it can give.
    pub covered: u128,
}

impl Form {
    /// The form in one shape.
    pub fn flat(&self, shape: Shape) -> FlatShape {
        let tables: Vec<FlatTable> = self
            .tables
            .iter()
            .filter_map(|t| flat_table(t, shape))
            .collect();
        let copies: Vec<Copy> = self
            .copies
            .iter()
            .filter(|c| c.shapes.contains(shape))
            .copied()
            .collect();
        let imm = self.imm.as_ref().filter(|_| Shapes::IMM.contains(shape));
        let imm = imm.map(|i| FlatImm {
            from: i.from.clone(),
            kinds: i.kinds.clone(),
            type_at: match shape {
                Shape::OneImm => i.type_at[0],
                _ => i.type_at[1],
            },
        });
        let parts = tables.iter().flat_map(|t| &t.to);
        let covered = parts
            .chain(copies.iter().map(|c| &c.to))
            .chain(imm.iter().map(|_| &IMM))
            .fold(0, |m, b| m | mask(*b));
        FlatShape {
            tables,
            copies,
            imm,
            covered,
        }
    }
}

fn flat_table(t: &Table, shape: Shape) -> Option<FlatTable> {
    let to: Vec<Bits> =
        t.to.iter()
            .filter(|(_, s)| s.contains(shape))
            .map(|(b, _)| *b)
            .collect();
    let bits: u32 = to.iter().map(|b| width(*b)).sum();
    if bits == 0 {
        return None;
    }
    let entries: Vec<u64> = t.entries.iter().map(|e| e & ((1 << bits) - 1)).collect();
    Some(FlatTable {
        index: t.index.clone(),
        find: Find::of(&entries),
        to,
        entries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_finds_the_first() {
        let entries = [7, 3, 7, 9];
        let f = Find::of(&entries);
        let find = |e: u64| f.slots[(e.wrapping_mul(f.multiplier) >> f.shift) as usize];
        assert_eq!(entries.map(find), [0, 1, 0, 3]);
    }
}
