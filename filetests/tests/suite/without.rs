//! Passes of the optimizer left out, one at a time. The others must give correct code without it.
//! Each run draws half of the launches (`launched::OneOf`).

use crate::launched::{OneOf, failures};
use gantry_codegen::{OptLevel, Pass};
use gantry_filetests::runner::CompileVariant;

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
