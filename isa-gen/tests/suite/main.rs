//! Integration tests of the ISA crate, as one binary with a module per subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

#[path = "../support/disagreements.rs"]
mod disagreements;
#[allow(unsafe_code, reason = "the oracle is a C library")]
#[path = "../support/iga.rs"]
mod iga;
#[allow(dead_code, reason = "other crates' tests use more of it")]
#[path = "../kernels/mod.rs"]
mod kernels;
#[path = "../support/xe_seeds.rs"]
mod xe_seeds;

mod bulk;
mod compact;
mod corpus;
mod legal;
mod message_corpus;
mod messages;
mod mutate;
mod patterns;
mod text;
mod words;
mod xe_text;
mod xe_words;
