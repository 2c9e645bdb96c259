//! Writers of messages: the operations, the codec of descriptors, and the rows of listings.

mod codec;
mod listing;
mod op;

pub use codec::message_codec;
pub use listing::message_listing;
pub use op::message_ops;

use crate::messages::field::Field;

/// Formats a Rust expression of a field's bits.
fn bits(f: &Field) -> String {
    let mut shift: u8 = f.parts.iter().map(|(_, len)| len).sum();
    let parts: Vec<String> = f
        .parts
        .iter()
        .map(|(lo, len)| {
            shift -= len;
            match shift {
                0 => format!("bits(w, {lo}, {len})"),
                n => format!("bits(w, {lo}, {len}) << {n}"),
            }
        })
        .collect();
    parts.join(" | ")
}
