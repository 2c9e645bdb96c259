//! Constants in registers: what many instructions want and none of them can hold as an immediate.
//!
//! The legalizer makes a register of one lane right before each instruction that wants one. Here
//! those of one value become one register, made where that costs least: once for all of them, and
//! before the loops that they are in. Then two doublewords that are made side by side become the
//! halves of one quadword, which is one move of 64 bits, where the ALU has those.
//!
//! Needs code before liveness. Keeps what it computes: a register that is replaced is written once,
//! by a move of an immediate that no rounding mode changes, and read by instructions alone. What is
//! shared takes at most an eighth of the file, by what it saves; allocation makes it again where it
//! is short of room. The work is linear, but for a sort, and for climbs in the tree of dominators,
//! which have a bound.

mod place;

use crate::mir::operand::{begins, grf_dst, imm, uniform};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, MInst, Place, VCode, VReg, VRegData, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, ExecSize, Op, Src, Type};
use place::Places;

/// How far apart, in instructions, the moves are that become one.
const NEAR: usize = 48;

/// A register that an immediate is moved to.
#[derive(Clone, Copy)]
struct Made {
    /// The routine and the block that the move is in.
    routine: u32,
    block: u32,
    /// The move.
    at: u32,
    reg: VReg,
    bytes: u32,
    bits: u64,
}

impl Made {
    /// Registers of one routine with the same are one.
    fn key(&self) -> (u32, u32, u64) {
        (self.routine, self.bytes, self.bits)
    }
}

/// A constant that is to be in a register, for all that want it.
struct Wanted {
    /// Where it is made: before this instruction of this block.
    block: u32,
    at: u32,
    bytes: u32,
    bits: u64,
    /// Those that it stands for, of all that were made.
    members: std::ops::Range<usize>,
}

/// What is known of a register.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Whether an immediate is moved to it.
    made: bool,
    /// The routine of that move.
    routine: u32,
    writes: u8,
    /// Whether anything but an instruction's source is about it, or another routine is.
    other: bool,
}

/// What a move of an immediate to all of a register of one lane puts there.
fn constant(code: &VCode, m: &MInst) -> Option<(VReg, u32, u64)> {
    let MInst::Op {
        inst, starts: true, ..
    } = m
    else {
        return None;
    };
    if inst.op != Op::Mov {
        return None;
    }
    let &Dst::Direct { at, ty, hs: 1 } = &inst.dst else {
        return None;
    };
    let &Src::Imm { bits, ty: of } = &inst.srcs[0] else {
        return None;
    };
    let reg = at.reg.as_grf()?;
    let plain = inst.no_mask
        && !inst.sat
        && inst.pred.is_none()
        && inst.cond.is_none()
        && ty == of
        && !ty.is_packed_imm()
        && inst.exec == ExecSize::S1;
    let data = &code.vregs[reg];
    let bytes = ty.bytes();
    let whole = at.sub == 0
        && matches!(bytes, 2 | 4 | 8)
        && data.bytes == bytes
        && data.align <= bytes
        && data.place == Place::Any;
    let bits = bits & (u64::MAX >> (64 - 8 * bytes));
    (plain && whole).then_some((reg, bytes, bits))
}

/// The constants that are in registers of their own, which instructions of one routine read and
/// nothing else does.
fn made(code: &VCode) -> Vec<Made> {
    let mut out = Vec::new();
    let mut seen: SecondaryMap<VReg, Seen> = sized(code.vregs.len());
    for (routine, data) in &code.routines {
        for block in data.first..data.end {
            let range = &code.blocks[crate::mir::VBlock::from_u32(block)];
            for at in range.start..range.end {
                if let Some(m) = code.insts.get(at)
                    && let Some((reg, bytes, bits)) = constant(code, m)
                {
                    seen[reg].made = true;
                    seen[reg].routine = routine.as_u32();
                    out.push(Made {
                        routine: routine.as_u32(),
                        block,
                        at: at as u32,
                        reg,
                        bytes,
                        bits,
                    });
                }
            }
        }
    }
    if out.is_empty() {
        return out;
    }
    for (_, reg) in &code.labels {
        seen[*reg].other = true;
    }
    for routine in code.routines.keys() {
        for m in &code.insts[code.routine_insts(routine)] {
            let operation = matches!(m, MInst::Op { .. });
            m.for_each_vreg(|r, access| {
                if seen.get(r).is_some_and(|s| s.made) {
                    let s = &mut seen[r];
                    s.writes = s.writes.saturating_add(u8::from(access != Access::Use));
                    s.other |= !operation || s.routine != routine.as_u32();
                }
            });
        }
    }
    out.retain(|m| !seen[m.reg].other && seen[m.reg].writes == 1);
    out
}

/// The constants that there are, each once where that saves something.
fn shared(code: &VCode, made: &mut [Made], budget: u32) -> Vec<Wanted> {
    made.sort_by_key(|m| (m.key(), m.at));
    let mut places = Places::new(code);
    let mut chosen: Vec<(u64, Wanted)> = Vec::new();
    let mut alone = Vec::new();
    let mut from = 0;
    for group in made.chunk_by(|a, b| a.key() == b.key()) {
        let members = from..from + group.len();
        from = members.end;
        let first = group[0];
        let own = |n: usize, m: &Made| Wanted {
            block: m.block,
            at: m.at,
            bytes: m.bytes,
            bits: m.bits,
            members: n..n + 1,
        };
        match places.best(group) {
            Some((block, at, gain)) => {
                let wanted = Wanted {
                    block,
                    at,
                    members,
                    ..own(0, &first)
                };
                chosen.push((gain, wanted));
            }
            None => alone.extend(members.clone().zip(group).map(|(n, m)| own(n, m))),
        }
    }
    // What saves most comes first: what is left out is made where it was.
    chosen.sort_by_key(|(gain, w)| (std::cmp::Reverse(*gain), w.at, w.bits));
    let mut room = budget;
    for (_, wanted) in chosen {
        match room.checked_sub(wanted.bytes) {
            Some(rest) => {
                room = rest;
                alone.push(wanted);
            }
            None => {
                let members = wanted.members.clone();
                let own = members.zip(&made[wanted.members]);
                alone.extend(own.map(|(n, m)| Wanted {
                    block: m.block,
                    at: m.at,
                    bytes: m.bytes,
                    bits: m.bits,
                    members: n..n + 1,
                }));
            }
        }
    }
    alone.sort_by_key(|w| (w.at, w.block, w.bytes, w.bits));
    alone
}

/// A move that stands before an instruction from now on.
struct New {
    block: u32,
    at: u32,
    inst: MInst,
}

/// Makes constants in registers once for all that want them. Gives how many moves there are less.
pub(crate) fn share(code: &mut VCode, target: &Target) -> u32 {
    let mut made = made(code);
    if made.len() < 2 {
        return 0;
    }
    let wanted = shared(code, &mut made, target.grf().size() / 8);
    let wide = target.features().native_i64;
    let mut to: SecondaryMap<VReg, Option<(VReg, u16)>> = sized(code.vregs.len());
    let mut dropped = vec![false; code.insts.len()];
    let mut new = Vec::new();
    let mut replace = |members: &[Made], reg: VReg, sub: u16| {
        for m in members {
            to[m.reg] = Some((reg, sub));
            dropped[m.at as usize] = true;
        }
    };
    let mut saved = 0;
    let mut list = wanted.iter().peekable();
    while let Some(a) = list.next() {
        let beside = |b: &&Wanted| {
            wide && a.bytes == 4
                && b.bytes == 4
                && a.block == b.block
                && (b.at - a.at) as usize <= NEAR
        };
        let b = list.next_if(|b| beside(b));
        let members = &made[a.members.clone()];
        if b.is_none() && members.len() == 1 && members.iter().all(|m| m.at == a.at) {
            // As it was.
            continue;
        }
        let (bits, ty) = match b {
            Some(b) => (a.bits | b.bits << 32, Type::Uq),
            None => (
                a.bits,
                [Type::Uw, Type::Ud, Type::Uq][(a.bytes / 4) as usize],
            ),
        };
        let reg = code.vregs.push(VRegData::anywhere(ty.bytes(), code.grf));
        let inst = uniform(Op::Mov, grf_dst(reg, ty), [imm(bits, ty)]);
        new.push(New {
            block: a.block,
            at: a.at,
            inst: begins(inst),
        });
        replace(members, reg, 0);
        saved += members.len() - 1;
        if let Some(b) = b {
            let members = &made[b.members.clone()];
            replace(members, reg, 4);
            saved += members.len();
        }
    }
    if new.is_empty() {
        return 0;
    }
    rebuild(code, &new, &dropped);
    for m in &mut code.insts {
        redirect(m, &to);
    }
    saved as u32
}

/// Puts new moves where they belong, and takes out what they replace.
fn rebuild(code: &mut VCode, new: &[New], dropped: &[bool]) {
    let old = std::mem::take(&mut code.insts);
    let locs = std::mem::take(&mut code.locs);
    let mut cursor = locs.cursor();
    let mut out = Vec::with_capacity(old.len());
    let mut to = SrcLocs::default();
    let mut next = new.iter().peekable();
    for (b, data) in code.blocks.iter_mut() {
        let range = data.start..data.end;
        data.start = out.len();
        for at in range {
            let here = |n: &&New| n.at as usize == at && n.block as usize == b.index();
            to.push(out.len(), cursor.at(at));
            while let Some(n) = next.next_if(here) {
                out.push(n.inst);
            }
            if !dropped[at] {
                out.push(old[at]);
            }
        }
        data.end = out.len();
    }
    (code.insts, code.locs) = (out, to);
}

/// Reads what stands for a register now.
fn redirect(m: &mut MInst, to: &SecondaryMap<VReg, Option<(VReg, u16)>>) {
    let MInst::Op { inst, .. } = m else { return };
    for s in &mut inst.srcs {
        if let Src::Direct { at, .. } | Src::Macro { at, .. } = s
            && let Some(r) = at.reg.as_grf()
            && let Some((reg, sub)) = to.get(r).copied().flatten()
        {
            at.reg = VirtReg::grf(reg);
            at.sub += sub;
        }
    }
}
