//! Source lines of Gantry's own kernels, as the simulator reports them for code compiled from IR
//! with locations.

use crate::common::{Outcome, Scratch, gantry};
use serde_json::Value;

/// Kernel whose group 0 writes to the buffer, and group 1 after it.
const FAR: &str = "\
file0 = \"far.cl\"
file1 = \"inc/at.h\"

kernel %other(i64 ptr) simd8 {
block0(v0: i64):
    return @file1:99:1
}

kernel %far(i64 ptr) simd8 {
block0(v0: i64):
    v1 = group_id.i32 x @file0:2:13
    v2 = iconst.i32 4096
    v3 = imul v1, v2 @file0:3:13
    v4 = call %at(v0, v3) @file0:4:9
    v5 = iconst.i32x8 7
    bstore v5, v4 @file0:4:5
    return @file0:5:1
}

function %at(i64, i32) -> i64 {
block0(v0: i64, v1: i32):
    v2 = sextend.i64 v1
    v3 = iadd v0, v2 @file1:7:12
    return v3
}
";

fn run(items: &str, more: &[&str]) -> Outcome {
    let dir = Scratch::new();
    let path = dir.write("far.gir", FAR);
    let zebin = dir.text("far.zebin");
    // In the order of the program. A surface would have no faults out of bounds.
    gantry(["compile", &path, "--target", "skl", "-O", "0", "-o", &zebin]).ok();
    let fixed = [
        "run", &zebin, "--device", "sim", "--kernel", "far", "--global", items, "--local", "8",
        "--arg", "zero:64",
    ];
    gantry(fixed.iter().chain(more))
}

#[test]
fn a_fault_names_the_line() {
    let e = run("16", &[]).fails();
    assert!(e.contains("kernel `far`, group (1, 0, 0)"), "{e}");
    assert_eq!(e.lines().last(), Some("  far.cl:4:5"), "{e}");
}

#[test]
fn profiles_and_traces_name_lines() {
    let profile: Value = serde_json::from_str(&run("8", &["--profile=json"]).ok()).unwrap();
    let lines: Vec<Option<&str>> = profile["profile"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["line"].as_str())
        .collect();
    // The instruction that sets the float mode is of no line.
    assert_eq!(lines.first(), Some(&None), "{lines:?}");
    let mut named: Vec<&str> = lines.iter().flatten().copied().collect();
    named.dedup();
    // Instructions without a location are folded into, or follow, instructions that have one.
    let want = ["far.cl:3:13", "inc/at.h:7:12", "far.cl:4:5", "far.cl:5:1"];
    assert_eq!(named, want);
    let text = run("8", &["--profile=text"]).ok();
    for line in ["  far.cl:4\n", "  inc/at.h:7\n"] {
        assert!(text.contains(line), "{text}");
    }

    let trace = run("8", &["--trace=text"]).ok();
    let heads = trace.lines().filter(|l| l.starts_with("far (0,0,0)"));
    let of: Vec<Option<&str>> = heads
        .map(|l| l.split_once(" // ").map(|(_, line)| line))
        .collect();
    assert_eq!(of, lines, "{trace}");
}

#[test]
fn code_is_the_same_without_lines() {
    let dir = Scratch::new();
    let bare: String = FAR
        .lines()
        .filter(|l| !l.starts_with("file"))
        .map(|l| l.split(" @").next().unwrap().to_owned() + "\n")
        .collect();
    let [with, without] = [("with", FAR), ("without", &bare)].map(|(name, text)| {
        let path = dir.write(&format!("{name}.gir"), text);
        let zebin = dir.text(name);
        gantry(["compile", &path, "-o", &zebin]).ok();
        let text = gantry(["disasm", &zebin]).ok();
        (text, std::fs::read(zebin).unwrap())
    });
    assert_eq!(with.0, without.0);
    let has = |bytes: &[u8]| bytes.windows(7).any(|w| w == b".debug_");
    assert!(has(&with.1) && !has(&without.1));
}

/// IR text and WGSL have lines of their own by default.
#[test]
fn texts_have_lines_of_their_own() {
    let dir = Scratch::new();
    let run = |name: &str, text: &str, more: &[&str]| {
        let path = dir.write(name, text);
        let fixed = ["run", &path, "--device", "sim", "--target", "skl"];
        (path.clone(), gantry(fixed.iter().chain(more)))
    };
    let gir = "\
kernel %far(i64 ptr) simd8 {
block0(v0: i64):
    v1 = iconst.i64 65536

    v2 = iadd v0, v1
    v3 = iconst.i32x8 7
    bstore v3, v2 ; behind the buffer
    return
}
";
    let args = ["--global", "8", "--arg", "zero:64", "-O", "0"];
    let (path, far) = run("far.gir", gir, &args);
    let e = far.fails();
    let at = format!("  {path}:7:5");
    assert_eq!(e.lines().last(), Some(at.as_str()), "{e}");
    #[cfg(feature = "wgsl")]
    {
        let text = "\
@group(0) @binding(0) var<storage, read_write> data: array<u32, 16>;
@compute @workgroup_size(8)
fn far(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x * 4096u;
    if n < 3u { return; }
    data[n] = n;
}
";
        let bind = ["--global", "16", "--bind", "0,0:zero:64"];
        let (path, far) = run(
            "far.wgsl",
            text,
            &[&bind[..], &["--robust", "off"]].concat(),
        );
        let e = far.fails();
        let last = e.lines().last().unwrap();
        assert!(last.starts_with(&format!("  {path}:6:")), "{e}");
        let (_, profile) = run("far.wgsl", text, &[&bind[..], &["--profile=text"]].concat());
        let profile = profile.ok();
        for line in [4, 5, 6] {
            assert!(profile.contains(&format!("{path}:{line}")), "{profile}");
        }
        // Binaries have lines if asked for.
        let zebin = |more: &[&str]| {
            let out = dir.text("far.zebin");
            let fixed = ["compile", &path, "-o", &out];
            gantry(fixed.iter().chain(more)).ok();
            let bytes = std::fs::read(out).unwrap();
            bytes.windows(11).any(|w| w == b".debug_line")
        };
        assert!(zebin(&["-g"]) && !zebin(&[]));
    }
}
