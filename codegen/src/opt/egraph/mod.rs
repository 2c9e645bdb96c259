//! The e-graph: an acyclic one, as Cranelift's.
//!
//! Blocks are visited in reverse postorder. Each operation that only computes is a *node*, known by
//! its type, opcode and operands: the same again is the same value. What all operands' constants
//! make is computed (by the interpreter's own `evaluate`, and so by isa-gen's semantics). The rules
//! in `../isle` say what else a node is equal to; what they make are nodes too. A value's *class*
//! is the node that it was, and what that is equal to; a rule's pattern matches any node of a
//! class. Costs are known as soon as a class is, since operands come first: the cheapest node is
//! the one that is chosen.
//!
//! An alternative needs nothing that the node itself does not need, so it can be computed wherever
//! that can.
//!
//! Then `elaborate` puts chosen nodes back, each where the program had it, or where something first
//! asks for it, or before the loops that it does not depend on; what is there already, in a block
//! that dominates, is not computed again.
//!
//! Bounds: [`MADE_PER_INST`] nodes made by rules for each instruction, [`DEPTH`] rules one in the
//! other, [`ALTERNATIVES`] nodes a class.

mod bits;
pub(super) mod cost;
mod dp4a;
mod elaborate;
mod fixed;
mod reassemble;
mod rules;
#[cfg(test)]
mod tests;

use super::{Facts, Pass, State};
use crate::entity_set::sized;
use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::opcode::Out;
use crate::ir::{
    BlockInsts, Constant, ControlFlow, DataFlowGraph, Function, Inst, InstData, Opcode, Region,
    Scalar, SourceLoc, Type, Value,
};
use crate::rule_coverage::Fired;
use crate::target::Target;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
pub(super) use rules::{elements, region_of};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::time::Duration;

/// Nodes that rules may make, for each instruction of the function.
const MADE_PER_INST: usize = 1;
/// Values that rules mostly make: one for so many instructions. There may be more.
const ROOM: usize = 4;
/// How deep rules may be applied to what rules made.
const DEPTH: u32 = 5;
/// Nodes of a class that patterns are matched against.
const ALTERNATIVES: usize = 4;
/// Lanes of a constant that folding makes: more are left to the hardware.
const FOLDED_LANES: u32 = 64;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// The cheapest way to a value.
#[derive(Clone, Copy)]
struct Best {
    /// In units of [`cost`], operands included.
    cost: u32,
    /// The node's value.
    value: Value,
}

impl Default for Best {
    fn default() -> Best {
        Best {
            cost: 0,
            value: Value::reserved_value(),
        }
    }
}

/// What a node is equal to, if that is anything.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Alternatives(u32);
entity_impl!(Alternatives);

/// What is known of a value, in one place: of a large function each place is one more that is not
/// in the cache.
#[derive(Clone, Copy, Default)]
struct Known {
    /// What stands for a value of the program; nothing for those that stand for themselves.
    class: PackedOption<Value>,
    /// The cheapest of a class; nothing where the class is a value that is no node.
    best: Best,
    /// The lanes of a constant with a value per lane.
    lanes: PackedOption<Constant>,
    alternatives: PackedOption<Alternatives>,
}

/// A node, which is what the instruction of a value is, and its class.
struct Node {
    value: Value,
    class: Value,
    /// The lower half of the hash: whoever has another is another node, and need not be looked at.
    hash: u32,
}

struct EGraph<'a> {
    func: &'a mut Function,
    facts: &'a Facts<'a>,
    known: SecondaryMap<Value, Known>,
    alternatives: PrimaryMap<Alternatives, SmallVec<[Value; ALTERNATIVES]>>,
    /// Nodes by their type, opcode and operands, which the function says of them.
    nodes: HashTable<Node>,
    /// Constants with a value per lane, by their lanes.
    constants: Map<Vec<u64>, Constant>,
    /// Where the bits of doublewords come from that are shifted, masked or joined.
    bits: Map<Value, bits::Bits>,
    /// Where the instruction that is looked at comes from.
    loc: SourceLoc,
    /// How deep rules are in rules.
    depth: u32,
    /// Nodes that rules may still make.
    budget: usize,
    rules: bool,
    fired: Fired,
    /// What was found again, folded, replaced by a rule.
    changes: u32,
    replaced: u32,
}

/// About how many instructions an operation is, one of which the first result has this type.
pub(super) fn instructions(dfg: &DataFlowGraph, ty: Type, data: &InstData, target: &Target) -> u32 {
    cost::of(dfg, ty, data, target.features().math_int_div) / cost::INST
}

/// Whether an instruction is a node: it has one result, which depends on its operands alone, and
/// may be computed anywhere.
pub(super) fn is_node(data: &InstData) -> bool {
    let opcode = data.opcode();
    let info = opcode.info();
    if info.effect {
        return false;
    }
    match data {
        // What channels run under has its order; and what nobody wrote is in as many places as ask
        // for it.
        InstData::Nullary { opcode } => !matches!(opcode, Opcode::DispatchMask | Opcode::Undef),
        InstData::Imm { .. }
        | InstData::ImmVec { .. }
        | InstData::Launch { .. }
        | InstData::Unary { .. }
        | InstData::IntCompare { .. }
        | InstData::FloatCompare { .. }
        | InstData::RdRegion { .. }
        | InstData::WrRegion { .. }
        | InstData::RdPred { .. }
        | InstData::WrPred { .. }
        | InstData::ArgQuery { .. }
        | InstData::Symbol { .. } => true,
        InstData::Binary { .. } | InstData::Ternary { .. } => {
            info.out != Out::Two && !matches!(opcode, Opcode::Goto | Opcode::Join)
        }
        _ => false,
    }
}

/// The pass.
pub(super) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    state.flow.remove_unreachable(func);
    let cfg = state.flow.of(func);
    let counts = &mut state.counts;
    let mut graph = EGraph::new(func, facts);
    graph.build(&cfg);
    let (changes, replaced) = (graph.changes, graph.replaced);
    counts.fired.extend(&graph.fired);
    let hoisted = elaborate::run(graph, &cfg, facts);
    if facts.passes.contains(Pass::Rules) {
        counts.add(Pass::Rules, replaced, Duration::ZERO);
    }
    if facts.passes.contains(Pass::Licm) {
        counts.add(Pass::Licm, hoisted, Duration::ZERO);
    }
    changes
}

impl<'a> EGraph<'a> {
    fn new(func: &'a mut Function, facts: &'a Facts<'a>) -> EGraph<'a> {
        let count = func.dfg.num_insts();
        EGraph {
            known: sized(func.dfg.num_values() + count / ROOM),
            // About as many are equal to something else.
            alternatives: PrimaryMap::with_capacity(count / ROOM),
            nodes: HashTable::with_capacity(count),
            constants: Map::default(),
            bits: Map::default(),
            loc: SourceLoc::NONE,
            depth: 0,
            budget: 64 + count.saturating_mul(MADE_PER_INST),
            rules: facts.passes.contains(Pass::Rules),
            fired: Fired::default(),
            changes: 0,
            replaced: 0,
            func,
            facts,
        }
    }

    /// Makes nodes of all that only computes; the operands of the rest are classes.
    fn build(&mut self, cfg: &ControlFlow) {
        for &block in cfg.order() {
            for n in 0..self.func.layout.insts(block).len() {
                let inst = self.func.layout.insts(block)[n];
                self.loc = self.func.srclocs[inst];
                let known = &self.known;
                self.func
                    .dfg
                    .map_args(inst, |v| known[v].class.expand().unwrap_or(v));
                let data = *self.func.dfg.data(inst);
                if let (true, Some(result)) = (is_node(&data), self.func.dfg.first_result(inst)) {
                    let ty = self.func.dfg.ty(result);
                    let class = self.node(ty, data, Some((inst, result)));
                    if class != result {
                        self.known[result].class = class.into();
                        self.changes += 1;
                    }
                }
            }
        }
        // Operands of what comes before their definitions in the order: of branches back.
        for &block in cfg.order() {
            if let Some(inst) = self.func.layout.terminator(block) {
                let known = &self.known;
                self.func
                    .dfg
                    .map_args(inst, |v| known[v].class.expand().unwrap_or(v));
            }
        }
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// The class of a node: an instruction of the program, or a new one.
    fn node(&mut self, ty: Type, data: InstData, original: Option<(Inst, Value)>) -> Value {
        let data = self.canonical(ty, data);
        let hash = hashed(ty, &data);
        let dfg = &self.func.dfg;
        if let Some(there) = self.nodes.find(hash, |n| {
            n.hash == hash as u32 && key(dfg, n) == Some((ty, &data))
        }) {
            return there.class;
        }
        let this = match original {
            Some((inst, result)) => {
                *self.func.dfg.data_mut(inst) = data;
                result
            }
            None => {
                self.budget = self.budget.saturating_sub(1);
                let inst = self.func.dfg.make_inst(data, &[ty]);
                self.func.set_srcloc(inst, self.loc);
                let result = self.func.dfg.first_result(inst);
                result.unwrap_or(Value::reserved_value())
            }
        };
        let mut cost = cost::of(&self.func.dfg, ty, &data, self.divides());
        data.for_each_arg(&self.func.dfg, |v| {
            cost = cost.saturating_add(self.known[v].best.cost);
        });
        self.known[this].best = Best { cost, value: this };
        if let InstData::ImmVec { constant, .. } = data {
            self.known[this].lanes = constant.into();
        }
        let class = self.equal(this, ty, &data);
        if class != this {
            self.replaced += 1;
        }
        let dfg = &self.func.dfg;
        let short = hash as u32;
        let same = |n: &Node| n.hash == short && key(dfg, n) == Some((ty, &data));
        // A rule may have come to the same node meanwhile.
        match self.nodes.entry(hash, same, |n| spread(n.hash)) {
            Entry::Occupied(mut there) => there.get_mut().class = class,
            Entry::Vacant(free) => {
                free.insert(Node {
                    value: this,
                    class,
                    hash: short,
                });
            }
        }
        class
    }

    /// Finds what a new node is equal to. Gives what stands for it: another value where that is
    /// better in every way.
    fn equal(&mut self, this: Value, ty: Type, data: &InstData) -> Value {
        if let Some(folded) = self.fold(ty, data)
            && self.add(this, folded)
        {
            return folded;
        }
        if !self.rules || self.depth >= DEPTH || self.budget == 0 {
            return this;
        }
        self.depth += 1;
        let made = self.func.dfg.num_values();
        let mut found: SmallVec<[Value; 8]> = SmallVec::new();
        rules::simplify(self, this, &mut found);
        let others = [
            self.uniform(ty, data),
            self.turned(this, ty, data),
            self.put_together(ty, data),
            self.dot(ty, data),
        ];
        for other in others.into_iter().flatten() {
            found.push(other);
        }
        self.depth -= 1;
        // Whatever a rule makes of a division is better than one in many steps.
        let wide = ty.scalar() == Scalar::I64;
        let long = cost::is_long_quotient(data.opcode(), wide, self.divides());
        for other in found {
            let known = other.as_u32() < made as u32;
            let cheaper = self.known[other].best.cost < self.known[this].best.cost;
            if self.add(this, other) || known && cheaper || long && other != this {
                return other;
            }
        }
        this
    }

    /// Whether the math box divides doublewords.
    fn divides(&self) -> bool {
        self.facts.target.features().math_int_div
    }

    /// Adds an alternative to a node; whether it is a constant, and nothing else has to be known.
    fn add(&mut self, this: Value, other: Value) -> bool {
        if other == this {
            return false;
        }
        if self.immediate(other).is_some() {
            return true;
        }
        let lanes = self.known[other].lanes;
        let best = self.best_of(other);
        let known = &mut self.known[this];
        if known.lanes.is_none() {
            known.lanes = lanes;
        }
        if best.cost <= known.best.cost {
            known.best = best;
        }
        match known.alternatives.expand() {
            None => known.alternatives = self.alternatives.push(smallvec![other]).into(),
            Some(list) if self.alternatives[list].len() < ALTERNATIVES => {
                self.alternatives[list].push(other);
            }
            Some(_) => {}
        }
        false
    }

    /// The cheapest way to a class; of what is no node that itself, which costs nothing.
    fn best_of(&self, class: Value) -> Best {
        let best = self.known[class].best;
        if best.value.is_reserved_value() {
            Best {
                cost: 0,
                value: class,
            }
        } else {
            best
        }
    }

    /// The data of a class's own node.
    fn data(&self, class: Value) -> Option<&InstData> {
        let inst = self.func.dfg.def_inst(class)?;
        let data = self.func.dfg.data(inst);
        is_node(data).then_some(data)
    }

    /// Whether a class is its own node and nothing else, or no node.
    fn is_alone(&self, class: Value) -> bool {
        self.known[class].alternatives.is_none()
    }

    /// The first nodes of a class.
    fn members(&self, class: Value) -> SmallVec<[Value; ALTERNATIVES]> {
        let mut out = SmallVec::new();
        if self.is_alone(class) {
            if self.data(class).is_some() {
                out.push(class);
            }
            return out;
        }
        let mut work: SmallVec<[Value; ALTERNATIVES * ALTERNATIVES]> = smallvec![class];
        while let Some(v) = work.pop() {
            if self.data(v).is_none() {
                continue;
            }
            out.push(v);
            if out.len() == ALTERNATIVES {
                break;
            }
            if let Some(list) = self.known[v].alternatives.expand() {
                work.extend(self.alternatives[list].iter().rev().copied());
            }
        }
        out
    }

    /// The bits of every lane, of a class that is an immediate; of a predicate all of its lanes.
    fn immediate(&self, class: Value) -> Option<u64> {
        // Every such instruction is a node.
        let inst = self.func.dfg.def_inst(class)?;
        match *self.func.dfg.data(inst) {
            InstData::Imm { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// Whether a class is a constant.
    fn is_constant(&self, class: Value) -> bool {
        self.known[class].lanes.is_some() || self.immediate(class).is_some()
    }

    /// The lanes of a class that is a constant.
    fn constant(&self, class: Value) -> Option<Lanes> {
        let ty = self.ty(class);
        if let Some(bits) = self.immediate(class) {
            let lanes = 0..ty.lanes();
            return Some(if ty.is_pred() {
                lanes.map(|l| bits >> l & 1).collect()
            } else {
                lanes.map(|_| bits).collect()
            });
        }
        let constant = self.known[class].lanes.expand()?;
        Some(self.func.dfg.constant(constant).to_vec())
    }

    /// The value that a node has whose operands are all constants.
    fn fold(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        if matches!(data, InstData::Imm { .. } | InstData::ImmVec { .. })
            || ty.lanes() > FOLDED_LANES
        {
            return None;
        }
        if let InstData::RdRegion { arg, index, .. } = *data
            && index.is_none()
            && let Some(bits) = self.immediate(arg)
        {
            return Some(self.make_constant(ty, Lanes::from([bits])));
        }
        let (mut all, mut any) = (true, false);
        data.for_each_arg(&self.func.dfg, |v| {
            any = true;
            all = all && self.is_constant(v) && self.ty(v).lanes() <= FOLDED_LANES;
        });
        if !all || !any {
            return None;
        }
        let mut args: SmallVec<[(Value, Lanes); 3]> = SmallVec::new();
        // What is the same in all lanes is worked out for one.
        let one = is_by_lanes(data);
        let mut same = one;
        if one {
            data.for_each_arg(&self.func.dfg, |v| {
                same &= !self.ty(v).is_pred() && self.immediate(v).is_some();
            });
        }
        data.for_each_arg(&self.func.dfg, |v| {
            let lanes = if same {
                self.immediate(v).map(|bits| Lanes::from([bits]))
            } else {
                self.constant(v)
            };
            args.extend(lanes.map(|lanes| (v, lanes)));
        });
        let none = Lanes::new();
        let value = |v: Value| {
            let known = args.iter().find(|(a, _)| *a == v);
            known.map_or(&none, |(_, lanes)| lanes)
        };
        let mode = self.facts.float.mode();
        let of = if same {
            Type::scalar_of(ty.scalar())
        } else {
            ty
        };
        let lanes = evaluate(&self.func.dfg, of, data, value, &mode).ok()?;
        let mut lanes = lanes.into_iter().next()?;
        if same && ty.is_pred() {
            lanes.resize(ty.lanes() as usize, *lanes.first()?);
        }
        Some(self.make_constant(ty, lanes))
    }

    /// A constant with these lanes.
    fn make_constant(&mut self, ty: Type, mut lanes: Lanes) -> Value {
        let mask = ty.scalar().mask();
        lanes.iter_mut().for_each(|l| *l &= mask);
        let data = match (ty.scalar(), lanes.first()) {
            (Scalar::B1, _) => InstData::Imm {
                opcode: Opcode::Bconst,
                bits: lanes.iter().rev().fold(0, |v, b| v << 1 | b & 1),
            },
            (scalar, Some(&bits)) if lanes.iter().all(|&l| l == bits) => InstData::Imm {
                opcode: if scalar.is_float() {
                    Opcode::Fconst
                } else {
                    Opcode::Iconst
                },
                bits,
            },
            _ => InstData::ImmVec {
                opcode: Opcode::Vconst,
                constant: self.shared(lanes),
            },
        };
        self.node(ty, data, None)
    }

    /// The constant with these lanes: the same for the same lanes.
    fn shared(&mut self, lanes: Vec<u64>) -> Constant {
        if let Some(&known) = self.constants.get(&lanes) {
            return known;
        }
        let constant = self.func.dfg.make_constant(lanes.clone());
        self.constants.insert(lanes, constant);
        constant
    }

    /// The same data in the one form that is looked for: a constant stands behind, constants of the
    /// same lanes are one, no index is a constant.
    fn canonical(&mut self, ty: Type, mut data: InstData) -> InstData {
        match &mut data {
            InstData::RdRegion { .. } | InstData::WrRegion { .. } => self.fix(ty, &mut data),
            InstData::Binary { opcode, args } if commutes(*opcode) => self.constant_last(args),
            InstData::IntCompare { cond, args, .. } => {
                let [a, b] = *args;
                self.constant_last(args);
                if *args != [a, b] {
                    *cond = cond.exchanged();
                }
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args,
            } => {
                let mut factors = [args[0], args[1]];
                self.constant_last(&mut factors);
                (args[0], args[1]) = (factors[0], factors[1]);
            }
            InstData::ImmVec { constant, .. } => {
                *constant = self.shared(self.func.dfg.constant(*constant).to_vec());
            }
            _ => {}
        }
        data
    }

    fn constant_last(&self, args: &mut [Value; 2]) {
        if self.is_constant(args[0]) && !self.is_constant(args[1]) {
            args.swap(0, 1);
        }
    }

    /// An operation on vectors that have the same in every lane, as one on a lane, in every lane.
    fn uniform(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        if ty.lanes() == 1 || ty.is_pred() || !by_lane(data) {
            return None;
        }
        let mut args: SmallVec<[Value; 3]> = SmallVec::new();
        data.for_each_arg(&self.func.dfg, |v| args.push(v));
        // The same bytes, of as many lanes, are the same in each.
        let cast = data.opcode() == Opcode::Bitcast;
        if cast && args.iter().any(|&v| self.ty(v).lanes() != ty.lanes()) {
            return None;
        }
        let mut data = *data;
        for v in &mut args {
            *v = self.lane(*v)?;
        }
        let mut lanes = args.into_iter();
        data.map_args(&mut self.func.dfg, |v| lanes.next().unwrap_or(v));
        let one = self.node(ty.by(1), data, None);
        let region = InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg: one,
            region: Region::scalar(0),
            index: None.into(),
        };
        Some(self.node(ty, region, None))
    }

    /// The one lane of a vector that has the same in every lane.
    fn lane(&mut self, v: Value) -> Option<Value> {
        let ty = self.ty(v).by(1);
        if ty.is_pred() {
            return None;
        }
        if let Some(bits) = self.immediate(v) {
            let opcode = if ty.scalar().is_float() {
                Opcode::Fconst
            } else {
                Opcode::Iconst
            };
            return Some(self.node(ty, InstData::Imm { opcode, bits }, None));
        }
        for member in self.members(v) {
            let of = self.ty(member);
            let Some(&InstData::RdRegion {
                arg, region, index, ..
            }) = self.data(member)
            else {
                continue;
            };
            if index.is_some() || region.last_element(of.lanes()) != 0 {
                continue;
            }
            if self.ty(arg).lanes() == 1 {
                return Some(arg);
            }
            let region = InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg,
                region: Region::scalar(region.offset),
                index: None.into(),
            };
            return Some(self.node(ty, region, None));
        }
        None
    }
}

/// What a node is known by.
fn key<'d>(dfg: &'d DataFlowGraph, node: &Node) -> Option<(Type, &'d InstData)> {
    let inst = dfg.def_inst(node.value)?;
    Some((dfg.ty(node.value), dfg.data(inst)))
}

/// The hash of what a node is known by.
fn hashed(ty: Type, data: &InstData) -> u64 {
    let hash = rustc_hash::FxBuildHasher.hash_one((ty, data));
    spread((hash >> 32) as u32 ^ hash as u32)
}

/// A hash of 32 bits as one of 64: the table takes places from the lower half, and what tells
/// neighbours apart from the upper.
fn spread(hash: u32) -> u64 {
    u64::from(hash) | u64::from(hash.wrapping_mul(0x9e37_79b9)) << 32
}

/// Whether the order of an operation's operands is all the same.
fn commutes(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Iadd
            | Opcode::Imul
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Smin
            | Opcode::Smax
            | Opcode::Umin
            | Opcode::Umax
            | Opcode::SaddSat
            | Opcode::UaddSat
            | Opcode::Smulh
            | Opcode::Umulh
            | Opcode::SmulWide
            | Opcode::UmulWide
            | Opcode::Savg
            | Opcode::Uavg
            | Opcode::Shadd
            | Opcode::Uhadd
    )
}

/// Whether each lane of the result is made of the same lanes of the operands alone; of a cast to as
/// many lanes, too.
pub(super) fn by_lane(data: &InstData) -> bool {
    let opcode = data.opcode();
    let format = matches!(
        data,
        InstData::Unary { .. } | InstData::Binary { .. } | InstData::Ternary { .. }
    );
    format
        && opcode.among_lanes().is_none()
        && !matches!(
            opcode,
            Opcode::Select
                | Opcode::Shuffle
                | Opcode::Any
                | Opcode::All
                | Opcode::PredToBits
                | Opcode::BitsToPred
        )
}

/// The instructions of each block, taken out of the layout.
fn taken(func: &mut Function, cfg: &ControlFlow) -> SecondaryMap<crate::ir::Block, BlockInsts> {
    let mut out = sized(func.dfg.num_blocks());
    for &block in cfg.order() {
        out[block] = std::mem::take(func.layout.insts_mut(block));
    }
    out
}

/// Whether the result has the same in all lanes, and what one lane of each operand gives, where
/// those have the same in all of theirs.
fn is_by_lanes(data: &InstData) -> bool {
    match data {
        InstData::Binary { opcode, .. } => !matches!(opcode, Opcode::Join),
        InstData::Ternary { opcode, .. } => !matches!(opcode, Opcode::Goto),
        InstData::IntCompare { .. } | InstData::FloatCompare { .. } => true,
        _ => false,
    }
}
