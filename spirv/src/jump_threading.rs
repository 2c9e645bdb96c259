//! Jump threading: redirection of edges into a block whose branch their phi arguments decide.
//!
//! A loop with two exits, or an inlined function with several returns, leaves a flag that is tested
//! next. If every edge into a block brings constants that decide its branch, each edge goes to its
//! target. The flag and its test go away, and channels need not join to part again. Phis of the
//! block that are used after it are merged at the uses. For uniform branches, the optimizer's pass
//! `thread` does the rest.
//!
//! Needs a body whose uses are checked, and its graph. Each round takes one step for each block,
//! edge and use. It evaluates up to [`COMPUTES`] instructions in up to [`CHAIN`] consecutive blocks
//! for each edge.

use crate::body::{BInst, Block, Body, Phi, Term};
use crate::cfg::Graph;
use crate::error::Error;
use crate::if_conversion::is_cheap;
use crate::module::Module;
use crate::module::constants::{Constant, fold};
use crate::module::types::{Ty, Type};
use crate::read::Id;
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_codegen::entity_set::sized;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of instructions between the phis and the branch.
const COMPUTES: usize = 4;
/// Maximum number of rounds: an edge that skips one branch may reach the next.
const ROUNDS: usize = 4;
/// Maximum number of consecutive blocks.
const CHAIN: usize = 4;

/// Maximum number of blocks visited in each round in the search for phi positions.
const MAX_VISITS: usize = 4 << 20;

/// Branch that every edge into its block decides.
struct ThreadableBranch {
    /// Block with the phis, and the blocks after it up to the branch.
    chain: SmallVec<[Block; CHAIN]>,
    /// Target if the condition holds, and if not.
    targets: [Block; 2],
    /// Predecessor of each edge, and index of its target.
    edges: Vec<(Block, usize)>,
    /// Uses of phis after the branch, by phi.
    used: BTreeMap<Id, PhiUses>,
    /// Set if the branch must stay: a computed value is used after it, or the limit is reached.
    stays: bool,
}

/// Uses of a phi after a branch.
#[derive(Default)]
struct PhiUses {
    uses: Vec<PhiUse>,
    /// Blocks between the branch and the uses, in order.
    blocks: Vec<Block>,
}

/// Use of a phi.
struct PhiUse {
    block: Block,
    place: UsePosition,
    /// Block at which the value must be available. For phi arguments it is the predecessor.
    at: Block,
}

/// Position of a use in a block.
enum UsePosition {
    /// Phi and argument index.
    Phi(usize, usize),
    /// Instruction and operand index.
    Inst(usize, usize),
    Term,
    /// Return value of the body.
    Result,
}

struct Threader<'a, 'm> {
    m: &'a Module<'m>,
    g: &'a Graph,
    /// Constants of the body.
    consts: &'a SecondaryMap<Id, Option<u64>>,
}

/// Threads branches in up to [`ROUNDS`] rounds, and recomputes the graph after each change.
///
/// # Errors
/// Those of [`Graph::new`].
pub(crate) fn run(m: &Module<'_>, body: &mut Body, graph: &mut Graph) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        if !thread(m, body, graph) {
            break;
        }
        *graph = Graph::new(body)?;
    }
    Ok(())
}

/// Threads the branches that every edge into their blocks decides. Returns true if there were
/// any. The graph is stale then.
fn thread(m: &Module<'_>, body: &mut Body, g: &Graph) -> bool {
    let mut consts: SecondaryMap<Id, Option<u64>> = SecondaryMap::new();
    for &(id, _, bits) in &body.consts {
        consts[id] = Some(bits);
    }
    let t = Threader {
        m,
        g,
        consts: &consts,
    };
    let blocks = g.order.iter();
    let mut all: Vec<ThreadableBranch> = blocks.filter_map(|&b| t.known(body, b)).collect();
    if all.is_empty() {
        return false;
    }
    t.find_uses(body, &mut all);
    t.find_blocks(&mut all);
    let mut touched = EntitySet::new();
    let mut any = false;
    for known in all.iter().filter(|k| !k.stays) {
        any |= t.apply(body, known, &mut touched);
    }
    any
}

/// Argument of a phi for a predecessor.
fn taken(phi: &Phi, from: Block) -> Option<Id> {
    let at = phi.args.binary_search_by_key(&from, |a| a.0).ok()?;
    phi.args.get(at).map(|a| a.1)
}

impl Threader<'_, '_> {
    fn known(&self, body: &Body, b: Block) -> Option<ThreadableBranch> {
        if body.blocks[b].phis.is_empty() || !self.is_plain(b) {
            return None;
        }
        let mut chain: SmallVec<[Block; CHAIN]> = SmallVec::new();
        let mut last = b;
        chain.push(b);
        while let Term::Branch(next) = body.blocks[last].term {
            let alone = self.g.forward_preds[next].len() == 1 && self.is_plain(next);
            let more = alone && chain.len() < CHAIN && body.blocks[next].phis.is_empty();
            if !more || self.g.is_back(last, next) {
                return None;
            }
            last = next;
            chain.push(next);
        }
        let Term::Cond(cond, then, other) = body.blocks[last].term else {
            return None;
        };
        let targets = [then, other];
        let insts = chain.iter().flat_map(|&b| &body.blocks[b].insts);
        let insts: SmallVec<[&BInst; COMPUTES]> = insts.take(COMPUTES + 1).collect();
        let computes = insts.len() <= COMPUTES && insts.iter().all(|i| is_cheap(i.op));
        if !computes || then == other || targets.iter().any(|t| chain.contains(t)) {
            return None;
        }
        let mut edges = Vec::new();
        for &from in &self.g.forward_preds[b] {
            let (_, bits) = self.value(body, (b, from), &insts, cond)?;
            let side = usize::from(bits & 1 == 0);
            let to = targets[side];
            // A phi has one argument for each predecessor.
            if self.g.succs[from].contains(&to) {
                return None;
            }
            edges.push((from, side));
        }
        let both = (0..2).all(|side| edges.iter().any(|w| w.1 == side));
        both.then_some(ThreadableBranch {
            chain,
            targets,
            edges,
            used: BTreeMap::new(),
            stays: false,
        })
    }

    /// Returns true for blocks that are neither a loop header nor the entry.
    fn is_plain(&self, b: Block) -> bool {
        b != self.g.entry && self.g.loop_with_header(b).is_none()
    }

    /// Evaluates a value of block `b` if control comes from `from`: width in bits, and bits.
    /// `insts` are the instructions between the phis and the branch.
    fn value(
        &self,
        body: &Body,
        (b, from): (Block, Block),
        insts: &[&BInst],
        id: Id,
    ) -> Option<(u32, u64)> {
        if let Some(phi) = body.blocks[b].phis.iter().find(|p| p.id == id) {
            return Some((self.bits_of(phi.ty)?, self.constant(taken(phi, from)?)?));
        }
        let is = |i: &&BInst| i.id.expand() == Some(id);
        let Some(n) = insts.iter().position(is) else {
            let ty = body.type_of(self.m, id)?;
            return Some((self.bits_of(ty)?, self.constant(id)?));
        };
        let inst = insts.get(n)?;
        let ty = inst.ty.expand()?;
        let bits = self.bits_of(ty)?;
        // Operands precede the instruction.
        let before = insts.get(..n)?;
        let mut args: SmallVec<[(u32, u64); 3]> = SmallVec::new();
        for &word in body.operands(inst) {
            args.push(self.value(body, (b, from), before, Id::of(word))?);
        }
        match fold(&self.m.types, inst.op, ty, &args) {
            Ok(Constant::Bits(value)) => Some((bits, value)),
            _ => None,
        }
    }

    fn constant(&self, id: Id) -> Option<u64> {
        self.m.bits(id).or(self.consts[id])
    }

    /// Width of an integer or a bool.
    fn bits_of(&self, ty: Ty) -> Option<u32> {
        match self.m.types.kind(ty) {
            Type::Bool => Some(1),
            Type::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Finds uses after branches, and marks branches that must stay because of them.
    fn find_uses(&self, body: &Body, all: &mut [ThreadableBranch]) {
        // Index of the branch that each id belongs to, from 1.
        let mut whose: SecondaryMap<Id, u32> = sized(body.bound());
        let mut phis: EntitySet<Id> = EntitySet::new();
        for (n, known) in (1..).zip(all.iter()) {
            for data in known.chain.iter().map(|&b| &body.blocks[b]) {
                data.phis.iter().for_each(|p| {
                    whose[p.id] = n;
                    phis.insert(p.id);
                });
                let ids = data.insts.iter().filter_map(|i| i.id.expand());
                ids.for_each(|id| whose[id] = n);
            }
        }
        let mut note = |id: Id, block: Block, at: Block, place: UsePosition| {
            let n = (whose[id] as usize).checked_sub(1);
            let Some(known) = n.and_then(|n| all.get_mut(n)) else {
                return;
            };
            let phi = phis.contains(id);
            // At the end of the chain, for phis of the targets.
            let brought = phi && matches!(place, UsePosition::Phi(..)) && known.chain.contains(&at);
            if known.chain.contains(&block) || brought {
                return;
            }
            if phi {
                let used = known.used.entry(id).or_default();
                used.uses.push(PhiUse { block, place, at });
            } else {
                known.stays = true;
            }
        };
        for &b in &self.g.order {
            let data = &body.blocks[b];
            for (n, phi) in data.phis.iter().enumerate() {
                for (k, (from, id)) in phi.args.iter().enumerate() {
                    note(*id, b, *from, UsePosition::Phi(n, k));
                }
            }
            for (n, inst) in data.insts.iter().enumerate() {
                body.for_each_use_at(inst, |k, id| note(id, b, b, UsePosition::Inst(n, k)));
            }
            if let Some(id) = data.term.condition() {
                note(id, b, b, UsePosition::Term);
            }
            if let (Term::Return, Some((id, _))) = (&data.term, body.result) {
                note(id, b, b, UsePosition::Result);
            }
        }
    }

    /// Finds the blocks between branches and uses. The branch dominates them, as it does the uses.
    fn find_blocks(&self, all: &mut [ThreadableBranch]) {
        let mut left = MAX_VISITS;
        for known in all.iter_mut().filter(|k| !k.stays) {
            for used in known.used.values_mut() {
                let mut seen: HashSet<Block> = HashSet::new();
                let mut work: Vec<Block> = used.uses.iter().map(|u| u.at).collect();
                while let Some(b) = work.pop() {
                    if known.chain.contains(&b) || !seen.insert(b) {
                        continue;
                    }
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    used.blocks.push(b);
                    work.extend(&self.g.forward_preds[b]);
                }
                used.blocks.sort_unstable_by_key(|&b| self.g.rpo_index[b]);
            }
            // From the limit on, all branches stay.
            known.stays = left == 0;
        }
    }

    /// Threads a branch unless an earlier one changed the same blocks. Returns true if it did.
    fn apply(
        &self,
        body: &mut Body,
        known: &ThreadableBranch,
        touched: &mut EntitySet<Block>,
    ) -> bool {
        let (Some(&first), Some(&last)) = (known.chain.first(), known.chain.last()) else {
            return false;
        };
        let froms = known.edges.iter().map(|w| w.0);
        let own = known.chain.iter().copied().chain(known.targets);
        let own: Vec<Block> = own.chain(froms).collect();
        let mut uses = known.used.values().flat_map(|u| &u.uses);
        let mut between = known.used.values().flat_map(|u| &u.blocks);
        if own.iter().any(|b| touched.contains(*b))
            || uses.any(|u| touched.contains(u.block))
            || between.any(|b| touched.contains(*b))
        {
            return false;
        }
        own.iter().for_each(|b| {
            touched.insert(*b);
        });
        let phis = std::mem::take(&mut body.blocks[first].phis);
        let by_id: HashMap<Id, &Phi> = phis.iter().map(|p| (p.id, p)).collect();
        let brings = |id: Id, from: Block| {
            let phi = by_id.get(&id);
            phi.and_then(|p| taken(p, from)).unwrap_or(id)
        };
        for (id, used) in &known.used {
            let Some(phi) = by_id.get(id) else { continue };
            let mut here: HashMap<Block, Id> = HashMap::new();
            for &b in &used.blocks {
                let mut args: Vec<(Block, Id)> = Vec::new();
                if let Some(side) = known.targets.iter().position(|t| *t == b) {
                    let edges = known.edges.iter().filter(|w| w.1 == side);
                    args.extend(edges.map(|w| (w.0, brings(*id, w.0))));
                }
                let before = self.g.forward_preds[b].iter();
                args.extend(before.filter_map(|p| Some((*p, *here.get(p)?))));
                let one = args.first().map(|a| a.1);
                let v = match one {
                    Some(v) if args.iter().all(|a| a.1 == v) => v,
                    _ => {
                        let v = body.fresh(phi.ty);
                        body.set_origin(v, body.origin(phi.id), Some(phi.ty));
                        // A loop that begins here does not change the value.
                        args.extend(
                            self.g
                                .loop_with_header(b)
                                .map(|l| (self.g.loops[l].latch, v)),
                        );
                        args.sort_unstable_by_key(|a| a.0);
                        let (id, ty, at) = (v, phi.ty, phi.at);
                        body.blocks[b].phis.push(Phi { id, ty, at, args });
                        touched.insert(b);
                        v
                    }
                };
                here.insert(b, v);
            }
            for u in &used.uses {
                if let Some(v) = here.get(&u.at) {
                    set(body, u, *v);
                }
            }
        }
        // Phis of targets take the arguments of the chain's predecessors. This comes last, since
        // uses are recorded by argument index.
        for (side, &to) in known.targets.iter().enumerate() {
            for phi in &mut body.blocks[to].phis {
                let Some(at) = phi.args.iter().position(|a| a.0 == last) else {
                    continue;
                };
                let (_, id) = phi.args.swap_remove(at);
                let edges = known.edges.iter().filter(|w| w.1 == side);
                phi.args.extend(edges.map(|w| (w.0, brings(id, w.0))));
                phi.args.sort_unstable_by_key(|a| a.0);
            }
        }
        for &(from, side) in &known.edges {
            let to = known.targets[side];
            let term = &mut body.blocks[from].term;
            term.map(|b| if b == first { to } else { b });
        }
        for &b in &known.chain {
            let data = &mut body.blocks[b];
            data.insts.clear();
            data.term = Term::Unreachable;
        }
        true
    }
}

fn set(body: &mut Body, u: &PhiUse, id: Id) {
    match u.place {
        UsePosition::Phi(n, k) => {
            let phi = body.blocks[u.block].phis.get_mut(n);
            if let Some(arg) = phi.and_then(|p| p.args.get_mut(k)) {
                arg.1 = id;
            }
        }
        UsePosition::Inst(n, k) => {
            if let Some(inst) = body.blocks[u.block].insts.get(n).copied() {
                body.set_operand(&inst, k, id);
            }
        }
        UsePosition::Term => body.blocks[u.block].term.set_condition(id),
        UsePosition::Result => body.result = body.result.map(|(_, ty)| (id, ty)),
    }
}
