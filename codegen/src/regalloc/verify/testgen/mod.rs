//! Random machine functions, generated without IR: every kind of operand, constraint and control
//! flow, at any pressure, for GRF files of several sizes. The checker and the oracle
//! ([`super::oracle`]) must accept their allocations.
//!
//! `GANTRY_CASES=2000000` sets the number of functions, `GANTRY_SEED` the first seed.

mod cases;
mod demand;
mod generate;
mod lives;
mod ops;
mod seen;

pub(crate) use generate::{MachineFunction, random_function};
pub(crate) use seen::Coverage;

use super::checker;
use super::oracle::{AllocationPair, Replay};
use crate::error::CodegenError;
use crate::mir::liveness::{Liveness, liveness, within};
use crate::mir::{MInst, Routine, VCode, VReg, routines, verify};
use crate::regalloc::grf::parts_demand::{count_parts, is_near};
use crate::regalloc::{Allocated, allocate};
use cranelift_entity::EntityRef;
use gantry_isa_gen::Op;
use seen::Feature;
use std::collections::BTreeSet;

/// Returns a number from the environment.
pub(crate) fn env_number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |s| s.parse().expect("a number"))
}

/// Returns the minimum demand of the code in bytes: the operands of one instruction and the
/// registers that are never spilled. Those are shared between callers and routines, or the thread
/// header.
fn min_demand(code: &VCode) -> u32 {
    let shared = routines::shared(code);
    let bytes = |r: VReg| {
        let d = &code.vregs[r];
        d.bytes.next_multiple_of(d.align)
    };
    let stays = |r: VReg| shared[r] || r.index() == 0;
    let kept: u32 = code.vregs.keys().filter(|r| stays(*r)).map(bytes).sum();
    // A register whose address is loaded is live up to the last use of the address.
    let mut pinned: BTreeSet<VReg> = BTreeSet::new();
    let mut most = 0;
    for m in &code.insts {
        let mut all = pinned.clone();
        m.for_each_vreg(|r, _| {
            all.insert(r);
        });
        let own = all.into_iter().filter(|r| !stays(*r));
        most = most.max(own.map(bytes).sum::<u32>());
        match *m {
            MInst::LoadAddress {
                base: Some(base), ..
            } => pinned.insert(base),
            MInst::Touch { reg, .. } => pinned.remove(&reg),
            _ => false,
        };
    }
    kept + most
}

/// GRFs that spilling needs itself: the longest spill message with its header, and one for parts of
/// a GRF.
const SPILL_GRFS: u32 = 6;

/// Records the outcome of an allocation.
fn record_outcome(
    m: &MachineFunction,
    live: &Liveness,
    done: &Result<Allocated, CodegenError>,
    seen: &mut Coverage,
) {
    let limit = m.grfs * m.code.grf.bytes;
    let peak = live.peak().1;
    let share = [
        (limit / 4, Feature::Peak25),
        (limit / 2, Feature::Peak50),
        (limit / 4 * 3, Feature::Peak75),
        (limit, Feature::Peak100),
        (limit * 2, Feature::Peak200),
    ];
    let found = share.iter().find(|s| peak <= s.0);
    seen.add(found.map_or(Feature::PeakMore, |s| s.1));
    match done {
        Ok(a) => {
            let all_in_file = a.spilled.registers + a.spilled.remats == 0;
            if !a.origin.is_empty() && all_in_file && a.splits == 0 {
                seen.add(Feature::Pieces);
            }
            if a.splits > 0 {
                seen.add(Feature::Moved);
                if all_in_file {
                    seen.add(Feature::MovedUnspilled);
                }
                if a.code.routines.len() > 1 {
                    seen.add(Feature::MovedCalls);
                }
            }
            if !live.abandoned.is_empty() {
                seen.add(Feature::Abandoned);
            }
            if a.spilled.registers > 0 {
                seen.add(Feature::Spilled);
                if m.code.grf.bytes == 64 {
                    seen.add(Feature::SpilledWide);
                }
                let add = |m: &MInst| matches!(m, MInst::Op { inst, .. } if inst.op == Op::Add);
                let mut made = a.code.insts.iter().zip(&a.origin);
                if made.any(|(m, from)| *from == u32::MAX && add(m)) {
                    seen.add(Feature::SpilledWindows);
                }
                let first = a.code.routine_insts(Routine::new(0)).end;
                let new = |i: &usize| a.origin[*i] == u32::MAX;
                if (first..a.code.insts.len()).any(|i| new(&i)) {
                    seen.add(Feature::SpilledCalls);
                }
            }
            if a.spilled.remats > 0 {
                seen.add(Feature::Rematerialized);
            }
        }
        Err(CodegenError::OutOfRegisters { .. }) => {
            let min_demand = min_demand(&m.code);
            seen.add(match min_demand {
                n if n > limit => Feature::Refused,
                n if n + SPILL_GRFS * m.code.grf.bytes > limit => Feature::RefusedNear,
                _ => Feature::RefusedFragmentation,
            });
        }
        Err(_) => seen.add(Feature::RefusedReach),
    }
}

/// Generates, allocates and checks one function.
fn run(seed: u64, replay: &mut Replay, seen: &mut Coverage) -> Result<(), String> {
    let m = random_function(seed, seen);
    verify::code(&m.code, false).map_err(|e| format!("it does not verify: {e}"))?;
    // Sometimes liveness analysis abandons almost all registers.
    let live = match seed % 16 {
        0 => within("k", &m.code, m.grfs * m.code.grf.bytes / 8),
        _ => liveness("k", &m.code),
    };
    let Ok(live) = live else {
        seen.add(Feature::RefusedLoad);
        return Ok(());
    };
    let map = &mut Default::default();
    let done = allocate("k", m.code.clone(), live.clone(), m.alloc_env(), map);
    let refused = seen.of(Feature::RefusedFragmentation);
    record_outcome(&m, &live, &done, seen);
    if seen.of(Feature::RefusedFragmentation) > refused {
        eprintln!("seed {seed} is refused for fragmentation");
    }
    let after = match done {
        Ok(after) => after,
        Err(e) => {
            if std::env::var_os("GANTRY_SHOW").is_some() {
                eprintln!(
                    "{}\n{} GRFs, {} needed: {e}",
                    m.code,
                    m.grfs,
                    min_demand(&m.code)
                );
            }
            return Ok(());
        }
    };
    if std::env::var_os("GANTRY_SHOW").is_some() {
        for r in m.code.vregs.keys() {
            eprintln!("{r} {:?} weak {:?}", live.ranges[r], live.weak[r]);
        }
        for (r, d) in &m.code.routines {
            eprintln!("{r} {d:?} {:?}", m.code.routine_insts(r));
        }
        eprintln!(
            "{}\n{}",
            m.code,
            crate::regalloc::display::with_allocation(&after.code, &after.alloc)
        );
    }
    verify::code(&after.code, false).map_err(|e| format!("allocated, it does not verify: {e}"))?;
    if let Ok(again) = liveness("k", &after.code)
        && again.abandoned.is_empty()
        && !again.same(&after.live)
    {
        return Err("liveness is not that of the code".to_owned());
    }
    // Nothing fits in less than its demand, unless its peak is far above the limit.
    let (mut exact, limit) = (live.clone(), m.grfs * m.code.grf.bytes);
    count_parts("k", &m.code, &mut exact, &m.target, limit, true).map_err(|e| e.to_string())?;
    let unspilled = after.spilled.is_empty();
    if unspilled && is_near(&live, limit) && exact.least() > limit {
        let least = exact.least();
        return Err(format!("a demand of {least} bytes fits in {limit}"));
    }
    let checked = checker::check(&m.code, &live, &after, &m.target, m.scratch);
    let pair = AllocationPair {
        before: &m.code,
        after: &after,
        target: &m.target,
        own: m.scratch,
    };
    // Allocations that the checker rejects are run on more paths.
    let paths = if checked.is_ok() { 2 } else { 200 };
    let most = 2 * after.code.insts.len() + 200;
    let mut runs = (0..paths).map(|path| replay.run_path(pair, seed ^ path << 50, most));
    match (checked, runs.find_map(Result::err)) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(e)) => Err(format!("only the oracle: {e}")),
        (Err(e), None) => Err(format!("only the checker: {e}")),
        (Err(e), Some(o)) => Err(format!("{e}; the oracle: {o}")),
    }
}

#[test]
fn random_machine_functions_are_allocated_right() {
    let first = env_number("GANTRY_SEED", 1);
    let some = if cfg!(debug_assertions) {
        6_000
    } else {
        20_000
    };
    let cases = env_number("GANTRY_CASES", some);
    eprintln!(
        "seeds {first} to {} (GANTRY_SEED, GANTRY_CASES)",
        first + cases - 1
    );
    let (mut seen, mut replay) = (Coverage::default(), Replay::default());
    let mut bad = Vec::new();
    for seed in first..first + cases {
        if let Err(e) = run(seed, &mut replay, &mut seen) {
            eprintln!("seed {seed}: {e}");
            bad.push(seed);
            if bad.len() >= 20 {
                break;
            }
        }
    }
    eprint!("{seen}");
    assert!(bad.is_empty(), "{bad:?}");
    assert_eq!(seen.of(Feature::RefusedFragmentation), 0);
    if cases >= 5_000 {
        assert_eq!(seen.missing(), Vec::<&str>::new(), "never seen");
    }
}
