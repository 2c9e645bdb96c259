//! Integration tests of the runtime and the simulator: one binary, a module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../isa-gen/tests/kernels/mod.rs"]
mod kernels;
#[path = "../common/rng.rs"]
mod rng;

mod api;
mod assembly;
mod cache;
mod containers;
mod damage;
mod data;
mod devices;
mod faults;
mod hazards;
mod image_copies;
mod images;
mod level_zero;
mod limits;
mod lines;
mod messages;
mod mutation;
mod ocloc_alu;
mod ocloc_dispatch;
mod ocloc_faults;
mod ocloc_linked;
mod opencl;
mod queue;
mod queue_stress;
mod resident;
mod stop;
mod typed;
mod watch;
