//! Which quadwords become pairs: sets of values that are made of each other, and what a set saves.
//!
//! What is counted are instructions of as many lanes as one on doublewords has: a move or an
//! operation of logic on quadwords is four of these, on a pair two.

use super::is_vector;
use crate::ir::{
    Block, ControlFlow, Function, Inst, InstData, MemFlags, Opcode, Scalar, Space, Type, Value,
    ValueDef,
};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// What an operation on a pair saves that goes bit by bit.
const BITWISE: i32 = 2;
/// A sum, whose carry is as wide on both.
const SUM: i32 = 2;
/// Halves that a message moves, which need not be moved to and from each other's side.
const MESSAGE: i32 = 4;
/// What it costs to make halves of a whole, or a whole of halves.
const MEETING: i32 = 4;
/// An address is computed where it is sent.
const ADDRESS: i32 = 6;

/// The most elements of a lane that an access of pairs has.
const MOST_ELEMENTS: u32 = 16;

/// What the definition of a vector of quadwords is to a pair.
enum Def {
    /// It can be one, and saves that.
    Pair(i32),
    /// Both forms cost nothing, or the pair does: constants, extensions, a lane spread.
    Either,
    /// It stays as it is.
    Whole,
}

/// The sets.
pub(super) struct Sets {
    /// The next member of the way to a set's first.
    up: SecondaryMap<Value, PackedOption<Value>>,
    /// What a set saves, at its first.
    gain: SecondaryMap<Value, i32>,
    /// Values that can be pairs.
    can: EntitySet<Value>,
    wants_whole: EntitySet<Value>,
    wants_halves: EntitySet<Value>,
    stores: EntitySet<Inst>,
    /// Of each block the places of parameters that are pairs, in order.
    places: SecondaryMap<Block, Vec<u32>>,
    /// The parameters that something has to be made of at the block's begin.
    params: SecondaryMap<Block, Vec<Value>>,
    any: bool,
}

impl Sets {
    /// The sets of a function all of whose blocks can be reached.
    pub(super) fn new(func: &Function, cfg: &ControlFlow) -> Sets {
        let mut s = Sets {
            up: SecondaryMap::new(),
            gain: SecondaryMap::new(),
            can: EntitySet::new(),
            wants_whole: EntitySet::new(),
            wants_halves: EntitySet::new(),
            stores: EntitySet::new(),
            places: SecondaryMap::new(),
            params: SecondaryMap::new(),
            any: false,
        };
        for &block in cfg.order() {
            let insts = func.layout.insts(block).iter();
            let results = insts.flat_map(|&i| func.dfg.results(i));
            for &v in func.dfg.block_params(block).iter().chain(results) {
                if let Some(Def::Pair(gain)) = def(func, v) {
                    s.can.insert(v);
                    s.gain[v] = gain;
                }
            }
        }
        let mut met = EntitySet::new();
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                s.uses(func, inst, &mut met);
            }
        }
        s.wants(func, cfg);
        s
    }

    /// Joins the sets of what an instruction is made of, and counts what its operands cost.
    fn uses(&mut self, func: &Function, inst: Inst, met: &mut EntitySet<Value>) {
        let data = func.dfg.data(inst);
        for dest in func.dfg.destinations(inst) {
            let params = func.dfg.block_params(dest.block);
            for (&p, &arg) in params.iter().zip(dest.args.as_slice(&func.dfg.pool)) {
                self.operand(func, p, arg, met);
            }
        }
        let to = func
            .dfg
            .first_result(inst)
            .filter(|&v| self.can.contains(v));
        let addr = address(data);
        if is_branch(data) {
            return;
        }
        data.for_each_arg(&func.dfg, |v| {
            if !is_vector(func.dfg.ty(v)) {
                return;
            }
            match to {
                Some(to) if Some(v) != addr => self.operand(func, to, v, met),
                _ if self.can.contains(v) => {
                    let first = self.first(v);
                    self.gain[first] += match takes_halves(func, data, v) {
                        Some(saved) => saved,
                        // Of which halves are read, as the rules know.
                        None if to_doublewords(func, inst) => BITWISE,
                        None if !met.insert(v) => 0,
                        None if Some(v) == addr => -ADDRESS,
                        None => -MEETING,
                    };
                }
                _ => {}
            }
        });
    }

    /// A value that is made of an operand.
    fn operand(&mut self, func: &Function, to: Value, v: Value, met: &mut EntitySet<Value>) {
        let to_pair = self.can.contains(to);
        if self.can.contains(v) {
            let (a, b) = (self.first(to), self.first(v));
            if !to_pair {
                if met.insert(v) {
                    self.gain[b] -= MEETING;
                }
            } else if a != b {
                self.up[b] = a.into();
                self.gain[a] += self.gain[b];
            }
        } else if to_pair && matches!(def(func, v), Some(Def::Whole)) && met.insert(v) {
            let a = self.first(to);
            self.gain[a] -= MEETING;
        }
    }

    /// The first member of a value's set; the way there is half as long then.
    fn first(&mut self, mut v: Value) -> Value {
        while let Some(up) = self.up[v].expand() {
            if let Some(next) = self.up[up].expand() {
                self.up[v] = next.into();
            }
            v = up;
        }
        v
    }

    /// Notes what each value has to be besides what it is.
    fn wants(&mut self, func: &Function, cfg: &ControlFlow) {
        let mut pairs = EntitySet::new();
        for &block in cfg.order() {
            let insts = func.layout.insts(block).iter();
            let results = insts.flat_map(|&i| func.dfg.results(i));
            for &v in func.dfg.block_params(block).iter().chain(results) {
                if self.can.contains(v) {
                    let first = self.first(v);
                    if self.gain[first] > 0 {
                        pairs.insert(v);
                        self.any = true;
                    }
                }
            }
        }
        self.can = pairs;
        for &block in cfg.order() {
            let params = func.dfg.block_params(block);
            let places = (0u32..).zip(params).filter(|(_, p)| self.can.contains(**p));
            self.places[block] = places.map(|(n, _)| n).collect();
        }
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                self.wants_of(func, inst);
            }
        }
        for &block in cfg.order() {
            let params = func.dfg.block_params(block).iter().copied();
            let more = |&v: &Value| self.wants_whole.contains(v) || self.wants_halves.contains(v);
            self.params[block] = params.filter(more).collect();
        }
    }

    fn wants_of(&mut self, func: &Function, inst: Inst) {
        let data = func.dfg.data(inst);
        for dest in func.dfg.destinations(inst) {
            let params = func.dfg.block_params(dest.block);
            for (&p, &arg) in params.iter().zip(dest.args.as_slice(&func.dfg.pool)) {
                self.want(arg, self.can.contains(p));
            }
        }
        if is_branch(data) {
            return;
        }
        let to_pair = func
            .dfg
            .first_result(inst)
            .is_some_and(|v| self.can.contains(v));
        let addr = address(data);
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        data.for_each_arg(&func.dfg, |v| args.push(v));
        for v in args {
            if !is_vector(func.dfg.ty(v)) {
                continue;
            }
            let halves = match Some(v) == addr {
                true => false,
                false if to_pair => true,
                // What can be either is halves to a store, of which it spares the moves.
                false => {
                    takes_halves(func, data, v).is_some()
                        && (self.can.contains(v)
                            || matches!(data, InstData::Store { .. })
                                && matches!(def(func, v), Some(Def::Either)))
                }
            };
            if halves && matches!(data, InstData::Store { .. }) {
                self.stores.insert(inst);
                self.any = true;
            }
            self.want(v, halves);
        }
    }

    fn want(&mut self, v: Value, halves: bool) {
        if halves && !self.can.contains(v) {
            self.wants_halves.insert(v);
        } else if !halves && self.can.contains(v) {
            self.wants_whole.insert(v);
        }
    }

    /// Whether nothing becomes a pair.
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Whether a value becomes a pair.
    pub(super) fn is_pair(&self, v: Value) -> bool {
        self.can.contains(v)
    }

    /// Whether a pair is asked for as a whole.
    pub(super) fn wants_whole(&self, v: Value) -> bool {
        self.wants_whole.contains(v)
    }

    /// Whether a whole is asked for as halves.
    pub(super) fn wants_halves(&self, v: Value) -> bool {
        self.wants_halves.contains(v)
    }

    /// Whether a store is of halves.
    pub(super) fn is_split_access(&self, inst: Inst) -> bool {
        self.stores.contains(inst)
    }

    /// The places of a block's parameters that are pairs, as they were.
    pub(super) fn places(&self, block: Block) -> &[u32] {
        &self.places[block]
    }

    /// A block's parameters, as they were, of which something has to be made.
    pub(super) fn params(&self, block: Block) -> &[Value] {
        &self.params[block]
    }
}

/// The addresses of an access.
fn address(data: &InstData) -> Option<Value> {
    match *data {
        InstData::Load { addr, .. } | InstData::Atomic { addr, .. } => Some(addr),
        InstData::Store { args, .. } => Some(args[1]),
        _ => None,
    }
}

/// Whether an instruction is the same bytes as doublewords.
fn to_doublewords(func: &Function, inst: Inst) -> bool {
    let to = func.dfg.first_result(inst).map(|v| func.dfg.ty(v).scalar());
    func.dfg.data(inst).opcode() == Opcode::Bitcast && to == Some(Scalar::I32)
}

/// Whether vectors among an instruction's operands are arguments of where it goes on.
fn is_branch(data: &InstData) -> bool {
    matches!(
        data,
        InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. }
    )
}

/// What it saves if an instruction, whose result is no pair, has the halves of an operand; none
/// where it wants a whole.
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
            access(mem, offset, func.dfg.ty(v), func.dfg.ty(args[1]))
        }
        _ => None,
    }
}

/// What a value's definition is to a pair; none where the value is no vector of quadwords.
fn def(func: &Function, v: Value) -> Option<Def> {
    let ty = func.dfg.ty(v);
    if !is_vector(ty) {
        return None;
    }
    let inst = match func.dfg.def(v) {
        ValueDef::Param(block, _) => {
            return Some(if func.layout.entry() == Some(block) {
                Def::Whole
            } else {
                Def::Pair(0)
            });
        }
        ValueDef::Result(inst, 0) => inst,
        ValueDef::Result(..) => return Some(Def::Whole),
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
        } => Def::Either,
        InstData::Unary {
            opcode: Opcode::Bitcast,
            arg,
        } if func.dfg.ty(arg).scalar() == Scalar::I32 => Def::Pair(if is_join(func, arg) {
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
        } => Def::Pair(BITWISE),
        InstData::Unary {
            opcode: Opcode::Ineg,
            ..
        } => Def::Pair(SUM),
        InstData::Binary { opcode, args } => match opcode {
            Opcode::Iadd | Opcode::Isub => Def::Pair(SUM),
            Opcode::Band | Opcode::Bor | Opcode::Bxor => Def::Pair(BITWISE),
            // One lane has no halves to draw from.
            Opcode::Shuffle
                if func.dfg.ty(args[0]).lanes() > 1
                    && func.dfg.ty(args[1]).scalar() != Scalar::I64 =>
            {
                Def::Pair(BITWISE)
            }
            _ => Def::Whole,
        },
        InstData::RdRegion { arg, index, .. } if index.is_none() => {
            match func.dfg.ty(arg).lanes() {
                1 => Def::Either,
                _ => Def::Pair(BITWISE),
            }
        }
        InstData::WrRegion { args, index, .. }
            if index.is_none() && func.dfg.ty(args[1]).lanes() > 1 =>
        {
            Def::Pair(BITWISE)
        }
        InstData::Load {
            opcode: Opcode::Load,
            mem,
            addr,
            offset,
            ..
        } => access(mem, offset, ty, func.dfg.ty(addr)).map_or(Def::Whole, Def::Pair),
        _ => Def::Whole,
    })
}

/// What an access saves by lanes of which it moves pairs; none where it stays as it is, in one
/// message of each element.
fn access(mem: MemFlags, offset: i32, ty: Type, addr: Type) -> Option<i32> {
    let count = ty.lanes() / addr.lanes().max(1);
    let merges = matches!(addr.lanes(), 8 | 16 | 32) && mem.alignment(8) >= 4;
    let fits = count <= MOST_ELEMENTS && offset < i32::MAX - 8 * MOST_ELEMENTS as i32;
    // There a message moves quadwords as they are.
    let whole = mem.space == Space::Global && mem.alignment(8) >= 8;
    let saved = match (whole, count) {
        (true, 1) => 0,
        _ => MESSAGE,
    };
    (merges && fits && !mem.volatile).then_some(saved)
}

/// Whether doublewords are two vectors laid side by side.
fn is_join(func: &Function, v: Value) -> bool {
    let written = |v: Value| match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::WrRegion { args, region, .. } => {
            (region.hstride == 2 || region.vstride == 2 && region.width == 1).then_some(args[0])
        }
        _ => None,
    };
    written(v).and_then(written).is_some()
}
