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
mod programs;
mod refused;
mod samples;
mod textures;
