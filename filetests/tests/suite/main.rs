//! Integration tests of the whole compiler: one binary, a module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

#[path = "../../../runtime/tests/common/driven.rs"]
mod driven;
#[allow(unsafe_code, reason = "the C interface of libiga64")]
#[path = "../../../isa-gen/tests/support/iga.rs"]
mod iga;
#[path = "../../../runtime/tests/common/rng.rs"]
mod rng;

mod aliases;
mod classics;
mod compaction;
mod corpus;
mod counted;
mod docs;
mod driver;
mod driver_launches;
mod exact;
mod figures;
mod fuzz;
mod high_pressure;
mod lane_sharing;
mod launched;
mod math;
mod messages;
mod pressure;
mod random;
mod samplers;
mod scoreboard;
mod subroutines;
mod sweep;
mod without;
