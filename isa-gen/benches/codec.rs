//! Throughput of encoding, decoding, compaction and printing, over random legal instructions of every row.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gantry_isa_gen::compact::compact;
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Rng, random_inst};
use gantry_isa_gen::{Inst, MathFn, Op, Platform, Reg, legal, text};
use std::hint::black_box;

const PLATFORM: Platform = Platform::Gen9;

fn insts() -> Vec<Inst<Reg>> {
    let mut rng = Rng::new(1);
    let mut out = Vec::new();
    while out.len() < 1000 {
        let (Some(op), f) = (rng.pick(&Op::ALL), rng.pick(&MathFn::ALL)) else {
            continue;
        };
        out.extend(
            random_inst(PLATFORM, op, f, &mut rng).filter(|i| legal::check(PLATFORM, i).is_empty()),
        );
    }
    out
}

fn codec(c: &mut Criterion) {
    let insts = insts();
    let bytes: Vec<[u8; 16]> = insts
        .iter()
        .filter_map(|i| encode(PLATFORM, i).ok())
        .collect();
    let program = bytes.concat();
    let listing = text::disassemble(PLATFORM, &program);
    let mut g = c.benchmark_group("isa");
    g.throughput(Throughput::Elements(insts.len() as u64));
    g.bench_function("encode", |b| {
        b.iter(|| {
            for i in &insts {
                let _ = black_box(encode(PLATFORM, black_box(i)));
            }
        });
    });
    g.bench_function("decode", |b| {
        b.iter(|| {
            for w in &bytes {
                let _ = black_box(decode(PLATFORM, black_box(w)));
            }
        });
    });
    g.bench_function("compact", |b| {
        b.iter(|| {
            for w in &bytes {
                let _ = black_box(compact(PLATFORM, black_box(w)));
            }
        });
    });
    g.bench_function("legal", |b| {
        b.iter(|| {
            for i in &insts {
                black_box(legal::check(PLATFORM, black_box(i)));
            }
        });
    });
    g.bench_function("disassemble", |b| {
        b.iter(|| black_box(text::disassemble(PLATFORM, black_box(&program))));
    });
    g.bench_function("assemble", |b| {
        b.iter(|| black_box(text::assemble(PLATFORM, black_box(&listing))));
    });
    g.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
