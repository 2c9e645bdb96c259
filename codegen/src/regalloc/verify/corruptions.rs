//! Tests of the checker. Allocations of random machine functions and of kernels of the IR fuzzer
//! are corrupted. The checker must find every corruption that changes what some instruction reads.
//! The oracle ([`super::oracle`]) decides which do: it must see the difference on some random path.
//!
//! Harmless corruptions do not count: bytes without later reads, slots without later fills, equal
//! constants. Corruptions that the checker accepts are run on many more paths. So none counts as
//! harmless that does harm on few paths.
//!
//! `GANTRY_CASES=10000` sets the number of harmful corruptions, `GANTRY_SEED` the first seed.

use super::checker;
use super::oracle::{AllocationPair, Replay};
use super::testgen::{Coverage, MachineFunction, env_number, random_function};
use crate::SimdCf;
use crate::fuzzing::{Options, Rng, module};
use crate::ir::{FuncKind, Function, Module};
use crate::isel::lower::lower;
use crate::isel::lower_sends;
use crate::isel::split_regions::legalize;
use crate::legalize_ops;
use crate::mir::insert::NEW;
use crate::mir::liveness::{Liveness, Range};
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VRegData, VirtReg};
use crate::opt::inline::{Inline, group};
use crate::regalloc::Allocated;
use crate::regalloc::flag_alloc::allocate_flags;
use crate::target::Target;
use crate::target::abi::Payload;
use gantry_isa_gen::{Desc, Dst, Op, RegRef, Src};

/// Code and a correct allocation of it.
struct TestCase {
    code: VCode,
    live: Liveness,
    good: Allocated,
    target: Target,
    own: u32,
}

impl TestCase {
    fn of(m: MachineFunction) -> Option<TestCase> {
        let (live, good) = m.allocated()?;
        Some(TestCase {
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

    /// Runs the oracle on a number of paths.
    fn run_paths(&self, a: &Allocated, paths: u64, replay: &mut Replay) -> Result<(), String> {
        let pair = AllocationPair {
            before: &self.code,
            after: a,
            target: &self.target,
            own: self.own,
        };
        let most = 3 * a.code.insts.len() + 300;
        (0..paths).try_for_each(|path| replay.run_path(pair, path, most).map(|_| ()))
    }
}

/// Allocates a kernel if it can be lowered and fits.
fn allocated_kernel(
    module: &Module,
    func: &Function,
    target: &Target,
    grfs: u32,
) -> Option<TestCase> {
    let (name, file) = (func.name.as_str(), target.grf().size());
    let float = func.float_controls();
    let group = group(module, func, Inline::Never).ok()?;
    let group = group
        .map(|f| legalize_ops::expand(module, f, float, target, true))
        .ok()?;
    let payload = Payload::of(&group.kernel, group.functions(), target).ok()?;
    let (lowered, _) = lower(&group, target, &payload, SimdCf::Auto).ok()?;
    let lowered = lower_sends::expand(name, lowered, target).ok()?;
    let code = legalize(name, lowered, target, Vec::new()).ok()?;
    let code = allocate_flags(name, code, file, &mut Default::default()).ok()?;
    TestCase::of(MachineFunction {
        code,
        target: target.clone(),
        grfs,
        scratch: payload.scratch_bytes,
    })
}

/// Kind of corruption.
#[derive(Clone, Copy, Debug)]
enum Corruption {
    /// A register is at the address of another one, or anywhere.
    Address,
    /// An inserted instruction is missing.
    Removed,
    /// A spill or fill accesses another slot.
    Slot,
    /// An operand of an inserted instruction is elsewhere in the GRF file.
    Place,
    /// An inserted instruction is elsewhere in its block.
    Moved,
    /// An inserted instruction is replaced by another one.
    Replaced,
    /// An instruction names another register.
    Renamed,
}

const ALL: [Corruption; 7] = [
    Corruption::Address,
    Corruption::Removed,
    Corruption::Slot,
    Corruption::Place,
    Corruption::Moved,
    Corruption::Replaced,
    Corruption::Renamed,
];

fn overlap(a: &[Range], b: &[Range]) -> bool {
    a.iter()
        .any(|x| b.iter().any(|y| x.start < y.end && y.start < x.end))
}

/// Returns an address for a register, mostly one that overlaps `over`.
fn wrong_address(case: &TestCase, data: VRegData, over: u32, rng: &mut Rng) -> Option<u32> {
    let size = case.code.grf.size();
    let at = if rng.one_in(4) {
        rng.below(size)
    } else {
        // Overlaps `over`.
        (over + rng.below(64)).saturating_sub(rng.below(data.bytes))
    };
    let at = at / data.align * data.align;
    (at + data.bytes <= size).then_some(at)
}

/// Returns a corruption of a kind, if there is something to corrupt.
fn corrupt(case: &TestCase, new: &[usize], kind: Corruption, rng: &mut Rng) -> Option<Allocated> {
    let good = &case.good;
    let regs = good.code.vregs.len() as u32;
    let some = |rng: &mut Rng| VReg::from_u32(rng.below(regs));
    let mut bad = good.clone();
    match kind {
        Corruption::Address => {
            let both = |(r, other): &(VReg, VReg)| {
                let live = |r| &good.live.ranges[r];
                good.code.vregs[*r].constraint == RegConstraint::Any
                    && overlap(live(*r), live(*other))
            };
            let mut pairs = (0..32).map(|_| (some(rng), some(rng)));
            let (r, other) = pairs.find(both)?;
            let over = good.alloc.address[other];
            bad.alloc.address[r] = wrong_address(case, good.code.vregs[r], over, rng)?;
        }
        Corruption::Removed => {
            let dst = VReg::from_u32(0);
            bad.code.insts[rng.pick(new)?] = MInst::Start { dst };
        }
        Corruption::Slot => {
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
        Corruption::Place => {
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
                constraint: RegConstraint::Any,
                ..good.code.vregs[r]
            };
            let over = good.alloc.address[some(rng)];
            let place = bad.code.vregs.push(data);
            bad.alloc.address[place] = wrong_address(case, data, over, rng)?;
            *all[n] = VirtReg::grf(place);
        }
        Corruption::Moved => {
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
        Corruption::Replaced => {
            let (to, from) = (rng.pick(new)?, rng.pick(new)?);
            bad.code.insts[to] = good.code.insts[from];
        }
        Corruption::Renamed => {
            let n = rng.below(good.code.insts.len() as u32) as usize;
            let other = some(rng);
            let bytes = |r| good.code.vregs[r].bytes;
            // Message headers stay, and so do operands without another register of at least their
            // size.
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

/// Prints a corruption.
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

/// Number of paths that rejected and accepted corruptions are run on.
const REJECTED_PATHS: u64 = 16;
const ACCEPTED_PATHS: u64 = 200;

/// Corrupts allocations until `wanted` corruptions are harmful. `files` requires cases with
/// routines and all kinds of GRF files. `next` returns the case of a seed.
fn check_corruptions(wanted: u64, files: bool, mut next: impl FnMut(u64) -> Option<TestCase>) {
    let mut replay = Replay::default();
    let [mut made, mut harmful, mut found, mut accepted] = [[0u64; ALL.len()]; 4];
    let (mut cases, mut spilled, mut calls) = (0, 0, 0);
    // Cases with GRFs of 64 bytes, such cases with spills, and cases with 256 GRFs.
    let mut wide = [0; 3];
    let mut missed = Vec::new();
    let first = env_number("GANTRY_SEED", 7000);
    eprintln!("seeds from {first} (GANTRY_SEED)");
    for seed in first.. {
        if harmful.iter().sum::<u64>() >= wanted || missed.len() >= 10 {
            break;
        }
        let Some(case) = next(seed) else { continue };
        assert_eq!(case.check(&case.good), Ok(()), "seed {seed}");
        assert_eq!(
            case.run_paths(&case.good, 8, &mut replay),
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
        // Few corruptions each of many cases.
        for n in 0..24 {
            let kind = if new.is_empty() {
                [Corruption::Address, Corruption::Renamed][n % 2]
            } else {
                ALL[n % 7]
            };
            let Some(bad) = corrupt(&case, &new, kind, &mut rng) else {
                continue;
            };
            made[kind as usize] += 1;
            let checked = case.check(&bad);
            // Accepted corruptions must be harmless on all paths.
            let paths = if checked.is_ok() {
                ACCEPTED_PATHS
            } else {
                REJECTED_PATHS
            };
            let Err(what) = case.run_paths(&bad, paths, &mut replay) else {
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
    check_corruptions(env_number("GANTRY_CASES", 600), true, |seed| {
        TestCase::of(random_function(seed, &mut Coverage::default()))
            .filter(|c| c.code.insts.len() < 400)
    });
}

#[test]
fn every_corruption_of_a_kernel_is_found() {
    check_corruptions(env_number("GANTRY_CASES", 300), false, |seed| {
        let name = ["bdw", "skl", "icllp"][(seed % 3) as usize];
        let target = Target::lookup(name).unwrap();
        let kind = Options {
            word_atomics: false,
            ..Options::runnable()
        };
        let m = module(seed, &kind);
        let mut funcs = m.functions.values();
        let func = funcs.find(|f| matches!(f.kind, FuncKind::Kernel { .. }))?;
        let grfs = [24, 16, target.grf().count, 32][(seed / 3 % 4) as usize];
        allocated_kernel(&m, func, &target, grfs)
    });
}

/// Registers with invalid places are found even if every byte is read where it is.
#[test]
fn a_misplaced_register_is_found() {
    let mut made = [0; 3];
    for seed in 0..60 {
        let Some(case) = TestCase::of(random_function(seed, &mut Coverage::default())) else {
            continue;
        };
        let named = |r: VReg| !case.good.live.ranges[r].is_empty();
        for (r, data) in case.good.code.vregs.iter().filter(|x| named(x.0)) {
            let at = case.good.alloc.address[r];
            let places = match data.constraint {
                RegConstraint::Fixed(_) => [None, None, None],
                RegConstraint::AtLeast(_) => [Some(0), None, None],
                RegConstraint::Any => [
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
                let said = ["where it may not be", "beyond the GRF file"];
                assert!(said.iter().any(|s| wrong.contains(s)), "{wrong}");
            }
        }
    }
    eprintln!("too low, beyond the GRF file, not aligned: {made:?} found");
    assert!(made.iter().all(|n| *n > 10), "{made:?}");
}

/// Matrix products written over their factors, or one row off the accumulator, are found: later
/// rows read what earlier ones have overwritten.
#[test]
fn a_product_over_its_operands_is_found() {
    let mut replay = Replay::default();
    let mut harmful = [0; 4];
    for seed in 0..400 {
        let Some(case) = TestCase::of(random_function(seed, &mut Coverage::default())) else {
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
                let harm = case.run_paths(&bad, 8, &mut replay);
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
