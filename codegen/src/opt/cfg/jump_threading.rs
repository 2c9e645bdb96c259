//! Jump threading: who comes to a branch knowing which way it goes, goes there without it.
//!
//! A block that only computes and branches is left out by those that jump to it with constants that
//! decide it, or by a branch on the same condition. They get copies of what it computes. Where what
//! it defines is used behind it, the two blocks that it branches to have that as parameters.
//!
//! Bounds: [`COMPUTES`] instructions of a block, [`ROUNDS`] times a function, each in time that
//! grows with its instructions and edges.

use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, BlockCall, ControlFlow, Function, Inst, InstData, Value};
use crate::opt::clone_insts::{Copied, branch};
use crate::opt::egraph::is_node;
use crate::opt::{Facts, State};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_isa_gen::sem::FpMode;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instructions of a block that are copied, constants aside.
const COMPUTES: usize = 4;
/// How often a function is looked at: what goes past one branch may come to the next.
const ROUNDS: usize = 4;

/// A way into a block, and what becomes of it.
#[derive(Clone, Copy)]
struct Edge {
    from: Block,
    /// The branch that ends it, and which of its destinations.
    inst: Inst,
    dest: usize,
    /// Which way the block branches then.
    way: usize,
}

/// A block that some leave out.
struct Threaded {
    block: Block,
    /// The block right above it in the dominator tree, where its constants go.
    above: Block,
    edges: Vec<Edge>,
    /// What is used behind it, and in which blocks.
    used: Vec<Value>,
    users: Vec<Block>,
}

/// The pass. Gives how many ways go past a branch now.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    let mut all = 0;
    for _ in 0..ROUNDS {
        let cfg = state.flow.of(func);
        let found = found(func, &cfg, &facts.float.mode());
        let mut done = 0;
        // Blocks that are not as the graph has them any longer.
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
        state.flow.changed();
        state.flow.remove_unreachable(func);
    }
    all
}

/// The blocks that some may leave out.
fn found(func: &Function, cfg: &ControlFlow, mode: &FpMode) -> Vec<Threaded> {
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
        let mut ways = [false; 2];
        let mut last = None;
        for &(from, inst) in preds {
            // A branch with two ways here is there twice.
            if last.replace(inst) == Some(inst) {
                continue;
            }
            let dests = func.dfg.destinations(inst).iter().enumerate();
            for (dest, call) in dests.filter(|(_, d)| d.block == block) {
                match way(func, block, (inst, dest), call, mode) {
                    Some(way) => {
                        ways[way] = true;
                        edges.push(Edge {
                            from,
                            inst,
                            dest,
                            way,
                        });
                    }
                    // It stays, both ways.
                    None => ways = [true; 2],
                }
            }
        }
        // Where all go one way it is a branch by what is always the same: the end of the function
        // may be behind the other one.
        if !edges.is_empty() && ways == [true; 2] {
            out.push(Threaded {
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
    let intervals = cfg.dominator_intervals();
    let within = |b: Block, of: Block| {
        intervals[of].0 <= intervals[b].0 && intervals[b].1 <= intervals[of].1
    };
    // A loop that is entered at two places is none that others know.
    out.retain(|t| !cfg.preds(t.block).iter().any(|&(b, _)| within(b, t.block)));
    find_uses(func, &mut out);
    out.retain(|t| {
        let [a, b] = both(func, t.block);
        let only = |d: Block| d != t.block && cfg.preds(d).len() == 1;
        let behind = |&u: &Block| within(u, a) || within(u, b);
        t.used.is_empty() || only(a) && only(b) && t.users.iter().all(behind)
    });
    for t in &mut out {
        let [a, _] = both(func, t.block);
        // Those behind the first way before the others.
        t.users.sort_by_key(|&u| !within(u, a));
        let first = t.users.partition_point(|&u| within(u, a));
        t.users.insert(first, t.block);
    }
    out
}

/// Whether an instruction is a constant.
fn is_constant(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg.data(inst), InstData::Imm { .. })
}

/// Whether a block only computes a little, and branches to two others.
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

/// The two blocks that a block branches to.
fn both(func: &Function, block: Block) -> [Block; 2] {
    let end = func.layout.terminator(block);
    match end.map(|i| func.dfg.data(i)) {
        Some(InstData::Brif { dests, .. }) => [dests[0].block, dests[1].block],
        _ => [block; 2],
    }
}

/// Which way a block branches if it is come to by a branch's destination, if that says it.
fn way(
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
    // A branch by the same condition.
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

/// Finds what the blocks define that others use, but for constants.
fn find_uses(func: &Function, all: &mut [Threaded]) {
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

/// Sends the ways of a block past it, with blocks that are made to stand before it. Gives how many,
/// none where another did something here.
fn apply(
    func: &mut Function,
    t: &Threaded,
    touched: &mut EntitySet<Block>,
    made: &mut Vec<(Block, Block)>,
) -> u32 {
    let dests = both(func, t.block);
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
    // The blocks that it branches to have what it defines as parameters.
    let first = t.users.iter().position(|&u| u == t.block).unwrap_or(0);
    let (before, behind) = t.users.split_at(first);
    if !t.used.is_empty() {
        for (dest, users) in dests.into_iter().zip([before, behind]) {
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
        let mut copied = Copied {
            values: params
                .zip(args.as_slice(&func.dfg.pool).iter().copied())
                .collect(),
            ..Copied::default()
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
        branch(func, &mut copied, end, e.way, to);
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
