//! `test lower` and the like: output of a stage of the compiler.

use super::{Command, Outcome, compile_checked, parse};
use crate::file::{Test, TestFile};
use crate::{Options, expect};
use gantry_codegen::{CompileOptions, Inline, OptLevel, SimdCf, Stage};

/// Compiles, with the checkers on, and tests the dump of one stage.
///
/// Each `; check:` text must be in it in order, and no `; not:` text. With `precise-output` it must
/// be the section of the command's name. `flags` and `mask-stack` select the lowering of SIMD
/// control flow. `O0` to `O2` select the optimization level. The default is `O0`, and `O2` for
/// tests of stages that optimize. With an `; error:` the compiler must refuse the file with that
/// text.
pub(super) struct StageTest {
    name: &'static str,
    stage: Stage,
}

const fn of(name: &'static str, stage: Stage) -> StageTest {
    StageTest { name, stage }
}

pub(super) const INLINE: StageTest = of("inline", Stage::Inline);
pub(super) const OPT: StageTest = of("opt", Stage::Opt);
pub(super) const EXPAND: StageTest = of("expand", Stage::Expand);
pub(super) const SENDS: StageTest = of("sends", Stage::Sends);
pub(super) const LOWER: StageTest = of("lower", Stage::Lower);
pub(super) const BY_ADDRESS: StageTest = of("by-address", Stage::ByAddress);
pub(super) const LEGALIZE: StageTest = of("legalize", Stage::Legalize);
pub(super) const FLAGS: StageTest = of("flags", Stage::Flags);
pub(super) const COALESCE: StageTest = of("coalesce", Stage::Coalesce);
pub(super) const CONSTANTS: StageTest = of("constants", Stage::Constants);
pub(super) const RAISE: StageTest = of("raise", Stage::Raise);
pub(super) const LIVENESS: StageTest = of("liveness", Stage::Liveness);
pub(super) const REGALLOC: StageTest = of("regalloc", Stage::Regalloc);
pub(super) const ADDRESSES: StageTest = of("addresses", Stage::Addresses);
pub(super) const SCHEDULE: StageTest = of("schedule", Stage::Schedule);
pub(super) const PHYSICAL: StageTest = of("physical", Stage::Physical);
pub(super) const SCOREBOARD: StageTest = of("scoreboard", Stage::Scoreboard);
pub(super) const COMPILE: StageTest = of("compile", Stage::Emit);

impl Command for StageTest {
    fn name(&self) -> &'static str {
        self.name
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
        ]
    }

    fn directives(&self) -> &'static [&'static str] {
        &["check", "not", "error", "expect"]
    }

    fn run(&self, file: &TestFile, test: &Test, options: &Options) -> Result<Outcome, String> {
        let mut compile_options =
            CompileOptions::for_target(&file.target).map_err(|e| e.to_string())?;
        compile_options.dump = vec![self.stage];
        compile_options.check = true;
        if let Some(variant) = SimdCf::ALL.into_iter().find(|w| test.has(w.name())) {
            compile_options.simd_cf = variant;
        }
        // Later stages are tested with the file's own code, not with the optimizer's output.
        compile_options.opt = match self.stage {
            Stage::Opt
            | Stage::ByAddress
            | Stage::Coalesce
            | Stage::Constants
            | Stage::Raise
            | Stage::Addresses
            | Stage::Schedule => OptLevel::O2,
            _ => OptLevel::O0,
        };
        for level in OptLevel::ALL {
            if test.has(&format!("O{}", level.name())) {
                compile_options.opt = level;
            }
        }
        if test.has("calls") {
            compile_options.inline = Inline::Never;
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
        let text = compiled.dump(self.stage);
        expect::checks(file, &text)?;
        if test.has("precise-output") {
            expect::section(file, self.name, &text, options)
        } else {
            Ok(Outcome::Pass)
        }
    }
}
