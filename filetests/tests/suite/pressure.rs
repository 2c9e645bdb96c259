//! Kernels of the run filetests with a part of the GRF file. Values that do not fit are spilled,
//! with the same results. Each run draws some (`launched::OneOf`).

use crate::launched::{OneOf, failures};
use gantry_codegen::{Allocator, GrfMode};
use gantry_filetests::runner::CompileVariant;

/// One product of each family of code.
const TARGETS: [&str; 7] = ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2", "pvc"];
/// One product of each platform that lets kernels have more registers.
const LARGE: [&str; 2] = ["dg2", "pvc"];

#[test]
fn spilled_kernels_do_the_same() {
    let mut bad = 0;
    let coarse = [Allocator::Grfs, Allocator::LinearScan].map(|a| (128, a));
    let files_of = [64, 32, 16].map(|n| (n, Allocator::Bytes));
    for (grfs, allocator) in files_of.into_iter().chain(coarse) {
        let what = format!("{grfs} registers, places by {}", allocator.name());
        bad += failures(OneOf(3), &TARGETS, &what, |variant| {
            Some(CompileVariant {
                grfs: Some(grfs),
                allocator,
                ..variant
            })
        });
    }
    assert_eq!(bad, 0);
}

#[test]
fn kernels_with_more_registers_do_the_same() {
    let mut bad = 0;
    for grf_mode in [GrfMode::Large, GrfMode::Auto] {
        let what = format!("--grf {}", grf_mode.name());
        bad += failures(OneOf(2), &LARGE, &what, |variant| {
            Some(CompileVariant {
                grf_mode,
                ..variant
            })
        });
    }
    assert_eq!(bad, 0);
}
