//! Values that are never in one channel at once, in one register.
//!
//! Where channels diverge, what one of them is done with another still needs: what a loop computes
//! with lives while any channel goes round, and so do the results of those that have left. What is
//! written under the execution mask is written in channels that run alone; where it is read in
//! those alone too ([`lanes`]), two registers may be one if none that is written while the other's
//! value is still to be read is written in a channel that reads it ([`flow`]): under the execution
//! mask that is for the channel's own control flow to say, with NoMask for the thread's.
//!
//! What is one register afterwards is an ordinary one with partial writes: liveness, bundles,
//! spilling and the checker know nothing of this. It is only done where more lives than the file
//! has.
//!
//! Needs: [`VCode`] with physical flags, its [`Liveness`]. Makes: the same code with fewer
//! registers.

mod flags;
mod flow;
mod lanes;
#[cfg(test)]
mod tests;

use super::bundles::Bundles;
use super::tied_operands::written;
use crate::mir::liveness::Liveness;
use crate::mir::{Access, MInst, Place, VCode, VReg};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use flow::{Conflicts, Flow};
use lanes::{Lanes, node};

/// Webs that are looked at: those that live where most does, and then those that live longest.
const MOST: usize = 128;

/// A set of webs.
type Set = u128;

/// Channels of a kernel that uses the mask stack and calls nothing.
fn channels(code: &VCode) -> Option<u32> {
    if code.routines.len() != 1 {
        return None;
    }
    code.insts.iter().find_map(|m| match m {
        MInst::Leave { exec, .. } | MInst::Join { exec, .. } => Some(exec.channels()),
        _ => None,
    })
}

/// Makes registers one whose values no channel ever holds at once; how many went. `limit`: bytes of
/// the file: where no more lives at once, nothing is done.
pub(crate) fn share(code: &mut VCode, live: &Liveness, target: &Target, limit: u32) -> u32 {
    let (at, peak) = live.peak();
    if peak <= limit || !live.abandoned.is_empty() {
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
    let flow = Flow {
        code,
        live,
        lanes: &lanes,
        web_of: &web_of,
    };
    let conflicts = flow.conflicts();
    let (unions, gone) = choose(code, &webs, &conflicts);
    if gone > 0 {
        rename(code, &webs, &web_of, &unions, &conflicts.behind);
    }
    gone
}

/// The webs that may be one with others, by their roots: registers that copies join, which are read
/// and written lane by lane. The first ones live at an instruction.
fn webs(code: &VCode, live: &Liveness, lanes: &Lanes<'_>, roots: &[VReg], at: usize) -> Vec<VReg> {
    let mut bad: SecondaryMap<VReg, bool> = SecondaryMap::new();
    // How long each lives, and whether at the instruction.
    let mut lives: SecondaryMap<VReg, (bool, u64)> = SecondaryMap::new();
    let root = |n: u32| roots.get(n as usize).copied();
    for ((r, data), &of) in code.vregs.iter().zip(roots) {
        bad[of] |= data.place != Place::Any
            || !lanes.is_plain(r)
            || lanes.read_across[r]
            || lanes.written_across[r]
            // It has a value that nobody gave it.
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
    out.truncate(MOST);
    out
}

/// The webs that become one, and how many go. Those that may be with fewest others come first, and
/// go to what fewest others may go to, where that saves anything.
fn choose(code: &VCode, webs: &[VReg], conflicts: &Conflicts) -> (Vec<Set>, u32) {
    let mut order: Vec<usize> = (0..webs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(conflicts.with[*n].count_ones()));
    let mut unions: Vec<Union> = Vec::new();
    let mut gone = 0;
    for n in order {
        let Some(&root) = webs.get(n) else { continue };
        let bytes = code.vregs[root].bytes;
        let (with, meets) = (conflicts.with[n], conflicts.meets[n]);
        let fit = |u: &&mut Union| u.bytes == bytes && u.all & with == 0 && u.all & meets != 0;
        let best = unions.iter_mut().filter(fit);
        match best.max_by_key(|u| u.with.count_ones()) {
            Some(u) => {
                (u.all, u.with) = (u.all | 1 << n, u.with | with);
                gone += 1;
            }
            None => unions.push(Union {
                bytes,
                all: 1 << n,
                with,
            }),
        }
    }
    let several = unions.into_iter().map(|u| u.all);
    (several.filter(|u| u.count_ones() > 1).collect(), gone)
}

/// Webs that become one.
struct Union {
    bytes: u32,
    all: Set,
    /// What may not be with them.
    with: Set,
}

/// Gives the registers of webs that become one the name of the first. What began a value begins
/// none where another's still lives.
fn rename(
    code: &mut VCode,
    webs: &[VReg],
    web_of: &SecondaryMap<VReg, Option<u8>>,
    unions: &[Set],
    behind: &[Set],
) {
    let mut union_of: [Option<(VReg, Set)>; MOST] = [None; MOST];
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
    for (m, behind) in code.insts.iter_mut().zip(behind) {
        // Whether a value of another still lives behind what begins here.
        let mut lives = false;
        m.for_each_vreg(|r, a| {
            let others = union(r).filter(|_| a != Access::Use);
            lives |= others.is_some_and(|(_, others)| others & behind != 0);
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
        // What reads and writes one register at once keeps what it does not write.
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
    // What a register of several values has is none of them all along.
    code.labels.retain(|l| union(l.1).is_none());
}

/// Takes out copies of a register to itself.
fn remove_copies(code: &mut VCode) {
    let stays = |m: &MInst| !matches!(m, MInst::Copy { dst, src } if dst == src);
    // How many instructions stay before each.
    let mut before = Vec::with_capacity(code.insts.len() + 1);
    let mut kept = 0;
    for m in &code.insts {
        before.push(kept);
        kept += usize::from(stays(m));
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
    code.insts.retain(stays);
}
