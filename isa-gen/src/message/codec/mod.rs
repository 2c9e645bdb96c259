//! Codec of [`Message`] and descriptors. Decoders and encoders of each port are generated from the
//! rows of `gantry_meta::messages` (`rows`). They call functions of `values` for the kinds of
//! fields, and hand-written rules of `lsc` and `other`.

mod lsc;
mod other;
mod rows;
mod values;

use super::lsc::LscPort;
use super::{Message, MessageError, MsgOp, SendBits, Sfid};
use crate::platform::Platform;
use crate::sfid::traits::{SendTraits, traits};

/// Descriptor bits that are specific to a shared function: all but the lengths and bit 19, which is
/// the header bit of most functions.
const OWN: u32 = 0xe007_ffff;
const HEADER: u32 = 1 << 19;

/// Returns the port of the load/store cache with this shared function, if the platform has it.
fn lsc_port(t: &SendTraits, sfid: Sfid) -> Option<LscPort> {
    LscPort::of_sfid(sfid).filter(|_| t.lsc)
}

pub(super) fn decode(platform: Platform, s: &SendBits) -> Result<Message, MessageError> {
    let (desc, port) = (s.desc, lsc_port(&traits(platform), s.sfid));
    let bits = u64::from(desc) | u64::from(s.ex) << 32;
    let own = if port.is_some() { OWN | HEADER } else { OWN };
    Ok(Message {
        op: rows::decode_op(platform, s.sfid, bits)?.unwrap_or(MsgOp::Raw {
            sfid: s.sfid,
            control: u64::from(desc & own) | u64::from(s.ex) << 32,
        }),
        header: port.is_none() && desc & HEADER != 0,
        src0_grfs: values::bits(bits, 25, 4) as u8,
        src1_grfs: s.src1_len,
        response_grfs: values::bits(bits, 20, 5) as u8,
        eot: s.eot,
    })
}

pub(super) fn encode(platform: Platform, m: &Message) -> Result<SendBits, MessageError> {
    let what = "send";
    let t = traits(platform);
    let control = rows::encode_op(platform, &m.op)?;
    if m.header && lsc_port(&t, m.sfid()).is_some() {
        return values::range(what, "header", 1);
    }
    let length = |field, n: u8, len| values::fit(what, field, u64::from(n), len);
    length(
        "source 1 length",
        m.src1_grfs,
        if t.sfid_in_ex { 4 } else { 5 },
    )?;
    Ok(SendBits {
        sfid: m.sfid(),
        ex: (control >> 32) as u32,
        desc: length("source 0 length", m.src0_grfs, 4)? << 25
            | length("response length", m.response_grfs, 5)? << 20
            | if m.header { HEADER } else { 0 }
            | control as u32 & (OWN | HEADER),
        src1_len: m.src1_grfs,
        eot: m.eot,
    })
}
