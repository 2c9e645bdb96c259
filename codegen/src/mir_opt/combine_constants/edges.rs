//! Constants of edges: one move for equal constants that several predecessors of a block pass.
//!
//! Lowering writes a block's parameter at the end of each predecessor. If several of them write the
//! same constant, one move in their nearest common dominator does: the register holds nothing
//! there, and the other predecessors overwrite the constant.
//!
//! All writes of the register are in predecessors that lead only to the block, and each predecessor
//! starts a value of it. All reads are dominated by the block. The dominator is in the same loops
//! as the moves, and no path leads from the block to a move around it. So the constant that is
//! written in the dominator reaches the block on the paths of the moves, and on no others.

use super::place::{DominatorTree, PlacementSearch, Site};
use super::{NewMove, rebuild};
use crate::mir::{Access, MInst, RegConstraint, VBlock, VCode, VReg};
use cranelift_entity::EntitySet;
use gantry_isa_gen::{Dst, Op, Src};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Maximal instructions before a jump that are searched for constants.
const BEFORE_JUMP: usize = 32;
/// Maximal GRFs of a parameter.
const MAX_GRFS: u32 = 4;
/// Maximal blocks that are searched for a path around a dominator, for one parameter.
const MAX_PATH: usize = 64;

/// Constant that a predecessor passes: its block, and the moves.
#[derive(Clone)]
struct Passed {
    block: VBlock,
    insts: SmallVec<[usize; 2]>,
}

/// Parameter of a block: the register, and the constants that predecessors pass.
#[derive(Default)]
struct Param {
    passed: Vec<Passed>,
    /// Blocks that start a value of it, in order.
    begun: Vec<VBlock>,
    /// Blocks that read it, in order, each once in a row.
    read: Vec<VBlock>,
    /// Set if a block writes it that does not lead to the block alone.
    other: bool,
}

/// Returns the register that a move of an immediate writes.
fn constant(code: &VCode, m: &MInst) -> Option<VReg> {
    let MInst::Op { inst, .. } = m else {
        return None;
    };
    let plain = inst.op == Op::Mov
        && inst.no_mask
        && inst.pred.is_none()
        && inst.cond.is_none()
        && !inst.sat;
    let (&Dst::Direct { at, ty, .. }, Src::Imm { ty: of, .. }) = (&inst.dst, &inst.srcs[0]) else {
        return None;
    };
    let reg = at.reg.as_grf().filter(|_| plain)?;
    let data = &code.vregs[reg];
    // No conversion that rounds.
    let exact = ty == *of || !ty.is_float() && !of.is_float();
    let small = data.bytes <= MAX_GRFS * code.grf.bytes;
    (exact && small && data.constraint == RegConstraint::Any).then_some(reg)
}

/// Returns the parameters for which two predecessors of a block pass constants.
fn params(code: &VCode) -> BTreeMap<(VBlock, VReg), Param> {
    let mut out: BTreeMap<(VBlock, VReg), Param> = BTreeMap::new();
    for (block, data) in &code.blocks {
        let &[to] = &data.succs[..] else { continue };
        if code.blocks[to].preds.len() < 3 {
            continue;
        }
        let last = data.end.saturating_sub(1);
        let from = data.start.max(last.saturating_sub(BEFORE_JUMP));
        for i in (from..last).rev() {
            match &code.insts[i] {
                MInst::Copy { .. } => {}
                m => {
                    let Some(reg) = constant(code, m) else { break };
                    let param = out.entry((to, reg)).or_default();
                    match param.passed.last_mut() {
                        Some(p) if p.block == block => p.insts.insert(0, i),
                        _ => param.passed.push(Passed {
                            block,
                            insts: SmallVec::from_slice(&[i]),
                        }),
                    }
                }
            }
        }
    }
    out.retain(|_, p| p.passed.len() > 1);
    out
}

/// Finds the accesses of parameters.
fn accesses(code: &VCode, params: &mut BTreeMap<(VBlock, VReg), Param>) {
    let mut wanted: EntitySet<VReg> = EntitySet::new();
    wanted.extend(params.keys().map(|(_, r)| *r));
    let mut targets: BTreeMap<VReg, Vec<VBlock>> = BTreeMap::new();
    for (to, r) in params.keys() {
        targets.entry(*r).or_default().push(*to);
    }
    for (block, data) in &code.blocks {
        for m in &code.insts[data.start..data.end] {
            m.for_each_vreg(|r, access| {
                if !wanted.contains(r) {
                    return;
                }
                for to in targets.get(&r).into_iter().flatten() {
                    let Some(p) = params.get_mut(&(*to, r)) else {
                        continue;
                    };
                    if access == Access::Use {
                        if p.read.last() != Some(&block) {
                            p.read.push(block);
                        }
                        continue;
                    }
                    p.other |= data.succs[..] != [*to];
                    if access == Access::Def && p.begun.last() != Some(&block) {
                        p.begun.push(block);
                    }
                }
            });
        }
    }
}

/// Returns true if two predecessors pass the same constant, as whole values.
fn equal(code: &VCode, a: &Passed, b: &Passed) -> bool {
    let begins = |p: &Passed| {
        let mut insts = p.insts.iter().map(|&i| &code.insts[i]);
        let first = insts.next();
        let is = |m: &MInst| matches!(m, MInst::Op { starts: true, .. });
        first.is_some_and(is) && !insts.any(is)
    };
    let same = |(x, y): (&usize, &usize)| code.insts[*x] == code.insts[*y];
    begins(a) && a.insts.len() == b.insts.len() && a.insts.iter().zip(&b.insts).all(same)
}

/// Returns true if some path leads from a block to one of others around a third. Also if there are
/// too many blocks to tell.
fn leads_around(code: &VCode, from: VBlock, to: &[&Passed], around: VBlock) -> bool {
    let mut seen: EntitySet<VBlock> = EntitySet::new();
    let mut work = vec![from];
    let mut count = 0;
    while let Some(b) = work.pop() {
        count += 1;
        if count > MAX_PATH {
            return true;
        }
        for &s in &code.blocks[b].succs {
            if to.iter().any(|p| p.block == s) {
                return true;
            }
            if s != around && seen.insert(s) {
                work.push(s);
            }
        }
    }
    false
}

/// Makes equal constants of several predecessors once. Returns the number of moves that were
/// removed.
pub(super) fn share(code: &mut VCode, tree: &mut Option<DominatorTree>) -> u32 {
    let mut params = params(code);
    if params.is_empty() {
        return 0;
    }
    accesses(code, &mut params);
    let mut search = PlacementSearch::new(code, tree.take());
    let mut gone = vec![false; code.insts.len()];
    let mut new = Vec::new();
    let mut removed = 0;
    for (&(to, _), p) in &params {
        let preds = &code.blocks[to].preds;
        let begun = preds.iter().all(|b| p.begun.binary_search(b).is_ok());
        if p.other || !begun {
            continue;
        }
        // The constant of most predecessors.
        let alike = |a: &Passed| -> SmallVec<[&Passed; 4]> {
            p.passed.iter().filter(|b| equal(code, a, b)).collect()
        };
        let all = p.passed.iter().take(MAX_PATH).map(alike);
        let Some(group) =
            all.max_by_key(|g| (g.len(), std::cmp::Reverse(g[..].first().map(|p| p.block))))
        else {
            continue;
        };
        let moved = |b: &VBlock| group.iter().any(|p| p.block == *b);
        if group.len() < 2 || p.read.iter().any(moved) {
            continue;
        }
        let blocks: SmallVec<[u32; 4]> = group.iter().map(|p| p.block.as_u32()).collect();
        let Some(above) = search.above(&blocks, to.as_u32(), &p.read) else {
            continue;
        };
        let above = VBlock::from_u32(above);
        if moved(&above) || leads_around(code, to, &group, above) {
            continue;
        }
        let Some(at) = code.blocks[above].end.checked_sub(1) else {
            continue;
        };
        let site = Site {
            block: above.as_u32(),
            at: at as u32,
        };
        for p in &group {
            p.insts.iter().for_each(|&i| gone[i] = true);
            removed += p.insts.len();
        }
        for &i in group.iter().take(1).flat_map(|p| &p.insts) {
            new.push(NewMove {
                block: site.block,
                at: site.at,
                inst: code.insts[i],
            });
            removed -= 1;
        }
    }
    *tree = search.tree();
    if new.is_empty() {
        return 0;
    }
    new.sort_by_key(|n| (n.at, n.block));
    rebuild(code, &new, &gone);
    removed as u32
}
