//! Set that records nothing.

use super::Repair;

/// Set of rules and repairs in a build that does not record them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fired(());

impl Fired {
    /// Ignores a lowering rule.
    pub(crate) fn rule(&mut self, _: u32) {}

    /// Ignores a rule of the optimizer.
    pub(crate) fn opt_rule(&mut self, _: u32) {}

    /// Ignores a repair.
    pub(crate) fn repair(&mut self, _: Repair) {}

    /// Does nothing: both sets are empty.
    pub fn extend(&mut self, _: &Fired) {}
}
