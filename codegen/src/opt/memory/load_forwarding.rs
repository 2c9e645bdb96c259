//! Store-to-load and load-to-load forwarding, and dead store elimination.
//!
//! A load may read the same bytes as an earlier load or store, with no aliasing write in between.
//! Then it becomes the value of that access. A load of parts of one or several such values is
//! assembled from them (`load_coercion.rs`). A store by lanes counts only if no two lanes write the
//! same byte: the order of lanes is not defined. A store whose bytes are all overwritten with no
//! read in between is removed. So are stores to scratch that nothing loads.
//!
//! Available values flow forward: a block starts with those of all its predecessors; back edges
//! bring none. If the predecessors have different values for one place, a load reads a parameter
//! (`join_forwarding.rs`). Barriers and fences end those of their memory spaces. Atomics and other
//! effects end those that they may change.
//!
//! Input and output: verified IR. Work: linear, since each access is compared with at most
//! [`AVAILABLE`] others.

use super::affine::AffineForms;
use super::alias_analysis::{Effect, MemoryAccess};
use super::join_forwarding::{Contents, JoinedValue, Joins};
use super::load_coercion;
use crate::ir::{
    Block, BlockInsts, ControlFlow, FuncKind, Function, Inst, InstData, Opcode, Region, Space,
    Value,
};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use std::collections::VecDeque;
use std::rc::Rc;

/// Maximal available values that are tracked.
const AVAILABLE: usize = 100;
/// Maximal available values at the ends of all blocks.
const AVAILABLE_AT_ENDS: usize = 1 << 16;

/// Value of an earlier access, which later loads may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AvailableValue {
    pub access: Rc<MemoryAccess>,
    pub value: Value,
    /// Mask of the bytes from each address on that are still valid, up to the 64th.
    pub valid: u64,
}

/// Runs load forwarding. Returns the number of loads that were removed.
pub(crate) fn run(func: &mut Function, _: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let mut forms = state.affine.get(func);
    let mut ends: SecondaryMap<Block, Contents> = sized(func.dfg.num_blocks());
    let mut joins = Joins::default();
    let (mut changed, mut kept) = (0, AVAILABLE_AT_ENDS);
    for &block in cfg.order() {
        let mut known = Contents {
            joined: joined_before(func, &cfg, block, &ends, &mut joins),
            values: available_before(&cfg, block, &ends),
        };
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            changed += u32::from(visit(
                func, inst, &mut forms, &mut known, &mut joins, &mut out,
            ));
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
        if let Some(rest) = kept.checked_sub(known.values.len() + known.joined.len()) {
            kept = rest;
            ends[block] = known;
        }
    }
    state.affine.keep(func, forms, changed);
    changed
}

/// Returns the values that are available at the ends of all predecessors.
fn available_before(
    cfg: &ControlFlow,
    block: Block,
    ends: &SecondaryMap<Block, Contents>,
) -> Vec<AvailableValue> {
    let Some((&(first, _), others)) = cfg.preds(block).split_first() else {
        return Vec::new();
    };
    let mut known = ends[first].values.clone();
    for &(other, _) in others {
        known.retain_mut(|k| {
            let there = ends[other]
                .values
                .iter()
                .find(|o| o.value == k.value && o.access == k.access);
            k.valid &= there.map_or(0, |o| o.valid);
            k.valid != 0
        });
    }
    known
}

/// Returns the places for which the predecessors have different values.
fn joined_before(
    func: &Function,
    cfg: &ControlFlow,
    block: Block,
    ends: &SecondaryMap<Block, Contents>,
    joins: &mut Joins,
) -> Vec<JoinedValue> {
    let preds = cfg.preds(block);
    if preds.len() == 1 {
        return ends[preds[0].0].joined.clone();
    }
    let preds: Vec<_> = preds.iter().map(|p| (p.1, &ends[p.0])).collect();
    joins.at(func, block, &preds)
}

/// Visits an instruction. Returns true if it was a load that was replaced.
fn visit(
    func: &mut Function,
    inst: Inst,
    forms: &mut AffineForms,
    known: &mut Contents,
    joins: &mut Joins,
    out: &mut BlockInsts,
) -> bool {
    let Some(access) = MemoryAccess::of(func, inst, forms) else {
        let effect = Effect::of(func.dfg.data(inst));
        if effect != Effect::None {
            known.retain(|k| k.access.mem.constant || !effect.stops(k.access.mem));
        }
        return false;
    };
    let data = *func.dfg.data(inst);
    if access.mem.volatile {
        known.retain(|k| !access.writes || k.access.disjoint(&access));
        return false;
    }
    let value = match data {
        InstData::Load { old, .. } => {
            let found = known.values.iter().rev().find(|k| k.gives(&access, func));
            let value = found.map(|k| k.value).or_else(|| {
                let mut joined = known.joined.iter();
                let joined = joined.find(|j| j.of.gives(&access, func))?;
                joins.value(func, joined)
            });
            let value =
                value.or_else(|| load_coercion::assemble(func, inst, &access, &known.values, out));
            if let Some(value) = value
                && replace(func, inst, &access, value, old, out)
            {
                return true;
            }
            func.dfg.first_result(inst)
        }
        InstData::Store { args, .. } => {
            // For accesses by the same lanes this is the same.
            let step = access.step(&access);
            known.values.retain_mut(|k| k.keeps(&access, step, func));
            known.joined.retain_mut(|j| j.of.keeps(&access, step, func));
            access.lanes_disjoint(access.bytes, func).then_some(args[0])
        }
        _ => {
            known.retain(|k| k.access.disjoint(&access));
            None
        }
    };
    if let Some(value) = value {
        let known = &mut known.values;
        if known.len() >= AVAILABLE {
            known.remove(0);
        }
        let valid = bits(0, access.bytes.into());
        known.push(AvailableValue {
            access: access.into(),
            value,
            valid,
        });
    }
    false
}

/// Returns the mask of `count` bytes from `from` on, within the first 64.
pub(super) fn bits(from: i64, count: i64) -> u64 {
    let below = |n: i64| match n.clamp(0, 64) {
        64 => u64::MAX,
        n => (1 << n) - 1,
    };
    below(from.saturating_add(count)) & !below(from)
}

impl AvailableValue {
    /// Removes the bytes that a store writes. Returns true if any stay valid.
    fn keeps(&mut self, store: &MemoryAccess, step: i128, func: &Function) -> bool {
        let here = &self.access;
        let apart = if here.same_terms(store) {
            here.disjoint_modulo(store, step)
        } else {
            here.disjoint(store)
        };
        if apart {
            return true;
        }
        // Each lane loses the bytes of its own store, if no other lane's store reaches them.
        let from = here.distance(store);
        let least = from.min(0);
        let most = (from + i64::from(store.bytes)).max(here.bytes.into());
        let both = u32::try_from(most.saturating_sub(least)).unwrap_or(u32::MAX);
        if here.bytes > 64
            || here.lanes != store.lanes
            || !here.same_terms(store)
            || !here.lanes_disjoint(both, func)
        {
            return false;
        }
        self.valid &= !bits(from, store.bytes.into());
        self.valid != 0
    }

    /// Returns true if this is the value of a load in the active lanes of the load.
    fn gives(&self, load: &MemoryAccess, func: &Function) -> bool {
        let have = &self.access;
        let whole = self.valid == bits(0, have.bytes.into());
        let alike = have.ty.lanes() == load.ty.lanes()
            && have.ty.bytes() == load.ty.bytes()
            && have.lanes == load.lanes;
        let same = whole && alike && have.same_terms(load) && have.distance(load) == 0;
        same && have.covers_mask_of(load, func)
    }
}

/// Replaces a load by a value, if inactive lanes can get their values.
fn replace(
    func: &mut Function,
    inst: Inst,
    access: &MemoryAccess,
    found: Value,
    old: PackedOption<Value>,
    out: &mut BlockInsts,
) -> bool {
    let old = old.expand().filter(|&v| !func.dfg.is_undef(v));
    let same = func.dfg.ty(found) == access.ty;
    let copy = if same {
        InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg: found,
            region: Region::contiguous(access.ty.lanes() as u16, 0),
            index: PackedOption::default(),
        }
    } else {
        let (opcode, arg) = (Opcode::Bitcast, found);
        InstData::Unary { opcode, arg }
    };
    let (Some(mask), Some(old)) = (access.mask, old) else {
        *func.dfg.data_mut(inst) = copy;
        return true;
    };
    // A mask has one lane per address.
    if access.ty.lanes() != access.lanes {
        return false;
    }
    let new = func.dfg.make_inst(copy, &[access.ty]);
    let loc = func.srclocs[inst];
    func.set_srcloc(new, loc);
    let Some(v) = func.dfg.first_result(new) else {
        return false;
    };
    out.push(new);
    let (opcode, args) = (Opcode::Select, [mask, v, old]);
    *func.dfg.data_mut(inst) = InstData::Ternary { opcode, args };
    true
}

/// Removes dead stores. Returns their number.
pub(crate) fn eliminate_dead_stores(
    func: &mut Function,
    _: &PassContext<'_>,
    state: &mut OptState,
) -> u32 {
    let cfg = state.cfg.get(func);
    let mut forms = state.affine.get(func);
    let read = scratch_reads(func, &mut forms);
    let mut changed = 0;
    for &block in cfg.order() {
        // Backward: later stores that no access in between may alias.
        let mut again: VecDeque<MemoryAccess> = VecDeque::new();
        let mut dead = Vec::new();
        for (at, &inst) in func.layout.insts(block).iter().enumerate().rev() {
            let data = func.dfg.data(inst);
            let Some(access) = MemoryAccess::of(func, inst, &mut forms) else {
                let effect = Effect::of(data);
                if effect != Effect::None {
                    again.retain(|p| !effect.stops(p.mem));
                }
                continue;
            };
            if !matches!(data, InstData::Store { .. }) || access.mem.volatile {
                again.retain(|p| p.disjoint(&access));
                continue;
            }
            let unread = |r: &Vec<MemoryAccess>| r.iter().all(|r| r.disjoint(&access));
            let scratch = access.mem.space == Space::Scratch && read.as_ref().is_some_and(unread);
            if scratch || again.iter().any(|p| p.covers(&access)) {
                dead.push(at);
                continue;
            }
            if again.len() >= AVAILABLE {
                again.pop_front();
            }
            again.push_back(access);
        }
        changed += dead.len() as u32;
        // The last entry is the first in the block.
        let mut at = 0;
        func.layout.insts_mut(block).retain(|_| {
            at += 1;
            dead.pop_if(|d| *d + 1 == at).is_none()
        });
    }
    state.affine.keep(func, forms, changed);
    changed
}

impl MemoryAccess {
    /// Returns true if this access covers every byte of another.
    fn covers(&self, other: &MemoryAccess) -> bool {
        let masks = self.mask.is_none() || self.mask == other.mask;
        let from = self.distance(other);
        let within = from >= 0 && from + i64::from(other.bytes) <= i64::from(self.bytes);
        let lanes = self.lanes == other.lanes;
        masks && lanes && self.same_terms(other) && within
    }
}

/// Returns the scratch accesses that read. `None` if they are unknown or too many, or in a
/// subroutine.
fn scratch_reads(func: &Function, forms: &mut AffineForms) -> Option<Vec<MemoryAccess>> {
    let mut out = Vec::new();
    let kernel = matches!(func.kind, FuncKind::Kernel { .. });
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            match func.dfg.data(inst) {
                InstData::Load { mem, .. } | InstData::Atomic { mem, .. }
                    if mem.space == Space::Scratch =>
                {
                    let access = MemoryAccess::of(func, inst, forms)?;
                    if !out.contains(&access) {
                        out.push(access);
                    }
                }
                InstData::Call { .. } | InstData::Send { .. } => return None,
                _ => {}
            }
            if out.len() > AVAILABLE {
                return None;
            }
        }
    }
    kernel.then_some(out)
}

/// Clears the scratch size of a kernel without scratch accesses.
pub(crate) fn drop_scratch(func: &mut Function) {
    let mut insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    let touches = insts.any(|&i| match func.dfg.data(i) {
        InstData::Load { mem, .. } | InstData::Store { mem, .. } | InstData::Atomic { mem, .. } => {
            mem.space == Space::Scratch
        }
        InstData::Call { .. } | InstData::Send { .. } => true,
        _ => false,
    });
    if let (FuncKind::Kernel { scratch_bytes, .. }, false) = (&mut func.kind, touches) {
        *scratch_bytes = 0;
    }
}
