//! Assembler: text that `spirv-dis` prints of foreign modules assembles to the same words.

use crate::kernels::DEVICES;
use crate::opencl::source;
use gantry_spirv::assemble;
use gantry_spirv::wgsl::to_spirv;
use std::io::Write;
use std::process::{Command, Stdio};

fn have(tool: &str) -> bool {
    let there = Command::new(tool).arg("--help").output().is_ok();
    let required = std::env::var_os("GANTRY_REQUIRE_ORACLES").is_some_and(|v| v == "1");
    assert!(
        there || !required,
        "{tool} is not on PATH, and GANTRY_REQUIRE_ORACLES=1"
    );
    if !there {
        println!("skipped: {tool} is not on PATH");
    }
    there
}

fn disassembled(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut child = Command::new("spirv-dis")
        .args(["--raw-id", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || input.write_all(&bytes));
    let out = child.wait_with_output().unwrap();
    feed.join().unwrap().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap()
}

#[track_caller]
fn same(name: &str, words: &[u32]) {
    let text = disassembled(words);
    let got = assemble(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(got[..2], words[..2], "{name}");
    for (n, (g, w)) in got.iter().zip(words).enumerate().skip(5) {
        assert_eq!(g, w, "{name}: word {n}");
    }
    assert_eq!(got.len(), words.len(), "{name}");
    assert!(got[3] <= words[3], "{name}: the bound");
}

#[test]
fn of_opencl() {
    if !have("spirv-dis") || !have("ocloc") {
        return;
    }
    let device = DEVICES.iter().find(|d| d.name == "tgllp").unwrap();
    let files = source::files(device, Some(16), |_| true);
    for file in &files {
        same(file.name, &file.words);
    }
    println!("{} modules", files.len());
    assert!(files.len() > 30);
}

#[test]
fn of_naga() {
    if !have("spirv-dis") {
        return;
    }
    let text = "
        struct P { m: mat3x3<f32>, v: vec2<f32>, i: i32, h: array<vec4<u32>, 3> }
        @group(0) @binding(0) var<uniform> p: P;
        @group(0) @binding(1) var t: texture_2d<f32>;
        @group(0) @binding(2) var s: sampler;
        @group(1) @binding(7) var<storage, read_write> out: array<vec4<f32>>;
        override n: u32 = 3;
        @compute @workgroup_size(8, 2)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = vec4<f32>(1.5, -0.1, 1e-42, 3e38);
            for (var k = 0u; k < n; k++) {
                switch p.i { case 1, -7: { sum.x += pow(p.v.x, 2.5); } default: { sum *= 2.0; } }
            }
            out[id.x] = sum + textureSampleLevel(t, s, p.v, f32(p.h[id.y].x)) + vec4(p.m[1], 0.0);
        }";
    same("wgsl", &to_spirv(text).unwrap());
}
