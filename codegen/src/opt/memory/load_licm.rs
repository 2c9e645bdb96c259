//! Loads that give the same in each iteration of a loop, before the loop.
//!
//! Such a load is in the loop's first block, so that it is executed whenever the loop is entered;
//! its address, its mask and what it has in lanes that are off are from outside of the loop; and
//! nothing in the loop may write there. It goes between the loop and the one block that goes in. In
//! a loop that channels leave one by one the mask may be that of those that are left: then it is
//! loaded for all that come in.
//!
//! Needs: IR that verifies. Makes: the same. Bounds: [`LOOPS`] loops, [`WRITES`] writes of a loop,
//! which each load is compared with, [`HOISTED`] of the register file for each loop.

use super::affine::Sums;
use super::alias_analysis::{Effect, Place};
use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, ControlFlow, Function, Inst, InstData, Opcode, Value, ValueDef};
use crate::opt::loops::{Loop, Loops};
use crate::opt::{Facts, State};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Steps from a mask to the one that it is a part of.
const STEPS: u32 = 8;
/// Loops of a function.
const LOOPS: usize = 64;
/// Places that a loop writes to.
const WRITES: usize = 8;
/// The part of the register file that loads before one loop may take: one of so many.
const HOISTED: u32 = 4;

/// What is in a loop, those in it included.
#[derive(Clone, Default)]
struct Inside {
    writes: Vec<Place>,
    effects: Vec<Effect>,
    /// More than is looked at.
    many: bool,
}

/// The pass. Gives how many loads are before their loops.
pub(crate) fn hoist(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    let cfg = state.flow.of(func);
    let loops = Loops::new(func, &cfg);
    if loops.loops.is_empty() {
        return 0;
    }
    let mut sums = state.sums.of(func);
    let inside = inside(func, &cfg, &loops, &mut sums);
    let mut block_of: SecondaryMap<Inst, u32> = SecondaryMap::new();
    for (n, &block) in (1..).zip(func.layout.blocks()) {
        for &inst in func.layout.insts(block) {
            block_of[inst] = n;
        }
    }
    let blocks = func.layout.blocks().to_vec();
    let mut done = 0;
    // Inner loops first: what goes before one may go before the next.
    for (this, data) in loops.loops.iter().take(LOOPS) {
        let header = data.header;
        let within = |b: Block| {
            let mut at = loops.of(b);
            while let Some(l) = at {
                if l == this {
                    return true;
                }
                at = loops.loops[l].parent.expand();
            }
            false
        };
        let mut enter = cfg.preds(header).iter().filter(|&&(b, _)| !within(b));
        let (Some(&(before, branch)), None) = (enter.next(), enter.next()) else {
            continue;
        };
        let mut moved: EntitySet<Inst> = EntitySet::new();
        let outside = |func: &Function, moved: &EntitySet<Inst>, v: Value| match func.dfg.def(v) {
            ValueDef::Param(block, _) => !within(block),
            ValueDef::Result(inst, _) => {
                let block = block_of[inst].checked_sub(1);
                let block = block.and_then(|n| blocks.get(n as usize));
                moved.contains(inst) || block.is_some_and(|&b| !within(b))
            }
        };
        let mut room = facts.target.grf().size() / HOISTED;
        let mut loads = Vec::new();
        for inst in func.layout.insts(header).to_vec() {
            let InstData::Load { mem, mask, old, .. } = *func.dfg.data(inst) else {
                continue;
            };
            let (Some(place), Some(v)) = (
                Place::of(func, inst, &mut sums),
                func.dfg.first_result(inst),
            ) else {
                continue;
            };
            let bytes = func.dfg.ty(v).bytes();
            // What lanes that are off have must be nobody's, if other lanes are off then.
            let all = match (mask.expand(), old.expand()) {
                (Some(mask), Some(old)) if func.dfg.is_undef(old) => {
                    all_that_enter(func, &cfg, header, branch, mask).map(|all| (all, mask, old))
                }
                _ => None,
            };
            let mut same = !mem.volatile && bytes <= room;
            func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                let given = all.is_some_and(|(_, mask, old)| v == mask || v == old);
                same = same && (given || outside(func, &moved, v));
            });
            if same && inside[this].leaves(&place) {
                if let Some((all, mask, old)) = all {
                    let opcode = Opcode::Undef;
                    let undef = InstData::Nullary { opcode };
                    let undef = func.dfg.make_inst(undef, &[func.dfg.ty(old)]);
                    let nothing = func.dfg.first_result(undef).unwrap_or(old);
                    func.dfg.map_args(inst, |v| match v {
                        _ if v == mask => all,
                        _ if v == old => nothing,
                        _ => v,
                    });
                    loads.push(undef);
                }
                room -= bytes;
                moved.insert(inst);
                loads.push(inst);
                done += 1;
            }
        }
        if !loads.is_empty() {
            place_before(func, header, before, branch, loads);
        }
    }
    if done > 0 {
        state.flow.changed();
    }
    state.sums.keep(func, sums, done);
    done
}

/// The mask of all channels that enter a loop by a branch, where a mask is that of those that are
/// left: a parameter of its first block to which each iteration gives a part of it.
fn all_that_enter(
    func: &Function,
    cfg: &ControlFlow,
    header: Block,
    enter: Inst,
    mask: Value,
) -> Option<Value> {
    let ValueDef::Param(block, n) = func.dfg.def(mask) else {
        return None;
    };
    if block != header {
        return None;
    }
    let mut out = None;
    for &(_, branch) in cfg.preds(header) {
        let dests = func.dfg.destinations(branch).iter();
        for dest in dests.filter(|d| d.block == header) {
            let given = dest.args.get(n as usize, &func.dfg.pool)?;
            if branch == enter {
                if out.is_some_and(|v| v != given) {
                    return None;
                }
                out = Some(given);
            } else if !is_part(func, given, mask, STEPS) {
                return None;
            }
        }
    }
    out
}

/// Whether a mask has no lanes but those of another.
fn is_part(func: &Function, v: Value, of: Value, steps: u32) -> bool {
    if v == of {
        return true;
    }
    let Some(inst) = func.dfg.def_inst(v).filter(|_| steps > 0) else {
        return false;
    };
    let part = |v: Value| is_part(func, v, of, steps - 1);
    match *func.dfg.data(inst) {
        // Those that stay.
        InstData::Ternary {
            opcode: Opcode::Goto,
            args: [em, ..],
        } => func.dfg.first_result(inst) == Some(v) && part(em),
        InstData::Binary {
            opcode: Opcode::Join,
            args: [em, rm],
        } => func.dfg.first_result(inst) == Some(v) && part(em) && part(rm),
        InstData::Binary {
            opcode: Opcode::Band,
            args: [a, b],
        } => part(a) || part(b),
        InstData::Imm {
            opcode: Opcode::Bconst,
            bits,
        } => bits == 0,
        _ => false,
    }
}

impl Inside {
    /// Whether nothing is written to a place.
    fn leaves(&self, place: &Place) -> bool {
        place.mem.constant
            || !self.many
                && self.writes.iter().all(|w| w.apart(place))
                && !self.effects.iter().any(|e| e.stops(place.mem))
    }
}

/// What each loop does to memory.
fn inside(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    sums: &mut Sums,
) -> SecondaryMap<Loop, Inside> {
    let mut out: SecondaryMap<Loop, Inside> = SecondaryMap::new();
    for &block in cfg.order() {
        let Some(l) = loops.of(block) else {
            continue;
        };
        for &inst in func.layout.insts(block) {
            let all = &mut out[l];
            match Place::of(func, inst, sums) {
                Some(place) if place.writes || place.mem.volatile => all.writes.push(place),
                Some(_) => {}
                None => {
                    let effect = Effect::of(func.dfg.data(inst));
                    if effect != Effect::None && !all.effects.contains(&effect) {
                        all.effects.push(effect);
                    }
                }
            }
            if all.writes.len() > WRITES {
                all.many = true;
                all.writes.clear();
            }
        }
    }
    // Inner loops come first.
    for (l, data) in loops.loops.iter() {
        let Some(up) = data.parent.expand() else {
            continue;
        };
        let (writes, effects) = (out[l].writes.clone(), out[l].effects.clone());
        let many = out[l].many;
        let all = &mut out[up];
        all.writes.extend(writes);
        for effect in effects {
            if !all.effects.contains(&effect) {
                all.effects.push(effect);
            }
        }
        if many || all.writes.len() > WRITES {
            all.many = true;
            all.writes.clear();
        }
    }
    out
}

/// Puts instructions of a loop's first block between it and the block before: at the end of that if
/// it goes nowhere else, else into a block of its own.
fn place_before(func: &mut Function, header: Block, before: Block, branch: Inst, insts: Vec<Inst>) {
    let mut all: EntitySet<Inst> = EntitySet::new();
    for &inst in &insts {
        all.insert(inst);
    }
    func.layout.insts_mut(header).retain(|i| !all.contains(*i));
    if let InstData::Jump { .. } = func.dfg.data(branch) {
        let list = func.layout.insts_mut(before);
        let end = list.pop();
        list.extend(insts.into_iter().chain(end));
        return;
    }
    let between = func.dfg.make_block();
    let (dests, _) = func.dfg.destinations_mut(branch);
    let mut args = ValueList::default();
    for dest in dests.iter_mut().filter(|d| d.block == header) {
        dest.block = between;
        args = std::mem::take(&mut dest.args);
    }
    let dest = BlockCall {
        block: header,
        args,
    };
    let opcode = Opcode::Jump;
    let jump = func.dfg.make_inst(InstData::Jump { opcode, dest }, &[]);
    let loc = func.srclocs[branch];
    func.set_srcloc(jump, loc);
    func.layout.insert_before(header, &[between]);
    for inst in insts {
        func.layout.append_inst(between, inst);
    }
    func.layout.append_inst(between, jump);
}
