//! Selection of qword values that become pairs: sets of dependent values, and the benefit of each.
//!
//! The unit is an instruction with the lane count of dwords. A move or a logic operation on qwords
//! takes four, on a pair two.

use super::is_vector;
use crate::graph::union_find::UnionFind;
use crate::ir::{
    Block, ControlFlow, Function, Inst, InstData, MemFlags, Opcode, Scalar, Space, Type, Value,
    ValueDef,
};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// Savings of a bitwise operation on a pair.
const BITWISE: i32 = 2;
/// Savings of a sum, whose carry costs the same in both forms.
const SUM: i32 = 2;
/// Savings of a message that moves halves, which need no interleaving.
const MESSAGE: i32 = 4;
/// Cost of splitting or joining a value.
const MEETING: i32 = 4;
/// Cost of joining an address, which is needed where it is sent.
const ADDRESS: i32 = 6;

/// Maximal elements of a lane in an access of pairs.
const MOST_ELEMENTS: u32 = 16;

/// Relation of a qword vector's definition to a pair.
enum DefKind {
    /// Can be a pair, with these savings.
    Pair(i32),
    /// Both forms are free, or the pair is: constants, extensions, splats.
    Either,
    /// Stays whole.
    Whole,
}

/// Sets of dependent values.
pub(super) struct PairSets {
    /// Union-find parent.
    sets: UnionFind<Value>,
    /// Savings of a set, at its root.
    gain: SecondaryMap<Value, i32>,
    /// Values that can be pairs.
    pairable: EntitySet<Value>,
    needs_whole: EntitySet<Value>,
    needs_halves: EntitySet<Value>,
    stores: EntitySet<Inst>,
    /// Indices of each block's parameters that are pairs, in order.
    pair_indices: SecondaryMap<Block, Vec<u32>>,
    /// Parameters whose other form is needed at the start of the block.
    params: SecondaryMap<Block, Vec<Value>>,
    any: bool,
}

impl PairSets {
    /// Forms the sets of a function without unreachable blocks.
    pub(super) fn new(func: &Function, cfg: &ControlFlow) -> PairSets {
        let mut s = PairSets {
            sets: UnionFind::default(),
            gain: SecondaryMap::new(),
            pairable: EntitySet::new(),
            needs_whole: EntitySet::new(),
            needs_halves: EntitySet::new(),
            stores: EntitySet::new(),
            pair_indices: SecondaryMap::new(),
            params: SecondaryMap::new(),
            any: false,
        };
        for &block in cfg.order() {
            let insts = func.layout.insts(block).iter();
            let results = insts.flat_map(|&i| func.dfg.results(i));
            for &v in func.dfg.block_params(block).iter().chain(results) {
                if let Some(DefKind::Pair(gain)) = def(func, v) {
                    s.pairable.insert(v);
                    s.gain[v] = gain;
                }
            }
        }
        let mut counted = EntitySet::new();
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                s.uses(func, inst, &mut counted);
            }
        }
        s.collect_needs(func, cfg);
        s
    }

    /// Joins the sets of an instruction's operands and result. Counts the costs of its operands.
    fn uses(&mut self, func: &Function, inst: Inst, counted: &mut EntitySet<Value>) {
        let data = func.dfg.data(inst);
        for dest in func.dfg.destinations(inst) {
            let params = func.dfg.block_params(dest.block);
            for (&p, &arg) in params.iter().zip(dest.args.as_slice(&func.dfg.pool)) {
                self.join_operand(func, p, arg, counted);
            }
        }
        let to = func
            .dfg
            .first_result(inst)
            .filter(|&v| self.pairable.contains(v));
        let addr = address(data);
        if is_branch(data) {
            return;
        }
        data.for_each_arg(&func.dfg, |v| {
            if !is_vector(func.dfg.ty(v)) {
                return;
            }
            match to {
                Some(to) if Some(v) != addr => self.join_operand(func, to, v, counted),
                _ if self.pairable.contains(v) => {
                    let root = self.sets.find(v);
                    self.gain[root] += match takes_halves(func, data, v) {
                        Some(saved) => saved,
                        // A read of halves, which the rules recognize.
                        None if is_cast_to_dwords(func, inst) => BITWISE,
                        None if !counted.insert(v) => 0,
                        None if Some(v) == addr => -ADDRESS,
                        None => -MEETING,
                    };
                }
                _ => {}
            }
        });
    }

    /// Joins a value with an operand, or counts the cost of converting it.
    fn join_operand(
        &mut self,
        func: &Function,
        to: Value,
        v: Value,
        counted: &mut EntitySet<Value>,
    ) {
        let to_pair = self.pairable.contains(to);
        if self.pairable.contains(v) {
            if !to_pair {
                if counted.insert(v) {
                    let root = self.sets.find(v);
                    self.gain[root] -= MEETING;
                }
            } else if let Some((a, b)) = self.sets.union(to, v) {
                self.gain[a] += self.gain[b];
            }
        } else if to_pair && matches!(def(func, v), Some(DefKind::Whole)) && counted.insert(v) {
            let a = self.sets.find(to);
            self.gain[a] -= MEETING;
        }
    }

    /// Collects the other forms that values need.
    fn collect_needs(&mut self, func: &Function, cfg: &ControlFlow) {
        let mut pairs = EntitySet::new();
        for &block in cfg.order() {
            let insts = func.layout.insts(block).iter();
            let results = insts.flat_map(|&i| func.dfg.results(i));
            for &v in func.dfg.block_params(block).iter().chain(results) {
                if self.pairable.contains(v) {
                    let root = self.sets.find(v);
                    if self.gain[root] > 0 {
                        pairs.insert(v);
                        self.any = true;
                    }
                }
            }
        }
        self.pairable = pairs;
        for &block in cfg.order() {
            let params = func.dfg.block_params(block);
            let pair_indices = (0u32..)
                .zip(params)
                .filter(|(_, p)| self.pairable.contains(**p));
            self.pair_indices[block] = pair_indices.map(|(n, _)| n).collect();
        }
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                self.collect_needs_of(func, inst);
            }
        }
        for &block in cfg.order() {
            let params = func.dfg.block_params(block).iter().copied();
            let more = |&v: &Value| self.needs_whole.contains(v) || self.needs_halves.contains(v);
            self.params[block] = params.filter(more).collect();
        }
    }

    fn collect_needs_of(&mut self, func: &Function, inst: Inst) {
        let data = func.dfg.data(inst);
        for dest in func.dfg.destinations(inst) {
            let params = func.dfg.block_params(dest.block);
            for (&p, &arg) in params.iter().zip(dest.args.as_slice(&func.dfg.pool)) {
                self.need(arg, self.pairable.contains(p));
            }
        }
        if is_branch(data) {
            return;
        }
        let to_pair = func
            .dfg
            .first_result(inst)
            .is_some_and(|v| self.pairable.contains(v));
        let addr = address(data);
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        data.for_each_arg(&func.dfg, |v| args.push(v));
        for v in args {
            if !is_vector(func.dfg.ty(v)) {
                continue;
            }
            let is_store = matches!(data, InstData::Store { .. });
            let halves = if Some(v) == addr {
                false
            } else if to_pair {
                true
            } else {
                // Constants and extensions are stored as halves, which spares moves.
                takes_halves(func, data, v).is_some()
                    && (self.pairable.contains(v)
                        || is_store && matches!(def(func, v), Some(DefKind::Either)))
            };
            if halves && is_store {
                self.stores.insert(inst);
                self.any = true;
            }
            self.need(v, halves);
        }
    }

    fn need(&mut self, v: Value, halves: bool) {
        if halves && !self.pairable.contains(v) {
            self.needs_halves.insert(v);
        } else if !halves && self.pairable.contains(v) {
            self.needs_whole.insert(v);
        }
    }

    /// Returns true if nothing becomes a pair.
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Returns true if a value becomes a pair.
    pub(super) fn is_pair(&self, v: Value) -> bool {
        self.pairable.contains(v)
    }

    /// Returns true if a pair is needed as a whole.
    pub(super) fn needs_whole(&self, v: Value) -> bool {
        self.needs_whole.contains(v)
    }

    /// Returns true if halves of a whole value are needed.
    pub(super) fn needs_halves(&self, v: Value) -> bool {
        self.needs_halves.contains(v)
    }

    /// Returns true if a store takes halves.
    pub(super) fn is_split_access(&self, inst: Inst) -> bool {
        self.stores.contains(inst)
    }

    /// Returns the original indices of a block's parameters that are pairs.
    pub(super) fn pair_indices(&self, block: Block) -> &[u32] {
        &self.pair_indices[block]
    }

    /// Returns the original parameters of a block whose other form is needed.
    pub(super) fn params(&self, block: Block) -> &[Value] {
        &self.params[block]
    }
}

/// Returns the address operand of an access.
fn address(data: &InstData) -> Option<Value> {
    match *data {
        InstData::Load { addr, .. } | InstData::Atomic { addr, .. } => Some(addr),
        InstData::Store { args, .. } => Some(args[1]),
        _ => None,
    }
}

/// Returns true for a cast to dwords.
fn is_cast_to_dwords(func: &Function, inst: Inst) -> bool {
    let to = func.dfg.first_result(inst).map(|v| func.dfg.ty(v).scalar());
    func.dfg.data(inst).opcode() == Opcode::Bitcast && to == Some(Scalar::I32)
}

/// Returns true for a branch, whose vector operands are all block arguments.
fn is_branch(data: &InstData) -> bool {
    matches!(
        data,
        InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. }
    )
}

/// Returns the savings if an instruction takes the halves of an operand while its result is no
/// pair. `None` if it needs a whole value.
fn takes_halves(func: &Function, data: &InstData, v: Value) -> Option<i32> {
    match *data {
        InstData::Unary {
            opcode: Opcode::Ireduce,
            ..
        } => Some(1),
        InstData::Store {
            opcode: Opcode::Store,
            mem,
            args,
            offset,
            ..
        } if args[0] == v && args[1] != v => {
            access_savings(mem, offset, func.dfg.ty(v), func.dfg.ty(args[1]))
        }
        _ => None,
    }
}

/// Classifies a value's definition; `None` if it is no qword vector.
fn def(func: &Function, v: Value) -> Option<DefKind> {
    let ty = func.dfg.ty(v);
    if !is_vector(ty) {
        return None;
    }
    let inst = match func.dfg.def(v) {
        ValueDef::Param(block, _) => {
            return Some(if func.layout.entry() == Some(block) {
                DefKind::Whole
            } else {
                DefKind::Pair(0)
            });
        }
        ValueDef::Result(inst, 0) => inst,
        ValueDef::Result(..) => return Some(DefKind::Whole),
    };
    Some(match *func.dfg.data(inst) {
        InstData::Nullary {
            opcode: Opcode::Undef,
        }
        | InstData::Imm { .. }
        | InstData::ImmVec { .. }
        | InstData::Unary {
            opcode: Opcode::Sextend | Opcode::Uextend,
            ..
        } => DefKind::Either,
        InstData::Unary {
            opcode: Opcode::Bitcast,
            arg,
        } if func.dfg.ty(arg).scalar() == Scalar::I32 => DefKind::Pair(if is_join(func, arg) {
            MEETING
        } else {
            -MEETING
        }),
        InstData::Unary {
            opcode: Opcode::Bnot,
            ..
        }
        | InstData::Ternary {
            opcode: Opcode::Select,
            ..
        } => DefKind::Pair(BITWISE),
        InstData::Unary {
            opcode: Opcode::Ineg,
            ..
        } => DefKind::Pair(SUM),
        InstData::Binary { opcode, args } => match opcode {
            Opcode::Iadd | Opcode::Isub => DefKind::Pair(SUM),
            Opcode::Band | Opcode::Bor | Opcode::Bxor => DefKind::Pair(BITWISE),
            // A single lane cannot be shuffled by halves.
            Opcode::Shuffle
                if func.dfg.ty(args[0]).lanes() > 1
                    && func.dfg.ty(args[1]).scalar() != Scalar::I64 =>
            {
                DefKind::Pair(BITWISE)
            }
            _ => DefKind::Whole,
        },
        InstData::RdRegion { arg, index, .. } if index.is_none() => {
            match func.dfg.ty(arg).lanes() {
                1 => DefKind::Either,
                _ => DefKind::Pair(BITWISE),
            }
        }
        InstData::WrRegion { args, index, .. }
            if index.is_none() && func.dfg.ty(args[1]).lanes() > 1 =>
        {
            DefKind::Pair(BITWISE)
        }
        InstData::Load {
            opcode: Opcode::Load,
            mem,
            addr,
            offset,
            ..
        } => {
            access_savings(mem, offset, ty, func.dfg.ty(addr)).map_or(DefKind::Whole, DefKind::Pair)
        }
        _ => DefKind::Whole,
    })
}

/// Returns the savings of an access that moves pairs. `None` if it stays one message per element.
fn access_savings(mem: MemFlags, offset: i32, ty: Type, addr: Type) -> Option<i32> {
    let count = ty.lanes() / addr.lanes().max(1);
    let merges = matches!(addr.lanes(), 8 | 16 | 32) && mem.alignment(8) >= 4;
    let fits = count <= MOST_ELEMENTS && offset < i32::MAX - 8 * MOST_ELEMENTS as i32;
    // Such a message moves qwords as they are.
    let whole = mem.space == Space::Global && mem.alignment(8) >= 8;
    let saved = match (whole, count) {
        (true, 1) => 0,
        _ => MESSAGE,
    };
    (merges && fits && !mem.volatile).then_some(saved)
}

/// Returns true if dwords are two interleaved vectors.
fn is_join(func: &Function, v: Value) -> bool {
    let written = |v: Value| match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::WrRegion { args, region, .. } => {
            (region.hstride == 2 || region.vstride == 2 && region.width == 1).then_some(args[0])
        }
        _ => None,
    };
    written(v).and_then(written).is_some()
}
