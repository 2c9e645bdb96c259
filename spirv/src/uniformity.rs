//! Uniformity analysis: values, branches, labels and loops that are uniform in a thread.
//!
//! Needs a graph and its structured form. A value is uniform if all channels that are active at its
//! definition have the same. It is divergent:
//!
//! - by data, if an operand is divergent;
//! - by control, if it is a phi of a label that channels reach by several edges;
//! - by time, if it is defined in a loop that channels leave at different iterations, and used
//!   after it. Only those uses are divergent.
//!
//! A label is divergent if a branch in its scope is, and the channels do not join before it. A loop
//! is divergent if channels leave it by such a branch. Anything else is uniform and has one lane.
//!
//! A private variable that may be promoted ([`crate::promote_arrays`]) is uniform if all stores to
//! it are: uniform values at uniform indices, with all channels active.

use crate::body::{BInst, Block, Body, Term};
use crate::builtins;
use crate::cfg::structurize::StructuredCfg;
use crate::cfg::{Graph, Loop};
use crate::inline_policy;
use crate::intel_builtins;
use crate::module::types::Type;
use crate::module::{Def, ExtInstSet, Func, Module};
use crate::op_info::{self, ResultUniformity};
use crate::promoted_arrays::PromotedArrays;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::entity_set::sized;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeSet;
use std::ops::Bound::Excluded;

/// User of a value.
#[derive(Clone, Copy)]
enum User {
    /// Result that it makes divergent.
    Value(Id),
    /// Terminator.
    Branch(Block),
    /// Parameter of a called function.
    Param(Func, u32),
    /// Private variable, by a store.
    Array(u32),
    /// Instruction whose result does not depend on it.
    Other,
}

/// Users of each value, as linked lists in one allocation.
struct Users {
    /// Index of the first entry of each list, from 1. 0 for an empty list.
    first: SecondaryMap<Id, u32>,
    /// Users, with the index of the next entry.
    all: Vec<(User, u32)>,
}

impl Users {
    fn add(&mut self, id: Id, user: User) {
        let next = self.first[id];
        self.all.push((user, next));
        self.first[id] = self.all.len() as u32;
    }

    /// User at an index, and the index of the next entry.
    fn get(&self, n: u32) -> Option<(User, u32)> {
        self.all.get((n as usize).checked_sub(1)?).copied()
    }
}

/// Result of the analysis.
#[derive(Debug, Default)]
pub(crate) struct Uniformity {
    /// Values with a lane for each channel.
    pub divergent: SecondaryMap<Id, bool>,
    /// Blocks with a divergent terminator.
    pub branch: SecondaryMap<Block, bool>,
    /// Divergent labels, where channels wait for others.
    pub label: SecondaryMap<Block, bool>,
    /// Divergent loops, which channels leave at different iterations.
    pub loops: SecondaryMap<Loop, bool>,
    /// Loops whose values are kept in variables for uses after them. These are divergent loops, and
    /// loops that are left for divergent labels. Control also reaches such a label, with no
    /// channels active, from before the definitions.
    pub kept: SecondaryMap<Loop, bool>,
    /// Outermost such loop that each value is defined in and used after.
    pub escapes: SecondaryMap<Id, PackedOption<Loop>>,
    /// Block of the definition of each value.
    pub block: SecondaryMap<Id, PackedOption<Block>>,
    /// Parameters of called functions with divergent arguments.
    pub divergent_args: Vec<(Func, u32)>,
}

struct UniformityAnalysis<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    g: &'a Graph,
    structured: &'a StructuredCfg,
    out: Uniformity,
    users: Users,
    /// Uses after a loop of values defined in it.
    crossing: SecondaryMap<Loop, Vec<(Id, User)>>,
    labels: Labels,
    todo: Vec<Id>,
    /// Divergent branches to process.
    later: Vec<Block>,
    /// Private variables that may be promoted.
    arrays: &'a PromotedArrays,
    /// Each of them, while it is uniform.
    shared: Vec<Option<Id>>,
    /// Steps and variables of stores to them.
    stores: BTreeSet<(u32, u32)>,
}

/// Analyzes a body. `divergent` lists the indices of divergent parameters. `arrays` are the
/// candidates for promotion.
pub(crate) fn analyze(
    m: &Module<'_>,
    body: &Body,
    g: &Graph,
    structured: &StructuredCfg,
    arrays: &PromotedArrays,
    divergent: &[u32],
) -> Uniformity {
    let mut a = UniformityAnalysis {
        m,
        body,
        g,
        structured,
        out: Uniformity {
            divergent: sized(body.bound()),
            block: sized(body.bound()),
            ..Uniformity::default()
        },
        users: Users {
            first: sized(body.bound()),
            all: Vec::new(),
        },
        crossing: SecondaryMap::new(),
        labels: Labels::new(structured),
        todo: Vec::new(),
        later: Vec::new(),
        arrays,
        shared: arrays.shareable(),
        stores: BTreeSet::new(),
    };
    a.define();
    for n in divergent {
        if let Some((id, _)) = body.params.get(*n as usize) {
            a.mark(*id);
        }
    }
    a.uses();
    loop {
        if let Some(b) = a.later.pop() {
            a.part(b);
        } else if let Some(id) = a.todo.pop() {
            let mut next = a.users.first[id];
            while let Some((user, behind)) = a.users.get(next) {
                a.spread(user);
                next = behind;
            }
        } else {
            break;
        }
    }
    a.out
}

impl UniformityAnalysis<'_, '_> {
    fn define(&mut self) {
        for (id, ty) in &self.body.params {
            self.out.block[*id] = self.g.entry.into();
            // Address of a work-item's own copy.
            if let Type::Pointer(StorageClass::Function, _) = self.m.types.kind(*ty) {
                self.mark(*id);
            }
        }
        for &b in &self.g.order {
            let data = &self.body.blocks[b];
            for phi in &data.phis {
                self.out.block[phi.id] = b.into();
            }
            for id in data.insts.iter().filter_map(|i| i.id.expand()) {
                self.out.block[id] = b.into();
            }
        }
    }

    fn uses(&mut self) {
        for &b in &self.g.order {
            let data = &self.body.blocks[b];
            for phi in &data.phis {
                for (from, arg) in &phi.args {
                    self.used(*arg, *from, User::Value(phi.id));
                }
            }
            for inst in &data.insts {
                if inst.op == Op::FunctionCall && self.is_of_the_kernel(inst) {
                    self.call(inst, b);
                    continue;
                }
                let spread = self.kind(inst);
                let user = match (inst.id.expand(), spread) {
                    (Some(id), DivergenceSource::Operands) => User::Value(id),
                    (Some(id), DivergenceSource::Source) => {
                        self.mark(id);
                        User::Other
                    }
                    _ => User::Other,
                };
                let mut all: SmallVec<[Id; 8]> = SmallVec::new();
                self.body.for_each_use(inst, |id| all.push(id));
                let array = self.stored(inst, b, &all);
                for id in all {
                    self.used(id, b, user);
                    if let Some(n) = array {
                        self.used(id, b, User::Array(n));
                    }
                }
                if let (DivergenceSource::Operand(n), Some(result)) = (spread, inst.id.expand()) {
                    let id = self.body.operands(inst).get(n).map(|w| Id::of(*w));
                    if let Some(id) = id {
                        self.used(id, b, User::Value(result));
                    }
                }
            }
            if let Some(id) = data.term.condition() {
                self.used(id, b, User::Branch(b));
            }
            if let (Term::Return, Some((id, _))) = (&data.term, self.body.result) {
                self.used(id, b, User::Other);
            }
        }
    }

    /// Private variable that an instruction writes or may write. Records the store.
    fn stored(&mut self, inst: &BInst, b: Block, uses: &[Id]) -> Option<u32> {
        use Op::*;
        let n = match inst.op {
            Load | AccessChain | InBoundsAccessChain | PtrAccessChain | InBoundsPtrAccessChain => {
                return None;
            }
            Variable if !uses.is_empty() => self.arrays.of(inst.id.expand()?)?,
            CopyMemory | CopyMemorySized => self.arrays.of(*uses.first()?)?,
            _ => uses.iter().find_map(|id| self.arrays.of(*id))?,
        };
        let n = u32::try_from(n).ok()?;
        self.stores.insert((self.structured.code[b], n));
        Some(n)
    }

    /// Channels diverge between two steps: variables stored to there are divergent.
    fn parted(&mut self, from: u32, to: u32) {
        let between = (Excluded((from, u32::MAX)), Excluded((to, 0)));
        while from < to
            && let Some(&(at, n)) = self.stores.range(between).next()
        {
            self.stores.remove(&(at, n));
            self.parts_array(n);
        }
    }

    /// Marks a private variable divergent.
    fn parts_array(&mut self, n: u32) {
        let shared = self.shared.get_mut(n as usize).and_then(Option::take);
        if let Some(id) = shared {
            self.mark(id);
        }
    }

    fn is_of_the_kernel(&self, inst: &BInst) -> bool {
        let callee = inline_policy::callee(self.m, self.body.operands(inst));
        callee.is_ok_and(|(_, data)| !data.blocks.is_empty())
    }

    /// Records a call. Results of functions have a lane for each channel. Parameters are uniform if
    /// they are at all calls.
    fn call(&mut self, inst: &BInst, b: Block) {
        if let Some(id) = inst.id.expand() {
            self.mark(id);
        }
        let operands = self.body.operands(inst);
        let Ok((func, _)) = inline_policy::callee(self.m, operands) else {
            return;
        };
        for (n, word) in (0..).zip(operands.get(1..).unwrap_or(&[])) {
            self.used(Id::of(*word), b, User::Param(func, n));
        }
    }

    fn used(&mut self, id: Id, by: Block, user: User) {
        let Some(def) = self.out.block[id].expand() else {
            return;
        };
        if !matches!(user, User::Other) {
            self.users.add(id, user);
        }
        let Some(outermost) = self.g.exited_loop(def, by) else {
            return;
        };
        let mut at = self.g.loop_of[def].expand();
        while let Some(l) = at {
            self.crossing[l].push((id, user));
            at = self.g.loops[l].parent.expand().filter(|_| l != outermost);
        }
    }

    fn kind(&self, inst: &BInst) -> DivergenceSource {
        let operands = self.body.operands(inst);
        match inst.op {
            // Private memory is divergent, unless a variable is found uniform.
            Op::Variable => {
                let id = inst.id.expand();
                let n = id.and_then(|id| self.arrays.of(id));
                let shared = n.and_then(|n| self.shared.get(n).copied().flatten());
                if shared.is_some() && shared == id {
                    DivergenceSource::Nothing
                } else {
                    DivergenceSource::Source
                }
            }
            Op::Load => {
                let pointer = operands.first().map(|w| Id::of(*w));
                let ty = pointer.and_then(|p| self.body.type_of(self.m, p));
                match ty.map(|t| self.m.types.kind(t)) {
                    _ if pointer.is_some_and(|p| builtins::builtin(self.m, p).is_some()) => {
                        match pointer.and_then(|p| builtins::builtin(self.m, p)) {
                            Some(b) if builtins::is_uniform(b) => DivergenceSource::Nothing,
                            _ => DivergenceSource::Source,
                        }
                    }
                    Some(Type::Pointer(StorageClass::Function | StorageClass::Private, _))
                        if !pointer.is_some_and(|p| self.body.constant_pointers.contains(&p)) =>
                    {
                        match pointer.and_then(|p| self.arrays.of(p)) {
                            Some(_) => DivergenceSource::Operands,
                            None => DivergenceSource::Source,
                        }
                    }
                    _ => DivergenceSource::Operands,
                }
            }
            op if op_info::is_atomic(op) => DivergenceSource::Source,
            // They depend on a dynamic image index, and on the level of a size query.
            op if op_info::is_image_query(op) => DivergenceSource::Operands,
            // Results have a lane for each channel even for uniform coordinates.
            Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::ImageRead
            | Op::ImageFetch => DivergenceSource::Source,
            op if op_info::is_image_block_read(op) => DivergenceSource::Source,
            Op::ExtInst if self.is_by_channel(operands) => DivergenceSource::Source,
            Op::FunctionCall => match intel_builtins::result(self.m, operands) {
                None => DivergenceSource::Operands,
                Some(ResultUniformity::Uniform) => DivergenceSource::Nothing,
                Some(_) => DivergenceSource::Source,
            },
            op => match op_info::group_result(op, operands) {
                None => DivergenceSource::Operands,
                Some(ResultUniformity::Divergent) => DivergenceSource::Source,
                Some(ResultUniformity::Uniform) => DivergenceSource::Nothing,
                Some(ResultUniformity::By(n)) => DivergenceSource::Operand(n),
            },
        }
    }

    fn is_by_channel(&self, operands: &[u32]) -> bool {
        let &[set, number, ..] = operands else {
            return false;
        };
        self.m.def(Id::of(set)) == Def::Set(ExtInstSet::OpenCl)
            && op_info::has_divergent_loop(number)
    }

    fn mark(&mut self, id: Id) {
        if !std::mem::replace(&mut self.out.divergent[id], true) {
            self.todo.push(id);
        }
    }

    /// Keeps values defined in a loop and used after it in variables.
    fn keep(&mut self, l: Loop) {
        if std::mem::replace(&mut self.out.kept[l], true) {
            return;
        }
        for (id, user) in std::mem::take(&mut self.crossing[l]) {
            let depth = |l: Loop| self.g.loops[l].depth;
            let had = self.out.escapes[id].expand();
            if had.is_none_or(|o| depth(l) < depth(o)) {
                self.out.escapes[id] = l.into();
            }
            self.spread(user);
        }
    }

    /// Propagates divergence to a user.
    fn spread(&mut self, user: User) {
        match user {
            User::Value(id) => self.mark(id),
            User::Branch(b) => self.later.push(b),
            User::Param(func, n) => self.out.divergent_args.push((func, n)),
            User::Array(n) => self.parts_array(n),
            User::Other => {}
        }
    }

    /// Propagates a divergent branch.
    fn part(&mut self, b: Block) {
        if std::mem::replace(&mut self.out.branch[b], true) {
            return;
        }
        let at = self.structured.term[b];
        let together = self.g.ipdom[b].expand();
        let together = together.map_or(u32::MAX, |p| self.structured.code[p]);
        self.parted(at, together);
        while let Some(label) = self.labels.take(at, together) {
            self.out.label[label] = true;
            let owner = self.g.idom[label].expand();
            if let Some(l) = owner.and_then(|d| self.g.exited_loop(d, label)) {
                self.keep(l);
            }
            for phi in &self.body.blocks[label].phis {
                // One value for all edges, from outside of the loops that they leave.
                let first = phi.args.first().map(|a| a.1);
                let same = phi.args.iter().all(|a| {
                    let def = self.out.block[a.1].expand();
                    Some(a.1) == first && def.is_none_or(|d| self.g.exited_loop(d, label).is_none())
                });
                if !same {
                    self.mark(phi.id);
                }
            }
        }
        let mut l = self.g.loop_of[b].expand();
        while let Some(i) = l.filter(|i| self.structured.loops[*i].1 < together) {
            self.out.loops[i] = true;
            let (begin, end) = self.structured.loops[i];
            self.parted(begin, end);
            self.keep(i);
            l = self.g.loops[i].parent.expand();
        }
    }
}

/// Source of the divergence of a result.
#[derive(Clone, Copy)]
enum DivergenceSource {
    /// Always divergent.
    Source,
    /// Divergent if any operand is.
    Operands,
    /// Divergent if this operand is.
    Operand(usize),
    /// Always uniform.
    Nothing,
}

/// Labels by the ends of their scopes, to find those whose scope contains a step.
struct Labels {
    /// Ends and labels, sorted by end.
    all: Vec<(u32, Block)>,
    /// Segment tree of the least beginning.
    least: Vec<u32>,
    size: usize,
}

impl Labels {
    fn new(structured: &StructuredCfg) -> Labels {
        let ends = structured
            .labels
            .iter()
            .map(|l| (structured.scope[*l].1, *l));
        let mut all: Vec<(u32, Block)> = ends.collect();
        all.sort_unstable();
        let size = all.len().next_power_of_two();
        let mut least = vec![u32::MAX; 2 * size];
        for (n, (_, label)) in all.iter().enumerate() {
            least[size + n] = structured.scope[*label].0;
        }
        for n in (1..size).rev() {
            least[n] = least[2 * n].min(least[2 * n + 1]);
        }
        Labels { all, least, size }
    }

    /// Removes and returns a label whose scope contains step `at` and ends before step `before`.
    fn take(&mut self, at: u32, before: u32) -> Option<Block> {
        let first = self.all.partition_point(|l| l.0 <= at);
        let end = self.all.partition_point(|l| l.0 < before);
        let n = self.find(1, 0, self.size, (first, end), at)?;
        let mut node = self.size + n;
        self.least[node] = u32::MAX;
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]);
        }
        self.all.get(n).map(|l| l.1)
    }

    fn find(
        &self,
        node: usize,
        from: usize,
        to: usize,
        (first, end): (usize, usize),
        at: u32,
    ) -> Option<usize> {
        if from >= end || to <= first || self.least.get(node).is_none_or(|b| *b > at) {
            return None;
        }
        if node >= self.size {
            return Some(node - self.size);
        }
        let middle = from.midpoint(to);
        self.find(2 * node, from, middle, (first, end), at)
            .or_else(|| self.find(2 * node + 1, middle, to, (first, end), at))
    }
}
