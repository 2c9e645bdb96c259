//! Parameters of the shared functions that are no data ports: gateway, sampler, URB, render targets.

use super::op::Lengths;

/// An operation of the gateway other than a barrier, which is 4 (bits 2:0 of the descriptor).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GatewayOp {
    /// End of thread (XeHPG and later; before, the thread spawner).
    ThreadEnd {
        /// The URB handle in the payload is not dereferenced (bit 4; set by every compute compiler).
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
    /// The operation of a descriptor.
    pub const fn from_bits(desc: u32) -> Option<GatewayOp> {
        match desc & 7 {
            0 => Some(GatewayOp::ThreadEnd {
                no_dereference: desc >> 4 & 1 == 1,
            }),
            1 => Some(GatewayOp::Signal),
            2 => Some(GatewayOp::Monitor),
            3 => Some(GatewayOp::Unmonitor),
            6 => Some(GatewayOp::Wait),
            _ => None,
        }
    }

    /// Its bits of the descriptor.
    pub const fn bits(self) -> u32 {
        match self {
            GatewayOp::ThreadEnd { no_dereference } => (no_dereference as u32) << 4,
            GatewayOp::Signal => 1,
            GatewayOp::Monitor => 2,
            GatewayOp::Unmonitor => 3,
            GatewayOp::Wait => 6,
        }
    }

    /// The name.
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

/// A sampler operation, at its number (bits 16:12 of the descriptor).
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
    /// A number without a name here: the media operations, and those of SIMD32/64.
    Other(u8),
}

impl SampleOp {
    /// Every operation that has a name, with its number.
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

    /// The operation of a number; in the SIMD32/64 mode (`wide`), where the numbers are others, only the number.
    pub fn from_bits(bits: u8, wide: bool) -> SampleOp {
        let found = SampleOp::NAMED.iter().find(|(_, n, _)| *n == bits && !wide);
        found.map_or(SampleOp::Other(bits), |(op, _, _)| *op)
    }

    /// The number.
    pub fn bits(self) -> u8 {
        match self {
            SampleOp::Other(n) => n,
            op => {
                let found = SampleOp::NAMED.iter().find(|(o, _, _)| *o == op);
                found.map_or(0, |(_, n, _)| *n)
            }
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        let found = SampleOp::NAMED.iter().find(|(o, _, _)| *o == self);
        found.map_or("other", |(_, _, name)| *name)
    }
}

/// A sampler message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// The operation.
    pub op: SampleOp,
    /// The SIMD mode: bits 29, 18 and 17 of the descriptor as a number. 1 and 2 are the two sizes, 5 and 6 the same with
    /// half float parameters, 3 is SIMD32/64, and 0 and 4 return integers (XeHPG and later).
    pub mode: u8,
    /// Which sampler state.
    pub sampler: u8,
    /// Which surface.
    pub surface: u8,
    /// What comes back has 16 bits an element.
    pub half_return: bool,
}

/// What a message does with the unified return buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UrbOp {
    /// Writes doublewords of eight channels.
    Write {
        /// A channel mask stands in the payload.
        masked: bool,
    },
    /// Reads doublewords of eight channels.
    Read,
    /// Fence (XeHPG and later).
    Fence,
}

/// A message to the unified return buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Urb {
    /// What.
    pub op: UrbOp,
    /// Where, in owords from the handle: 0 to 2047.
    pub offset: u16,
    /// Offsets of each slot stand in the payload.
    pub per_slot: bool,
}

impl Urb {
    /// What the payloads need but the data, whose number the descriptor does not say.
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

/// How the pixels of a render target message lie (bits 10:8 of the descriptor).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RenderLayout {
    /// All channels of a full message.
    Full,
    /// One color for all channels (writes).
    Replicated,
    /// Two sources, the lower half (writes).
    DualLow,
    /// Two sources, the upper half (writes).
    DualHigh,
    /// Half of the channels of a full message.
    Half,
}
