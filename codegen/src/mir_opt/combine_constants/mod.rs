//! Combination of constants in registers that no instruction can hold as an immediate.
//!
//! The legalizer materializes such a constant in a one-lane register right before each use. Here
//! the registers of one value are combined into one. Its move goes where it runs least often: once
//! for all uses, and before their loops. Then two dwords that are made close together become the
//! halves of one qword, where the ALU has 64-bit moves.
//!
//! Two kinds of value that cost moves of their own are shared first: payloads that are made of
//! arguments and immediates (`payloads.rs`), and constants that several edges pass to a block
//! parameter (`edges.rs`).
//!
//! Input: code before liveness. A register that is replaced has one write, by a move of an
//! immediate that rounding does not affect. Only instructions read it. Shared constants take at
//! most an eighth of the GRF file, by savings; allocation rematerializes them under pressure. The
//! work is linear, except for a sort and for climbs in the dominator tree, which are bounded.

mod edges;
mod payloads;
mod place;

use crate::mir::operand::{begins, grf_dst, imm, uniform};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VRegData, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, ExecSize, Op, Src, Type};
use place::{DominatorTree, PlacementSearch, Site};

/// Maximal distance, in instructions, of two moves that become one.
const NEAR: usize = 48;

/// Part of the GRF file that shared constants may take, and shared payloads as much again.
const SHARE: u32 = 8;

/// Constant that is materialized in a register.
#[derive(Clone, Copy)]
struct MaterializedConst {
    /// Routine and block of the move.
    routine: u32,
    block: u32,
    /// Index of the move.
    at: u32,
    reg: VReg,
    bytes: u32,
    bits: u64,
}

impl MaterializedConst {
    /// Returns the key of constants that can share a register.
    fn key(&self) -> (u32, u32, u64) {
        (self.routine, self.bytes, self.bits)
    }
}

/// Constant to materialize, for all of its uses.
struct CombinedConst {
    /// Block of the new move, and the instruction that it goes before.
    block: u32,
    at: u32,
    bytes: u32,
    bits: u64,
    /// Range of the materialized constants that it replaces.
    members: std::ops::Range<usize>,
}

/// Facts about a register.
#[derive(Clone, Copy, Default)]
struct RegFacts {
    /// Set if an immediate is moved to it.
    made: bool,
    /// Routine of that move.
    routine: u32,
    writes: u8,
    /// Set if it is used by anything but sources of instructions in that routine.
    other: bool,
}

/// Returns the register, bytes and bits of a move of an immediate to a whole one-lane register.
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
        && data.constraint == RegConstraint::Any;
    let bits = bits & (u64::MAX >> (64 - 8 * bytes));
    (plain && whole).then_some((reg, bytes, bits))
}

/// Returns constants in registers that only instructions of one routine read.
fn materialized(code: &VCode) -> Vec<MaterializedConst> {
    let mut out = Vec::new();
    let mut seen: SecondaryMap<VReg, RegFacts> = sized(code.vregs.len());
    for (routine, data) in &code.routines {
        for block in data.first..data.end {
            let range = &code.blocks[crate::mir::VBlock::from_u32(block)];
            for at in range.start..range.end {
                if let Some(m) = code.insts.get(at)
                    && let Some((reg, bytes, bits)) = constant(code, m)
                {
                    seen[reg].made = true;
                    seen[reg].routine = routine.as_u32();
                    out.push(MaterializedConst {
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

/// Combines constants where that saves moves, within a budget in bytes.
fn combine(
    code: &VCode,
    made: &mut [MaterializedConst],
    budget: u32,
    tree: Option<DominatorTree>,
) -> Vec<CombinedConst> {
    made.sort_by_key(|m| (m.key(), m.at));
    let mut places = PlacementSearch::new(code, tree);
    let mut chosen: Vec<(u64, CombinedConst)> = Vec::new();
    let mut alone = Vec::new();
    let mut from = 0;
    for group in made.chunk_by(|a, b| a.key() == b.key()) {
        let members = from..from + group.len();
        from = members.end;
        let first = group[0];
        let own = |n: usize, m: &MaterializedConst| CombinedConst {
            block: m.block,
            at: m.at,
            bytes: m.bytes,
            bits: m.bits,
            members: n..n + 1,
        };
        let site = |m: &MaterializedConst| Site {
            block: m.block,
            at: m.at,
        };
        match places.best(group, site) {
            Some((Site { block, at }, gain)) => {
                let wanted = CombinedConst {
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
    // Largest savings first. Constants beyond the budget stay where they were.
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
                alone.extend(own.map(|(n, m)| CombinedConst {
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

/// New move, and the instruction that it goes before.
struct NewMove {
    block: u32,
    at: u32,
    inst: MInst,
}

/// Runs the pass. Returns the number of instructions that were removed.
pub(crate) fn run(code: &mut VCode, target: &Target) -> u32 {
    let budget = target.grf().size() / SHARE;
    let mut tree = None;
    let edges = edges::share(code, &mut tree);
    let payloads = payloads::share(code, budget, &mut tree);
    edges + payloads + constants(code, target, budget, tree)
}

/// Combines constants in registers. Returns the number of moves that were removed.
fn constants(code: &mut VCode, target: &Target, budget: u32, tree: Option<DominatorTree>) -> u32 {
    let mut made = materialized(code);
    if made.len() < 2 {
        return 0;
    }
    let wanted = combine(code, &mut made, budget, tree);
    let wide = target.features().native_i64;
    let mut to: SecondaryMap<VReg, Option<(VReg, u16)>> = sized(code.vregs.len());
    let mut dropped = vec![false; code.insts.len()];
    let mut new = Vec::new();
    let mut replace = |members: &[MaterializedConst], reg: VReg, sub: u16| {
        for m in members {
            to[m.reg] = Some((reg, sub));
            dropped[m.at as usize] = true;
        }
    };
    let mut saved = 0;
    let mut list = wanted.iter().peekable();
    while let Some(a) = list.next() {
        let beside = |b: &&CombinedConst| {
            wide && a.bytes == 4
                && b.bytes == 4
                && a.block == b.block
                && (b.at - a.at) as usize <= NEAR
        };
        let b = list.next_if(|b| beside(b));
        let members = &made[a.members.clone()];
        if b.is_none() && members.len() == 1 && members.iter().all(|m| m.at == a.at) {
            // Unchanged.
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
        new.push(NewMove {
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

/// Inserts the new moves and removes the old ones.
fn rebuild(code: &mut VCode, new: &[NewMove], dropped: &[bool]) {
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
            let here = |n: &&NewMove| n.at as usize == at && n.block as usize == b.index();
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

/// Redirects an instruction's sources to the combined registers.
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
