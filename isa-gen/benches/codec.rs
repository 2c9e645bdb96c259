//! Throughput of encoding, decoding, compaction and text over random legal instructions of every
//! row, and of libiga64 on the same work. `cargo bench -p gantry-isa-gen` prints the ratios at its
//! end.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]
#![allow(unsafe_code, reason = "FFI to libiga64")]

#[path = "../tests/support/iga.rs"]
#[allow(
    clippy::panic,
    reason = "the tests' support fails where an oracle is required"
)]
mod support;

#[path = "../tests/kernels/mod.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    reason = "the tests' support, of which a part is used"
)]
mod kernels;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gantry_isa_gen::compact::compact;
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Oracle as _, Rng, random_inst};
use gantry_isa_gen::{Inst, MathFn, Op, Platform, Reg, legal, text};
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::Iga;

/// One platform of each column.
const PLATFORMS: [Platform; 9] = [
    Platform::Gen7p5,
    Platform::Gen8,
    Platform::Gen9,
    Platform::Gen10,
    Platform::Gen11,
    Platform::XeLp,
    Platform::XeHp,
    Platform::XeHpg,
    Platform::XeHpc,
];
/// Number of instructions of a sample, and of a large one that no branch predictor can memorize.
const COUNT: usize = 1000;
const MANY: usize = 20_000;

/// Sample of instructions in all forms.
struct Sample {
    platform: Platform,
    insts: Vec<Inst<Reg>>,
    native: Vec<[u8; 16]>,
    program: Vec<u8>,
    listing: String,
}

impl Sample {
    fn of(platform: Platform, insts: Vec<Inst<Reg>>) -> Sample {
        let native: Vec<_> = insts.iter().flat_map(|i| encode(platform, i)).collect();
        let program = native.concat();
        let listing = text::disassemble(platform, &program);
        Sample {
            platform,
            insts,
            native,
            program,
            listing,
        }
    }
}

/// Generates `count` random legal instructions, each opcode equally often.
fn sample(platform: Platform, count: usize) -> Option<Sample> {
    let mut rng = Rng::new(1);
    let mut insts = Vec::new();
    for _ in 0..count * 1000 {
        if insts.len() == count {
            break;
        }
        let (Some(op), f) = (rng.pick(&Op::ALL), rng.pick(&MathFn::ALL)) else {
            continue;
        };
        // Intel's encoder has no template for `dim` (`tests/support/disagreements.rs`).
        let legal = |i: &Inst<Reg>| {
            legal::check(platform, i).is_empty()
                && encode(platform, i).is_ok()
                && !op.format().is_branch()
                && op != Op::Dim
        };
        insts.extend(random_inst(platform, op, f, &mut rng).filter(legal));
    }
    if insts.len() < count {
        eprintln!("{platform}: no random instructions");
        return None;
    }
    Some(Sample::of(platform, insts))
}

fn codec(c: &mut Criterion) {
    for s in PLATFORMS.into_iter().filter_map(|p| sample(p, COUNT)) {
        let p = s.platform;
        let mut g = c.benchmark_group(p.name());
        g.throughput(Throughput::Elements(COUNT as u64));
        g.bench_function("encode", |b| {
            b.iter(|| {
                for i in &s.insts {
                    let _ = black_box(encode(p, black_box(i)));
                }
            });
        });
        g.bench_function("decode", |b| {
            b.iter(|| {
                for w in &s.native {
                    let _ = black_box(decode(p, black_box(w)));
                }
            });
        });
        g.bench_function("compact", |b| {
            b.iter(|| {
                for w in &s.native {
                    let _ = black_box(compact(p, black_box(w)));
                }
            });
        });
        g.bench_function("print", |b| {
            b.iter(|| {
                for i in &s.insts {
                    black_box(text::print_inst(p, black_box(i), &|_| String::new()));
                }
            });
        });
        g.bench_function("legal", |b| {
            b.iter(|| {
                for i in &s.insts {
                    black_box(legal::check(p, black_box(i)));
                }
            });
        });
        g.bench_function("disassemble", |b| {
            b.iter(|| black_box(text::disassemble(p, black_box(&s.program))));
        });
        g.bench_function("assemble", |b| {
            b.iter(|| black_box(text::assemble(p, black_box(&s.listing))));
        });
        g.finish();
    }
}

/// Returns the time of the fastest of several rounds.
fn fastest(mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..15 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed());
    }
    best
}

/// Returns the times of encoding and decoding a sample.
fn both_ways(s: &Sample) -> (Duration, Duration) {
    let encoded = fastest(|| {
        for i in &s.insts {
            black_box(encode(s.platform, black_box(i))).ok();
        }
    });
    let decoded = fastest(|| {
        for w in &s.native {
            black_box(decode(s.platform, black_box(w))).ok();
        }
    });
    (encoded, decoded)
}

/// Measures the same instructions in libiga64, which has text on one side: its disassembly decodes
/// and prints, its assembly parses and encodes.
fn ratios(_: &mut Criterion) {
    let million = |t: Duration| COUNT as f64 / 1e6 / t.as_secs_f64();
    for s in PLATFORMS.into_iter().filter_map(|p| sample(p, COUNT)) {
        let p = s.platform;
        let Some(mut iga) = Iga::open(p) else { return };
        // Failing work is not a valid measurement.
        for done in [
            iga.assemble(&s.listing).map(|_| ()),
            iga.disassemble(&s.program).map(|_| ()),
        ] {
            if let Err(e) = done {
                eprintln!("{p}: libiga64 refuses the sample: {e}");
            }
        }
        let (encoded, decoded) = both_ways(&s);
        let compacted = fastest(|| {
            for w in &s.native {
                black_box(compact(p, black_box(w)));
            }
        });
        let printed = fastest(|| {
            for i in &s.insts {
                black_box(text::print_inst(p, black_box(i), &|_| String::new()));
            }
        });
        let disassembled = fastest(|| {
            black_box(text::disassemble(p, &s.program));
        });
        let assembled = fastest(|| {
            black_box(text::assemble(p, &s.listing)).ok();
        });
        let theirs_back = fastest(|| {
            black_box(iga.disassemble(&s.program)).ok();
        });
        let theirs = fastest(|| {
            black_box(iga.assemble(&s.listing)).ok();
        });
        println!(
            "{p}: million instructions a second: encode {:.1}, decode {:.1}, compact {:.1}, print {:.1}",
            million(encoded),
            million(decoded),
            million(compacted),
            million(printed)
        );
        if let Some(many) = sample(p, MANY) {
            let million = |t: Duration| MANY as f64 / 1e6 / t.as_secs_f64();
            let (encoded, decoded) = both_ways(&many);
            println!(
                "{p}: the same of {MANY} instructions: encode {:.1}, decode {:.1}",
                million(encoded),
                million(decoded)
            );
        }
        let ratio = |ours: Duration, theirs: Duration| theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "{p}: against libiga64: text to bytes {:.1}x ({:.2} M/s and {:.3}), bytes to text {:.1}x ({:.2} and {:.3}); \
             encode alone {:.0}x its assembly, decode alone {:.0}x its disassembly",
            ratio(assembled, theirs),
            million(assembled),
            million(theirs),
            ratio(disassembled, theirs_back),
            million(disassembled),
            million(theirs_back),
            ratio(encoded, theirs),
            ratio(decoded, theirs_back),
        );
    }
}

/// Measures kernels of Intel's compiler, whose instructions are simpler than random ones.
fn compiled(_: &mut Criterion) {
    if !kernels::have_ocloc() {
        return;
    }
    for device in &kernels::DEVICES {
        let Some(p) = Platform::from_name(device.name) else {
            continue;
        };
        let code = kernels::compile(device, &[16]);
        let mut insts = Vec::new();
        for k in &code {
            for l in text::list(p, &k.code) {
                insts.extend(l.inst.ok().filter(|i| encode(p, i).is_ok()));
            }
        }
        let n = insts.len();
        let million = |t: Duration| n as f64 / 1e6 / t.as_secs_f64();
        let (encoded, decoded) = both_ways(&Sample::of(p, insts));
        println!(
            "{p}: {n} instructions of compiled kernels, million a second: encode {:.1}, decode {:.1}",
            million(encoded),
            million(decoded)
        );
    }
}

criterion_group!(benches, codec, ratios, compiled);
criterion_main!(benches);
