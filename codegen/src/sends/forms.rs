//! What differs between platforms in how memory is reached: how many channels one message takes, and whether data travels apart from addresses.

use crate::target::Target;

/// The most channels of a scattered message with 64-bit addresses. Before split sends a message of 16 would not leave room for the data
/// beside the addresses (Intel's compiler takes 8 on Gen8).
pub(super) fn a64_channels(target: &Target) -> u32 {
    if splits(target) { 16 } else { 8 }
}

/// Whether a send takes two payloads, addresses in the one and data in the other.
pub(super) fn splits(target: &Target) -> bool {
    target.features().split_send
}
