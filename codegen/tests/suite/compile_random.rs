//! Random functions that verify compile, or are refused with an error other than an internal one.
//! The allocation checker and the legality rules check every one.

use gantry_codegen::fuzzing::{Options, module};
use gantry_codegen::{CodegenError, CompileOptions, compile};

/// Returns the number of modules per test, settable by `GANTRY_FUZZ_COUNT`.
fn count() -> u64 {
    let given = std::env::var("GANTRY_FUZZ_COUNT").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// Compiles random modules, and returns the number that compiled.
fn sweep(options: &Options, seed: u64) -> u64 {
    let count = count();
    eprintln!("seeds {seed} .. {}", seed + count);
    let target = CompileOptions {
        check: true,
        ..CompileOptions::for_target("skl").unwrap()
    };
    let mut compiled = 0;
    for seed in seed..seed + count {
        let m = module(seed, options);
        match compile(&m, &target) {
            Ok(_) => compiled += 1,
            Err(e @ (CodegenError::Unsupported { .. } | CodegenError::OutOfRegisters { .. })) => {
                eprintln!("seed {seed}: {e}");
            }
            Err(e) => panic!("seed {seed}: {e}\n{m}"),
        }
    }
    eprintln!("{compiled} of {count} compiled");
    compiled
}

#[test]
fn runnable_ones_compile() {
    assert!(sweep(&Options::runnable(), 1000) * 2 > count());
}

#[test]
fn verified_ir_never_panics_the_compiler() {
    sweep(&Options::any(), 5000);
}
