//! Test commands, each in a file.

mod asm;
mod cat;
mod disasm;
mod hazards;
pub mod run;
mod stage;
mod verifier;

use crate::Options;
use crate::expect::Outcome;
use crate::file::{Test, TestFile};
use crate::source;
use gantry_codegen::ir::Module;
use gantry_isa_gen::Platform;
use gantry_spirv::Simd;

/// Test command.
pub trait Command: Sync {
    /// Returns its name in `test` lines.
    fn name(&self) -> &'static str;

    /// Returns the options that it takes.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the directives that it reads.
    fn directives(&self) -> &'static [&'static str] {
        &[]
    }

    /// Runs the command on a file.
    ///
    /// # Errors
    /// The file does not pass. The message says where and why.
    fn run(&self, file: &TestFile, test: &Test, options: &Options) -> Result<Outcome, String>;
}

/// Commands other than those of stages.
const OTHERS: [&dyn Command; 6] = [
    &cat::Cat,
    &verifier::Verifier,
    &run::Run,
    &asm::Asm,
    &disasm::Disasm,
    &hazards::Hazards,
];

/// Returns every command.
pub fn commands() -> impl Iterator<Item = &'static dyn Command> {
    let stages = stage::STAGES.iter().map(|s| s as &dyn Command);
    OTHERS.into_iter().chain(stages)
}

/// Returns the command of a name.
pub fn find(name: &str) -> Option<&'static dyn Command> {
    commands().find(|c| c.name() == name)
}

/// Checks that a command takes all options of a `test` line.
pub(crate) fn check_options(test: &Test, command: &dyn Command) -> Result<(), String> {
    let known = command.options();
    let Some(o) = test.options.iter().find(|o| !known.contains(&o.as_str())) else {
        return Ok(());
    };
    Err(match known {
        [] => format!("`test {}` has no options, and not `{o}`", test.command),
        _ => format!(
            "`test {}` has no option `{o}`; there are {}",
            test.command,
            known.join(", ")
        ),
    })
}

/// Parses a file's body to a module, which verifies.
fn parse(file: &TestFile) -> Result<Module, String> {
    source::module(file, Simd::Auto)
}

/// Returns the platform of a file's target.
fn platform(file: &TestFile) -> Result<Platform, String> {
    Platform::from_name(&file.target).ok_or_else(|| format!("unknown target `{}`", file.target))
}

/// Matches actual errors with the expected ones. Each `; error:` text must be part of the message
/// of one error at its line, and no error may be left over.
fn match_errors(file: &TestFile, errors: &gantry_isa_gen::diag::Diagnostics) -> Result<(), String> {
    let mut left: Vec<_> = errors.0.iter().collect();
    let mut message = String::new();
    for d in file.named("error") {
        match left
            .iter()
            .position(|e| e.span.line == d.line && e.message.contains(&d.text))
        {
            Some(i) => {
                left.swap_remove(i);
            }
            None => message.push_str(&format!("expected at line {}: {}\n", d.line, d.text)),
        }
    }
    for e in left {
        message.push_str("unexpected ");
        message.push_str(&e.render(&file.path, &file.source));
    }
    if message.is_empty() {
        Ok(())
    } else {
        Err(message)
    }
}
