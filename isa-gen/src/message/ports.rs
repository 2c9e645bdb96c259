//! Parameters of messages to shared functions other than data ports: gateway, sampler, URB and
//! render targets.

use super::op::Lengths;

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

/// Sampler operation (bits 16:12 of the descriptor).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the sampler's messages")]
pub enum SampleOp {
    Sample,
    SampleB,
    SampleL,
    SampleC,
    SampleD,
    SampleBC,
    SampleLC,
    Ld,
    Gather4,
    Lod,
    ResInfo,
    SampleInfo,
    SampleKillPix,
    Gather4C,
    Gather4Po,
    Gather4PoC,
    SampleDC,
    SampleMin,
    SampleMax,
    SampleLz,
    SampleCLz,
    LdLz,
    Ld2dmsW,
    LdMcs,
    Ld2dms,
    Ld2dss,
    /// Number without a name here: the media operations, and those of SIMD32/64.
    Other(u8),
}

impl SampleOp {
    /// Every named operation, with its number and name.
    pub const NAMED: [(SampleOp, u8, &'static str); 26] = [
        (SampleOp::Sample, 0x00, "sample"),
        (SampleOp::SampleB, 0x01, "sample_b"),
        (SampleOp::SampleL, 0x02, "sample_l"),
        (SampleOp::SampleC, 0x03, "sample_c"),
        (SampleOp::SampleD, 0x04, "sample_d"),
        (SampleOp::SampleBC, 0x05, "sample_b_c"),
        (SampleOp::SampleLC, 0x06, "sample_l_c"),
        (SampleOp::Ld, 0x07, "ld"),
        (SampleOp::Gather4, 0x08, "gather4"),
        (SampleOp::Lod, 0x09, "lod"),
        (SampleOp::ResInfo, 0x0a, "resinfo"),
        (SampleOp::SampleInfo, 0x0b, "sampleinfo"),
        (SampleOp::SampleKillPix, 0x0c, "sample_killpix"),
        (SampleOp::Gather4C, 0x10, "gather4_c"),
        (SampleOp::Gather4Po, 0x11, "gather4_po"),
        (SampleOp::Gather4PoC, 0x12, "gather4_po_c"),
        (SampleOp::SampleDC, 0x14, "sample_d_c"),
        (SampleOp::SampleMin, 0x16, "sample_min"),
        (SampleOp::SampleMax, 0x17, "sample_max"),
        (SampleOp::SampleLz, 0x18, "sample_lz"),
        (SampleOp::SampleCLz, 0x19, "sample_c_lz"),
        (SampleOp::LdLz, 0x1a, "ld_lz"),
        (SampleOp::Ld2dmsW, 0x1c, "ld2dms_w"),
        (SampleOp::LdMcs, 0x1d, "ld_mcs"),
        (SampleOp::Ld2dms, 0x1e, "ld2dms"),
        (SampleOp::Ld2dss, 0x1f, "ld2dss"),
    ];

    /// Decodes an operation. The SIMD32/64 mode (`wide`) numbers operations differently, so that
    /// the result there is [`SampleOp::Other`].
    pub fn from_bits(bits: u8, wide: bool) -> SampleOp {
        let found = SampleOp::NAMED.iter().find(|(_, n, _)| *n == bits && !wide);
        found.map_or(SampleOp::Other(bits), |(op, _, _)| *op)
    }

    /// Returns the number of the operation.
    pub fn bits(self) -> u8 {
        match self {
            SampleOp::Other(n) => n,
            op => {
                let found = SampleOp::NAMED.iter().find(|(o, _, _)| *o == op);
                found.map_or(0, |(_, n, _)| *n)
            }
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        let found = SampleOp::NAMED.iter().find(|(o, _, _)| *o == self);
        found.map_or("other", |(_, _, name)| *name)
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
