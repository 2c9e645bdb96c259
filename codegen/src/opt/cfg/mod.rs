//! Passes over control flow: simplification, jump threading and if-conversion.

pub(crate) mod cfg_cache;
pub(crate) mod if_conversion;
pub(crate) mod jump_threading;
pub(crate) mod simplify_cfg;
mod two_armed;
