//! Loop rotation: the condition moves from the start to the end of a loop, which saves a branch per
//! iteration.
//!
//! A condition is a pure block that ends with a branch. It is copied to the end of each block that
//! jumps to it. Its results and parameters become parameters of both targets. The original becomes
//! unreachable.
//!
//! Limits: [`COMPUTES`] instructions, [`JUMPS`] predecessors of a condition, [`LOOPS`] loops of a
//! function.

use crate::ir::{Block, Function, InstData, Value};
use crate::opt::clone_insts::CloneMap;
use crate::opt::egraph::is_node;
use crate::opt::{OptState, PassContext};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Maximal instructions of a condition, constants excluded.
const COMPUTES: usize = 4;
/// Maximal jumps to a condition.
const JUMPS: usize = 2;
/// Maximal loops of a function: each needs a search for the uses of its condition's values.
const LOOPS: usize = 64;

/// Runs the pass. Returns the number of loops that were rotated.
pub(in crate::opt) fn run(func: &mut Function, _: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let loops = super::find(func, &cfg);
    if loops.loops.is_empty() {
        return 0;
    }
    let tree = cfg.dominator_tree();
    let mut done = 0;
    // Blocks whose jump became a condition since the CFG was computed.
    let mut ends: EntitySet<Block> = EntitySet::new();
    for data in loops.loops.values().take(LOOPS) {
        let header = data.header;
        if ends.contains(header) {
            continue;
        }
        let jumps = cfg.preds(header);
        let jump = |&(_, inst): &(Block, _)| matches!(func.dfg.data(inst), InstData::Jump { .. });
        if jumps.len() > JUMPS || !jumps.iter().all(jump) {
            continue;
        }
        let Some((&end, computes)) = func.layout.insts(header).split_last() else {
            continue;
        };
        let InstData::Brif { dests, .. } = *func.dfg.data(end) else {
            continue;
        };
        let only = |b: Block| b != header && cfg.preds(b).len() == 1;
        let counts = computes
            .iter()
            .filter(|&&i| !matches!(func.dfg.data(i), InstData::Imm { .. }));
        if !dests.iter().all(|d| only(d.block))
            || dests[0].block == dests[1].block
            || counts.count() > COMPUTES
            || !computes.iter().all(|&i| is_node(func.dfg.data(i)))
        {
            continue;
        }
        let within = |b: Block, of: Block| tree.dominates(of, b);
        let Some(used) = used(func, header, |b| dests.iter().any(|d| within(b, d.block))) else {
            continue;
        };
        let side = |b: Block| dests.iter().position(|d| within(b, d.block));
        let jumps: Vec<Block> = jumps.iter().map(|&(b, _)| b).collect();
        jumps.iter().for_each(|&b| {
            ends.insert(b);
        });
        rotate(func, header, &jumps, &used, side);
        done += 1;
    }
    if done > 0 {
        state.cfg.invalidate();
        state.cfg.remove_unreachable(func);
    }
    done
}

/// Returns the values of a block that other blocks use, in order. `None` if a block outside of
/// `those` uses one.
fn used(func: &Function, block: Block, those: impl Fn(Block) -> bool) -> Option<Vec<Value>> {
    let mut own: EntitySet<Value> = EntitySet::new();
    let insts = func.layout.insts(block);
    let results = insts.iter().flat_map(|&i| func.dfg.results(i));
    let all: Vec<Value> = func
        .dfg
        .block_params(block)
        .iter()
        .chain(results)
        .copied()
        .collect();
    for &v in &all {
        own.insert(v);
    }
    let mut found: EntitySet<Value> = EntitySet::new();
    for &other in func.layout.blocks().iter().filter(|&&b| b != block) {
        let mut asks = false;
        for &inst in func.layout.insts(other) {
            func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                if own.contains(v) {
                    found.insert(v);
                    asks = true;
                }
            });
        }
        if asks && !those(other) {
            return None;
        }
    }
    Some(all.into_iter().filter(|&v| found.contains(v)).collect())
}

fn rotate(
    func: &mut Function,
    header: Block,
    jumps: &[Block],
    used: &[Value],
    side: impl Fn(Block) -> Option<usize>,
) {
    let head = func.layout.insts(header).to_vec();
    let Some((&end, head)) = head.split_last() else {
        return;
    };
    // Both targets take the condition's values as parameters.
    let dests: Vec<Block> = func.dfg.destinations(end).iter().map(|d| d.block).collect();
    let mut inside: [SecondaryMap<Value, PackedOption<Value>>; 2] = Default::default();
    for (dest, inside) in dests.iter().zip(&mut inside) {
        for &v in used {
            let ty = func.dfg.ty(v);
            inside[v] = func.dfg.append_block_param(*dest, ty).into();
        }
    }
    for block in func.layout.blocks().to_vec() {
        if let Some(n) = side(block).filter(|_| block != header) {
            for inst in func.layout.insts(block).to_vec() {
                func.dfg
                    .map_args(inst, |v| inside[n][v].expand().unwrap_or(v));
            }
        }
    }
    for &from in jumps {
        let mut copied = CloneMap::entering(func, header, from);
        func.layout.insts_mut(from).pop();
        for &inst in head.iter().chain([&end]) {
            copied.inst(func, inst, from);
        }
        if let Some(branch) = func.layout.terminator(from) {
            let args: Vec<Value> = used.iter().map(|&v| copied.value(v)).collect();
            let (dests, pool) = func.dfg.destinations_mut(branch);
            for dest in dests {
                dest.args.extend(args.iter().copied(), pool);
            }
        }
    }
}
