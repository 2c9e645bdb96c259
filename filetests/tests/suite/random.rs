//! Random kernels on every target. The compiled bytes on the simulator must give the interpreter's
//! results, and Intel's assembler must read the bytes and write the same.
//!
//! - `GANTRY_CASES` is the number of cases for a target and kind of kernel, from `GANTRY_SEED`.
//!   Kernels have 6 to 25 instructions at their outermost level.
//! - `GANTRY_TARGETS` (`skl,icllp`) names targets; all by default.
//! - `GANTRY_GRFS` limits values to the first registers.
//! - `GANTRY_CHECKED`: of one case in so many (all by default), the output of each stage is checked
//!   too. Such cases are compiled in three variants instead of two. Without these checks results
//!   are still compared, in three times the cases in the same time.
//! - `GANTRY_GRF` (`128`, `256`, `auto`): where kernels may ask for 256 registers, a third do; the
//!   variable sets it for all.
//! - `GANTRY_WITHOUT` leaves passes of the optimizer out.
//!
//! The coverage is printed at the end (see it with `--nocapture`), and a digest of all zebins. The
//! digest stays the same after a change that affects only speed.

use crate::iga;
use gantry_codegen::Code;
use gantry_codegen::Target as Product;
use gantry_codegen::fuzzing::Options;
use gantry_codegen::ir::Opcode;
use gantry_filetests::coverage::Coverage;
use gantry_filetests::differential::{CaseChecks, Outcome, case, for_target};
use gantry_filetests::runner::{named_targets, platforms};
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::Oracle;
use gantry_isa_gen::{Platform, Src, Target};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

/// Returns the number of registers that values may be in.
fn grfs() -> Option<u32> {
    env("GANTRY_GRFS").map(|n| n as u32)
}

/// Returns the approximate number of instructions of a case's kernel at its outermost level. Small
/// kernels are many, and large ones have combinations of features.
fn size(seed: u64) -> u32 {
    6 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 % 20
}

/// Number of seeds that a worker takes at once.
const CHUNK: u64 = 500;
/// Bytes of a native instruction. All instructions are native here; compaction is tested in
/// `compaction.rs`.
const INST_BYTES: usize = 16;
/// Limit on the remembered instructions of a platform. Those beyond are checked each time.
const MOST_JUDGED: usize = 6_000_000;
/// Limit on the failures that are printed.
const MOST: usize = 40;

/// Work of one worker.
struct RandomCases {
    target: Product,
    options: Options,
    seeds: std::ops::Range<u64>,
    checked: Arc<CheckedInsts>,
}

/// Results of the workers.
#[derive(Default)]
struct WorkerResults {
    coverage: Coverage,
    failures: Vec<String>,
    checked: u64,
    distinct: u64,
    /// Sum of the zebins' hashes, which is independent of their order.
    digest: u64,
}

/// Instructions of a platform that were checked. Each is checked once.
#[derive(Default)]
struct CheckedInsts(Mutex<HashSet<u128>>);

impl CheckedInsts {
    /// Returns the instructions of a kernel that were not checked before. Branches go to their own
    /// address; the simulator checks their targets.
    fn fresh(&self, platform: Platform, code: &Code) -> Vec<u8> {
        let mut seen = self.0.lock().unwrap();
        let mut out = Vec::new();
        for inst in &code.insts {
            let mut here = *inst;
            for s in here.srcs.iter_mut().filter(|s| matches!(s, Src::Target(_))) {
                *s = Src::Target(Target::Rel(0));
            }
            let key = u128::from_le_bytes(encode(platform, &here).unwrap());
            let new = if seen.len() < MOST_JUDGED {
                seen.insert(key)
            } else {
                !seen.contains(&key)
            };
            if new {
                out.extend(key.to_le_bytes());
            }
        }
        out
    }
}

/// Checks that Intel's assembler reads instructions, and assembles its own text to the same bytes.
fn check_with_iga(iga: &mut iga::Iga, bytes: &[u8]) -> Result<(), String> {
    let text = iga.disassemble(bytes)?;
    let again = iga.assemble(&text)?;
    if again == bytes {
        return Ok(());
    }
    let differ = bytes.iter().zip(&again).position(|(a, b)| a != b);
    let at = differ.unwrap_or(again.len());
    let lines = text.lines().filter(|l| l.starts_with(['(', ' ']));
    let line = lines.map(str::trim_end).nth(at / INST_BYTES);
    Err(format!(
        "other bytes come back from `{}`",
        line.unwrap_or_default()
    ))
}

fn run(job: &RandomCases) -> WorkerResults {
    let mut found = WorkerResults::default();
    let checked = env("GANTRY_CHECKED").unwrap_or(1).max(1);
    let mut iga = iga::Iga::open(job.target.platform());
    if let Some(iga) = &mut iga {
        iga.numeric_labels = true;
    }
    for seed in job.seeds.clone() {
        let mut fail = |e: String| {
            let name = job.target.name();
            found.failures.push(format!("seed {seed}, {name}: {e}"));
        };
        let options = Options {
            size: size(seed),
            ..job.options.clone()
        };
        let how = CaseChecks {
            grfs: grfs(),
            stages: seed.is_multiple_of(checked),
        };
        match case(seed, &options, &job.target, how) {
            Ok(outcome) => {
                let variants = match &outcome {
                    Outcome::Equal(agreed) => &agreed.variants[..],
                    _ => &[],
                };
                for w in variants {
                    let mut hasher = DefaultHasher::new();
                    w.zebin.hash(&mut hasher);
                    found.digest = found.digest.wrapping_add(hasher.finish());
                }
                if let Some(iga) = &mut iga {
                    for k in variants.iter().flat_map(|w| &w.kernels) {
                        let fresh = job.checked.fresh(job.target.platform(), &k.code);
                        found.checked += k.stats.instructions as u64;
                        found.distinct += (fresh.len() / INST_BYTES) as u64;
                        if let Err(e) = check_with_iga(iga, &fresh) {
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
    let cases = env("GANTRY_CASES").unwrap_or(56);
    println!("GANTRY_SEED={first}");
    let integers = Options {
        floats: false,
        neighbours: true,
        ..Options::runnable()
    };
    let floats = Options {
        // Following a NaN's bits, or a float's address in memory, would be needed for these.
        without: vec![Opcode::Bitcast, Opcode::Store],
        ..Options::runnable()
    };
    let mut jobs = Vec::new();
    let targets: Vec<_> = platforms()
        .into_iter()
        .map(|t| (t, Arc::new(CheckedInsts::default())))
        .collect();
    for options in [integers, floats] {
        for (target, checked) in &targets {
            for start in (first..first + cases).step_by(CHUNK as usize) {
                jobs.push(RandomCases {
                    options: for_target(&options, target),
                    checked: Arc::clone(checked),
                    target: target.clone(),
                    seeds: start..(start + CHUNK).min(first + cases),
                });
            }
        }
    }
    let (next, all) = (AtomicUsize::new(0), Mutex::new(WorkerResults::default()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(job);
                    let mut all = all.lock().unwrap();
                    all.coverage.extend(&found.coverage);
                    all.failures.extend(found.failures);
                    all.checked += found.checked;
                    all.distinct += found.distinct;
                    all.digest = all.digest.wrapping_add(found.digest);
                }
            });
        }
    });
    let WorkerResults {
        coverage,
        failures,
        checked,
        distinct,
        digest,
    } = all.into_inner().unwrap();
    println!(
        "{coverage}, {checked} instructions checked by Intel's assembler, {distinct} of them different"
    );
    println!("zebins: {digest:016x}");
    let most = failures.len().min(MOST);
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..most].join("\n")
    );
    let total = coverage.equal + coverage.too_large;
    // A case is too large if one instruction needs more registers than there are. With 16 registers
    // of 32 bytes one kernel in 24 is. Everything else is a failure.
    let few = grfs().is_some_and(|n| n <= 16);
    let most = total / if few { 12 } else { 20 };
    assert!(coverage.too_large <= most, "too many are too large");
    // A few cases cannot have everything, nor can a few targets.
    if cases < 60 || named_targets().is_some() {
        return;
    }
    // Passes that cost registers do nothing where there are few.
    let mut idle = coverage.idle();
    idle.retain(|p| grfs().is_none() || !["unroll", "copy-coalescing", "load-licm"].contains(p));
    assert_eq!(idle, [""; 0], "passes that changed nothing");
    for part in coverage.parts() {
        let never = part.never.join(" ");
        // Opcodes without a defined result are not drawn; every other opcode always is.
        let drawn = |n: &String| !["undef", "send", "send_reply"].contains(&n.as_str());
        let all = part.name != "opcodes" || !part.never.iter().any(drawn);
        // Some repairs are rare, and a rule or two.
        let least = match part.name {
            "repairs" if cases < 2000 => 0.85,
            "lowering rules" if cases < 2000 => 0.97,
            _ => 0.98,
        };
        assert!(all && part.share() >= least, "{} never: {never}", part.name);
    }
}
