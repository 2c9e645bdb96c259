//! Integration tests of the SPIR-V and WGSL front ends: one binary, a module for each subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

#[path = "../common/by_hand.rs"]
mod by_hand;
#[path = "../../../runtime/tests/common/driven.rs"]
mod driven;
#[allow(unsafe_code, reason = "the C interface of libiga64")]
#[path = "../../../isa-gen/tests/support/iga.rs"]
mod iga;
#[path = "../../../isa-gen/tests/kernels/mod.rs"]
mod kernels;
#[path = "../../../runtime/tests/common/rng.rs"]
mod rng;
#[path = "../common/targets.rs"]
mod targets;

mod assembly;
mod blocks2d;
mod branches;
mod by_value;
mod calls;
mod damage;
mod generic;
mod hashcat;
mod naga;
#[allow(
    dead_code,
    unused_imports,
    reason = "the kit is the runtime's, which uses more of it"
)]
mod opencl;
mod passing;
mod places;
mod programs;
mod shader;
mod threads;
#[allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "constants in two doubles, and arguments that are near them"
)]
mod ulp;
mod wgsl;
