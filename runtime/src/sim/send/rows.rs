//! Payloads of several rows (parameters, coordinates, components), which may be split between the
//! two sources of a send at any row.

use super::plan::SendOp;
use gantry_isa_gen::message::Message;

/// Payload without its header, as one range of bytes.
pub(super) struct PayloadRows {
    /// Byte offsets in the GRF file and lengths of its parts.
    parts: [(u32, u32); 2],
}

impl PayloadRows {
    /// Creates the payload of a message, for GRFs of `grf` bytes.
    pub(super) fn new(s: &SendOp, message: &Message, grf: u32) -> PayloadRows {
        let header = u32::from(message.header).min(u32::from(message.src0_grfs));
        let first = u32::from(message.src0_grfs) - header;
        PayloadRows {
            parts: [
                (s.src0 + header * grf, first * grf),
                (s.src1, u32::from(message.src1_grfs) * grf),
            ],
        }
    }

    /// Returns the length in bytes.
    pub(super) fn bytes(&self) -> u32 {
        self.parts[0].1 + self.parts[1].1
    }

    /// Returns the GRF file offset of `n` bytes from byte `at` of the payload on; `None` if
    /// they are not in one of its parts.
    pub(super) fn find(&self, at: u32, n: u32) -> Option<u32> {
        let [(first, size), (second, rest)] = self.parts;
        if at + n <= size {
            return Some(first + at);
        }
        let at = at.checked_sub(size)?;
        (at + n <= rest).then_some(second + at)
    }
}
