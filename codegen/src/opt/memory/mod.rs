//! Addresses: which memory an access goes to, by how wide numbers, in how many messages.
//!
//! Passes of the optimizer (`opt`), a file a pass, and what they share: who uses a value
//! (`uses.rs`), which argument an address is in (`underlying_object.rs`), and whether it alone
//! leads there (`noalias.rs`), the low halves of 64-bit values (`low_halves.rs`), addresses as sums
//! (`affine.rs`), between which numbers values are (`ranges.rs`), which accesses may meet
//! (`places.rs`). They leave arithmetic that is there twice, or of constants, for the e-graph
//! behind them.

mod affine;
mod alias_analysis;
mod load_coercion;
mod load_forwarding;
mod load_licm;
mod low_halves;
mod narrow_offsets;
mod noalias;
mod stateless_to_stateful;
mod underlying_object;
mod uses;
mod value_range;
mod vectorize_accesses;
mod widen_accesses;

pub(crate) use load_forwarding::{dead_stores, drop_scratch, forward};
pub(crate) use load_licm::hoist;
pub(crate) use low_halves::{doublewords, halved};
pub(crate) use narrow_offsets::offsets;
pub(crate) use stateless_to_stateful::surfaces;
pub(crate) use vectorize_accesses::{loads as merge_loads, stores as merge_stores};
pub(crate) use widen_accesses::pack;

use crate::ir::{Function, Inst, Space, Value};
use affine::Sums;
use alias_analysis::Place;

/// The sums of a function's values, kept from one pass to the next for as long as none changes the
/// function.
#[derive(Debug, Default)]
pub(crate) struct KeptSums(Option<(usize, Sums)>);

impl KeptSums {
    /// Those of the function, which is as it was when they were kept unless [`KeptSums::changed`]
    /// was said.
    fn of(&mut self, func: &Function) -> Sums {
        match self.0.take() {
            Some((insts, sums)) if insts == func.dfg.num_insts() => sums,
            _ => Sums::new(func),
        }
    }

    /// Keeps those of a function that a pass left as it was, but for what it may have added.
    fn keep(&mut self, func: &Function, sums: Sums, changes: u32) {
        if changes == 0 {
            self.0 = Some((func.dfg.num_insts(), sums));
        }
    }

    /// Says that the function is changed, or another.
    pub(crate) fn changed(&mut self) {
        self.0 = None;
    }
}

/// What other passes ask about a function's accesses.
pub(crate) struct Accesses(Sums);

impl Accesses {
    /// Of a function.
    pub(crate) fn new(func: &Function) -> Accesses {
        Accesses(Sums::new(func))
    }

    /// Whether two accesses never meet, whatever their addresses come to: memories and addresses.
    pub(crate) fn never_meet(&self, a: (Space, Value), b: (Space, Value)) -> bool {
        self.0.owners.apart(a, b)
    }

    /// Whether each lane of an access has so many bytes to itself, from its address on.
    pub(crate) fn has_rows(&mut self, func: &Function, inst: Inst, bytes: u32) -> bool {
        let place = Place::of(func, inst, &mut self.0);
        place.is_some_and(|p| p.step(&p) >= i128::from(bytes))
    }
}
