//! Payloads of several rows (parameters, coordinates, components) that may be split between the two sources of a send at
//! any row.

use super::plan::SendOp;
use gantry_isa_gen::message::Message;

/// A payload without its header, as one run of bytes.
pub(super) struct Rows {
    /// Byte offsets in the register file and sizes of its parts.
    parts: [(u32, u32); 2],
}

impl Rows {
    /// The payload of a message whose registers have so many bytes.
    pub(super) fn new(s: &SendOp, message: &Message, grf: u32) -> Rows {
        let header = u32::from(message.header).min(u32::from(message.src0_grfs));
        let first = u32::from(message.src0_grfs) - header;
        Rows {
            parts: [
                (s.src0 + header * grf, first * grf),
                (s.src1, u32::from(message.src1_grfs) * grf),
            ],
        }
    }

    /// Bytes in all.
    pub(super) fn bytes(&self) -> u32 {
        self.parts[0].1 + self.parts[1].1
    }

    /// Where `n` bytes from byte `at` of the payload on lie in the register file; `None` if not in one of its parts.
    pub(super) fn find(&self, at: u32, n: u32) -> Option<u32> {
        let [(first, size), (second, rest)] = self.parts;
        if at + n <= size {
            return Some(first + at);
        }
        let at = at.checked_sub(size)?;
        (at + n <= rest).then_some(second + at)
    }
}
