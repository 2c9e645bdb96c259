//! Integration tests of the compiler: one binary with a module per subject. `context.rs` is a
//! binary of its own, since it counts allocations.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod builder;
mod compile_random;
mod docs;
mod growth;
mod interp;
mod kernel_builder;
mod key;
mod platform_numbers;
mod random;
mod returns;
mod sources;
mod spill;
mod text;
mod verifier;
