//! Choice of a kernel's SIMD width: the widest at which its values fit the GRF file.
//!
//! A front end gives the candidates and a function that builds the kernel at a width. Kernels whose
//! fit the front end cannot tell are compiled up to register allocation, where demand is known.

use crate::driver::context::Context;
use crate::driver::options::{CompileOptions, Demand, ModuleCompilation};
use crate::ir::{FuncRef, Module};

/// SIMD width that a kernel may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WidthCandidate {
    /// Channels of a thread.
    pub simd: u32,
    /// Fit of the kernel's values in the GRF file by the front end's estimate. `None` if that is
    /// inconclusive.
    pub fits: Option<bool>,
    /// True if a narrower candidate holds private memory in registers that this one leaves in
    /// scratch. This one is then taken only if it has nothing in scratch, or no narrower one does.
    pub narrower_saves_scratch: bool,
}

/// Judge of a kernel's fit in the GRF file where an estimate is inconclusive.
#[derive(Debug)]
pub enum WidthJudge<'c, 'o> {
    /// No judge, since no target is known: the kernel fits.
    None,
    /// Demand on a target's GRF file, in the memory of a context. The work is not kept.
    Demand(&'c mut Context, &'o CompileOptions),
    /// Demand, for kernels that are compiled next. The work for kernels that fit is kept.
    Compile(&'c mut Context, &'c mut ModuleCompilation<'o>),
}

/// Fit of a kernel in the GRF file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    /// Something must be spilled.
    No,
    /// Values fit, and private memory is in scratch.
    Scratch,
    /// Values fit, and nothing is in scratch.
    Whole,
}

impl Fit {
    fn of(demand: Demand) -> Fit {
        match (demand.fits(), demand.scratch) {
            (false, _) => Fit::No,
            (true, 0) => Fit::Whole,
            (true, _) => Fit::Scratch,
        }
    }

    /// Returns true if values fit, and with `in_registers` nothing is in scratch.
    fn is_wanted(self, in_registers: bool) -> bool {
        self == Fit::Whole || self == Fit::Scratch && !in_registers
    }
}

impl WidthJudge<'_, '_> {
    /// Builds a kernel at the widest candidate that fits the GRF file, or at the last one if none
    /// does. Candidates are given widest first, at least one.
    ///
    /// `build` appends the kernel and its functions to the module. Functions of widths that are not
    /// taken are removed.
    ///
    /// # Errors
    /// Those of `build` for the candidate that is taken. A wider one that cannot be built is passed
    /// over.
    pub fn build_widest<K, E>(
        &mut self,
        module: &mut Module,
        candidates: &[WidthCandidate],
        mut build: impl FnMut(u32, &mut Module) -> Result<(FuncRef, K), E>,
    ) -> Result<K, E> {
        // Widest that fits with private memory in scratch, while narrower ones are tried.
        let mut widest = None;
        for (n, candidate) in candidates.iter().enumerate() {
            if n + 1 == candidates.len() && widest.is_none() {
                break;
            }
            if candidate.fits == Some(false) {
                continue;
            }
            let before = module.functions.len();
            let Ok((function, kernel)) = build(candidate.simd, module) else {
                continue;
            };
            let in_registers = candidate.narrower_saves_scratch || widest.is_some();
            if candidate.fits == Some(true) && !in_registers {
                return Ok(kernel);
            }
            let fit = self.fit(module, function, in_registers);
            if fit.is_wanted(in_registers) {
                return Ok(kernel);
            }
            if fit.is_wanted(false) {
                widest = widest.or(Some(candidate.simd));
            }
            let mut functions = Vec::from(std::mem::take(&mut module.functions));
            functions.truncate(before);
            module.functions = functions.into();
        }
        let last = candidates.last().map(|c| c.simd);
        build(widest.or(last).unwrap_or(8), module).map(|(_, kernel)| kernel)
    }

    /// Fit of a kernel. Errors count as no fit, since they are reported at the narrowest width. The
    /// work is kept for the compile only if the fit is wanted.
    fn fit(&mut self, module: &Module, function: FuncRef, in_registers: bool) -> Fit {
        match self {
            WidthJudge::None => Fit::Whole,
            WidthJudge::Demand(context, options) => match module.functions.get(function) {
                Some(f) => context.demand(module, f, options).map_or(Fit::No, Fit::of),
                None => Fit::No,
            },
            WidthJudge::Compile(context, compilation) => {
                let demand = compilation.begin(context, module, function);
                let fit = demand.map_or(Fit::No, Fit::of);
                if !fit.is_wanted(in_registers) {
                    compilation.forget(context, function);
                }
                fit
            }
        }
    }
}
