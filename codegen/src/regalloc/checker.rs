//! The checker: follows every byte of the register file through the placed code and says where an instruction reads a byte that
//! another value has overwritten.
//!
//! It knows nothing of ranges, bundles or the map: only instructions and addresses. A byte belongs to the register that last wrote it; where
//! paths meet with different owners it belongs to nobody.

use super::Allocation;
use crate::vcode::routines;
use crate::vcode::{Access, MInst, Place, Routine, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, Inst, Op, Region, Src};
use std::collections::BTreeSet;

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

/// The owners of all bytes: where runs of bytes of one owner start, in order, the first at 0.
#[derive(Clone, PartialEq)]
struct State(Vec<(u32, Owner)>);

impl State {
    /// The run that a byte is in.
    fn run(&self, at: u32) -> usize {
        self.0.partition_point(|r| r.0 <= at).saturating_sub(1)
    }

    fn write(&mut self, at: u32, bytes: u32, owner: Owner) {
        let (first, end) = (self.run(at), at + bytes);
        let last = self.run(end);
        let Some(&(last_start, after)) = self.0.get(last) else {
            return;
        };
        let keep_first = self.0.get(first).is_some_and(|r| r.0 < at);
        let from = first + usize::from(keep_first);
        // What the last run owns goes on behind, unless it begins there.
        let behind = (last_start < end).then_some((end, after));
        let to = last + usize::from(last_start < end);
        let new = [Some((at, owner)), behind].into_iter().flatten();
        self.0.splice(from..to.max(from), new);
    }

    /// Makes bytes that another state has otherwise nobody's; whether any changed.
    fn meet(&mut self, other: &State) -> bool {
        let mut out: Vec<(u32, Owner)> = Vec::with_capacity(self.0.len());
        let (mut i, mut j, mut at) = (0, 0, 0);
        let mut changed = false;
        while let (Some(&(_, a)), Some(&(_, b))) = (self.0.get(i), other.0.get(j)) {
            let owner = if a == b { a } else { Owner::Nobody };
            changed |= owner != a;
            if out.last().is_none_or(|r| r.1 != owner) {
                out.push((at, owner));
            }
            let next = |s: &State, n: usize| s.0.get(n + 1).map_or(u32::MAX, |r| r.0);
            let (x, y) = (next(self, i), next(other, j));
            at = x.min(y);
            if at == u32::MAX {
                break;
            }
            i += usize::from(x == at);
            j += usize::from(y == at);
        }
        self.0 = out;
        changed
    }
}

/// The bytes of the file that a routine may write, those that it calls included: runs in order, not touching.
fn written_bytes(code: &VCode, alloc: &Allocation) -> SecondaryMap<Routine, Vec<(u32, u32)>> {
    let mut out: SecondaryMap<Routine, Vec<(u32, u32)>> = SecondaryMap::new();
    for routine in code.routines.keys().rev().filter(|r| r.index() > 0) {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let insts = code.routine_insts(routine);
        for m in code.insts.get(insts).unwrap_or(&[]) {
            m.for_each_vreg(|r, a| {
                let at = alloc.address[r];
                if a != Access::Use {
                    runs.push((at, at + code.vregs[r].bytes));
                }
            });
            if let MInst::Call { routine, .. } = m {
                runs.extend_from_slice(&out[*routine]);
            }
        }
        runs.sort_unstable();
        runs.dedup_by(|next, prev| {
            let touch = next.0 <= prev.1;
            if touch {
                prev.1 = prev.1.max(next.1);
            }
            touch
        });
        out[routine] = runs;
    }
    out
}

/// What is known of routines while states are found.
struct Routines {
    of_blocks: Vec<Routine>,
    written: SecondaryMap<Routine, Vec<(u32, u32)>>,
    /// The owners where a routine returns, if it is known to.
    exits: SecondaryMap<Routine, Option<State>>,
    /// The blocks that call a routine.
    callers: SecondaryMap<Routine, Vec<usize>>,
}

impl Routines {
    fn new(code: &VCode, alloc: &Allocation) -> Routines {
        let mut callers: SecondaryMap<Routine, Vec<usize>> = SecondaryMap::new();
        if code.routines.len() > 1 {
            for b in code.blocks.keys() {
                for m in code.block_insts(b) {
                    if let MInst::Call { routine, .. } = m
                        && callers[*routine].last() != Some(&b.index())
                    {
                        callers[*routine].push(b.index());
                    }
                }
            }
        }
        Routines {
            of_blocks: routines::of_blocks(code),
            written: written_bytes(code, alloc),
            exits: SecondaryMap::new(),
            callers,
        }
    }

    /// The owners after a call: where the routine writes, those that it leaves. None while it is not known to return.
    fn after(&self, routine: Routine, state: &State) -> Option<State> {
        let exit = self.exits[routine].as_ref()?;
        let mut out = state.clone();
        for &(from, to) in &self.written[routine] {
            let mut at = from;
            while at < to {
                let n = exit.run(at);
                let end = exit.0.get(n + 1).map_or(to, |r| r.0.min(to));
                if let Some(&(_, owner)) = exit.0.get(n) {
                    out.write(at, end - at, owner);
                }
                at = end.max(at + 1);
            }
        }
        Some(out)
    }
}

/// Meets a state into one that is perhaps not known yet; whether that changed.
fn meet_into(slot: &mut Option<State>, state: &State) -> bool {
    match slot {
        None => {
            *slot = Some(state.clone());
            true
        }
        Some(old) => old.meet(state),
    }
}

/// Checks a placement.
///
/// # Errors
/// The first read of a byte that does not hold the value read.
pub fn check(code: &VCode, alloc: &Allocation) -> Result<(), String> {
    let mut entry: Vec<Option<State>> = vec![None; code.blocks.len()];
    if let Some(first) = entry.first_mut() {
        // What is behind the file stays behind it.
        *first = Some(State(vec![
            (0, Owner::Payload),
            (code.grf.size(), Owner::Nobody),
        ]));
    }
    // The blocks in order, so that most of what leads to one was looked at before it.
    let mut work = BTreeSet::from([0usize]);
    let mut all = Routines::new(code, alloc);
    // First the states at block starts, until nothing changes; then one pass that reports.
    while let Some(b) = work.pop_first() {
        let Some(mut state) = entry.get(b).cloned().flatten() else {
            continue;
        };
        let block = VBlock::new(b);
        let mut returns = true;
        for m in code.block_insts(block) {
            step(code, alloc, m, &mut state);
            match m {
                MInst::Call { routine, .. } => {
                    let first = code.routines[*routine].first as usize;
                    if meet_into(&mut entry[first], &state) {
                        work.insert(first);
                    }
                    let Some(after) = all.after(*routine, &state) else {
                        returns = false;
                        break;
                    };
                    state = after;
                }
                MInst::Return { .. } => {
                    let own = all.of_blocks[b];
                    if meet_into(&mut all.exits[own], &state) {
                        work.extend(&all.callers[own]);
                    }
                }
                _ => {}
            }
        }
        // Where a routine does not return yet, the block is looked at again when it does.
        for s in code.blocks[block].succs.iter().filter(|_| returns) {
            if meet_into(&mut entry[s.index()], &state) {
                work.insert(s.index());
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
            if let MInst::Call { routine, .. } = m {
                match all.after(*routine, &state) {
                    Some(after) => state = after,
                    None => break,
                }
            }
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
    // What three-source instructions read of channels behind a register's end goes nowhere.
    let bytes = bytes.min(d.bytes.saturating_sub(start));
    if bytes == 0 {
        return true;
    }
    let at = alloc.address[r] + start;
    let payload = matches!(d.place, Place::Fixed(_));
    let runs = state.0.iter().skip(state.run(at));
    runs.take_while(|run| run.0 < at + bytes)
        .all(|run| match run.1 {
            Owner::Reg(x) => x == r,
            Owner::Over(x, y) => x == r || y == r,
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
                    state.write(at, all, Owner::Over(below, r));
                    write_lanes(state, at, lanes, r);
                }
                _ => state.write(at, all, Owner::Reg(r)),
            },
            // The rest stays whoever's it is: it is looked at when it is read.
            (Access::Modify, Some(lanes)) => write_lanes(state, at, lanes, r),
            (Access::Modify, None) => {
                let owner = match owned(code, alloc, state, r, 0, all) {
                    true => Owner::Reg(r),
                    false => Owner::Nobody,
                };
                state.write(at, all, owner);
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
    if step == size {
        return state.write(at + sub, lanes * size, Owner::Reg(r));
    }
    for n in 0..lanes {
        state.write(at + sub + n * step, size, Owner::Reg(r));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;

    /// Against a plain list of bytes.
    #[test]
    fn runs_are_bytes() {
        const BYTES: u32 = 40;
        let mut rng = Rng::new(5);
        let owner = |rng: &mut Rng| match rng.below(6) {
            0 => Owner::Nobody,
            1 => Owner::Payload,
            n => Owner::Reg(VReg::new(n as usize)),
        };
        let plain = |s: &State| -> Vec<Owner> { (0..BYTES).map(|at| s.0[s.run(at)].1).collect() };
        let start = State(vec![(0, Owner::Payload), (BYTES, Owner::Nobody)]);
        for _ in 0..2000 {
            let mut states = [start.clone(), start.clone()];
            for s in &mut states {
                for _ in 0..rng.below(8) {
                    let mut want = plain(s);
                    let at = rng.below(BYTES);
                    let bytes = 1 + rng.below(BYTES - at);
                    let o = owner(&mut rng);
                    want[at as usize..(at + bytes) as usize].fill(o);
                    s.write(at, bytes, o);
                    assert!(plain(s) == want && s.0.is_sorted_by_key(|r| r.0));
                }
            }
            let [mut a, b] = states;
            let (x, y) = (plain(&a), plain(&b));
            let met = |(p, q): (&Owner, &Owner)| if p == q { *p } else { Owner::Nobody };
            let want: Vec<Owner> = x.iter().zip(&y).map(met).collect();
            assert_eq!(a.meet(&b), want != x);
            assert!(plain(&a) == want);
            assert!(!a.meet(&b));
        }
    }
}
