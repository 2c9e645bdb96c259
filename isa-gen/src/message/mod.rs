//! Messages of sends, as typed values that descriptors are decoded to and encoded from.
//!
//! [`Message::decode`] reads the descriptors of a send, [`Message::descs`] writes them. A
//! [`Message`] has an operation ([`MsgOp`]) and the lengths of its payloads in GRFs.
//! [`Message::new`] computes the lengths from the operation. [`SendBits`] holds the message fields
//! of an instruction, independent of where the platform encodes them. [`comment()`] and
//! [`describe()`] describe any descriptor in words.
//!
//! Each message is a row of `gantry_meta::messages`: arguments, type numbers by generation, fields
//! of bits, payload lengths and text. Operations (`op`), codec (`codec`) and listings (`describe`)
//! are generated from the rows. Types of arguments and the few irregular rules are written here.
//!
//! Sources: the descriptor tables of the Skylake PRM, Vol. 2d ("Structures", MSD and MDC entries)
//! and Vol. 7 ("Shared Functions - Data Port"), and the same volumes of other generations.

mod codec;
mod comment;
mod describe;
mod display;
mod lsc;
mod op;
mod params;
mod ports;
#[cfg(test)]
mod tests;

pub use crate::sfid::Sfid;
use crate::sfid::traits::traits;
pub use comment::{SendText, comment};
pub use describe::{DescField, DescFinding, Description};
pub use lsc::{CacheOpt, LscAccess, LscAddr, LscCaching, LscKind, LscPort, LscSurface, LscVector};
pub use op::{CcsOp, Lengths, LscData, LscFenceOp, LscOp, LscScope, MsgOp, SampleOp, SampleParam};
pub use params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
pub use ports::{GatewayOp, RenderLayout, Sample, Urb, UrbOp};

use crate::inst::{Inst, InstOpts, Subfn};
use crate::platform::Platform;
use crate::reg::Reg;

/// Message of a send: operation and payload lengths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// Operation.
    pub op: MsgOp,
    /// True if the payload begins with a header GRF.
    pub header: bool,
    /// Length of source 0 in GRFs, 1 to 15.
    pub src0_grfs: u8,
    /// Length of source 1 of a split send in GRFs, 0 to 15.
    pub src1_grfs: u8,
    /// Length of the response in GRFs, 0 to 31.
    pub response_grfs: u8,
    /// True if the thread ends.
    pub eot: bool,
}

/// Message fields of a send, independent of where the platform encodes them: in the mnemonic, in
/// fields of the instruction or in the descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SendBits {
    /// Shared function that receives it.
    pub sfid: Sfid,
    /// Bits of the extended descriptor. The fields of shared function, EOT and length of source 1
    /// are 0.
    pub ex: u32,
    /// Descriptor.
    pub desc: u32,
    /// Length of source 1 in GRFs.
    pub src1_len: u8,
    /// True if the thread ends.
    pub eot: bool,
}

impl SendBits {
    /// Extracts the fields of a pair of descriptors that hold all of them, as before Xe.
    pub const fn of_descs(ex: u32, desc: u32) -> SendBits {
        SendBits {
            sfid: Sfid::of_ex_desc(ex),
            ex: ex & 0xffff_f000,
            desc,
            src1_len: (ex >> 6 & 15) as u8,
            eot: ex >> 5 & 1 == 1,
        }
    }

    /// Extracts the fields of a send from the instruction and the values of its descriptors. The
    /// values are those in the instruction if it has immediate descriptors.
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
        let ex_len = if traits(platform).src1_len_in_ex || own.is_none() {
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

    /// Returns the extended descriptor as the platform's instruction holds it in an immediate. It
    /// includes the fields that are not in the mnemonic, the options or a field of the instruction.
    pub fn ex_desc(&self, platform: Platform) -> u32 {
        let t = traits(platform);
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

/// Error in reading or writing descriptors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MessageError {
    /// The platform has no such message.
    #[error("{platform} has no {what} message")]
    Unsupported {
        /// The platform.
        platform: Platform,
        /// Description of the message.
        what: String,
    },
    /// A field of the descriptor has a reserved value.
    #[error("{message}: field {field} has the reserved value {value}")]
    Reserved {
        /// The message.
        message: &'static str,
        /// The field and its bits.
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

/// Describes a descriptor: the meaning of each field, a summary line, and errors. `exec` is the
/// number of channels of the instruction. `ex` is the extended descriptor, or the sub-register of
/// a0 that holds it.
pub fn describe(
    platform: Platform,
    sfid: Sfid,
    exec: u32,
    ex: Result<u32, u16>,
    desc: u32,
) -> Description {
    let ex = match ex {
        Ok(v) => describe::ExDesc::Imm(v),
        Err(a) => describe::ExDesc::Reg(a),
    };
    describe::describe(&traits(platform), Some(sfid), exec, ex, desc, true)
}

impl Message {
    /// Creates a message with the payload lengths that its operation needs.
    ///
    /// Addresses and data are in one payload. There is a header only if the operation requires one.
    /// Lengths that exceed their field are kept, and [`Self::descs`] reports them.
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

    /// Creates a message for a split send: header and addresses in source 0, data in source 1.
    pub fn split(platform: Platform, op: MsgOp) -> Message {
        Message::split_of(op, op.lengths(platform))
    }

    /// Creates a message for a split send of an instruction with `exec` channels. `exec` matters
    /// for messages that do not encode the number of channels.
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

    /// Decodes the message fields of a send. Messages of an unknown kind become [`MsgOp::Raw`].
    ///
    /// # Errors
    /// Returns an error if a field of a known message has a reserved value.
    pub fn read(platform: Platform, send: &SendBits) -> Result<Message, MessageError> {
        codec::decode(platform, send)
    }

    /// Encodes the message to the message fields of a send.
    ///
    /// # Errors
    /// Returns an error if the platform has no such message, or a value does not fit its field.
    pub fn bits(&self, platform: Platform) -> Result<SendBits, MessageError> {
        codec::encode(platform, self)
    }

    /// Decodes a pair of descriptors, with shared function, length of source 1 and EOT in the
    /// extended descriptor. Sends of Xe hold these elsewhere: see [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn decode(platform: Platform, ex: u32, desc: u32) -> Result<Message, MessageError> {
        codec::decode(platform, &SendBits::of_descs(ex, desc))
    }

    /// Encodes the message to a pair of descriptors, extended descriptor first, for sends that hold
    /// all fields there: see [`Self::bits`].
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn descs(&self, platform: Platform) -> Result<(u32, u32), MessageError> {
        let s = self.bits(platform)?;
        let eot = u32::from(s.eot) << 5;
        let len = u32::from(s.src1_len) << 6;
        Ok((s.ex | len | eot | u32::from(s.sfid.number()), s.desc))
    }

    /// Shared function that receives it.
    pub fn sfid(&self) -> Sfid {
        self.op.sfid()
    }
}
