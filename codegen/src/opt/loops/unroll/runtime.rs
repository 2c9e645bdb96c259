//! Unrolling of loops with a trip count that is known at launch only. [`TIMES`] iterations run at
//! once if their loads or stores are neighbours.
//!
//! ```text
//!     for (i = a; i < b; i += 1) body         for (i = a; i < b - 3; ) { body i += 1, four times }
//!                                        ->   for (; i < b; i += 1) body
//! ```
//!
//! `b` is first raised to at least the least number plus three, so that `b - 3` does not wrap. Then
//! `i` is below `b` in all four iterations. Code after the loop is unchanged: it is reached from
//! the original loop, which runs the remainder.
//!
//! The gain is in messages (`opt/memory/vectorize_accesses.rs` merges the loads and the stores) and
//! in loop overhead. So the body must load or store in every iteration, with an address step of as
//! many bytes as it accesses. The loads of all iterations go before the first one. So no store of
//! the loop may reach them, whatever its address. A store counts if no other access of the loop may
//! alias it.
//!
//! Limits: half of the GRF file for data that is loaded and stored, and [`LOOPS`] loops. Also
//! [`BODY`] instructions of an iteration, [`FUNCTION`] instructions of all copies, and [`DEEP`]
//! operands between an address and the counter.

use super::shape::LoopShape;
use super::{shape, size};
use crate::ir::{
    Block, BlockCall, ControlFlow, Function, Inst, InstData, IntCC, MemFlags, Opcode, Space, Type,
    Value, ValueDef,
};
use crate::opt::clone_insts::{CloneMap, branch, jump_args};
use crate::opt::loops;
use crate::opt::memory::AliasAnalysis;
use crate::opt::{OptState, PassContext};
use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximal instructions of one iteration.
const BODY: usize = 64;
/// Maximal instructions of the copies of all loops of a function.
const FUNCTION: usize = 1000;
/// Maximal loops of a function.
const LOOPS: usize = 64;
/// Maximal operands between an address and the counter.
const DEEP: u32 = 12;
/// Unroll factor: the dwords per lane of a message.
const TIMES: u32 = 4;

/// Loop that is worth unrolling.
struct RuntimeUnroll {
    shape: LoopShape,
    /// Counter and its step, the condition to continue, and the bound that it compares with.
    number: Value,
    step: i64,
    goes_on: IntCC,
    bound: Value,
    /// Loads of neighbours, which go before the first iteration.
    loads: Vec<Inst>,
    /// Values of the loop, and the step of each per iteration if known.
    own: EntitySet<Value>,
    steps: FxHashMap<Value, Option<i64>>,
}

/// Load or store of the loop.
struct LoopAccess {
    inst: Inst,
    mem: MemFlags,
    addr: Value,
    /// Type of the data.
    ty: Type,
    /// Set for a block access at one address.
    block: bool,
    /// Mask, and the value that a load gives in other lanes.
    masks: [Option<Value>; 2],
    writes: bool,
}

impl LoopAccess {
    fn of(func: &Function, inst: Inst) -> Option<LoopAccess> {
        let (mem, addr, of, masks) = match *func.dfg.data(inst) {
            InstData::Load {
                mem,
                addr,
                mask,
                old,
                ..
            } => (mem, addr, func.dfg.first_result(inst)?, [mask, old]),
            InstData::Store {
                mem, args, mask, ..
            } => (mem, args[1], args[0], [mask, None.into()]),
            _ => return None,
        };
        let opcode = func.dfg.data(inst).opcode();
        Some(LoopAccess {
            inst,
            mem,
            addr,
            ty: func.dfg.ty(of),
            block: matches!(opcode, Opcode::Bload | Opcode::Bstore),
            masks: masks.map(|m| m.expand()),
            writes: matches!(opcode, Opcode::Store | Opcode::Bstore),
        })
    }
}

/// Runs the pass. Returns the number of unrolled loops.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let loops = loops::find(func, &cfg);
    if loops.loops.is_empty() {
        return 0;
    }
    let mut left = FUNCTION;
    let room = ctx.target.grf().size() / 2;
    let gains = shape::innermost(func, &cfg, &loops).take(LOOPS);
    let gains: Vec<RuntimeUnroll> = gains
        .filter_map(|shape| gain(func, &cfg, shape, room, &mut left))
        .collect();
    for gain in &gains {
        unroll(func, gain);
    }
    if !gains.is_empty() {
        state.cfg.invalidate();
    }
    gains.len() as u32
}

/// Returns the plan for a loop if it is worth unrolling. `room`: bytes of GRFs that its data may
/// take.
fn gain(
    func: &Function,
    cfg: &ControlFlow,
    shape: LoopShape,
    room: u32,
    left: &mut usize,
) -> Option<RuntimeUnroll> {
    let one = size(func, &shape.blocks, None);
    if one > BODY {
        return None;
    }
    let insts = || shape.blocks.iter().flat_map(|&b| func.layout.insts(b));
    let allowed = |i: &Inst| match func.dfg.data(*i) {
        InstData::Load { mem, .. } | InstData::Store { mem, .. } => !mem.volatile,
        InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. } => true,
        data => !data.opcode().info().effect,
    };
    if !insts().all(allowed) {
        return None;
    }
    let InstData::IntCompare { cond, args, .. } = *func.dfg.data(func.dfg.def_inst(shape.cond)?)
    else {
        return None;
    };
    let mut own: EntitySet<Value> = EntitySet::new();
    let params = shape.blocks.iter().flat_map(|&b| func.dfg.block_params(b));
    for &v in params.chain(insts().flat_map(|&i| func.dfg.results(i))) {
        own.insert(v);
    }
    // The counter is the first operand.
    let (number, bound, cond) = if own.contains(args[0]) {
        (args[0], args[1], cond)
    } else {
        (args[1], args[0], cond.exchanged())
    };
    let ty = func.dfg.ty(number);
    if ty.lanes() != 1 || own.contains(bound) {
        return None;
    }
    let goes_on = match shape.body {
        0 => cond,
        _ => cond.inverse(),
    };
    let signed = |bits: u64, ty: Type| {
        let unused = 64 - ty.scalar().bits();
        (bits << unused) as i64 >> unused
    };
    let (_, step) = shape.counts(func, number)?;
    let step = signed(step, ty);
    let up = match goes_on {
        IntCC::SignedLessThan | IntCC::SignedLessThanOrEqual => true,
        IntCC::UnsignedLessThan | IntCC::UnsignedLessThanOrEqual => true,
        IntCC::Equal | IntCC::NotEqual => return None,
        _ => false,
    };
    // Small steps, so that even 8-bit counters allow several iterations.
    if up != (step > 0) || !(1..=16).contains(&step.unsigned_abs()) {
        return None;
    }

    // Step per iteration of the header's parameters, and so of addresses.
    let mut steps: FxHashMap<Value, Option<i64>> = FxHashMap::default();
    for &p in func.dfg.block_params(shape.header) {
        let step = shape.counts(func, p).map(|c| signed(c.1, func.dfg.ty(p)));
        steps.insert(p, step);
    }
    let tree = cfg.dominator_tree();
    let always = |b: &&Block| tree.dominates(**b, shape.latch);
    let accesses: Vec<LoopAccess> = insts().filter_map(|&i| LoopAccess::of(func, i)).collect();
    let writes = accesses.iter().any(|a| a.writes);
    let mut aliases = writes.then(|| AliasAnalysis::new(func));
    let (mut loads, mut stores, mut moving) = (Vec::new(), 0, 0);
    for access in shape
        .blocks
        .iter()
        .filter(always)
        .flat_map(|&b| func.layout.insts(b))
        .filter_map(|&i| LoopAccess::of(func, i))
    {
        let mut of = |v: Value| step_of(func, &own, &mut steps, v, DEEP);
        let masked = access.masks.into_iter().flatten();
        if masked.map(&mut of).any(|by| by != Some(0)) {
            continue;
        }
        let LoopAccess { ty, addr, mem, .. } = access;
        let lanes = func.dfg.ty(addr).lanes();
        let bytes = ty.bytes() / lanes;
        let block = access.block || lanes == 1 && access.masks[0].is_none();
        let merges = if block {
            !access.writes && matches!(mem.space, Space::Global | Space::Surface(_))
        } else {
            ty.lanes() == lanes && bytes <= 4
        };
        if !merges || of(addr).is_none_or(|by| by.unsigned_abs() != u64::from(bytes)) {
            continue;
        }
        let free = aliases.as_mut().is_none_or(|aliases| {
            let may = |o: &&LoopAccess| o.inst != access.inst && (o.writes || access.writes);
            let place = |a: &LoopAccess| (a.mem.space, a.addr);
            let apart = |o: &LoopAccess| aliases.never_alias(place(o), place(&access));
            let alone = accesses.iter().filter(may).all(apart);
            alone && (!access.writes || aliases.has_rows(func, access.inst, TIMES * bytes))
        });
        if free || mem.constant {
            if access.writes {
                stores += 1
            } else {
                loads.push(access.inst)
            }
            moving += TIMES * ty.bytes();
        }
    }
    let all = one * TIMES as usize;
    if loads.is_empty() && stores == 0 || moving > room || all > *left {
        return None;
    }
    *left -= all;
    Some(RuntimeUnroll {
        shape,
        number,
        step,
        goes_on,
        bound,
        loads,
        own,
        steps,
    })
}

/// Returns the constant that an iteration adds to each lane of a value, if there is one and nothing
/// wraps.
fn step_of(
    func: &Function,
    own: &EntitySet<Value>,
    known: &mut FxHashMap<Value, Option<i64>>,
    v: Value,
    deep: u32,
) -> Option<i64> {
    if !own.contains(v) {
        return Some(0);
    }
    if let Some(&by) = known.get(&v) {
        return by;
    }
    let ValueDef::Result(inst, _) = func.dfg.def(v) else {
        return None;
    };
    let deep = deep.checked_sub(1)?;
    let mut of = |v: Value| step_of(func, own, known, v, deep);
    let factor = |v: Value| number(func, v);
    let mut product = |x: Value, y: Value| match (factor(y), factor(x)) {
        (Some(n), _) => of(x).map(|x| x.wrapping_mul(n)),
        (_, Some(n)) => of(y).map(|y| y.wrapping_mul(n)),
        _ => of(x).zip(of(y)).filter(|by| *by == (0, 0)).map(|_| 0),
    };
    let by = match *func.dfg.data(inst) {
        InstData::Imm { .. } | InstData::ImmVec { .. } => Some(0),
        InstData::Nullary {
            opcode: Opcode::Undef,
        } => Some(0),
        InstData::Unary {
            opcode: Opcode::Sextend | Opcode::Uextend | Opcode::Ireduce,
            arg,
        } => of(arg),
        InstData::RdRegion {
            arg, index: none, ..
        } if none.is_none() => of(arg),
        InstData::Binary { opcode, args } => {
            let [x, y] = args;
            match opcode {
                Opcode::Iadd => of(x).zip(of(y)).map(|(x, y)| x.wrapping_add(y)),
                Opcode::Isub => of(x).zip(of(y)).map(|(x, y)| x.wrapping_sub(y)),
                Opcode::Ishl => {
                    let by = factor(y).and_then(|n| u32::try_from(n).ok());
                    of(x).zip(by).and_then(|(x, n)| x.checked_shl(n))
                }
                Opcode::Imul => product(x, y),
                _ => of(x).zip(of(y)).filter(|by| *by == (0, 0)).map(|_| 0),
            }
        }
        InstData::Ternary {
            opcode: Opcode::Imad,
            args: [x, y, z],
        } => {
            let product = product(x, y);
            product.zip(of(z)).map(|(x, y)| x.wrapping_add(y))
        }
        _ => None,
    };
    known.insert(v, by);
    by
}

/// Returns the signed number of a constant that is equal in all lanes.
fn number(func: &Function, v: Value) -> Option<i64> {
    let bits = func.dfg.same_constant(v)?;
    let unused = 64 - func.dfg.ty(v).scalar().bits();
    Some((bits << unused) as i64 >> unused)
}

/// Adds the unrolled loop before a loop.
fn unroll(func: &mut Function, gain: &RuntimeUnroll) {
    let l = &gain.shape;
    let head = func.layout.insts(l.header).to_vec();
    let Some((&end, head)) = head.split_last() else {
        return;
    };
    let loc = func.srclocs[end];
    let params = func.dfg.block_params(l.header).to_vec();

    // Bound, computed before the loop.
    let ty = func.dfg.ty(gain.number);
    let mut made: SmallVec<[Inst; 5]> = SmallVec::new();
    let mut one = |func: &mut Function, data: InstData| {
        let inst = func.dfg.make_inst(data, &[ty]);
        func.set_srcloc(inst, loc);
        made.push(inst);
        func.dfg.results(inst)[0]
    };
    let mask = ty.scalar().mask();
    let bits = |n: u64| InstData::Imm {
        opcode: Opcode::Iconst,
        bits: n & mask,
    };
    let further = gain.step.unsigned_abs() * u64::from(TIMES - 1);
    let signed = gain.goes_on.is_signed();
    // Least and greatest number.
    let (least, greatest) = if signed {
        ((mask >> 1) + 1, mask >> 1)
    } else {
        (0, mask)
    };
    let (furthest, within, back, cond) = match (gain.step > 0, signed) {
        (true, true) => (
            least.wrapping_add(further),
            Opcode::Smax,
            Opcode::Isub,
            IntCC::SignedLessThan,
        ),
        (true, false) => (
            least.wrapping_add(further),
            Opcode::Umax,
            Opcode::Isub,
            IntCC::UnsignedLessThan,
        ),
        (false, true) => (
            greatest.wrapping_sub(further),
            Opcode::Smin,
            Opcode::Iadd,
            IntCC::SignedGreaterThan,
        ),
        (false, false) => (
            greatest.wrapping_sub(further),
            Opcode::Umin,
            Opcode::Iadd,
            IntCC::UnsignedGreaterThan,
        ),
    };
    let furthest = one(func, bits(furthest));
    let further = one(func, bits(further));
    let within = InstData::Binary {
        opcode: within,
        args: [gain.bound, furthest],
    };
    let within = one(func, within);
    let limit = InstData::Binary {
        opcode: back,
        args: [within, further],
    };
    let limit = one(func, limit);
    let before = func.layout.insts_mut(l.before);
    let at = before.len().saturating_sub(1);
    before.insert_many(at, made);

    // Header of the unrolled loop, its first iteration, and its exit.
    let [main, first, no_more] = [(); 3].map(|()| func.dfg.make_block());
    let mut order = vec![main, first];
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    for &p in &params {
        let ty = func.dfg.ty(p);
        values.insert(p, func.dfg.append_block_param(main, ty));
    }
    let began: SmallVec<[Value; 8]> = params.iter().map(|p| values[p]).collect();
    let opcode = Opcode::Icmp;
    let args = [values[&gain.number], limit];
    let compare = InstData::IntCompare { opcode, cond, args };
    let flag = func.dfg.ty(l.cond);
    let compare = func.dfg.make_inst(compare, &[flag]);
    let go_on = func.dfg.results(compare)[0];
    let to = |func: &mut Function, block: Block, args: &[Value]| BlockCall {
        block,
        args: cranelift_entity::EntityList::from_slice(args, &mut func.dfg.pool),
    };
    let dests = [to(func, first, &[]), to(func, no_more, &[])];
    let dest = to(func, l.header, &began);
    let opcode = Opcode::Brif;
    let split = InstData::Brif {
        opcode,
        cond: go_on,
        dests,
    };
    let split = func.dfg.make_inst(split, &[]);
    let opcode = Opcode::Jump;
    let leave = func.dfg.make_inst(InstData::Jump { opcode, dest }, &[]);
    for (block, inst) in [(main, compare), (main, split), (no_more, leave)] {
        func.set_srcloc(inst, loc);
        func.layout.append_inst(block, inst);
    }
    redirect(func, l.before, main);

    // Loads of all iterations.
    let mut loaded: Vec<FxHashMap<Value, Value>> = Vec::new();
    for n in 0..TIMES {
        let mut ahead = EarlyLoads {
            gain,
            began: &values,
            iteration: i64::from(n),
            to: first,
            copied: CloneMap::default(),
        };
        let results = gain.loads.iter().filter_map(|&i| func.dfg.first_result(i));
        let results: Vec<Value> = results.collect();
        loaded.push(
            results
                .into_iter()
                .map(|v| (v, ahead.value(func, v)))
                .collect(),
        );
    }

    let mut from = first;
    for n in 0..TIMES {
        let mut copied = CloneMap::default();
        match n {
            0 => copied.values.extend(values.iter().map(|(&p, &v)| (p, v))),
            _ => {
                let args = jump_args(func, from);
                copied.values.extend(params.iter().copied().zip(args));
                func.layout.insts_mut(from).pop();
            }
        }
        copied.make_blocks(func, &l.blocks[1..], &mut order);
        let loaded = &loaded[n as usize];
        for &inst in head {
            copy(func, &mut copied, loaded, inst, from);
        }
        branch(func, &mut copied, end, l.body, from);
        for &block in &l.blocks[1..] {
            let to = copied.block(block);
            for inst in func.layout.insts(block).to_vec() {
                copy(func, &mut copied, loaded, inst, to);
            }
        }
        from = copied.block(l.latch);
        copy_labels(func, &copied);
    }
    redirect(func, from, main);
    order.push(no_more);
    func.layout.insert_before(l.header, &order);
}

/// Copies an instruction unless it was loaded early.
fn copy(
    func: &mut Function,
    copied: &mut CloneMap,
    loaded: &FxHashMap<Value, Value>,
    inst: Inst,
    to: Block,
) {
    let result = func.dfg.first_result(inst);
    match result.and_then(|v| Some((v, *loaded.get(&v)?))) {
        Some((result, v)) => {
            copied.values.insert(result, v);
        }
        None => copied.inst(func, inst, to),
    }
}

/// Computes the loads of an iteration before the first one.
struct EarlyLoads<'g> {
    gain: &'g RuntimeUnroll,
    /// Header parameters at the start of the first iteration.
    began: &'g FxHashMap<Value, Value>,
    /// Index of the iteration.
    iteration: i64,
    to: Block,
    copied: CloneMap,
}

impl EarlyLoads<'_> {
    /// Returns the clone of a value that [`step_of`] knows, or of a load.
    fn value(&mut self, func: &mut Function, v: Value) -> Value {
        if !self.gain.own.contains(v) {
            return v;
        }
        if let Some(&known) = self.copied.values.get(&v) {
            return known;
        }
        if let Some(&began) = self.began.get(&v) {
            let step = self.gain.steps.get(&v).copied().flatten().unwrap_or(0);
            let now = self.plus(func, began, step.wrapping_mul(self.iteration));
            self.copied.values.insert(v, now);
        } else if let Some(inst) = func.dfg.def_inst(v) {
            let mut args: SmallVec<[Value; 3]> = SmallVec::new();
            func.dfg
                .data(inst)
                .for_each_arg(&func.dfg, |v| args.push(v));
            for arg in args {
                self.value(func, arg);
            }
            self.copied.inst(func, inst, self.to);
        }
        self.copied.value(v)
    }

    /// Returns the sum of a parameter and a constant.
    fn plus(&self, func: &mut Function, v: Value, by: i64) -> Value {
        if by == 0 {
            return v;
        }
        let ty = func.dfg.ty(v);
        let constant = InstData::Imm {
            opcode: Opcode::Iconst,
            bits: by as u64 & ty.scalar().mask(),
        };
        let constant = func.dfg.make_inst(constant, &[ty]);
        let sum = InstData::Binary {
            opcode: Opcode::Iadd,
            args: [v, func.dfg.results(constant)[0]],
        };
        let sum = func.dfg.make_inst(sum, &[ty]);
        func.layout.append_inst(self.to, constant);
        func.layout.append_inst(self.to, sum);
        func.dfg.results(sum)[0]
    }
}

/// Redirects a block's jump, with the same arguments.
fn redirect(func: &mut Function, from: Block, to: Block) {
    if let Some(jump) = func.layout.terminator(from) {
        for dest in func.dfg.destinations_mut(jump).0 {
            dest.block = to;
        }
    }
}

/// Gives clones the labels of their originals.
fn copy_labels(func: &mut Function, copied: &CloneMap) {
    if func.labels.is_empty() {
        return;
    }
    let named = func.labels.iter().flat_map(|(copy_labels, values)| {
        let copies = values.filter_map(|v| copied.values.get(&v));
        copies.map(move |&v| (copy_labels.to_owned(), v))
    });
    for (copy_labels, v) in named.collect::<Vec<_>>() {
        func.labels.add(&copy_labels, v);
    }
}
