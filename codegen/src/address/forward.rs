//! Memory that is known: loads of what was loaded or stored before, stores that nobody can read.
//!
//! A load of the place of an earlier load or store, with nothing between that may write there, is that one's value. (Of a store by lanes only where no two lanes have one
//! byte: who of two writes last is not said.) A store whose bytes are all stored again, with nothing between that may read them, goes; so do all
//! stores to scratch where nothing is loaded from it.
//!
//! What is known at a block's end is known in those that are gone to from there alone. Barriers and fences end what is known of the memories that they
//! are of; atomics and other effects what they may change.
//!
//! Needs: IR that verifies. Makes: the same. Work: each access is compared with [`KNOWN`] others at most: linear.

use super::places::{Effect, Place};
use super::sums::Sums;
use crate::ir::{
    Block, BlockInsts, ControlFlow, FuncKind, Function, Inst, InstData, Opcode, Region, Space,
    Value,
};
use crate::opt::{Counts, Facts};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Places that are remembered.
const KNOWN: usize = 16;

/// A place, and what is there.
#[derive(Clone, Debug)]
struct Known {
    place: Place,
    value: Value,
}

/// Forwards what is known to loads; gives how many there are fewer.
pub(crate) fn forward(func: &mut Function, _: &Facts<'_>, _: &mut Counts) -> u32 {
    let cfg = ControlFlow::new(func);
    let mut sums = Sums::default();
    let mut ends: SecondaryMap<Block, Vec<Known>> = SecondaryMap::new();
    let mut changed = 0;
    for &block in cfg.order() {
        let mut known = match cfg.preds(block) {
            &[(before, _)] => ends[before].clone(),
            _ => Vec::new(),
        };
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            changed += u32::from(step(func, inst, &mut sums, &mut known, &mut out));
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
        ends[block] = known;
    }
    changed
}

/// The next instruction; gives whether it was a load that is none any more.
fn step(
    func: &mut Function,
    inst: Inst,
    sums: &mut Sums,
    known: &mut Vec<Known>,
    out: &mut BlockInsts,
) -> bool {
    let data = *func.dfg.data(inst);
    let Some(place) = Place::of(func, inst, sums) else {
        let effect = Effect::of(&data);
        known.retain(|k| k.place.mem.constant || !effect.stops(k.place.mem));
        return false;
    };
    if place.mem.volatile {
        known.retain(|k| !place.writes || k.place.apart(&place, func));
        return false;
    }
    let value = match data {
        InstData::Load { old, .. } => {
            let found = known.iter().rev().find(|k| k.gives(&place)).cloned();
            if let Some(found) = found
                && replace(func, inst, &place, &found, old, out)
            {
                return true;
            }
            func.dfg.first_result(inst)
        }
        InstData::Store { args, .. } => {
            known.retain(|k| k.place.apart(&place, func));
            place.lanes_apart(func).then_some(args[0])
        }
        _ => {
            known.retain(|k| k.place.apart(&place, func));
            None
        }
    };
    if let Some(value) = value {
        if known.len() >= KNOWN {
            known.remove(0);
        }
        known.push(Known { place, value });
    }
    false
}

impl Known {
    /// Whether this is what a load gives in the lanes that take part in it.
    fn gives(&self, load: &Place) -> bool {
        let have = &self.place;
        let alike = have.ty.lanes() == load.ty.lanes()
            && have.ty.bytes() == load.ty.bytes()
            && have.lanes == load.lanes;
        let masks = have.mask.is_none() || have.mask == load.mask;
        alike && masks && have.beside(load) && have.distance(load) == 0
    }
}

/// Makes a load of what is known, if lanes that are off can be what they were to be.
fn replace(
    func: &mut Function,
    inst: Inst,
    place: &Place,
    found: &Known,
    old: PackedOption<Value>,
    out: &mut BlockInsts,
) -> bool {
    let old = old.expand().filter(|&v| !is_undef(func, v));
    let same = func.dfg.ty(found.value) == place.ty;
    let copy = match same {
        true => InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg: found.value,
            region: Region::contiguous(place.ty.lanes() as u16, 0),
            index: PackedOption::default(),
        },
        false => {
            let (opcode, arg) = (Opcode::Bitcast, found.value);
            InstData::Unary { opcode, arg }
        }
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

fn is_undef(func: &Function, v: Value) -> bool {
    let def = func.dfg.def_inst(v);
    def.is_some_and(|i| func.dfg.data(i).opcode() == Opcode::Undef)
}

/// Takes out stores that nobody can read; gives how many.
pub(crate) fn dead_stores(func: &mut Function, _: &Facts<'_>, _: &mut Counts) -> u32 {
    let cfg = ControlFlow::new(func);
    let unread = !reads_scratch(func);
    let mut sums = Sums::default();
    let mut changed = 0;
    for &block in cfg.order() {
        // Upwards: what is stored again further down, and read by nothing before.
        let mut again: Vec<Place> = Vec::new();
        let mut dead = Vec::new();
        for (at, &inst) in func.layout.insts(block).iter().enumerate().rev() {
            let data = func.dfg.data(inst);
            let Some(place) = Place::of(func, inst, &mut sums) else {
                let effect = Effect::of(data);
                again.retain(|p| !effect.stops(p.mem));
                continue;
            };
            if !matches!(data, InstData::Store { .. }) || place.mem.volatile {
                again.retain(|p| p.apart(&place, func));
                continue;
            }
            let scratch = unread && place.mem.space == Space::Scratch;
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

/// Whether anything may be read of the kernel's scratch; nothing is said of subroutines.
fn reads_scratch(func: &Function) -> bool {
    let mut insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    let kernel = matches!(func.kind, FuncKind::Kernel { .. });
    !kernel
        || insts.any(|&i| match func.dfg.data(i) {
            InstData::Load { mem, .. } => mem.space == Space::Scratch,
            InstData::Call { .. } | InstData::Send { .. } => true,
            _ => false,
        })
}
