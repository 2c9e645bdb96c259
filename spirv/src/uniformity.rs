//! What is one for all channels of a thread: values, branches, labels and loops.
//!
//! Needs a structured and its graph. A value is uniform if all channels that run where it is defined have the same. It is divergent by data (an
//! operand is), by control (a phi of a label to which channels come by several ways), or by time (it is defined in a loop that channels leave one
//! after the other, and used behind it; only its uses there are divergent). A label is one of channels if a branch in its scope parts channels
//! that are not together again before it; a loop, if they leave it by such a branch. What is not found divergent is one lane.
//!
//! A private variable that may be held in registers ([`crate::promote_arrays`]) is uniform if nothing but uniform values is stored there, by uniform indices, where no
//! channels have parted: then no channel has anything else there than the others.

use crate::body::{BInst, Block, Body, Term};
use crate::builtins;
use crate::cfg::structurize::StructuredCfg;
use crate::cfg::{Graph, Loop};
use crate::emit::{block_io, groups, images};
use crate::inline_policy;
use crate::library::{self, intel_builtins};
use crate::module::types::Type;
use crate::module::{Def, Func, Module, Set};
use crate::promote_arrays::PromotedArrays;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::maps::sized;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeSet;
use std::ops::Bound::Excluded;

/// Who uses a value.
#[derive(Clone, Copy)]
enum User {
    /// A result, made divergent by it.
    Value(Id),
    /// A terminator.
    Branch(Block),
    /// A parameter of a function that is called.
    Param(Func, u32),
    /// A private variable, by a store to it.
    Array(u32),
    /// Something whose result does not depend on it.
    Other,
}

/// The users of each value, as lists in one place.
struct Users {
    /// The number of the first of each list, from 1; 0 where there is none.
    first: SecondaryMap<Id, u32>,
    /// Users, and the number of the next.
    all: Vec<(User, u32)>,
}

impl Users {
    fn add(&mut self, id: Id, user: User) {
        let next = self.first[id];
        self.all.push((user, next));
        self.first[id] = self.all.len() as u32;
    }

    /// A user by its number, and the number of the next.
    fn get(&self, n: u32) -> Option<(User, u32)> {
        self.all.get((n as usize).checked_sub(1)?).copied()
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Uniformity {
    /// Values with a lane for each channel.
    pub divergent: SecondaryMap<Id, bool>,
    /// Blocks whose terminator parts channels.
    pub branch: SecondaryMap<Block, bool>,
    /// Labels where channels wait for others.
    pub label: SecondaryMap<Block, bool>,
    /// Loops that channels leave one after the other.
    pub loops: SecondaryMap<Loop, bool>,
    /// Loops of which values are kept in variables for what is behind them: those, and those that are left for labels of channels. To such a label
    /// control also comes, without channels, from before what they are defined by.
    pub kept: SecondaryMap<Loop, bool>,
    /// Of values defined in such a loop and used behind it, the outermost of those loops.
    pub escapes: SecondaryMap<Id, PackedOption<Loop>>,
    /// The block that each value is defined in.
    pub block: SecondaryMap<Id, PackedOption<Block>>,
    /// Parameters of functions that are called with what is divergent.
    pub divergent_args: Vec<(Func, u32)>,
}

struct Analysis<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    g: &'a Graph,
    structured: &'a StructuredCfg,
    out: Uniformity,
    users: Users,
    /// Uses behind a loop of what is defined in it.
    crossing: SecondaryMap<Loop, Vec<(Id, User)>>,
    labels: Labels,
    todo: Vec<Id>,
    /// Branches that are still to be looked at.
    later: Vec<Block>,
    /// Private variables that may be held in registers.
    arrays: &'a PromotedArrays,
    /// Each of them, while it is uniform.
    shared: Vec<Option<Id>>,
    /// Where in the structured they are stored to.
    stores: BTreeSet<(u32, u32)>,
}

/// The uniformity of a body, of which some parameters, by their numbers, are divergent. `arrays`: what may be held in registers, by its uses alone.
pub(crate) fn analyze(
    m: &Module<'_>,
    body: &Body,
    g: &Graph,
    structured: &StructuredCfg,
    arrays: &PromotedArrays,
    divergent: &[u32],
) -> Uniformity {
    let mut a = Analysis {
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

impl Analysis<'_, '_> {
    fn define(&mut self) {
        for (id, ty) in &self.body.params {
            self.out.block[*id] = self.g.entry.into();
            // The address of each work-item's own copy.
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
                    (Some(id), Spread::Operands) => User::Value(id),
                    (Some(id), Spread::Source) => {
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
                if let (Spread::Operand(n), Some(result)) = (spread, inst.id.expand()) {
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

    /// The private variable that an instruction changes, or that it is not known to leave as it is; then it does that here.
    fn stored(&mut self, inst: &BInst, b: Block, uses: &[Id]) -> Option<u32> {
        use Op::*;
        let n = match inst.op {
            Load | AccessChain | InBoundsAccessChain | PtrAccessChain | InBoundsPtrAccessChain => {
                return None;
            }
            Variable if !uses.is_empty() => self.arrays.of(inst.id.expand()?)?,
            _ => uses.iter().find_map(|id| self.arrays.of(*id))?,
        };
        let n = u32::try_from(n).ok()?;
        self.stores.insert((self.structured.code[b], n));
        Some(n)
    }

    /// Channels have parted between two places of the structured: what is stored there is not so for all.
    fn parted(&mut self, from: u32, to: u32) {
        let between = (Excluded((from, u32::MAX)), Excluded((to, 0)));
        while from < to
            && let Some(&(at, n)) = self.stores.range(between).next()
        {
            self.stores.remove(&(at, n));
            self.parts_array(n);
        }
    }

    /// A private variable is another for each channel.
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

    /// What a function gives has a lane for each channel; what it takes is uniform if it is wherever it is called.
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
        let Some(outermost) = self.g.left(def, by) else {
            return;
        };
        let mut at = self.g.loop_of[def].expand();
        while let Some(l) = at {
            self.crossing[l].push((id, user));
            at = self.g.loops[l].parent.expand().filter(|_| l != outermost);
        }
    }

    fn kind(&self, inst: &BInst) -> Spread {
        let operands = self.body.operands(inst);
        match inst.op {
            // Private memory is another for each channel, until it is found to be the same.
            Op::Variable => {
                let id = inst.id.expand();
                let n = id.and_then(|id| self.arrays.of(id));
                let shared = n.and_then(|n| self.shared.get(n).copied().flatten());
                if shared.is_some() && shared == id {
                    Spread::Nothing
                } else {
                    Spread::Source
                }
            }
            Op::Load => {
                let pointer = operands.first().map(|w| Id::of(*w));
                let ty = pointer.and_then(|p| self.body.type_of(self.m, p));
                match ty.map(|t| self.m.types.kind(t)) {
                    _ if pointer.is_some_and(|p| builtins::builtin(self.m, p).is_some()) => {
                        match pointer.and_then(|p| builtins::builtin(self.m, p)) {
                            Some(b) if builtins::is_uniform(b) => Spread::Nothing,
                            _ => Spread::Source,
                        }
                    }
                    Some(Type::Pointer(StorageClass::Function | StorageClass::Private, _))
                        if !pointer.is_some_and(|p| self.body.in_tables.contains(&p)) =>
                    {
                        match pointer.and_then(|p| self.arrays.of(p)) {
                            Some(_) => Spread::Operands,
                            None => Spread::Source,
                        }
                    }
                    _ => Spread::Operands,
                }
            }
            op if crate::emit::is_lane_dependent(op) => Spread::Source,
            // Of an image by an index it is another in each channel; so is the size of a level.
            op if images::is_query(op) => Spread::Operands,
            // A lane for each channel whatever the coordinates are.
            Op::ImageSampleExplicitLod | Op::ImageGather | Op::ImageRead | Op::ImageFetch => {
                Spread::Source
            }
            op if block_io::is_read(op) => Spread::Source,
            Op::ExtInst if self.is_by_channel(operands) => Spread::Source,
            Op::FunctionCall => match intel_builtins::result(self.m, operands) {
                None => Spread::Operands,
                Some(groups::Spread::Uniform) => Spread::Nothing,
                Some(_) => Spread::Source,
            },
            op => match groups::result(op, operands) {
                None => Spread::Operands,
                Some(groups::Spread::Divergent) => Spread::Source,
                Some(groups::Spread::Uniform) => Spread::Nothing,
                Some(groups::Spread::By(n)) => Spread::Operand(n),
            },
        }
    }

    fn is_by_channel(&self, operands: &[u32]) -> bool {
        let &[set, number, ..] = operands else {
            return false;
        };
        self.m.def(Id::of(set)) == Def::Set(Set::OpenCl) && library::is_by_channel(number)
    }

    fn mark(&mut self, id: Id) {
        if !std::mem::replace(&mut self.out.divergent[id], true) {
            self.todo.push(id);
        }
    }

    /// What is defined in a loop and used behind it has a variable.
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

    /// What a divergent value is used for.
    fn spread(&mut self, user: User) {
        match user {
            User::Value(id) => self.mark(id),
            User::Branch(b) => self.later.push(b),
            User::Param(func, n) => self.out.divergent_args.push((func, n)),
            User::Array(n) => self.parts_array(n),
            User::Other => {}
        }
    }

    /// A branch parts channels.
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
            if let Some(l) = owner.and_then(|d| self.g.left(d, label)) {
                self.keep(l);
            }
            for phi in &self.body.blocks[label].phis {
                // What is the same whichever way channels come, and whenever they leave a loop.
                let first = phi.args.first().map(|a| a.1);
                let same = phi.args.iter().all(|a| {
                    let def = self.out.block[a.1].expand();
                    Some(a.1) == first && def.is_none_or(|d| self.g.left(d, label).is_none())
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

/// How an instruction's result comes to be divergent.
#[derive(Clone, Copy)]
enum Spread {
    /// It is.
    Source,
    /// By its operands.
    Operands,
    /// By one of its operands.
    Operand(usize),
    /// It is not.
    Nothing,
}

/// Labels by where their scopes end, for finding those whose scope a place is in.
struct Labels {
    /// Ends and labels, by end.
    all: Vec<(u32, Block)>,
    /// A tree of the least beginning among them.
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

    /// Takes a label whose scope has a place in it and ends before another.
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
