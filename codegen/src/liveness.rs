//! Live ranges and register demand of virtual registers in the GRF file.
//!
//! Program points: instruction `i` reads at `2i` and writes at `2i + 1`. A range is half open. An instruction that writes more than one
//! GRF while it reads writes at `2i` already: the hardware executes it in halves, and the second half would read what the
//! first one wrote.
//!
//! Needs: [`VCode`] with predecessors. Makes: ranges in order, and per instruction the bytes that are live before, during and after it.

use crate::vcode::{Access, MInst, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, Op};

/// Program points from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First point.
    pub start: u32,
    /// One past the last point.
    pub end: u32,
}

/// Bytes live around an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// Before it, its last uses included (stage 1).
    pub before: u32,
    /// What lives across it (stage 2).
    pub during: u32,
    /// After it, its results included (stage 3).
    pub after: u32,
}

impl Demand {
    /// Bytes that must exist at this instruction: the larger of before and after.
    pub fn peak(&self) -> u32 {
        self.before.max(self.after)
    }
}

/// Live ranges and demand of a function.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// Per register its ranges, in order, not touching.
    pub ranges: SecondaryMap<VReg, Vec<Range>>,
    /// Per instruction.
    pub demand: Vec<Demand>,
    /// Per instruction, the registers whose value ends there (killed by a last use).
    pub kills: Vec<Vec<VReg>>,
}

impl Liveness {
    /// The instruction of highest demand and that demand in bytes.
    pub fn peak(&self) -> (usize, u32) {
        let peak = self.demand.iter().map(Demand::peak).enumerate();
        peak.max_by_key(|&(i, d)| (d, std::cmp::Reverse(i)))
            .unwrap_or((0, 0))
    }
}

/// A set of virtual registers.
#[derive(Clone, PartialEq, Eq, Default)]
struct Set(Vec<u64>);

impl Set {
    fn new(len: usize) -> Set {
        Set(vec![0; len.div_ceil(64)])
    }

    fn insert(&mut self, r: VReg) -> bool {
        let (word, bit) = (r.index() / 64, 1 << (r.index() % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    fn remove(&mut self, r: VReg) {
        self.0[r.index() / 64] &= !(1 << (r.index() % 64));
    }

    fn contains(&self, r: VReg) -> bool {
        self.0[r.index() / 64] & 1 << (r.index() % 64) != 0
    }

    fn union(&mut self, other: &Set) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }

    fn iter(&self) -> impl Iterator<Item = VReg> + '_ {
        self.0.iter().enumerate().flat_map(|(w, &bits)| {
            std::iter::successors((bits != 0).then_some(bits), |b| {
                let rest = b & (b - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |b| VReg::new(w * 64 + b.trailing_zeros() as usize))
        })
    }
}

/// Whether an instruction writes while it still reads.
fn writes_early(m: &MInst, grf: u32) -> bool {
    match m {
        MInst::Op { inst, .. } => match inst.dst {
            Dst::Direct { at, hs, ty } if matches!(at.reg, VirtReg::Grf(_)) => {
                let message = matches!(inst.op, Op::Send | Op::Sendc | Op::Sends | Op::Sendsc);
                !message && inst.exec.channels() * u32::from(hs) * ty.bytes() > grf
            }
            _ => false,
        },
        _ => false,
    }
}

/// Registers that a block reads before it begins a value of them, and those that it begins.
fn block_effects(code: &VCode, block: VBlock, len: usize) -> (Set, Set) {
    let (mut reads, mut begins) = (Set::new(len), Set::new(len));
    for m in code.block_insts(block) {
        m.for_each_vreg(|r, a| match a {
            Access::Use | Access::Modify => {
                if !begins.contains(r) {
                    reads.insert(r);
                }
            }
            Access::Def => {
                begins.insert(r);
            }
        });
    }
    (reads, begins)
}

/// Registers live at each block's end.
fn live_out(code: &VCode, len: usize) -> Vec<Set> {
    let n = code.blocks.len();
    let effects: Vec<_> = code
        .blocks
        .keys()
        .map(|b| block_effects(code, b, len))
        .collect();
    let mut live_in: Vec<Set> = effects.iter().map(|(r, _)| r.clone()).collect();
    let mut live_out = vec![Set::new(len); n];
    let mut work: Vec<usize> = (0..n).collect();
    while let Some(b) = work.pop() {
        let mut out = std::mem::take(&mut live_out[b]);
        for s in &code.blocks[VBlock::new(b)].succs {
            out.union(&live_in[s.index()]);
        }
        let mut through = out.clone();
        for (t, begins) in through.0.iter_mut().zip(&effects[b].1.0) {
            *t &= !begins;
        }
        live_out[b] = out;
        if live_in[b].union(&through) {
            work.extend(code.blocks[VBlock::new(b)].preds.iter().map(|p| p.index()));
        }
    }
    live_out
}

/// Computes liveness.
pub fn liveness(code: &VCode) -> Liveness {
    let len = code.vregs.len();
    let outs = live_out(code, len);
    let mut ranges: SecondaryMap<VReg, Vec<Range>> = SecondaryMap::with_capacity(len);
    let mut kills = vec![Vec::new(); code.insts.len()];
    // Backwards, so each register's ranges come out last first. `open` is where a live register's range ends.
    let mut open: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(len);
    for (b, live_out) in outs.iter().enumerate().rev() {
        let block = &code.blocks[VBlock::new(b)];
        let mut live = live_out.clone();
        for r in live.iter() {
            open[r] = block.end as u32 * 2;
        }
        for i in (block.start..block.end).rev() {
            let m = &code.insts[i];
            let point = i as u32 * 2;
            let early = writes_early(m, code.grf.bytes);
            m.for_each_vreg(|r, a| {
                if a == Access::Def {
                    let end = if live.contains(r) { open[r] } else { point + 2 };
                    live.remove(r);
                    let start = if early { point } else { point + 1 };
                    ranges[r].push(Range { start, end });
                } else if a == Access::Modify && live.insert(r) {
                    open[r] = point + 2;
                }
            });
            m.for_each_vreg(|r, a| {
                if a == Access::Use && live.insert(r) {
                    open[r] = point + 1;
                    kills[i].push(r);
                }
            });
        }
        for r in live.iter() {
            ranges[r].push(Range {
                start: block.start as u32 * 2,
                end: open[r],
            });
        }
    }
    for r in code.vregs.keys() {
        let list = &mut ranges[r];
        list.sort_by_key(|x| x.start);
        list.dedup_by(|next, prev| {
            let touch = next.start <= prev.end;
            if touch {
                prev.end = prev.end.max(next.end);
            }
            touch
        });
    }
    let demand = demand(code, &ranges);
    Liveness {
        ranges,
        demand,
        kills,
    }
}

/// Sums live bytes at every point.
fn demand(code: &VCode, ranges: &SecondaryMap<VReg, Vec<Range>>) -> Vec<Demand> {
    let points = code.insts.len() * 2 + 1;
    // Bytes that begin and end at a point.
    let mut delta = vec![0i64; points + 1];
    let mut across = vec![0i64; code.insts.len() + 1];
    for (r, data) in &code.vregs {
        for range in &ranges[r] {
            delta[range.start as usize] += i64::from(data.bytes);
            delta[(range.end as usize).min(points)] -= i64::from(data.bytes);
            // Instructions that the value lives right through.
            let (first, last) = (range.start.div_ceil(2), range.end / 2);
            if last > first {
                across[first as usize] += i64::from(data.bytes);
                across[last as usize] -= i64::from(data.bytes);
            }
        }
    }
    let (mut live, mut through) = (0, 0);
    (0..code.insts.len())
        .map(|i| {
            let before = live + delta[2 * i];
            let after = before + delta[2 * i + 1];
            live = after;
            through += across[i];
            Demand {
                before: before.max(0) as u32,
                during: through.max(0) as u32,
                after: after.max(0) as u32,
            }
        })
        .collect()
}
