//! Control flow of the IR: branches that are known, short branches, blocks that are no longer
//! needed.

pub(crate) mod cfg_cache;
pub(crate) mod if_conversion;
pub(crate) mod jump_threading;
pub(crate) mod simplify_cfg;
