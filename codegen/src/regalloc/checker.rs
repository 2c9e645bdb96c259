//! The checker: follows every byte of the register file through the placed code and says where an instruction reads a byte that
//! another value has overwritten.
//!
//! It knows nothing of ranges, bundles or the map: only instructions and addresses. A byte belongs to the register that last wrote it; where
//! paths meet with different owners it belongs to nobody.

use super::Allocation;
use crate::vcode::{Access, MInst, Place, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::EntityRef;
use gantry_isa_gen::{Dst, Inst, Op, Region, Src};

/// Who owns a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// What the thread started with.
    Payload,
    /// The value of a register.
    Reg(VReg),
    /// The value of the first register, which the second's is being made over, and may leave undefined here.
    Over(VReg, VReg),
    /// Different values on different paths.
    Nobody,
}

type State = Vec<Owner>;

fn write(state: &mut State, at: u32, bytes: u32, owner: Owner) {
    for b in state.iter_mut().skip(at as usize).take(bytes as usize) {
        *b = owner;
    }
}

/// Checks a placement.
///
/// # Errors
/// The first read of a byte that does not hold the value read.
pub fn check(code: &VCode, alloc: &Allocation) -> Result<(), String> {
    let mut entry: Vec<Option<State>> = vec![None; code.blocks.len()];
    if let Some(first) = entry.first_mut() {
        *first = Some(vec![Owner::Payload; code.grf.size() as usize]);
    }
    let mut work = vec![0usize];
    // First the states at block starts, until nothing changes; then one pass that reports.
    while let Some(b) = work.pop() {
        let Some(mut state) = entry.get(b).cloned().flatten() else {
            continue;
        };
        let block = VBlock::new(b);
        for m in code.block_insts(block) {
            step(code, alloc, m, &mut state);
        }
        for s in &code.blocks[block].succs {
            let changed = match &mut entry[s.index()] {
                slot @ None => {
                    *slot = Some(state.clone());
                    true
                }
                Some(old) => {
                    let mut changed = false;
                    for (o, n) in old.iter_mut().zip(&state) {
                        if *o != *n && *o != Owner::Nobody {
                            *o = Owner::Nobody;
                            changed = true;
                        }
                    }
                    changed
                }
            };
            if changed {
                work.push(s.index());
            }
        }
    }
    for (block, data) in &code.blocks {
        let Some(mut state) = entry[block.index()].clone() else {
            continue;
        };
        for i in data.start..data.end {
            let m = &code.insts[i];
            let mut wrong = None;
            reads(code, m, |r, start, bytes| {
                if wrong.is_none() && !owned(code, alloc, &state, r, start, bytes) {
                    wrong = Some(r);
                }
            });
            if let Some(r) = wrong {
                return Err(format!(
                    "instruction {i} (`{m}`) reads {r} at byte {}, which another value has overwritten",
                    alloc.address[r]
                ));
            }
            step(code, alloc, m, &mut state);
        }
    }
    Ok(())
}

/// Calls `f` on every run of bytes of a register that an instruction reads: lane by lane where regions say which, else the whole register.
fn reads(code: &VCode, m: &MInst, mut f: impl FnMut(VReg, u32, u32)) {
    let regions = match m {
        MInst::Op { inst, .. } if !is_message(inst) => Some(inst),
        _ => None,
    };
    let Some(inst) = regions else {
        m.for_each_vreg(|r, a| {
            if a == Access::Use {
                f(r, 0, code.vregs[r].bytes);
            }
        });
        return;
    };
    for s in &inst.srcs {
        match *s {
            Src::Direct { at, region, ty, .. } => {
                let VirtReg::Grf(r) = at.reg else { continue };
                let lane = |n: u32| -> Option<u32> {
                    Some(match region {
                        Region::Rect { vs, w, hs } => {
                            let w = u32::from(w).max(1);
                            n / w * u32::from(vs) + n % w * u32::from(hs)
                        }
                        Region::Ternary { hs, .. } | Region::Scalar3 { hs } => n * u32::from(hs),
                        Region::VxH { .. } => return None,
                    })
                };
                let size = ty.bytes();
                for n in 0..inst.exec.channels() {
                    match lane(n) {
                        Some(e) => f(r, u32::from(at.sub) + e * size, size),
                        None => f(r, 0, code.vregs[r].bytes),
                    }
                }
            }
            Src::Macro { at, .. } => {
                if let VirtReg::Grf(r) = at.reg {
                    f(r, 0, code.vregs[r].bytes);
                }
            }
            _ => {}
        }
    }
}

fn is_message(inst: &Inst<VirtReg>) -> bool {
    matches!(inst.op, Op::Send | Op::Sendc | Op::Sends | Op::Sendsc)
}

/// The lanes that an instruction writes of its destination, as bytes from the register's start; none where the whole register is meant.
fn written(m: &MInst) -> Option<(u32, u32, u32, u32)> {
    match m {
        MInst::Op { inst, .. } if !is_message(inst) => match inst.dst {
            Dst::Direct { at, hs, ty } => Some((
                u32::from(at.sub),
                inst.exec.channels(),
                u32::from(hs) * ty.bytes(),
                ty.bytes(),
            )),
            _ => None,
        },
        _ => None,
    }
}

fn owned(code: &VCode, alloc: &Allocation, state: &State, r: VReg, start: u32, bytes: u32) -> bool {
    let d = &code.vregs[r];
    let at = (alloc.address[r] + start) as usize;
    // What three-source instructions read of channels behind a register's end goes nowhere.
    let bytes = bytes.min(d.bytes.saturating_sub(start));
    let payload = matches!(d.place, Place::Fixed(_));
    state.iter().skip(at).take(bytes as usize).all(|o| match o {
        Owner::Reg(x) => *x == r,
        Owner::Over(x, y) => *x == r || *y == r,
        Owner::Payload => payload,
        Owner::Nobody => false,
    })
}

fn step(code: &VCode, alloc: &Allocation, m: &MInst, state: &mut State) {
    m.for_each_vreg(|r, a| {
        let at = alloc.address[r];
        let all = code.vregs[r].bytes;
        match (a, written(m)) {
            (Access::Use, _) => {}
            // What begins a value may leave bytes of it undefined, unless another's lie there that are still read.
            (Access::Def, lanes) => match (lanes, read_below(code, alloc, m, r)) {
                (Some(lanes), Some(below)) => {
                    write(state, at, all, Owner::Over(below, r));
                    write_lanes(state, at, lanes, r);
                }
                _ => write(state, at, all, Owner::Reg(r)),
            },
            // The rest stays whoever's it is: it is looked at when it is read.
            (Access::Modify, Some(lanes)) => write_lanes(state, at, lanes, r),
            (Access::Modify, None) => {
                let owner = match owned(code, alloc, state, r, 0, all) {
                    true => Owner::Reg(r),
                    false => Owner::Nobody,
                };
                write(state, at, all, owner);
            }
        }
    });
}

/// Another register that an instruction reads and that is in its destination's place.
fn read_below(code: &VCode, alloc: &Allocation, m: &MInst, dst: VReg) -> Option<VReg> {
    let mut below = None;
    m.for_each_vreg(|r, a| {
        if a == Access::Use
            && r != dst
            && alloc.address[r] == alloc.address[dst]
            && code.vregs[r].bytes == code.vregs[dst].bytes
        {
            below = Some(r);
        }
    });
    below
}

fn write_lanes(
    state: &mut State,
    at: u32,
    (sub, lanes, step, size): (u32, u32, u32, u32),
    r: VReg,
) {
    for n in 0..lanes {
        write(state, at + sub + n * step, size, Owner::Reg(r));
    }
}
