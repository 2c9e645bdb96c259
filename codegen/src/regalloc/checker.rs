//! The checker: follows every byte of the register file through the placed code and says where an instruction reads a byte that
//! another value has overwritten.
//!
//! It knows nothing of ranges, bundles or the map: only instructions and addresses. A byte belongs to the register that last wrote it; where
//! paths meet with different owners it belongs to nobody.

use super::Allocation;
use crate::vcode::{Access, MInst, Place, VBlock, VCode, VReg};
use cranelift_entity::EntityRef;

/// Who owns a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// What the thread started with.
    Payload,
    /// The value of a register.
    Reg(VReg),
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
            m.for_each_vreg(|r, a| {
                if a == Access::Use && wrong.is_none() && !owned(code, alloc, &state, r) {
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

fn owned(code: &VCode, alloc: &Allocation, state: &State, r: VReg) -> bool {
    let d = &code.vregs[r];
    let at = alloc.address[r] as usize;
    let payload = matches!(d.place, Place::Fixed(_));
    state
        .iter()
        .skip(at)
        .take(d.bytes as usize)
        .all(|o| match o {
            Owner::Reg(x) => *x == r,
            Owner::Payload => payload,
            Owner::Nobody => false,
        })
}

fn step(code: &VCode, alloc: &Allocation, m: &MInst, state: &mut State) {
    m.for_each_vreg(|r, a| {
        // A partial write of a value that is elsewhere overwritten is caught when the rest is read.
        if a == Access::Def || a == Access::Modify && owned(code, alloc, state, r) {
            write(state, alloc.address[r], code.vregs[r].bytes, Owner::Reg(r));
        } else if a == Access::Modify {
            write(state, alloc.address[r], code.vregs[r].bytes, Owner::Nobody);
        }
    });
}
