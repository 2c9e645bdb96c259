//! Tests of the command and of the library as a whole: one binary, a module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

#[cfg(feature = "cli")]
#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "cli")]
mod bad_launch;
#[cfg(feature = "cli")]
mod bad_text;
#[cfg(feature = "wgsl")]
mod bindings;
#[cfg(feature = "cli")]
mod cm;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod damaged_zebins;
mod design_rows;
#[cfg(feature = "cli")]
mod disassembly;
mod examples;
#[cfg(feature = "cli")]
mod figures;
mod house;
#[cfg(feature = "cli")]
mod intel_kernels;
mod library_alone;
#[cfg(all(unix, feature = "cli", feature = "wgsl"))]
mod pasted;
#[cfg(feature = "cli")]
mod platforms;
mod print_overflow;
#[cfg(feature = "cli")]
mod source_lines;
