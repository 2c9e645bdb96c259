//! Verification of allocations: the checker, and the tests of the checker.

pub mod checker;
#[cfg(test)]
pub(crate) mod corruptions;
#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
pub(crate) mod testgen;
