//! Full unrolling of loops with a small constant trip count.
//!
//! The only exit is at the header, by a compare of a counter with a constant. The counter starts as
//! a constant, and the only back edge adds a constant to it. The iterations become copies of the
//! loop's blocks in sequence, with a constant counter in each.
//!
//! A loop that is too large for this may take its counter modulo a power of two (`w[k & 15]`), as
//! rings of values are indexed. It is unrolled by that number. The counter is then a multiple of it
//! plus a constant in each copy, and the remainders are constants.
//!
//! Limits: [`ITERATIONS`] iterations of a loop, [`LOOP`] instructions of its copies, [`FUNCTION`]
//! instructions of all copies in a function. A function takes up to [`ROUNDS`] rounds of [`LOOPS`]
//! loops. [`FOLDED`] instructions that fold in the copies count as one. Inner loops go first.

mod peel;
mod runtime;
mod shape;

pub(in crate::opt) use peel::run as peel;
pub(in crate::opt) use runtime::run as runtime;

use super::Loops;
use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, ControlFlow, Function, Inst, InstData, IntCC, Opcode, Value};
use crate::opt::clone_insts::{CloneMap, branch, jump_args};
use crate::opt::{OptState, PassContext};
use cranelift_entity::EntitySet;
use gantry_isa_gen::sem::FpMode;
use shape::LoopShape;
use std::collections::HashSet;

/// Maximal iterations of a fully unrolled loop.
const ITERATIONS: u32 = 64;
/// Maximal trip count of a loop that is partially unrolled.
const COUNTED: u32 = 5000;
/// Maximal factor of partial unrolling, and instructions of the copies. Code size costs less than a
/// ring with variable indices.
const RING: u32 = 16;
const RING_LOOP: usize = 3200;
/// Maximal instructions of the copies of one loop.
const LOOP: usize = 1536;
/// Maximal instructions of the copies of all loops of a function.
const FUNCTION: usize = 4000;
/// Instructions that fold in the copies and count as one: they are made and removed again.
const FOLDED: usize = 4;
/// Maximal rounds of a function. Each unrolls the innermost loops, which makes others innermost.
const ROUNDS: usize = 8;
/// Maximal loops that one round unrolls.
const LOOPS: usize = 256;

/// Loop with a constant trip count that can be unrolled.
struct CountedLoop {
    shape: LoopShape,
    iterations: u32,
    /// Counter, its first value and the unroll factor of partial unrolling; `None` for full
    /// unrolling.
    some: Option<(Value, u64, u32)>,
    /// Instructions of all copies.
    all: usize,
}

/// Runs the pass. Returns the number of loops that were unrolled.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let mut left = FUNCTION;
    let mut done = 0;
    // Headers of partially unrolled loops: these stay loops.
    let mut rings: EntitySet<Block> = EntitySet::new();
    for _ in 0..ROUNDS {
        let cfg = state.cfg.get(func);
        let loops = super::find(func, &cfg);
        let mut found = find(func, &cfg, &loops, &mut left, &ctx.float.mode());
        found.retain(|l| !rings.contains(l.shape.header));
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
                None => unroll(func, counted, &mut last),
                Some(some) => {
                    rings.insert(counted.shape.header);
                    unroll_some(func, counted, some);
                }
            }
        }
        func.rename(|v| last.followed(v));
        state.cfg.invalidate();
        state.cfg.remove_unreachable(func);
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

/// Returns the innermost loops that can be unrolled, and reduces the budget `left`.
fn find(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    left: &mut usize,
    mode: &FpMode,
) -> Vec<CountedLoop> {
    let straight = shape::innermost(func, cfg, loops).filter_map(|shape| {
        let found = counted(func, shape, *left, mode)?;
        *left -= found.all;
        Some(found)
    });
    straight.take(LOOPS).collect()
}

fn counted(func: &Function, shape: LoopShape, left: usize, mode: &FpMode) -> Option<CountedLoop> {
    if size(func, &shape.blocks, None) > LOOP || shape.blocks.len() > LOOP {
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
    let mask = ty.scalar().mask();
    let mut number = start;
    let mut iterations = 0;
    let size = size(func, &shape.blocks, Some(args[0]));
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
    let fits = |n: u32, most: usize| size * n as usize <= most.min(left);
    let some = if iterations <= ITERATIONS && fits(iterations, LOOP) {
        None
    } else {
        let n = ring(func, &shape.blocks, args[0]).filter(|n| iterations.is_multiple_of(*n))?;
        if step != 1 || !fits(n, RING_LOOP) {
            return None;
        }
        Some((args[0], start, n))
    };
    Some(CountedLoop {
        iterations,
        all: size * some.map_or(iterations, |s| s.2) as usize,
        some,
        shape,
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
fn unroll(func: &mut Function, counted: &CountedLoop, last: &mut CloneMap) {
    let l = &counted.shape;
    let mut from = l.before;
    let mut copied = CloneMap::default();
    let mut order = Vec::new();
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
                copied.inst(func, inst, from);
            }
            branch(func, &mut copied, end, l.exit, from);
            break;
        }
        copied.make_blocks(func, &l.blocks[1..], &mut order);
        for &inst in head {
            copied.inst(func, inst, from);
        }
        branch(func, &mut copied, end, l.body, from);
        copied.fill_blocks(func, &l.blocks[1..]);
        from = copied.block(l.latch);
    }
    func.layout.insert_before(l.header, &order);
    let head = func.layout.insts(l.header).iter();
    let results = head.flat_map(|&i| func.dfg.results(i));
    for &v in params.iter().chain(results) {
        last.values.insert(v, copied.value(v));
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
