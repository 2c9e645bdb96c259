//! The `gantry` command as a user runs it.

use crate::common;
use crate::common::{Scratch, bytes, corpus, gantry, gantry_with};
use serde_json::Value;

const SAXPY: &str = "run/classics/saxpy.gir";

/// Returns the path of a file with two kernels.
pub(crate) fn saxpy() -> String {
    corpus(SAXPY).display().to_string()
}

const ONE: &str = "
kernel %one(i64 ptr, f32x3, i64, i8) simd1 {
block0(v0: i64, v1: f32x3, v2: i64, v3: i8):
    bstore v1, v0
    bstore v2, v0+16
    bstore v3, v0+24
    return
}
";

#[test]
fn every_kind_of_output() {
    let dir = Scratch::new();
    let path = dir.write("one.gir", ONE);
    let to = |emit: &str| {
        let out = dir.text(emit);
        gantry([
            "compile", &path, "--target", "skl", "--emit", emit, "-o", &out,
        ])
        .ok();
        std::fs::read(out).unwrap()
    };
    assert!(to("zebin").starts_with(b"\x7fELF"));
    let code = to("bin");
    assert!(!code.is_empty() && code.len() % 8 == 0);
    let ir = String::from_utf8(to("ir")).unwrap();
    assert_eq!(ir, ONE.trim_start());
    let mir = String::from_utf8(to("mir")).unwrap();
    assert!(mir.contains("%r") && mir.contains("sends"), "{mir}");

    // The text assembles to the code that it came from, and everything disassembles to it.
    let asm = String::from_utf8(to("asm")).unwrap();
    gantry([
        "asm",
        &dir.text("asm"),
        "--platform",
        "skl",
        "-o",
        &dir.text("krn"),
    ])
    .ok();
    assert_eq!(std::fs::read(dir.path("krn")).unwrap(), code);
    assert_eq!(
        gantry(["disasm", &dir.text("krn"), "--platform", "skl"]).ok(),
        asm
    );
    // After a kernel's end there are zeros for the prefetcher.
    let whole = gantry(["disasm", &dir.text("zebin")]).ok();
    let below = whole.strip_prefix("// kernel one, gen9\n").unwrap();
    let padding = below.strip_prefix(&asm).unwrap();
    let bytes = padding.strip_suffix(" bytes of padding\n").unwrap();
    assert!(
        bytes.starts_with("// ") && padding.lines().count() == 1,
        "{padding}"
    );
    assert_eq!(gantry(["compile", &path, "--emit", "asm"]).ok(), asm);
}

#[test]
fn a_cache_of_compiled_code() {
    let dir = Scratch::new();
    let (cache, zebin) = (dir.text("cache"), dir.text("k.zebin"));
    let compile = |file: &str, more: &[&str]| {
        let args = ["compile", file, "-o", &zebin, "--cache", &cache, "--stats"];
        let out = gantry(args.iter().chain(more)).ok();
        let lines: Vec<Value> = out
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        (lines, std::fs::read(dir.path("k.zebin")).unwrap())
    };
    let (first, made) = compile(&saxpy(), &[]);
    assert_eq!(first.len(), 3);
    assert_eq!(first[2]["cache"], "miss");
    let (again, mapped) = compile(&saxpy(), &[]);
    assert!(mapped == made);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0]["cache"], "hit");
    assert_eq!(again[0]["key"], first[2]["key"]);
    assert_eq!(again[0]["bytes"], made.len());
    // The same as without the cache.
    gantry(["compile", &saxpy(), "-o", &zebin]).ok();
    assert!(std::fs::read(dir.path("k.zebin")).unwrap() == made);
    // Other options are another key, and so is other text. Other value numbers are not.
    for more in [["--target", "icllp"], ["--inline", "never"]] {
        assert_eq!(compile(&saxpy(), &more).0.last().unwrap()["cache"], "miss");
    }
    let text = std::fs::read_to_string(saxpy()).unwrap();
    let renumbered = dir.write("k.gir", text.replace("v5", "v505"));
    assert_eq!(compile(&renumbered, &[]).0[0]["cache"], "hit");
    // Every entry is damaged.
    for entry in std::fs::read_dir(&cache).unwrap() {
        std::fs::write(entry.unwrap().path(), b"damaged").unwrap();
    }
    let (mended, whole) = compile(&saxpy(), &[]);
    assert!(mended[2]["cache"] == "miss" && whole == made);

    let one = dir.write("one.gir", ONE);
    let run = |form: &str| {
        let args = ["run", &one, "--cache", &cache, form, "--device", "sim"];
        let values = ["zero:32", "f32x3:1,2,3", "i64:4", "i8:5"];
        let values = values.into_iter().flat_map(|v| ["--arg", v]);
        gantry(args.into_iter().chain(values)).ok()
    };
    let stats: Value = serde_json::from_str(&run("--stats")).unwrap();
    assert_eq!(stats["cache"], "miss");
    let stats: Value = serde_json::from_str(&run("--stats")).unwrap();
    assert_eq!(stats["cache"], "hit");
    assert!(run("--stats=text").contains(", cache hit\n"));

    // Texts cannot be cached, nor in a file as the directory. A failure to store is a warning and
    // no error.
    let asm = ["compile", &one, "--cache", &cache, "--emit", "asm"];
    assert!(gantry(asm).misused().contains("--emit zebin"));
    gantry(["compile", &one, "--cache", &one]).fails();
    if std::path::Path::new("/proc/self").is_dir() {
        let out = gantry(["compile", &one, "-o", &zebin, "--cache", "/proc/self"]);
        assert!(
            out.err.starts_with("warning: /proc/self: not stored"),
            "{}",
            out.err
        );
        out.ok();
    }
}

#[test]
fn a_stage_printed() {
    let dir = Scratch::new();
    let result = gantry([
        "compile",
        &saxpy(),
        "-o",
        &dir.text("k.zebin"),
        "--print-after",
        "regalloc",
    ]);
    assert!(
        result.err.contains("; after regalloc") && result.err.contains("%saxpy32"),
        "{}",
        result.err
    );
    result.ok();
}

#[test]
fn text_and_zebin_run_alike() {
    let dir = Scratch::new();
    let zebin = dir.text("k.zebin");
    gantry(["compile", &saxpy(), "-o", &zebin]).ok();
    let x = dir.write("x", bytes((0..100).map(|i| i as f32)));
    let y = dir.write("y", bytes((0..100).map(|_| 1.0)));
    for file in [saxpy(), zebin] {
        let out = dir.text("result");
        let stats = gantry([
            "run",
            &file,
            "--kernel",
            "saxpy32",
            "--global",
            "128,1,1",
            "--local",
            "64",
            "--device",
            "sim",
            "--stats",
            "--arg",
            &format!("in:{x}"),
            "--arg",
            &format!("inout:{y}:{out}"),
            "--arg",
            "f32:-0.5",
            "--arg",
            "i32:100",
        ])
        .ok();
        let expected: Vec<f32> = (0..100).map(|i| 1.0 - 0.5 * i as f32).collect();
        assert_eq!(dir.floats("result"), expected);
        let stats: Value = serde_json::from_str(&stats).unwrap();
        assert_eq!(
            (&stats["kernel"], &stats["threads"]),
            (&Value::from("saxpy32"), &Value::from(4))
        );
        for name in [
            "instructions",
            "channels",
            "sends",
            "bytes_read",
            "bytes_written",
        ] {
            assert!(stats[name].as_u64().unwrap() > 0, "{name}: {stats}");
        }
        assert!(stats["wall_seconds"].as_f64().unwrap() > 0.0, "{stats}");
    }
}

/// Runs `saxpy8` of the corpus in two groups of 32 with further options.
fn seen(options: &[&str]) -> common::Outcome {
    let file = saxpy();
    let mut args = vec!["run", &file, "--kernel", "saxpy8", "--device", "sim"];
    args.extend(["--global", "64", "--local", "32"]);
    args.extend([
        "--arg", "zero:256", "--arg", "zero:256", "--arg", "f32:2", "--arg", "i32:60",
    ]);
    args.extend(options);
    gantry(args)
}

#[test]
fn statistics_and_profiles() {
    let stats: Value = serde_json::from_str(&seen(&["--stats"]).ok()).unwrap();
    let sum = |what: &str| {
        let parts = stats[what].as_array().unwrap().iter();
        parts.map(|t| t["executed"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("opcodes"), stats["instructions"].as_u64().unwrap());
    assert_eq!(sum("messages"), stats["sends"].as_u64().unwrap());
    let text = seen(&["--stats=text"]).ok();
    assert!(text.starts_with("saxpy8: 8 threads, "), "{text}");
    let eot = text.lines().find(|l| l.ends_with("end of thread"));
    assert!(eot.unwrap().trim().starts_with("8 "), "{text}");

    let profile = seen(&["--profile=text"]).ok();
    assert!(profile.contains("0x0000  "), "{profile}");
    assert!(profile.starts_with("modelled: "), "{profile}");
    let profile: Value = serde_json::from_str(&seen(&["--profile=json"]).ok()).unwrap();
    let cycles = |of: &str| profile["cycles"][of].as_u64().unwrap();
    assert!(cycles("alone") > cycles("busy") && cycles("busy") > 0);
    let lines = profile["profile"].as_array().unwrap();
    let executed = lines.iter().map(|l| l["executed"].as_u64().unwrap());
    assert_eq!(
        executed.sum::<u64>(),
        stats["instructions"].as_u64().unwrap()
    );
}

#[test]
fn traces() {
    let all = seen(&["--trace=json"]).ok();
    let events: Vec<Value> = all
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let threads = events.iter().filter(|e| e["ip"] == 0).count();
    assert_eq!(threads, 8);
    assert!(events.iter().all(|e| e["kernel"] == "saxpy8"));
    let some = seen(&[
        "--trace=text",
        "--trace-group=1",
        "--trace-thread=1",
        "--trace-ip=0..0x20",
    ])
    .ok();
    let heads: Vec<&str> = some.lines().filter(|l| !l.starts_with(' ')).collect();
    assert!(!heads.is_empty(), "{some}");
    for h in heads {
        assert!(h.starts_with("saxpy8 (1,0,0) t1 0x00"), "{h}");
    }
    assert!(
        seen(&["--trace=text", "--trace-kernel=other"])
            .ok()
            .is_empty()
    );
    let err = seen(&["--trace=text", "--trace-ip=x"]).misused();
    assert!(err.contains("`x` is no offset"), "{err}");
    // Before Xe the hardware tracks its registers.
    assert!(seen(&["--check-hazards=text"]).ok().is_empty());
}

#[test]
fn arguments_by_value() {
    let dir = Scratch::new();
    let path = dir.write("one.gir", ONE);
    for (long, byte) in [
        ("i64:-2", "i8:-1"),
        ("u64:18446744073709551614", "u8:255"),
        ("bytes:feffffffffffffff", "bytes:ff"),
    ] {
        gantry([
            "run",
            &path,
            "--device",
            "sim",
            "--arg",
            &format!("out:{}:25", dir.text("out")),
            "--arg",
            "f32x3:1,2,3",
            "--arg",
            long,
            "--arg",
            byte,
        ])
        .ok();
        let out = std::fs::read(dir.path("out")).unwrap();
        assert_eq!(out[..12], bytes([1.0, 2.0, 3.0]));
        assert_eq!(out[16..24], (-2i64).to_le_bytes());
        assert_eq!(out[24], 255);
    }
}

#[test]
fn devices_are_listed() {
    let out = gantry(["devices"]).ok();
    for line in [
        "skl           simulator (skl), 24 EUs of 7 threads, groups of 256",
        "pvc           simulator (pvc), 512 EUs of 8 threads, groups of 1024",
    ] {
        assert!(out.contains(line), "{out}");
    }
}

/// A device is opened by each of the names that the list gives, and by its index.
#[test]
fn listed_devices_run() {
    let list = gantry(["devices", "--json"]).ok();
    let devices = list
        .lines()
        .map(|l| -> serde_json::Value { serde_json::from_str(l).unwrap() });
    let (_, device) = (0..)
        .zip(devices)
        .find(|(_, d)| d["device"] == "tgllp")
        .unwrap();
    let index = device["index"].to_string();
    for name in ["tgllp", "tgl", &index] {
        let run = |more: &[&str]| {
            let saxpy = saxpy();
            let base = ["run", &saxpy, "--kernel", "saxpy8", "--device", name];
            let args = [
                "--arg", "zero:8", "--arg", "zero:8", "--arg", "f32:1", "--arg", "i32:2",
            ];
            gantry([&base[..], &args[..], more].concat())
        };
        run(&["--global", "64", "--local", "64"]).ok();
        // 64 threads of 8 channels are the most that a group has.
        let error = run(&["--global", "520", "--local", "520"]).fails();
        assert!(error.contains("at most 64 threads"), "{error}");
        // A zebin of another product runs, unless the simulator is strict.
        let dir = Scratch::new();
        let other = dir.path("rkl.zebin").display().to_string();
        gantry(["compile", &saxpy(), "--target", "rkl", "-o", &other]).ok();
        let run = |more: &[&str]| {
            let base = [
                "run", &other, "--kernel", "saxpy8", "--device", name, "--global", "8",
            ];
            let args = [
                "--arg", "zero:32", "--arg", "zero:32", "--arg", "f32:1", "--arg", "i32:2",
            ];
            gantry([&base[..], &args[..], more].concat())
        };
        run(&[]).ok();
        let error = run(&["--strict"]).fails();
        let expected = "compiled for rkl, which simulator (tgllp) does not run";
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn filetests_run_and_fail() {
    let out = gantry(["test", &saxpy()]).ok();
    assert!(out.contains("1 file, 3 commands, 0 failures"), "{out}");
    let dir = Scratch::new();
    let text = std::fs::read_to_string(saxpy())
        .unwrap()
        .replace("f32[1, 3, 5,", "f32[1, 3, 6,");
    let wrong = dir.write("wrong.gir", text);
    let result = gantry(["test", &wrong]);
    assert!(result.out.contains("element 2 differs"), "{}", result.out);
    assert!(result.fails().contains("1 filetest command failed"));
}

#[test]
fn validation() {
    let dir = Scratch::new();
    let zebin = dir.text("k.zebin");
    gantry(["compile", &saxpy(), "-o", &zebin]).ok();
    let out = gantry(["validate", &zebin]).ok();
    assert!(out.ends_with("instructions, no findings\n"), "{out}");

    let asm = dir.write("k.asm", "nop\n    mov (16|M0) r5.0<1>:df r7.0<8;8,1>:f\n");
    gantry(["asm", &asm, "-o", &dir.text("k.krn")]).ok();
    let text = gantry(["validate", &asm]);
    assert!(
        text.out
            .contains("0x0010: dst: 16 channels of 8 bytes take 4 registers"),
        "{}",
        text.out
    );
    assert!(
        text.out.contains("k.asm:2:5\n") && text.out.contains("[dst-span]"),
        "{}",
        text.out
    );
    for advice in [
        "  = rule: a destination spans two adjacent registers at most\n",
        "  = hint: split the instruction by channels\n",
    ] {
        assert!(text.out.contains(advice), "{}", text.out);
    }
    let found = text.fails();
    assert!(found.contains("in 2 instructions"), "{found}");
    let code = gantry(["validate", &dir.text("k.krn"), "--platform", "skl"]);
    assert!(
        code.out.starts_with("0x0010: dst: 16 channels of 8 bytes"),
        "{}",
        code.out
    );
    code.fails();

    let cut = std::fs::read(dir.path("k.krn")).unwrap();
    let cut = dir.write("cut.krn", &cut[..27]);
    let out = gantry(["validate", &cut, "--platform", "skl"]);
    assert!(out.out.contains("11 bytes at the end"), "{}", out.out);
    assert!(out.fails().contains("1 finding in 1 instruction"));
}

#[cfg(feature = "wgsl")]
const WGSL: &str = "
struct Params { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(1) @binding(3) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(32)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    y[id.x] = params.a * x[id.x] + y[id.x] * f32(params.n);
}
";

#[cfg(feature = "wgsl")]
#[test]
fn wgsl_by_its_bindings() {
    let dir = Scratch::new();
    let path = dir.write("k.wgsl", WGSL);
    let numbers = |f: &dyn Fn(usize) -> f32| bytes((0..50).map(f));
    std::fs::write(dir.path("x"), numbers(&|i| i as f32)).unwrap();
    std::fs::write(dir.path("y"), numbers(&|_| 3.0)).unwrap();
    let want = numbers(&|i| 2.0 * i as f32 + 12.0);
    let (x, y) = (
        format!("in:{}", dir.text("x")),
        format!("inout:{}:{}", dir.text("y"), dir.text("out")),
    );
    let params = dir.write("params", "");
    std::fs::write(&params, bytes([2.0, f32::from_bits(4)])).unwrap();
    let params = format!("in:{params}");
    // In any order. 50 items are two groups, the last ones outside of the buffers.
    let (b0, b1, b2) = (
        format!("0,0:{params}"),
        format!("0,1:{x}"),
        format!("1,3:{y}"),
    );
    let run = |more: &[&str]| {
        let mut args = vec!["run", path.as_str(), "--device", "sim"];
        args.extend(more);
        gantry(args)
    };
    run(&[
        "--global", "50", "--bind", &b2, "--bind", &b0, "--bind", &b1,
    ])
    .ok();
    assert_eq!(std::fs::read(dir.path("out")).unwrap(), want);
    std::fs::remove_file(dir.path("out")).unwrap();
    run(&[
        "--groups", "2", "--simd", "32", "--arg", &params, "--arg", &x, "--arg", &y,
    ])
    .ok();
    assert_eq!(std::fs::read(dir.path("out")).unwrap(), want);

    let e = run(&["--global", "50", "--bind", &b0, "--bind", &b1]).fails();
    assert!(e.contains("nothing is bound at binding 1,3"), "{e}");
    let e = run(&["--arg", &params]).fails();
    assert!(e.contains("takes 3 arguments, 1 was given"), "{e}");
    let e = run(&["--bind", "0,0:zero:4", "--bind", &b1, "--bind", &b2]).fails();
    assert!(e.contains("4 bytes are too few"), "{e}");
    let e = run(&["--bind", "0,7:zero:4"]).fails();
    assert!(e.contains("it has no binding 0,7: it has 0,0"), "{e}");
    // A cache finds it without translation. A zebin has the bindings.
    let cache = dir.text("cache");
    for hit in ["miss", "hit"] {
        let stats = run(&[
            "--groups", "2", "--bind", &b2, "--bind", &b0, "--bind", &b1, "--cache", &cache,
            "--stats",
        ]);
        assert!(stats.ok().contains(&format!("\"cache\":\"{hit}\"")));
    }
    let zebin = dir.text("k.zebin");
    gantry(["compile", &path, "-o", &zebin]).ok();
    std::fs::remove_file(dir.path("out")).unwrap();
    let args = ["--groups", "2", "--bind", &b2, "--bind", &b0, "--bind", &b1];
    let mut line = vec!["run", &zebin, "--device", "sim"];
    line.extend(args);
    gantry(line).ok();
    assert_eq!(std::fs::read(dir.path("out")).unwrap(), want);

    let ir = gantry(["compile", &path, "--emit", "gir", "--simd", "16"]).ok();
    assert!(ir.contains("kernel %saxpy(") && ir.contains("simd16 group 32,1,1"));
    let checked = ir.lines().count();
    let ir = gantry(["compile", &path, "--emit", "gir", "--robust", "off"]).ok();
    assert!(ir.lines().count() < checked, "{ir}");
    let bad = dir.write("bad.wgsl", "fn f() { let x: u32 = 1.5; }");
    let e = gantry(["compile", &bad]).fails();
    assert!(e.contains("1 │ fn f()"), "{e}");
}

#[cfg(feature = "wgsl")]
#[test]
fn values_of_constants_and_several_modules() {
    let dir = Scratch::new();
    let text = WGSL
        .replace("32)", "N)")
        .replacen('\n', "\noverride N: u32;\n", 1);
    let path = dir.write("k.wgsl", &text);
    let compile = |more: &[&str]| {
        let mut args = vec!["compile", path.as_str(), "--emit", "gir", "--simd", "8"];
        args.extend(more);
        gantry(args)
    };
    let ir = compile(&["--spec", "N=24"]).ok();
    assert!(ir.contains("group 24,1,1"), "{ir}");
    let e = compile(&["--spec", "N=24", "--spec", "M=1"]).fails();
    assert!(
        e.contains("no specialization constant `M`; there are N"),
        "{e}"
    );
    let e = compile(&["--spec", "N=-1"]).fails();
    assert!(
        e.contains("-1 is no value of an unsigned integer of 32 bits"),
        "{e}"
    );
    let e = compile(&["--spec", "N"]).misused();
    assert!(e.contains("`N` is no NAME=VALUE"), "{e}");
    assert!(
        compile(&["--spec", "N=x"])
            .misused()
            .contains("`x` is no value of a constant")
    );

    let words = gantry::spirv::wgsl::to_spirv(WGSL).unwrap();
    let module = dir.path("k.spv");
    let words: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&module, words).unwrap();
    let module = dir.text("k.spv");
    gantry(["compile", &module, "--emit", "gir"]).ok();
    let e = gantry(["compile", &module, &module]).fails();
    assert!(e.contains("a second entry point \"saxpy\""), "{e}");
    let e = compile(&[&module]).misused();
    assert!(e.contains("only SPIR-V and IR are linked"), "{e}");
    let ir = dir.write("k.gir", "kernel %k() simd8 {\nblock0:\n    return\n}\n");
    let e = gantry(["compile", &ir, &module]).misused();
    assert!(e.contains("IR is linked with IR alone"), "{e}");
}

/// Standard input is recognized by its contents, for each language.
#[test]
fn standard_input() {
    let gir = "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    v1 = iconst.i32x8 7\n    bstore v1, v0\n    return\n}\n";
    let ir = gantry_with(["compile", "-", "--emit", "gir"], gir.as_bytes()).ok();
    assert!(ir.contains("kernel %k("), "{ir}");
    let dir = Scratch::new();
    let (zeros, out) = (dir.write("zeros", [0; 32]), dir.text("out"));
    let arg = format!("inout:{zeros}:{out}");
    let run = [
        "run", "-", "--device", "sim", "--global", "8", "--arg", &arg,
    ];
    gantry_with(run, gir.as_bytes()).ok();
    assert_eq!(std::fs::read(&out).unwrap(), [7, 0, 0, 0].repeat(8));
    let zebin = dir.text("k.zebin");
    gantry_with(["compile", "-", "-o", &zebin], gir.as_bytes()).ok();
    let bytes = std::fs::read(&zebin).unwrap();
    gantry_with(run, &bytes).ok();
    assert!(gantry_with(["disasm", "-"], &bytes).ok().contains("send"));
    #[cfg(feature = "wgsl")]
    {
        let ir = gantry_with(["compile", "-", "--emit", "gir"], WGSL.as_bytes()).ok();
        assert!(ir.contains("kernel %saxpy("), "{ir}");
    }
}

/// Lists are lines of JSON if asked for, and shells complete every subcommand.
#[test]
fn lists_and_completions() {
    let json = |args: &[&str]| -> Vec<serde_json::Value> {
        let text = gantry(args).ok();
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    };
    let devices = json(&["devices", "--json"]);
    let skl = devices.iter().find(|d| d["device"] == "skl").unwrap();
    assert_eq!(skl["target"], "skl");
    assert_eq!(skl["slm_per_group"], 65536);
    assert_eq!(skl["sub_group_sizes"], serde_json::json!([8, 16, 32]));
    let targets = json(&["targets", "--json"]);
    let of = |name| targets.iter().find(|t| t["target"] == name).unwrap();
    assert_eq!(of("pvc")["grf_bytes"], 64);
    assert_eq!(of("dg2")["doubles"], false);
    for t in &targets {
        let name = t["target"].as_str().unwrap();
        assert!(gantry(["targets"]).ok().contains(name), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = gantry(["completions", shell]).ok();
        assert!(script.contains("validate"), "{shell}");
    }
}

/// Filetests of shaders: one wrong number is one report, on however many runners, levels and
/// widths.
#[cfg(feature = "wgsl")]
#[test]
fn filetests_of_shaders() {
    let dir = Scratch::new();
    let text = "test run
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(8)
fn count(@builtin(local_invocation_id) id: vec3<u32>) { data[id.x] = id.x; }
// run: count groups=1 binds=[0,0: u32[9;8]] == [u32[0, 1, 2, 3, 4, 5, 6, 8]]
";
    let path = dir.write("count.wgsl", text);
    let all = gantry(["test", &path, "--target", "skl", "--target", "dg2"]);
    assert_eq!(all.status, Some(1));
    let reports = all.out;
    assert_eq!(reports.matches("element 7 differs").count(), 1, "{reports}");
    // The interpreter at three widths, and two products in four variants.
    assert!(reports.contains("(the same on 26 more)"), "{reports}");
    assert!(reports.contains("at 0,0: element 7"), "{reports}");
    let one = gantry(["test", &path, "--target", "skl", "-O", "1", "--json"]);
    let lines: Vec<serde_json::Value> = one
        .out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0]["message"]
            .as_str()
            .unwrap()
            .contains("(the same on 5 more)")
    );
    assert_eq!(lines[1]["failures"], 1);
    std::fs::write(&path, text.replace("6, 8]", "6, 7]")).unwrap();
    gantry(["test", &path]).ok();
    let e = gantry(["test", &path, "--filter", "other"]).fails();
    assert!(e.contains("no filetest has `other` in its path"), "{e}");
    assert!(
        gantry(["test", &path, "--target", "sky"])
            .misused()
            .contains("sky")
    );
    // A binary beside its expectations.
    let words = gantry::spirv::wgsl::to_spirv(&text.replace("test run", "")).unwrap();
    let words: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(dir.path("k.spv"), words).unwrap();
    let test = dir.write(
        "k.spv.test",
        "test run simd16\n; run: %count groups=1 binds=[0,0: u32[9;8]] == [u32[0..8]]\n",
    );
    gantry(["test", &test, "--target", "tgllp"]).ok();
}
