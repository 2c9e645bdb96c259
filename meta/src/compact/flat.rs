//! Compact forms per shape, as `isa-gen` uses them: without conditions, and each table with its
//! inverse.

use super::{BitCopy, CompactForm, CompactTable, ImmKind, OperandShape, OperandShapes};
use crate::layout::Bits;

/// Bits of a native immediate.
pub(super) const IMM: Bits = Bits { hi: 127, lo: 96 };

/// Returns the number of bits.
pub(super) fn width(b: Bits) -> u32 {
    u32::from(b.hi.saturating_sub(b.lo)) + 1
}

/// Returns a mask of the bits in a word.
pub(super) fn mask(b: Bits) -> u128 {
    (u128::MAX >> (128 - width(b).min(128))) << b.lo
}

/// Inverse of a table: the index of an entry by a multiplicative hash without collisions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InverseTable {
    /// Multiplier; see [`InverseTable::slot`].
    pub multiplier: u64,
    /// Right shift of the product.
    pub shift: u32,
    /// Index into the entries by slot. An empty slot has 0, since the entry is compared anyway.
    pub slots: Vec<u8>,
}

impl InverseTable {
    /// Computes the inverse of the entries. Of equal entries, the first counts.
    pub fn of(entries: &[u128]) -> InverseTable {
        let mut first: Vec<(u128, u8)> = Vec::new();
        for (i, e) in (0..).zip(entries) {
            if !first.iter().any(|(x, _)| x == e) {
                first.push((*e, i));
            }
        }
        let mut bits = entries.len().next_power_of_two().trailing_zeros() + 1;
        let mut multiplier = 0x9e37_79b9_7f4a_7c15u64;
        loop {
            for _ in 0..4000 {
                if let Some(slots) = InverseTable::slots(&first, multiplier, bits) {
                    return InverseTable {
                        multiplier,
                        shift: 64 - bits,
                        slots,
                    };
                }
                // Any sequence of odd numbers works.
                multiplier = multiplier
                    .rotate_left(23)
                    .wrapping_mul(0xd134_2543_de82_ef95)
                    | 1;
            }
            bits += 1;
        }
    }

    /// Returns the slot of an entry. `gantry_isa_gen::compact` computes the same.
    pub fn slot(entry: u128, multiplier: u64, shift: u32) -> usize {
        let (low, high) = (entry as u64, (entry >> 64) as u64);
        let product = low
            .wrapping_mul(multiplier)
            .wrapping_add(high.wrapping_mul(multiplier.rotate_left(32)));
        (product >> shift) as usize
    }

    fn slots(first: &[(u128, u8)], multiplier: u64, bits: u32) -> Option<Vec<u8>> {
        let mut slots: Vec<Option<u8>> = vec![None; 1 << bits];
        for (e, i) in first {
            let slot = slots.get_mut(InverseTable::slot(*e, multiplier, 64 - bits))?;
            if slot.replace(*i).is_some() {
                return None;
            }
        }
        Some(slots.into_iter().map(|s| s.unwrap_or(0)).collect())
    }
}

/// Table in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatTable {
    /// Bits of the index in the compact form, the least significant first.
    pub index: Vec<Bits>,
    /// Native bits that the table supplies.
    pub mask: u128,
    /// Entry per index value, with its bits in native position.
    pub entries: Vec<u128>,
    /// Map from an entry to its index.
    pub find: InverseTable,
}

/// Immediate in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatImm {
    /// Bits in the compact form, the least significant first.
    pub from: Vec<Bits>,
    /// Expansion for each value of the type field, or one for all.
    pub kinds: Vec<Option<ImmKind>>,
    /// Native type field.
    pub type_at: Bits,
}

/// Form in one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatShape {
    /// Tables that apply.
    pub tables: Vec<FlatTable>,
    /// Copies that apply.
    pub copies: Vec<BitCopy>,
    /// Immediate.
    pub imm: Option<FlatImm>,
    /// Native bits that it can represent.
    pub covered: u128,
}

impl CompactForm {
    /// Returns the form in one shape.
    pub fn flat(&self, shape: OperandShape) -> FlatShape {
        let tables: Vec<FlatTable> = self
            .tables
            .iter()
            .filter_map(|t| flat_table(t, shape))
            .collect();
        let copies: Vec<BitCopy> = self
            .copies
            .iter()
            .filter(|c| c.shapes.contains(shape))
            .copied()
            .collect();
        let imm = self
            .imm
            .as_ref()
            .filter(|_| OperandShapes::IMM.contains(shape));
        let imm = imm.map(|i| FlatImm {
            from: i.from.clone(),
            kinds: i.kinds.clone(),
            type_at: match shape {
                OperandShape::OneImm => i.type_at[0],
                _ => i.type_at[1],
            },
        });
        let covered = tables
            .iter()
            .map(|t| t.mask)
            .chain(copies.iter().map(|c| mask(c.to)))
            .chain(imm.iter().map(|_| mask(IMM)))
            .fold(0, |all, m| all | m);
        FlatShape {
            tables,
            copies,
            imm,
            covered,
        }
    }
}

fn flat_table(t: &CompactTable, shape: OperandShape) -> Option<FlatTable> {
    let to: Vec<Bits> =
        t.to.iter()
            .filter(|(_, s)| s.contains(shape))
            .map(|(b, _)| *b)
            .collect();
    if to.is_empty() {
        return None;
    }
    let entries: Vec<u128> = t.entries.iter().map(|e| spread(*e, &to)).collect();
    Some(FlatTable {
        index: t.index.clone(),
        mask: to.iter().fold(0, |all, b| all | mask(*b)),
        find: InverseTable::of(&entries),
        entries,
    })
}

/// Distributes the lowest bits of an entry to their positions.
fn spread(mut entry: u64, to: &[Bits]) -> u128 {
    let mut word = 0;
    for b in to {
        word |= (u128::from(entry) << b.lo) & mask(*b);
        entry = entry.checked_shr(width(*b)).unwrap_or(0);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_finds_the_first() {
        let entries = [7, 3 << 90, 7, 9];
        let f = InverseTable::of(&entries);
        let find = |e| f.slots[InverseTable::slot(e, f.multiplier, f.shift)];
        assert_eq!(entries.map(find), [0, 1, 0, 3]);
    }

    #[test]
    fn entries_are_spread_over_their_ranges() {
        let to = [Bits { hi: 9, lo: 8 }, Bits { hi: 100, lo: 99 }];
        assert_eq!(spread(0b1_10_01, &to), 1 << 8 | 1 << 100);
    }
}
