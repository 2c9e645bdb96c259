//! Choice of a kernel's SIMD width: the one at which the least work is left for each channel.
//!
//! A front end gives the candidates, with an estimate of the work of each, and a function that
//! builds the kernel at a width. The estimate is of code whose values fit the GRF file. Kernels
//! whose fit the front end cannot tell are compiled up to register allocation, where demand is
//! known. What spills, or fits only without the passes that cost registers, is more work.

use crate::driver::context::Context;
use crate::driver::options::{CompileOptions, Demand, ModuleCompilation};
use crate::ir::{FuncRef, Module};
use smallvec::SmallVec;

/// SIMD width that a kernel may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WidthCandidate {
    /// Channels of a thread.
    pub simd: u32,
    /// Fit of the kernel's values in the GRF file by the front end's estimate. `None` if that is
    /// inconclusive.
    pub fits: Option<bool>,
    /// Estimated work for each channel if all values fit, in a unit that the candidates share.
    pub work: u64,
    /// True if a narrower candidate holds private memory in registers that this one leaves in
    /// scratch.
    pub narrower_saves_scratch: bool,
}

/// Cost of work, in thousandths, if loops had to stay rolled for the values to fit.
const ROLLED: u64 = 1400;
/// The same, if private memory is in scratch that a narrower candidate holds in registers. There,
/// it is often values of their own once loops are unrolled.
const IN_SCRATCH: u64 = 2000;
/// The same, if values are spilled: for any, and for as many as the GRF file has bytes.
const SPILLS: u64 = 1150;
const SPILLED_FILE: u64 = 750;

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

/// Returns the work for each channel, where the demand of the kernel is known.
fn cost(candidate: &WidthCandidate, demand: Demand) -> u64 {
    let available = u64::from(demand.available.max(1));
    let over = u64::from(demand.bytes).saturating_sub(available);
    let spills = if over > 0 {
        SPILLS + over.saturating_mul(SPILLED_FILE) / available
    } else {
        1000
    };
    let rolled = if demand.rolled { ROLLED } else { 1000 };
    let saves = candidate.narrower_saves_scratch && demand.scratch > 0;
    let scratch = if saves { IN_SCRATCH } else { 1000 };
    let factors = [spills, rolled, scratch];
    factors
        .iter()
        .fold(candidate.work, |work, f| work.saturating_mul(*f) / 1000)
}

impl WidthJudge<'_, '_> {
    /// Builds a kernel at the candidate with the least work for each channel. There is at least one
    /// candidate. Of equal ones the first is taken.
    ///
    /// `build` appends the kernel and its functions to the module. Functions of widths that are not
    /// taken are removed.
    ///
    /// # Errors
    /// Those of `build` for the candidate that is taken. Another one that cannot be built is passed
    /// over.
    pub fn build_best<K, E>(
        &mut self,
        module: &mut Module,
        candidates: &[WidthCandidate],
        mut build: impl FnMut(u32, &mut Module) -> Result<(FuncRef, K), E>,
    ) -> Result<K, E> {
        let mut order: SmallVec<[WidthCandidate; 3]> = SmallVec::from_slice(candidates);
        order.sort_by_key(|c| (c.fits == Some(false), c.work));
        // The best that was tried, and its cost.
        let mut best: Option<(u32, u64)> = None;
        for (n, candidate) in order.iter().enumerate() {
            if best.is_some_and(|(_, cost)| cost <= candidate.work) {
                break;
            }
            // There is nothing to choose any more.
            if n + 1 == order.len() && best.is_none() {
                break;
            }
            if candidate.fits == Some(false) {
                continue;
            }
            let before = module.functions.len();
            let Ok((function, kernel)) = build(candidate.simd, module) else {
                continue;
            };
            if candidate.fits == Some(true) && !candidate.narrower_saves_scratch {
                return Ok(kernel);
            }
            let cost = self.demand(module, function).map(|d| cost(candidate, d));
            let next = order.get(n + 1).map_or(u64::MAX, |c| c.work);
            if let Some(cost) = cost {
                let least = best.is_none_or(|(_, least)| cost < least);
                if least && cost <= next {
                    return Ok(kernel);
                }
                if least {
                    best = Some((candidate.simd, cost));
                }
            }
            if let WidthJudge::Compile(context, compilation) = self {
                compilation.forget(context, function);
            }
            let mut functions = Vec::from(std::mem::take(&mut module.functions));
            functions.truncate(before);
            module.functions = functions.into();
        }
        let last = order.last().map(|c| c.simd);
        let simd = best.map(|b| b.0).or(last).unwrap_or(8);
        build(simd, module).map(|(_, kernel)| kernel)
    }

    /// Demand of a kernel. `None` if it does not compile: that is reported at another width.
    fn demand(&mut self, module: &Module, function: FuncRef) -> Option<Demand> {
        match self {
            WidthJudge::None => Some(Demand {
                bytes: 0,
                available: u32::MAX,
                rolled: false,
                scratch: 0,
            }),
            WidthJudge::Demand(context, options) => {
                let func = module.functions.get(function)?;
                context.demand(module, func, options).ok()
            }
            WidthJudge::Compile(context, compilation) => {
                compilation.begin(context, module, function).ok()
            }
        }
    }
}
