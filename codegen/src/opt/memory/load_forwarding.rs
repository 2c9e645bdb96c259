//! Memory that is known: loads of what was loaded or stored before, stores that nobody can read.
//!
//! A load of the place of an earlier load or store, with nothing between that may write there, is
//! that one's value; one of a part of it, or of parts of several, is put together of those
//! (`parts.rs`). (Of a store by lanes only where no two lanes have one byte: who of two writes last
//! is not said.) A store whose bytes are all stored again, with nothing between that may read them,
//! goes; so do stores to scratch where nothing is loaded from.
//!
//! What is known at the ends of all blocks before one is known in it, but for loops. Barriers and
//! fences end what is known of the memories that they are of; atomics and other effects what they
//! may change.
//!
//! Needs: IR that verifies. Makes: the same. Work: each access is compared with [`KNOWN`] others at
//! most: linear.

use super::affine::Sums;
use super::alias_analysis::{Effect, Place};
use super::load_coercion;
use crate::ir::{
    Block, BlockInsts, ControlFlow, FuncKind, Function, Inst, InstData, Opcode, Region, Space,
    Value,
};
use crate::opt::{Facts, State};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Places that are remembered.
const KNOWN: usize = 100;
/// Those of all blocks' ends.
const KEPT: usize = 1 << 16;

/// A place, and what is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub place: Place,
    pub value: Value,
    /// The bytes from each address on that still are, a bit each, up to the 64th.
    pub valid: u64,
}

/// Forwards what is known to loads; gives how many there are fewer.
pub(crate) fn forward(func: &mut Function, _: &Facts<'_>, state: &mut State) -> u32 {
    let cfg = state.flow.of(func);
    let mut sums = state.sums.of(func);
    let mut ends: SecondaryMap<Block, Vec<Known>> = sized(func.dfg.num_blocks());
    let (mut changed, mut kept) = (0, KEPT);
    for &block in cfg.order() {
        let mut known = known_before(&cfg, block, &ends);
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            changed += u32::from(step(func, inst, &mut sums, &mut known, &mut out));
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
        if let Some(rest) = kept.checked_sub(known.len()) {
            kept = rest;
            ends[block] = known;
        }
    }
    state.sums.keep(func, sums, changed);
    changed
}

/// What is known at the ends of all blocks before one.
fn known_before(
    cfg: &ControlFlow,
    block: Block,
    ends: &SecondaryMap<Block, Vec<Known>>,
) -> Vec<Known> {
    let Some((&(first, _), others)) = cfg.preds(block).split_first() else {
        return Vec::new();
    };
    let mut known = ends[first].clone();
    for &(other, _) in others {
        known.retain_mut(|k| {
            let there = ends[other]
                .iter()
                .find(|o| o.value == k.value && o.place == k.place);
            k.valid &= there.map_or(0, |o| o.valid);
            k.valid != 0
        });
    }
    known
}

/// The next instruction; gives whether it was a load that is none any more.
fn step(
    func: &mut Function,
    inst: Inst,
    sums: &mut Sums,
    known: &mut Vec<Known>,
    out: &mut BlockInsts,
) -> bool {
    let Some(place) = Place::of(func, inst, sums) else {
        let effect = Effect::of(func.dfg.data(inst));
        if effect != Effect::None {
            known.retain(|k| k.place.mem.constant || !effect.stops(k.place.mem));
        }
        return false;
    };
    let data = *func.dfg.data(inst);
    if place.mem.volatile {
        known.retain(|k| !place.writes || k.place.apart(&place));
        return false;
    }
    let value = match data {
        InstData::Load { old, .. } => {
            let found = known.iter().rev().find(|k| k.gives(&place, func)).cloned();
            let value = match found {
                Some(found) => Some(found.value),
                None => load_coercion::assemble(func, inst, &place, known, out),
            };
            if let Some(value) = value
                && replace(func, inst, &place, value, old, out)
            {
                return true;
            }
            func.dfg.first_result(inst)
        }
        InstData::Store { args, .. } => {
            // Of places by the same lanes it is the same.
            let step = place.step(&place);
            known.retain_mut(|k| k.keeps(&place, step, func));
            place.lanes_apart(place.bytes, func).then_some(args[0])
        }
        _ => {
            known.retain(|k| k.place.apart(&place));
            None
        }
    };
    if let Some(value) = value {
        if known.len() >= KNOWN {
            known.remove(0);
        }
        let valid = bits(0, place.bytes.into());
        known.push(Known {
            place,
            value,
            valid,
        });
    }
    false
}

/// A bit for each of so many bytes from one on, of the first 64.
pub(super) fn bits(from: i64, count: i64) -> u64 {
    let below = |n: i64| match n.clamp(0, 64) {
        64 => u64::MAX,
        n => (1 << n) - 1,
    };
    below(from.saturating_add(count)) & !below(from)
}

impl Known {
    /// Whether anything is still known behind a store; what that writes is not.
    fn keeps(&mut self, store: &Place, step: i128, func: &Function) -> bool {
        let here = &self.place;
        let apart = if here.beside(store) {
            here.apart_by(store, step)
        } else {
            here.apart(store)
        };
        if apart {
            return true;
        }
        // In each lane the bytes of its own store, if no other lane's reach there.
        let from = here.distance(store);
        let least = from.min(0);
        let most = (from + i64::from(store.bytes)).max(here.bytes.into());
        let both = u32::try_from(most.saturating_sub(least)).unwrap_or(u32::MAX);
        if here.bytes > 64
            || here.lanes != store.lanes
            || !here.beside(store)
            || !here.lanes_apart(both, func)
        {
            return false;
        }
        self.valid &= !bits(from, store.bytes.into());
        self.valid != 0
    }

    /// Whether this is what a load gives in the lanes that take part in it.
    fn gives(&self, load: &Place, func: &Function) -> bool {
        let have = &self.place;
        let whole = self.valid == bits(0, have.bytes.into());
        let alike = have.ty.lanes() == load.ty.lanes()
            && have.ty.bytes() == load.ty.bytes()
            && have.lanes == load.lanes;
        let same = whole && alike && have.beside(load) && have.distance(load) == 0;
        same && have.has_lanes_of(load, func)
    }
}

/// Makes a load of what is known, if lanes that are off can be what they were to be.
fn replace(
    func: &mut Function,
    inst: Inst,
    place: &Place,
    found: Value,
    old: PackedOption<Value>,
    out: &mut BlockInsts,
) -> bool {
    let old = old.expand().filter(|&v| !func.dfg.is_undef(v));
    let same = func.dfg.ty(found) == place.ty;
    let copy = if same {
        InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg: found,
            region: Region::contiguous(place.ty.lanes() as u16, 0),
            index: PackedOption::default(),
        }
    } else {
        let (opcode, arg) = (Opcode::Bitcast, found);
        InstData::Unary { opcode, arg }
    };
    let (Some(mask), Some(old)) = (place.mask, old) else {
        *func.dfg.data_mut(inst) = copy;
        return true;
    };
    // A mask has a lane for each address.
    if place.ty.lanes() != place.lanes {
        return false;
    }
    let new = func.dfg.make_inst(copy, &[place.ty]);
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

/// Takes out stores that nobody can read; gives how many.
pub(crate) fn dead_stores(func: &mut Function, _: &Facts<'_>, state: &mut State) -> u32 {
    let cfg = state.flow.of(func);
    let mut sums = state.sums.of(func);
    let read = scratch_reads(func, &mut sums);
    let mut changed = 0;
    for &block in cfg.order() {
        // Upwards: what is stored again further down, and read by nothing before.
        let mut again: Vec<Place> = Vec::new();
        let mut dead = Vec::new();
        for (at, &inst) in func.layout.insts(block).iter().enumerate().rev() {
            let data = func.dfg.data(inst);
            let Some(place) = Place::of(func, inst, &mut sums) else {
                let effect = Effect::of(data);
                if effect != Effect::None {
                    again.retain(|p| !effect.stops(p.mem));
                }
                continue;
            };
            if !matches!(data, InstData::Store { .. }) || place.mem.volatile {
                again.retain(|p| p.apart(&place));
                continue;
            }
            let unread = |r: &Vec<Place>| r.iter().all(|r| r.apart(&place));
            let scratch = place.mem.space == Space::Scratch && read.as_ref().is_some_and(unread);
            if scratch || again.iter().any(|p| p.covers(&place)) {
                dead.push(at);
                continue;
            }
            if again.len() >= KNOWN {
                again.remove(0);
            }
            again.push(place);
        }
        changed += dead.len() as u32;
        // The last one is the first in the block.
        let mut at = 0;
        func.layout.insts_mut(block).retain(|_| {
            at += 1;
            dead.pop_if(|d| *d + 1 == at).is_none()
        });
    }
    state.sums.keep(func, sums, changed);
    changed
}

impl Place {
    /// Whether every byte of another place is of this one.
    fn covers(&self, other: &Place) -> bool {
        let masks = self.mask.is_none() || self.mask == other.mask;
        let from = self.distance(other);
        let within = from >= 0 && from + i64::from(other.bytes) <= i64::from(self.bytes);
        let lanes = self.lanes == other.lanes;
        masks && lanes && self.beside(other) && within
    }
}

/// Where the kernel reads scratch; nothing where that is not known, of too many places, or a
/// subroutine's.
fn scratch_reads(func: &Function, sums: &mut Sums) -> Option<Vec<Place>> {
    let mut out = Vec::new();
    let kernel = matches!(func.kind, FuncKind::Kernel { .. });
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            match func.dfg.data(inst) {
                InstData::Load { mem, .. } | InstData::Atomic { mem, .. }
                    if mem.space == Space::Scratch =>
                {
                    let place = Place::of(func, inst, sums)?;
                    if !out.contains(&place) {
                        out.push(place);
                    }
                }
                InstData::Call { .. } | InstData::Send { .. } => return None,
                _ => {}
            }
            if out.len() > KNOWN {
                return None;
            }
        }
    }
    kernel.then_some(out)
}

/// A kernel that touches no scratch asks for none.
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
