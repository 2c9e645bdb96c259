//! Policy: what is tried for a kernel, and which result is taken.
//!
//! - Passes that cost registers are left out in a second attempt, if demand exceeds the GRF file.
//! - Where the platform lets kernels choose, 256 registers are tried for a kernel that spills.

use crate::driver::options::{CompileOptions, CompiledKernel};
use crate::error::CodegenError;
use crate::passes::{Pass, PassSet, PassStats};
use std::borrow::Cow;

/// Passes that may cost registers: loops stay, loads stay in them, and payloads are filled where
/// they are sent, if the alternative is to spill.
const COSTLY: [Pass; 4] = [
    Pass::Unroll,
    Pass::CopyCoalescing,
    Pass::LoadLicm,
    Pass::PassByReference,
];

/// Passes that cost registers and changed something.
pub(super) fn costly(passes: &[PassStats]) -> PassSet {
    let did = |pass: &Pass| passes.iter().any(|p| p.pass == *pass && p.changes > 0);
    COSTLY.into_iter().filter(did).collect()
}

/// How many registers a kernel's threads have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GrfMode {
    /// 128, as on all platforms.
    #[default]
    Standard,
    /// 256, which platforms have from Xe-HP on; half as many threads run at a time.
    Large,
    /// 256 where 128 are too few for a kernel's values and that many threads with all values in
    /// registers are faster by the model of cycles; else 128.
    Auto,
}

impl GrfMode {
    /// Every mode.
    pub const ALL: [GrfMode; 3] = [GrfMode::Standard, GrfMode::Large, GrfMode::Auto];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            GrfMode::Standard => "128",
            GrfMode::Large => "256",
            GrfMode::Auto => "auto",
        }
    }

    /// The mode of a name.
    pub fn from_name(name: &str) -> Option<GrfMode> {
        GrfMode::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// The options with the register file that they ask for at once: that of [`GrfMode::Auto`] is the
/// standard one first.
///
/// # Errors
/// The platform has no other.
pub(crate) fn first(options: &CompileOptions) -> Result<Cow<'_, CompileOptions>, CodegenError> {
    match options.grf_mode {
        GrfMode::Standard | GrfMode::Auto => Ok(Cow::Borrowed(options)),
        GrfMode::Large => large(options).map(Cow::Owned).ok_or_else(|| {
            let (target, grf) = (options.target.name(), options.target.grf());
            CodegenError::Options {
                what: format!("threads of `{target}` have {} registers", grf.count),
            }
        }),
    }
}

/// The options with the large file, for a kernel that spilled with the standard one and may have
/// either.
pub(crate) fn second(options: &CompileOptions, kernel: &CompiledKernel) -> Option<CompileOptions> {
    let spilled = &kernel.stats.spilled;
    let asked = options.grf_mode == GrfMode::Auto && options.grfs.is_none();
    if asked && (spilled.registers > 0 || spilled.remats > 0) {
        large(options)
    } else {
        None
    }
}

fn large(options: &CompileOptions) -> Option<CompileOptions> {
    let target = options.target.with_large_file()?;
    Some(CompileOptions {
        target,
        ..options.clone()
    })
}

/// Which of the same kernel's two is faster, by what one thread's share of an EU takes when all
/// that fit run.
pub(crate) fn faster(
    options: &CompileOptions,
    standard: CompiledKernel,
    large: CompiledKernel,
) -> CompiledKernel {
    let target = &options.target;
    let share = |k: &CompiledKernel| {
        let threads = target.features().eu_threads * target.grf().count / k.grf_count.max(1);
        let cycles = k.code.cycles(target.platform());
        cycles.of_threads(threads) / u64::from(threads.max(1))
    };
    if share(&large) < share(&standard) {
        large
    } else {
        standard
    }
}
