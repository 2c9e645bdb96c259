//! LICM of loads: invariant loads go before their loop.
//!
//! Such a load is in the loop's header, so that it runs whenever the loop is entered. Its address,
//! mask and inactive value are defined outside of the loop. Nothing in the loop may write its
//! bytes. It goes onto the edge from the only block that enters the loop. In a loop that channels
//! leave one by one, its mask may be that of the remaining channels. The load then runs for all
//! channels that enter.
//!
//! Input and output: verified IR. Limits: [`LOOPS`] loops; [`WRITES`] writes of a loop, which each
//! load is compared with; one [`FILE_SHARE`]th of the GRF file for each loop.

use super::affine::AffineForms;
use super::alias_analysis::{Effect, MemoryAccess};
use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, ControlFlow, Function, Inst, InstData, Opcode, Value, ValueDef};
use crate::opt::loops::{self, Loop, Loops};
use crate::opt::{OptState, PassContext};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Maximal steps from a mask to one that it is part of.
const STEPS: u32 = 8;
/// Maximal loops of a function.
const LOOPS: usize = 64;
/// Maximal writes of a loop.
const WRITES: usize = 8;
/// Divisor of the GRF file size that limits the bytes loaded before one loop.
const FILE_SHARE: u32 = 4;

/// Memory effects of a loop, inner loops included.
#[derive(Clone, Default)]
struct LoopEffects {
    writes: Vec<MemoryAccess>,
    effects: Vec<Effect>,
    /// Set if there are more writes than are tracked.
    many: bool,
}

/// Runs the pass. Returns the number of loads that were moved.
pub(crate) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let loops = loops::find(func, &cfg);
    if loops.loops.is_empty() {
        return 0;
    }
    let mut forms = state.affine.get(func);
    let effects = collect_effects(func, &cfg, &loops, &mut forms);
    let mut block_of: SecondaryMap<Inst, u32> = SecondaryMap::new();
    for (n, &block) in (1..).zip(func.layout.blocks()) {
        for &inst in func.layout.insts(block) {
            block_of[inst] = n;
        }
    }
    let blocks = func.layout.blocks().to_vec();
    let mut done = 0;
    // Inner loops first: a load may move out of several.
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
        let mut room = ctx.target.grf().size() / FILE_SHARE;
        let mut loads = Vec::new();
        for inst in func.layout.insts(header).to_vec() {
            let InstData::Load { mem, mask, old, .. } = *func.dfg.data(inst) else {
                continue;
            };
            let (Some(access), Some(v)) = (
                MemoryAccess::of(func, inst, &mut forms),
                func.dfg.first_result(inst),
            ) else {
                continue;
            };
            let bytes = func.dfg.ty(v).bytes();
            // The mask may change only if values of inactive lanes are undefined.
            let all = match (mask.expand(), old.expand()) {
                (Some(mask), Some(old)) if func.dfg.is_undef(old) => {
                    entry_mask(func, &cfg, header, branch, mask).map(|all| (all, mask, old))
                }
                _ => None,
            };
            let mut same = !mem.volatile && bytes <= room;
            func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                let given = all.is_some_and(|(_, mask, old)| v == mask || v == old);
                same = same && (given || outside(func, &moved, v));
            });
            if same && effects[this].preserves(&access) {
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
            insert_before_loop(func, header, before, branch, loads);
        }
    }
    if done > 0 {
        state.cfg.invalidate();
    }
    state.affine.keep(func, forms, done);
    done
}

/// Returns the mask of all channels that enter a loop. `mask` must be the mask of remaining
/// channels: a header parameter that each iteration reduces.
fn entry_mask(
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

/// Returns true if a mask's lanes are a subset of another's.
fn is_part(func: &Function, v: Value, of: Value, steps: u32) -> bool {
    if v == of {
        return true;
    }
    let Some(inst) = func.dfg.def_inst(v).filter(|_| steps > 0) else {
        return false;
    };
    let part = |v: Value| is_part(func, v, of, steps - 1);
    match *func.dfg.data(inst) {
        // Channels that stay.
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

impl LoopEffects {
    /// Returns true if the loop never writes the bytes of an access.
    fn preserves(&self, access: &MemoryAccess) -> bool {
        access.mem.constant
            || !self.many
                && self.writes.iter().all(|w| w.disjoint(access))
                && !self.effects.iter().any(|e| e.stops(access.mem))
    }
}

/// Collects the memory effects of each loop.
fn collect_effects(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    forms: &mut AffineForms,
) -> SecondaryMap<Loop, LoopEffects> {
    let mut out: SecondaryMap<Loop, LoopEffects> = SecondaryMap::new();
    for &block in cfg.order() {
        let Some(l) = loops.of(block) else {
            continue;
        };
        for &inst in func.layout.insts(block) {
            let all = &mut out[l];
            match MemoryAccess::of(func, inst, forms) {
                Some(access) if access.writes || access.mem.volatile => all.writes.push(access),
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

/// Moves instructions from a header to the edge from the block before. They go to that block's end
/// if it has no other successor, otherwise into a new block.
fn insert_before_loop(
    func: &mut Function,
    header: Block,
    before: Block,
    branch: Inst,
    insts: Vec<Inst>,
) {
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
