//! Figures of `gantry compile --stats`, and their comparison.

use crate::command::saxpy;
use crate::common::{Scratch, gantry};
use serde_json::Value;

#[test]
fn figures_of_a_compilation() {
    let dir = Scratch::new();
    let out = gantry(["compile", &saxpy(), "-o", &dir.text("k.zebin"), "--stats"]).ok();
    let kernels: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let widths: Vec<_> = kernels
        .iter()
        .map(|k| {
            (
                k["kernel"].as_str().unwrap(),
                k["simd_width"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(widths, [("saxpy8", 8), ("saxpy32", 32)]);
    for k in &kernels {
        for name in ["instructions", "bytes", "grf_bytes_demand"] {
            assert!(k[name].as_u64().unwrap() > 0, "{name}: {k}");
        }
        for name in ["spill_bytes", "scratch_bytes", "fills", "stores"] {
            assert_eq!(k[name].as_u64(), Some(0), "{name}: {k}");
        }
        assert!(
            k["compile_seconds"]["regalloc"].as_f64().unwrap() >= 0.0,
            "{k}"
        );
        let a = &k["allocation"];
        assert_eq!(a["peak"]["bytes"], k["grf_bytes_demand"]);
        // A value that is written over a source which dies there has the same bytes.
        let bytes = |name: &str| a[name].as_u64().unwrap();
        let (used, live) = (bytes("used_bytes"), bytes("live_bytes"));
        assert!(used > 0 && used <= bytes("file_bytes"), "{a}");
        assert_eq!(bytes("fragmentation_bytes"), used.saturating_sub(live));
        for name in ["cycles", "cycles_of_threads"] {
            assert!(
                k[name].as_u64() >= k["instructions"].as_u64(),
                "{name}: {k}"
            );
        }
        let most = a["demand_curve"]["bytes"].as_array().unwrap();
        let most = most.iter().filter_map(Value::as_u64).max();
        assert_eq!(most, a["peak"]["bytes"].as_u64());
    }
}

/// Figures as text, where `--stats` asks for that as `gantry run` does.
#[test]
fn figures_as_text() {
    let args = [
        "compile",
        &saxpy(),
        "-o",
        "-",
        "--emit",
        "ir",
        "--stats=text",
    ];
    let out = gantry(args).ok();
    let line = out.lines().find(|l| l.starts_with("saxpy32: ")).unwrap();
    assert!(line.starts_with("saxpy32: SIMD32, ") && line.ends_with(" modelled cycles"));
    assert!(
        out.contains("  stage\n") && out.contains("  regalloc\n"),
        "{out}"
    );
    let json = gantry(["compile", &saxpy(), "--emit", "asm", "--stats=json"]).ok();
    assert!(json.lines().any(|l| l.starts_with('{')), "{json}");
}

/// Comparison of the figures of two compilations.
#[test]
fn compilations_compared() {
    let dir = Scratch::new();
    let zebin = dir.text("k.zebin");
    let compile = |level: &str| {
        let out = gantry(["compile", &saxpy(), "-o", &zebin, "-O", level, "--stats"]).ok();
        dir.write(&format!("O{level}.json"), &out)
    };
    let (plain, best) = (compile("0"), compile("2"));
    let same = gantry(["compare", &plain, &plain, "--fail-on-worse"]).ok();
    assert!(
        same.contains("instructions: 0 better, 0 worse, 2 the same"),
        "{same}"
    );
    assert!(same.contains("ratios 1.0000"), "{same}");
    // An improvement in one direction is a loss in the other.
    let better = gantry(["compare", &plain, &best]).ok();
    assert!(
        better.contains("saxpy32: ") && better.contains("better"),
        "{better}"
    );
    assert!(better.contains("bytes: 2 better, 0 worse"), "{better}");
    let worse = gantry(["compare", &best, &plain]).ok();
    assert!(worse.contains("bytes: 0 better, 2 worse"), "{worse}");
    let error = gantry(["compare", &best, &plain, "--fail-on-worse"]).fails();
    assert!(error.contains("some kernel got worse"), "{error}");
    let args = [
        "compare",
        &best,
        &plain,
        "--fail-on-worse",
        "--tolerance",
        "10000",
    ];
    gantry(args).ok();

    // By hand: ratios of one half and of two have a mean of one. A larger width is better. A
    // missing kernel is reported.
    let line = |name: &str, bytes: u32, width: u32| {
        format!("{{\"kernel\": \"{name}\", \"bytes\": {bytes}, \"simd_width\": {width}}}\n")
    };
    let a = dir.write(
        "a.json",
        &(line("x", 10, 8) + &line("y", 10, 16) + &line("z", 1, 1)),
    );
    let b = dir.write(
        "b.json",
        &(line("x", 5, 16) + &line("y", 20, 8) + &line("w", 1, 1)),
    );
    let out = gantry(["compare", &a, &b]).ok();
    let want = "x: bytes 10 -> 5 (-50.0%) better, SIMD width 8 -> 16 (+100.0%) better\n\
        y: bytes 10 -> 20 (+100.0%) worse, SIMD width 16 -> 8 (-50.0%) worse\n\
        z: gone\n\
        w: new\n\
        bytes: 1 better, 1 worse, 0 the same, geometric mean of the ratios 1.0000\n\
        SIMD width: 1 better, 1 worse, 0 the same, geometric mean of the ratios 1.0000\n";
    assert_eq!(out, want);
    let bad = dir.write("bad.json", "{\"kernel\": \"x\"}\n[1]\n");
    let error = gantry(["compare", &a, &bad]).fails();
    assert!(
        error.contains("bad.json: line 2: no JSON object"),
        "{error}"
    );
}

/// Report of spilled values, their causes, and the picture of the allocation.
#[test]
fn what_allocation_came_to() {
    let dir = Scratch::new();
    let path = format!(
        "{}/filetests/filetests/run/regalloc/wide.gir",
        env!("CARGO_MANIFEST_DIR")
    );
    let (zebin, picture) = (dir.text("k.zebin"), dir.text("k.png"));
    let args = [
        "compile",
        &path,
        "-o",
        &zebin,
        "--stats",
        "--regalloc-map",
        &picture,
    ];
    let stats: Value = serde_json::from_str(&gantry(args).ok()).unwrap();
    let all = &stats["allocation"];
    let spilled = all["spilled"].as_array().unwrap();
    assert_eq!(
        stats["spilled_registers"].as_u64(),
        Some(spilled.len() as u64)
    );
    for s in spilled {
        assert!(!s["forced_by"].as_array().unwrap().is_empty(), "{s}");
        assert!(s["stores"].as_u64().unwrap() > 0, "{s}");
    }
    let sum = |what: &str| spilled.iter().filter_map(|s| s[what].as_u64()).sum::<u64>();
    for what in ["fills", "stores"] {
        assert_eq!(Some(sum(what)), stats[what].as_u64());
    }
    assert!(all["peak"]["bytes"].as_u64() > all["file_bytes"].as_u64());
    let named = |v: &Value| v["value"].as_str().is_some_and(|v| v.starts_with('v'));
    assert!(all["peak"]["live"].as_array().unwrap().iter().any(named));
    let decoder = png::Decoder::new(std::io::BufReader::new(
        std::fs::File::open(&picture).unwrap(),
    ));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    // Eight rows a register, and the demand below.
    assert_eq!(info.height, 128 * 8 + 8 + 128);
    assert!((512..=2048).contains(&info.width), "{}", info.width);
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks_exact(3).collect();
    assert!(colours.len() > 100, "{}", colours.len());
    let mir = gantry(["compile", &path, "--emit", "mir"]).ok();
    assert!(mir.contains(": 2048 bytes v"), "{mir}");
}
