//! `test lower` and its like: what a stage of the compiler makes.

use super::{Command, Outcome, compile_checked, parse};
use crate::file::{Test, TestFile};
use crate::{Options, expect};
use gantry_codegen::{CompileOptions, Inline, OptLevel, SimdCf, Stage};

/// Compiles, with the checkers on, and looks at the dump of one stage: each `; check:` text is in it in order, no `; not:`
/// text is, and with `precise-output` it is the section of the command's name. `flags` and `mask-stack` say how SIMD control flow is lowered,
/// `O0` to `O2` how much is optimized: without them nothing, but by the tests of stages that optimize. With an `; error:` the compiler must
/// refuse the file with that text.
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
        if let Some(way) = SimdCf::ALL.into_iter().find(|w| test.has(w.name())) {
            compile_options.simd_cf = way;
        }
        // The stages behind are tested with what the file says, not with what the optimizer makes of it.
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
        match test.has("precise-output") {
            true => expect::section(file, self.name, &text, options),
            false => Ok(Outcome::Pass),
        }
    }
}
