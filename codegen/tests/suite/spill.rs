//! Kernels that need most of the GRF file, or more: spilled values, and values that must not be
//! spilled.

use gantry_codegen::fuzzing::{Options, module};
use gantry_codegen::{
    CodegenError, CompileOptions, Compiled, GrfMode, Inline, OptLevel, compile, text,
};
use std::fmt::Write;

/// Returns options without optimization, so that allocation sees the text as written.
fn unoptimized(target: &str) -> CompileOptions {
    CompileOptions {
        opt: OptLevel::O0,
        ..CompileOptions::for_target(target).unwrap()
    }
}

fn compiled(source: &str, target: &str) -> Result<Compiled, CodegenError> {
    let module = text::parse(source).unwrap().module;
    let options = CompileOptions {
        check: true,
        ..unoptimized(target)
    };
    compile(&module, &options)
}

/// Makes a matrix product. A thread keeps `rows` times `columns` accumulators of 16 floats live
/// through a loop.
fn sgemm(rows: usize, columns: usize) -> String {
    let mut next = 4;
    let mut value = || {
        next += 1;
        format!("v{}", next - 1)
    };
    let count = rows * columns;
    let (zero, none) = (value(), value());
    let mut out = format!(
        "kernel %sgemm(i64 ptr, i64 ptr, i64 ptr, i32) simd16 {{\nblock0(v0: i64, v1: i64, v2: i64, v3: i32):\n    {zero} = fconst.f32x16 0.0\n    {none} = iconst.i32 0\n"
    );
    let zeros = format!(", {zero}").repeat(count);
    writeln!(out, "    jump block1(v0, v1, {none}{zeros})").unwrap();
    let (a, b, k) = (value(), value(), value());
    let mut sums: Vec<String> = (0..count).map(|_| value()).collect();
    let params: String = sums.iter().map(|s| format!(", {s}: f32x16")).collect();
    writeln!(out, "block1({a}: i64, {b}: i64, {k}: i32{params}):").unwrap();
    let row = value();
    writeln!(out, "    {row} = bload.f32x{rows} {a}").unwrap();
    for c in 0..columns {
        let column = value();
        writeln!(out, "    {column} = bload.f32x16 {b}+{}", c * 64).unwrap();
        for r in 0..rows {
            let (element, sum) = (value(), value());
            let old = &sums[r * columns + c];
            writeln!(
                out,
                "    {element} = rdregion.f32x16 {row}, <0;1,0>, {}",
                r * 4
            )
            .unwrap();
            writeln!(out, "    {sum} = fma {element}, {column}, {old}").unwrap();
            sums[r * columns + c] = sum;
        }
    }
    let (more, next_k, again) = (value(), value(), value());
    writeln!(
        out,
        "    {more} = iconst.i32 1\n    {next_k} = iadd {k}, {more}"
    )
    .unwrap();
    writeln!(out, "    {again} = icmp ult {next_k}, v3").unwrap();
    let passed: String = sums.iter().map(|s| format!(", {s}")).collect();
    writeln!(
        out,
        "    brif {again}, block1({a}, {b}, {next_k}{passed}), block2\nblock2:"
    )
    .unwrap();
    for (n, s) in sums.iter().enumerate() {
        writeln!(out, "    bstore {s}, v2+{}", n * 64).unwrap();
    }
    out + "    return\n}\n"
}

#[test]
fn accumulators_of_nine_tenths_of_the_file_stay_in_it() {
    // 30 of them take 1,920 bytes, 57 take 3,648.
    for (rows, columns) in [(6, 5), (8, 6), (19, 3)] {
        for target in ["bdw", "skl", "bxt", "icllp"] {
            let c = compiled(&sgemm(rows, columns), target).unwrap();
            let spilled = &c.kernels[0].stats.spilled;
            assert_eq!(
                spilled.registers, 0,
                "{rows}x{columns}, {target}: {spilled:?}"
            );
        }
    }
}

#[test]
fn more_accumulators_than_the_file_holds_are_spilled() {
    let c = compiled(&sgemm(8, 16), "skl").unwrap();
    let spilled = &c.kernels[0].stats.spilled;
    assert!(spilled.fills > 0 && spilled.stores > 0, "{spilled:?}");
    // Spills what does not fit, and not much more.
    assert!((4096..12288).contains(&spilled.bytes), "{spilled:?}");
}

#[test]
fn kernels_that_would_spill_get_more_registers_where_there_are_some() {
    let with = |columns, target: &str, grf_mode| {
        let module = text::parse(&sgemm(8, columns)).unwrap().module;
        let options = CompileOptions {
            grf_mode,
            ..unoptimized(target)
        };
        compile(&module, &options)
    };
    // GRFs are twice as long on the latter. Fewer registers are chosen where all threads together
    // are faster with a few spills each.
    for (target, columns, auto) in [("dg2", 12, 256), ("pvc", 16, 128)] {
        for (mode, count) in [
            (GrfMode::Standard, 128),
            (GrfMode::Large, 256),
            (GrfMode::Auto, auto),
        ] {
            let c = with(columns, target, mode).unwrap();
            let spilled = c.kernels[0].stats.spilled.registers > 0;
            assert_eq!(c.kernels[0].grf_count, count, "{target}, {mode:?}");
            assert_eq!(spilled, count == 128, "{target}, {mode:?}");
        }
        let c = with(2, target, GrfMode::Auto).unwrap();
        assert_eq!(c.kernels[0].grf_count, 128, "{target}");
    }
    let c = with(16, "skl", GrfMode::Auto).unwrap();
    assert_eq!(c.kernels[0].grf_count, 128);
    let e = with(2, "tgllp", GrfMode::Large).unwrap_err().to_string();
    assert_eq!(e, "threads of `tgllp` have 128 registers");
}

fn pointers(count: usize) -> String {
    let list = |f: fn(usize) -> String| (0..count).map(f).collect::<Vec<_>>().join(", ");
    let kinds = list(|_| "i64 ptr".to_owned());
    let names = list(|n| format!("v{n}: i64"));
    let mut out =
        format!("kernel %many({kinds}) simd8 {{\nblock0({names}):\n    v{count} = bload.i32 v0\n");
    for n in 1..count {
        writeln!(out, "    bstore v{count}, v{n}").unwrap();
    }
    out + "    return\n}\n"
}

#[test]
fn arguments_fill_the_file_and_no_more() {
    // On platforms whose messages have one payload, a store takes a GRF for the header and one for
    // the data.
    for (target, most) in [("bdw", 490), ("skl", 500), ("icllp", 500)] {
        let c = compiled(&pointers(most), target).unwrap();
        assert!(c.kernels[0].stats.spilled.scratch < 2 * 4096);
        let e = compiled(&pointers(600), target).unwrap_err().to_string();
        assert!(
            e.contains("4800 bytes of arguments") && e.contains("4032 fit"),
            "{e}"
        );
    }
}

/// Makes nested ifs with a value per level, which is compared and read again at the end. Values are
/// 64 bytes, or 4 bytes at the start of a GRF.
fn nest(levels: usize, wide: bool) -> String {
    let mut out = "kernel %nest(i64 ptr, i32) simd1 {\nblock0(v0: i64, v1: i32):\n".to_owned();
    let ty = if wide { "i32x16" } else { "i32" };
    for n in 0..levels {
        let (v, c, first, offset) = (3 * n + 2, 3 * n + 3, 3 * n + 4, 4 * n);
        writeln!(out, "    v{v} = bload.{ty} v0+{offset}").unwrap();
        let compared = if wide {
            writeln!(out, "    v{first} = rdregion.i32 v{v}, <0;1,0>, 0").unwrap();
            first
        } else {
            v
        };
        let (out_of, on) = (2 * n + 1, 2 * n + 2);
        writeln!(
            out,
            "    v{c} = icmp ult v{compared}, v1\n    brif v{c}, block{out_of}, block{on}"
        )
        .unwrap();
        writeln!(
            out,
            "block{out_of}:\n    bstore v{v}, v0\n    return\nblock{on}:"
        )
        .unwrap();
    }
    for n in (0..levels).rev() {
        writeln!(out, "    bstore v{}, v0", 3 * n + 2).unwrap();
    }
    out + "    return\n}\n"
}

#[test]
fn many_small_values_through_branches_are_spilled() {
    for target in ["bdw", "skl", "icllp"] {
        let c = compiled(&nest(1_100, false), target).unwrap();
        assert!(c.kernels[0].stats.spilled.registers > 60);
    }
}

/// Slots together exceed the reach of the thread's own header.
///
/// The checker tracks each value through each block, which is quadratic in the levels. So only the
/// cases of fewer and larger values are checked.
#[test]
fn nothing_is_too_deep_to_be_spilled() {
    for (levels, wide, target) in [
        (2_200, true, "bdw"),
        (2_200, true, "skl"),
        (5_500, false, "skl"),
    ] {
        let module = text::parse(&nest(levels, wide)).unwrap().module;
        let options = CompileOptions {
            check: wide,
            ..unoptimized(target)
        };
        let c = compile(&module, &options).unwrap();
        let spilled = &c.kernels[0].stats.spilled;
        let least = if wide { 2_000 } else { 3_000 };
        assert!(
            spilled.registers > least && spilled.scratch > 128 << 10,
            "{spilled:?}"
        );
    }
    // Scratch beyond that of a thread is refused.
    let full = nest(1_100, false).replace(" simd1 {", " simd1 scratch 2097152 {");
    let e = compiled(&full, "skl").unwrap_err().to_string();
    assert!(e.contains("of scratch for a thread"), "{e}");
}

/// Values that fit are not spilled for fragmentation: they are moved. Four registers are reserved
/// for alignment and for the payload, which does not move.
#[test]
fn fitting_values_move_and_do_not_spill() {
    const SEED: u64 = 5000;
    eprintln!("seeds from {SEED}");
    let (mut runs, mut moved, mut spilled, mut calls) = ([0; 2], 0, [0; 2], 0);
    let (mut asked, mut more) = (0, 0);
    let spills = |c: &Compiled| {
        let mut all = c.kernels.iter().map(|k| &k.stats.spilled);
        all.any(|s| s.registers + s.remats > 0)
    };
    for seed in SEED..SEED + 1_200 {
        let target = ["bdw", "skl", "icllp"][seed as usize % 3];
        let kind = Options {
            size: 25,
            word_atomics: false,
            // An argument by reference keeps the vector around it in its place.
            region_args: false,
            ..Options::runnable()
        };
        let module = module(seed, &kind);
        let mut options = CompileOptions {
            check: true,
            inline: Inline::Never,
            ..CompileOptions::for_target(target).unwrap()
        };
        let Ok(all) = compile(&module, &options) else {
            continue;
        };
        let grf = options.target.grf().bytes;
        for extra in [0, 4] {
            let stats = all.kernels.iter().map(|k| &k.stats);
            if stats.clone().any(|s| s.spilled.registers > 0) {
                continue;
            }
            let demand = stats.map(|s| s.grf_bytes_demand).max().unwrap_or(0);
            options.grfs = Some(demand.div_ceil(grf) + extra);
            let less =
                compile(&module, &options).unwrap_or_else(|e| panic!("seed {seed}, {target}: {e}"));
            for s in less.kernels.iter().map(|k| &k.stats) {
                let some = s.spilled.registers + s.spilled.remats > 0;
                let call = module.functions.len() > all.kernels.len();
                // Registers of a routine may have no gap between its callers' values.
                assert!(
                    extra == 0 || call || !some,
                    "seed {seed}, {target}: {demand} bytes and {extra} registers"
                );
                runs[usize::from(extra > 0)] += 1;
                spilled[usize::from(extra > 0)] += u32::from(some);
                moved += u32::from(s.splits > 0);
                calls += u32::from(s.splits > 0 && call);
            }
            if extra == 0 {
                asked += demand.div_ceil(grf);
                let mut fits = !spills(&less);
                while !fits && options.grfs < Some(options.target.grf().count) {
                    more += 1;
                    options.grfs = options.grfs.map(|n| n + 1);
                    fits = !spills(&compile(&module, &options).unwrap());
                }
            }
        }
    }
    eprintln!("{moved} moved values, {calls} of them call, {spilled:?} of {runs:?} spilled");
    eprintln!("{more} registers above {asked}");
    // All that spill have calls. Without moves twice as many would spill. Demand alone does not
    // say how many registers a function needs: less than half a percent more.
    assert!(moved > 9 && more * 200 < asked && spilled[1] * 50 < runs[1]);
}

/// Demand is exact from below: what is not spilled needs no less. With fewer registers than that, a
/// value is spilled, or the code is made in another way whose demand fits. The other side of it is
/// above.
#[test]
fn nothing_fits_in_less_than_its_demand() {
    const SEED: u64 = 7000;
    eprintln!("seeds from {SEED}");
    let (mut fit, mut spilled) = (0, 0);
    for seed in (SEED..).take(400) {
        let target = ["skl", "tgllp", "pvc", "icllp", "dg2"][seed as usize % 5];
        let kind = Options {
            size: 25,
            word_atomics: false,
            ..Options::runnable()
        };
        let module = module(seed, &kind);
        let mut options = CompileOptions::for_target(target).unwrap();
        let Ok(all) = compile(&module, &options) else {
            continue;
        };
        let grf = options.target.grf().bytes;
        let demands = all.kernels.iter().map(|k| k.stats.grf_bytes_demand);
        let most = demands.max().unwrap_or(0).div_ceil(grf);
        for less in [1, 3] {
            options.grfs = Some(most.saturating_sub(less));
            let file = most.saturating_sub(less) * grf;
            let Ok(less) = compile(&module, &options) else {
                continue;
            };
            for s in less.kernels.iter().map(|k| &k.stats) {
                if s.spilled.is_empty() {
                    fit += 1;
                    let demand = s.grf_bytes_demand;
                    assert!(
                        demand <= file,
                        "seed {seed}, {target}: demand of {demand} bytes in {file}"
                    );
                } else {
                    spilled += 1;
                }
            }
        }
    }
    eprintln!("in fewer registers than demand, {spilled} spill and {fit} have less demand");
    assert!(spilled > 40 && fit > 40);
}
