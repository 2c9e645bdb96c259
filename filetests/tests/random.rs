//! Random kernels on every target: what the compiler's bytes do on the simulator is what the interpreter says, and Intel's assembler takes the
//! bytes and writes the same.
//!
//! `GANTRY_CASES` cases a target and kind of kernel from `GANTRY_SEED`, on the targets of `GANTRY_TARGETS` (`skl,icllp`) or all. What was covered is
//! printed at the end (see it with `--nocapture`).
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

#[allow(unsafe_code, reason = "the C interface of libiga64")]
#[path = "../../isa-gen/tests/support/iga.rs"]
mod iga;

use gantry_codegen::Target;
use gantry_codegen::fuzzing::Options;
use gantry_codegen::ir::Opcode;
use gantry_filetests::coverage::Coverage;
use gantry_filetests::differential::{Outcome, case, for_target, platforms};
use gantry_isa_gen::fuzz::Oracle;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

/// Seeds that a worker takes at once.
const CHUNK: u64 = 500;
/// Bytes of an instruction, none of which is compacted.
const INST_BYTES: usize = 16;
/// Failures that are printed.
const MOST: usize = 40;

/// One piece of work.
struct Job {
    target: Target,
    options: Options,
    seeds: std::ops::Range<u64>,
}

/// What the workers found.
#[derive(Default)]
struct Found {
    coverage: Coverage,
    failures: Vec<String>,
    judged: u64,
}

/// Whether Intel's assembler reads a kernel's bytes, and makes them again of what it read.
fn judge(iga: &mut iga::Iga, bytes: &[u8]) -> Result<(), String> {
    let text = iga.disassemble(bytes)?;
    let again = iga.assemble(&text)?;
    // What follows the code is padding.
    let equal = again.len() <= bytes.len() && bytes.starts_with(&again);
    let rest = bytes.get(again.len()..).unwrap_or_default();
    if equal && rest.iter().all(|&b| b == 0) {
        return Ok(());
    }
    let differ = bytes.iter().zip(&again).position(|(a, b)| a != b);
    let at = differ.unwrap_or(again.len());
    let lines = text.lines().filter(|l| l.starts_with(['(', ' ']));
    let line = lines.map(str::trim_end).nth(at / INST_BYTES);
    Err(format!(
        "other bytes at {at:#x} come back from `{}`",
        line.unwrap_or_default()
    ))
}

fn run(job: &Job) -> Found {
    let mut found = Found::default();
    let mut iga = iga::Iga::open(job.target.platform());
    for seed in job.seeds.clone() {
        let mut fail = |e: String| {
            let name = job.target.name();
            found.failures.push(format!("seed {seed}, {name}: {e}"));
        };
        match case(seed, &job.options, &job.target) {
            Ok(outcome) => {
                if let (Outcome::Equal(agreed), Some(iga)) = (&outcome, &mut iga) {
                    for k in agreed.ways.iter().flat_map(|w| &w.kernels) {
                        found.judged += k.stats.instructions as u64;
                        if let Err(e) = judge(iga, &k.code.bytes) {
                            fail(format!("iga: {e}"));
                        }
                    }
                }
                found.coverage.add(&outcome);
            }
            Err(e) => fail(e),
        }
    }
    found
}

#[test]
fn interpreter_simulator_and_assembler_agree() {
    let first = env("GANTRY_SEED").unwrap_or(1);
    let cases = env("GANTRY_CASES").unwrap_or(60);
    println!("GANTRY_SEED={first}");
    let integers = Options {
        floats: false,
        size: 25,
        ..Options::runnable()
    };
    let floats = Options {
        // What they do with a NaN's bits, or with a float's place in memory, would have to be followed.
        without: vec![Opcode::Bitcast, Opcode::Store],
        size: 25,
        ..Options::runnable()
    };
    let mut jobs = Vec::new();
    for options in [integers, floats] {
        for target in platforms() {
            for start in (first..first + cases).step_by(CHUNK as usize) {
                jobs.push(Job {
                    options: for_target(&options, &target),
                    target: target.clone(),
                    seeds: start..(start + CHUNK).min(first + cases),
                });
            }
        }
    }
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(job);
                    let mut all = all.lock().unwrap();
                    all.coverage.extend(&found.coverage);
                    all.failures.extend(found.failures);
                    all.judged += found.judged;
                }
            });
        }
    });
    let Found {
        coverage,
        failures,
        judged,
    } = all.into_inner().unwrap();
    println!("{coverage}, {judged} instructions judged by Intel's assembler");
    let most = failures.len().min(MOST);
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..most].join("\n")
    );
    let total = coverage.equal + coverage.too_large;
    assert!(coverage.equal * 20 > total * 19, "too many are too large");
    // A few cases cannot have everything.
    let least = match cases {
        0..60 => 0.0,
        60..2000 => 0.85,
        _ => 0.98,
    };
    for part in coverage.parts() {
        assert!(
            part.share() >= least,
            "{} never: {}",
            part.name,
            part.never.join(" ")
        );
    }
}
