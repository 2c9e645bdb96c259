//! Addresses of rows: a region of many rows at one index takes an address for each row, so that one
//! instruction reads several rows that are far apart.

use super::Legalizer;
use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc, Index, Operation, View};
use crate::rule_coverage::Repair;
use gantry_isa_gen::{Op, SrcMods, Type};

/// Fewest rows that take an address each.
const FEWEST: u32 = 4;
/// Most rows that take an address each.
const MOST: u32 = 16;
/// Lanes of a packed immediate.
pub(super) const PACKED: u32 = 8;
/// The numbers 0 to 7 as a packed immediate.
const NUMBERS: u64 = 0x7654_3210;

impl Legalizer<'_> {
    /// Returns a bale whose source at one index has an index for each row instead, if that takes
    /// fewer instructions.
    pub(super) fn rows_at_one_index(&mut self, b: &Bale) -> Option<Bale> {
        let Some(BaleSrc::View(v, m)) = b.operation.srcs[0] else {
            return None;
        };
        let index = v.index.filter(|i| i.rows == 1)?;
        if v.step(0, b.lanes).is_some() || !b.lanes.is_multiple_of(v.w) {
            return None;
        }
        let rows = b.lanes / v.w;
        let stride = v.vs * v.ty.bytes();
        let last = (rows - 1).checked_mul(stride)?;
        if !(FEWEST..=MOST).contains(&rows) || u16::try_from(last).is_err() {
            return None;
        }
        let by_row = |index: Index| {
            let v = View {
                index: Some(index),
                ..v
            };
            with_source(b, v, m)
        };
        // Any word register will do for counting.
        let known = u32::from(index.known).min(stride.trailing_zeros());
        let each = Index {
            at: 0,
            rows,
            known: known as u8,
            residue: index.residue & (1u16.checked_shl(known).unwrap_or(0)).wrapping_sub(1),
            parent: 0,
            ..index
        };
        let before = self.number_of_pieces(b)?;
        let after = self.number_of_pieces(&by_row(each))?;
        // Products of the rows' numbers, and their sums with the index.
        let more = 3 + u32::from(rows > PACKED);
        if after + more >= before {
            return None;
        }
        self.fired.repair(Repair::RowAddresses);
        let start = View::scalar(VirtReg::grf(index.reg), index.at.into(), Type::Uw);
        let at = self.row_indices(start, rows, stride)?;
        Some(by_row(Index { reg: at, ..each }))
    }

    /// Returns the register of the indices of rows that are `stride` bytes apart.
    fn row_indices(&mut self, start: View, rows: u32, stride: u32) -> Option<crate::mir::VReg> {
        // One instruction reads a packed immediate.
        let counted = rows.min(PACKED).next_power_of_two();
        let numbers = self.temp(rows.max(counted) * Type::Uw.bytes());
        let all = View::contiguous(VirtReg::grf(numbers), rows, Type::Uw);
        let first = Operation::new(Op::Mov, Type::Uw, &[BaleSrc::Imm(NUMBERS, Type::Uv)]);
        self.bale(&Bale::new(counted, first, all, true));
        if let Some(more) = rows.checked_sub(PACKED).filter(|n| *n > 0) {
            let srcs = [all.plain(), BaleSrc::Imm(PACKED.into(), Type::Uw)];
            let to = View {
                offset: all.byte(PACKED),
                ..all
            };
            let next = Operation::new(Op::Add, Type::Uw, &srcs);
            self.bale(&Bale::new(more, next, to, false));
        }
        let product = if stride.is_power_of_two() {
            let count = BaleSrc::Imm(stride.trailing_zeros().into(), Type::Uw);
            self.words(rows, Op::Shl, [all.plain(), count])
        } else {
            let factor = BaleSrc::Imm(stride.into(), Type::Uw);
            self.words(rows, Op::Mul, [all.plain(), factor])
        };
        let sum = self.words(rows, Op::Add, [product.plain(), start.plain()]);
        sum.reg.as_grf()
    }

    /// Returns the number of instructions of a bale's pieces, if it can be executed.
    pub(super) fn number_of_pieces(&mut self, b: &Bale) -> Option<u32> {
        let known = self.error.take();
        let count = self.pieces(b).len() as u32;
        let failed = self.error.is_some();
        self.error = known;
        (!failed).then_some(count)
    }
}

/// Returns a bale with another first source.
fn with_source(b: &Bale, v: View, m: SrcMods) -> Bale {
    let mut out = *b;
    out.operation.srcs[0] = Some(BaleSrc::View(v, m));
    out
}
