//! Passes over machine code, before and after register allocation.

pub(crate) mod address_cse;
pub(crate) mod combine_constants;
pub(crate) mod copy_coalescing;
pub(crate) mod pass_by_reference;
