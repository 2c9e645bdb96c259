//! Addresses of several arms: one load in their nearest common dominator.
//!
//! If each path from a block loads an address with one index, the block loads it at its end. Arms
//! then find it in a word of `a0`. Words hold nothing from block to block before the pass, so
//! another load changes no operand. Addresses of different constants have one load too, as far as
//! operands reach: that of the highest constant, as no operand may add to an address that may lead
//! before the GRF file.
//!
//! Blocks are followed only to successors that have no other predecessor. The work is linear, with
//! at most [`MOST`] addresses for each block.

use super::AddressCse;
use crate::mir::insert::{Inserted, insert};
use crate::mir::{MInst, VBlock, VCode};
use crate::sized;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, ExecSize, Type};
use smallvec::SmallVec;

/// Maximal addresses that are followed at a block.
const MOST: usize = 4;

/// Address that all paths from a point load.
#[derive(Clone, Copy)]
struct Wanted {
    /// Byte offset of the index in the GRF file.
    index: u32,
    count: ExecSize,
    /// Smallest and largest sum of base and constant.
    least: u16,
    most: u16,
    /// Number of loads.
    loads: u32,
    /// Load with the largest sum.
    load: MInst,
}

type AllWanted = SmallVec<[Wanted; MOST]>;

impl Wanted {
    fn same(&self, other: &Wanted) -> bool {
        self.index == other.index && self.count == other.count
    }
}

impl AddressCse<'_> {
    /// Returns what a load wants, if it has an index.
    fn wanted(&self, m: &MInst) -> Option<Wanted> {
        let MInst::LoadAddress {
            count,
            base,
            offset,
            index: Some((r, at)),
            ..
        } = *m
        else {
            return None;
        };
        let start = (base.map_or(0, |b| self.alloc.address[b]) + offset) as u16;
        Some(Wanted {
            index: self.alloc.address[r] + at,
            count,
            least: start,
            most: start,
            loads: 1,
            load: *m,
        })
    }

    /// Removes addresses whose index an instruction writes.
    fn drop_written(&self, m: &MInst, all: &mut AllWanted) {
        match m {
            MInst::Call { .. } => all.clear(),
            MInst::Op { inst, .. } if matches!(inst.dst, Dst::Indirect { .. }) => all.clear(),
            _ => self.each_write(m, |bytes| {
                all.retain(|w| {
                    let end = w.index + w.count.channels() * Type::Uw.bytes();
                    bytes.end <= w.index || end <= bytes.start
                });
            }),
        }
    }

    /// Returns the addresses that all paths from the end of a block load.
    fn at_end(&self, block: VBlock, begins: &SecondaryMap<VBlock, AllWanted>) -> AllWanted {
        let data = &self.code.blocks[block];
        let alone = |s: &VBlock| *s > block && self.code.blocks[*s].preds.len() == 1;
        let Some((first, others)) = data.succs.split_first() else {
            return AllWanted::new();
        };
        if !data.succs.iter().all(alone) {
            return AllWanted::new();
        }
        let mut out = begins[*first].clone();
        for s in others {
            out.retain(|w| {
                let mut there = begins[*s].iter();
                let Some(other) = there.find(|o| o.same(w)) else {
                    return false;
                };
                if other.most > w.most {
                    (w.most, w.load) = (other.most, other.load);
                }
                w.least = w.least.min(other.least);
                w.loads += other.loads;
                i32::from(w.most - w.least) < self.target.features().indirect_reach
            });
        }
        out
    }

    /// Returns loads at the ends of blocks for addresses that all their arms load.
    fn shared_by_arms(&self) -> Vec<Inserted> {
        let blocks = &self.code.blocks;
        let mut begins: SecondaryMap<VBlock, AllWanted> = sized(blocks.len());
        let mut ends: SecondaryMap<VBlock, AllWanted> = sized(blocks.len());
        for (block, data) in blocks.iter().rev() {
            let mut all = self.at_end(block, &begins);
            if data.succs.len() > 1 {
                ends[block] = all.clone();
            }
            for m in self.code.insts[data.start..data.end].iter().rev() {
                if let Some(w) = self.wanted(m) {
                    all.retain(|o| !o.same(&w));
                    all.truncate(MOST - 1);
                    all.insert(0, w);
                } else if !all.is_empty() {
                    self.drop_written(m, &mut all);
                }
            }
            begins[block] = all;
        }
        if ends.values().all(|e| e.is_empty()) {
            return Vec::new();
        }
        // Forward: addresses that are there already are not loaded again.
        let mut there: SecondaryMap<VBlock, AllWanted> = sized(blocks.len());
        let mut new = Vec::new();
        for (block, data) in blocks {
            let mut all = match data.preds[..] {
                [only] if only < block => there[only].clone(),
                _ => AllWanted::new(),
            };
            for m in &self.code.insts[data.start..data.end] {
                if let Some(w) = self.wanted(m) {
                    all.retain(|o| !o.same(&w));
                    all.truncate(MOST - 1);
                    all.insert(0, w);
                } else if !all.is_empty() {
                    self.drop_written(m, &mut all);
                }
            }
            for w in &ends[block] {
                let known = all.iter().any(|o| o.same(w));
                if !known && w.loads > 1 && all.len() < MOST {
                    new.push(Inserted {
                        at: data.end.saturating_sub(1),
                        after: false,
                        inst: w.load,
                    });
                    all.push(*w);
                }
            }
            there[block] = all;
        }
        new
    }

    /// Returns the code with a load for addresses that several arms load, and the number of new
    /// loads. `None` if there are none.
    pub(super) fn with_loads_of_arms(&self) -> Option<(VCode, u32)> {
        let loads = self.code.insts.iter();
        let two = loads.filter(|m| self.wanted(m).is_some()).nth(1).is_some();
        if self.code.blocks.len() < 3 || !two {
            return None;
        }
        let new = self.shared_by_arms();
        if new.is_empty() {
            return None;
        }
        let count = new.len() as u32;
        let mut code = self.code.clone();
        insert(&mut code, new);
        Some((code, count))
    }
}
