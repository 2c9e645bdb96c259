//! The driver: options, the pipeline of stages, what is kept between compiles, cache keys.

pub(crate) mod cache_key;
pub(crate) mod context;
mod form;
pub(crate) mod options;
pub(crate) mod pipeline;
pub(crate) mod policy;
pub(crate) mod stage;
mod steps;
