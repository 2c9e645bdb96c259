//! Loops of few iterations, known in number, become straight.
//!
//! The loop is left at its header alone, by a compare of a number with a constant; the number
//! begins as a constant, and the one jump back adds a constant to it. Then the iterations are
//! copies of the loop's blocks one behind the other, and the number is a constant in each.
//!
//! Where that would be too much, a loop that takes its number modulo a power of two (`w[k & 15]`),
//! as a ring of values is indexed, becomes one of as many iterations at a time: the number is a
//! multiple of that and a constant in each copy, and the remainders are constants.
//!
//! Bounds: [`ITERATIONS`] of a loop, [`LOOP`] instructions that one loop becomes, [`FUNCTION`] that
//! all of a function's become, in [`ROUNDS`] of at most [`LOOPS`]; of instructions that fold in the
//! copies, [`FOLDED`] count as one. Inner loops go first.

mod peel;
mod runtime;
mod shape;

pub(in crate::opt) use peel::run as peel;
pub(in crate::opt) use runtime::run as runtime;

use super::Loops;
use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, ControlFlow, Function, Inst, InstData, IntCC, Opcode, Value};
use crate::opt::clone_insts::{Copied, branch, jump_args};
use crate::opt::{Facts, State};
use cranelift_entity::EntitySet;
use gantry_isa_gen::sem::FpMode;
use shape::Shape;
use std::collections::HashSet;

/// Iterations.
const ITERATIONS: u32 = 64;
/// Iterations that are counted, of a loop of which some at a time become straight.
const COUNTED: u32 = 5000;
/// Iterations of those at a time, and instructions of their copies: a ring by variable indices
/// costs more than code does.
const RING: u32 = 16;
const RING_LOOP: usize = 3200;
/// Instructions of the copies of one loop.
const LOOP: usize = 1536;
/// Instructions of the copies of all loops of a function.
const FUNCTION: usize = 4000;
/// Instructions of copies that are constants there which count as one: they are made, and go again.
const FOLDED: usize = 4;
/// Times that a function is looked at: each makes inner loops straight, and then there are others.
const ROUNDS: usize = 8;
/// Loops that become straight at a time.
const LOOPS: usize = 256;

/// A loop that can be made straight.
struct Counted {
    shape: Shape,
    iterations: u32,
    /// The number that is counted, what it begins as, and how many iterations become one, where not
    /// all become straight.
    some: Option<(Value, u64, u32)>,
    /// Instructions of all of them.
    all: usize,
}

/// The pass. Gives how many loops are straight.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    let mut left = FUNCTION;
    let mut done = 0;
    // Headers of loops of which some iterations became one: they stay loops.
    let mut rings: EntitySet<Block> = EntitySet::new();
    for _ in 0..ROUNDS {
        let cfg = state.flow.of(func);
        let loops = Loops::new(func, &cfg);
        let mut found = find(func, &cfg, &loops, &mut left, &facts.float.mode());
        found.retain(|l| !rings.contains(l.shape.header));
        // These first: what they count is another value then, which what is noted below must not
        // name by the old one.
        found.sort_by_key(|l| l.some.is_none());
        if found.is_empty() {
            break;
        }
        // What is behind the loops reads what their headers had in the end.
        let mut last = Copied::default();
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
        state.flow.changed();
        state.flow.remove_unreachable(func);
        done += found.len() as u32;
    }
    done
}

/// Instructions of blocks. `number`: what is a constant in each copy; then instructions that are
/// constants too go again, and count as a part of one.
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

/// Loops without loops in them that can be made straight, and so many instructions less that are
/// left.
fn find(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    left: &mut usize,
    mode: &FpMode,
) -> Vec<Counted> {
    let straight = shape::innermost(func, cfg, loops).filter_map(|shape| {
        let found = counted(func, shape, *left, mode)?;
        *left -= found.all;
        Some(found)
    });
    straight.take(LOOPS).collect()
}

fn counted(func: &Function, shape: Shape, left: usize, mode: &FpMode) -> Option<Counted> {
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
    Some(Counted {
        iterations,
        all: size * some.map_or(iterations, |s| s.2) as usize,
        some,
        shape,
    })
}

/// By which power of two a loop takes its number, or that and a constant, modulo: the largest.
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

/// The bits of a constant of one lane.
fn constant(func: &Function, v: Value) -> Option<u64> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Imm {
            opcode: Opcode::Iconst,
            bits,
        } if func.dfg.ty(v).lanes() == 1 => Some(bits),
        _ => None,
    }
}

/// Copies a loop's iterations. `last`: gets what stands for the header's values behind the loop.
fn unroll(func: &mut Function, counted: &Counted, last: &mut Copied) {
    let l = &counted.shape;
    let mut from = l.before;
    let mut copied = Copied::default();
    let mut order = Vec::new();
    let params = func.dfg.block_params(l.header).to_vec();
    for n in 0..=counted.iterations {
        // What the header's parameters are, from the jump at the end of what was copied last.
        copied = Copied::entering(func, l.header, from);
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

/// Makes one iteration of some: behind each the next one follows at once, and the number is a
/// multiple and a constant.
fn unroll_some(func: &mut Function, counted: &Counted, (number, start, times): (Value, u64, u32)) {
    let l = &counted.shape;
    let ty = func.dfg.ty(number);
    let params = func.dfg.block_params(l.header).to_vec();
    let Some(place) = params.iter().position(|&p| p == number) else {
        return;
    };
    let mut order = Vec::new();
    let mut from = l.latch;
    // What is behind the loop's own iteration, which is copied as it was until all are made.
    let mut behind = Vec::new();
    for n in 1..times {
        let mut copied = Copied::entering(func, l.header, from);
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
    // What is counted now is how often that was: the number is made of it, where the loop goes on
    // and, for what the header makes of it, there.
    let one = |func: &mut Function, place: &mut Vec<Inst>, data: InstData| {
        let inst = func.dfg.make_inst(data, &[ty]);
        place.push(inst);
        func.dfg.results(inst)[0]
    };
    // Before the loop, at the begin of its header, and of its first other block.
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
