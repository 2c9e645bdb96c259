//! Parameters of messages to shared functions other than data ports: gateway, sampler, URB and
//! render targets.

use super::op::{Lengths, SAMPLE_OPS, SampleOp, SampleParam};
use crate::platform::Platform;

/// Gateway operation (bits 2:0 of the descriptor). Operation 4 is a barrier, which is not in this
/// list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GatewayOp {
    /// End of thread (Xe-HPG on; earlier platforms send it to the thread spawner).
    ThreadEnd {
        /// Does not dereference the URB handle in the payload (bit 4; set by every compute
        /// compiler).
        no_dereference: bool,
    },
    /// Signals an event.
    Signal,
    /// Monitors an event.
    Monitor,
    /// Monitors no event.
    Unmonitor,
    /// Waits for an event.
    Wait,
}

impl GatewayOp {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            GatewayOp::ThreadEnd { .. } => "end of thread",
            GatewayOp::Signal => "signal event",
            GatewayOp::Monitor => "monitor event",
            GatewayOp::Unmonitor => "unmonitor event",
            GatewayOp::Wait => "wait for event",
        }
    }
}

/// Operation of the sampler with its number and parameters.
pub(super) struct SampleRow {
    pub(super) op: SampleOp,
    pub(super) number: u8,
    pub(super) name: &'static str,
    /// Generations that have it, as bits of columns.
    pub(super) gens: u16,
    /// True if it reads a sampler state.
    pub(super) state: bool,
    /// Parameters in payload order.
    pub(super) params: &'static [SampleParam],
    /// Generations with another order.
    pub(super) old: Option<(u16, &'static [SampleParam])>,
    /// Parameters of 16 bits, where they are not those of 32.
    pub(super) halves: Option<&'static [SampleParam]>,
}

impl SampleOp {
    fn row(self) -> Option<&'static SampleRow> {
        SAMPLE_OPS.iter().find(|r| r.op == self)
    }

    /// Decodes an operation. The SIMD32/64 mode (`wide`) numbers operations differently, so that
    /// the result there is [`SampleOp::Other`].
    pub fn from_bits(bits: u8, wide: bool) -> SampleOp {
        let found = SAMPLE_OPS.iter().find(|r| r.number == bits && !wide);
        found.map_or(SampleOp::Other(bits), |r| r.op)
    }

    /// Returns the number of the operation.
    pub fn bits(self) -> u8 {
        match self {
            SampleOp::Other(n) => n,
            op => op.row().map_or(0, |r| r.number),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.row().map_or("other", |r| r.name)
    }

    /// Returns true if the platform has the operation.
    pub fn is_on(self, platform: Platform) -> bool {
        self.row()
            .is_some_and(|r| r.gens >> platform.column() & 1 == 1)
    }

    /// Returns true if the operation reads a sampler state.
    pub fn reads_state(self) -> bool {
        self.row().is_some_and(|r| r.state)
    }

    /// Returns the parameters in payload order, where each has 16 or 32 bits. `None` for an
    /// operation without a name.
    ///
    /// ```
    /// use gantry_isa_gen::Platform;
    /// use gantry_isa_gen::message::{SampleOp, SampleParam::*};
    /// let ld = |platform| SampleOp::Ld.params(platform, 32);
    /// assert_eq!(ld(Platform::Gen8), Some(&[U, Lod, V, R][..]));
    /// assert_eq!(ld(Platform::Gen9), Some(&[U, V, Lod, R][..]));
    /// ```
    pub fn params(self, platform: Platform, bits: u32) -> Option<&'static [SampleParam]> {
        let row = self.row()?;
        let old = |(gens, _): &(u16, _)| gens >> platform.column() & 1 == 1;
        let other = match row.old.filter(old) {
            Some((_, order)) => Some(order),
            None => row.halves.filter(|_| bits == 16),
        };
        Some(other.unwrap_or(row.params))
    }
}

/// Sampler message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// Operation.
    pub op: SampleOp,
    /// SIMD mode: bits 29, 18 and 17 of the descriptor. 1 and 2 are the two sizes, 5 and 6 the same
    /// with half-precision parameters, and 3 is SIMD32/64. 0 and 4 return integers (Xe-HPG on).
    pub mode: u8,
    /// Index of the sampler state.
    pub sampler: u8,
    /// Binding table index of the surface.
    pub surface: u8,
    /// True if elements of the response have 16 bits.
    pub half_return: bool,
}

/// Operation on the unified return buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UrbOp {
    /// Writes dwords of eight channels.
    Write {
        /// The payload has a channel mask.
        masked: bool,
    },
    /// Reads dwords of eight channels.
    Read,
    /// Fence (Xe-HPG on).
    Fence,
}

/// Message to the unified return buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Urb {
    /// Operation.
    pub op: UrbOp,
    /// Offset from the handle in owords, 0 to 2047.
    pub offset: u16,
    /// True if the payload has an offset per slot.
    pub per_slot: bool,
}

impl Urb {
    /// Computes the payload lengths without the data, whose length the descriptor does not encode.
    pub(super) fn lengths(&self) -> Lengths {
        let (own, masked) = match self.op {
            UrbOp::Write { masked } => (true, masked),
            UrbOp::Read => (true, false),
            UrbOp::Fence => (false, false),
        };
        Lengths {
            header: own,
            address: if own {
                u32::from(self.per_slot) + u32::from(masked)
            } else {
                1
            },
            data: 0,
            response: 0,
        }
    }
}

/// Arrangement of the pixels of a render target message (bits 10:8 of the descriptor).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RenderLayout {
    /// All channels of a full message.
    Full,
    /// One color for all channels (writes).
    Replicated,
    /// Dual source, the lower half of the channels (writes).
    DualLow,
    /// Dual source, the upper half of the channels (writes).
    DualHigh,
    /// Half of the channels of a full message.
    Half,
}
