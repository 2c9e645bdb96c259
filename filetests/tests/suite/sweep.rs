//! Sweeps over operations, conversions and regions of every type, at lane counts that hardware
//! lacks. The compiled code must give the interpreter's results, and every instruction of it must
//! be legal.

use gantry_codegen::text::parse;
use gantry_codegen::verifier::verify_parsed;
use gantry_filetests::launch::Run;
use gantry_filetests::runner::CompileVariant;
use gantry_filetests::runner::platforms;
use gantry_filetests::runner::{RUNNERS, Runner};

const LANES: [usize; 4] = [1, 5, 16, 23];
const INTS: [&str; 4] = ["i8", "i16", "i32", "i64"];
const FLOATS: [&str; 3] = ["f16", "f32", "f64"];

fn bytes(ty: &str) -> usize {
    ty[1..].parse::<usize>().unwrap() / 8
}

fn vector(ty: &str, lanes: usize) -> String {
    match lanes {
        1 => ty.to_owned(),
        n => format!("{ty}x{n}"),
    }
}

/// Formats a list of `n` numbers, taken in turn from those given.
fn list(ty: &str, numbers: &[&str], n: usize) -> String {
    let some: Vec<&str> = numbers.iter().copied().cycle().take(n).collect();
    format!("{ty}[{}]", some.join(", "))
}

/// Runs a kernel `%k` on every runner. All results must be the same.
fn agree(body: &str, args: &str) {
    let text = format!(
        "kernel %k(i64 ptr, i64 ptr, i64 ptr, i32, i16) simd1 {{\nblock0(v0: i64, v1: i64, v2: i64, v3: i32, v4: i16):\n{body}    return\n}}\n"
    );
    let parsed = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("k", &text)));
    verify_parsed(&parsed).unwrap_or_else(|e| panic!("{}", e.render("k", &text)));
    // The expected result is not known here. Any error text will do, as it is not compared.
    let run = Run::parse(&format!("%k args=[{args}] error:")).unwrap();
    let run = |r: &dyn Runner, target: &str| {
        r.prepare(&parsed.module, target, CompileVariant::default())
            .and_then(|p| p.run(&run))
            .unwrap_or_else(|e| panic!("{} for {target}: {e}\n{text}", r.name()))
    };
    let [simulator, interpreter] = RUNNERS;
    let expected = run(interpreter, "skl");
    for t in platforms() {
        if text.contains("f64") && !t.features().native_f64 {
            continue;
        }
        let got = run(simulator, t.name());
        assert!(
            got == expected,
            "{}: runners differ\n{text}\n{args}\n{expected:?}\n{got:?}",
            t.name()
        );
    }
}

#[test]
fn integer_operations() {
    const OPS: &str = "iadd isub imul smin smax umin umax band bor bxor ishl ushr sshr smulh umulh sdiv udiv srem urem savg uavg shadd \
                       uhadd sadd_sat uadd_sat ssub_sat usub_sat rotl rotr bfmask";
    const NUMBERS: [&str; 7] = ["11", "-50", "101", "7", "-1", "-128", "64"];
    for ty in INTS {
        for op in OPS.split_whitespace() {
            for lanes in LANES {
                let v = vector(ty, lanes);
                // Two vectors, an immediate on either side, a uniform value.
                for operands in ["v5, v6", "v5, v7", "v7, v5", "v5, v9"] {
                    let body = format!(
                        "    v5 = bload.{v} v0\n    v6 = bload.{v} v1\n    v7 = iconst.{v} 3\n    v8 = bload.{ty} v1\n    v9 = rdregion.{v} v8, <0;1,0>, 0\n    v10 = {op} {operands}\n    bstore v10, v2\n"
                    );
                    let (a, b) = (list(ty, &NUMBERS, lanes), list(ty, &NUMBERS[3..5], lanes));
                    agree(&body, &format!("{a}, {b}, {ty}[0;{lanes}], i32 0, i16 0"));
                }
            }
        }
    }
}

#[test]
fn integer_operations_of_one_and_three_operands() {
    const NUMBERS: [&str; 7] = ["0", "-50", "101", "7", "-1", "-128", "64"];
    const UNARY: &str = "ineg iabs bnot bfrev popcnt clz ctz";
    const TERNARY: &str = "imad ubfe sbfe bfi";
    for ty in INTS {
        let dword = if ty == "i32" {
            " sdp4a udp4a sudp4a sdp4a_sat udp4a_sat sudp4a_sat"
        } else {
            ""
        };
        let unary = UNARY.split_whitespace().map(|op| format!("{op} v5"));
        let ternary = [TERNARY, dword].concat();
        let ternary = ternary.split_whitespace().flat_map(|op| {
            ["v5, v6, v7", "v6, v6, v5", "v7, v8, v5"].map(|args| format!("{op} {args}"))
        });
        let pairs = ["iaddc v5, v6", "iaddc v5, v8", "isubb v6, v5"].map(str::to_owned);
        for op in unary.chain(ternary).chain(pairs) {
            let two = if op.starts_with("iaddc") || op.starts_with("isubb") {
                ", v10"
            } else {
                ""
            };
            for lanes in LANES {
                let v = vector(ty, lanes);
                let second = match two {
                    "" => String::new(),
                    _ => format!("    bstore v10, v2+{}\n", bytes(ty) * lanes),
                };
                let body = format!(
                    "    v5 = bload.{v} v0\n    v6 = bload.{v} v1\n    v7 = iconst.{v} 5\n    v8 = bnot v6\n    v9{two} = {op}\n    bstore v9, v2\n{second}"
                );
                let (a, b) = (list(ty, &NUMBERS, lanes), list(ty, &NUMBERS[2..5], lanes));
                agree(
                    &body,
                    &format!("{a}, {b}, {ty}[0;{}], i32 0, i16 0", 2 * lanes),
                );
            }
        }
    }
    for (from, to) in [("i8", "i16"), ("i16", "i32"), ("i32", "i64")] {
        for op in ["smul_wide", "umul_wide"] {
            for lanes in LANES {
                let (f, t) = (vector(from, lanes), vector(to, lanes));
                for operands in ["v5, v6", "v5, v7", "v7, v6"] {
                    let body = format!(
                        "    v5 = bload.{f} v0\n    v6 = bload.{f} v1\n    v7 = iconst.{f} -3\n    v8 = {op}.{t} {operands}\n    bstore v8, v2\n"
                    );
                    let (a, b) = (
                        list(from, &NUMBERS, lanes),
                        list(from, &NUMBERS[2..5], lanes),
                    );
                    agree(&body, &format!("{a}, {b}, {to}[0;{lanes}], i32 0, i16 0"));
                }
            }
        }
    }
}

/// Every operation that gives a float, alone and saturated, into a vector of its own and into a
/// region.
#[test]
fn float_operations_and_their_saturation() {
    const NUMBERS: [&str; 9] = [
        "0.25", "-1.5", "3", "0.5", "inf", "-0.0", "0.999", "1", "nan",
    ];
    const BINARY: &str = "fadd fsub fmul fmin fmax fdiv fdiv_rn fpow";
    const UNARY: &str = "fneg fabs fsat ffloor fceil ftrunc fnearest ffrac finv fsqrt fsqrt_rn frsqrt fexp2 flog2 fsin fcos";
    for ty in FLOATS {
        let int = format!("i{}", 8 * bytes(ty));
        for lanes in LANES {
            let v = vector(ty, lanes);
            let mut ops = Vec::new();
            ops.extend(BINARY.split_whitespace().map(|op| format!("{op} v5, v6")));
            ops.extend(UNARY.split_whitespace().map(|op| format!("{op} v5")));
            ops.push("fma v5, v6, v5".to_owned());
            ops.push("select v7, v5, v6".to_owned());
            ops.push(format!("bitcast.{v} v8"));
            ops.push(format!("fcvt_from_sint.{v} v8"));
            ops.push(format!("fcvt_from_uint_rtp.{v} v8"));
            if ty != "f64" {
                ops.push(format!("fdemote.{v} v10"));
            } else {
                let library = ["fpow", "fexp2", "flog2", "fsin", "fcos"];
                ops.retain(|op| !library.iter().any(|l| op.starts_with(l)));
            }
            if ty == "f32" {
                ops.push("flrp v6, v5, v5".to_owned());
            }
            if ty != "f16" {
                ops.push(format!("fpromote.{v} v9"));
            }
            // Halves for widening, the widest type for narrowing, without doubles where those would
            // be new.
            let (half, wide) = (
                vector("f16", lanes),
                vector(if ty == "f16" { "f32" } else { "f64" }, lanes),
            );
            let wide = match ty {
                "f16" | "f32" => wide,
                _ => half.clone(),
            };
            for op in ops {
                let narrow = if op.starts_with("fpromote") {
                    format!("    v9 = bload.{half} v1\n")
                } else {
                    String::new()
                };
                let demoted = if op.starts_with("fdemote") {
                    format!("    v10 = bload.{wide} v1\n")
                } else {
                    String::new()
                };
                let size = bytes(ty) * lanes;
                let body = format!(
                    "    v5 = bload.{v} v0\n    v6 = bload.{v} v1\n    v7 = bits_to_pred.{} v3\n    v8 = bload.{} v0\n{narrow}{demoted}    v11 = {op}\n    v12 = fsat v11\n    v13 = {op}\n    v14 = fsat v13\n    v15 = wrregion v5, <1;1,0>, 0, v14, mask v7\n    v16 = fsat v15\n    bstore v12, v2\n    bstore v16, v2+{size}\n",
                    vector("b1", lanes),
                    vector(&int, lanes),
                );
                let (a, b) = (
                    list(ty, &NUMBERS, lanes),
                    list(ty, &NUMBERS[2..7], 2 * lanes + 8),
                );
                agree(
                    &body,
                    &format!("{a}, {b}, {ty}[0;{}], i32 0x2d96a5, i16 0", 2 * lanes),
                );
            }
        }
    }
}

#[test]
fn conversions() {
    const WHOLE: [&str; 8] = ["0", "1", "-1", "127", "-128", "100", "-77", "5"];
    const REAL: [&str; 9] = [
        "0", "1.5", "-1.5", "300", "-40000", "inf", "-inf", "nan", "127.4",
    ];
    let convert = |from: &str, to: &str, op: &str| {
        let numbers = if from.starts_with('f') {
            &REAL[..]
        } else {
            &WHOLE[..]
        };
        let negated = if from.starts_with('f') {
            "fneg"
        } else {
            "ineg"
        };
        for lanes in LANES {
            let (a, b) = (vector(from, lanes), vector(to, lanes));
            let body = format!(
                "    v5 = bload.{a} v0\n    v6 = {op}.{b} v5\n    v7 = {negated} v5\n    v8 = {op}.{b} v7\n    bstore v6, v1\n    bstore v8, v2\n"
            );
            agree(
                &body,
                &format!(
                    "{}, {to}[0;{lanes}], {to}[0;{lanes}], i32 0, i16 0",
                    list(from, numbers, lanes)
                ),
            );
        }
    };
    for a in INTS {
        for b in INTS {
            let ops = match bytes(a).cmp(&bytes(b)) {
                std::cmp::Ordering::Less => "sextend uextend",
                std::cmp::Ordering::Equal => "",
                std::cmp::Ordering::Greater => {
                    "ireduce sstrunc_sat sutrunc_sat ustrunc_sat uutrunc_sat"
                }
            };
            ops.split_whitespace().for_each(|op| convert(a, b, op));
        }
        for f in FLOATS {
            for sign in ["sint", "uint"] {
                for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
                    convert(a, f, &format!("fcvt_from_{sign}{mode}"));
                    if mode != "_rtz" {
                        convert(f, a, &format!("fcvt_to_{sign}{mode}"));
                    }
                }
            }
        }
    }
    for (a, b) in [("f16", "f32"), ("f16", "f64"), ("f32", "f64")] {
        convert(a, b, "fpromote");
        for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
            convert(b, a, &format!("fdemote{mode}"));
        }
    }
}

/// Random regions, read and written, of every type, with and without masks, some indirect.
#[test]
fn regions() {
    const SEED: u64 = 7;
    println!("seed {SEED}");
    let mut state = SEED;
    let mut pick = |of: &[usize]| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        of[((z ^ (z >> 31)) % of.len() as u64) as usize]
    };
    let types: Vec<&str> = INTS.into_iter().chain(FLOATS).collect();
    let numbers: Vec<String> = (0..100).map(|i| (i * 7 % 100).to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let mut done = 0;
    while done < 600 {
        let ty = types[pick(&[0, 1, 2, 3, 4, 5, 6])];
        let lanes = pick(&[1, 2, 3, 5, 8, 13, 16, 21, 32]);
        let whole = pick(&[16, 24, 40, 64, 100]);
        let (vs, w) = (
            pick(&[0, 1, 2, 3, 4, 5, 8, 16]),
            pick(&[1, 2, 3, 4, 5, 8, 16]),
        );
        let (hs, first) = (pick(&[0, 1, 2, 3, 4]), pick(&[0, 1, 2, 3, 5, 7, 8, 11]));
        let element = |i: usize| first + i / w * vs + i % w * hs;
        // The last row counts whole, as in the verifier.
        let all = lanes.div_ceil(w) * w;
        if (0..all).any(|i| element(i) >= whole) {
            continue;
        }
        let mut written: Vec<usize> = (0..lanes).map(element).collect();
        written.sort_unstable();
        written.dedup();
        let write = pick(&[0, 1]) == 1;
        if write && written.len() < lanes {
            continue;
        }
        let at = first * bytes(ty);
        let region = match pick(&[0, 0, 0, 1]) {
            0 => format!("<{vs};{w},{hs}>, {at}"),
            _ => format!("<{vs};{w},{hs}>, 0+v4"),
        };
        let (part, total, pred) = (vector(ty, lanes), vector(ty, whole), vector("b1", lanes));
        let add = if ty.starts_with('f') { "fadd" } else { "iadd" };
        let used = match pick(&[0, 1]) {
            0 => "v6",
            _ => "v7",
        };
        let body = if write {
            let mask = if pick(&[0, 1]) == 1 { ", mask v8" } else { "" };
            format!(
                "    v5 = bload.{total} v0\n    v6 = bload.{part} v1\n    v7 = {add} v6, v6\n    v8 = bits_to_pred.{pred} v3\n    v9 = wrregion v5, {region}, {used}{mask}\n    v10 = {add} v5, v9\n    bstore v9, v2\n    bstore v10, v2+{}\n",
                whole * bytes(ty)
            )
        } else {
            format!(
                "    v5 = bload.{total} v0\n    v6 = rdregion.{part} v5, {region}\n    v7 = {add} v6, v6\n    bstore {used}, v2\n"
            )
        };
        let mask = 0x9e37_79b9u32.rotate_left(done);
        let args = format!(
            "{}, {ty}[20..{}], {ty}[0;{}], u32 {mask}, i16 {at}",
            list(ty, &numbers, whole),
            20 + lanes,
            2 * whole
        );
        agree(&body, &args);
        done += 1;
    }
}
