//! Lane sharing: values that no channel holds at the same time share a register.
//!
//! When channels diverge, values of finished channels stay live while other channels still run. In
//! a loop, both the loop's values and the results of channels that have left are live. Instructions
//! under the execution mask write only active channels. If such values are also read only in active
//! channels ([`lanes`]), two registers may be merged unless a write loses the other's value
//! ([`flow`]). A write loses a value if it writes a channel that still reads that value. A masked
//! write follows the channel's own control flow, a NoMask write follows the thread's.
//!
//! The merged register is an ordinary one with partial writes. Liveness, bundles, spilling and the
//! checker need no knowledge of lane sharing. It is done only if demand exceeds the GRF file.
//!
//! Input: [`VCode`] with physical flags, and its [`Liveness`]. Output: the same code with fewer
//! registers.

mod flags;
mod flow;
mod lanes;
#[cfg(test)]
mod tests;

use super::bundles::Bundles;
use super::tied_operands::written;
use crate::mir::liveness::Liveness;
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use flow::{Conflicts, WebFlow};
use lanes::{Lanes, node};

/// Maximum number of webs considered: first those live at the peak, then the longest ones.
const MAX_WEBS: usize = 128;

/// Set of webs, one bit each.
type WebSet = u128;

/// Returns the number of channels of a kernel that uses the mask stack and has no calls.
fn channels(code: &VCode) -> Option<u32> {
    if code.routines.len() != 1 {
        return None;
    }
    code.insts.iter().find_map(|m| match m {
        MInst::Leave { exec, .. } | MInst::Join { exec, .. } => Some(exec.channels()),
        _ => None,
    })
}

/// Merges registers whose values no channel holds at the same time. Returns the number of registers
/// saved. Does nothing unless more than `limit` bytes, the size of the GRF file, are live at once.
pub(crate) fn share(code: &mut VCode, live: &Liveness, target: &Target, limit: u32) -> u32 {
    let at = live.peak().0;
    if live.least() <= limit || !live.abandoned.is_empty() {
        return 0;
    }
    let Some(channels) = channels(code).filter(|c| matches!(c, 8 | 16 | 32)) else {
        return 0;
    };
    let lanes = Lanes::new(code, live, target, channels);
    let mut bundles = Bundles::merge(code, live);
    let roots: Vec<VReg> = code.vregs.keys().map(|r| bundles.root(r)).collect();
    let webs = webs(code, live, &lanes, &roots, at);
    if webs.len() < 2 {
        return 0;
    }
    let mut number: SecondaryMap<VReg, Option<u8>> = SecondaryMap::new();
    for (n, root) in webs.iter().enumerate() {
        number[*root] = Some(n as u8);
    }
    let mut web_of: SecondaryMap<VReg, Option<u8>> = SecondaryMap::new();
    for (r, root) in code.vregs.keys().zip(&roots) {
        web_of[r] = number[*root];
    }
    let flow = WebFlow {
        code,
        live,
        lanes: &lanes,
        web_of: &web_of,
    };
    let conflicts = flow.conflicts();
    let (unions, saved) = choose(code, &webs, &conflicts);
    if saved > 0 {
        rename(code, &webs, &web_of, &unions, &conflicts.live_after);
    }
    saved
}

/// Returns the roots of webs that may share a register. Their registers are connected by copies,
/// and are read and written lane by lane. Webs live at instruction `at` come first.
fn webs(code: &VCode, live: &Liveness, lanes: &Lanes<'_>, roots: &[VReg], at: usize) -> Vec<VReg> {
    let mut bad: SecondaryMap<VReg, bool> = SecondaryMap::new();
    // Per web, true if it is live at the instruction, and the length of its live range.
    let mut lives: SecondaryMap<VReg, (bool, u64)> = SecondaryMap::new();
    let root = |n: u32| roots.get(n as usize).copied();
    for ((r, data), &of) in code.vregs.iter().zip(roots) {
        bad[of] |= data.constraint != RegConstraint::Any
            || !lanes.is_plain(r)
            || lanes.read_across[r]
            || lanes.written_across[r]
            // It is live at the start without a definition.
            || live.ranges[r].first().is_some_and(|x| x.start == 0);
        let (here, long) = &mut lives[of];
        for x in &live.ranges[r] {
            *here |= x.start <= 2 * at as u32 + 1 && 2 * (at as u32) < x.end;
            *long += u64::from(x.end - x.start);
        }
    }
    for &(from, to, copy) in &lanes.steps {
        let Some(of) = root(from) else { continue };
        let inside = copy && root(to) == Some(of);
        bad[of] |= !inside && lanes.leaks.get(to as usize).is_none_or(|l| *l);
    }
    let all = code.vregs.keys().filter(|r| root(node(*r)) == Some(*r));
    let mut out: Vec<VReg> = all.filter(|r| !bad[*r] && lives[*r].1 > 0).collect();
    out.sort_by_key(|r| (std::cmp::Reverse(lives[*r]), *r));
    out.truncate(MAX_WEBS);
    out
}

/// Chooses the webs to merge. Returns the sets and the number of webs saved. Webs with most
/// conflicts come first. Each joins the set with most conflicts among those where that saves bytes.
fn choose(code: &VCode, webs: &[VReg], conflicts: &Conflicts) -> (Vec<WebSet>, u32) {
    let mut order: Vec<usize> = (0..webs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(conflicts.conflicts_of[*n].count_ones()));
    let mut unions: Vec<MergedWebs> = Vec::new();
    let mut saved = 0;
    for n in order {
        let Some(&root) = webs.get(n) else { continue };
        let bytes = code.vregs[root].bytes;
        let (conflicts_of, live_with) = (conflicts.conflicts_of[n], conflicts.live_with[n]);
        let fit = |u: &&mut MergedWebs| {
            u.bytes == bytes && u.all & conflicts_of == 0 && u.all & live_with != 0
        };
        let best = unions.iter_mut().filter(fit);
        match best.max_by_key(|u| u.conflicts_of.count_ones()) {
            Some(u) => {
                (u.all, u.conflicts_of) = (u.all | 1 << n, u.conflicts_of | conflicts_of);
                saved += 1;
            }
            None => unions.push(MergedWebs {
                bytes,
                all: 1 << n,
                conflicts_of,
            }),
        }
    }
    let several = unions.into_iter().map(|u| u.all);
    (several.filter(|u| u.count_ones() > 1).collect(), saved)
}

/// Webs to be merged.
struct MergedWebs {
    bytes: u32,
    all: WebSet,
    /// Webs that conflict with them.
    conflicts_of: WebSet,
}

/// Renames the registers of merged webs to the first one. A definition no longer starts a value
/// while another web of the set is live.
fn rename(
    code: &mut VCode,
    webs: &[VReg],
    web_of: &SecondaryMap<VReg, Option<u8>>,
    unions: &[WebSet],
    live_after: &[WebSet],
) {
    let mut union_of: [Option<(VReg, WebSet)>; MAX_WEBS] = [None; MAX_WEBS];
    for all in unions {
        let Some(&first) = webs.get(all.trailing_zeros() as usize) else {
            continue;
        };
        for (n, u) in union_of.iter_mut().enumerate() {
            if all >> n & 1 == 1 {
                *u = Some((first, *all));
            }
        }
    }
    let union = |r: VReg| {
        let web = web_of[r]?;
        let (first, all) = (*union_of.get(usize::from(web))?)?;
        Some((first, all & !(1 << web)))
    };
    for r in code.vregs.keys() {
        if let Some((first, _)) = union(r) {
            let align = code.vregs[r].align;
            let data = &mut code.vregs[first];
            data.align = data.align.max(align);
        }
    }
    for (m, live_after) in code.insts.iter_mut().zip(live_after) {
        // True if another web is live after the definition.
        let mut lives = false;
        m.for_each_vreg(|r, a| {
            let others = union(r).filter(|_| a != Access::Use);
            lives |= others.is_some_and(|(_, others)| others & live_after != 0);
        });
        match m {
            MInst::Start { dst } if lives => {
                *m = MInst::Copy {
                    dst: *dst,
                    src: *dst,
                }
            }
            MInst::Op { inst, starts, .. } if lives && !inst.no_mask => *starts = false,
            _ => {}
        }
        m.map_vregs(|r, _| union(r).map_or(r, |u| u.0));
        // A write to a register that the instruction also reads keeps the lanes that it does not
        // write.
        if let Some(r) = written(m)
            && union(r).is_some()
        {
            let mut reads = false;
            m.for_each_vreg(|s, a| reads |= a == Access::Use && s == r);
            if let MInst::Op { starts, .. } = m
                && reads
            {
                *starts = false;
            }
        }
    }
    remove_copies(code);
    // A register of several values has no label that is valid everywhere.
    code.labels.retain(|l| union(l.1).is_none());
}

/// Removes copies of a register to itself.
fn remove_copies(code: &mut VCode) {
    let is_kept = |m: &MInst| !matches!(m, MInst::Copy { dst, src } if dst == src);
    // Number of instructions kept before each one.
    let mut before = Vec::with_capacity(code.insts.len() + 1);
    let mut kept = 0;
    for m in &code.insts {
        before.push(kept);
        kept += usize::from(is_kept(m));
    }
    before.push(kept);
    let at = |i: usize| before.get(i).copied().unwrap_or(kept);
    for b in code.blocks.values_mut() {
        (b.start, b.end) = (at(b.start), at(b.end));
    }
    let locs = std::mem::take(&mut code.locs);
    for (first, loc) in locs.runs() {
        code.locs.push(at(first), loc);
    }
    code.insts.retain(is_kept);
}
