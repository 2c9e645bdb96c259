//! Random kernels on every target: what the compiler's bytes do on the simulator is what the interpreter says.
//!
//! `GANTRY_CASES` cases a target from `GANTRY_SEED`, on the targets of `GANTRY_TARGETS` (`skl,icllp`) or all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::fuzzing::Options;
use gantry_codegen::ir::Opcode;
use gantry_filetests::differential::{Count, case, for_target, platforms};

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

fn agree(options: &Options) {
    let first = env("GANTRY_SEED").unwrap_or(1);
    let cases = env("GANTRY_CASES").unwrap_or(60);
    println!("GANTRY_SEED={first}");
    let mut failures = Vec::new();
    for target in platforms() {
        let options = for_target(options, &target);
        let mut count = Count::default();
        for seed in first..first + cases {
            match case(seed, &options, &target) {
                Ok(outcome) => count.add(outcome),
                Err(e) => failures.push(format!("seed {seed}, {}: {e}", target.name())),
            }
        }
        println!("{}: {count:?}", target.name());
        assert!(
            !failures.is_empty() || count.equal * 4 > cases,
            "{}: {count:?}",
            target.name()
        );
    }
    let most = failures.len().min(40);
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..most].join("\n")
    );
}

#[test]
fn integers() {
    agree(&Options {
        floats: false,
        size: 25,
        ..Options::runnable()
    });
}

#[test]
fn floats_and_integers() {
    // `flrp` rounds its intermediate results, which cancellation makes visible.
    let mut without = vec![Opcode::Flrp];
    // What they do with a NaN's bits, or with a float's place in memory, would have to be followed.
    without.extend([Opcode::Bitcast, Opcode::Store]);
    agree(&Options {
        without,
        size: 25,
        ..Options::runnable()
    });
}
