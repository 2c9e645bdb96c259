//! `test verifier`: errors of parser and verifier, at their lines.

use super::{Command, Outcome, match_errors};
use crate::Options;
use crate::file::{Test, TestFile};
use gantry_codegen::verifier::verify_parsed;
use gantry_isa_gen::diag::Diagnostics;

/// Parses and verifies. Every `; error: text` names an error of its line, and there are no other
/// errors.
pub(super) struct Verifier;

impl Command for Verifier {
    fn name(&self) -> &'static str {
        "verifier"
    }

    fn directives(&self) -> &'static [&'static str] {
        &["error"]
    }

    fn run(&self, file: &TestFile, _test: &Test, _options: &Options) -> Result<Outcome, String> {
        match_errors(file, &errors(file))?;
        Ok(Outcome::Pass)
    }
}

fn errors(file: &TestFile) -> Diagnostics {
    match gantry_codegen::text::parse(&file.body) {
        Err(errors) => errors,
        Ok(parsed) => match verify_parsed(&parsed) {
            Err(errors) => errors,
            Ok(()) => Diagnostics::default(),
        },
    }
}
