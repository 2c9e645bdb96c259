//! Promotion of indexed private variables to registers, as LLVM's AMDGPUPromoteAlloca.
//!
//! Needs a body whose other variables are promoted, and its uniformity. Remaining variables have
//! dynamic indices. One is promoted if its scalars are of one kind, if it is only loaded and
//! stored, and if registers suffice. It becomes one vector with a part of all lanes for each
//! scalar.
//!
//! An access with a uniform index is a region at a variable offset (`rdregion`, `wrregion`). A load
//! with a divergent index is an indirect region. A store with a divergent index visits each part,
//! so there must be few parts. A uniform variable has one lane for each scalar, and is always
//! promoted.

use crate::body::{BInst, Body};
use crate::cfg::Graph;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::promoted_arrays::{PromotedArray, PromotedArrays};
use crate::read::Id;
use crate::uniformity::Uniformity;
use cranelift_entity::SecondaryMap;
use gantry_codegen::entity_set::sized;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// Bytes of registers for such variables, if the GRF file is not known. Else it is five eighths of
/// the file. Where other values then do not fit, the width decides.
const ROOM: u32 = 2048;

/// Maximum bytes of a variable for each channel: what fits in the narrowest thread.
const MAX_BYTES: u32 = ROOM / 8;

/// Maximum number of parts that a store with a divergent index visits. More cost more than a
/// message.
const MAX_PARTS: u32 = 6;

struct ArrayFinder<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    u: &'a Uniformity,
    found: Vec<(PromotedArray, Ty)>,
    of: SecondaryMap<Id, Option<u32>>,
    /// Pointers to a whole variable with another pointee type.
    raw: SecondaryMap<Id, Option<u32>>,
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
/// uses alone. Half of `file`, the bytes of registers of a thread if known, is for them.
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

impl ArrayFinder<'_, '_> {
    fn spoil(&mut self, id: Id) {
        for n in [self.of[id], self.raw[id]].into_iter().flatten() {
            if let Some(bad) = self.bad.get_mut(n as usize) {
                *bad = true;
            }
        }
    }

    /// Describes a variable of two or more scalars of one kind, if it is small enough.
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
        // Number of leading id operands whose use does not disqualify.
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
                    // The pointer must point to the whole variable.
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

    /// Number of positions that the pointee can have in its variable, times its scalars.
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

    /// Returns true if a copy fills a whole variable from a constant of its type, and records the
    /// constant.
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
