//! Passes over memory accesses, and their analyses.
//!
//! The analyses are uses of values (`uses.rs`), underlying objects of addresses
//! (`underlying_object.rs`) and `noalias` arguments (`noalias.rs`). Others are low halves of 64-bit
//! values (`low_halves.rs`), affine forms of addresses (`affine.rs`), value ranges
//! (`value_range.rs`), alignment (`alignment.rs`) and alias analysis (`alias_analysis.rs`). The
//! passes leave redundant and constant arithmetic to the e-graph that runs after them.

mod affine;
mod alias_analysis;
pub(crate) mod alignment;
mod join_forwarding;
mod load_coercion;
pub(crate) mod load_forwarding;
pub(crate) mod load_licm;
mod low_halves;
pub(crate) mod narrow_offsets;
mod noalias;
pub(crate) mod stateless_to_stateful;
mod underlying_object;
mod uses;
mod value_range;
pub(crate) mod vectorize_accesses;
pub(crate) mod widen_accesses;

pub(crate) use low_halves::{dword_type, low_half_region};
pub(in crate::opt) use value_range::{ValueRange, ValueRanges, launch_range};

use crate::ir::{Function, Inst, Space, Value};
use affine::AffineForms;
use alias_analysis::MemoryAccess;

/// Cache of a function's affine forms between passes.
#[derive(Debug, Default)]
pub(crate) struct AffineCache(Option<(usize, AffineForms)>);

impl AffineCache {
    /// Returns the affine forms of the function. It must be unchanged since they were kept, unless
    /// the cache was invalidated.
    fn get(&mut self, func: &Function) -> AffineForms {
        match self.0.take() {
            Some((insts, forms)) if insts == func.dfg.num_insts() => forms,
            _ => AffineForms::new(func),
        }
    }

    /// Keeps the affine forms of a function if a pass made no changes. It may have added
    /// instructions.
    fn keep(&mut self, func: &Function, forms: AffineForms, changes: u32) {
        if changes == 0 {
            self.0 = Some((func.dfg.num_insts(), forms));
        }
    }

    /// Drops the affine forms, after a change or for another function.
    pub(crate) fn invalidate(&mut self) {
        self.0 = None;
    }
}

/// Alias queries of other passes.
pub(crate) struct AliasAnalysis(AffineForms);

impl AliasAnalysis {
    /// Analyzes a function.
    pub(crate) fn new(func: &Function) -> AliasAnalysis {
        AliasAnalysis(AffineForms::new(func))
    }

    /// Returns true if two accesses never alias, by their spaces and base arguments alone.
    pub(crate) fn never_alias(&self, a: (Space, Value), b: (Space, Value)) -> bool {
        self.0.base_args.disjoint(a, b)
    }

    /// Returns true if each lane of an access has `bytes` bytes to itself, from its address on.
    pub(crate) fn has_rows(&mut self, func: &Function, inst: Inst, bytes: u32) -> bool {
        let access = MemoryAccess::of(func, inst, &mut self.0);
        access.is_some_and(|p| p.step(&p) >= i128::from(bytes))
    }
}
