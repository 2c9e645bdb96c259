//! Two-armed values: a uniform branch whose arms only compute values becomes selects.
//!
//! Both edges of the branch reach one block, directly or through an arm: a block without parameters
//! and with no other predecessor, which computes little and jumps there. The operations of the arms
//! move before the branch. A parameter that differs becomes a `select`. If none differs, the branch
//! was for nothing. So is a branch on `any` of a predicate to an arm that changes values only under
//! this predicate: without it the arm gives what the other edge does. A branch on what a `goto` or
//! a `join` leaves stays: it is a jump of the mask stack.
//!
//! Limits: [`VALUES`] selects, and [`COMPUTES`] instructions of selects and arms. Linear time.

use super::cfg_cache::CfgCache;
use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, ControlFlow, Function, Inst, InstData, Opcode, Value};
use crate::opt::PassContext;
use crate::opt::egraph::{instructions, is_node};
use smallvec::SmallVec;

/// Maximal values that differ. Each has one lane: a wider select needs a wider mask.
const VALUES: usize = 2;
/// Maximal instructions that replace a branch.
const COMPUTES: u32 = 4;

/// Way from a branch to the block where both ways meet.
struct Arm {
    /// Block on the way, if any.
    through: Option<Block>,
    to: Block,
    args: SmallVec<[Value; 4]>,
    /// Number of instructions on the way.
    computes: u32,
}

/// Replaces branches by selects. Returns the number of branches that were replaced.
pub(super) fn run(func: &mut Function, ctx: &PassContext<'_>, cache: &mut CfgCache) -> u32 {
    if func.layout.blocks().len() < 2 {
        return 0;
    }
    let cfg = cache.get(func);
    let mut done = 0;
    // An arm may itself have had arms.
    for &block in cfg.order().iter().rev() {
        let Some(end) = func.layout.terminator(block) else {
            continue;
        };
        let InstData::Brif { cond, dests, .. } = *func.dfg.data(end) else {
            continue;
        };
        if is_of_mask_stack(func, cond) {
            continue;
        }
        let [a, b] = dests.map(|dest| arm(func, &cfg, ctx, &dest));
        let differ = a.args.iter().zip(&b.args).filter(|(x, y)| x != y);
        let narrow = |&(x, _): &(&Value, &Value)| func.dfg.ty(*x).lanes() == 1;
        let (all, few) = (differ.clone().count(), differ.filter(narrow).count());
        let under = predicate_of(func, cond);
        let mut pairs = a.args.iter().zip(&b.args);
        if a.to == b.to
            && b.through.is_none()
            && a.computes <= COMPUTES
            && under.is_some_and(|p| pairs.all(|(&x, &y)| is_without(func, x, y, p)))
        {
            let same = a.args.clone();
            replace(func, block, end, cond, [a, Arm { args: same, ..b }]);
            done += 1;
            continue;
        }
        let computes = a.computes + b.computes + few as u32;
        if a.to == b.to && all == few && few <= VALUES && computes <= COMPUTES {
            replace(func, block, end, cond, [a, b]);
            done += 1;
        }
    }
    if done > 0 {
        cache.invalidate();
    }
    done
}

/// Returns the predicate that a condition is true for if any lane is set.
fn predicate_of(func: &Function, cond: Value) -> Option<Value> {
    match *func.dfg.data(func.dfg.def_inst(cond)?) {
        InstData::Unary {
            opcode: Opcode::Any,
            arg,
        } => Some(arg),
        _ => None,
    }
}

/// Returns true for a condition that a `goto` or a `join` gives.
fn is_of_mask_stack(func: &Function, cond: Value) -> bool {
    let def = func.dfg.def_inst(cond);
    def.is_some_and(|i| matches!(func.dfg.data(i).opcode(), Opcode::Goto | Opcode::Join))
}

/// Returns true if a value is another one where no lane of a predicate is set.
fn is_without(func: &Function, mut v: Value, other: Value, under: Value) -> bool {
    for _ in 0..=COMPUTES {
        if v == other {
            return true;
        }
        let Some(inst) = func.dfg.def_inst(v) else {
            return false;
        };
        v = match *func.dfg.data(inst) {
            InstData::WrRegion {
                args: [old, _],
                mask,
                ..
            } if mask.expand() == Some(under) => old,
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [mask, _, old],
            } if mask == under => old,
            _ => return false,
        };
    }
    false
}

/// Returns the way along an edge of a branch.
fn arm(func: &Function, cfg: &ControlFlow, ctx: &PassContext<'_>, dest: &BlockCall) -> Arm {
    let dfg = &func.dfg;
    through(func, cfg, ctx, dest.block).unwrap_or_else(|| Arm {
        through: None,
        to: dest.block,
        args: dest.args.as_slice(&dfg.pool).into(),
        computes: 0,
    })
}

/// Returns the way through a block, if it is an arm.
fn through(func: &Function, cfg: &ControlFlow, ctx: &PassContext<'_>, block: Block) -> Option<Arm> {
    let dfg = &func.dfg;
    if cfg.preds(block).len() != 1 || !dfg.block_params(block).is_empty() {
        return None;
    }
    let (end, body) = func.layout.insts(block).split_last()?;
    let InstData::Jump { dest, .. } = dfg.data(*end) else {
        return None;
    };
    let mut computes = 0;
    for &inst in body {
        let data = dfg.data(inst);
        if !is_node(data) {
            return None;
        }
        let ty = dfg.ty(dfg.first_result(inst)?);
        computes += instructions(dfg, ty, data, ctx.target);
        if computes > COMPUTES {
            return None;
        }
    }
    Some(Arm {
        through: Some(block),
        to: dest.block,
        args: dest.args.as_slice(&dfg.pool).into(),
        computes,
    })
}

/// Replaces a branch by the operations of its arms, selects and a jump.
fn replace(func: &mut Function, block: Block, end: Inst, cond: Value, arms: [Arm; 2]) {
    let loc = func.srclocs[end];
    func.layout.insts_mut(block).pop();
    for from in arms.iter().filter_map(|a| a.through) {
        let insts = func.layout.insts_mut(from);
        let body = insts.len().saturating_sub(1);
        let body: Vec<Inst> = insts.drain(..body).collect();
        for inst in body {
            func.layout.append_inst(block, inst);
        }
    }
    let mut args: SmallVec<[Value; 4]> = SmallVec::new();
    for (&a, &b) in arms[0].args.iter().zip(&arms[1].args) {
        if a == b {
            args.push(a);
            continue;
        }
        let ty = func.dfg.ty(a);
        let (opcode, args_of) = (Opcode::Select, [cond, a, b]);
        let data = InstData::Ternary {
            opcode,
            args: args_of,
        };
        let inst = func.dfg.make_inst(data, &[ty]);
        func.set_srcloc(inst, loc);
        func.layout.append_inst(block, inst);
        args.extend(func.dfg.first_result(inst));
    }
    let dest = BlockCall {
        block: arms[0].to,
        args: ValueList::from_iter(args, &mut func.dfg.pool),
    };
    let opcode = Opcode::Jump;
    *func.dfg.data_mut(end) = InstData::Jump { opcode, dest };
    func.layout.append_inst(block, end);
}
