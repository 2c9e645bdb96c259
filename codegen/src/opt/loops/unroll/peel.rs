//! The first iteration of a loop before it, where the others are then simpler.
//!
//! A value that a loop carries and that is the same from the second iteration on (a flag that says
//! "the first", what the first iteration began with) is no parameter any longer then, and what is
//! made of it alone is computed before the loop. A compare of the number that is counted that is
//! one thing in the first iteration and another in all others (`i == 0`) is a constant in both, and
//! so the branches by it are none.
//!
//! The iteration is a copy of the loop's blocks: its condition may leave the loop at once, so that
//! what is behind the loop gets what it reads of the header as parameters.
//!
//! Bounds: [`LOOP`] instructions of a loop, [`FUNCTION`] of all copies, [`LOOPS`] loops of a
//! function; a loop is peeled if one of [`WORTH`] of its instructions goes from the rest.

use super::shape::Shape;
use super::{constant, shape, size};
use crate::ir::instructions::ValueList;
use crate::ir::{Block, Function, Inst, InstData, IntCC, Opcode, Value};
use crate::opt::clone_insts::{Copied, jump_args};
use crate::opt::egraph::is_node;
use crate::opt::loops::Loops;
use crate::opt::{Facts, State};
use rustc_hash::FxHashSet;

/// Instructions of a loop.
const LOOP: usize = 100;
/// Instructions of the copies of all loops of a function.
const FUNCTION: usize = 1024;
/// Loops of a function: each asks who uses what its header computes.
const LOOPS: usize = 32;
/// One of how many instructions of a loop has to go.
const WORTH: usize = 8;
/// What a branch by a constant counts as: itself, and a part of what it goes around.
const BRANCH: usize = 3;

/// What peeling a loop makes of it.
struct Gain {
    /// Places of parameters that are the same from the second iteration on.
    same: Vec<usize>,
    /// Compares, and what they are from the second iteration on.
    known: Vec<(Inst, bool)>,
}

/// The pass. Gives how many loops are peeled.
pub(in crate::opt) fn run(func: &mut Function, _: &Facts<'_>, state: &mut State) -> u32 {
    let cfg = state.flow.of(func);
    let loops = Loops::new(func, &cfg);
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
        state.flow.changed();
        state.flow.remove_unreachable(func);
    }
    found.len() as u32
}

/// What peeling makes of a loop of so many instructions; none where that is too little.
fn gain(func: &Function, l: &Shape, size: usize) -> Option<Gain> {
    let inside = defined(func, &l.blocks);
    let params = func.dfg.block_params(l.header);
    let (first, next) = (jump_args(func, l.before), jump_args(func, l.latch));
    // What is no parameter then, and what is made of that.
    let mut freed: FxHashSet<Value> = FxHashSet::default();
    let mut same = Vec::new();
    for (n, (&p, (&first, &next))) in params.iter().zip(first.iter().zip(&next)).enumerate() {
        let outside = !inside.contains(&next) || immediate(func, next).is_some();
        if outside && next != first {
            same.push(n);
            freed.insert(p);
        }
    }
    let counted = Counted::of(func, l, &inside);
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
            // A view is part of who reads it.
            goes += usize::from(!matches!(data, InstData::RdRegion { .. }));
        }
    }
    (goes > 0 && goes * WORTH >= size).then_some(Gain { same, known })
}

/// What blocks define.
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

/// The instruction of a value that is an immediate.
fn immediate(func: &Function, v: Value) -> Option<InstData> {
    let data = *func.dfg.data(func.dfg.def_inst(v)?);
    matches!(data, InstData::Imm { .. }).then_some(data)
}

/// A number that each iteration adds one to, or takes one from, up to where a compare with what the
/// loop does not change ends it: it never comes back to where it began, since on the way it would
/// be each number once, and there is one that ends the loop.
struct Counted {
    number: Value,
    /// What it begins with.
    start: Value,
    /// Whether it grows without wrapping around, and whether that is of signed numbers.
    grows: Option<bool>,
}

impl Counted {
    fn of(func: &Function, l: &Shape, inside: &FxHashSet<Value>) -> Option<Counted> {
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
        Some(Counted {
            number: args[0],
            start: *jump_args(func, l.before).get(place)?,
            grows: grows.filter(|_| step == 1),
        })
    }

    /// What a compare is from the second iteration on, if that is always the same, and something
    /// else in the first.
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
                    return later(cond, 1, 0).filter(|then| later(cond, 0, 0) != Some(*then));
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
                // Once it is something else, it stays so, as the number grows.
                later(cond, start + 1, with).filter(|then| later(cond, start, with) != Some(*then))
            }
        }
    }
}

/// What an order says of two numbers; nothing of what is no order.
fn later(cond: IntCC, a: i128, b: i128) -> Option<bool> {
    match cond {
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => Some(a < b),
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => Some(a <= b),
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => Some(a > b),
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => Some(a >= b),
        IntCC::Equal | IntCC::NotEqual => None,
    }
}

/// Copies the first iteration before a loop.
fn peel(func: &mut Function, l: &Shape, gain: &Gain) {
    let Some(behind) = merge_behind(func, l) else {
        return;
    };
    let head = func.layout.insts(l.header).to_vec();
    let params = func.dfg.block_params(l.header).to_vec();
    let mut copied = Copied::entering(func, l.header, l.before);
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
    let others: Vec<Block> = l.blocks[1..].iter().copied().chain([behind]).collect();
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

/// Gives what is behind a loop what it reads of the header as parameters, as there will be two ways
/// there. Gives a block between the header and it, which only the header goes to.
fn merge_behind(func: &mut Function, l: &Shape) -> Option<Block> {
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
    let mut merged = Copied::default();
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
