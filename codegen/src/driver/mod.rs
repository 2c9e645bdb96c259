//! Driver: options, the pipeline of stages, contexts, the choice of a width, cache keys.

pub(crate) mod cache_key;
pub(crate) mod context;
mod form;
pub(crate) mod options;
pub(crate) mod pipeline;
pub(crate) mod policy;
mod steps;
pub(crate) mod width;
