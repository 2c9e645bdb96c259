//! The checker, judged: allocations are made wrong, of random machine functions and of kernels of
//! the IR fuzzer, and of those corruptions that change what some instruction reads it must find
//! every one. Which do, the oracle says ([`super::oracle`]): some random way on which it sees the
//! difference. What is harmless (over bytes that nobody reads any more, of slots that nobody fills,
//! of the same constant) does not count; what the checker accepts is walked many times more, so
//! that none is taken for harmless that does harm on few ways.
//!
//! `GANTRY_CASES=10000` counts so many of either, from the seed `GANTRY_SEED` on.

use super::checker;
use super::oracle::{Pair, Replay};
use super::testgen::{Machine, Seen, machine, number};
use crate::SimdCf;
use crate::fuzzing::{Options, Rng, module};
use crate::ir::{FuncKind, Function, Module};
use crate::isel::lower::lower;
use crate::isel::lower_sends;
use crate::isel::split_regions::legalize;
use crate::legalize_ops;
use crate::mir::insert::NEW;
use crate::mir::liveness::{Liveness, Range};
use crate::mir::{Access, MInst, Place, VCode, VReg, VRegData, VirtReg};
use crate::opt::inline::{Inline, group};
use crate::regalloc::Allocated;
use crate::regalloc::flag_alloc::allocate_flags;
use crate::target::Target;
use crate::target::abi::Payload;
use gantry_isa_gen::{Desc, Dst, Op, RegRef, Src};

/// Code, and a right allocation of it.
struct Case {
    code: VCode,
    live: Liveness,
    good: Allocated,
    target: Target,
    own: u32,
}

impl Case {
    fn of(m: Machine) -> Option<Case> {
        let (live, good) = m.allocated()?;
        Some(Case {
            code: m.code,
            live,
            good,
            target: m.target,
            own: m.scratch,
        })
    }

    fn check(&self, a: &Allocated) -> Result<(), String> {
        checker::check(&self.code, &self.live, a, &self.target, self.own)
    }

    /// What the oracle says on so many ways.
    fn walks(&self, a: &Allocated, ways: u64, replay: &mut Replay) -> Result<(), String> {
        let pair = Pair {
            before: &self.code,
            after: a,
            target: &self.target,
            own: self.own,
        };
        let most = 3 * a.code.insts.len() + 300;
        (0..ways).try_for_each(|way| replay.walk(pair, way, most).map(|_| ()))
    }
}

/// A kernel up to its places, if it has a lowering and fits.
fn placed(module: &Module, func: &Function, target: &Target, grfs: u32) -> Option<Case> {
    let (name, file) = (func.name.as_str(), target.grf().size());
    let float = func.float_controls();
    let group = group(module, func, Inline::Never).ok()?;
    let group = group
        .map(|f| legalize_ops::expand(module, f, float, target))
        .ok()?;
    let payload = Payload::of(&group.kernel, group.functions(), target).ok()?;
    let (lowered, _) = lower(&group, target, &payload, SimdCf::Auto).ok()?;
    let lowered = lower_sends::expand(name, lowered, target).ok()?;
    let code = legalize(name, lowered, target, Vec::new()).ok()?;
    let code = allocate_flags(name, code, file, &mut Default::default()).ok()?;
    Case::of(Machine {
        code,
        target: target.clone(),
        grfs,
        scratch: payload.scratch_bytes,
    })
}

/// What is made wrong.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// A register is where another is, or anywhere.
    Address,
    /// A new instruction is not there.
    Left,
    /// A store or fill is about another place of scratch.
    Slot,
    /// What a new instruction reads or writes is elsewhere in the file.
    Place,
    /// A new instruction stands elsewhere in its block.
    Moved,
    /// A new instruction is another one of them.
    Replaced,
    /// An instruction names another register than it did.
    Renamed,
}

const ALL: [Wrong; 7] = [
    Wrong::Address,
    Wrong::Left,
    Wrong::Slot,
    Wrong::Place,
    Wrong::Moved,
    Wrong::Replaced,
    Wrong::Renamed,
];

fn meet(a: &[Range], b: &[Range]) -> bool {
    a.iter()
        .any(|x| b.iter().any(|y| x.start < y.end && y.start < x.end))
}

/// A place for so many bytes, so aligned, at which something else is, or any.
fn elsewhere(case: &Case, data: VRegData, over: u32, rng: &mut Rng) -> Option<u32> {
    let size = case.code.grf.size();
    let at = match rng.one_in(4) {
        true => rng.below(size),
        // Somewhere over it.
        false => (over + rng.below(64)).saturating_sub(rng.below(data.bytes)),
    };
    let at = at / data.align * data.align;
    (at + data.bytes <= size).then_some(at)
}

/// A corruption of a kind, if there is something of it.
fn corrupt(case: &Case, new: &[usize], kind: Wrong, rng: &mut Rng) -> Option<Allocated> {
    let good = &case.good;
    let regs = good.code.vregs.len() as u32;
    let some = |rng: &mut Rng| VReg::from_u32(rng.below(regs));
    let mut bad = good.clone();
    match kind {
        Wrong::Address => {
            let both = |(r, other): &(VReg, VReg)| {
                let live = |r| &good.live.ranges[r];
                good.code.vregs[*r].place == Place::Any && meet(live(*r), live(*other))
            };
            let mut pairs = (0..32).map(|_| (some(rng), some(rng)));
            let (r, other) = pairs.find(both)?;
            let over = good.alloc.address[other];
            bad.alloc.address[r] = elsewhere(case, good.code.vregs[r], over, rng)?;
        }
        Wrong::Left => {
            let dst = VReg::from_u32(0);
            bad.code.insts[rng.pick(new)?] = MInst::Start { dst };
        }
        Wrong::Slot => {
            let MInst::Op { inst, .. } = &mut bad.code.insts[rng.pick(new)?] else {
                return None;
            };
            // Another window of scratch.
            if let (Op::Add, Src::Imm { bits, .. }) = (inst.op, &mut inst.srcs[1]) {
                *bits ^= u64::from(lower_sends::spill::Scratch::WINDOW) << rng.below(3);
                return Some(bad);
            }
            let Desc::Imm(desc) = &mut inst.send.as_mut()?.desc else {
                return None;
            };
            let slots = good.spilled.scratch / lower_sends::spill::Scratch::UNIT;
            *desc = if rng.one_in(2) {
                *desc ^ 1 << rng.below(3)
            } else {
                *desc & !0xfff | rng.below(slots)
            };
        }
        Wrong::Place => {
            let MInst::Op { inst, .. } = &mut bad.code.insts[rng.pick(new)?] else {
                return None;
            };
            let mut all: Vec<&mut VirtReg> = Vec::new();
            for s in &mut inst.srcs {
                if let Src::Direct { at, .. } = s {
                    all.push(&mut at.reg);
                }
            }
            if let Dst::Direct { at, .. } = &mut inst.dst {
                all.push(&mut at.reg);
            }
            let n = rng.below(all.len() as u32) as usize;
            let r = all[n].as_grf()?;
            let data = VRegData {
                place: Place::Any,
                ..good.code.vregs[r]
            };
            let over = good.alloc.address[some(rng)];
            let place = bad.code.vregs.push(data);
            bad.alloc.address[place] = elsewhere(case, data, over, rng)?;
            *all[n] = VirtReg::grf(place);
        }
        Wrong::Moved => {
            let from = rng.pick(new)?;
            let mut blocks = good.code.blocks.values();
            let block = blocks.find(|b| (b.start..b.end).contains(&from))?;
            let room = (block.end - 1 - block.start) as u32;
            let to = if rng.one_in(2) {
                block.start + rng.below(room) as usize
            } else {
                from.saturating_sub(3) + rng.below(7) as usize
            };
            if to < block.start || to + 1 >= block.end || to == from {
                return None;
            }
            let (inst, old) = (bad.code.insts.remove(from), bad.origin.remove(from));
            bad.code.insts.insert(to, inst);
            bad.origin.insert(to, old);
        }
        Wrong::Replaced => {
            let (to, from) = (rng.pick(new)?, rng.pick(new)?);
            bad.code.insts[to] = good.code.insts[from];
        }
        Wrong::Renamed => {
            let n = rng.below(good.code.insts.len() as u32) as usize;
            let other = some(rng);
            let bytes = |r| good.code.vregs[r].bytes;
            // The header of messages, and what is no register of a message's size, stay.
            let read = rng.one_in(2);
            let mut done = false;
            bad.code.insts[n].map_vregs(|r, a| {
                let wanted = (a == Access::Use) == read;
                if done || !wanted || r == other || bytes(other) < bytes(r) {
                    return r;
                }
                done = true;
                other
            });
            if !done
                || matches!(
                    good.code.insts[n],
                    MInst::Touch { .. } | MInst::Start { .. }
                )
            {
                return None;
            }
        }
    }
    Some(bad)
}

/// Says what a corruption is.
fn show(good: &Allocated, bad: &Allocated) {
    for (r, data) in &bad.code.vregs {
        let (at, was) = (bad.alloc.address[r], good.alloc.address[r]);
        if at != was {
            eprintln!("  {r} of {} bytes at byte {at}, not {was}", data.bytes);
        }
    }
    let both = good.code.insts.iter().zip(&bad.code.insts);
    for (i, (a, b)) in both.enumerate().filter(|(_, (a, b))| a != b).take(8) {
        eprintln!("  instruction {i} (`{a}`) is `{b}`");
    }
}

/// Ways on which a corruption is walked that the checker finds, and one that it does not find.
const WAYS: u64 = 16;
const ACCEPTED: u64 = 200;

/// Corrupts allocations until so many corruptions did harm. `files`: they are of routines and of
/// all kinds of files. `next`: cases, by number.
fn judge(wanted: u64, files: bool, mut next: impl FnMut(u64) -> Option<Case>) {
    let mut replay = Replay::default();
    let [mut made, mut harmful, mut found, mut accepted] = [[0u64; ALL.len()]; 4];
    let (mut cases, mut spilled, mut calls) = (0, 0, 0);
    // Of GRFs of 64 bytes, with spills too, and of files of 256 registers.
    let mut wide = [0; 3];
    let mut missed = Vec::new();
    let first = number("GANTRY_SEED", 7000);
    eprintln!("seeds from {first} (GANTRY_SEED)");
    for seed in first.. {
        if harmful.iter().sum::<u64>() >= wanted || missed.len() >= 10 {
            break;
        }
        let Some(case) = next(seed) else { continue };
        assert_eq!(case.check(&case.good), Ok(()), "seed {seed}");
        assert_eq!(
            case.walks(&case.good, 8, &mut replay),
            Ok(()),
            "seed {seed}"
        );
        cases += 1;
        spilled += u64::from(case.good.spilled.registers > 0);
        calls += u64::from(!case.code.calls().is_empty());
        let grf = case.code.grf;
        let spills = case.good.spilled.registers > 0;
        let of = [grf.bytes == 64, grf.bytes == 64 && spills, grf.count == 256];
        wide.iter_mut()
            .zip(of)
            .for_each(|(w, o)| *w += u64::from(o));
        let origin = case.good.origin.iter().enumerate();
        let new: Vec<usize> = origin.filter(|x| *x.1 == NEW).map(|x| x.0).collect();
        let mut rng = Rng::new(seed);
        // Few of each, of many.
        for n in 0..24 {
            let kind = if new.is_empty() {
                [Wrong::Address, Wrong::Renamed][n % 2]
            } else {
                ALL[n % 7]
            };
            let Some(bad) = corrupt(&case, &new, kind, &mut rng) else {
                continue;
            };
            made[kind as usize] += 1;
            let checked = case.check(&bad);
            // What is accepted does no harm on any way.
            let ways = if checked.is_ok() { ACCEPTED } else { WAYS };
            let Err(what) = case.walks(&bad, ways, &mut replay) else {
                accepted[kind as usize] += u64::from(checked.is_ok());
                continue;
            };
            harmful[kind as usize] += 1;
            match checked {
                Err(_) => found[kind as usize] += 1,
                Ok(()) => {
                    eprintln!("seed {seed}, corruption {n}, {kind:?}: {what}");
                    show(&case.good, &bad);
                    missed.push((seed, n));
                }
            }
        }
    }
    eprintln!("{cases} allocations, {spilled} with spills, {calls} with calls");
    eprintln!("GRFs of 64 bytes, with spills, files of 256 registers: {wide:?}");
    for (n, kind) in ALL.iter().enumerate() {
        let kind = format!("{kind:?}");
        eprintln!(
            "{kind:<10} {:>7} made {:>7} do harm {:>7} found {:>7} accepted, which do none",
            made[n], harmful[n], found[n], accepted[n]
        );
    }
    assert_eq!(missed, []);
    assert!(harmful.iter().all(|n| *n > 0), "{harmful:?}");
    assert!(spilled > 0);
    if files {
        assert!(
            calls > 0 && wide.iter().all(|n| *n > 0),
            "{calls}, {wide:?}"
        );
    }
}

#[test]
fn every_corruption_of_a_machine_function_is_found() {
    judge(number("GANTRY_CASES", 600), true, |seed| {
        Case::of(machine(seed, &mut Seen::default())).filter(|c| c.code.insts.len() < 400)
    });
}

#[test]
fn every_corruption_of_a_kernel_is_found() {
    judge(number("GANTRY_CASES", 300), false, |seed| {
        let name = ["bdw", "skl", "icllp"][(seed % 3) as usize];
        let target = Target::from_name(name).unwrap();
        let kind = Options {
            word_atomics: false,
            ..Options::runnable()
        };
        let m = module(seed, &kind);
        let mut funcs = m.functions.values();
        let func = funcs.find(|f| matches!(f.kind, FuncKind::Kernel { .. }))?;
        let grfs = [24, 16, target.grf().count, 32][(seed / 3 % 4) as usize];
        placed(&m, func, &target, grfs)
    });
}

/// Registers that end up where they do not ask to be, though every byte is read where it is.
#[test]
fn a_register_where_it_may_not_be_is_found() {
    let mut made = [0; 3];
    for seed in 0..60 {
        let Some(case) = Case::of(machine(seed, &mut Seen::default())) else {
            continue;
        };
        let named = |r: VReg| !case.good.live.ranges[r].is_empty();
        for (r, data) in case.good.code.vregs.iter().filter(|x| named(x.0)) {
            let at = case.good.alloc.address[r];
            let places = match data.place {
                Place::Fixed(_) => [None, None, None],
                Place::AtLeast(_) => [Some(0), None, None],
                Place::Any => [
                    None,
                    Some(case.code.grf.size()),
                    (data.align > 1).then_some(at ^ (data.align / 2)),
                ],
            };
            for (n, place) in places.iter().enumerate() {
                let Some(place) = *place else { continue };
                let mut bad = case.good.clone();
                bad.alloc.address[r] = place;
                made[n] += 1;
                let wrong = case.check(&bad).expect_err("a wrong place passes");
                let said = ["where it may not be", "behind the file"];
                assert!(said.iter().any(|s| wrong.contains(s)), "{wrong}");
            }
        }
    }
    eprintln!("too low, behind the file, not aligned: {made:?} found");
    assert!(made.iter().all(|n| *n > 10), "{made:?}");
}

/// Products of matrices that are written where their factors are, or a row off what they are added
/// to: later rows read what earlier ones have written over.
#[test]
fn a_product_over_what_it_reads_is_found() {
    let mut replay = Replay::default();
    let mut harmful = [0; 4];
    for seed in 0..400 {
        let Some(case) = Case::of(machine(seed, &mut Seen::default())) else {
            continue;
        };
        let grf = case.code.grf;
        for m in &case.good.code.insts {
            let MInst::Op { inst, .. } = m else { continue };
            let of = |at: RegRef<VirtReg>| {
                let r = at.reg.as_grf()?;
                Some((r, case.good.alloc.address[r] + u32::from(at.sub)))
            };
            let Dst::Direct { at, .. } = inst.dst else {
                continue;
            };
            let Some((dst, _)) = of(at).filter(|_| inst.op == Op::Dpas) else {
                continue;
            };
            let source = |n: usize| match inst.srcs.get(n) {
                Some(Src::Direct { at, .. }) => of(*at),
                _ => None,
            };
            let off = source(0).map(|(r, at)| (r, at + grf.bytes));
            for (n, from) in [source(1), source(2), off, source(0)]
                .into_iter()
                .enumerate()
            {
                let Some((_, at)) = from.filter(|(r, _)| *r != dst) else {
                    continue;
                };
                if at + case.good.code.vregs[dst].bytes > grf.size() {
                    continue;
                }
                let mut bad = case.good.clone();
                bad.alloc.address[dst] = at;
                let harm = case.walks(&bad, 8, &mut replay);
                harmful[n] += u32::from(harm.is_err());
                if let Err(e) = harm {
                    assert!(case.check(&bad).is_err(), "seed {seed}: {e}, and passes");
                }
            }
        }
    }
    eprintln!("over columns, rows, a row off the sum, in its place: {harmful:?} do harm");
    assert!(harmful.iter().all(|n| *n > 10), "{harmful:?}");
}
