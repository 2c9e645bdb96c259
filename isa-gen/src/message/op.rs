//! Message operations, and the payload lengths that they need. Both are generated from the rows of
//! `gantry_meta::messages`.

use super::Sfid;
use super::lsc::{LscAccess, LscCaching, LscKind, LscPort, LscRow, LscSurface};
use super::params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
use super::ports::{GatewayOp, RenderLayout, Sample, SampleRow, Urb};
use crate::named_enum;
use crate::platform::Platform;
use std::fmt;

/// Payload lengths of an operation, in GRFs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// True if a header GRF is required.
    pub header: bool,
    /// Length of the addresses.
    pub address: u32,
    /// Length of the data to write.
    pub data: u32,
    /// Length of the response.
    pub response: u32,
}

impl MsgOp {
    /// Computes the payload lengths of a full message in GRFs: see [`Self::lengths_for`].
    pub fn lengths(&self, platform: Platform) -> Lengths {
        self.lengths_for(platform, platform.features().grf_bytes / 2)
    }
}

/// Returns the number of channels whose registers an atomic has. Intel's compiler for Ponte Vecchio
/// sends an atomic of one channel as one of 32, with registers for 16.
fn atomic_channels(simd: Simd, exec: u32) -> u32 {
    match simd {
        Simd::S32 if exec == 1 => 16,
        simd => simd.channels(),
    }
}

include!(concat!(env!("OUT_DIR"), "/message_ops.rs"));
