//! Random orders of random machine functions keep the meaning of code, and the checker finds those
//! that do not.

use super::*;
use crate::fuzzing::Rng;
use crate::regalloc::Allocated;
use crate::regalloc::verify::testgen::{Coverage, MachineFunction, env_number, random_function};

/// Policy that takes any order that dependences allow with equal probability.
struct Any(Vec<u32>);

impl Policy for Any {
    fn rank(&self, _: &DependenceGraph, n: usize) -> Option<u32> {
        Some(self.0[n % self.0.len()])
    }
}

impl Any {
    fn new(seed: u64) -> Any {
        let mut rng = Rng::new(seed);
        Any((0..1021).map(|_| rng.below(1 << 20)).collect())
    }
}

/// Returns a random machine function with its platform's own GRF size, which message lengths
/// assume.
fn function(seed: u64) -> Option<MachineFunction> {
    let m = random_function(seed, &mut Coverage::default());
    (m.code.grf.bytes == m.target.features().grf_bytes).then_some(m)
}

/// Returns a random machine function and its allocation, if it has one.
fn allocated(seed: u64) -> Option<(MachineFunction, Allocated)> {
    let m = function(seed)?;
    let (_, done) = m.allocated()?;
    Some((m, done))
}

fn cases() -> std::ops::Range<u64> {
    let first = env_number("GANTRY_SEED", 1);
    let cases = env_number("GANTRY_CASES", 1500);
    eprintln!(
        "seeds {first} to {} (GANTRY_SEED, GANTRY_CASES)",
        first + cases - 1
    );
    first..first + cases
}

#[test]
fn random_machine_functions_keep_what_they_mean() {
    let mut moved = 0;
    let mut memory = Memory::default();
    for seed in cases() {
        let Some((m, done)) = allocated(seed) else {
            continue;
        };
        let text = crate::regalloc::display::with_allocation(&done.code, &done.alloc);
        let last = reorder("k", done.code, &done.alloc, &m.target, true, &mut memory);
        let (code, n) = last.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        crate::mir::verify::code(&code, false).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        moved += n;
    }
    eprintln!("{moved} instructions moved");
    assert!(moved > 1000);
}

/// All orders that dependences allow are valid. If one dependence is removed and the order violates
/// it, the checker finds it.
#[test]
fn every_dependence_is_needed_and_every_broken_one_found() {
    let (mut kept, mut broken) = (0, 0);
    let mut memory = Memory::default();
    for seed in cases() {
        let Some((m, done)) = allocated(seed) else {
            continue;
        };
        let code = &done.code;
        let space = StateSpace {
            platform: m.target.platform(),
            grf: m.target.grf().bytes,
            address: |r: VReg| done.alloc.address[r],
            size: |r: VReg| code.vregs[r].bytes,
            values: false,
            lone: code.lone_surfaces,
        };
        let check = |order: &Schedule| {
            check::verify(code, order, &m.target, |r| done.alloc.address[r], false)
        };
        let mut edges = 0;
        let any = &mut Any::new(seed);
        let order = ordered(code, &space, any, &mut memory, |g, _| edges += g.edges());
        check(&order).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if edges == 0 {
            continue;
        }
        let mut rng = Rng::new(!seed);
        for way in 0..8 {
            let lost = rng.below(edges as u32) as usize;
            let (mut first, mut pair) = (0, None);
            let any = &mut Any::new(seed ^ way << 40);
            let order = ordered(code, &space, any, &mut memory, |g, units| {
                if (first..first + g.edges()).contains(&lost) {
                    let all = g.edges();
                    let (from, to) = g.forget(lost - first, units);
                    pair = Some((units.places(from).start, units.places(to).start));
                    first += all;
                } else {
                    first += g.edges();
                }
            });
            let Some((from, to)) = pair else { continue };
            let place = |n: usize| order.from.iter().position(|&x| x as usize == n);
            if place(to) < place(from) {
                assert!(
                    check(&order).is_err(),
                    "seed {seed}: {to} came before {from}\n{}",
                    crate::regalloc::display::with_allocation(code, &done.alloc)
                );
                broken += 1;
            } else {
                check(&order).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                kept += 1;
            }
        }
    }
    eprintln!("{broken} broken dependences found, {kept} kept all the same");
    assert!(broken > 500);
}
