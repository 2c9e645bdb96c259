//! Modelled time of commands, for the device's clock.
//!
//! The model is coarse: it has instructions and bytes, and no latency. It orders launches by their
//! work and does not change from run to run, as the host's time does.

use crate::control::LaunchStats;

/// Time from a launch to its first thread, in nanoseconds.
const BEGIN: u64 = 2_000;
/// Cycles that an instruction takes in an EU: 16 channels in a pipe of 8. At 1 GHz a cycle takes
/// a nanosecond.
const CYCLES: u64 = 2;
/// Bytes that memory moves in a nanosecond.
const BYTES: u64 = 32;

/// Returns the modelled time of a launch whose instructions so many EUs share, in nanoseconds.
pub(super) fn launch_time(stats: &LaunchStats, eus: u32) -> u64 {
    let compute = stats.instructions.saturating_mul(CYCLES) / u64::from(eus.max(1));
    let memory = stats.bytes_read.saturating_add(stats.bytes_written) / BYTES;
    BEGIN + compute.max(memory)
}

/// Returns the modelled time of a copy, in nanoseconds.
pub(super) fn copy_time(bytes: u64) -> u64 {
    BEGIN + bytes.saturating_mul(2) / BYTES
}
