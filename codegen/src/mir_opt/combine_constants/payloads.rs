//! Payloads made of arguments and immediates: one for all messages that take it.
//!
//! An argument lies where the launch put it. A message that needs it at a GRF takes a copy, and so
//! does one that adds a constant to it in a header. Arguments never change, so equal copies are one
//! value. It is made once, where that runs least often: in the nearest common dominator, before
//! loops. In arms of a branch, copies of an argument that may be the payload itself stay.
//!
//! A payload is a register of one or two GRFs that only messages read. A few integer instructions
//! of one block make it, from arguments, immediates and itself. The two payloads of one message
//! stay apart. Shared payloads take a bounded part of the GRF file, by savings.

use super::place::{DominatorTree, PlacementSearch, Site};
use super::{NewMove, rebuild};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, RegConstraint, VBlock, VCode, VReg, VirtReg};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_isa_gen::{Dst, Inst, Op, Src};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximal instructions that make a payload.
const MAX_INSTS: usize = 4;
/// Maximal GRFs of a payload.
const MAX_GRFS: u32 = 2;

/// Payload, and the instructions that make it.
struct Payload {
    routine: u32,
    site: Site,
    reg: VReg,
    insts: SmallVec<[u32; 1]>,
    /// Number of the group of equal payloads.
    group: u32,
    /// Set once a message has read it.
    read: bool,
    /// Set if it is no payload after all.
    other: bool,
}

/// Instructions that make a payload, with the null register in its place.
#[derive(PartialEq, Eq, Hash)]
struct Recipe {
    routine: u32,
    bytes: u32,
    align: u32,
    insts: SmallVec<[Inst<VirtReg>; 1]>,
}

/// Returns the register that an instruction writes if its result depends on arguments, immediates
/// and the register's own value alone.
fn written(code: &VCode, inst: &Inst<VirtReg>) -> Option<VReg> {
    let op = matches!(
        inst.op,
        Op::Mov | Op::Add | Op::Shl | Op::Shr | Op::And | Op::Or
    );
    let all = inst.no_mask && inst.pred.is_none() && inst.cond.is_none() && !inst.sat;
    let &Dst::Direct { at, ty, .. } = &inst.dst else {
        return None;
    };
    if !op || !all || ty.is_float() {
        return None;
    }
    let to = at.reg.as_grf()?;
    let data = &code.vregs[to];
    let grf = code.grf.bytes;
    let whole = data.bytes.is_multiple_of(grf) && data.bytes <= MAX_GRFS * grf;
    let stays = |s: &Src<VirtReg>| match *s {
        Src::Direct { at, ty, .. } => at.reg.as_grf().is_some_and(|r| {
            let fixed = matches!(code.vregs[r].constraint, RegConstraint::Fixed(_));
            !ty.is_float() && (fixed || r == to)
        }),
        Src::Imm { ty, .. } => !ty.is_float(),
        Src::None => true,
        _ => false,
    };
    let free = data.constraint == RegConstraint::Any;
    (whole && free && inst.srcs.iter().all(stays)).then_some(to)
}

/// Payloads of a function, by register.
struct Payloads {
    all: Vec<Payload>,
    of: SecondaryMap<VReg, PackedOption<Number>>,
}

/// Number of a payload.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number(u32);
cranelift_entity::entity_impl!(Number);

impl Payloads {
    /// Collects the registers that may be payloads.
    fn candidates(code: &VCode) -> Payloads {
        let mut out = Payloads {
            all: Vec::new(),
            of: SecondaryMap::new(),
        };
        for (routine, data) in &code.routines {
            for block in data.first..data.end {
                let range = &code.blocks[VBlock::from_u32(block)];
                let insts = &code.insts[range.start..range.end];
                for (at, m) in (range.start as u32..).zip(insts) {
                    let &MInst::Op {
                        ref inst, starts, ..
                    } = m
                    else {
                        continue;
                    };
                    let Some(reg) = written(code, inst) else {
                        continue;
                    };
                    let known = out.of[reg].expand();
                    match known.and_then(|n| out.all.get_mut(n.0 as usize)) {
                        Some(p) => {
                            let more = !starts && p.site.block == block;
                            p.other |= !more || p.insts.len() == MAX_INSTS;
                            p.insts.push(at);
                        }
                        None if starts => {
                            out.of[reg] = Number(out.all.len() as u32).into();
                            out.all.push(Payload {
                                routine: routine.as_u32(),
                                site: Site { block, at },
                                reg,
                                insts: SmallVec::from_slice(&[at]),
                                group: 0,
                                read: false,
                                other: false,
                            });
                        }
                        None => {}
                    }
                }
            }
        }
        out
    }

    fn get(&self, r: VReg) -> Option<usize> {
        self.of.get(r).copied()?.expand().map(|n| n.0 as usize)
    }

    /// Gives equal payloads one group. Returns the number of groups.
    fn group(&mut self, code: &VCode) -> u32 {
        let mut groups: FxHashMap<Recipe, u32> = FxHashMap::default();
        for p in &mut self.all {
            let data = &code.vregs[p.reg];
            let insts = p.insts.iter();
            let key = Recipe {
                routine: p.routine,
                bytes: data.bytes,
                align: data.align,
                insts: insts
                    .filter_map(|&i| instruction(code, i, p.reg, VirtReg::NULL))
                    .collect(),
            };
            let next = groups.len() as u32;
            p.group = *groups.entry(key).or_insert(next);
        }
        groups.len() as u32
    }

    /// Finds out who reads the payloads. Returns the groups of which a message takes two.
    fn check(&mut self, code: &VCode) -> EntitySet<Group> {
        let mut apart: EntitySet<Group> = EntitySet::new();
        let mut written: EntitySet<VReg> = EntitySet::new();
        for (i, m) in (0..).zip(&code.insts) {
            let send = matches!(m, MInst::Op { inst, .. } if inst.op.is_send());
            let mut taken: Option<(VReg, u32)> = None;
            m.for_each_vreg(|r, access| {
                let fixed = matches!(code.vregs[r].constraint, RegConstraint::Fixed(_));
                if access != Access::Use && fixed {
                    written.insert(r);
                }
                let Some(n) = self.get(r) else { return };
                let p = &mut self.all[n];
                let own = p.insts.contains(&i);
                match access {
                    Access::Use if own => {}
                    Access::Use => {
                        p.other |= !send;
                        p.read = true;
                        if taken.is_some_and(|(other, group)| other != r && group == p.group) {
                            apart.insert(Group(p.group));
                        }
                        taken = Some((r, p.group));
                    }
                    _ => p.other |= !own || p.read,
                }
            });
        }
        for (_, r) in &code.labels {
            if let Some(n) = self.get(*r) {
                self.all[n].other = true;
            }
        }
        for p in &mut self.all {
            for &i in &p.insts {
                if let Some(m) = code.insts.get(i as usize) {
                    m.for_each_vreg(|r, _| p.other |= written.contains(r));
                }
            }
        }
        apart
    }
}

/// Returns true for a copy of an argument that lies at the start of a GRF, where it may be the
/// payload itself.
fn is_in_place(code: &VCode, p: &Payload) -> bool {
    let &[i] = &p.insts[..] else { return false };
    let Some(MInst::Op { inst, .. }) = code.insts.get(i as usize) else {
        return false;
    };
    let &Src::Direct { at, .. } = &inst.srcs[0] else {
        return false;
    };
    let fixed = at.reg.as_grf().map(|r| code.vregs[r].constraint);
    let Some(RegConstraint::Fixed(start)) = fixed else {
        return false;
    };
    inst.op == Op::Mov && (start + u32::from(at.sub)).is_multiple_of(code.grf.bytes)
}

/// Number of a group of equal payloads.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group(u32);
cranelift_entity::entity_impl!(Group);

/// Returns an instruction with one register in place of another.
fn instruction(code: &VCode, i: u32, from: VReg, to: VirtReg) -> Option<Inst<VirtReg>> {
    let MInst::Op { mut inst, .. } = *code.insts.get(i as usize)? else {
        return None;
    };
    let from = VirtReg::grf(from);
    for s in &mut inst.srcs {
        if let Src::Direct { at, .. } = s
            && at.reg == from
        {
            at.reg = to;
        }
    }
    if let Dst::Direct { at, .. } = &mut inst.dst
        && at.reg == from
    {
        at.reg = to;
    }
    Some(inst)
}

/// Makes equal payloads once. `budget` is the number of bytes that those may take. Returns the
/// number of instructions that were removed.
pub(super) fn share(code: &mut VCode, budget: u32, tree: &mut Option<DominatorTree>) -> u32 {
    let mut payloads = Payloads::candidates(code);
    let straight = code.blocks.len() == code.routines.len();
    if payloads.all.is_empty() || straight && payloads.all.len() < 2 {
        return 0;
    }
    let groups = payloads.group(code) as usize;
    let loops = Loops::new(code);
    let in_loop = |p: &Payload| loops.depth(VBlock::from_u32(p.site.block)) > 0;
    if groups == payloads.all.len() && !payloads.all.iter().any(in_loop) {
        return 0;
    }
    let apart = payloads.check(code);
    let mut all = payloads.all;
    all.retain(|p| !p.other && p.read && !apart.contains(Group(p.group)));
    all.sort_by_key(|p| (p.group, p.site.at));
    let mut search = PlacementSearch::new(code, tree.take());
    let mut chosen = Vec::new();
    for group in all.chunk_by(|a, b| a.group == b.group) {
        if let (Some((to, gain)), Some(first)) = (search.best(group, |p| p.site), group.first()) {
            // No path through arms of a branch gets shorter, and in an arm the copy may vanish.
            let arms = group
                .iter()
                .all(|p| p.site.block != to.block && !in_loop(p));
            if arms && is_in_place(code, first) {
                continue;
            }
            let saved = gain.saturating_mul(first.insts.len() as u64);
            chosen.push((saved, to, first, group));
        }
    }
    *tree = search.tree();
    chosen.sort_by_key(|&(saved, to, ..)| (std::cmp::Reverse(saved), to.at, to.block));
    let mut room = budget;
    let mut gone = vec![false; code.insts.len()];
    let mut new = Vec::new();
    let mut names: Vec<(VReg, VReg)> = Vec::new();
    let mut removed = 0;
    for (_, to, first, group) in chosen {
        let Some(rest) = room.checked_sub(code.vregs[first.reg].bytes) else {
            continue;
        };
        room = rest;
        for p in group {
            p.insts.iter().for_each(|&i| gone[i as usize] = true);
            names.push((p.reg, first.reg));
        }
        removed += first.insts.len() * (group.len() - 1);
        for (n, &i) in first.insts.iter().enumerate() {
            if let Some(inst) = instruction(code, i, first.reg, VirtReg::grf(first.reg)) {
                let inst = MInst::Op {
                    inst,
                    starts: n == 0,
                    keeps: None.into(),
                };
                new.push(NewMove {
                    block: to.block,
                    at: to.at,
                    inst,
                });
            }
        }
    }
    if new.is_empty() {
        return 0;
    }
    new.sort_by_key(|n| (n.at, n.block));
    let mut to: SecondaryMap<VReg, PackedOption<VReg>> = sized(code.vregs.len());
    for (from, name) in names {
        to[from] = name.into();
    }
    rebuild(code, &new, &gone);
    for m in &mut code.insts {
        m.map_vregs(|r, _| to.get(r).and_then(|n| n.expand()).unwrap_or(r));
    }
    removed as u32
}
