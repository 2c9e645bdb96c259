//! Smoke tests of every fuzzer, from seeds: damaged files of the corpus.
//!
//! There are `GANTRY_CASES` cases each, from `GANTRY_SEED`.

use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, compile, fuzzing::Rng};
use gantry_filetests::file::without_header;
use gantry_filetests::fuzz;
use gantry_isa_gen::Platform;
use std::path::Path;

/// Words of the parsers, which are inserted into texts.
const WORDS: [&str; 24] = [
    "v1",
    "v0",
    "i8x32",
    "f64",
    "b1x16",
    "block0",
    "<8;8,1>",
    "<0;1,0>",
    "0+v2",
    "mask v4",
    "slm",
    "surface 0",
    "i64 ptr",
    "4294967295",
    "-1",
    "(W)",
    "r1.0<1>:ud",
    "{Compacted}",
    "(16|M0)",
    "0x7fffffff",
    "\"",
    "[",
    ";",
    "//",
];

fn env(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok().and_then(|s| s.parse().ok());
    value.unwrap_or(default)
}

/// Returns the contents of the corpus files with an extension.
fn corpus(extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let (mut out, mut work) = (Vec::new(), vec![root]);
    while let Some(path) = work.pop() {
        if path.is_dir() {
            work.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push((path.clone(), std::fs::read(path).unwrap()));
        }
    }
    out.sort();
    out.into_iter().map(|o| o.1).collect()
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n.max(1) as u32) as usize
}

/// Damages a file: flips bits, removes, duplicates and moves pieces, and inserts words.
fn damaged(rng: &mut Rng, whole: &[u8], words: bool) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = below(rng, bytes.len());
        match rng.below(if words { 5 } else { 3 }) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << rng.below(8),
            1 if rng.one_in(4) => bytes.truncate(at),
            3 => {
                let word = WORDS[below(rng, WORDS.len())].bytes();
                let end = (at + below(rng, 6)).min(bytes.len());
                bytes.splice(at..end, word);
            }
            _ => {
                // A piece of the file, in lines where it is a text.
                let from = below(rng, bytes.len());
                let to = (from + below(rng, 60)).min(bytes.len());
                let piece = bytes[from..to].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

fn smoke(cases: u64, mut case: impl FnMut(&mut Rng) -> Result<(), String>) {
    let seed = env("GANTRY_SEED", 1);
    println!("GANTRY_SEED={seed}");
    let mut failures = Vec::new();
    for n in 0..env("GANTRY_CASES", cases) {
        failures.extend(case(&mut Rng::new(seed + n)).err());
    }
    let few = &failures[..failures.len().min(5)];
    assert!(
        few.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        few.join("\n")
    );
}

#[test]
fn gir() {
    let files = corpus("gir");
    let texts = files.iter().map(|f| String::from_utf8_lossy(f));
    let texts: Vec<String> = texts.map(|t| without_header(&t)).collect();
    smoke(400, |rng| {
        let text = &texts[below(rng, texts.len())];
        fuzz::gir(&damaged(rng, text.as_bytes(), true))
    });
}

#[test]
fn differential() {
    smoke(25, |rng| fuzz::differential(rng.bits()));
}

#[test]
fn zebin() {
    let names = [
        "run/classics/saxpy.gir",
        "run/launch/barrier.gir",
        "run/memory/slm-i32.gir",
    ];
    let zebins = names.map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("filetests")
            .join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let module = parse(&without_header(&text)).unwrap().module;
        let options = CompileOptions::for_target("skl").unwrap();
        compile(&module, &options).unwrap().zebin
    });
    smoke(300, |rng| {
        let whole = &zebins[below(rng, zebins.len())];
        fuzz::zebin(&damaged(rng, whole, false))
    });
}

#[test]
fn asm() {
    let files = corpus("asm");
    smoke(600, |rng| {
        let platform = Platform::ALL[below(rng, Platform::ALL.len())];
        let file = &files[below(rng, files.len())];
        fuzz::asm(platform, &damaged(rng, file, true))
    });
}

#[test]
fn instruction() {
    smoke(20_000, |rng| {
        let mut bytes = [rng.bits(), rng.bits()].map(u64::to_le_bytes).concat();
        let platform = Platform::ALL[below(rng, Platform::ALL.len())];
        // Most numbers are no opcodes, so low ones are preferred.
        bytes[0] &= 0x7f;
        fuzz::instruction(platform, &bytes)
    });
}
