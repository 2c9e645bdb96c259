//! Lowering of 64-bit integers: vectors of qwords become two vectors of dwords, where the ALU has
//! no 64-bit integers.
//!
//! A vector of qwords stores both halves of a lane side by side. So an instruction on one of the
//! halves covers half as many lanes as one on dwords. A message stores all lanes' lower halves
//! before the upper ones, which needs moves. So a value that is computed lane by lane becomes two
//! values: its lower and its upper dwords. First, operations that the ALU lacks are expanded,
//! mostly into operations on halves. Values that depend on each other then form a set. A set
//! becomes pairs if that saves more than it costs where pairs meet whole values (`gain.rs`).
//! Addresses mostly stay whole.
//!
//! Input: verified IR. Output: the same, with joins of halves that the e-graph removes. Work:
//! linear, except for union-find.

mod gain;

use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockInsts, Function, Inst, InstData, MemFlags, Opcode, Region, Scalar, SourceLoc, Type,
    Value,
};
use crate::legalize_ops;
use crate::opt::memory::{dword_type, low_half_region};
use crate::opt::{OptState, PassContext};
use crate::passes::Pass;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gain::PairSets;

/// Runs the pass. Returns the number of values that became pairs.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    if ctx.target.features().i64_sums || !has_vectors(func) {
        return 0;
    }
    state.cfg.remove_unreachable(func);
    let expands = legalize_ops::has_qwords_to_expand(func, ctx.target);
    if !expands && PairSets::new(func, &state.cfg.get(func)).is_empty() {
        return 0;
    }
    // Forwarded loads may be uniform, and then no vectors any more.
    if ctx.passes.contains(Pass::Egraph) {
        crate::opt::egraph::run_for_uniform(func, ctx, state);
        state.cfg.remove_unreachable(func);
    }
    let rewritten = legalize_ops::expand_qwords(func, ctx.float, ctx.target);
    let cfg = state.cfg.get(func);
    let sets = PairSets::new(func, &cfg);
    if sets.is_empty() {
        return rewritten;
    }
    let mut p = PairLowering {
        func,
        sets,
        out: BlockInsts::new(),
        loc: SourceLoc::NONE,
        halves: SecondaryMap::new(),
        whole: SecondaryMap::new(),
        made: 0,
    };
    for &block in cfg.order() {
        p.parameters(block);
    }
    for &block in cfg.order() {
        p.block(block);
    }
    rewritten + p.made
}

/// Returns true if the function has vectors of qwords.
fn has_vectors(func: &Function) -> bool {
    let insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    let mut results = insts.flat_map(|&i| func.dfg.results(i));
    results.any(|&v| is_vector(func.dfg.ty(v)))
}

/// Returns true if values of a type may become pairs.
fn is_vector(ty: Type) -> bool {
    ty.scalar() == Scalar::I64 && ty.lanes() > 1
}

/// Returns the region of the lower or the upper dwords of qwords.
fn every_other(high: bool) -> Region {
    Region::new(2, 1, 0, if high { 4 } else { 0 })
}

/// Lower and upper dwords of a value.
type DwordPair = [Value; 2];

struct PairLowering<'f> {
    func: &'f mut Function,
    sets: PairSets,
    /// Instructions of the current block, and the location of the current one.
    out: BlockInsts,
    loc: SourceLoc,
    halves: SecondaryMap<Value, [PackedOption<Value>; 2]>,
    /// Joined value of each pair that is used as a whole.
    whole: SecondaryMap<Value, PackedOption<Value>>,
    made: u32,
}

impl PairLowering<'_> {
    /// Replaces each parameter that is a pair by two at the end.
    fn parameters(&mut self, block: Block) {
        let params = self.func.dfg.block_params(block).to_vec();
        let keep: Vec<bool> = params.iter().map(|&p| !self.sets.is_pair(p)).collect();
        if keep.iter().all(|k| *k) {
            return;
        }
        self.func.dfg.retain_block_params(block, &keep);
        for (&p, _) in params.iter().zip(&keep).filter(|(_, keep)| !**keep) {
            let ty = dword_type(self.func.dfg.ty(p));
            let halves = [(); 2].map(|()| self.func.dfg.append_block_param(block, ty));
            self.halves[p] = halves.map(Into::into);
            self.made += 1;
        }
    }

    fn block(&mut self, block: Block) {
        let insts = std::mem::take(self.func.layout.insts_mut(block));
        if let Some(&first) = insts.first() {
            self.loc = self.func.srclocs[first];
        }
        // Parameters that were pairs are no longer listed, so the sets keep them.
        for v in self.sets.params(block).to_vec() {
            self.provide(v);
        }
        for inst in insts {
            self.loc = self.func.srclocs[inst];
            self.inst(inst);
            for n in 0..self.func.dfg.results(inst).len() {
                self.provide(self.func.dfg.results(inst)[n]);
            }
        }
        *self.func.layout.insts_mut(block) = std::mem::take(&mut self.out);
    }

    /// Makes the other form of a value where it is needed: a join of a pair, or halves of a whole
    /// value.
    fn provide(&mut self, v: Value) {
        if self.sets.is_pair(v) {
            if self.sets.needs_whole(v) {
                let whole = self.join(v);
                self.whole[v] = whole.into();
            }
        } else if self.sets.needs_halves(v) {
            let halves = self.split(v);
            self.halves[v] = halves.map(Into::into);
        }
    }

    /// Rewrites an instruction on halves if its result is a pair or if it takes halves.
    fn inst(&mut self, inst: Inst) {
        let data = *self.func.dfg.data(inst);
        if let Some(v) = self.func.dfg.first_result(inst)
            && self.sets.is_pair(v)
        {
            let halves = self.on_halves(data, v);
            self.halves[v] = halves.map(Into::into);
            self.made += 1;
            return;
        }
        match data {
            InstData::Store { .. } if self.sets.is_split_access(inst) => {
                return self.store(data);
            }
            InstData::Unary {
                opcode: Opcode::Ireduce,
                arg,
            } if self.has_halves(arg) => {
                let [low, _] = self.of(arg);
                let to = self
                    .func
                    .dfg
                    .first_result(inst)
                    .map(|r| self.func.dfg.ty(r));
                let same = to == Some(self.func.dfg.ty(low));
                // A cast to the same type, which the rules remove.
                let opcode = if same {
                    Opcode::Bitcast
                } else {
                    Opcode::Ireduce
                };
                *self.func.dfg.data_mut(inst) = InstData::Unary { opcode, arg: low };
            }
            _ => {}
        }
        self.branch(inst);
        let whole = &self.whole;
        self.func
            .dfg
            .map_args(inst, |v| whole[v].expand().unwrap_or(v));
        self.out.push(inst);
    }

    /// Passes halves to parameters that are pairs.
    fn branch(&mut self, inst: Inst) {
        let dests = self.func.dfg.destinations(inst).to_vec();
        for (n, dest) in dests.into_iter().enumerate() {
            let pairs = self.sets.pair_indices(dest.block);
            if pairs.is_empty() {
                continue;
            }
            let old = dest.args.as_slice(&self.func.dfg.pool).to_vec();
            let is_pair = |n: usize| pairs.binary_search(&(n as u32)).is_ok();
            let kept = (0..old.len()).filter(|&n| !is_pair(n)).map(|n| old[n]);
            let mut args: Vec<Value> = kept.collect();
            for v in (0..old.len()).filter(|&n| is_pair(n)).map(|n| old[n]) {
                args.extend(self.of(v));
            }
            let (dests, pool) = self.func.dfg.destinations_mut(inst);
            if let Some(dest) = dests.get_mut(n) {
                dest.args = ValueList::from_iter(args, pool);
            }
        }
    }

    fn has_halves(&self, v: Value) -> bool {
        self.halves[v][0].is_some()
    }

    /// Returns the halves of a value.
    fn of(&self, v: Value) -> DwordPair {
        self.halves[v].map(|h| h.expand().unwrap_or(v))
    }

    fn push(&mut self, data: InstData, ty: Type) -> Value {
        self.push_all(data, &[ty]).0
    }

    /// Returns the first result of a new instruction, and the second or else the first again.
    fn push_all(&mut self, data: InstData, types: &[Type]) -> (Value, Value) {
        let inst = self.func.dfg.make_inst(data, types);
        self.func.set_srcloc(inst, self.loc);
        self.out.push(inst);
        let results = self.func.dfg.results(inst);
        let none = Value::from_u32(0);
        let first = results.first().copied().unwrap_or(none);
        (first, results.get(1).copied().unwrap_or(first))
    }

    fn unary(&mut self, opcode: Opcode, arg: Value, ty: Type) -> Value {
        self.push(InstData::Unary { opcode, arg }, ty)
    }

    fn binary(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let ty = self.func.dfg.ty(a);
        let args = [a, b];
        self.push(InstData::Binary { opcode, args }, ty)
    }

    fn read(&mut self, arg: Value, region: Region, ty: Type) -> Value {
        let data = InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg,
            region,
            index: PackedOption::default(),
        };
        self.push(data, ty)
    }

    fn write(&mut self, old: Value, new: Value, region: Region) -> Value {
        let data = InstData::WrRegion {
            opcode: Opcode::Wrregion,
            args: [old, new],
            region,
            index: PackedOption::default(),
            mask: PackedOption::default(),
        };
        let ty = self.func.dfg.ty(old);
        self.push(data, ty)
    }

    /// Joins two halves.
    fn join(&mut self, v: Value) -> Value {
        let ty = self.func.dfg.ty(v);
        let opcode = Opcode::Undef;
        let pairs = Type::clamped(Scalar::I32, 2 * ty.lanes());
        let mut all = self.push(InstData::Nullary { opcode }, pairs);
        for (half, high) in self.of(v).into_iter().zip([false, true]) {
            all = self.write(all, half, every_other(high));
        }
        self.unary(Opcode::Bitcast, all, ty)
    }

    /// Returns the halves of a whole value. Constants, extensions and splats need no reads.
    fn split(&mut self, v: Value) -> DwordPair {
        let ty = dword_type(self.func.dfg.ty(v));
        let data = self.func.dfg.def_inst(v).map(|i| *self.func.dfg.data(i));
        let constant = |opcode, bits: u64| InstData::Imm {
            opcode,
            bits: bits & u64::from(u32::MAX),
        };
        match data {
            Some(data @ InstData::Nullary { .. }) => [(); 2].map(|()| self.push(data, ty)),
            Some(InstData::Imm { opcode, bits }) => {
                [bits, bits >> 32].map(|bits| self.push(constant(opcode, bits), ty))
            }
            Some(InstData::ImmVec { opcode, constant }) => [0, 32].map(|shift| {
                let lanes = self.func.dfg.constant(constant).iter();
                let lanes = lanes
                    .map(|bits| bits >> shift & u64::from(u32::MAX))
                    .collect();
                let constant = self.func.dfg.make_constant(lanes);
                self.push(InstData::ImmVec { opcode, constant }, ty)
            }),
            Some(InstData::Unary {
                opcode: opcode @ (Opcode::Sextend | Opcode::Uextend),
                arg,
            }) => {
                let low = if self.func.dfg.ty(arg) == ty {
                    arg
                } else {
                    self.unary(opcode, arg, ty)
                };
                let high = match opcode {
                    Opcode::Sextend => {
                        let count = self.push(constant(Opcode::Iconst, 31), ty);
                        self.binary(Opcode::Sshr, low, count)
                    }
                    _ => self.push(constant(Opcode::Iconst, 0), ty),
                };
                [low, high]
            }
            Some(InstData::RdRegion {
                arg, region, index, ..
            }) if index.is_none() => self.region_of_whole(arg, region, ty),
            _ => self.region_of_whole(v, Region::contiguous(ty.lanes() as u16, 0), ty),
        }
    }

    /// Returns a region of each half of a whole value.
    fn region_of_whole(&mut self, arg: Value, region: Region, ty: Type) -> DwordPair {
        let lanes = self.func.dfg.ty(arg).lanes();
        let pairs = Type::clamped(Scalar::I32, 2 * lanes);
        let pairs = self.unary(Opcode::Bitcast, arg, pairs);
        [0, 4].map(|half| {
            let region = Region {
                vstride: 2 * region.vstride,
                hstride: 2 * region.hstride,
                offset: region.offset + half,
                ..region
            };
            self.read(pairs, region, ty)
        })
    }

    /// Computes an instruction on halves.
    fn on_halves(&mut self, data: InstData, v: Value) -> DwordPair {
        let ty = dword_type(self.func.dfg.ty(v));
        match data {
            InstData::Unary {
                opcode: Opcode::Bitcast,
                arg,
            } => {
                let pairs = Type::clamped(Scalar::I32, 2 * ty.lanes());
                let arg = if self.func.dfg.ty(arg) == pairs {
                    arg
                } else {
                    self.unary(Opcode::Bitcast, arg, pairs)
                };
                [false, true].map(|high| self.read(arg, every_other(high), ty))
            }
            InstData::Unary {
                opcode: Opcode::Ineg,
                arg,
            } => {
                let (opcode, bits) = (Opcode::Iconst, 0);
                let zero = self.push(InstData::Imm { opcode, bits }, ty);
                self.carried(Opcode::Isub, [zero; 2], self.of(arg))
            }
            InstData::Binary {
                opcode: opcode @ (Opcode::Iadd | Opcode::Isub),
                args: [a, b],
            } => self.carried(opcode, self.of(a), self.of(b)),
            InstData::Load { mask, old, .. } => {
                let old = old.expand().filter(|_| mask.is_some());
                let old = old.map(|old| self.of(old));
                self.load(data, ty, old)
            }
            // Each half separately.
            _ => [0, 1].map(|half: usize| {
                let mut data = data;
                if let InstData::RdRegion { region, .. } | InstData::WrRegion { region, .. } =
                    &mut data
                {
                    *region = low_half_region(*region);
                }
                let halves = &self.halves;
                let of = |a: Value| halves[a][half].expand().unwrap_or(a);
                data.map_args(&mut self.func.dfg, of);
                self.push(data, ty)
            }),
        }
    }

    /// Returns a sum with carry, or a difference with borrow.
    fn carried(&mut self, opcode: Opcode, a: DwordPair, b: DwordPair) -> DwordPair {
        let ty = self.func.dfg.ty(a[0]);
        let with = match opcode {
            Opcode::Iadd => Opcode::Iaddc,
            _ => Opcode::Isubb,
        };
        let sum = InstData::Binary {
            opcode: with,
            args: [a[0], b[0]],
        };
        let (low, carry) = self.push_all(sum, &[ty, ty]);
        let high = self.binary(opcode, a[1], b[1]);
        [low, self.binary(opcode, high, carry)]
    }

    /// Loads each dword of each lane separately; these loads are merged later. Elements of one half
    /// are stored in sequence.
    fn load(&mut self, data: InstData, ty: Type, old: Option<DwordPair>) -> DwordPair {
        let InstData::Load { mem, addr, .. } = data else {
            return [Value::from_u32(0); 2];
        };
        let addr = self.whole_of(addr);
        let (lanes, mem) = (self.func.dfg.ty(addr).lanes(), dword_flags(mem));
        let count = ty.lanes() / lanes.max(1);
        [0, 1].map(|half: u32| {
            let mut all = None;
            for n in 0..count {
                let place = Region::contiguous(lanes as u16, (4 * n * lanes) as u16);
                let kept = old.map(|old| match count {
                    1 => old[half as usize],
                    _ => self.read(old[half as usize], place, ty.by(lanes)),
                });
                let mut one = data;
                if let InstData::Load {
                    mem: m,
                    addr: a,
                    offset,
                    old,
                    ..
                } = &mut one
                {
                    (*m, *a, *old) = (mem, addr, kept.into());
                    *offset = offset.wrapping_add(at(n, half));
                }
                let one = self.push(one, ty.by(lanes));
                all = Some(match all {
                    None if count == 1 => one,
                    None => {
                        let opcode = Opcode::Undef;
                        let undef = self.push(InstData::Nullary { opcode }, ty);
                        self.write(undef, one, place)
                    }
                    Some(all) => self.write(all, one, place),
                });
            }
            all.unwrap_or(addr)
        })
    }

    /// Stores each dword of each lane separately.
    fn store(&mut self, data: InstData) {
        let InstData::Store { mem, args, .. } = data else {
            return;
        };
        let (halves, addr) = (self.of(args[0]), self.whole_of(args[1]));
        let (lanes, mem) = (self.func.dfg.ty(addr).lanes(), dword_flags(mem));
        let ty = self.func.dfg.ty(halves[0]);
        let count = ty.lanes() / lanes.max(1);
        for (n, half) in (0..count).flat_map(|n| [(n, 0u32), (n, 1)]) {
            let mut value = halves[half as usize];
            if count > 1 {
                let place = Region::contiguous(lanes as u16, (4 * n * lanes) as u16);
                value = self.read(value, place, ty.by(lanes));
            }
            let mut one = data;
            if let InstData::Store {
                mem: m,
                args,
                offset,
                ..
            } = &mut one
            {
                (*m, *args) = (mem, [value, addr]);
                *offset = offset.wrapping_add(at(n, half));
            }
            let inst = self.func.dfg.make_inst(one, &[]);
            self.func.set_srcloc(inst, self.loc);
            self.out.push(inst);
        }
    }

    fn whole_of(&self, v: Value) -> Value {
        self.whole[v].expand().unwrap_or(v)
    }
}

/// Returns the byte offset of a half of a lane's element from the lane's address.
fn at(element: u32, half: u32) -> i32 {
    (8 * element + 4 * half) as i32
}

/// Returns the memory flags of a dword access to qwords.
fn dword_flags(mem: MemFlags) -> MemFlags {
    mem.aligned(mem.alignment(Scalar::I64.bytes()).min(Scalar::I32.bytes()))
}
