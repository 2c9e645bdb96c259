//! Damaged modules: any words give a module or an error, in bounded time.
//!
//! Seeds are a module of this file, the compute shaders of the WGSL tests, and modules that the
//! launch tests left in the target directory. Shaders alternate between robust and other accesses.
//! `GANTRY_SEED` sets the random seed, and `GANTRY_DAMAGED` the number of modules.

use gantry_codegen::verifier::verify_module;
use gantry_spirv::{Fault, Options, translate};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Builds a small kernel with a loop, a branch, a phi, memory and an OpenCL.std function: `for (i =
/// 0; i < n; i++) if (i & 1) p[i] = fabs(p[i])`.
fn small() -> Vec<u32> {
    let mut w = vec![spirv::MAGIC_NUMBER, 0x1_0000, 0, 40, 0];
    let mut op = |op: spirv::Op, words: &[u32]| {
        w.push((words.len() as u32 + 1) << 16 | op as u32);
        w.extend_from_slice(words);
    };
    use spirv::Op::*;
    let text = |s: &str| -> Vec<u32> {
        let mut bytes: Vec<u8> = s.bytes().collect();
        bytes.resize(bytes.len() / 4 * 4 + 4, 0);
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    for c in [4, 5, 6, 11] {
        op(Capability, &[c]);
    }
    op(ExtInstImport, &[&[1][..], &text("OpenCL.std")].concat());
    op(MemoryModel, &[2, 2]);
    op(EntryPoint, &[&[6, 10][..], &text("k")].concat());
    op(TypeVoid, &[2]);
    op(TypeInt, &[3, 32, 0]);
    op(TypeFloat, &[4, 32]);
    op(TypePointer, &[5, 5, 4]);
    op(TypeFunction, &[6, 2, 5, 3]);
    op(TypeBool, &[7]);
    op(Constant, &[3, 8, 0]);
    op(Constant, &[3, 9, 1]);
    op(Function, &[2, 10, 0, 6]);
    op(FunctionParameter, &[5, 11]);
    op(FunctionParameter, &[3, 12]);
    op(Label, &[13]);
    op(Branch, &[14]);
    op(Label, &[14]);
    op(Phi, &[3, 15, 8, 13, 16, 17]);
    op(ULessThan, &[7, 18, 15, 12]);
    op(BranchConditional, &[18, 19, 20]);
    op(Label, &[19]);
    op(BitwiseAnd, &[3, 21, 15, 9]);
    op(IEqual, &[7, 22, 21, 9]);
    op(BranchConditional, &[22, 23, 17]);
    op(Label, &[23]);
    op(InBoundsPtrAccessChain, &[5, 24, 11, 15]);
    op(Load, &[4, 25, 24, 2, 4]);
    op(ExtInst, &[4, 26, 1, 23, 25]);
    op(Store, &[24, 26, 2, 4]);
    op(Branch, &[17]);
    op(Label, &[17]);
    op(IAdd, &[3, 16, 15, 9]);
    op(Branch, &[14]);
    op(Label, &[20]);
    op(Return, &[]);
    op(FunctionEnd, &[]);
    w
}

/// Seed modules, and number of shaders, which follow the first module.
fn seeds() -> (Vec<Vec<u32>>, usize) {
    let mut all = vec![small()];
    let shaders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/wgsl");
    let mut texts: Vec<_> = std::fs::read_dir(shaders)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "wgsl"))
        .collect();
    texts.sort();
    for path in texts {
        let text = std::fs::read_to_string(path).unwrap();
        all.push(gantry_spirv::wgsl::to_spirv(&text).unwrap());
    }
    let count = all.len() - 1;
    let store = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("spirv");
    let mut files: Vec<_> = std::fs::read_dir(store)
        .into_iter()
        .flatten()
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    for f in files {
        let bytes = std::fs::read(f).unwrap();
        let words = bytes.chunks_exact(4);
        all.push(
            words
                .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
                .collect(),
        );
    }
    (all, count)
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Word indices of instructions.
fn starts(words: &[u32]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = 5;
    while at < words.len() {
        out.push(at);
        at += (words[at] >> 16).max(1) as usize;
    }
    out
}

fn damage(words: &mut Vec<u32>, r: &mut Rng) {
    for _ in 0..1 + r.below(4) {
        if words.len() < 8 {
            return;
        }
        let all = starts(words);
        let at = r.below(words.len());
        match r.below(8) {
            0 => words[at] = r.next() as u32,
            1 => words.truncate(at),
            // Swap two words, which may be ids.
            2 => {
                let other = r.below(words.len());
                words.swap(at, other);
            }
            // Replace a word by a number in the range of ids.
            3 | 4 => words[at] = r.below(words[3].min(5000) as usize + 2) as u32,
            // Remove an instruction.
            5 => {
                let at = all[r.below(all.len())];
                let end = (at + (words[at] >> 16).max(1) as usize).min(words.len());
                words.drain(at..end);
            }
            // Duplicate an instruction.
            6 => {
                let at = all[r.below(all.len())];
                let end = (at + (words[at] >> 16).max(1) as usize).min(words.len());
                let copy: Vec<u32> = words[at..end].to_vec();
                let to = all[r.below(all.len())].min(words.len());
                words.splice(to..to, copy);
            }
            // Change the opcode of an instruction.
            _ => {
                let at = all[r.below(all.len())];
                words[at] = words[at] & 0xffff_0000 | r.below(450) as u32;
            }
        }
    }
}

/// Writes a module to the target directory for inspection.
fn keep(words: &[u32], seed: u64) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let path =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("damaged-{seed}.spv"));
    std::fs::write(&path, bytes).unwrap();
    println!("{} is the module", path.display());
}

#[test]
fn no_words_panic() {
    let number = |name: &str, or: u64| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(or)
    };
    let seed = number("GANTRY_SEED", 0x5eed_0013);
    let count = number("GANTRY_DAMAGED", 3000);
    let (seeds, shaders) = seeds();
    assert!(translate(&seeds[0], &Options::default()).is_ok());
    let mut r = Rng(seed | 1);
    let mut came: BTreeMap<String, usize> = BTreeMap::new();
    let hook = std::panic::take_hook();
    for n in 0..count {
        let state = r.0;
        // A third are of the small module, where most words matter.
        let pick = match r.below(3) {
            0 => 0,
            1 => r.below(1 + shaders),
            _ => r.below(seeds.len()),
        };
        let mut words = seeds[pick].clone();
        damage(&mut words, &mut r);
        let options = Options {
            robust: Some(n % 2 == 0),
            ..Options::default()
        };
        let result = catch_unwind(AssertUnwindSafe(|| translate(&words, &options)));
        let Ok(result) = result else {
            keep(&words, seed);
            panic!("module {n} of seed {seed:#x} (state {state:#x}) panics");
        };
        let what = match result {
            Ok(t) => {
                // A translated module must verify.
                if let Err(e) = verify_module(&t.module) {
                    keep(&words, seed);
                    panic!("module {n} of seed {seed:#x} (state {state:#x}): {e}");
                }
                "translated".to_owned()
            }
            Err(e) => {
                let internal = e.0.iter().find(|e| e.fault == Fault::Internal);
                if let Some(e) = internal {
                    keep(&words, seed);
                    panic!("module {n} of seed {seed:#x} (state {state:#x}): {e}");
                }
                format!("{:?}", e.0[0].fault)
            }
        };
        *came.entry(what).or_default() += 1;
    }
    std::panic::set_hook(hook);
    println!(
        "seed {seed:#x}, {} modules to begin with: {came:?}",
        seeds.len()
    );
    assert!(came.len() > 2);
}
