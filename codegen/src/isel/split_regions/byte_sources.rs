//! Byte sources where only words can be: the second one from Gen11 on, and factors from Xe on.

use super::repair::word;
use super::{Legalizer, WidenedBytes};
use crate::mir::bale::{Bale, BaleSrc, View};
use crate::mir::{Access, MInst};
use crate::rule_coverage::Repair;
use gantry_isa_gen::Op;

/// Widened sources that later operations may read.
pub(super) const MAX_WIDENED: usize = 8;
/// Maximum number of instructions from one reader of widened bytes to another.
const NEAR: usize = 100;

impl Legalizer<'_> {
    /// Widens byte factors, or source 1, to words on platforms that allow no bytes there. Sources
    /// that commute are exchanged instead, if only the second one has bytes.
    pub(super) fn byte_source1(&mut self, b: &mut Bale) {
        if b.operation.op == Op::Mul
            && !self.target.features().byte_factors
            && let Some(BaleSrc::View(v, m)) = b.operation.srcs[0]
            && v.ty.bytes() == 1
        {
            self.fired.repair(Repair::ByteFactor);
            let v = self.copied(v, b.lanes, word(v.ty), b.lanes);
            b.operation.srcs[0] = Some(BaleSrc::View(v, m));
        }
        if self.target.features().byte_src1 || b.is_ternary() {
            return;
        }
        if let Some(BaleSrc::View(v, m)) = b.operation.srcs[1]
            && v.ty.bytes() == 1
        {
            let o = &mut b.operation;
            let commutes = matches!(o.op, Op::Add | Op::And | Op::Or | Op::Xor | Op::Avg)
                || o.op == Op::Sel && o.cond.is_some() && o.ty.is_int();
            if commutes && o.srcs[0].is_some_and(|x| x.ty().bytes() > 1) {
                o.srcs.swap(0, 1);
                return self.fired.repair(Repair::SourceOrder);
            }
            self.fired.repair(Repair::ByteSource1);
            let v = self.widened(v, b.lanes);
            b.operation.srcs[1] = Some(BaleSrc::View(v, m));
        }
    }

    /// Returns the words of a byte source: those that another operation has just read, or new ones.
    fn widened(&mut self, bytes: View, lanes: u32) -> View {
        let is_same = |w: &&WidenedBytes| w.bytes == bytes && w.lanes == lanes;
        let made = self.words.iter().rev().find(is_same);
        if let (Some(made), Some(r)) = (made, bytes.reg.as_grf())
            && bytes.index.is_none()
        {
            let since = &self.out[made.at.min(self.out.len())..];
            let writes = |m: &MInst| {
                let mut writes = false;
                m.for_each_vreg(|other, access| writes |= other == r && access != Access::Use);
                writes
            };
            if since.len() <= NEAR && !since.iter().any(writes) {
                return made.words;
            }
        }
        let words = self.copied(bytes, lanes, word(bytes.ty), lanes);
        if self.words.len() == MAX_WIDENED {
            self.words.remove(0);
        }
        self.words.push(WidenedBytes {
            bytes,
            lanes,
            words,
            at: self.out.len(),
        });
        words
    }
}
