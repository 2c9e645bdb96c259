//! Arguments of calls that stay where they are: the callee reads the caller's register.
//!
//! A parameter has a register of its own, which each call copies the argument to. If the argument
//! dies there, both registers become one place. If it lives on, the copy stays. But a routine that
//! only reads its parameter may read the argument itself, if all calls pass the same register:
//! nothing writes that while the routine runs.
//!
//! Such an argument must keep its place, since instructions of two routines name it. So these take
//! a bounded part of the GRF file. Input and output: machine code over virtual registers. The work
//! is linear.

use crate::mir::insert::remove;
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VCode, VReg, routines};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

/// Part of the GRF file that arguments may take that stay where they are.
const SHARE: u32 = 8;
/// Maximal instructions between the copy of an argument and the call.
const MAX_DISTANCE: usize = 100;

/// Facts about a register.
#[derive(Clone, Default)]
struct Facts {
    /// Copies that write it.
    copies: SmallVec<[u32; 2]>,
    /// Source of all of these copies.
    source: PackedOption<VReg>,
    /// Set if anything else writes it, or if sources of copies differ.
    other: bool,
    /// First write, and the last read.
    first: PackedOption<Index>,
    last: u32,
    /// Routines that name it, and one that reads it without being where it is copied.
    owner: PackedOption<Routine>,
    reader: PackedOption<Routine>,
    /// Set if more routines name it.
    many: bool,
    /// Set if a routine writes it that is not its owner, or if anything but a copy or a mark of a
    /// call names it in its owner.
    used: bool,
}

/// Number of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Index(u32);
cranelift_entity::entity_impl!(Index);

/// Collects facts about all registers.
fn facts(code: &VCode) -> SecondaryMap<VReg, Facts> {
    let mut out: SecondaryMap<VReg, Facts> = sized(code.vregs.len());
    for routine in code.routines.keys() {
        let range = code.routine_insts(routine);
        for (i, m) in (range.start as u32..).zip(&code.insts[range]) {
            m.for_each_vreg(|r, access| {
                let f = &mut out[r];
                match f.owner.expand() {
                    None => f.owner = routine.into(),
                    Some(owner) if owner == routine => {}
                    Some(_) => match f.reader.expand() {
                        None => f.reader = routine.into(),
                        Some(reader) => f.many |= reader != routine,
                    },
                }
                let own = f.owner == routine.into();
                if access == Access::Use {
                    f.last = i;
                    f.used |= own && !matches!(m, MInst::Touch { write: false, .. });
                    return;
                }
                f.used |= !own;
                if f.first.is_none() {
                    f.first = Index(i).into();
                }
                match *m {
                    MInst::Copy { src, .. } if own => {
                        f.other |= f.source.expand().is_some_and(|s| s != src);
                        f.source = src.into();
                        f.copies.push(i);
                    }
                    _ => f.other = true,
                }
            });
        }
    }
    out
}

/// Returns true if a copy of an argument is followed by the call of a routine, and nothing writes
/// the argument before.
fn is_passed(code: &VCode, copy: u32, argument: VReg, routine: Routine) -> bool {
    let from = copy as usize + 1;
    for m in code.insts.iter().skip(from).take(MAX_DISTANCE) {
        if let MInst::Call {
            routine: called, ..
        } = *m
        {
            return called == routine;
        }
        let mut written = false;
        m.for_each_vreg(|r, access| written |= r == argument && access != Access::Use);
        if written || m.is_terminator() {
            return false;
        }
    }
    false
}

/// Lets routines read arguments where callers have them. Returns the number of copies that were
/// removed.
pub(super) fn run(code: &mut VCode) -> u32 {
    let calls = code.calls();
    if calls.is_empty() {
        return 0;
    }
    let facts = facts(code);
    let candidate =
        |f: &Facts| !f.other && !f.many && !f.used && !f.copies.is_empty() && f.reader.is_some();
    if !facts.values().any(candidate) {
        return 0;
    }
    let (loops, block_of) = (Loops::new(code), code.block_of());
    let owners = routines::of_blocks(code);
    let depth = |i: u32| {
        let block = block_of.get(i as usize).copied().unwrap_or(0);
        loops.depth(VBlock::from_u32(block))
    };
    let mut room = code.grf.size() / SHARE;
    let mut to: SecondaryMap<VReg, PackedOption<VReg>> = SecondaryMap::new();
    let mut gone = vec![false; code.insts.len()];
    let mut count = 0;
    for param in code.vregs.keys() {
        let f = &facts[param];
        let (true, Some(argument), Some(reader)) =
            (candidate(f), f.source.expand(), f.reader.expand())
        else {
            continue;
        };
        let a = &facts[argument];
        let (p, data) = (code.vregs[param], code.vregs[argument]);
        let aligned = match data.constraint {
            RegConstraint::Any => true,
            RegConstraint::Fixed(at) => at.is_multiple_of(p.align),
            RegConstraint::AtLeast(_) => false,
        };
        let fits = p.constraint == RegConstraint::Any && p.bytes == data.bytes && aligned;
        // All of the argument's instructions are in the routine that calls.
        let own = a.owner == f.owner && a.reader.is_none() && !a.many;
        // Each call of the routine passes it.
        let sites = calls.iter().filter(|c| c.1 == reader);
        let all = sites.clone().count() == f.copies.len()
            && sites.clone().all(|c| {
                let block = block_of.get(c.0).copied().unwrap_or(0);
                owners.get(block as usize) == f.owner.expand().as_ref()
            });
        let passed = f
            .copies
            .iter()
            .all(|&i| is_passed(code, i, argument, reader));
        let lives_on = f.copies.first().is_some_and(|&first| {
            let begin = a.first.expand().map_or(0, |i| i.0);
            f.copies.len() > 1
                || a.last > first
                || depth(first) > if a.first.is_some() { depth(begin) } else { 0 }
        });
        if !(fits && own && all && passed && lives_on) || p.bytes > room {
            continue;
        }
        room -= p.bytes;
        to[param] = argument.into();
        f.copies.iter().for_each(|&i| gone[i as usize] = true);
        count += f.copies.len();
    }
    if count == 0 {
        return 0;
    }
    for param in code.vregs.keys().collect::<Vec<_>>() {
        if let Some(argument) = to[param].expand() {
            let align = code.vregs[param].align;
            let data = &mut code.vregs[argument];
            data.align = data.align.max(align);
        }
    }
    let name = |r: VReg| to.get(r).and_then(|n| n.expand()).unwrap_or(r);
    for m in &mut code.insts {
        m.map_vregs(|r, _| name(r));
    }
    code.labels.retain(|(_, r)| name(*r) == *r);
    remove(code, |i| gone.get(i).copied().unwrap_or(false));
    count as u32
}
