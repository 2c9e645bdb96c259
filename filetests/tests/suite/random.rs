//! Random kernels on every target: what the compiler's bytes do on the simulator is what the interpreter says, and Intel's assembler takes the
//! bytes and writes the same.
//!
//! `GANTRY_CASES` cases a target and kind of kernel from `GANTRY_SEED`, on the targets of `GANTRY_TARGETS` (`skl,icllp`) or all, with values in the
//! first `GANTRY_GRFS` registers alone, or in all. Kernels have 6 to 25 instructions at their outermost level. Of one case in `GANTRY_CHECKED` (all) what
//! each stage makes is checked too, and they are compiled three ways instead of two: what is stored is judged without that too, of three times the cases in
//! the same time.
//! Where kernels may ask for 256 registers, a third do; `GANTRY_GRF` (`128`, `256`, `auto`) says it for all. What was covered is
//! printed at the end (see it with `--nocapture`), and a digest of all zebins, which is the same after a change that is about speed alone.
//! `GANTRY_WITHOUT` leaves passes of the optimizer out.

use crate::iga;
use gantry_codegen::Code;
use gantry_codegen::Target as Product;
use gantry_codegen::fuzzing::Options;
use gantry_codegen::ir::Opcode;
use gantry_filetests::coverage::Coverage;
use gantry_filetests::differential::{Judging, Outcome, case, for_target, named, platforms};
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

/// How many registers values may be in.
fn grfs() -> Option<u32> {
    env("GANTRY_GRFS").map(|n| n as u32)
}

/// About how many instructions a case's kernel has at its outermost level: small ones are many, large ones hold what only comes together.
fn size(seed: u64) -> u32 {
    6 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 % 20
}

/// Seeds that a worker takes at once.
const CHUNK: u64 = 500;
/// Bytes of an instruction that is not compact: so all are judged here, and compaction in `compaction.rs`.
const INST_BYTES: usize = 16;
/// Instructions of a platform that are remembered; those beyond are judged each time.
const MOST_JUDGED: usize = 6_000_000;
/// Failures that are printed.
const MOST: usize = 40;

/// One piece of work.
struct Job {
    target: Product,
    options: Options,
    seeds: std::ops::Range<u64>,
    judged: Arc<Judged>,
}

/// What the workers found.
#[derive(Default)]
struct Found {
    coverage: Coverage,
    failures: Vec<String>,
    judged: u64,
    distinct: u64,
    /// The sum of what zebins hash to, whatever order they come in.
    digest: u64,
}

/// The instructions of a platform that were judged: each is judged once.
#[derive(Default)]
struct Judged(Mutex<HashSet<u128>>);

impl Judged {
    /// The instructions of a kernel that were not judged before, in their own form. Branches go to their own place: where they lead, the simulator judges.
    fn fresh(&self, platform: Platform, code: &Code) -> Vec<u8> {
        let mut seen = self.0.lock().unwrap();
        let mut out = Vec::new();
        for inst in &code.insts {
            let mut here = *inst;
            for s in here.srcs.iter_mut().filter(|s| matches!(s, Src::Target(_))) {
                *s = Src::Target(Target::Rel(0));
            }
            let key = u128::from_le_bytes(encode(platform, &here).unwrap());
            let new = match seen.len() < MOST_JUDGED {
                true => seen.insert(key),
                false => !seen.contains(&key),
            };
            if new {
                out.extend(key.to_le_bytes());
            }
        }
        out
    }
}

/// Whether Intel's assembler reads instructions, and makes them again of what it read.
fn judge(iga: &mut iga::Iga, bytes: &[u8]) -> Result<(), String> {
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

fn run(job: &Job) -> Found {
    let mut found = Found::default();
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
        let how = Judging {
            grfs: grfs(),
            stages: seed.is_multiple_of(checked),
        };
        match case(seed, &options, &job.target, how) {
            Ok(outcome) => {
                let ways = match &outcome {
                    Outcome::Equal(agreed) => &agreed.ways[..],
                    _ => &[],
                };
                for w in ways {
                    let mut hasher = DefaultHasher::new();
                    w.zebin.hash(&mut hasher);
                    found.digest = found.digest.wrapping_add(hasher.finish());
                }
                if let Some(iga) = &mut iga {
                    for k in ways.iter().flat_map(|w| &w.kernels) {
                        let fresh = job.judged.fresh(job.target.platform(), &k.code);
                        found.judged += k.stats.instructions as u64;
                        found.distinct += (fresh.len() / INST_BYTES) as u64;
                        if let Err(e) = judge(iga, &fresh) {
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
    let cases = env("GANTRY_CASES").unwrap_or(80);
    println!("GANTRY_SEED={first}");
    let integers = Options {
        floats: false,
        neighbours: true,
        ..Options::runnable()
    };
    let floats = Options {
        // What they do with a NaN's bits, or with a float's place in memory, would have to be followed.
        without: vec![Opcode::Bitcast, Opcode::Store],
        ..Options::runnable()
    };
    let mut jobs = Vec::new();
    let targets: Vec<_> = platforms()
        .into_iter()
        .map(|t| (t, Arc::new(Judged::default())))
        .collect();
    for options in [integers, floats] {
        for (target, judged) in &targets {
            for start in (first..first + cases).step_by(CHUNK as usize) {
                jobs.push(Job {
                    options: for_target(&options, target),
                    judged: Arc::clone(judged),
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
                    all.distinct += found.distinct;
                    all.digest = all.digest.wrapping_add(found.digest);
                }
            });
        }
    });
    let Found {
        coverage,
        failures,
        judged,
        distinct,
        digest,
    } = all.into_inner().unwrap();
    println!(
        "{coverage}, {judged} instructions judged by Intel's assembler, {distinct} of them different"
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
    // Each of one instruction that takes more than there is by itself, which in 16 registers of 32 bytes one kernel in 24 has; everything else is a failure.
    let few = grfs().is_some_and(|n| n <= 16);
    let most = total / if few { 12 } else { 20 };
    assert!(coverage.too_large <= most, "too many are too large");
    // A few cases cannot have everything, nor can a few targets.
    if cases < 60 || named().is_some() {
        return;
    }
    // What costs registers is given up where there are few.
    let mut idle = coverage.idle();
    idle.retain(|p| grfs().is_none() || !["unroll", "copy-coalescing", "load-licm"].contains(p));
    assert_eq!(idle, [""; 0], "passes that changed nothing");
    for part in coverage.parts() {
        let never = part.never.join(" ");
        // What has no one meaning is not drawn; every other opcode is, always.
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
