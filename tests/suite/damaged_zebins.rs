//! Zebins cut short and with bits flipped. Each ends with a result or an error and without a panic.

use crate::common::{Random, Scratch, corpus, gantry};
use gantry::codegen::{CompileOptions, compile, text};
use gantry::filetests::file::without_header;
use gantry::filetests::fuzz;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SEED: u64 = 0x6a17_5eed;

/// Compiles zebins of kernels with loads, stores, branches, loops and barriers.
fn zebins() -> Vec<Vec<u8>> {
    [
        "run/classics/saxpy.gir",
        "run/control/diverge.gir",
        "run/launch/barrier.gir",
        "run/memory/scatter.gir",
    ]
    .iter()
    .map(|name| {
        let source = std::fs::read_to_string(corpus(name)).unwrap();
        let module = text::parse(&without_header(&source)).unwrap().module;
        compile(&module, &CompileOptions::for_target("skl").unwrap())
            .unwrap()
            .zebin
    })
    .collect()
}

/// Loads a zebin, disassembles and launches every kernel.
fn use_it(bytes: &[u8]) {
    fuzz::zebin(bytes).unwrap();
}

fn damaged(random: &mut Random, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    if random.below(3) == 0 {
        bytes.truncate(random.below(whole.len()));
    }
    for _ in 0..random.below(4) {
        if !bytes.is_empty() {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
    }
    bytes
}

#[test]
fn in_process() {
    println!("seed {SEED:#x}");
    let mut random = Random(SEED);
    for (n, whole) in zebins().iter().enumerate() {
        use_it(whole);
        for round in 0..500 {
            let bytes = damaged(&mut random, whole);
            let result = catch_unwind(AssertUnwindSafe(|| use_it(&bytes)));
            assert!(result.is_ok(), "zebin {n}, round {round} of seed {SEED:#x}");
        }
    }
}

#[test]
fn every_truncation() {
    let whole = &zebins()[0];
    for len in (0..whole.len()).step_by(7) {
        use_it(&whole[..len]);
    }
}

#[test]
fn by_the_command() {
    let seed = SEED + 1;
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let dir = Scratch::new();
    let whole = &zebins()[0];
    for round in 0..60 {
        let path = dir.write("k.zebin", damaged(&mut random, whole));
        let what = format!("round {round} of seed {seed:#x}");
        gantry(["disasm", &path]).orderly(&what);
        gantry([
            "run",
            &path,
            "--kernel",
            "saxpy8",
            "--device",
            "sim",
            "--instruction-limit",
            "2000",
            "--global",
            "16",
            "--arg",
            "zero:64",
            "--arg",
            "zero:64",
            "--arg",
            "f32:1",
            "--arg",
            "i32:16",
        ])
        .orderly(&what);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let dir = Scratch::new();
    let whole = &zebins()[0];
    let run = |name: &str, bytes: &[u8]| {
        gantry(["run", "--device", "sim", &dir.write(name, bytes)]).fails()
    };
    for (name, bytes) in [
        ("half", &whole[..whole.len() / 2]),
        ("empty", &[][..]),
        ("text", b"no kernel at all"),
    ] {
        let err = run(name, bytes);
        assert!(
            err.contains(name) && err.contains("not a usable zebin"),
            "{err}"
        );
    }
    let at = whole.windows(6).position(|w| w == b"arg_by").unwrap();
    let mut broken = whole.clone();
    broken[at..at + 6].fill(b':');
    let err = run("broken", &broken);
    assert!(err.contains("not a usable zebin"), "{err}");
}
