//! The driver: options, the pipeline of stages, what is kept between compiles, cache keys.

pub(crate) mod cache_key;
pub(crate) mod context;
pub(crate) mod grf_mode;
pub(crate) mod options;
pub(crate) mod pipeline;
