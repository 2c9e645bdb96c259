//! Send messages: what a send's two descriptors ask of which shared function, as a typed value both ways.
//!
//! [`Message::decode`] reads the descriptors of a send, [`Message::descs`] writes them. A [`Message`] is an operation
//! ([`MsgOp`]) and the lengths of its payloads in GRFs. [`Message::new`] fills the lengths in from the operation.
//!
//! Facts: the descriptor tables of the Skylake PRM, Vol. 2d ("Structures", MSD and MDC entries) and Vol. 7
//! ("Shared Functions - Data Port"). Message types are a table with a column per platform (`table`).

mod codec;
mod comment;
mod describe;
mod display;
mod lsc;
mod op;
mod table;
#[cfg(test)]
mod tests;
mod traits;

pub use comment::{SendText, comment};
pub use describe::{DescField, DescFinding, Description};
pub use lsc::{
    CacheOpt, CcsOp, LscAccess, LscAddr, LscCaching, LscData, LscFenceOp, LscKind, LscOp, LscPort,
    LscScope, LscSurface, LscVector,
};
pub use op::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Lengths, MsgOp, Rgba, Simd, Surface,
};

use crate::platform::Platform;
use std::fmt;

/// A shared function: who receives a message. Bits 3:0 of the extended descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Sfid(u8);

impl Sfid {
    /// Nobody.
    pub const NULL: Sfid = Sfid(0);
    /// Load/store cache, untyped global memory at low bandwidth (XeHPG and later).
    pub const UGML: Sfid = Sfid(1);
    /// Sampler.
    pub const SAMPLER: Sfid = Sfid(2);
    /// Message gateway: barriers.
    pub const GATEWAY: Sfid = Sfid(3);
    /// Sampler cache data port ("data cache 2").
    pub const DATA_CACHE_2: Sfid = Sfid(4);
    /// Render cache data port.
    pub const RENDER_CACHE: Sfid = Sfid(5);
    /// Unified return buffer.
    pub const URB: Sfid = Sfid(6);
    /// Thread spawner: end of thread.
    pub const THREAD_SPAWNER: Sfid = Sfid(7);
    /// Video motion estimation.
    pub const VME: Sfid = Sfid(8);
    /// Constant cache data port, read-only.
    pub const CONSTANT_CACHE: Sfid = Sfid(9);
    /// Data cache data port 0.
    pub const DATA_CACHE_0: Sfid = Sfid(10);
    /// Pixel interpolator.
    pub const PIXEL_INTERPOLATOR: Sfid = Sfid(11);
    /// Data cache data port 1.
    pub const DATA_CACHE_1: Sfid = Sfid(12);
    /// Check and refinement engine.
    pub const CRE: Sfid = Sfid(13);
    /// Bindless thread dispatch (XeHPG and later).
    pub const BTD: Sfid = Sfid(7);
    /// Ray tracing (XeHPG and later).
    pub const RTA: Sfid = Sfid(8);
    /// Load/store cache, typed global memory (XeHPG and later).
    pub const TGM: Sfid = Sfid(13);
    /// Load/store cache, shared local memory (XeHPG and later).
    pub const SLM: Sfid = Sfid(14);
    /// Load/store cache, untyped global memory (XeHPG and later).
    pub const UGM: Sfid = Sfid(15);

    /// The shared function with this number; `None` above 15.
    pub const fn new(n: u8) -> Option<Sfid> {
        if n < 16 { Some(Sfid(n)) } else { None }
    }

    /// The shared function that an extended descriptor names.
    pub const fn of_ex_desc(ex: u32) -> Sfid {
        Sfid((ex & 0xf) as u8)
    }

    /// The number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The field's short name.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "null",
            2 => "sampler",
            3 => "gateway",
            4 => "dc2",
            5 => "render cache",
            6 => "urb",
            7 => "thread spawner",
            8 => "vme",
            9 => "constant cache",
            10 => "dc0",
            11 => "pixel interpolator",
            12 => "dc1",
            13 => "cre",
            _ => "reserved",
        }
    }
}

impl Sfid {
    /// The name in a mnemonic (`send.dc0`); `None` where the platform has no such shared function.
    pub fn mnemonic(self, platform: Platform) -> Option<&'static str> {
        traits::traits(platform).mnemonic(self)
    }

    /// The shared function that a mnemonic names.
    pub fn from_mnemonic(platform: Platform, name: &str) -> Option<Sfid> {
        traits::traits(platform).sfid(name)
    }
}

impl fmt::Display for Sfid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A send's message: operation and payload lengths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// What it does.
    pub op: MsgOp,
    /// Whether the payload begins with a header GRF.
    pub header: bool,
    /// GRFs of source 0, 1 .. 15.
    pub src0_grfs: u8,
    /// GRFs of source 1 (split send), 0 .. 15.
    pub src1_grfs: u8,
    /// GRFs written back, 0 .. 31.
    pub response_grfs: u8,
    /// End of thread.
    pub eot: bool,
}

/// Why descriptors cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MessageError {
    /// The platform has no such message.
    #[error("{platform} has no {what} message")]
    Unsupported {
        /// The platform.
        platform: Platform,
        /// What was asked.
        what: String,
    },
    /// A field of the descriptor has a value without meaning.
    #[error("{message}: field {field} has the reserved value {value}")]
    Reserved {
        /// The message.
        message: &'static str,
        /// The field, with its bits.
        field: &'static str,
        /// The value.
        value: u32,
    },
    /// A value does not fit its field.
    #[error("{message}: {field} cannot be {value}")]
    Range {
        /// The message.
        message: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
    },
}

/// The fields of a descriptor with what each means, one line of what it asks, and what is wrong with it. `exec`: channels
/// of the instruction. `ex`: the extended descriptor, or the subregister of a0 that holds it.
pub fn describe(
    platform: Platform,
    sfid: Sfid,
    exec: u32,
    ex: Result<u32, u16>,
    desc: u32,
) -> Description {
    let ex = match ex {
        Ok(v) => describe::Ex::Imm(v),
        Err(a) => describe::Ex::Reg(a),
    };
    describe::describe(&traits::traits(platform), Some(sfid), exec, ex, desc, true)
}

impl Message {
    /// A message with the lengths that its operation needs, addresses and data in one payload (or `split`: data in
    /// source 1), a header only where one is required. Lengths beyond a field stay too large and [`Self::descs`]
    /// says so.
    pub fn new(platform: Platform, op: MsgOp) -> Message {
        let l = op.lengths(platform);
        let clip = |n: u32| n.min(255) as u8;
        Message {
            op,
            header: l.header,
            src0_grfs: clip(u32::from(l.header) + l.address + l.data),
            src1_grfs: 0,
            response_grfs: clip(l.response),
            eot: matches!(op, MsgOp::ThreadEnd { .. }),
        }
    }

    /// The same as [`Self::new`] for a split send: addresses (and the header) in source 0, data in source 1.
    pub fn split(platform: Platform, op: MsgOp) -> Message {
        let l = op.lengths(platform);
        let clip = |n: u32| n.min(255) as u8;
        Message {
            src0_grfs: clip(u32::from(l.header) + l.address),
            src1_grfs: clip(l.data),
            ..Message::new(platform, op)
        }
    }

    /// Reads a send's descriptors.
    ///
    /// # Errors
    /// A reserved value in a message that is described here. Anything else of an unknown kind is [`MsgOp::Raw`].
    pub fn decode(platform: Platform, ex: u32, desc: u32) -> Result<Message, MessageError> {
        codec::decode(platform, ex, desc)
    }

    /// The extended descriptor and the descriptor.
    ///
    /// # Errors
    /// The platform has no such message, or a value does not fit its field.
    pub fn descs(&self, platform: Platform) -> Result<(u32, u32), MessageError> {
        codec::encode(platform, self)
    }

    /// Who receives it.
    pub fn sfid(&self) -> Sfid {
        self.op.sfid()
    }
}
