//! Promotion of indexed private variables to registers, as LLVM's AMDGPUPromoteAlloca.
//!
//! Needs a body whose other variables are promoted, and its uniformity. Remaining variables have
//! dynamic indices. One is promoted if its scalars are of one kind, if it is only loaded, stored
//! and copied, and if registers suffice. It becomes one vector with a part of all lanes for each
//! scalar.
//!
//! An access with a uniform index is a region at a variable offset (`rdregion`, `wrregion`). A load
//! with a divergent index is an indirect region. A store with a divergent index visits each part.
//! With many parts it must pay: all accesses, by the depth of their loops, cost less than messages
//! would. A uniform variable has one lane for each scalar, and is always promoted.

use crate::body::{BInst, Block, Body};
use crate::cfg::{Graph, Loop};
use crate::module::types::{Ty, Type};
use crate::module::{Def, ExtInstSet, Module};
use crate::op_info;
use crate::promoted_arrays::{PromotedArray, PromotedArrays};
use crate::read::Id;
use crate::uniformity::Uniformity;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::entity_set::sized;
use gantry_codegen::graph::dominators::DominatorTree;
use smallvec::SmallVec;
use spirv::{Op, OpenclStd100Op as Std, StorageClass};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of registers for such variables in a thread with 4096 bytes: five eighths of them. Where
/// other values then do not fit, the width decides.
const ROOM: u32 = 2560;

/// Maximum bytes of a variable for each channel: what fits in the narrowest thread.
const MAX_BYTES: u32 = 256;

/// Maximum number of parts that a store with a divergent index visits without question. More cost
/// more than a message.
const MAX_PARTS: u32 = 6;
/// Maximum number of parts that it visits if it pays.
const MAX_VISITED: u32 = 32;

/// Instructions that a message of up to four scalars is worth.
const MESSAGE: u64 = 4;
/// Instructions of a load with a divergent index, beside one for each scalar.
const GATHER: u64 = 6;
/// Iterations that a loop is taken to have.
const ITERATIONS: u64 = 8;
/// Maximum depth of loops that is counted.
const MAX_DEPTH: u32 = 8;

/// Estimated instructions of all accesses to a variable.
#[derive(Clone, Copy, Default)]
struct AccessCosts {
    promoted: u64,
    scratch: u64,
    /// Set if a store visits many parts.
    visits: bool,
}

/// Instructions that begin the lifetime of a variable.
#[derive(Clone, Copy, Default)]
enum Starts {
    #[default]
    None,
    One(Block, u32),
    Several,
}

/// Access to a variable.
#[derive(Clone, Copy)]
struct ArrayAccess {
    pointer: Id,
    /// Number of scalars.
    leaves: u32,
    stores: bool,
    /// The index is divergent, beside that of the pointer.
    varying: bool,
}

struct ArrayFinder<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    g: &'a Graph,
    u: &'a Uniformity,
    found: Vec<(PromotedArray, Ty)>,
    costs: Vec<AccessCosts>,
    /// Accesses by variable, block and number, and where each variable is said to begin.
    accesses: Vec<(u32, Block, u32)>,
    starts: Vec<Starts>,
    /// Number of the current instruction, and the range of each loop with what it contains.
    point: u32,
    extents: SecondaryMap<Loop, Range<u32>>,
    /// Weight of the instructions of the current block.
    weight: u64,
    of: SecondaryMap<Id, Option<u32>>,
    /// Pointers with another pointee type.
    raw: SecondaryMap<Id, Option<u32>>,
    /// Typed pointer that each of them is cast from.
    under: SecondaryMap<Id, PackedOption<Id>>,
    /// Pointers in `of` or `raw`.
    pointers: Vec<Id>,
    /// Constant variables behind casts of pointers to them.
    constants: SecondaryMap<Id, Option<Id>>,
    copied: BTreeMap<(Id, u32), Id>,
    /// Pointers with a divergent index.
    varying: SecondaryMap<Id, bool>,
    bad: Vec<bool>,
}

/// Repeats the search with uniformity, on a body whose candidates are known.
pub(crate) fn refine(
    m: &Module<'_>,
    body: &Body,
    g: &Graph,
    u: &Uniformity,
    candidates: PromotedArrays,
    grf_file_bytes: u32,
) -> PromotedArrays {
    // Uniformity only removes candidates.
    if candidates.all.is_empty() {
        candidates
    } else {
        find(m, body, g, u, grf_file_bytes)
    }
}

/// Finds the variables that may be promoted. An empty `Uniformity` gives the candidates by their
/// uses alone. Five eighths of `file`, the bytes of registers of a thread if known, are for them.
pub(crate) fn find(
    m: &Module<'_>,
    body: &Body,
    g: &Graph,
    u: &Uniformity,
    file: u32,
) -> PromotedArrays {
    // Logical pointers are not promoted.
    if m.logical {
        return PromotedArrays::default();
    }
    let room = ROOM.max(file / 8 * 5);
    let mut insts = g.order.iter().flat_map(|b| &body.blocks[*b].insts);
    if !insts.any(|i| i.op == Op::Variable) {
        return PromotedArrays {
            room,
            ..PromotedArrays::default()
        };
    }
    let mut f = ArrayFinder {
        m,
        body,
        g,
        u,
        found: Vec::new(),
        costs: Vec::new(),
        accesses: Vec::new(),
        starts: Vec::new(),
        point: 0,
        extents: extents(body, g),
        weight: 1,
        of: sized(body.bound()),
        raw: sized(body.bound()),
        under: sized(body.bound()),
        pointers: Vec::new(),
        constants: SecondaryMap::new(),
        copied: BTreeMap::new(),
        varying: sized(body.bound()),
        bad: Vec::new(),
    };
    for &b in &g.order {
        let depth = g.loop_of[b].expand().map_or(0, |l| g.loops[l].depth);
        f.weight = ITERATIONS.pow(depth.min(MAX_DEPTH));
        for inst in &body.blocks[b].insts {
            f.inst(b, inst);
            f.point += 1;
        }
    }
    for &b in &g.order {
        for phi in &body.blocks[b].phis {
            phi.args.iter().for_each(|(_, arg)| f.spoil(*arg));
        }
    }
    for (bad, cost) in f.bad.iter_mut().zip(&f.costs) {
        *bad |= cost.visits && cost.promoted > cost.scratch;
    }
    f.find_fresh();
    // Renumber the remaining ones.
    let mut numbers = Vec::new();
    let mut all = Vec::new();
    for ((array, _), bad) in f.found.into_iter().zip(&f.bad) {
        numbers.push((!bad).then_some(all.len() as u32));
        if !bad {
            all.push(array);
        }
    }
    let number = |n: u32| numbers.get(n as usize).copied().flatten();
    let mut of: SecondaryMap<Id, Option<u32>> = SecondaryMap::new();
    let mut under: SecondaryMap<Id, PackedOption<Id>> = SecondaryMap::new();
    for id in f.pointers {
        let known = [f.raw[id], f.of[id]];
        if let Some(n) = known.into_iter().find_map(|n| n.and_then(number)) {
            of[id] = Some(n);
            under[id] = f.under[id];
        }
    }
    PromotedArrays {
        all,
        room,
        of,
        under,
        copied: f.copied,
    }
}

/// Range of instructions of each loop, numbered in the order of the blocks.
fn extents(body: &Body, g: &Graph) -> SecondaryMap<Loop, Range<u32>> {
    let mut out: SecondaryMap<Loop, Range<u32>> = sized(g.loops.len());
    let mut point = 0;
    for &b in &g.order {
        let end = point + body.blocks[b].insts.len() as u32;
        if let Some(l) = g.loop_of[b].expand() {
            let all = &mut out[l];
            all.start = if all.end == 0 { point } else { all.start };
            all.end = end;
        }
        point = end;
    }
    // Inner loops have larger depths.
    let mut inner: Vec<Loop> = g.loops.keys().collect();
    inner.sort_by_key(|l| Reverse(g.loops[*l].depth));
    for l in inner {
        let own = out[l].clone();
        if let Some(outer) = g.loops[l].parent.expand() {
            let all = &mut out[outer];
            all.start = all.start.min(own.start);
            all.end = all.end.max(own.end);
        }
    }
    out
}

/// Returns true if an instruction makes a pointer of another, or ends a lifetime.
fn passes_on(op: Op) -> bool {
    op_info::is_pointer_into(op) || op == Op::LifetimeStop
}

impl ArrayFinder<'_, '_> {
    /// Extends the live range of a variable by the current instruction, in a block. `begins` is set
    /// if earlier contents are lost there, and true if these are of the whole variable.
    fn touch(&mut self, n: usize, b: Block, begins: Option<bool>) {
        let Some((array, _)) = self.found.get_mut(n) else {
            return;
        };
        let mut range = self.point..self.point + 1;
        if let Some(whole) = begins {
            if let Some(starts) = self.starts.get_mut(n) {
                *starts = match starts {
                    Starts::None if whole => Starts::One(b, self.point),
                    _ => Starts::Several,
                };
            }
            array.begins_in = self.g.loop_of[b];
            if array.live.is_empty() {
                return;
            }
        } else {
            self.accesses.push((n as u32, b, self.point));
            // It is live in the whole of loops that it does not begin in.
            let mut at = self.g.loop_of[b].expand();
            while let Some(l) = at.filter(|l| array.begins_in.expand() != Some(*l)) {
                range = self.extents[l].clone();
                at = self.g.loops[l].parent.expand();
            }
        }
        array.live = if array.live.is_empty() {
            range
        } else {
            array.live.start.min(range.start)..array.live.end.max(range.end)
        };
    }

    /// Finds variables whose contents are lost for all channels where their lifetime begins. That
    /// is so if all accesses are after it, and in the loop that it is in. Channels that wait
    /// elsewhere come to it before they access the variable again.
    fn find_fresh(&mut self) {
        if !self.starts.iter().any(|s| matches!(s, Starts::One(..))) {
            return;
        }
        let tree = DominatorTree::new(&self.g.order, &self.g.idom);
        let after = |starts: Option<&Starts>, b: Block, point: u32| match starts {
            Some(&Starts::One(first, at)) => {
                let within = self.g.loop_of[first].expand();
                let inside = within.is_none_or(|l| self.g.loop_contains(l, b));
                inside && point > at && tree.dominates(first, b)
            }
            _ => false,
        };
        let mut fresh = vec![true; self.found.len()];
        for &(n, b, point) in &self.accesses {
            if let Some(fresh) = fresh.get_mut(n as usize) {
                *fresh &= after(self.starts.get(n as usize), b, point);
            }
        }
        for ((array, _), fresh) in self.found.iter_mut().zip(fresh) {
            array.fresh = fresh;
        }
    }

    fn spoil(&mut self, id: Id) {
        for n in [self.of[id], self.raw[id]].into_iter().flatten() {
            if let Some(bad) = self.bad.get_mut(n as usize) {
                *bad = true;
            }
        }
    }

    /// Describes a variable of two or more scalars of one kind, if it is small enough.
    fn candidate(&self, b: Block, id: Id, ty: Ty) -> Option<PromotedArray> {
        let types = &self.m.types;
        let leaves = types.leaves(ty);
        if !(2..=MAX_BYTES).contains(&leaves) {
            return None;
        }
        let mut kinds = types.scalars(ty).into_iter().map(|(t, _)| {
            let number = matches!(types.kind(t), Type::Int(_) | Type::Float(_));
            types.scalar(t).filter(|_| number)
        });
        let scalar = kinds.next()??;
        let same = kinds.all(|k| k == Some(scalar));
        let array = PromotedArray {
            scalar,
            leaves,
            by_channel: false,
            live: 0..0,
            fresh: false,
            begins_in: self.g.loop_of[b],
            id,
            uniform: !self.u.divergent[id],
        };
        (same && array.bytes() <= MAX_BYTES).then_some(array)
    }

    fn inst(&mut self, b: Block, inst: &BInst) {
        let words = self.body.operands(inst);
        let operand = |n: usize| words.get(n).map(|w| Id::of(*w));
        let (id, first) = (inst.id.expand(), operand(0));
        // Number of leading id operands whose use does not disqualify.
        let fine = match inst.op {
            Op::Variable => {
                let of = inst.ty.expand().and_then(|t| match self.m.types.kind(t) {
                    Type::Pointer(StorageClass::Function, _) => self.m.pointee(t),
                    _ => None,
                });
                let array = of.zip(id);
                let array = array.and_then(|(t, id)| Some((self.candidate(b, id, t)?, t)));
                if let (Some(found), Some(id)) = (array, id) {
                    self.of[id] = Some(self.found.len() as u32);
                    self.pointers.push(id);
                    self.found.push(found);
                    self.costs.push(AccessCosts::default());
                    self.starts.push(Starts::default());
                    self.bad.push(false);
                }
                0
            }
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => {
                if let (Some(id), Some(base)) = (id, first)
                    && let Some(n) = self.of[base]
                {
                    self.of[id] = Some(n);
                    self.pointers.push(id);
                    let indices = words.iter().skip(1).map(|w| Id::of(*w));
                    let own = indices.fold(false, |own, i| own | self.u.divergent[i]);
                    self.varying[id] = own | self.varying[base];
                    1
                } else {
                    0
                }
            }
            Op::Load | Op::Store => {
                let memory = words.get(if inst.op == Op::Load { 1 } else { 2 });
                let volatile = memory.is_some_and(|m| m & 1 != 0);
                let access = first.map(|pointer| ArrayAccess {
                    pointer,
                    leaves: self.pointee_leaves(pointer),
                    stores: inst.op == Op::Store,
                    varying: false,
                });
                usize::from(!volatile && access.is_some_and(|a| self.access(a)))
            }
            Op::Bitcast | Op::CopyObject => {
                if let (Some(id), Some(base)) = (id, first) {
                    if let Def::Global(_) = self.m.def(base) {
                        self.constants[id] = Some(base);
                    }
                    let typed = self.under[base].expand().unwrap_or(base);
                    self.raw[id] = self.of[base].or(self.raw[base]);
                    self.under[id] = typed.into();
                    self.pointers.push(id);
                }
                usize::from(id.is_some_and(|id| self.raw[id].is_some()))
            }
            Op::LifetimeStart | Op::LifetimeStop => 1,
            Op::CopyMemory | Op::CopyMemorySized => self.copy(inst, words),
            Op::ExtInst => self.vector(inst, words),
            _ => 0,
        };
        let uses: SmallVec<[Id; 8]> = {
            let mut all = SmallVec::new();
            self.body.for_each_use(inst, |id| all.push(id));
            all
        };
        for (n, id) in uses.into_iter().enumerate() {
            if let Some(array) = self.of[id].or(self.raw[id]).filter(|_| !passes_on(inst.op)) {
                let whole = self.is_variable(self.under[id].expand().unwrap_or(id));
                self.touch(
                    array as usize,
                    b,
                    (inst.op == Op::LifetimeStart).then_some(whole),
                );
            }
            // Such pointers are only for copies.
            let raw = self.raw[id].is_some()
                && matches!(
                    inst.op,
                    Op::Load
                        | Op::Store
                        | Op::AccessChain
                        | Op::InBoundsAccessChain
                        | Op::PtrAccessChain
                        | Op::InBoundsPtrAccessChain
                );
            if n >= fine || raw {
                self.spoil(id);
            }
        }
    }

    fn array(&self, pointer: Id) -> Option<&(PromotedArray, Ty)> {
        self.of[pointer].and_then(|n| self.found.get(n as usize))
    }

    /// Number of scalars of a pointee.
    fn pointee_leaves(&self, pointer: Id) -> u32 {
        let ty = self.body.type_of(self.m, pointer);
        let of = ty.and_then(|t| self.m.pointee(t));
        of.map_or(1, |t| self.m.types.leaves(t))
    }

    /// Records an access. Returns true if it does not disqualify its variable.
    fn access(&mut self, access: ArrayAccess) -> bool {
        let Some((array, _)) = self.array(access.pointer) else {
            return true;
        };
        let leaves = access.leaves;
        // Number of possible positions, times scalars.
        let places = (array.leaves + 1).saturating_sub(leaves);
        let parts = places.saturating_mul(leaves);
        let varying = (access.varying || self.varying[access.pointer]) && parts > MAX_PARTS;
        let count = u64::from(leaves);
        let cost = match (varying, access.stores) {
            (false, _) => 2 * count,
            (true, false) => GATHER + count,
            (true, true) => 2 * u64::from(parts),
        };
        let n = self.of[access.pointer].map_or(0, |n| n as usize);
        if let Some(all) = self.costs.get_mut(n) {
            let add = |to: &mut u64, cost: u64| {
                *to = to.saturating_add(cost.saturating_mul(self.weight));
            };
            add(&mut all.promoted, cost);
            add(&mut all.scratch, MESSAGE * count.div_ceil(4));
            all.visits |= varying && access.stores;
        }
        if let Some((array, _)) = self.found.get_mut(n) {
            array.by_channel |= varying;
        }
        !(varying && access.stores && parts > MAX_VISITED)
    }

    /// Vector load or store through a pointer to an element. Returns the number of leading operands
    /// that it does not disqualify.
    fn vector(&mut self, inst: &BInst, words: &[u32]) -> usize {
        let &[set, which, ref args @ ..] = words else {
            return 0;
        };
        let stores = which == Std::vstoren as u32;
        if self.m.def(Id::of(set)) != Def::Set(ExtInstSet::OpenCl)
            || !stores && which != Std::vloadn as u32
        {
            return 0;
        }
        let first = usize::from(stores);
        let (Some(index), Some(pointer)) = (args.get(first), args.get(first + 1)) else {
            return 0;
        };
        let (index, pointer) = (Id::of(*index), Id::of(*pointer));
        let data = args.first().filter(|_| stores).map(|w| Id::of(*w));
        let ty = match data {
            Some(v) => self.body.type_of(self.m, v),
            None => inst.ty.expand(),
        };
        let Some(Type::Vector(of, count)) = ty.map(|t| self.m.types.kind(t)) else {
            return 0;
        };
        let element = self.body.type_of(self.m, pointer);
        if element.and_then(|t| self.m.pointee(t)) != Some(*of) || self.raw[pointer].is_some() {
            return 0;
        }
        let fine = self.access(ArrayAccess {
            pointer,
            leaves: *count,
            stores,
            varying: self.u.divergent[index],
        });
        if fine { usize::MAX } else { 0 }
    }

    /// Copy. Returns the number of leading operands that it does not disqualify.
    fn copy(&mut self, inst: &BInst, words: &[u32]) -> usize {
        let Some(&[to, from]) = words.first_chunk::<2>() else {
            return 0;
        };
        let sized = inst.op == Op::CopyMemorySized;
        let memory = words.get(if sized { 3 } else { 2 });
        if memory.is_some_and(|m| m & 1 != 0) {
            return 0;
        }
        let ends = [to, from].map(|w| {
            let id = Id::of(w);
            self.under[id].expand().unwrap_or(id)
        });
        let pointee = |id: Id| {
            let ty = self.body.type_of(self.m, id);
            ty.and_then(|t| self.m.pointee(t))
        };
        let size = match words.get(2) {
            Some(size) if sized => self.m.bits(Id::of(*size)),
            _ => pointee(Id::of(to)).map(|t| self.m.types.size(t)),
        };
        let types = ends.map(|id| pointee(id).filter(|_| self.of[id].is_some()));
        let Some(ty) = types[0].or(types[1]) else {
            return 0;
        };
        let alike = types.into_iter().flatten().all(|t| t == ty);
        if !alike || size != Some(self.m.types.size(ty)) || !self.is_dense(ty) {
            return usize::from(sized && self.is_filled(inst.at, words));
        }
        if sized {
            self.is_filled(inst.at, words);
        }
        let fine = [(0, true), (1, false)].map(|(n, stores)| {
            let pointer = ends[n];
            self.access(ArrayAccess {
                pointer,
                leaves: self.m.types.leaves(ty),
                stores,
                varying: false,
            })
        });
        match fine {
            [true, true] => 2,
            [true, false] => 1,
            _ => 0,
        }
    }

    /// Returns true if a value has no bytes between its scalars.
    fn is_dense(&self, ty: Ty) -> bool {
        let types = &self.m.types;
        if types.leaves(ty) > MAX_BYTES {
            return false;
        }
        let scalars = types.scalars(ty);
        scalars.iter().map(|(t, _)| types.size(*t)).sum::<u64>() == types.size(ty)
    }

    fn is_variable(&self, id: Id) -> bool {
        let ty = self.body.type_of(self.m, id);
        let of = ty.and_then(|t| self.m.pointee(t));
        let array = self.array(id);
        array.is_some_and(|(a, ty)| Some(*ty) == of && a.id == id)
    }

    /// Returns true if a copy fills a whole variable from a constant of its type, and records the
    /// constant.
    fn is_filled(&mut self, at: u32, words: &[u32]) -> bool {
        let [to, from, size, ..] = *words else {
            return false;
        };
        let [to, from, size] = [to, from, size].map(Id::of);
        let whole = self.under[to].expand().filter(|v| self.is_variable(*v));
        let Some((_, ty)) = whole.and_then(|v| self.array(v)) else {
            return false;
        };
        let global = self.constants[from].unwrap_or(from);
        let Def::Global(g) = self.m.def(global) else {
            return false;
        };
        let Some(data) = self.m.globals.get(g) else {
            return false;
        };
        let ty = *ty;
        let whole = self.m.bits(size) == Some(self.m.types.size(ty));
        let (same, constant) = (data.ty == ty, data.class == StorageClass::UniformConstant);
        let init = data.init.filter(|_| whole && same && constant);
        init.is_some_and(|init| {
            self.copied.insert((to, at), init);
            true
        })
    }
}
