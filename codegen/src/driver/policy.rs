//! Policy: attempts that are made for a kernel, and the result that is taken.
//!
//! - Passes that cost registers are left out in a second attempt, if demand exceeds the GRF file.
//! - Spilling fills less of the GRF file from attempt to attempt, until all values have a place.
//! - If the platform lets kernels choose, 256 GRFs are tried for a kernel that spills.

use crate::driver::options::{CompileOptions, CompiledKernel};
use crate::error::CodegenError;
use crate::passes::{Pass, PassSet, PassStats};
use crate::regalloc::SpillAttempt;
use std::borrow::Cow;

/// Passes that may cost registers. Without them loops stay rolled, loads stay in loops, and
/// payloads are filled where they are sent, if the alternative is to spill.
const COSTLY: [Pass; 4] = [
    Pass::Unroll,
    Pass::CopyCoalescing,
    Pass::LoadLicm,
    Pass::PassByReference,
];

/// Parts of the GRF file that spilling may fill, one attempt after the other. Alignment wastes
/// bytes, so filling all of the file may leave some values without a place.
pub(crate) const SPILL_ATTEMPTS: [SpillAttempt; 9] = {
    const fn part(sixteenths: u32, reserve: bool) -> SpillAttempt {
        SpillAttempt {
            sixteenths,
            reserve,
        }
    }
    [
        part(16, false),
        part(16, true),
        part(15, true),
        part(14, true),
        part(12, true),
        part(10, true),
        part(8, true),
        part(6, true),
        part(4, true),
    ]
};

/// Returns the passes that cost registers and changed something.
pub(super) fn costly(passes: &[PassStats]) -> PassSet {
    let did = |pass: &Pass| passes.iter().any(|p| p.pass == *pass && p.changes > 0);
    COSTLY.into_iter().filter(did).collect()
}

gantry_isa_gen::named_enum! {
    /// Number of GRFs of a kernel's threads.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum GrfMode {
        /// 128, as on all platforms.
        #[default]
        Standard = "128",
        /// 256, which platforms have from Xe-HP on. Half as many threads run at a time.
        Large = "256",
        /// 256 if 128 are too few for a kernel's values, and if the cycle model says that threads
        /// with all values in registers are faster. Else 128.
        Auto = "auto",
    }
}

/// Returns the options with the GRF file of the first attempt. For [`GrfMode::Auto`] it is the
/// standard one.
///
/// # Errors
/// The platform has no larger one.
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

/// Returns the options with the large GRF file, for a kernel that spilled with the standard one and
/// may have either.
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

/// Returns the faster of two results for a kernel, by the cycles of one thread when an EU is full.
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
