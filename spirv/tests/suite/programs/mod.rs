//! Random programs as SPIR-V on the simulator, compared with a reference interpreter.
//!
//! A program has arbitrary graphs of blocks, vectors, private arrays, pointers to all memories,
//! atomics, calls and barriers (`program.rs`, `make.rs`). Its buffers may be declared not to alias.
//! Target, width and optimization level are drawn. The allocation is checked, the legality rules
//! check every instruction, and launches check SWSB annotations. All memory must be as `alone.rs`
//! leaves it. A failing program is reduced and left in the target directory.
//!
//! The test prints coverage, and a digest of all zebins, which does not change with the speed of
//! the compiler. `GANTRY_SEED` sets the seed, `GANTRY_PROGRAMS` the number of programs, and
//! `GANTRY_TARGETS=skl,icllp` the targets.

mod alone;
mod graph;
mod make;
mod program;
mod rng;
mod types;
mod words;

use crate::targets::TARGETS;
use gantry_codegen::{CodegenError, CompileOptions, GrfMode, Inline, OptLevel, Target, compile};
use gantry_isa_gen::legal;
use gantry_isa_gen::text::list;
use gantry_runtime::{Arg, Device, Grid, SimOptions, Watch};
use gantry_spirv::{Options, Simd, translate};
use make::Limits;
use program::{Inst, Program, SLICE, Term, What};
use rng::Rng;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Options of compiling a program.
#[derive(Clone)]
struct Job {
    target: Target,
    width: u32,
    /// Inlining in SPIR-V and in the IR.
    inline: [Inline; 2],
    level: OptLevel,
    /// GRF mode, where there is a choice.
    grf_mode: GrfMode,
    /// Initial contents of the buffer.
    own: Vec<u8>,
}

/// Outcome of a program.
enum Outcome {
    /// Correct, with the hash of its zebin.
    Equal(u64),
    /// A work-item exceeds the limit of the interpreter.
    Endless,
    /// An instruction needs more registers than there are.
    TooLarge,
}

fn judge(p: &Program, job: &Job) -> Result<Outcome, String> {
    let Some(want) = alone::run(p, job.own.clone()) else {
        return Ok(Outcome::Endless);
    };
    let words = words::words(p, job.target.features().native_f64);
    let options = Options {
        simd: Simd::Width(job.width),
        inline: job.inline[0],
        // The math unit's quotients are exact on the simulator. Where there are none, ask for
        // correctly rounded ones.
        exact_division: !job.target.features().math_div_pow,
        ..Options::default()
    };
    let t = translate(&words, &options).map_err(|e| format!("translate: {e}"))?;
    let mut options = CompileOptions::new(job.target.clone());
    options.check = true;
    options.inline = job.inline[1];
    options.opt = job.level;
    options.grf_mode = job.grf_mode;
    let compiled = match compile(&t.module, &options) {
        Err(CodegenError::OutOfRegisters { .. }) => return Ok(Outcome::TooLarge),
        other => other.map_err(|e| format!("compile: {e}"))?,
    };
    let platform = job.target.platform();
    for l in list(platform, &compiled.kernels[0].code.bytes) {
        let inst = l.inst.map_err(|e| format!("at {:#x}: {e}", l.offset))?;
        if let Some(what) = legal::check(platform, &inst).first() {
            return Err(format!("illegal code at {:#x}: {what}", l.offset));
        }
    }
    let device = Device::simulator(SimOptions {
        platform,
        instruction_limit: 20_000_000,
        ..SimOptions::default()
    });
    let watch = Watch::new().hazards();
    let run = || -> Result<[Vec<u8>; 3], gantry_runtime::Error> {
        let module = device.load(&compiled.zebin)?;
        let own = device.buffer_from(&job.own)?;
        let out = device.buffer_from(&vec![0; want.out.len()])?;
        let counters: Vec<u8> = want
            .counters
            .iter()
            .flat_map(|_| 0x5a5au32.to_le_bytes())
            .collect();
        let counters = device.buffer_from(&[&counters[..], &[0; 4]].concat())?;
        let items = p.group * p.groups;
        let grid = Grid::new([items, 1, 1]).group([p.group, 1, 1]);
        let mut args = vec![
            Arg::Buffer(own.clone()),
            Arg::Buffer(out.clone()),
            Arg::Buffer(counters.clone()),
            Arg::bytes(&p.counter.to_le_bytes()),
        ];
        if p.by_value {
            let words = [p.counter].into_iter().chain(p.table.iter().copied());
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            args.push(Arg::bytes(&bytes));
        }
        let kernel = module.kernel("k")?;
        kernel.launch(grid).args(args).watch(&watch).run()?;
        Ok([own.read()?, out.read()?, counters.read()?])
    };
    let [own, out, counters] = run().map_err(|e| format!("launch: {e}"))?;
    if let Some(hazard) = watch.report().hazards.first() {
        return Err(format!("too early: {hazard}"));
    }
    let (places, stride) = p.results();
    let differs = |a: &[u8], b: &[u8]| a.iter().zip(b).position(|(a, b)| a != b);
    if let Some(at) = differs(&out, &want.out) {
        let (item, at) = (at as u32 / stride, at as u32 % stride);
        let var = places.iter().rposition(|p| *p <= at).unwrap_or(0);
        let from = (item * stride + places[var]) as usize;
        let n = p.kernel.vars[var].0.size() as usize;
        return Err(format!(
            "variable {var} of item {item} is {:02x?}, not {:02x?}",
            &out[from..from + n],
            &want.out[from..from + n]
        ));
    }
    if let Some(at) = differs(&own, &want.own) {
        let (item, at) = (at as u32 / SLICE, at as u32 % SLICE);
        return Err(format!("byte {at} of item {item}'s slice differs"));
    }
    let want: Vec<u8> = want.counters.iter().flat_map(|c| c.to_le_bytes()).collect();
    match differs(&counters, &want) {
        Some(at) => Err(format!("counter {} differs", at / 4)),
        None => {
            let mut hasher = DefaultHasher::new();
            compiled.zebin.hash(&mut hasher);
            Ok(Outcome::Equal(hasher.finish()))
        }
    }
}

/// Removes parts of a program as long as it fails.
fn smaller(p: &Program, job: &Job) -> Program {
    let mut best = p.clone();
    let fails = |p: &Program| judge(p, job).is_err();
    let attempt = |best: &mut Program, change: &dyn Fn(&mut Program)| {
        let mut next = best.clone();
        change(&mut next);
        if fails(&next) {
            *best = next;
        }
    };
    for _ in 0..2 {
        for groups in 1..best.groups {
            attempt(&mut best, &|p| p.groups = groups);
        }
        for b in 0..best.functions.len() + 1 {
            let of = |p: &Program| {
                if b == 0 {
                    p.kernel.clone()
                } else {
                    p.functions[b - 1].clone()
                }
            };
            let put = |p: &mut Program, body: program::Body| match b {
                0 => p.kernel = body,
                _ => p.functions[b - 1] = body,
            };
            for at in 0..of(&best).blocks.len() {
                let targets = program::targets(&of(&best).blocks[at].term);
                if targets.len() > 1 {
                    for t in targets {
                        attempt(&mut best, &|p| {
                            let mut body = of(p);
                            body.blocks[at].term = Term::Goto(t);
                            put(p, body);
                        });
                    }
                }
                for n in (0..of(&best).blocks[at].insts.len()).rev() {
                    attempt(&mut best, &|p| {
                        let mut body = of(p);
                        let inst: &Inst = &body.blocks[at].insts[n];
                        let (what, args) = match inst.gives() {
                            None => (What::Set(1), vec![program::Arg::Var(1)]),
                            Some(ty) => {
                                let zeros = (0..ty.count).map(|_| 0).collect();
                                (What::Construct, vec![program::Arg::Const(ty, zeros)])
                            }
                        };
                        let ty = inst.gives().unwrap_or(types::U32);
                        body.blocks[at].insts[n] = Inst { ty, what, args };
                        put(p, body);
                    });
                }
            }
        }
    }
    best
}

#[test]
fn programs_do_on_the_simulator_what_each_work_item_does_alone() {
    let number = |name: &str, or: u64| {
        let v = std::env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let seed = number("GANTRY_SEED", 0x5eed);
    let programs = number("GANTRY_PROGRAMS", 600);
    let named = std::env::var("GANTRY_TARGETS").unwrap_or(TARGETS.join(","));
    let targets: Vec<Target> = named
        .split(',')
        .map(|n| Target::lookup(n).unwrap())
        .collect();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut equal, mut endless, mut large, mut digest) = (0, 0, 0, 0u64);
    for n in 0..programs {
        let mut r = Rng((seed + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        r.below(1);
        let target = targets[r.below(targets.len())].clone();
        let limits = Limits {
            doubles: target.features().native_f64,
        };
        let width = [8, 16, 32][r.below(3)];
        let p = make::program(&mut r, limits);
        let bytes = p.group * p.groups * SLICE / 8;
        let own = (0..bytes).flat_map(|_| r.bits().to_le_bytes()).collect();
        let inline = match r.below(4) {
            0 => [Inline::Auto; 2],
            1 => [Inline::Never, Inline::Auto],
            _ => [Inline::Never; 2],
        };
        let level = OptLevel::ALL[r.below(3)];
        let grf_mode = match (target.with_large_file(), r.below(3)) {
            (Some(_), 0) => GrfMode::Large,
            _ => GrfMode::default(),
        };
        let job = Job {
            target,
            width,
            inline,
            level,
            grf_mode,
            own,
        };
        match judge(&p, &job) {
            Ok(Outcome::Equal(zebin)) => {
                equal += 1;
                digest = digest.wrapping_add(zebin);
            }
            Ok(Outcome::Endless) => {
                endless += 1;
                continue;
            }
            Ok(Outcome::TooLarge) => {
                large += 1;
                continue;
            }
            Err(e) => {
                let small = smaller(&p, &job);
                let why = judge(&small, &job).err().unwrap_or_default();
                let words = words::words(&small, limits.doubles);
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
                let file = dir.join(format!("program-{}.spv", seed + n));
                std::fs::write(&file, bytes).unwrap();
                panic!(
                    "GANTRY_SEED={} GANTRY_PROGRAMS=1, {} at SIMD{width}, -O {}, registers {:?}, calls {:?}: {e}\nsmaller, in {}: {why}\n{}",
                    seed + n,
                    job.target.name(),
                    job.level.name(),
                    job.grf_mode,
                    job.inline,
                    file.display(),
                    small.shown()
                );
            }
        }
        let bodies = p.functions.iter().chain([&p.kernel]);
        for inst in bodies.flat_map(|b| &b.blocks).flat_map(|b| &b.insts) {
            *seen.entry(inst.name()).or_default() += 1;
        }
        for body in p.functions.iter().chain([&p.kernel]) {
            let blocks = &body.blocks;
            let reached = program::reach(blocks, usize::MAX);
            let back = |b: usize| program::targets(&blocks[b].term).iter().any(|t| *t <= b);
            let mut count = |what: &str, is: bool| {
                *seen.entry(format!("graphs {what}")).or_default() += u64::from(is);
            };
            count("in all", true);
            count(
                "with cycles",
                (0..blocks.len()).any(|b| reached[b] && back(b)),
            );
            count("not reducible", !program::is_reducible(blocks));
            count("with barriers", blocks.iter().any(|b| b.meets));
            count(
                "with arrays in a structure",
                body.packed && !body.arrays.is_empty(),
            );
        }
        *seen
            .entry(format!("target {}", job.target.name()))
            .or_default() += 1;
        *seen.entry(format!("SIMD{width}")).or_default() += 1;
        *seen.entry("tables by value".to_owned()).or_default() += u64::from(p.by_value);
        *seen
            .entry(format!("level {}", job.level.name()))
            .or_default() += 1;
        *seen
            .entry(format!("registers {:?}", job.grf_mode))
            .or_default() += 1;
        *seen
            .entry(format!("buffers that promise {}", p.no_alias.count_ones()))
            .or_default() += 1;
        let kept = match inline {
            [Inline::Never, Inline::Never] => "called in hardware",
            [Inline::Never, _] => "called in the IR",
            _ => "inlined",
        };
        *seen.entry(format!("functions {kept}")).or_default() += 1;
    }
    for (what, count) in &seen {
        println!("{count:8} {what}");
    }
    println!(
        "seeds {seed} to {}: {equal} programs equal, {endless} too long, {large} too large",
        seed + programs - 1
    );
    println!("zebins: {digest:016x}");
    assert!(
        equal * 2 > programs,
        "most programs should run to their end"
    );
}
