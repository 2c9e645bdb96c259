//! Dead code elimination: machine instructions whose results nothing reads go.
//!
//! Needs: machine code over virtual registers, whose flags are allocated. Makes: the same, without
//! instructions that only write registers of which no byte is read. Lowering asks for values as a
//! whole, so it may compute parts that splitting and coalescing leave without a reader.
//!
//! A register dies if every instruction that writes it may go, and goes with all of them. Their
//! sources may die in turn. Only writers of registers without a read are looked at closely.

use crate::entity_set::EntityLists;
use crate::mir::insert::remove;
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::effects::{self, Reordering, Storage};
use gantry_isa_gen::{Dst, Inst, Platform, Src};

/// Removes dead instructions. Returns how many.
pub(crate) fn run(code: &mut VCode, target: &Target) -> u32 {
    let platform = target.platform();
    let reads = reads(code);
    let unread_write = |m: &MInst| {
        let mut unread = false;
        m.for_each_vreg(|r, access| unread |= access != Access::Use && reads[r] == 0);
        unread && may_go(platform, m)
    };
    if !code.insts.iter().any(unread_write) {
        return 0;
    }
    remove_unread(code, platform, reads)
}

/// Counts the reads of each register. Registers in fixed places count as read.
fn reads(code: &VCode) -> SecondaryMap<VReg, u32> {
    let mut reads: SecondaryMap<VReg, u32> = sized(code.vregs.len());
    for (r, data) in &code.vregs {
        reads[r] += u32::from(data.constraint != RegConstraint::Any);
    }
    for m in &code.insts {
        m.for_each_vreg(|r, access| reads[r] += u32::from(access == Access::Use));
    }
    reads
}

/// Removes the writers of registers without a read, and those of registers that only these read.
fn remove_unread(code: &mut VCode, platform: Platform, mut reads: SecondaryMap<VReg, u32>) -> u32 {
    let count = code.vregs.len();
    let writers: EntityLists<VReg, u32> = EntityLists::grouped(count, |each| {
        for (i, m) in (0..).zip(&code.insts) {
            m.for_each_vreg(|r, access| {
                if access != Access::Use {
                    each(r, i);
                }
            });
        }
    });
    let mut unread: Vec<VReg> = code.vregs.keys().filter(|r| reads[*r] == 0).collect();
    let mut gone = vec![false; code.insts.len()];
    let mut removed = 0;
    while let Some(r) = unread.pop() {
        let insts = &code.insts;
        let stays = |&i: &u32| !may_go(platform, &insts[i as usize]);
        if writers[r].iter().any(stays) {
            // Its labels stay as well.
            reads[r] = 1;
            continue;
        }
        for &i in &writers[r] {
            gone[i as usize] = true;
            removed += 1;
            insts[i as usize].for_each_vreg(|source, access| {
                if access == Access::Use {
                    reads[source] -= 1;
                    if reads[source] == 0 {
                        unread.push(source);
                    }
                }
            });
        }
    }
    if removed > 0 {
        code.labels.retain(|(_, r)| reads[*r] > 0);
        remove(code, |i| gone[i]);
    }
    removed
}

/// Returns true if an instruction only writes a register, and may be removed if nothing reads it.
fn may_go(platform: Platform, m: &MInst) -> bool {
    match m {
        MInst::Op { inst, .. } => only_writes_register(platform, inst),
        MInst::Copy { .. } | MInst::Start { .. } | MInst::Symbol { .. } => true,
        _ => false,
    }
}

fn only_writes_register(platform: Platform, inst: &Inst<VirtReg>) -> bool {
    let is_indirect = |s: &Src<VirtReg>| matches!(s, Src::Indirect { .. });
    if inst.op.is_send() || inst.srcs.iter().any(is_indirect) {
        return false;
    }
    let Dst::Direct { at, .. } = inst.dst else {
        return false;
    };
    let mut others = at.reg.as_grf().is_none();
    // Every register is a file of its own here.
    let file = |r: VirtReg| r.as_grf().map(|_| 0..u32::MAX);
    let order = effects::accesses(platform, inst, file, |a| {
        others |= a.write && a.storage != Storage::Grf;
    });
    order == Reordering::Free && !others
}
