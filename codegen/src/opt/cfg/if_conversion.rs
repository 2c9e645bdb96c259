//! If-conversion: short blocks under SIMD branches run in all threads, under predicates.
//!
//! A `goto` over one block with a `join` right after it costs two instructions. A block of about
//! that size is run unconditionally. Its memory accesses keep their mask, which is now the active
//! lanes and the condition; the hardware takes it as a predicate. So do writes of values that the
//! other lanes already have.
//!
//! This is the last pass, since the number of instructions of a block is known then.
//!
//! Limits: [`BODY`] instructions of a block and a message. The function is visited once.

use super::simplify_cfg;
use crate::ir::{Block, ControlFlow, Function, Inst, InstData, Opcode, Value};
use crate::opt::egraph::{instructions, is_node};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

/// Maximal instructions that may run for no lane; messages for all lanes may add as many. The
/// branch costs two: `if` and `endif`.
const BODY: u32 = 2;
/// Maximal IR instructions of such a block. Constants and instructions that become part of others
/// cost nothing.
const LENGTH: usize = 32;
/// Channels of a message.
const CHANNELS: u32 = 16;

/// `goto` over a block.
struct ShortBranch {
    /// Blocks of the branch, of the skipped code, and of the join.
    from: Block,
    over: Block,
    behind: Block,
    goto: Inst,
    /// `join` of the branch, if its mask is used.
    join: Option<Inst>,
    /// Mask of the lanes that stay, if it is a value.
    stay: Option<Value>,
}

/// Runs the pass. Returns the number of branches that were removed.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let of = |&b: &Block| branch(func, &cfg, ctx, b);
    let mut all: Vec<ShortBranch> = cfg.order().iter().filter_map(of).collect();
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
        convert(func, b, &mut same);
    }
    func.rename_by(&mut same);
    state.cfg.invalidate();
    simplify_cfg::merge(func, &mut state.cfg);
    all.len() as u32
}

/// Returns the branch at the end of a block, if the block that it skips is short.
fn branch(
    func: &Function,
    cfg: &ControlFlow,
    ctx: &PassContext<'_>,
    from: Block,
) -> Option<ShortBranch> {
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
        // On the skipping edge, arguments must be the values that the block gives if no lane is
        // active.
        && dest.args.len(&dfg.pool) == dests[0].args.len(&dfg.pool)
        && dest.args.as_slice(&dfg.pool).iter().zip(dests[0].args.as_slice(&dfg.pool))
            .all(|(&v, &without)| v == without || value_if_inactive(func, v, running) == Some(without));
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
            // The new value is written over the old one, if the block computes it.
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [mask, new, _],
            } if *mask == running && is_defined_in(func, body, *new) => 0,
            data if is_node(data) => {
                let ty = dfg.ty(dfg.first_result(inst)?);
                instructions(dfg, ty, data, ctx.target)
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
        // The inverse compare replaces this one.
        Some(InstData::IntCompare { .. }) => None,
        _ => {
            all += 1;
            None
        }
    };
    let most = BODY + dfg.ty(running).lanes().div_ceil(CHANNELS);
    (all <= most).then_some(ShortBranch {
        from,
        over,
        behind,
        goto,
        join,
        stay,
    })
}

/// Returns the result of a masked operation if no lane of its mask is set.
fn value_if_inactive(func: &Function, v: Value, by: Value) -> Option<Value> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, _, old],
        } if mask == by => Some(old),
        InstData::Load { mask, old, .. } if mask.expand() == Some(by) => old.expand(),
        _ => None,
    }
}

/// Returns true if a pure operation of a block defines a value.
fn is_defined_in(func: &Function, body: &[Inst], v: Value) -> bool {
    let inst = func.dfg.def_inst(v);
    inst.is_some_and(|i| is_node(func.dfg.data(i)) && body.contains(&i))
}

/// Returns the number of messages of a lane-wise access.
fn messages(func: &Function, addr: Value) -> u32 {
    func.dfg.ty(addr).lanes().div_ceil(CHANNELS)
}

/// Returns the number of uses of each value.
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

/// Returns true if nothing else uses the masks of a branch.
fn is_alone(func: &Function, b: &ShortBranch, uses: &SecondaryMap<Value, u32>) -> bool {
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
    // Masked accesses, selects and the `join`.
    let accesses = body.filter(masks).count() as u32;
    let joins = u32::from(b.join.is_some());
    uses[running] == accesses + joins
        && uses[left] == joins
        && uses[none] == 1
        && still_none.is_none_or(|&v| uses[v] == 0)
}

fn convert(
    func: &mut Function,
    b: &ShortBranch,
    same: &mut SecondaryMap<Value, PackedOption<Value>>,
) {
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
    // All threads take the path of the lanes that did not leave.
    if let Some(end) = func.layout.terminator(b.from)
        && let InstData::Brif { dests, .. } = *func.dfg.data(end)
    {
        let (opcode, dest) = (Opcode::Jump, dests[1]);
        *func.dfg.data_mut(end) = InstData::Jump { opcode, dest };
    }
}
