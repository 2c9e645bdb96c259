//! `test lower` and the like: output of a stage of the compiler.

use super::{Command, Outcome, parse};
use crate::Options;
use crate::check::compile_checked;
use crate::expect;
use crate::file::{Test, TestFile};
use gantry_codegen::{CompileOptions, GrfMode, Inline, OptLevel, SimdCf, Stage};

/// Compiles, with the checkers on, and tests the dump of one stage.
///
/// Each `; check:` text must be in it in order, and no `; not:` text. With `precise-output` it must
/// be the section of the command's name. `flags` and `mask-stack` select the lowering of SIMD
/// control flow. `O0` to `O2` select the optimization level. The default is `O0`, and `O2` for
/// tests of stages that optimize. `grf256` gives threads 256 registers. With an `; error:` the
/// compiler must refuse the file with that text.
pub(super) struct StageTest(Stage);

/// One command a stage, but for the verifier, whose command has its own form.
pub(super) static STAGES: [StageTest; Stage::ALL.len() - 1] = {
    let mut commands = [const { StageTest(Stage::Verify) }; Stage::ALL.len() - 1];
    let mut n = 0;
    while n < commands.len() {
        commands[n] = StageTest(Stage::ALL[n + 1]);
        n += 1;
    }
    commands
};

impl Command for StageTest {
    fn name(&self) -> &'static str {
        match self.0 {
            Stage::Emit => "compile",
            stage => stage.name(),
        }
    }

    fn options(&self) -> &'static [&'static str] {
        &[
            "precise-output",
            "flags",
            "mask-stack",
            "calls",
            "O0",
            "O1",
            "O2",
            "grf256",
        ]
    }

    fn directives(&self) -> &'static [&'static str] {
        &["check", "not", "error", "expect"]
    }

    fn run(&self, file: &TestFile, test: &Test, options: &Options) -> Result<Outcome, String> {
        let mut compile_options =
            CompileOptions::for_target(&file.target).map_err(|e| e.to_string())?;
        compile_options.dump = vec![self.0];
        compile_options.check = true;
        if let Some(variant) = SimdCf::ALL.into_iter().find(|w| test.has(w.name())) {
            compile_options.simd_cf = variant;
        }
        // Without a level, passes are tested at the highest, and other stages on the file as it is.
        let optimizes = self.0 == Stage::Opt || self.0.pass().is_some();
        compile_options.opt = if optimizes {
            OptLevel::O2
        } else {
            OptLevel::O0
        };
        for level in OptLevel::ALL {
            if test.has(&format!("O{}", level.name())) {
                compile_options.opt = level;
            }
        }
        if test.has("calls") {
            compile_options.inline = Inline::Never;
        }
        if test.has("grf256") {
            compile_options.grf_mode = GrfMode::Large;
        }
        let expected = file.named("error").next();
        let compiled = parse(file).and_then(|module| compile_checked(&module, &compile_options));
        let compiled = match (compiled, expected) {
            (Ok(c), None) => c,
            (Ok(_), Some(d)) => return Err(format!("it compiles, and should not: {}", d.text)),
            (Err(e), Some(d)) if e.contains(&d.text) => return Ok(Outcome::Pass),
            (Err(e), Some(d)) => return Err(format!("expected the error `{}`, got: {e}", d.text)),
            (Err(e), None) => return Err(e),
        };
        let text = compiled.dump(self.0);
        expect::checks(file, &text)?;
        if test.has("precise-output") {
            expect::section(file, self.name(), &text, options)
        } else {
            Ok(Outcome::Pass)
        }
    }
}
