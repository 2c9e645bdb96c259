//! Each pass of the optimizer left out, one at a time: what the others do without it is right too. Each run
//! draws half of the launches (`launched::OneOf`).

use crate::launched::{OneOf, failures};
use gantry_codegen::{OptLevel, Pass};
use gantry_filetests::runner::Way;

/// Products that passes are left out on, each on one of them.
const TARGETS: [&str; 4] = ["skl", "icllp", "dg2", "pvc"];

#[test]
fn no_pass_needs_another() {
    let mut bad = 0;
    for (pass, target) in Pass::ALL.into_iter().zip(TARGETS.into_iter().cycle()) {
        let what = format!("{target} without {}", pass.name());
        bad += failures(OneOf(2), &[target], &what, |way| {
            let without = [pass].into_iter().collect();
            (way.opt == OptLevel::O2).then_some(Way { without, ..way })
        });
    }
    assert_eq!(bad, 0);
}
