//! Loops with a variable trip count that load neighbours. The pass that runs several iterations at
//! once must take most of them. Results must equal the interpreter's for trip counts from 0 on, up
//! to the least and the greatest number of each width.
//!
//! `GANTRY_SEED` and `GANTRY_CASES` draw others; `GANTRY_TARGETS` names targets.

use crate::rng::Rng;
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, Pass, compile};
use gantry_filetests::launch::Run;
use gantry_filetests::runner::platforms;
use gantry_filetests::runner::{CompileVariant, RUNNERS, simulate};
use std::collections::BTreeMap;

/// Limit on iterations.
const MOST: i128 = 13;
/// Words that are read: rows of so many iterations of the widest access.
const WORDS: usize = 16 * 16 * 4;

/// Loop with its counting.
struct Loop {
    text: String,
    /// Choices of the generator, for the printed coverage.
    drawn: Vec<String>,
    bits: u32,
    signed: bool,
    up: bool,
    /// True if the bound is included.
    equal: bool,
    step: i128,
    /// True if neighbours are loaded.
    beside: bool,
}

fn one_of<T: Copy>(r: &mut Rng, of: &[T]) -> T {
    of[r.below(of.len() as u64) as usize]
}

fn drawn(r: &mut Rng) -> Loop {
    let bits = one_of(r, &[8, 16, 32, 64]);
    let (signed, up, equal) = (r.below(2) == 0, r.below(2) == 0, r.below(2) == 0);
    let (inverse, exchanged) = (r.below(2) == 0, r.below(2) == 0);
    let lanes = one_of(r, &[1, 8, 16]);
    let load = match lanes {
        1 => one_of(r, &["i32", "i64", "i32x4", "i64x2"]),
        _ => one_of(r, &["i8", "i16", "i32"]),
    };
    let bytes = match load {
        "i8" => 1,
        "i16" => 2,
        "i32" => 4,
        "i64" => 8,
        _ => 16,
    };
    let step = one_of(r, &[1, 2, 4].map(|s: i128| s.min(bytes)));
    let beside = r.below(8) > 0;
    let scale = bytes / step * if beside { 1 } else { 2 };
    let branches = r.below(2) == 0;
    // Branch condition: by a bit of the number, by whether it is the first, by an order with that,
    // or by a carried flag.
    let by = one_of(r, &["bit", "first", "order", "flag"]);
    let masked = lanes > 1 && r.below(2) == 0;

    // `number` less than `bound`, the operands exchanged, or the inverse condition.
    let name = |less: bool, equal: bool| {
        let sign = if signed { 's' } else { 'u' };
        let what = if less { 'l' } else { 'g' };
        format!("{sign}{what}{}", if equal { 'e' } else { 't' })
    };
    let condition = if inverse {
        name(up == exchanged, !equal)
    } else {
        name(up != exchanged, equal)
    };
    let compared = if exchanged { "v3, v5" } else { "v5, v3" };
    let dests = if inverse {
        "block3, block2"
    } else {
        "block2, block3"
    };
    let ty = format!("i{bits}");
    let sum = match (lanes, load) {
        (1, of) => of.to_owned(),
        (n, _) => format!("i32x{n}"),
    };
    let offset = if up { "isub v5, v2" } else { "isub v2, v5" };
    let wide = |v: &str, n: u32| match bits {
        64 => format!("    v{n}0 = iconst.i64 0\n    v{n} = iadd {v}, v{n}0\n"),
        _ => format!("    v{n} = uextend.i64 {v}\n"),
    };
    let mut t = format!("kernel %counted(i64 ptr, i64 ptr, {ty}, {ty}) simd{lanes} {{\n");
    t += &format!("block0(v0: i64, v1: i64, v2: {ty}, v3: {ty}):\n    v4 = iconst.{sum} 7\n");
    if lanes > 1 {
        let row = 16 * bytes;
        let rows: Vec<String> = (0..lanes).map(|n| (n * row).to_string()).collect();
        let mask = if masked { 0x5a5a } else { 0xffff } & ((1u32 << lanes) - 1);
        t += &format!("    v300 = vconst.i64x{lanes} [{}]\n", rows.join(", "));
        t += &format!(
            "    v301 = rdregion.i64x{lanes} v1, <0;1,0>, 0\n    v302 = iadd v301, v300\n"
        );
        t += &format!(
            "    v303 = bconst.b1x{lanes} {mask:#x}\n    v305 = bconst.b1x{lanes} {:#x}\n",
            (1u32 << lanes) - 1
        );
    }
    t += "    v60 = iconst.i32 1\n    jump block1(v2, v4, v60)\n";
    t += &format!(
        "block1(v5: {ty}, v6: {sum}, v61: i32):\n    v7 = icmp {condition} {compared}\n    brif v7, {dests}\nblock2:\n"
    );
    t += &format!("    v8 = {offset}\n{}", wide("v8", 9));
    t += &format!("    v10 = iconst.i64 {scale}\n    v11 = imul v9, v10\n");
    match lanes {
        1 => {
            t += &format!("    v12 = iadd v1, v11\n    v20 = bload.{load} v12\n");
            t += "    v13 = iconst.SUM 3\n    v14 = imul v6, v13\n    v15 = iadd v14, v20\n";
            if branches {
                // One of two paths.
                t += &match by {
                    "first" => format!("    v23 = icmp {} v5, v2\n", one_of(r, &["eq", "ne"])),
                    "order" => {
                        let order = name(r.below(2) == 0, r.below(2) == 0);
                        // Of the same signedness, or the other.
                        let sign = one_of(r, &["s", "u"]);
                        format!("    v23 = icmp {sign}{} v5, v2\n", &order[1..])
                    }
                    "flag" => "    v21 = iconst.i32 0\n    v23 = icmp ne v61, v21\n".to_owned(),
                    _ => format!(
                        "    v21 = iconst.{ty} 1\n    v22 = band v5, v21\n    v23 = icmp eq v22, v21\n"
                    ),
                };
                t += "    brif v23, block4, block5(v15)\nblock4:\n    v24 = bxor v15, v13\n    jump block5(v24)\nblock5(v16: SUM):\n";
            }
        }
        n => {
            t += &format!(
                "    v304 = rdregion.i64x{n} v11, <0;1,0>, 0\n    v12 = iadd v302, v304\n"
            );
            t += &if masked {
                format!(
                    "    v25 = iconst.{load}x{n} 5\n    v18 = load.{load}x{n} v12, mask v303, v25\n"
                )
            } else {
                format!("    v18 = load.{load}x{n} v12\n")
            };
            t += &match load {
                "i32" => "    v19 = iconst.SUM 1\n    v20 = iadd v18, v19\n".to_owned(),
                _ => "    v20 = sextend.SUM v18\n".to_owned(),
            };
            t += "    v13 = iconst.SUM 3\n    v14 = imul v6, v13\n    v15 = iadd v14, v20\n";
            if branches {
                t += "    v26 = icmp sgt v20, v13\n    v27, v28, v29 = goto v305, v305, v26\n    brif v29, block5(v27, v15), block4\n";
                t += &format!(
                    "block4:\n    v31 = iadd v15, v15\n    v32 = select v27, v31, v15\n    jump block5(v27, v32)\nblock5(v33: b1x{n}, v16: SUM):\n    v34, v35 = join v33, v28\n"
                );
            }
        }
    }
    let last = if branches { "v16" } else { "v15" };
    t += &format!(
        "    v40 = iconst.{ty} {step}\n    v41 = iadd v5, v40\n    v62 = iconst.i32 0\n    jump block1(v41, {last}, v62)\n",
        step = if up { step } else { -step }
    );
    t += &format!(
        "block3:\n    bstore v6, v0\n{}    bstore v50, v0+64\n    return\n}}\n",
        wide("v5", 50)
    );
    let text = t.replace("SUM", &sum);
    let drawn = vec![
        format!("numbers of {bits} bits"),
        format!("condition {condition}"),
        format!(
            "loads of {load} by {lanes} lanes{}",
            if masked { ", masked" } else { "" }
        ),
        format!("step {}", if up { step } else { -step }),
        match (branches, lanes) {
            (true, 1) => format!("a branch by {by}"),
            (true, _) => "a branch by lanes".to_owned(),
            (false, _) => "no branch".to_owned(),
        },
    ];
    Loop {
        text,
        drawn,
        bits,
        signed,
        up,
        equal,
        step,
        beside,
    }
}

/// Returns the start and the bound of a loop of `n` iterations.
fn bounds(r: &mut Rng, l: &Loop, n: i128) -> (i128, i128) {
    let (least, greatest) = if l.signed {
        (-(1i128 << (l.bits - 1)), (1i128 << (l.bits - 1)) - 1)
    } else {
        (0, (1i128 << l.bits) - 1)
    };
    // Computed for counting up, and mirrored for the other direction.
    let room = (n + 1) * l.step;
    let from = match r.below(5) {
        0 => least + 1,
        // Across the middle, where numbers of the other signedness wrap around.
        4 => (least + greatest) / 2 - i128::from(r.below(3)),
        1 => greatest - room,
        2 => least + 1 + i128::from(r.below(100)),
        _ => least + 1 + (r.u64() as i128) % (greatest - room - least),
    };
    // The bound is reached by the last iteration, or comes before the next.
    let beyond = i128::from(r.below(l.step as u64));
    let to = match (n, l.equal) {
        (0, false) => one_of(r, &[from, least, from - 1]),
        (0, true) => one_of(r, &[least, from - 1]),
        (_, false) => from + n * l.step - beyond,
        (_, true) => from + (n - 1) * l.step + beyond,
    };
    if l.up {
        (from, to)
    } else {
        (least + greatest - from, least + greatest - to)
    }
}

fn signed(value: i128, bits: u32) -> i128 {
    let unused = 128 - bits;
    value << unused >> unused
}

#[test]
fn loops_of_any_number_do_what_the_interpreter_says() {
    let number = |name: &str, or: u64| {
        let v = std::env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let seed = number("GANTRY_SEED", 1);
    let cases = number("GANTRY_CASES", 300);
    let targets = platforms();
    let interpreter = RUNNERS.into_iter().find(|r| !r.compiles()).unwrap();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut runs, mut beside, mut taken, mut peeled) = (0, 0, 0, 0);
    for n in seed..seed + cases {
        let mut r = Rng(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let target = &targets[r.below(targets.len() as u64) as usize];
        let l = drawn(&mut r);
        let failed = |e: String| -> ! {
            panic!(
                "GANTRY_SEED={n} GANTRY_CASES=1 on {}: {e}\n{}",
                target.name(),
                l.text
            )
        };
        let module = parse(&l.text)
            .unwrap_or_else(|e| failed(e.to_string()))
            .module;
        let mut options = CompileOptions::for_target(target.name()).unwrap();
        options.check = true;
        let c = compile(&module, &options).unwrap_or_else(|e| failed(e.to_string()));
        let passes = &c.kernels[0].stats.passes;
        let did = |pass: Pass| passes.iter().any(|p| p.pass == pass && p.changes > 0);
        let grouped = did(Pass::UnrollRuntime);
        peeled += u64::from(did(Pass::Peel));
        assert!(l.beside || !grouped, "no neighbours: {}", l.text);
        beside += u64::from(l.beside);
        taken += u64::from(grouped);
        let expected = interpreter
            .prepare(&module, target.name(), CompileVariant::default())
            .unwrap();
        for iterations in [0, 1, 2, 3, 4, 5, 8, i128::from(r.below(MOST as u64 + 1))] {
            let (from, to) = bounds(&mut r, &l, iterations);
            let (from, to) = (signed(from, l.bits), signed(to, l.bits));
            let words: Vec<String> = (0..WORDS).map(|_| r.i32().to_string()).collect();
            let (ty, nothing) = (format!("i{}", l.bits), vec!["0"; 32].join(", "));
            let line = format!(
                "%counted args=[i32[{nothing}], i32[{}], {ty} {from}, {ty} {to}] == [i32[{nothing}], _, _, _]",
                words.join(", ")
            );
            let run = Run::parse(&line).unwrap_or_else(|e| failed(format!("{e}: {from} to {to}")));
            let want = expected
                .run(&run)
                .unwrap_or_else(|e| failed(format!("{e}: {from} to {to}")));
            let got = simulate(&c.zebin, &run).unwrap_or_else(|e| failed(e));
            if got.0 != want {
                failed(format!("{iterations} iterations, from {from} to {to}"));
            }
            runs += 1;
        }
        for what in l.drawn.iter().chain([&format!("on {}", target.name())]) {
            *seen.entry(what.clone()).or_default() += 1;
        }
    }
    for (what, count) in &seen {
        println!("{count:6} {what}");
    }
    println!(
        "seeds {seed} to {}: {cases} loops, {beside} load neighbours, {taken} do several iterations at once, {peeled} do the first before, {runs} launches equal",
        seed + cases - 1
    );
    assert!(taken * 10 >= beside * 9 || cases < 20);
    assert!(peeled * 40 >= cases || cases < 20);
}

/// Loads of several iterations are live at once. If they would take more than half of the
/// registers, the loop stays as it is.
#[test]
fn what_registers_do_not_hold_is_not_loaded_ahead() {
    let text = |loads: u32| {
        let mut t =
            "kernel %many(i64 ptr, i64 ptr, i32) simd32 {\nblock0(v0: i64, v1: i64, v2: i32):\n"
                .to_owned();
        let rows: Vec<String> = (0..32).map(|n| (n * 64).to_string()).collect();
        t += &format!(
            "    v3 = vconst.i64x32 [{}]\n    v4 = rdregion.i64x32 v1, <0;1,0>, 0\n    v5 = iadd v4, v3\n",
            rows.join(", ")
        );
        t += "    v6 = iconst.i32 0\n    v7 = iconst.i32x32 0\n";
        let all = |first: u32| {
            (0..loads)
                .map(|n| format!(", v{}", first + n))
                .collect::<String>()
        };
        let typed: String = (0..loads)
            .map(|n| format!(", v{}: i32x32", 20 + n))
            .collect();
        let zeros = ", v7".repeat(loads as usize);
        t += &format!(
            "    jump block1(v6{zeros})\nblock1(v8: i32{typed}):\n    v9 = icmp slt v8, v2\n    brif v9, block2, block3\nblock2:\n"
        );
        t += "    v10 = uextend.i64 v8\n    v11 = iconst.i64 2\n    v12 = ishl v10, v11\n    v13 = rdregion.i64x32 v12, <0;1,0>, 0\n    v14 = iadd v5, v13\n";
        for n in 0..loads {
            t += &format!(
                "    v{} = load.i32x32 v14+{}\n    v{} = bxor v{}, v{}\n",
                40 + n,
                4096 * n,
                60 + n,
                20 + n,
                40 + n
            );
        }
        t += &format!(
            "    v15 = iconst.i32 1\n    v16 = iadd v8, v15\n    jump block1(v16{})\nblock3:\n",
            all(60)
        );
        for n in 0..loads {
            t += &format!("    bstore v{}, v0+{}\n", 20 + n, 128 * n);
        }
        t + "    return\n}\n"
    };
    for (loads, taken) in [(1, true), (4, true), (8, false)] {
        let module = parse(&text(loads)).unwrap().module;
        let c = compile(&module, &CompileOptions::for_target("skl").unwrap()).unwrap();
        let stats = &c.kernels[0].stats;
        let pass = stats.passes.iter().find(|p| p.pass == Pass::UnrollRuntime);
        assert_eq!(pass.is_some_and(|p| p.changes > 0), taken, "{loads} loads");
        assert_eq!(stats.spilled.registers, 0, "{loads} loads");
    }
}
