//! Jump threading: a predecessor that decides a block's branch goes directly to the target.
//!
//! The block is pure up to its branch. Predecessors bypass it if they pass constants that decide
//! the branch, or if they branch on the same condition. They get copies of its computations. If its
//! values are used later, both of its targets take these as parameters.
//!
//! Limits: [`COMPUTES`] instructions of a block, and [`ROUNDS`] rounds, each linear in instructions
//! and edges.

use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, BlockCall, ControlFlow, Function, Inst, InstData, Value};
use crate::opt::clone_insts::{CloneMap, branch};
use crate::opt::egraph::is_node;
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_isa_gen::sem::FpMode;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximal instructions of a block that are copied, constants excluded.
const COMPUTES: usize = 4;
/// Maximal rounds: an edge that bypasses one branch may reach another.
const ROUNDS: usize = 4;

/// Edge that bypasses a block.
#[derive(Clone, Copy)]
struct ThreadedEdge {
    from: Block,
    /// Branch that ends `from`, and the index of the destination.
    inst: Inst,
    dest: usize,
    /// Index of the block's successor that the edge leads to.
    succ: usize,
}

/// Block that some edges bypass.
struct ThreadedBlock {
    block: Block,
    /// Immediate dominator, which receives the block's constants.
    above: Block,
    edges: Vec<ThreadedEdge>,
    /// Values of the block that other blocks use, and these blocks.
    used: Vec<Value>,
    users: Vec<Block>,
}

/// Runs the pass. Returns the number of edges that were threaded.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let mut all = 0;
    for _ in 0..ROUNDS {
        let cfg = state.cfg.get(func);
        let found = found(func, &cfg, &ctx.float.mode());
        let mut done = 0;
        // Blocks that changed since the CFG was computed.
        let mut touched: EntitySet<Block> = EntitySet::new();
        let mut made = Vec::new();
        for threaded in &found {
            done += apply(func, threaded, &mut touched, &mut made);
        }
        func.layout.insert_each_before(made);
        if done == 0 {
            break;
        }
        all += done;
        state.cfg.invalidate();
        state.cfg.remove_unreachable(func);
    }
    all
}

/// Returns the blocks that some edges can bypass.
fn found(func: &Function, cfg: &ControlFlow, mode: &FpMode) -> Vec<ThreadedBlock> {
    let mut out = Vec::new();
    let entry = func.layout.entry();
    let may = |&b: &Block| Some(b) != entry && branches(func, b);
    let candidates: Vec<Block> = cfg.order().iter().copied().filter(may).collect();
    if candidates.is_empty() {
        return out;
    }
    for block in candidates {
        let preds = cfg.preds(block);
        let Some(above) = cfg.idom(block) else {
            continue;
        };
        let mut edges = Vec::new();
        let mut succs = [false; 2];
        let mut last = None;
        for &(from, inst) in preds {
            // A branch with both edges to this block is listed twice.
            if last.replace(inst) == Some(inst) {
                continue;
            }
            let dests = func.dfg.destinations(inst).iter().enumerate();
            for (dest, call) in dests.filter(|(_, d)| d.block == block) {
                match succ(func, block, (inst, dest), call, mode) {
                    Some(succ) => {
                        succs[succ] = true;
                        edges.push(ThreadedEdge {
                            from,
                            inst,
                            dest,
                            succ,
                        });
                    }
                    // The edge stays, so both successors are reached.
                    None => succs = [true; 2],
                }
            }
        }
        // If all edges lead to one successor, the branch is on an invariant. The other successor
        // may hold the function's only return.
        if !edges.is_empty() && succs == [true; 2] {
            out.push(ThreadedBlock {
                block,
                above,
                edges,
                used: Vec::new(),
                users: Vec::new(),
            });
        }
    }
    if out.is_empty() {
        return out;
    }
    let tree = cfg.dominator_tree();
    let within = |b: Block, of: Block| tree.dominates(of, b);
    // A loop with two entries is irreducible, which other passes do not handle.
    out.retain(|t| !cfg.preds(t.block).iter().any(|&(b, _)| within(b, t.block)));
    find_uses(func, &mut out);
    out.retain(|t| {
        let [a, b] = successors(func, t.block);
        let only = |d: Block| d != t.block && cfg.preds(d).len() == 1;
        let behind = |&u: &Block| within(u, a) || within(u, b);
        t.used.is_empty() || only(a) && only(b) && t.users.iter().all(behind)
    });
    for t in &mut out {
        let [a, _] = successors(func, t.block);
        // Users under the first successor come before the others.
        t.users.sort_by_key(|&u| !within(u, a));
        let first = t.users.partition_point(|&u| within(u, a));
        t.users.insert(first, t.block);
    }
    out
}

/// Returns true if an instruction is a constant.
fn is_constant(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg.data(inst), InstData::Imm { .. })
}

/// Returns true if a block is pure, short, and branches to two blocks.
fn branches(func: &Function, block: Block) -> bool {
    let Some((&end, computes)) = func.layout.insts(block).split_last() else {
        return false;
    };
    let InstData::Brif { dests, .. } = func.dfg.data(end) else {
        return false;
    };
    let counts = computes.iter().filter(|&&i| !is_constant(func, i));
    dests[0].block != dests[1].block
        && counts.count() <= COMPUTES
        && computes.iter().all(|&i| is_node(func.dfg.data(i)))
}

/// Returns the two successors of a block.
fn successors(func: &Function, block: Block) -> [Block; 2] {
    let end = func.layout.terminator(block);
    match end.map(|i| func.dfg.data(i)) {
        Some(InstData::Brif { dests, .. }) => [dests[0].block, dests[1].block],
        _ => [block; 2],
    }
}

/// Returns the successor that a block branches to if it is entered by an edge, where known.
fn succ(
    func: &Function,
    block: Block,
    (inst, dest): (Inst, usize),
    call: &BlockCall,
    mode: &FpMode,
) -> Option<usize> {
    let dfg = &func.dfg;
    let (&end, computes) = func.layout.insts(block).split_last()?;
    let InstData::Brif { cond, .. } = *dfg.data(end) else {
        return None;
    };
    let params = dfg.block_params(block);
    let args = call.args.as_slice(&dfg.pool);
    let given = |v: Value| {
        let n = params.iter().position(|&p| p == v)?;
        args.get(n).copied()
    };
    // Branch on the same condition.
    if let InstData::Brif {
        cond: before,
        dests,
        ..
    } = dfg.data(inst)
    {
        let same = given(cond).unwrap_or(cond) == *before;
        if same && dests[0].block != dests[1].block {
            return Some(dest);
        }
    }
    let constant = |v: Value| -> Option<Lanes> {
        match dfg.data(dfg.def_inst(v)?) {
            InstData::Imm { bits, .. } if dfg.ty(v).lanes() == 1 => Some(vec![*bits]),
            _ => None,
        }
    };
    let mut known: SmallVec<[(Value, Lanes); 8]> = SmallVec::new();
    for (&p, &a) in params.iter().zip(args) {
        known.extend(constant(a).map(|lanes| (p, lanes)));
    }
    if known.is_empty() {
        return None;
    }
    let nothing = Lanes::new();
    for &inst in computes {
        let (data, result) = (dfg.data(inst), dfg.first_result(inst)?);
        if dfg.ty(result).lanes() > 1 || dfg.results(inst).len() > 1 {
            continue;
        }
        let mut all = true;
        data.for_each_arg(dfg, |v| {
            if !known.iter().any(|(k, _)| *k == v) {
                match constant(v) {
                    Some(lanes) => known.push((v, lanes)),
                    None => all = false,
                }
            }
        });
        let of = |v: Value| {
            known
                .iter()
                .find(|(k, _)| *k == v)
                .map_or(&nothing, |k| &k.1)
        };
        if all && let Ok(lanes) = evaluate(dfg, dfg.ty(result), data, of, mode) {
            known.extend(lanes.into_iter().next().map(|lanes| (result, lanes)));
        }
    }
    let (_, lanes) = known.into_iter().find(|(k, _)| *k == cond)?;
    Some(usize::from(*lanes.first()? == 0))
}

/// Finds the values of the blocks that other blocks use, constants excluded.
fn find_uses(func: &Function, all: &mut [ThreadedBlock]) {
    let mut owner: SecondaryMap<Value, PackedOption<Block>> = sized(func.dfg.num_values());
    let mut at: FxHashMap<Block, usize> = FxHashMap::default();
    for (n, t) in all.iter().enumerate() {
        at.insert(t.block, n);
        let results = func.layout.insts(t.block).iter();
        let results = results.filter(|&&i| !is_constant(func, i));
        let results = results.flat_map(|&i| func.dfg.results(i));
        for &v in func.dfg.block_params(t.block).iter().chain(results) {
            owner[v] = t.block.into();
        }
    }
    for &user in func.layout.blocks() {
        for &inst in func.layout.insts(user) {
            func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                let owner = owner[v].expand().filter(|&b| b != user);
                if let Some(t) = owner.and_then(|b| all.get_mut(*at.get(&b)?)) {
                    t.used.push(v);
                    if t.users.last() != Some(&user) {
                        t.users.push(user);
                    }
                }
            });
        }
    }
    for t in all {
        t.used.sort_unstable();
        t.used.dedup();
    }
}

/// Redirects the edges of a block past it. New edge blocks are added to `made`. Returns the number
/// of edges; zero if an earlier change touched these blocks.
fn apply(
    func: &mut Function,
    t: &ThreadedBlock,
    touched: &mut EntitySet<Block>,
    made: &mut Vec<(Block, Block)>,
) -> u32 {
    let dests = successors(func, t.block);
    let froms = t.edges.iter().map(|e| e.from);
    let all: SmallVec<[Block; 8]> = froms.chain(dests).chain([t.block]).collect();
    let looked_at = all.iter().chain(&t.users).chain([&t.above]);
    if looked_at.into_iter().any(|&b| touched.contains(b)) {
        return 0;
    }
    for &b in all.iter().chain(&t.users) {
        touched.insert(b);
    }
    let insts = func.layout.insts(t.block).to_vec();
    let (constants, insts): (Vec<Inst>, Vec<Inst>) =
        insts.into_iter().partition(|&i| is_constant(func, i));
    let Some((&end, computes)) = insts.split_last() else {
        return 0;
    };
    *func.layout.insts_mut(t.block) = insts.iter().copied().collect();
    let above = func.layout.insts_mut(t.above);
    above.insert_many(above.len().saturating_sub(1), constants);
    // Both successors take the block's values as parameters.
    let first = t.users.iter().position(|&u| u == t.block).unwrap_or(0);
    let (before, after) = t.users.split_at(first);
    if !t.used.is_empty() {
        for (dest, users) in dests.into_iter().zip([before, after]) {
            let mut inside: FxHashMap<Value, Value> = FxHashMap::default();
            for &v in &t.used {
                let ty = func.dfg.ty(v);
                inside.insert(v, func.dfg.append_block_param(dest, ty));
            }
            for &user in users.iter().filter(|&&u| u != t.block) {
                for inst in func.layout.insts(user).to_vec() {
                    func.dfg
                        .map_args(inst, |v| inside.get(&v).copied().unwrap_or(v));
                }
            }
        }
    }
    for e in &t.edges {
        let args = func.dfg.destinations(e.inst).get(e.dest).map(|d| d.args);
        let Some(args) = args else { continue };
        let params = func.dfg.block_params(t.block).iter().copied();
        let mut copied = CloneMap {
            values: params
                .zip(args.as_slice(&func.dfg.pool).iter().copied())
                .collect(),
            ..CloneMap::default()
        };
        let is_jump = matches!(func.dfg.data(e.inst), InstData::Jump { .. });
        let to = if is_jump {
            func.layout.insts_mut(e.from).pop();
            e.from
        } else {
            let edge = func.dfg.make_block();
            made.push((t.block, edge));
            let (dests, _) = func.dfg.destinations_mut(e.inst);
            if let Some(dest) = dests.get_mut(e.dest) {
                *dest = BlockCall {
                    block: edge,
                    args: Default::default(),
                };
            }
            edge
        };
        for &inst in computes {
            copied.inst(func, inst, to);
        }
        branch(func, &mut copied, end, e.succ, to);
        let values: Vec<Value> = t.used.iter().map(|&v| copied.value(v)).collect();
        if let Some(jump) = func.layout.terminator(to) {
            let (dests, pool) = func.dfg.destinations_mut(jump);
            for dest in dests {
                dest.args.extend(values.iter().copied(), pool);
            }
        }
    }
    let (dests, pool) = func.dfg.destinations_mut(end);
    for dest in dests {
        dest.args.extend(t.used.iter().copied(), pool);
    }
    t.edges.len() as u32
}
