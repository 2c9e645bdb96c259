//! Codec of [`Message`] and descriptors, with a file per family. Decoding and encoding of each
//! field are side by side.

mod hdc;
mod lsc;
mod other;

use super::lsc::LscPort;
use super::{Message, MessageError, MsgOp, SendBits, Sfid};
use crate::platform::Platform;
use crate::sfid::traits::{SendTraits, traits};

/// Descriptor bits that are specific to a shared function: all but the lengths and bit 19, which is
/// the header bit of most functions.
const OWN: u32 = 0xe007_ffff;
const HEADER: u32 = 1 << 19;

/// Returns bits `lo + len - 1 : lo`.
fn bits(v: u32, lo: u32, len: u32) -> u32 {
    (v >> lo) & ((1 << len) - 1)
}

/// Shifts a value to its field, checked to fit.
fn put(
    message: &'static str,
    field: &'static str,
    value: u64,
    lo: u32,
    len: u32,
) -> Result<u32, MessageError> {
    if value >= 1 << len {
        return Err(MessageError::Range {
            message,
            field,
            value,
        });
    }
    Ok((value as u32) << lo)
}

fn reserved<T>(message: &'static str, field: &'static str, value: u32) -> Result<T, MessageError> {
    Err(MessageError::Reserved {
        message,
        field,
        value,
    })
}

fn unsupported<T>(platform: Platform, what: String) -> Result<T, MessageError> {
    Err(MessageError::Unsupported { platform, what })
}

/// Returns the port of the load/store cache with this shared function, if the platform has it.
fn lsc_port(t: &SendTraits, sfid: Sfid) -> Option<LscPort> {
    LscPort::of_sfid(sfid).filter(|_| t.lsc)
}

pub(super) fn decode(platform: Platform, s: &SendBits) -> Result<Message, MessageError> {
    let t = traits(platform);
    let (desc, port) = (s.desc, lsc_port(&t, s.sfid));
    let op = match (s.sfid, port) {
        (_, Some(port)) => lsc::decode(port, s.ex, desc)?,
        (Sfid::DATA_CACHE_0 | Sfid::DATA_CACHE_1 | Sfid::CONSTANT_CACHE, _) => {
            hdc::decode(platform, s.sfid, desc)?
        }
        _ => other::decode(platform, &t, s.sfid, desc)?,
    };
    let own = if port.is_some() { OWN | HEADER } else { OWN };
    Ok(Message {
        op: op.unwrap_or(MsgOp::Raw {
            sfid: s.sfid,
            control: u64::from(desc & own) | u64::from(s.ex) << 32,
        }),
        header: port.is_none() && desc & HEADER != 0,
        src0_grfs: bits(desc, 25, 4) as u8,
        src1_grfs: s.src1_len,
        response_grfs: bits(desc, 20, 5) as u8,
        eot: s.eot,
    })
}

pub(super) fn encode(platform: Platform, m: &Message) -> Result<SendBits, MessageError> {
    let what = "send";
    let t = traits(platform);
    let port = lsc_port(&t, m.sfid());
    let (control, ex) = match m.op {
        MsgOp::Raw { control, .. } => (control as u32 & (OWN | HEADER), (control >> 32) as u32),
        MsgOp::Lsc(_)
        | MsgOp::LscBlock2d { .. }
        | MsgOp::LscFence { .. }
        | MsgOp::LscCcs { .. }
        | MsgOp::LscReadState { .. } => lsc::encode(platform, &t, &m.op)?,
        MsgOp::Barrier
        | MsgOp::ThreadEnd { .. }
        | MsgOp::Gateway(_)
        | MsgOp::Sample(_)
        | MsgOp::Urb(_)
        | MsgOp::Render { .. }
        | MsgOp::TraceRay(_)
        | MsgOp::Spawn(_) => (other::encode(platform, &t, &m.op)?, 0),
        _ => (hdc::encode(platform, &m.op)?, 0),
    };
    if m.header && port.is_some() {
        return Err(MessageError::Range {
            message: what,
            field: "header",
            value: 1,
        });
    }
    let len = if t.sfid_in_ex { 4 } else { 5 };
    put(what, "source 1 length", u64::from(m.src1_grfs), 0, len)?;
    Ok(SendBits {
        sfid: m.sfid(),
        ex,
        desc: put(what, "source 0 length", u64::from(m.src0_grfs), 25, 4)?
            | put(what, "response length", u64::from(m.response_grfs), 20, 5)?
            | if m.header { HEADER } else { 0 }
            | control,
        src1_len: m.src1_grfs,
        eot: m.eot,
    })
}
