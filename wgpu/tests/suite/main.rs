//! Programs for wgpu, on the simulators of every generation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod caches;
mod common;
mod compute;
mod formats;
mod programs;
mod refused;
mod samplers;
mod samples;
mod textures;
