//! Acyclic e-graph, as in Cranelift.
//!
//! Blocks are visited in reverse postorder. Each pure operation is a *node*, keyed by its type,
//! opcode and operands: equal keys are one value (GVN). Operations on constants are folded by the
//! interpreter's own `evaluate`, and so by isa-gen's semantics. The rules in `../isle` add nodes
//! that are equal. The *class* of a value is its own node and all equal nodes; a pattern matches
//! any node of a class. Operands come first, so costs are known as soon as a class is complete, and
//! its cheapest node is chosen.
//!
//! An alternative depends on nothing that the node itself does not depend on. So it can be computed
//! wherever the node can.
//!
//! `elaborate` then puts the chosen nodes back into blocks. A node goes where the program had it,
//! where something first needs it, or before the loops that it does not depend on. A value that a
//! dominating block computes is not computed again.
//!
//! Limits: [`MADE_PER_INST`] nodes made by rules for each instruction, [`DEPTH`] nested rules, and
//! [`ALTERNATIVES`] nodes of a class.

mod bits;
pub(super) mod cost;
mod distribute;
mod dp4a;
mod elaborate;
mod fixed;
mod keys;
mod known_bits;
mod magic;
mod reassemble;
mod regions;
mod rules;
mod sinking;
#[cfg(test)]
mod tests;
mod undefined;

use super::{OptState, Pass, PassContext};
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
use keys::{Orders, commutes, has_key, hash_of, is_exchangeable, ordered, spread};
pub(super) use regions::{elements, region_of};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::time::Duration;

/// Maximal nodes that rules make, for each instruction of the function.
const MADE_PER_INST: usize = 1;
/// Expected number of instructions per value that rules make; sizes the tables.
const INSTS_PER_MADE_VALUE: usize = 4;
/// Maximal nesting of rules that apply to results of rules.
const DEPTH: u32 = 5;
/// Maximal nodes of a class that patterns are matched against.
const ALTERNATIVES: usize = 4;
/// Maximal lanes of a folded constant. Larger ones are left to the hardware.
const FOLDED_LANES: u32 = 64;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// Cheapest node of a class.
#[derive(Clone, Copy)]
struct BestNode {
    /// Cost in units of [`cost`], operands included.
    cost: u32,
    /// Value of the node.
    value: Value,
}

impl Default for BestNode {
    fn default() -> BestNode {
        BestNode {
            cost: 0,
            value: Value::reserved_value(),
        }
    }
}

/// List of the nodes that a node is equal to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Alternatives(u32);
entity_impl!(Alternatives);

/// Facts about a value, in one table: in large functions each further table costs cache misses.
#[derive(Clone, Copy, Default)]
struct ValueInfo {
    /// Representative of a value of the program; `None` if it represents itself.
    class: PackedOption<Value>,
    /// Cheapest node of the class; reserved if the value is no node.
    best: BestNode,
    /// Lanes of a constant with a value per lane.
    lanes: PackedOption<Constant>,
    /// Bits of an integer that are zero in every lane.
    zeros: u64,
    alternatives: PackedOption<Alternatives>,
    /// Orders of the operands that patterns are matched against.
    orders: Orders,
}

/// Node, identified by its value's instruction, and its class.
struct Node {
    value: Value,
    class: Value,
    /// Lower half of the hash. Nodes whose hash differs are not compared further.
    hash: u32,
}

struct EGraph<'a> {
    func: &'a mut Function,
    ctx: &'a PassContext<'a>,
    known: SecondaryMap<Value, ValueInfo>,
    alternatives: PrimaryMap<Alternatives, SmallVec<[Value; ALTERNATIVES]>>,
    /// Nodes by type, opcode and operands, which are looked up in the function.
    nodes: HashTable<Node>,
    /// Constants with a value per lane, by their lanes.
    constants: Map<Vec<u64>, Constant>,
    /// Bit sources of dwords that are shifted, masked or joined.
    bits: Map<Value, bits::BitSources>,
    /// Source location of the current instruction.
    loc: SourceLoc,
    /// Current nesting of rules.
    depth: u32,
    /// Value that rules are matched against.
    root: Value,
    /// Number of nodes that rules may still make.
    budget: usize,
    rules: bool,
    fired: Fired,
    /// Number of nodes that were numbered, folded or replaced by a rule.
    changes: u32,
    replaced: u32,
}

/// Returns the approximate number of instructions of an operation with a first result of this type.
pub(super) fn instructions(dfg: &DataFlowGraph, ty: Type, data: &InstData, target: &Target) -> u32 {
    cost::of(dfg, ty, data, target.features().math_int_div) / cost::INST
}

/// Returns true for nodes: instructions with one result that depends on the operands alone and that
/// may be computed anywhere.
pub(super) fn is_node(data: &InstData) -> bool {
    let opcode = data.opcode();
    let info = opcode.info();
    if info.effect {
        return false;
    }
    match opcode {
        // Reads of the dispatch mask are ordered. Each use of an undefined value gets its own.
        Opcode::DispatchMask | Opcode::Undef | Opcode::Goto | Opcode::Join => false,
        _ => info.format.is_pure() && info.out != Out::Two,
    }
}

/// Runs the pass. Returns the number of changes.
pub(super) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    run_with(func, ctx, state, ctx.passes.contains(Pass::Rules))
}

/// Runs the pass for equal values, constants and uniform vectors. The algebraic rules, which seldom
/// change these, run where loads became values. Returns the number of changes.
pub(super) fn run_for_uniform(
    func: &mut Function,
    ctx: &PassContext<'_>,
    state: &mut OptState,
) -> u32 {
    let rules = state.forwarded && ctx.passes.contains(Pass::Rules);
    state.early = true;
    run_with(func, ctx, state, rules)
}

fn run_with(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState, rules: bool) -> u32 {
    state.cfg.remove_unreachable(func);
    let cfg = state.cfg.get(func);
    let counts = &mut state.counts;
    let mut graph = EGraph::new(func, ctx, rules);
    graph.build(&cfg);
    let (changes, replaced) = (graph.changes, graph.replaced);
    counts.fired.extend(&graph.fired);
    let sinks = rules && !state.early;
    let moved = elaborate::run(graph, &cfg, ctx, sinks);
    if ctx.passes.contains(Pass::Rules) {
        counts.add(Pass::Rules, replaced, Duration::ZERO);
    }
    if ctx.passes.contains(Pass::Licm) {
        counts.add(Pass::Licm, moved, Duration::ZERO);
    }
    changes
}

impl<'a> EGraph<'a> {
    fn new(func: &'a mut Function, ctx: &'a PassContext<'a>, rules: bool) -> EGraph<'a> {
        let count = func.dfg.num_insts();
        EGraph {
            known: sized(func.dfg.num_values() + count / INSTS_PER_MADE_VALUE),
            // About as many values have alternatives.
            alternatives: PrimaryMap::with_capacity(count / INSTS_PER_MADE_VALUE),
            nodes: HashTable::with_capacity(count),
            constants: Map::default(),
            bits: Map::default(),
            loc: SourceLoc::NONE,
            depth: 0,
            root: Value::reserved_value(),
            budget: 64 + count.saturating_mul(MADE_PER_INST),
            rules,
            fired: Fired::default(),
            changes: 0,
            replaced: 0,
            func,
            ctx,
        }
    }

    /// Makes nodes of all pure operations, and rewrites operands of the rest to classes.
    fn build(&mut self, cfg: &ControlFlow) {
        for &block in cfg.order() {
            for n in 0..self.func.layout.insts(block).len() {
                let inst = self.func.layout.insts(block)[n];
                self.loc = self.func.srclocs[inst];
                let known = &self.known;
                self.func
                    .dfg
                    .map_args(inst, |v| known[v].class.expand().unwrap_or(v));
                let mut data = *self.func.dfg.data(inst);
                if self.drop_full_mask(&mut data) {
                    *self.func.dfg.data_mut(inst) = data;
                    self.changes += 1;
                }
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
        // Operands that are defined later in the order: those of back edges.
        for &block in cfg.order() {
            if let Some(inst) = self.func.layout.terminator(block) {
                let known = &self.known;
                self.func
                    .dfg
                    .map_args(inst, |v| known[v].class.expand().unwrap_or(v));
            }
        }
    }

    /// Drops a mask of all lanes from an access or a write, and the old value, which no lane takes.
    /// Returns true if there was such a mask.
    fn drop_full_mask(&self, data: &mut InstData) -> bool {
        let (mask, old) = match data {
            InstData::Load { mask, old, .. }
            | InstData::Atomic { mask, old, .. }
            | InstData::Image { mask, old, .. }
            | InstData::ImageAtomic { mask, old, .. } => (mask, Some(old)),
            InstData::Store { mask, .. } | InstData::WrRegion { mask, .. } => (mask, None),
            _ => return false,
        };
        let is_full = |m: Value| {
            let full = u64::MAX >> (64 - self.ty(m).lanes().clamp(1, 64));
            self.immediate(m).is_some_and(|bits| bits & full == full)
        };
        if !mask.expand().is_some_and(is_full) {
            return false;
        }
        *mask = None.into();
        if let Some(old) = old {
            *old = None.into();
        }
        true
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// Returns the class of a node: an instruction of the program, or a new one.
    fn node(&mut self, ty: Type, data: InstData, original: Option<(Inst, Value)>) -> Value {
        let data = self.canonical(ty, data);
        let wanted = (ty, ordered(&data));
        let hash = hash_of(&wanted);
        let dfg = &self.func.dfg;
        if let Some(there) = self
            .nodes
            .find(hash, |n| n.hash == hash as u32 && has_key(dfg, n, &wanted))
        {
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
        self.known[this].best = BestNode { cost, value: this };
        self.known[this].zeros = self.zeros(ty, &data);
        self.known[this].orders = self.orders(&data);
        if let InstData::ImmVec { constant, .. } = data {
            self.known[this].lanes = constant.into();
        }
        let class = self.equal(this, ty, &data);
        if class != this {
            self.replaced += 1;
        }
        let dfg = &self.func.dfg;
        let short = hash as u32;
        let same = |n: &Node| n.hash == short && has_key(dfg, n, &wanted);
        // A rule may have made the same node meanwhile.
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

    /// Finds values that a new node is equal to. Returns its representative: another value if that
    /// is better in every respect.
    fn equal(&mut self, this: Value, ty: Type, data: &InstData) -> Value {
        if let Some(folded) = self.fold(ty, data)
            && self.add(this, folded)
        {
            return folded;
        }
        if ty.scalar().is_int() && self.possible(this) == 0 && self.immediate(this).is_none() {
            return self.make_constant(ty, Lanes::from([0]));
        }
        // No rule has a constant at its root.
        let constant = matches!(data, InstData::Imm { .. } | InstData::ImmVec { .. });
        if constant || self.depth >= DEPTH || self.budget == 0 {
            return this;
        }
        if !self.rules {
            if !self.ctx.passes.contains(Pass::Rules) {
                return this;
            }
            let other = self.uniform(ty, data);
            return other.filter(|o| self.add(this, *o)).unwrap_or(this);
        }
        self.depth += 1;
        let made = self.func.dfg.num_values();
        let mut found: SmallVec<[Value; 8]> = SmallVec::new();
        rules::simplify(self, this, &mut found);
        let others = [
            self.uniform(ty, data),
            self.bit_reversal(this, ty, data),
            self.reassembled(ty, data),
            self.dot_product(ty, data),
            self.shared_product(ty, data),
            self.defined_choice(data),
        ];
        for other in others.into_iter().flatten() {
            found.push(other);
        }
        self.depth -= 1;
        // Any result of a rule is better than the long expansion of a division.
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

    /// Returns true if the math unit divides dwords.
    fn divides(&self) -> bool {
        self.ctx.target.features().math_int_div
    }

    /// Adds an alternative to a node. Returns true if it is a constant, which settles the class.
    fn add(&mut self, this: Value, other: Value) -> bool {
        if other == this {
            return false;
        }
        if self.immediate(other).is_some() {
            return true;
        }
        let lanes = self.known[other].lanes;
        let best = self.best_of(other);
        let zeros = self.known[other].zeros;
        let known = &mut self.known[this];
        known.zeros |= zeros;
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

    /// Returns the cheapest node of a class. A value that is no node costs nothing.
    fn best_of(&self, class: Value) -> BestNode {
        let best = self.known[class].best;
        if best.value.is_reserved_value() {
            BestNode {
                cost: 0,
                value: class,
            }
        } else {
            best
        }
    }

    /// Returns the data of a class's own node.
    #[inline]
    fn data(&self, class: Value) -> Option<&InstData> {
        if self.known[class].best.value.is_reserved_value() {
            return None;
        }
        let inst = self.func.dfg.def_inst(class)?;
        Some(self.func.dfg.data(inst))
    }

    /// Returns true if a class has no alternatives.
    fn is_alone(&self, class: Value) -> bool {
        self.known[class].alternatives.is_none()
    }

    /// Returns the first nodes of a class.
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

    /// Returns the bits of every lane of an immediate; for a predicate, the bits of all lanes.
    fn immediate(&self, class: Value) -> Option<u64> {
        // Every such instruction is a node.
        let inst = self.func.dfg.def_inst(class)?;
        match *self.func.dfg.data(inst) {
            InstData::Imm { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// Returns true if a class is a constant.
    fn is_constant(&self, class: Value) -> bool {
        self.known[class].lanes.is_some() || self.immediate(class).is_some()
    }

    /// Returns the lanes of a constant class.
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

    /// Returns the value of a node whose operands are all constants.
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
        // Operands that are equal in all lanes are evaluated for one lane.
        let one = is_uniform_foldable(data);
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
        let mode = self.ctx.float.mode();
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

    /// Returns a constant with these lanes.
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

    /// Returns the shared constant for these lanes.
    fn shared(&mut self, lanes: Vec<u64>) -> Constant {
        if let Some(&known) = self.constants.get(&lanes) {
            return known;
        }
        let constant = self.func.dfg.make_constant(lanes.clone());
        self.constants.insert(lanes, constant);
        constant
    }

    /// Returns the canonical form. Constants are the last operands, equal constants are shared, and
    /// no index is a constant.
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

    /// Returns the orders of a node's operands that patterns are matched against.
    fn orders(&self, data: &InstData) -> Orders {
        if !is_exchangeable(data) {
            return Orders::One;
        }
        let (InstData::Binary { args: [a, b], .. }
        | InstData::IntCompare { args: [a, b], .. }
        | InstData::FloatCompare { args: [a, b], .. }
        | InstData::Ternary {
            args: [a, b, _], ..
        }) = *data
        else {
            return Orders::One;
        };
        if self.is_constant(b) {
            return Orders::One;
        }
        let is_node = |v: Value| !self.known[v].best.value.is_reserved_value();
        let compare = matches!(
            data,
            InstData::IntCompare { .. } | InstData::FloatCompare { .. }
        );
        match (is_node(a), is_node(b)) {
            (true, true) => Orders::Both,
            (false, false) => Orders::OneAtRoot,
            (first, _) if first == compare => Orders::OneAtRoot,
            _ => Orders::ExchangedAtRoot,
        }
    }

    /// Puts a constant last, and of two constants one that is equal in all lanes.
    fn constant_last(&self, args: &mut [Value; 2]) {
        let rank = |v: Value| u8::from(self.is_constant(v)) + u8::from(self.immediate(v).is_some());
        if rank(args[0]) > rank(args[1]) {
            args.swap(0, 1);
        }
    }

    /// Returns an operation on uniform vectors as a splat of one on a lane.
    fn uniform(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        if ty.lanes() == 1 || ty.is_pred() || !is_lanewise(data) {
            return None;
        }
        let mut args: SmallVec<[Value; 3]> = SmallVec::new();
        data.for_each_arg(&self.func.dfg, |v| args.push(v));
        // A cast between equal lane counts keeps lanes uniform.
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

    /// Returns the common lane of a vector that has the same value in every lane.
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

/// Returns true if each lane of the result depends on the same lanes of the operands alone. Holds
/// for casts between equal lane counts, too.
pub(super) fn is_lanewise(data: &InstData) -> bool {
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

/// Takes the instructions of each block out of the layout.
fn take_insts(
    func: &mut Function,
    cfg: &ControlFlow,
) -> SecondaryMap<crate::ir::Block, BlockInsts> {
    let mut out = sized(func.dfg.num_blocks());
    for &block in cfg.order() {
        out[block] = std::mem::take(func.layout.insts_mut(block));
    }
    out
}

/// Returns true for operations whose result is uniform if all operands are, and is that of one
/// lane.
fn is_uniform_foldable(data: &InstData) -> bool {
    match data {
        InstData::Binary { opcode, .. } => !matches!(opcode, Opcode::Join),
        InstData::Ternary { opcode, .. } => !matches!(opcode, Opcode::Goto),
        InstData::IntCompare { .. } | InstData::FloatCompare { .. } => true,
        _ => false,
    }
}
