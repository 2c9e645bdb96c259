//! Short branches of lanes without branches: what few instructions store or load for some lanes is
//! done under those lanes' flag.
//!
//! A `goto` over one block, whose lanes come back at the `join` behind it, costs an instruction
//! where lanes leave and one where they come back. A block of less than that, or little more, is
//! done by all, its accesses under the mask that it had: that of the lanes that run, and the
//! condition, which accesses of memory have as their predicate; so are values written that the
//! other lanes have already.
//!
//! It is the last pass: what a block's instructions come to is known then.
//!
//! Bounds: [`BODY`] instructions of such a block, and a message; the function is looked at once.

use super::simplify_cfg;
use crate::ir::{Block, ControlFlow, Function, Inst, InstData, Opcode, Value};
use crate::opt::egraph::{instructions, is_node};
use crate::opt::{Facts, State};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

/// The most instructions that threads may do of which no lane does any, and as many more as
/// messages for all lanes: `if` and `endif` are two.
const BODY: u32 = 2;
/// The most instructions of such a block in the IR, of which constants and what is part of others
/// come to nothing.
const LENGTH: usize = 32;
/// Channels of a message.
const CHANNELS: u32 = 16;

/// A `goto` over a block.
struct Branch {
    /// Where lanes leave, the block that they leave out, and where they come back.
    from: Block,
    over: Block,
    behind: Block,
    goto: Inst,
    /// Where their mask is asked for then.
    join: Option<Inst>,
    /// The lanes that stay, if a value says that.
    stay: Option<Value>,
}

/// The pass. Gives how many branches went.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    let cfg = state.flow.of(func);
    let of = |&b: &Block| branch(func, &cfg, facts, b);
    let mut all: Vec<Branch> = cfg.order().iter().filter_map(of).collect();
    if all.is_empty() {
        return 0;
    }
    let uses = uses(func);
    all.retain(|b| is_alone(func, b, &uses));
    if all.is_empty() {
        return 0;
    }
    let mut same: SecondaryMap<Value, PackedOption<Value>> = sized(func.dfg.num_values());
    for b in &all {
        flatten(func, b, &mut same);
    }
    func.rename_by(&mut same);
    state.flow.changed();
    simplify_cfg::merge(func, &mut state.flow);
    all.len() as u32
}

/// The branch at the end of a block, if what it leaves out is short.
fn branch(func: &Function, cfg: &ControlFlow, facts: &Facts<'_>, from: Block) -> Option<Branch> {
    let dfg = &func.dfg;
    let InstData::Brif { cond, dests, .. } = *dfg.data(func.layout.terminator(from)?) else {
        return None;
    };
    let goto = dfg.def_inst(cond)?;
    let InstData::Ternary {
        opcode: Opcode::Goto,
        args: [_, waiting, leaves],
    } = *dfg.data(goto)
    else {
        return None;
    };
    let &[running, left, none] = dfg.results(goto) else {
        return None;
    };
    let (behind, over) = (dests[0].block, dests[1].block);
    let nobody = dfg.def_inst(waiting).map(|i| dfg.data(i));
    let InstData::Jump { dest, .. } = *dfg.data(func.layout.terminator(over)?) else {
        return None;
    };
    let is_over = cond == none
        && matches!(nobody, Some(InstData::Imm { bits: 0, .. }))
        && func.layout.insts(from).contains(&goto)
        && dest.block == behind
        && over != behind
        && cfg.preds(over).len() == 1
        && cfg.preds(behind).len() == 2
        // Who comes without the block brings what that gives where no lane takes part.
        && dest.args.len(&dfg.pool) == dests[0].args.len(&dfg.pool)
        && dest.args.as_slice(&dfg.pool).iter().zip(dests[0].args.as_slice(&dfg.pool))
            .all(|(&v, &without)| v == without || idle(func, v, running) == Some(without));
    let (_, body) = func.layout.insts(over).split_last()?;
    if !is_over || body.len() > LENGTH {
        return None;
    }
    let mut all = 0;
    for &inst in body {
        all += match dfg.data(inst) {
            InstData::Load {
                opcode: Opcode::Load,
                addr,
                mem,
                mask,
                ..
            } if mask.expand() == Some(running) && !mem.volatile => messages(func, *addr),
            InstData::Store {
                opcode: Opcode::Store,
                args: [_, addr],
                mem,
                mask,
                ..
            } if mask.expand() == Some(running) && !mem.volatile => messages(func, *addr),
            // What it chooses is written over the other, where that is made in the block.
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [mask, new, _],
            } if *mask == running && is_made(func, body, *new) => 0,
            data if is_node(data) => {
                let ty = dfg.ty(dfg.first_result(inst)?);
                instructions(dfg, ty, data, facts.target)
            }
            _ => return None,
        };
    }
    let joins = |i: &&Inst| {
        let by = [running, left];
        matches!(dfg.data(**i), InstData::Binary { opcode: Opcode::Join, args } if *args == by)
    };
    let join = func.layout.insts(behind).iter().find(joins).copied();
    let stay = match dfg.def_inst(leaves).map(|i| dfg.data(i)) {
        Some(InstData::Unary {
            opcode: Opcode::Bnot,
            arg,
        }) => Some(*arg),
        // The opposite compare, in its place.
        Some(InstData::IntCompare { .. }) => None,
        _ => {
            all += 1;
            None
        }
    };
    let most = BODY + dfg.ty(running).lanes().div_ceil(CHANNELS);
    (all <= most).then_some(Branch {
        from,
        over,
        behind,
        goto,
        join,
        stay,
    })
}

/// What a value is where none of its mask's lanes is set.
fn idle(func: &Function, v: Value, by: Value) -> Option<Value> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, _, old],
        } if mask == by => Some(old),
        InstData::Load { mask, old, .. } if mask.expand() == Some(by) => old.expand(),
        _ => None,
    }
}

/// Whether an operation of a block makes a value.
fn is_made(func: &Function, body: &[Inst], v: Value) -> bool {
    let inst = func.dfg.def_inst(v);
    inst.is_some_and(|i| is_node(func.dfg.data(i)) && body.contains(&i))
}

/// Messages of an access by lanes.
fn messages(func: &Function, addr: Value) -> u32 {
    func.dfg.ty(addr).lanes().div_ceil(CHANNELS)
}

/// How often each value is used.
fn uses(func: &Function) -> SecondaryMap<Value, u32> {
    let mut out: SecondaryMap<Value, u32> = sized(func.dfg.num_values());
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = func.dfg.data(inst);
            data.for_each_arg(&func.dfg, |v| out[v] += 1);
        }
    }
    out
}

/// Whether nobody else asks for the masks that a branch makes.
fn is_alone(func: &Function, b: &Branch, uses: &SecondaryMap<Value, u32>) -> bool {
    let &[running, left, none] = func.dfg.results(b.goto) else {
        return false;
    };
    let still_none = b.join.and_then(|j| func.dfg.results(j).get(1));
    let body = func.layout.insts(b.over).iter();
    let masks = |i: &&Inst| match func.dfg.data(**i) {
        InstData::Load { mask, .. } | InstData::Store { mask, .. } => {
            mask.expand() == Some(running)
        }
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, new, old],
        } => *mask == running && *new != running && *old != running,
        _ => false,
    };
    // Those accesses and choices, and the `join`.
    let accesses = body.filter(masks).count() as u32;
    let joins = u32::from(b.join.is_some());
    uses[running] == accesses + joins
        && uses[left] == joins
        && uses[none] == 1
        && still_none.is_none_or(|&v| uses[v] == 0)
}

fn flatten(func: &mut Function, b: &Branch, same: &mut SecondaryMap<Value, PackedOption<Value>>) {
    let InstData::Ternary {
        args: [active, _, leaves],
        ..
    } = *func.dfg.data(b.goto)
    else {
        return;
    };
    let &[running, ..] = func.dfg.results(b.goto) else {
        return;
    };
    let ty = func.dfg.ty(running);
    let put = |func: &mut Function, data: InstData| func.make_like(b.goto, data, ty);
    let mut new: SmallVec<[Inst; 2]> = SmallVec::new();
    let stay = b.stay.unwrap_or_else(|| {
        let compare = func.dfg.def_inst(leaves).map(|i| *func.dfg.data(i));
        let opposite = match compare {
            Some(InstData::IntCompare { opcode, cond, args }) => InstData::IntCompare {
                opcode,
                cond: cond.inverse(),
                args,
            },
            _ => InstData::Unary {
                opcode: Opcode::Bnot,
                arg: leaves,
            },
        };
        let (inst, v) = put(func, opposite);
        new.push(inst);
        v
    });
    let both = InstData::Binary {
        opcode: Opcode::Band,
        args: [active, stay],
    };
    let (inst, mask) = put(func, both);
    new.push(inst);
    same[running] = mask.into();
    let insts = func.layout.insts_mut(b.from);
    if let Some(at) = insts.iter().position(|&i| i == b.goto) {
        insts.remove(at);
        insts.insert_many(at, new);
    }
    if let Some(join) = b.join {
        if let Some(&back) = func.dfg.results(join).first() {
            same[back] = active.into();
        }
        func.layout.insts_mut(b.behind).retain(|i| *i != join);
    }
    // All go the way of those that did not leave.
    if let Some(end) = func.layout.terminator(b.from)
        && let InstData::Brif { dests, .. } = *func.dfg.data(end)
    {
        let (opcode, dest) = (Opcode::Jump, dests[1]);
        *func.dfg.data_mut(end) = InstData::Jump { opcode, dest };
    }
}
