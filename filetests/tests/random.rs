//! Random kernels on every target: what the compiler's bytes do on the simulator is what the interpreter says.
//!
//! `GANTRY_CASES` cases a target from `GANTRY_SEED`, on the targets of `GANTRY_TARGETS` (`skl,icllp`) or all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::fuzzing::Options;
use gantry_codegen::ir::Opcode;
use gantry_filetests::differential::{Count, Coverage, Outcome, case, for_target, platforms};

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

/// Prints how often each opcode was compiled (see it with `--nocapture`), and gives those that never were.
fn agree(options: &Options) -> Vec<&'static str> {
    let first = env("GANTRY_SEED").unwrap_or(1);
    let cases = env("GANTRY_CASES").unwrap_or(60);
    println!("GANTRY_SEED={first}");
    let mut failures = Vec::new();
    let mut coverage = Coverage::default();
    for target in platforms() {
        let options = for_target(options, &target);
        let mut count = Count::default();
        for seed in first..first + cases {
            match case(seed, &options, &target) {
                Ok(outcome) => {
                    count.add(outcome);
                    if outcome == Outcome::Equal {
                        coverage.add(seed, &options);
                    }
                }
                Err(e) => failures.push(format!("seed {seed}, {}: {e}", target.name())),
            }
        }
        println!("{}: {count:?}", target.name());
        assert!(
            !failures.is_empty() || count.equal * 20 > cases * 19,
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
    println!("{coverage}");
    // A few cases cannot have everything.
    if cases < 60 {
        Vec::new()
    } else {
        coverage.never()
    }
}

#[test]
fn integers() {
    let options = Options {
        floats: false,
        size: 25,
        ..Options::runnable()
    };
    // The rest are floats' and what has no one meaning.
    let never = agree(&options);
    let never = never
        .iter()
        .filter(|n| !n.starts_with('f') || **n == "fence");
    let never: Vec<_> = never.collect();
    // The interpreter knows no messages.
    let left_out = ["undef", "send", "send_reply"];
    assert!(never.iter().all(|n| left_out.contains(n)), "{never:?}");
}

#[test]
fn floats_and_integers() {
    // What they do with a NaN's bits, or with a float's place in memory, would have to be followed.
    let without = vec![Opcode::Bitcast, Opcode::Store];
    let options = Options {
        without: without.clone(),
        size: 25,
        ..Options::runnable()
    };
    let never = agree(&options);
    let left_out = |n: &str| {
        ["undef", "send", "send_reply"].contains(&n) || without.iter().any(|o| o.name() == n)
    };
    assert!(never.iter().all(|n| left_out(n)), "{never:?}");
}
