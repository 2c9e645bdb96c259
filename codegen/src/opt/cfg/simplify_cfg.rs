//! CFG simplification: folds branches on constants, removes redundant block parameters, makes
//! selects of two-armed values (`two_armed.rs`), and merges blocks with their only predecessor.
//!
//! Limits: each block and edge is visited once, parameters [`ROUNDS`] times.

use super::cfg_cache::CfgCache;
use super::two_armed;
use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, ControlFlow, Function, InstData, Opcode, Value};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Maximal rounds over parameters: each may expose others.
const ROUNDS: usize = 4;

/// Runs the pass. Returns the number of branches, parameters and blocks that were removed.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cache = &mut state.cfg;
    let mut done = branches(func, cache);
    cache.remove_unreachable(func);
    for _ in 0..ROUNDS {
        let found = parameters(func, &cache.get(func));
        done += found;
        if found == 0 {
            break;
        }
    }
    let selects = two_armed::run(func, ctx, cache);
    cache.remove_unreachable(func);
    done + selects + merge(func, cache)
}

/// Folds branches on constants into jumps. Leaves them if the function would have no return, since
/// callers use its results.
fn branches(func: &mut Function, cache: &mut CfgCache) -> u32 {
    let mut before = Vec::new();
    for block in func.layout.blocks().to_vec() {
        let Some(end) = func.layout.terminator(block) else {
            continue;
        };
        let InstData::Brif { cond, dests, .. } = *func.dfg.data(end) else {
            continue;
        };
        let by = func.dfg.def_inst(cond).map(|i| *func.dfg.data(i));
        if let Some(InstData::Imm { bits, .. }) = by {
            let dest = dests[usize::from(bits & 1 == 0)];
            let opcode = Opcode::Jump;
            let jump = InstData::Jump { opcode, dest };
            before.push((end, std::mem::replace(func.dfg.data_mut(end), jump)));
        }
    }
    if before.is_empty() {
        return 0;
    }
    cache.invalidate();
    let cfg = cache.get(func);
    let returns = |&b: &Block| {
        let end = func.layout.terminator(b);
        end.is_some_and(|i| func.dfg.data(i).opcode() == Opcode::Return)
    };
    if !cfg.order().iter().any(returns) {
        for (end, branch) in before {
            *func.dfg.data_mut(end) = branch;
        }
        cache.invalidate();
        return 0;
    }
    before.len() as u32
}

/// Removes parameters that receive the same value, or themselves, on every edge.
fn parameters(func: &mut Function, cfg: &ControlFlow) -> u32 {
    if func.layout.blocks().len() < 2 {
        return 0;
    }
    let mut same: SecondaryMap<Value, PackedOption<Value>> = sized(func.dfg.num_values());
    let mut done = 0;
    let entry = func.layout.entry();
    for &block in cfg.order().iter().filter(|&&b| Some(b) != entry) {
        let params = func.dfg.block_params(block).to_vec();
        let mut keep = vec![true; params.len()];
        for (n, &p) in params.iter().enumerate() {
            let mut only: Option<Value> = None;
            let mut one = true;
            for &(_, inst) in cfg.preds(block) {
                for dest in func
                    .dfg
                    .destinations(inst)
                    .iter()
                    .filter(|d| d.block == block)
                {
                    let arg = dest.args.as_slice(&func.dfg.pool).get(n).copied();
                    let arg = arg.map(|a| same[a].expand().unwrap_or(a));
                    one &= arg.is_some() && (arg == Some(p) || only.is_none() || arg == only);
                    only = only.or(arg.filter(|&a| a != p));
                }
            }
            if let (true, Some(v)) = (one, only) {
                same[p] = v.into();
                keep[n] = false;
                done += 1;
            }
        }
        if keep.contains(&false) {
            drop_parameters(func, cfg, block, &keep);
        }
    }
    if done > 0 {
        // The replacement may itself be removed later in the order.
        func.rename_by(&mut same);
    }
    done
}

fn drop_parameters(func: &mut Function, cfg: &ControlFlow, block: Block, keep: &[bool]) {
    func.dfg.retain_block_params(block, keep);
    let mut seen = None;
    for &(_, inst) in cfg.preds(block) {
        // A branch with both edges to this block is listed twice.
        if seen.replace(inst) == Some(inst) {
            continue;
        }
        let (dests, pool) = func.dfg.destinations_mut(inst);
        for dest in dests
            .iter_mut()
            .filter(|d: &&mut BlockCall| d.block == block)
        {
            let args = dest.args.as_slice(pool).to_vec();
            let kept = args.into_iter().zip(keep).filter(|(_, k)| **k);
            dest.args = ValueList::from_iter(kept.map(|(v, _)| v), pool);
        }
    }
}

/// Merges a block into its only predecessor, if that ends with a jump.
pub(in crate::opt) fn merge(func: &mut Function, cache: &mut CfgCache) -> u32 {
    let cfg = cache.get(func);
    if cfg.order().len() < 2 {
        return 0;
    }
    let mut gone: SecondaryMap<Block, bool> = sized(func.dfg.num_blocks());
    let mut into: SecondaryMap<Block, PackedOption<Block>> = sized(func.dfg.num_blocks());
    let mut same: SecondaryMap<Value, PackedOption<Value>> = sized(func.dfg.num_values());
    let mut done = 0;
    let entry = func.layout.entry();
    for &block in cfg.order().iter().filter(|&&b| Some(b) != entry) {
        let &[(from, inst)] = cfg.preds(block) else {
            continue;
        };
        let InstData::Jump { dest, .. } = *func.dfg.data(inst) else {
            continue;
        };
        // The predecessor may have been merged already.
        let from = into[from].expand().unwrap_or(from);
        let params = func.dfg.block_params(block).to_vec();
        for (p, &arg) in params.into_iter().zip(dest.args.as_slice(&func.dfg.pool)) {
            same[p] = arg.into();
        }
        func.layout.insts_mut(from).pop();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            func.layout.append_inst(from, inst);
        }
        into[block] = from.into();
        gone[block] = true;
        done += 1;
    }
    if done == 0 {
        return 0;
    }
    func.layout.retain_blocks(|b| !gone[b]);
    cache.invalidate();
    func.rename_by(&mut same);
    done
}
