//! Full unrolling of loops with a constant trip count.
//!
//! The only exit is at the header, by a condition that is known in each iteration
//! ([`constants::Trial`]). The iterations become copies of the loop's blocks in sequence, with
//! constants for what is known in each. Outer loops go first: in the copies of one, the trip counts
//! of inner loops may be constants (`for (k = 0; k < j; ...)`), as are indices and branches.
//!
//! A loop that is too large for this may take its counter modulo a power of two (`w[k & 15]`), as
//! rings of values are indexed. It is unrolled by that number. The counter is then a multiple of it
//! plus a constant in each copy, and the remainders are constants.
//!
//! Limits: [`ITERATIONS`] iterations of a loop, [`LOOP`] instructions that are left of it or
//! [`ARRAYS`] where indices of vectors become constants, [`FUNCTION`] instructions that are left of
//! all loops of a function. Trials look at [`STEPS`] instructions. A function takes up to
//! [`ROUNDS`] rounds of [`LOOPS`] loops.

mod constants;
mod peel;
mod runtime;
mod shape;

pub(in crate::opt) use peel::run as peel;
pub(in crate::opt) use runtime::run as runtime;

use super::{Loop, Loops};
use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, ControlFlow, Function, Inst, InstData, IntCC, Opcode, Type, Value};
use crate::opt::cfg::simplify_cfg;
use crate::opt::clone_insts::{CloneMap, branch, jump_args};
use crate::opt::{OptState, PassContext};
use constants::{Folder, Known, Trial, TrialLimits};
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_isa_gen::sem::FpMode;
use rustc_hash::{FxHashMap, FxHashSet};
use shape::LoopShape;
use std::collections::HashSet;

/// Maximal iterations of a fully unrolled loop.
const ITERATIONS: u32 = 256;
/// Maximal trip count of a loop that is partially unrolled.
const COUNTED: u32 = 5000;
/// Maximal factor of partial unrolling, and instructions of the copies. Code size costs less than a
/// ring with variable indices.
const RING: u32 = 16;
const RING_LOOP: usize = 3200;
/// Maximal instructions that a fully unrolled loop leaves.
const LOOP: usize = 1536;
/// The same, if one in [`INDEXED`] of them reads or writes an element of a vector whose index
/// becomes a constant.
const ARRAYS: usize = 4000;
const INDEXED: usize = 8;
/// Maximal instructions that all loops of a function leave.
const FUNCTION: usize = 8192;
/// Maximal instructions that trials look at, of one loop and of a function.
const TRIAL: usize = 1 << 14;
const STEPS: usize = 1 << 16;
/// Instructions that fold in the copies of a partially unrolled loop and count as one: they are
/// made and removed again.
const FOLDED: usize = 4;
/// Maximal rounds of a function. Each unrolls loops that are in no other that it unrolls.
const ROUNDS: usize = 8;
/// Maximal loops that one round unrolls.
const LOOPS: usize = 256;

/// Rest of the limits of a function.
struct Budget {
    left: usize,
    steps: usize,
}

/// Loop with a constant trip count that can be unrolled.
struct CountedLoop {
    shape: LoopShape,
    iterations: u32,
    /// Counter, its first value and the unroll factor of partial unrolling; `None` for full
    /// unrolling.
    some: Option<(Value, u64, u32)>,
}

/// Runs the pass. Returns the number of loops that were unrolled.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let folder = Folder {
        module: ctx.module,
        mode: ctx.float.mode(),
    };
    let mut left = Budget {
        left: FUNCTION,
        steps: STEPS,
    };
    let mut done = 0;
    // Headers of partially unrolled loops: these stay loops.
    let mut rings: EntitySet<Block> = EntitySet::new();
    for _ in 0..ROUNDS {
        let cfg = state.cfg.get(func);
        let loops = super::find(func, &cfg);
        if loops.loops.is_empty() {
            break;
        }
        let mut found = find(func, &cfg, &loops, &mut left, folder, &rings);
        // Partial unrolling goes first. It gives counters new values, and `last` must not hold the
        // old ones.
        found.sort_by_key(|l| l.some.is_none());
        if found.is_empty() {
            break;
        }
        // Values of the headers at exit, which later blocks use.
        let mut last = CloneMap::default();
        for counted in &found {
            match counted.some {
                None => unroll(func, folder, counted, &mut last),
                Some(some) => {
                    rings.insert(counted.shape.header);
                    unroll_some(func, counted, some);
                }
            }
        }
        func.rename(|v| last.followed(v));
        state.cfg.invalidate();
        state.cfg.remove_unreachable(func);
        // Constants that copies pass to each other are known to the next round.
        simplify_cfg::run(func, ctx, state);
        done += found.len() as u32;
    }
    done
}

/// Returns the number of instructions of blocks. If `number` is a constant in each copy,
/// instructions that fold then count as a fraction of one.
fn size(func: &Function, blocks: &[Block], number: Option<Value>) -> usize {
    let mut known: HashSet<Value> = number.into_iter().collect();
    let (mut count, mut folded) = (0, 0usize);
    for inst in blocks.iter().flat_map(|&b| func.layout.insts(b)) {
        let data = func.dfg.data(*inst);
        let mut folds = match data {
            InstData::Imm { .. } => continue,
            InstData::RdRegion { index, .. } => index.is_none(),
            InstData::Binary { .. } | InstData::Unary { .. } => !data.opcode().info().effect,
            _ => false,
        };
        data.for_each_arg(&func.dfg, |v| {
            folds = folds && (known.contains(&v) || constant(func, v).is_some());
        });
        match func.dfg.first_result(*inst).filter(|_| folds) {
            Some(result) => {
                known.insert(result);
                folded += 1;
            }
            None => count += 1,
        }
    }
    count + folded.div_ceil(FOLDED)
}

/// Returns loops that can be unrolled, none of them in another, and reduces the budget. Outer loops
/// are tried first, with the loops in them.
fn find(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    budget: &mut Budget,
    folder: Folder<'_>,
    rings: &EntitySet<Block>,
) -> Vec<CountedLoop> {
    let shapes = shape::nested(func, cfg, loops);
    let mut trial = Trial::new(func, folder, loops, &shapes);
    let mut taken: SecondaryMap<Loop, bool> = SecondaryMap::new();
    let mut found = Vec::new();
    // Outer loops have later numbers.
    for l in loops.loops.keys().rev() {
        let up = loops.loops[l].parent.expand();
        if up.is_some_and(|up| taken[up]) {
            taken[l] = true;
            continue;
        }
        let Some(shape) = shapes[l].as_ref() else {
            continue;
        };
        if found.len() == LOOPS || rings.contains(shape.header) {
            continue;
        }
        let counted =
            full(&mut trial, shape, budget).or_else(|| partial(func, shape, budget, &folder.mode));
        if let Some(counted) = counted {
            taken[l] = true;
            found.push(counted);
        }
    }
    found
}

/// Tries to unroll a loop fully, with the loops in it.
fn full(trial: &mut Trial<'_>, shape: &LoopShape, budget: &mut Budget) -> Option<CountedLoop> {
    let limits = TrialLimits {
        iterations: ITERATIONS,
        left: ARRAYS.min(budget.left),
        steps: budget.steps.min(TRIAL),
    };
    let outcome = trial.run(shape, limits);
    budget.steps -= trial.steps().min(budget.steps);
    let outcome = outcome?;
    if outcome.left > LOOP && outcome.indices * INDEXED < outcome.left {
        return None;
    }
    budget.left -= outcome.left.min(budget.left);
    Some(CountedLoop {
        iterations: outcome.iterations,
        some: None,
        shape: shape.clone(),
    })
}

/// Tries to unroll a loop by the number that it takes its counter modulo.
fn partial(
    func: &Function,
    shape: &LoopShape,
    budget: &mut Budget,
    mode: &FpMode,
) -> Option<CountedLoop> {
    if shape.blocks.len() > LOOP || size(func, &shape.blocks, None) > LOOP {
        return None;
    }
    let compare = func.dfg.data(func.dfg.def_inst(shape.cond)?);
    let InstData::IntCompare { args, .. } = *compare else {
        return None;
    };
    let (place, step) = shape.counts(func, args[0])?;
    let start = constant(func, *jump_args(func, shape.before).get(place)?)?;
    let bound = constant(func, args[1])?;
    let ty = func.dfg.ty(args[0]);
    let ring = ring(func, &shape.blocks, args[0]).filter(|_| step == 1)?;
    let size = size(func, &shape.blocks, Some(args[0]));
    let all = size * ring as usize;
    if all > RING_LOOP.min(budget.left) {
        return None;
    }
    let mask = ty.scalar().mask();
    let mut number = start;
    let mut iterations = 0;
    loop {
        let (x, y): (Lanes, Lanes) = (vec![number], vec![bound]);
        let value = |v: Value| if v == args[0] { &x } else { &y };
        let holds = evaluate(&func.dfg, func.dfg.ty(shape.cond), compare, value, mode).ok()?;
        if (holds.first()?.first()? == &1) != (shape.body == 0) {
            break;
        }
        number = number.wrapping_add(step) & mask;
        iterations += 1;
        if iterations > COUNTED {
            return None;
        }
    }
    if !iterations.is_multiple_of(ring) {
        return None;
    }
    budget.left -= all;
    Some(CountedLoop {
        iterations,
        some: Some((args[0], start, ring)),
        shape: shape.clone(),
    })
}

/// Returns the largest power of two that a loop takes its counter, or a sum with it, modulo.
fn ring(func: &Function, blocks: &[Block], number: Value) -> Option<u32> {
    let of_number = |mut v: Value| {
        loop {
            match *func.dfg.data(func.dfg.def_inst(v)?) {
                InstData::Binary {
                    opcode: Opcode::Iadd,
                    args: [x, c],
                } if constant(func, c).is_some() => v = x,
                InstData::Unary {
                    opcode: Opcode::Uextend | Opcode::Sextend | Opcode::Ireduce,
                    arg,
                } => v = arg,
                _ => return None,
            }
            if v == number {
                return Some(());
            }
        }
    };
    let insts = blocks.iter().flat_map(|&b| func.layout.insts(b));
    let rings = insts.filter_map(|&i| match *func.dfg.data(i) {
        InstData::Binary {
            opcode: Opcode::Band,
            args: [x, m],
        } if x == number || of_number(x).is_some() => {
            let n = u32::try_from(constant(func, m)?).ok()?.checked_add(1)?;
            (n.is_power_of_two() && (2..=RING).contains(&n)).then_some(n)
        }
        _ => None,
    });
    rings.max()
}

/// Returns the bits of a constant of one lane.
fn constant(func: &Function, v: Value) -> Option<u64> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Imm {
            opcode: Opcode::Iconst,
            bits,
        } if func.dfg.ty(v).lanes() == 1 => Some(bits),
        _ => None,
    }
}

/// Unrolls a loop fully. `last` receives the header's values at exit.
fn unroll(func: &mut Function, folder: Folder<'_>, counted: &CountedLoop, last: &mut CloneMap) {
    let l = &counted.shape;
    let mut from = l.before;
    let mut copied = CloneMap::default();
    let mut order = Vec::new();
    let mut constants = Constants {
        folder,
        made: FxHashMap::default(),
        insts: Vec::new(),
    };
    let params = func.dfg.block_params(l.header).to_vec();
    for n in 0..=counted.iterations {
        // The header's parameters are the arguments of the jump at the end of the last copy.
        copied = CloneMap::entering(func, l.header, from);
        func.layout.insts_mut(from).pop();
        let head = func.layout.insts(l.header).to_vec();
        let Some((&end, head)) = head.split_last() else {
            return;
        };
        if n == counted.iterations {
            for &inst in head {
                constants.clone_inst(func, &mut copied, inst, from);
            }
            branch(func, &mut copied, end, l.exit, from);
            break;
        }
        let mut all = Vec::new();
        copied.make_blocks(func, &l.blocks[1..], &mut all);
        for &inst in head {
            constants.clone_inst(func, &mut copied, inst, from);
        }
        branch(func, &mut copied, end, l.body, from);
        let mut reached: FxHashSet<Block> = FxHashSet::default();
        reached.extend(func.dfg.destinations(end).get(l.body).map(|d| d.block));
        for (&block, &copy) in l.blocks[1..].iter().zip(&all) {
            if reached.contains(&block) {
                constants.clone_block(func, &mut copied, block, copy, &mut reached);
                order.push(copy);
            }
        }
        from = copied.block(l.latch);
    }
    func.layout.insert_before(l.header, &order);
    func.layout
        .insts_mut(l.before)
        .insert_many(0, constants.insts);
    let head = func.layout.insts(l.header).iter();
    let results = head.flat_map(|&i| func.dfg.results(i));
    for &v in params.iter().chain(results) {
        last.values.insert(v, copied.value(v));
    }
}

/// Constants that copies of a loop share. They go to the start of the block before it.
struct Constants<'a> {
    folder: Folder<'a>,
    made: FxHashMap<(Type, u64), Value>,
    insts: Vec<Inst>,
}

impl Constants<'_> {
    /// Appends a clone of an instruction, if it is no constant.
    fn clone_inst(&mut self, func: &mut Function, copied: &mut CloneMap, inst: Inst, to: Block) {
        let value = |v: Value| constants::known(func, copied.value(v));
        if let Some(Known::Bits(bits)) = self.folder.fold(func, inst, value)
            && let Some(result) = func.dfg.first_result(inst)
        {
            let ty = func.dfg.ty(result);
            let insts = &mut self.insts;
            let constant = *self.made.entry((ty, bits)).or_insert_with(|| {
                let new = func.dfg.make_inst(constants::immediate(ty, bits), &[ty]);
                insts.push(new);
                func.dfg.results(new)[0]
            });
            copied.values.insert(result, constant);
            return;
        }
        copied.inst(func, inst, to);
    }

    /// Fills the clone of a block, and adds the blocks that follow to those that are reached.
    fn clone_block(
        &mut self,
        func: &mut Function,
        copied: &mut CloneMap,
        block: Block,
        copy: Block,
        reached: &mut FxHashSet<Block>,
    ) {
        let insts = func.layout.insts(block).to_vec();
        let Some((&end, insts)) = insts.split_last() else {
            return;
        };
        for &inst in insts {
            self.clone_inst(func, copied, inst, copy);
        }
        if let InstData::Brif { cond, .. } = *func.dfg.data(end)
            && let Some(Known::Bits(bits)) = constants::known(func, copied.value(cond))
        {
            let way = usize::from(bits & 1 == 0);
            reached.extend(func.dfg.destinations(end).get(way).map(|d| d.block));
            branch(func, copied, end, way, copy);
            return;
        }
        reached.extend(func.dfg.destinations(end).iter().map(|d| d.block));
        copied.inst(func, end, copy);
    }
}

/// Unrolls a loop partially. Copies follow each iteration, and the counter is a multiple plus a
/// constant.
fn unroll_some(
    func: &mut Function,
    counted: &CountedLoop,
    (number, start, times): (Value, u64, u32),
) {
    let l = &counted.shape;
    let ty = func.dfg.ty(number);
    let params = func.dfg.block_params(l.header).to_vec();
    let Some(place) = params.iter().position(|&p| p == number) else {
        return;
    };
    let mut order = Vec::new();
    let mut from = l.latch;
    // Continuation of the original iteration. It is attached last, so that copies do not include
    // it.
    let mut behind = Vec::new();
    for n in 1..times {
        let mut copied = CloneMap::entering(func, l.header, from);
        let jump = func.layout.insts_mut(from).pop();
        let old = func.layout.insts(from).len();
        let head = func.layout.insts(l.header).to_vec();
        let Some((&end, head)) = head.split_last() else {
            return;
        };
        copied.make_blocks(func, &l.blocks[1..], &mut order);
        for &inst in head {
            copied.inst(func, inst, from);
        }
        branch(func, &mut copied, end, l.body, from);
        if n == 1 {
            behind = func.layout.insts_mut(from).drain(old..).collect();
            func.layout.insts_mut(from).extend(jump);
        }
        copied.fill_blocks(func, &l.blocks[1..]);
        from = copied.block(l.latch);
    }
    let latch = func.layout.insts_mut(l.latch);
    latch.pop();
    latch.extend(behind);
    func.layout.insert_before(l.header, &order);
    // The new counter counts iterations of the new loop. The old one is computed from it in the
    // header and in the body.
    let one = |func: &mut Function, place: &mut Vec<Inst>, data: InstData| {
        let inst = func.dfg.make_inst(data, &[ty]);
        place.push(inst);
        func.dfg.results(inst)[0]
    };
    // New instructions before the loop, at the start of the header, and at the start of the body.
    let (mut constants, mut in_header, mut in_body) = (Vec::new(), Vec::new(), Vec::new());
    let imm = |bits: u64| InstData::Imm {
        opcode: Opcode::Iconst,
        bits,
    };
    let of = |opcode: Opcode, args: [Value; 2]| InstData::Binary { opcode, args };
    let mut constant = |func: &mut Function, bits: u64| one(func, &mut constants, imm(bits));
    let none = constant(func, 0);
    let by = constant(func, 1);
    let shift = constant(func, u64::from(times.trailing_zeros()));
    let first = constant(func, start);
    let all = constant(func, u64::from(counted.iterations / times));
    let [here, there] = [&mut in_header, &mut in_body].map(|place| {
        let multiple = one(func, place, of(Opcode::Ishl, [number, shift]));
        one(func, place, of(Opcode::Iadd, [multiple, first]))
    });
    let next = one(func, &mut in_body, of(Opcode::Iadd, [number, by]));
    let body: Vec<Block> = l.blocks[1..].iter().chain(&order).copied().collect();
    for block in func.layout.blocks().to_vec() {
        let value = if body.contains(&block) { there } else { here };
        for inst in func.layout.insts(block).to_vec() {
            func.dfg
                .map_args(inst, |v| if v == number { value } else { v });
        }
    }
    func.labels
        .map_values(|v| Some(if v == number { here } else { v }));
    let end = func.layout.terminator(l.header);
    let cond = end.and_then(|end| match *func.dfg.data(end) {
        InstData::Brif { cond, .. } => func.dfg.def_inst(cond),
        _ => None,
    });
    if let Some(cond) = cond {
        *func.dfg.data_mut(cond) = InstData::IntCompare {
            opcode: Opcode::Icmp,
            cond: match l.body {
                0 => IntCC::UnsignedLessThan,
                _ => IntCC::UnsignedGreaterThanOrEqual,
            },
            args: [number, all],
        };
    }
    let before = func.layout.insts_mut(l.before);
    let at = before.len().saturating_sub(1);
    before.insert_many(at, constants);
    func.layout.insts_mut(l.header).insert_many(0, in_header);
    func.layout.insts_mut(l.blocks[1]).insert_many(0, in_body);
    for (block, arg) in [(l.before, none), (from, next)] {
        let Some(jump) = func.layout.terminator(block) else {
            continue;
        };
        let (dests, pool) = func.dfg.destinations_mut(jump);
        for dest in dests {
            if let Some(slot) = dest.args.as_mut_slice(pool).get_mut(place) {
                *slot = arg;
            }
        }
    }
}
