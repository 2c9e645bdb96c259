//! Passes of the optimizer left out, one at a time. The others must give correct code without it.
//! Each run draws half of the launches (`launched::OneOf`).
//!
//! Passes that few kernels need have one each, which executes less with the pass.

use crate::launched::{OneOf, failures};
use gantry_codegen::{CompileOptions, OptLevel, Pass, compile, text};
use gantry_filetests::TestFile;
use gantry_filetests::launch::Run;
use gantry_filetests::runner::{CompileVariant, simulate};
use std::path::Path;

/// Products for these tests; each pass is left out on one of them.
const TARGETS: [&str; 4] = ["skl", "icllp", "dg2", "pvc"];

#[test]
fn no_pass_needs_another() {
    let mut bad = 0;
    for (pass, target) in Pass::ALL.into_iter().zip(TARGETS.into_iter().cycle()) {
        let what = format!("{target} without {}", pass.name());
        bad += failures(OneOf(2), &[target], &what, |variant| {
            let without = [pass].into_iter().collect();
            (variant.opt == OptLevel::O2).then_some(CompileVariant { without, ..variant })
        });
    }
    assert_eq!(bad, 0);
}

/// Passes, each with a run filetest whose launches execute less with it.
const NEEDED_BY: [(Pass, &str); 4] = [
    (Pass::Peel, "control/first-row.gir"),
    (Pass::JumpThreading, "control/both-hold.gir"),
    (Pass::FoldLoads, "memory/constant-scale.gir"),
    (Pass::NarrowOffsets, "memory/table-by-local-id.gir"),
];

#[test]
fn kernels_that_need_a_pass_execute_less_with_it() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    for (pass, name) in NEEDED_BY {
        let source = std::fs::read_to_string(run.join(name)).unwrap();
        let file = TestFile::parse(name, &source).unwrap();
        let module = text::parse(&file.body).unwrap().module;
        for target in TARGETS {
            let executed = |without: Option<Pass>| -> u64 {
                let mut options = CompileOptions::for_target(target).unwrap();
                options.without = without.into_iter().collect();
                let zebin = compile(&module, &options).unwrap().zebin;
                let lines = file.directives.iter().filter(|d| d.name == "run");
                let runs = lines.map(|d| Run::parse(&d.text).unwrap());
                let counts = runs.map(|r| simulate(&zebin, &r).unwrap().1.instructions);
                counts.sum()
            };
            let (with, without) = (executed(None), executed(Some(pass)));
            println!(
                "{name} on {target}: {with}, {without} without {}",
                pass.name()
            );
            assert!(with < without, "{name} on {target}: {with}, {without}");
        }
    }
}
