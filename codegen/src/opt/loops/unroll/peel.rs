//! Loop peeling: the first iteration goes before the loop, if that simplifies the other iterations.
//!
//! A loop may carry a value that is the same from the second iteration on. Examples are a flag for
//! the first iteration, or the start value. After peeling it is no parameter, and pure operations
//! on it alone are loop-invariant. A compare of the counter may differ in the first iteration alone
//! (`i == 0`). It becomes a constant in both parts, as do the branches on it.
//!
//! The peeled iteration is a copy of the loop's blocks. Its condition may leave the loop at once.
//! So the blocks after the loop take the header's values that they use as parameters.
//!
//! Limits: [`LOOP`] instructions of a loop, [`FUNCTION`] instructions of all copies, [`LOOPS`]
//! loops of a function. A loop is peeled if one in [`WORTH`] of its instructions disappears from
//! the rest.

use super::shape::LoopShape;
use super::{constant, shape, size};
use crate::ir::instructions::ValueList;
use crate::ir::{Block, Function, Inst, InstData, IntCC, Opcode, Value};
use crate::opt::clone_insts::{CloneMap, jump_args};
use crate::opt::egraph::is_node;
use crate::opt::loops;
use crate::opt::{OptState, PassContext};
use rustc_hash::FxHashSet;

/// Maximal instructions of a loop.
const LOOP: usize = 100;
/// Maximal instructions of the copies of all loops of a function.
const FUNCTION: usize = 1024;
/// Maximal loops of a function: each needs a search for the uses of its header's values.
const LOOPS: usize = 32;
/// One in this many instructions of a loop has to disappear.
const WORTH: usize = 8;
/// Weight of a branch on a constant: itself and part of the code that it skips.
const BRANCH: usize = 3;

/// Effect of peeling a loop.
struct PeelGain {
    /// Indices of parameters that are the same from the second iteration on.
    same: Vec<usize>,
    /// Compares, with their constant result from the second iteration on.
    known: Vec<(Inst, bool)>,
}

/// Runs the pass. Returns the number of peeled loops.
pub(in crate::opt) fn run(func: &mut Function, _: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let loops = loops::find(func, &cfg);
    if loops.loops.is_empty() {
        return 0;
    }
    let mut left = FUNCTION;
    let mut found = Vec::new();
    for shape in shape::innermost(func, &cfg, &loops) {
        let size = size(func, &shape.blocks, None);
        if found.len() == LOOPS {
            break;
        }
        if size > LOOP.min(left) || shape.blocks.len() > LOOP {
            continue;
        }
        if let Some(gain) = gain(func, &shape, size) {
            left -= size;
            found.push((shape, gain));
        }
    }
    for (shape, gain) in &found {
        peel(func, shape, gain);
    }
    if !found.is_empty() {
        state.cfg.invalidate();
        state.cfg.remove_unreachable(func);
    }
    found.len() as u32
}

/// Returns the effect of peeling a loop of `size` instructions; `None` if it is too small.
fn gain(func: &Function, l: &LoopShape, size: usize) -> Option<PeelGain> {
    let inside = defined(func, &l.blocks);
    let params = func.dfg.block_params(l.header);
    let (first, next) = (jump_args(func, l.before), jump_args(func, l.latch));
    // Values that become loop-invariant.
    let mut freed: FxHashSet<Value> = FxHashSet::default();
    let mut same = Vec::new();
    for (n, (&p, (&first, &next))) in params.iter().zip(first.iter().zip(&next)).enumerate() {
        let outside = !inside.contains(&next) || immediate(func, next).is_some();
        if outside && next != first {
            same.push(n);
            freed.insert(p);
        }
    }
    let counted = UnitCounter::of(func, l, &inside);
    let mut known = Vec::new();
    let mut goes = 0;
    for &inst in l.blocks.iter().flat_map(|&b| func.layout.insts(b)) {
        let data = func.dfg.data(inst);
        if let InstData::Brif { cond, .. } = data {
            let by = known
                .iter()
                .any(|&(i, _)| func.dfg.first_result(i) == Some(*cond));
            goes += if by || freed.contains(cond) {
                BRANCH
            } else {
                0
            };
            continue;
        }
        if let Some(then) = counted.as_ref().and_then(|c| c.in_all_others(func, data)) {
            known.push((inst, then));
            goes += 1;
            continue;
        }
        let (mut all, mut any) = (is_node(data), false);
        data.for_each_arg(&func.dfg, |v| {
            let free = freed.contains(&v);
            any |= free;
            all &= free || !inside.contains(&v) || immediate(func, v).is_some();
        });
        if let (true, true, Some(v)) = (all, any, func.dfg.first_result(inst)) {
            freed.insert(v);
            // A source region is part of its readers.
            goes += usize::from(!matches!(data, InstData::RdRegion { .. }));
        }
    }
    (goes > 0 && goes * WORTH >= size).then_some(PeelGain { same, known })
}

/// Returns the values that blocks define.
fn defined(func: &Function, blocks: &[Block]) -> FxHashSet<Value> {
    let mut out = FxHashSet::default();
    for &block in blocks {
        let insts = func.layout.insts(block).iter();
        let results = insts.flat_map(|&i| func.dfg.results(i));
        for &v in func.dfg.block_params(block).iter().chain(results) {
            out.insert(v);
        }
    }
    out
}

/// Returns the instruction of an immediate.
fn immediate(func: &Function, v: Value) -> Option<InstData> {
    let data = *func.dfg.data(func.dfg.def_inst(v)?);
    matches!(data, InstData::Imm { .. }).then_some(data)
}

/// Counter with a step of 1 or -1 that ends at a compare with a loop-invariant value. It never
/// returns to its first value: before that it would take every value, including the one that ends
/// the loop.
struct UnitCounter {
    number: Value,
    /// First value.
    start: Value,
    /// Set if the counter grows without wrapping; true for signed numbers.
    grows: Option<bool>,
}

impl UnitCounter {
    fn of(func: &Function, l: &LoopShape, inside: &FxHashSet<Value>) -> Option<UnitCounter> {
        let InstData::IntCompare { cond, args, .. } = *func.dfg.data(func.dfg.def_inst(l.cond)?)
        else {
            return None;
        };
        let (place, step) = l.counts(func, args[0])?;
        if inside.contains(&args[1]) && immediate(func, args[1]).is_none() {
            return None;
        }
        let mask = func.dfg.ty(args[0]).scalar().mask();
        if step != 1 && step != mask {
            return None;
        }
        let goes_on = if l.body == 0 { cond } else { cond.inverse() };
        let grows = match goes_on {
            IntCC::SignedLessThan => Some(true),
            IntCC::UnsignedLessThan => Some(false),
            IntCC::NotEqual | IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => None,
            _ => return None,
        };
        Some(UnitCounter {
            number: args[0],
            start: *jump_args(func, l.before).get(place)?,
            grows: grows.filter(|_| step == 1),
        })
    }

    /// Returns the result of a compare from the second iteration on, if it is constant there and
    /// differs in the first iteration.
    fn in_all_others(&self, func: &Function, data: &InstData) -> Option<bool> {
        let InstData::IntCompare { cond, args, .. } = *data else {
            return None;
        };
        if args[0] != self.number {
            return None;
        }
        let start = constant(func, self.start);
        let with = constant(func, args[1]);
        let here = args[1] == self.start || start.is_some() && start == with;
        match cond {
            IntCC::Equal => here.then_some(false),
            IntCC::NotEqual => here.then_some(true),
            _ => {
                let signed = self.grows?;
                if signed != cond.is_signed() {
                    return None;
                }
                if here {
                    return ordered_result(cond, 1, 0)
                        .filter(|then| ordered_result(cond, 0, 0) != Some(*then));
                }
                let bits = func.dfg.ty(self.number).scalar().bits();
                let number = |n: u64| {
                    if signed {
                        i128::from((n << (64 - bits)) as i64 >> (64 - bits))
                    } else {
                        i128::from(n)
                    }
                };
                let (start, with) = (number(start?), number(with?));
                // Once the result has changed it stays so, as the number grows.
                ordered_result(cond, start + 1, with)
                    .filter(|then| ordered_result(cond, start, with) != Some(*then))
            }
        }
    }
}

/// Evaluates an ordered compare of two numbers; `None` for equality.
fn ordered_result(cond: IntCC, a: i128, b: i128) -> Option<bool> {
    match cond {
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => Some(a < b),
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => Some(a <= b),
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => Some(a > b),
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => Some(a >= b),
        IntCC::Equal | IntCC::NotEqual => None,
    }
}

/// Copies the first iteration before a loop.
fn peel(func: &mut Function, l: &LoopShape, gain: &PeelGain) {
    let Some(exit) = merge_after(func, l) else {
        return;
    };
    let head = func.layout.insts(l.header).to_vec();
    let params = func.dfg.block_params(l.header).to_vec();
    let mut copied = CloneMap::entering(func, l.header, l.before);
    func.layout.insts_mut(l.before).pop();
    let next = jump_args(func, l.latch);
    let mut constants = Vec::new();
    for &place in &gain.same {
        if let Some(data) = next.get(place).and_then(|&v| immediate(func, v)) {
            let imm = func.dfg.make_inst(data, &[func.dfg.ty(params[place])]);
            func.layout.append_inst(l.before, imm);
            constants.extend(func.dfg.first_result(imm).map(|v| (place, v)));
        }
    }
    let mut order = Vec::new();
    let others: Vec<Block> = l.blocks[1..].iter().copied().chain([exit]).collect();
    copied.make_blocks(func, &others, &mut order);
    for &inst in &head {
        copied.inst(func, inst, l.before);
    }
    copied.fill_blocks(func, &others);
    func.layout.insert_before(l.header, &order);
    for from in [l.latch, copied.block(l.latch)] {
        let Some(jump) = func.layout.terminator(from) else {
            continue;
        };
        let (dests, pool) = func.dfg.destinations_mut(jump);
        for dest in dests {
            let args = dest.args.as_mut_slice(pool);
            for &(place, v) in &constants {
                if let Some(arg) = args.get_mut(place) {
                    *arg = v;
                }
            }
        }
    }
    for &(inst, then) in &gain.known {
        let opcode = Opcode::Bconst;
        let bits = u64::from(then);
        *func.dfg.data_mut(inst) = InstData::Imm { opcode, bits };
    }
}

/// Turns uses of the header's values after a loop into block parameters, since there will be two
/// paths there. Returns a new block on the exit edge of the header.
fn merge_after(func: &mut Function, l: &LoopShape) -> Option<Block> {
    let own = defined(func, &l.blocks[..1]);
    let inside: FxHashSet<Block> = l.blocks.iter().copied().collect();
    let blocks = func.layout.blocks().iter();
    let outside = blocks.filter(|b| !inside.contains(b));
    let outside: Vec<Inst> = outside
        .flat_map(|&b| func.layout.insts(b))
        .copied()
        .collect();
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    let mut used = Vec::new();
    for &inst in &outside {
        func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
            if own.contains(&v) && seen.insert(v) {
                used.push(v);
            }
        });
    }
    let end = func.layout.terminator(l.header)?;
    let mut dest = *func.dfg.destinations(end).get(l.exit)?;
    let mut merged = CloneMap::default();
    for &v in &used {
        let ty = func.dfg.ty(v);
        let param = func.dfg.append_block_param(dest.block, ty);
        merged.values.insert(v, param);
    }
    for &inst in &outside {
        func.dfg.map_args(inst, |v| merged.value(v));
    }
    let between = func.dfg.make_block();
    func.layout.insert_before(dest.block, &[between]);
    let (dests, pool) = func.dfg.destinations_mut(end);
    let leaves = dests.get_mut(l.exit)?;
    leaves.block = between;
    leaves.args = ValueList::new();
    dest.args.extend(used, pool);
    let opcode = Opcode::Jump;
    let jump = func.dfg.make_inst(InstData::Jump { opcode, dest }, &[]);
    let loc = func.srclocs[end];
    func.set_srcloc(jump, loc);
    func.layout.append_inst(between, jump);
    Some(between)
}
