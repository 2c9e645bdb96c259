//! Send messages: what a send's two descriptors ask of which shared function, as a typed value both ways.
//!
//! [`Message::decode`] reads the descriptors of a send, [`Message::descs`] writes them. A [`Message`] is an operation
//! ([`MsgOp`]) and the lengths of its payloads in GRFs. [`Message::new`] fills the lengths in from the operation.
//! [`SendBits`] is what the instruction says, wherever the platform keeps it. [`comment`] and [`describe`] put any
//! descriptor in words.
//!
//! Facts: the descriptor tables of the Skylake PRM, Vol. 2d ("Structures", MSD and MDC entries) and Vol. 7
//! ("Shared Functions - Data Port"), and the same of the other generations. Message types are a table with a column
//! per generation (`table`), what else differs are named facts (`traits`).

mod codec;
mod comment;
mod describe;
mod display;
mod lsc;
mod op;
mod params;
mod ports;
mod sfid;
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
pub use op::{Lengths, MsgOp};
pub use params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
pub use ports::{GatewayOp, RenderLayout, Sample, SampleOp, Urb, UrbOp};
pub use sfid::Sfid;

use crate::inst::{Inst, InstOpts, Subfn};
use crate::platform::Platform;
use crate::reg::Reg;

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

/// What a send says to its shared function, wherever the platform has it: in the mnemonic, in fields of the instruction or
/// in the descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SendBits {
    /// Who receives it.
    pub sfid: Sfid,
    /// The extended descriptor's own bits: shared function, EOT and length of source 1 are 0.
    pub ex: u32,
    /// The descriptor.
    pub desc: u32,
    /// GRFs of source 1.
    pub src1_len: u8,
    /// End of thread.
    pub eot: bool,
}

impl SendBits {
    /// Of a pair of descriptors that say everything, as before Xe.
    pub const fn of_descs(ex: u32, desc: u32) -> SendBits {
        SendBits {
            sfid: Sfid::of_ex_desc(ex),
            ex: ex & 0xffff_f000,
            desc,
            src1_len: (ex >> 6 & 15) as u8,
            eot: ex >> 5 & 1 == 1,
        }
    }

    /// Of a send whose descriptors have these values; they are the instruction's own where those are immediate.
    pub fn of(platform: Platform, inst: &Inst<Reg>, ex: u32, desc: u32) -> SendBits {
        let old = SendBits::of_descs(ex, desc);
        let eot = inst.opts.contains(InstOpts::EOT);
        let Subfn::Send(sfid) = inst.subfn else {
            return SendBits {
                eot: eot || old.eot,
                ..old
            };
        };
        let own = inst.send.and_then(|s| s.src1_len);
        let ex_len = if traits::traits(platform).src1_len_in_ex || own.is_none() {
            (ex >> 6 & 31) as u8
        } else {
            0
        };
        SendBits {
            sfid,
            ex: ex & if own.is_some() { !0x3f } else { !0x7ff },
            desc,
            src1_len: own.unwrap_or(ex_len),
            eot,
        }
    }

    /// The extended descriptor as the platform's instruction has it where the descriptor is immediate: with what is not
    /// in the mnemonic, the options or a field of the instruction.
    pub fn ex_desc(&self, platform: Platform) -> u32 {
        let t = traits::traits(platform);
        let mut ex = self.ex;
        if t.sfid_in_ex {
            ex |= u32::from(self.sfid.number()) | u32::from(self.eot) << 5;
        }
        if t.src1_len_in_ex {
            ex |= u32::from(self.src1_len) << 6;
        }
        ex
    }
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
        Message::of_lengths(op, op.lengths(platform))
    }

    fn of_lengths(op: MsgOp, l: Lengths) -> Message {
        let clip = |n: u32| n.min(255) as u8;
        Message {
            op,
            header: l.header,
            src0_grfs: clip(u32::from(l.header) + l.address + l.data),
            src1_grfs: 0,
            response_grfs: clip(l.response),
            eot: matches!(
                op,
                MsgOp::ThreadEnd { .. } | MsgOp::Gateway(GatewayOp::ThreadEnd { .. })
            ),
        }
    }

    /// The same as [`Self::new`] for a split send: addresses (and the header) in source 0, data in source 1.
    pub fn split(platform: Platform, op: MsgOp) -> Message {
        Message::split_of(op, op.lengths(platform))
    }

    /// The same as [`Self::split`] for an instruction of so many channels, where the message does not say it.
    pub fn split_for(platform: Platform, op: MsgOp, exec: u32) -> Message {
        Message::split_of(op, op.lengths_for(platform, exec))
    }

    fn split_of(op: MsgOp, l: Lengths) -> Message {
        let clip = |n: u32| n.min(255) as u8;
        Message {
            src0_grfs: clip(u32::from(l.header) + l.address),
            src1_grfs: clip(l.data),
            ..Message::of_lengths(op, l)
        }
    }

    /// Reads what a send says.
    ///
    /// # Errors
    /// A reserved value in a message that is described here. Anything else of an unknown kind is [`MsgOp::Raw`].
    pub fn read(platform: Platform, send: &SendBits) -> Result<Message, MessageError> {
        codec::decode(platform, send)
    }

    /// What a send of this message says.
    ///
    /// # Errors
    /// The platform has no such message, or a value does not fit its field.
    pub fn bits(&self, platform: Platform) -> Result<SendBits, MessageError> {
        codec::encode(platform, self)
    }

    /// Reads a pair of descriptors, shared function, length of source 1 and EOT in the extended descriptor. Sends of Xe
    /// have those elsewhere: see [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn decode(platform: Platform, ex: u32, desc: u32) -> Result<Message, MessageError> {
        codec::decode(platform, &SendBits::of_descs(ex, desc))
    }

    /// The extended descriptor and the descriptor of a send without fields of its own: see [`Self::bits`].
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn descs(&self, platform: Platform) -> Result<(u32, u32), MessageError> {
        let s = self.bits(platform)?;
        let eot = u32::from(s.eot) << 5;
        let len = u32::from(s.src1_len) << 6;
        Ok((s.ex | len | eot | u32::from(s.sfid.number()), s.desc))
    }

    /// Who receives it.
    pub fn sfid(&self) -> Sfid {
        self.op.sfid()
    }
}
