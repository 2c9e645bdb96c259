//! Sinking of compares to their first use in the block, where flags are too few.
//!
//! A flag that is written long before it is read takes a register in between, or is spilled: two
//! moves. The operands of the compare are in the GRF file, where there is more room. How much of
//! it a block may take so is bounded. Linear time, but for the order of those that move.

use super::{FlagUse, each_named};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, MInst, VCode, VFlag, VReg, VirtReg};
use crate::sized;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Src};
use smallvec::SmallVec;

/// Share of the GRF file by which the operands of a block's compares may be live longer.
const SHARE: u32 = 8;

/// Accesses to a register in the rest of a stretch, while it is walked backward. A stretch is a
/// block, or a part of one up to a call: nothing moves over calls.
#[derive(Clone, Copy, Default)]
struct RegisterUse {
    /// Number of the stretch of code that the others are of, from 1.
    stretch: u32,
    /// Next write, if any.
    write: Option<u32>,
    /// Last read, if any.
    read: Option<u32>,
    /// True if a copy reads it. If that ends the live range, the copy may vanish.
    copied: bool,
}

/// Compare, in pieces that follow each other, and the instruction that it moves to.
struct Sunk {
    first: u32,
    end: u32,
    to: u32,
}

/// Returns the flag that a compare writes, and the one whose bits it keeps. `None` for other
/// instructions, and for compares that depend on more than registers in the GRF file.
pub(super) fn compare(m: &MInst) -> Option<(VFlag, Option<VFlag>)> {
    let MInst::Op { inst, keeps, .. } = m else {
        return None;
    };
    let plain = |s: &Src<VirtReg>| match s {
        Src::Direct { at, .. } => at.reg.is_grf(),
        Src::Imm { .. } | Src::None => true,
        _ => false,
    };
    let alone = inst.pred.is_none() && inst.no_mask && is_null(&inst.dst);
    let flag = inst.cond?.flag.reg.as_flag()?;
    (alone && inst.srcs.iter().all(plain)).then_some((flag, keeps.expand()))
}

fn is_null(dst: &Dst<VirtReg>) -> bool {
    matches!(dst, Dst::Direct { at, .. } if at.reg == VirtReg::NULL)
}

/// Moves compares down to their first uses. Returns the number of those that were moved.
pub(super) fn sink(code: &mut VCode) -> u32 {
    let mut uses: SecondaryMap<VFlag, u32> = sized(code.flags.len());
    for m in &code.insts {
        each_read(m, |f| uses[f] += 1);
    }
    for b in code.blocks.values() {
        for n in 0..b.succs.len() {
            b.flags.args(n).iter().for_each(|&f| uses[f] += 1);
        }
    }
    let mut registers: SecondaryMap<VReg, RegisterUse> = sized(code.vregs.len());
    // Next instruction of the stretch that reads a flag, and the stretch.
    let mut next: SecondaryMap<VFlag, (u32, u32)> = sized(code.flags.len());
    let mut sunk: Vec<Sunk> = Vec::new();
    let mut stretch = 0;
    for b in code.blocks.values() {
        stretch += 1;
        let mut room = code.grf.bytes * code.grf.count / SHARE;
        let mut n = b.end;
        while n > b.start {
            let end = n;
            n -= 1;
            let Some((flag, mut kept)) = compare(&code.insts[n]) else {
                let m = &code.insts[n];
                if let MInst::Call { .. } = m {
                    stretch += 1;
                }
                each_read(m, |f| next[f] = (stretch, n as u32));
                access(m, n as u32, stretch, &mut registers);
                continue;
            };
            // The pieces before it, whose flags have no other use.
            while let Some(k) = kept
                && n > b.start
                && uses[k] == 1
                && let Some((before, keeps)) = compare(&code.insts[n - 1])
                && before == k
            {
                n -= 1;
                kept = keeps;
            }
            let pieces = &code.insts[n..end];
            let to = match next[flag] {
                (of, to) if of == stretch && kept.is_none() => Some(to),
                _ => None,
            };
            let bytes = |r: VReg| code.vregs[r].bytes;
            let to = to.filter(|&to| {
                to > end as u32 && extend(pieces, to, stretch, &mut registers, &mut room, bytes)
            });
            match to {
                Some(to) => sunk.push(Sunk {
                    first: n as u32,
                    end: end as u32,
                    to,
                }),
                None => {
                    for (at, m) in (n as u32..).zip(pieces) {
                        each_read(m, |f| next[f] = (stretch, at));
                        access(m, at, stretch, &mut registers);
                    }
                }
            }
        }
    }
    let count = sunk.len() as u32;
    reorder(code, sunk);
    count
}

/// Calls `f` on every flag that an instruction reads or keeps.
fn each_read(m: &MInst, mut f: impl FnMut(VFlag)) {
    each_named(m, |flag, u| {
        if u != FlagUse::Write {
            f(flag);
        }
    });
    if let MInst::Op { keeps, .. } = m
        && let Some(k) = keeps.expand()
    {
        f(k);
    }
}

/// Records the accesses of an instruction.
fn access(m: &MInst, at: u32, stretch: u32, registers: &mut SecondaryMap<VReg, RegisterUse>) {
    m.for_each_vreg(|r, access| {
        let known = &mut registers[r];
        if known.stretch != stretch {
            *known = RegisterUse {
                stretch,
                ..RegisterUse::default()
            };
        }
        if access == Access::Use {
            known.read = known.read.or(Some(at));
            known.copied |= matches!(m, MInst::Copy { .. });
        } else {
            known.write = Some(at);
        }
    });
}

/// Returns true if a compare may move down to `to`: nothing writes its operands before, and they
/// are live up to there, or there is room for them and no copy ends their live ranges. If so, marks
/// them as read there.
fn extend(
    pieces: &[MInst],
    to: u32,
    stretch: u32,
    registers: &mut SecondaryMap<VReg, RegisterUse>,
    room: &mut u32,
    bytes: impl Fn(VReg) -> u32,
) -> bool {
    let mut longer: SmallVec<[VReg; 4]> = SmallVec::new();
    let mut free = true;
    for m in pieces {
        m.for_each_vreg(|r, _| {
            let known = registers[r];
            let here = known.stretch == stretch;
            free &= !here || known.write.is_none_or(|w| w >= to);
            let read = here && known.read.is_some_and(|l| l >= to);
            free &= read || !here || !known.copied;
            if !read && !longer.contains(&r) {
                longer.push(r);
            }
        });
    }
    let more: u32 = longer.iter().map(|&r| bytes(r)).sum();
    if !free || more > *room {
        return false;
    }
    *room -= more;
    for r in longer {
        let write = Some(registers[r]).filter(|k| k.stretch == stretch);
        registers[r] = RegisterUse {
            stretch,
            write: write.and_then(|k| k.write),
            read: Some(to),
            copied: write.is_some_and(|k| k.copied),
        };
    }
    true
}

/// Moves compares to where they are sunk.
fn reorder(code: &mut VCode, mut sunk: Vec<Sunk>) {
    if sunk.is_empty() {
        return;
    }
    // Those that move to one place stay in order.
    sunk.sort_unstable_by_key(|s| (s.to, s.first));
    let mut gone = vec![false; code.insts.len()];
    for s in &sunk {
        gone[s.first as usize..s.end as usize].fill(true);
    }
    let old = std::mem::take(&mut code.insts);
    let mut out = Vec::with_capacity(old.len());
    let mut locs = SrcLocs::default();
    let mut put = |n: usize, out: &mut Vec<MInst>| {
        locs.push(out.len(), code.locs.get(n));
        out.extend(old.get(n).copied());
    };
    let mut sunk = sunk.into_iter().peekable();
    for (n, gone) in gone.into_iter().enumerate() {
        while let Some(s) = sunk.next_if(|s| s.to as usize == n) {
            (s.first..s.end).for_each(|n| put(n as usize, &mut out));
        }
        if !gone {
            put(n, &mut out);
        }
    }
    (code.insts, code.locs) = (out, locs);
}
