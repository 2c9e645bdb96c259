//! Private variables that are indexed, in registers.
//!
//! Needs a body whose variables are promoted where they can be, and its uniformity. What is left is indexed by what no constant says. Such a variable is held
//! in registers, as one vector with a part of all channels for each of its scalars, if those are of one kind, if nothing but loads and stores is made of
//! it, and if there is room. A part that one index names is a region at a variable place (`rdregion`, `wrregion`); so is what is loaded where each channel has its
//! own index. A store by each channel's own index looks at each part, so that there must be few. A variable that is the same in all channels has but one lane
//! for each of its scalars, and is always held.

use crate::body::{BInst, Body};
use crate::cfg::Graph;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use crate::uniformity::Uniformity;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::Scalar;
use gantry_codegen::maps::sized;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// Bytes of a thread's registers for such variables, where there are 4096: half of them.
const ROOM: u32 = 2048;

/// The most bytes of one of a channel: what would have room in the narrowest thread.
const MAX_BYTES: u32 = ROOM / 8;

/// Bytes of a thread's registers for those that are the same in all channels.
const SHARED: u32 = 512;

/// The most parts that a store by each channel's own index looks at: more cost more than a message.
const MAX_PARTS: u32 = 6;

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct PromotedArray {
    /// What its scalars are.
    pub scalar: Scalar,
    /// How many they are.
    pub leaves: u32,
    /// Whether each channel's own index leads to what is loaded: then it stays an array, however straight the code becomes.
    by_channel: bool,
    /// What it is, and whether that is the same in all channels: then each scalar has one lane.
    id: Id,
    pub uniform: bool,
}

impl PromotedArray {
    /// Bytes of a channel.
    fn bytes(&self) -> u32 {
        self.leaves * self.scalar.bytes()
    }

    /// The lanes of each scalar in a thread of so many.
    pub fn lanes(&self, simd: u32) -> u32 {
        if self.uniform { 1 } else { simd }
    }
}

/// The variables that may be held in registers.
#[derive(Debug, Default)]
pub(crate) struct PromotedArrays {
    pub all: Vec<PromotedArray>,
    /// Bytes of a thread's registers for them.
    room: u32,
    /// The variable that a pointer is into, by its number.
    of: SecondaryMap<Id, Option<u32>>,
    /// The constants that copies fill the whole of a variable from, by their target and their word.
    copied: BTreeMap<(Id, u32), Id>,
}

impl PromotedArrays {
    /// Which of them are held in registers of a thread: as many as there is room for, the smallest first.
    pub fn held(&self, simd: u32) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        let bytes = |n: &usize| self.all.get(*n).map_or(0, PromotedArray::bytes);
        order.sort_by_key(bytes);
        let mut room = self.room / simd.max(1);
        let mut out: Vec<bool> = self.all.iter().map(|a| a.uniform).collect();
        order.retain(|&n| out.get(n) == Some(&false));
        for n in order {
            let (Some(held), bytes) = (out.get_mut(n), bytes(&n)) else {
                continue;
            };
            // Where loops become straight, what is loaded for them has room beside it.
            let beside = if self.all.get(n).is_some_and(|a| a.by_channel) {
                bytes
            } else {
                0
            };
            *held = bytes + beside <= room;
            room -= if *held { bytes } else { 0 };
        }
        out
    }

    /// Whether a narrower thread holds one that a wide one leaves in scratch.
    pub fn fit_better(&self, narrow: u32, wide: u32) -> bool {
        let (narrow, wide) = (self.held(narrow), self.held(wide));
        narrow.iter().zip(wide).any(|(n, w)| *n && !w)
    }

    /// Bytes of a thread that they take.
    pub fn bytes(&self, simd: u32) -> u32 {
        let held = self.held(simd);
        let held = self.all.iter().zip(held).filter(|(_, held)| *held);
        held.map(|(a, _)| a.bytes() * a.lanes(simd)).sum()
    }

    /// Each by its variable, if it is held should it be the same in all channels: as many as there is room for.
    pub fn shareable(&self) -> Vec<Option<Id>> {
        let mut room = SHARED;
        let each = self.all.iter().map(|a| {
            room = room.checked_sub(a.bytes())?;
            Some(a.id)
        });
        each.collect()
    }

    /// The variable that a pointer is into.
    pub fn of(&self, pointer: Id) -> Option<usize> {
        self.of[pointer].map(|n| n as usize)
    }

    /// The constant that a copy at a word fills its target from.
    pub fn copied(&self, target: Id, at: u32) -> Option<Id> {
        self.copied.get(&(target, at)).copied()
    }
}

struct Find<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    u: &'a Uniformity,
    found: Vec<(PromotedArray, Ty)>,
    of: SecondaryMap<Id, Option<u32>>,
    /// Pointers to the whole that are of another type.
    raw: SecondaryMap<Id, Option<u32>>,
    /// Those that are one of the two.
    pointers: Vec<Id>,
    /// Variables of constants that pointers are to the beginning of.
    constants: SecondaryMap<Id, Option<Id>>,
    copied: BTreeMap<(Id, u32), Id>,
    /// Whether each channel has its own index.
    varying: SecondaryMap<Id, bool>,
    bad: Vec<bool>,
}

/// Finds the arrays that may be promoted, with uniformity: of those found by their uses alone.
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

/// Finds the variables. By a uniformity in which nothing is divergent, those that may be held, by their uses alone. Half of `file`, the bytes of
/// registers that a thread is known to have, is for them.
pub(crate) fn find(
    m: &Module<'_>,
    body: &Body,
    g: &Graph,
    u: &Uniformity,
    file: u32,
) -> PromotedArrays {
    // Shaders' pointers are not looked at.
    if m.logical {
        return PromotedArrays::default();
    }
    let room = ROOM.max(file / 2);
    let mut insts = g.order.iter().flat_map(|b| &body.blocks[*b].insts);
    if !insts.any(|i| i.op == Op::Variable) {
        return PromotedArrays {
            room,
            ..PromotedArrays::default()
        };
    }
    let mut f = Find {
        m,
        body,
        u,
        found: Vec::new(),
        of: sized(body.bound()),
        raw: sized(body.bound()),
        pointers: Vec::new(),
        constants: SecondaryMap::new(),
        copied: BTreeMap::new(),
        varying: sized(body.bound()),
        bad: Vec::new(),
    };
    for &b in &g.order {
        for inst in &body.blocks[b].insts {
            f.inst(inst);
        }
    }
    for &b in &g.order {
        for phi in &body.blocks[b].phis {
            phi.args.iter().for_each(|(_, arg)| f.spoil(*arg));
        }
    }
    // Those that are left, with new numbers.
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
    for id in f.pointers {
        let known = [f.raw[id], f.of[id]];
        if let Some(n) = known.into_iter().find_map(|n| n.and_then(number)) {
            of[id] = Some(n);
        }
    }
    PromotedArrays {
        all,
        room,
        of,
        copied: f.copied,
    }
}

impl Find<'_, '_> {
    fn spoil(&mut self, id: Id) {
        for n in [self.of[id], self.raw[id]].into_iter().flatten() {
            if let Some(bad) = self.bad.get_mut(n as usize) {
                *bad = true;
            }
        }
    }

    /// A variable whose scalars are all of one kind, and neither too many nor one.
    fn candidate(&self, id: Id, ty: Ty) -> Option<PromotedArray> {
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
            id,
            uniform: !self.u.divergent[id],
        };
        (same && array.bytes() <= MAX_BYTES).then_some(array)
    }

    fn inst(&mut self, inst: &BInst) {
        let words = self.body.operands(inst);
        let operand = |n: usize| words.get(n).map(|w| Id::of(*w));
        let (id, first) = (inst.id.expand(), operand(0));
        // What is no use that spoils: so many operands.
        let fine = match inst.op {
            Op::Variable => {
                let of = inst.ty.expand().and_then(|t| match self.m.types.kind(t) {
                    Type::Pointer(StorageClass::Function, _) => self.m.pointee(t),
                    _ => None,
                });
                let array = of.zip(id);
                let array = array.and_then(|(t, id)| Some((self.candidate(id, t)?, t)));
                if let (Some(found), Some(id)) = (array, id) {
                    self.of[id] = Some(self.found.len() as u32);
                    self.pointers.push(id);
                    self.found.push(found);
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
                let parts = first.map_or(u32::MAX, |p| self.parts(p));
                let varying = first.is_some_and(|p| self.varying[p]);
                let far = inst.op == Op::Store && varying && parts > MAX_PARTS;
                let of = first
                    .filter(|_| varying && parts > MAX_PARTS)
                    .and_then(|p| self.of[p]);
                if let Some((array, _)) = of.and_then(|n| self.found.get_mut(n as usize)) {
                    array.by_channel = true;
                }
                usize::from(!volatile && !far)
            }
            Op::Bitcast | Op::CopyObject => {
                if let (Some(id), Some(base)) = (id, first) {
                    if let Def::Global(_) = self.m.def(base) {
                        self.constants[id] = Some(base);
                    }
                    // The whole, not what an index leads to.
                    let whole = self.of[base].filter(|_| self.is_variable(base));
                    self.raw[id] = whole.or(self.raw[base]);
                    self.pointers.push(id);
                }
                usize::from(id.is_some_and(|id| self.raw[id].is_some()))
            }
            Op::LifetimeStart | Op::LifetimeStop => 1,
            Op::CopyMemorySized => usize::from(self.is_filled(inst.at, words)),
            _ => 0,
        };
        let uses: SmallVec<[Id; 8]> = {
            let mut all = SmallVec::new();
            self.body.for_each_use(inst, |id| all.push(id));
            all
        };
        for (n, id) in uses.into_iter().enumerate() {
            // Pointers to the whole of another type are not for loads and stores.
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

    /// How many places there are for what a pointer is to, in its variable.
    fn parts(&self, pointer: Id) -> u32 {
        let ty = self.body.type_of(self.m, pointer);
        let of = ty.and_then(|t| self.m.pointee(t));
        let leaves = of.map_or(1, |t| self.m.types.leaves(t));
        let array = self.of[pointer].and_then(|n| self.found.get(n as usize));
        let places = array.map_or(0, |(a, _)| (a.leaves + 1).saturating_sub(leaves));
        places.saturating_mul(leaves)
    }

    fn is_variable(&self, id: Id) -> bool {
        let ty = self.body.type_of(self.m, id);
        let of = ty.and_then(|t| self.m.pointee(t));
        let array = self.of[id].and_then(|n| self.found.get(n as usize));
        array.is_some_and(|(_, ty)| Some(*ty) == of) && !self.varying[id]
    }

    /// Whether a copy fills the whole of a variable from constants of its type; then that is kept.
    fn is_filled(&mut self, at: u32, words: &[u32]) -> bool {
        let [to, from, size, ..] = *words else {
            return false;
        };
        let [to, from, size] = [to, from, size].map(Id::of);
        let Some((_, ty)) = self.raw[to].and_then(|n| self.found.get(n as usize)) else {
            return false;
        };
        let global = self.constants[from].unwrap_or(from);
        let Def::Global(g) = self.m.def(global) else {
            return false;
        };
        let Some(data) = self.m.globals.get(g) else {
            return false;
        };
        let whole = self.m.bits(size) == Some(self.m.types.size(*ty));
        let (same, constant) = (data.ty == *ty, data.class == StorageClass::UniformConstant);
        let init = data.init.filter(|_| whole && same && constant);
        init.is_some_and(|init| {
            self.copied.insert((to, at), init);
            true
        })
    }
}
