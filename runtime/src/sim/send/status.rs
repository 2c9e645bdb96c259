//! Load status: a test if each channel's memory is resident.
//!
//! The first dword of the response has a bit for each channel, set if all elements of its vector
//! are resident. Intel's compiler documents it for pages of tiled resources
//! (`documentation/visa/instructions/LSC_UNTYPED.md`). Here exactly the memory of buffers is
//! resident.

use super::super::thread::Thread;
use super::Payload;
use super::scatter::{AddressForm, channels};
use super::window::Window;
use gantry_isa_gen::sem;

/// Load status message.
pub(super) struct Status {
    pub(super) channels: u32,
    pub(super) addresses: AddressForm,
    /// Bytes that a channel would read.
    pub(super) bytes: u32,
}

impl Status {
    pub(super) fn run(&self, t: &mut Thread, window: &Window<'_>, p: &Payload, mask: u32) {
        let mask = mask & sem::mask(self.channels as usize);
        let mut addresses = [0; 32];
        self.addresses
            .read(&t.regs, p.address, self.channels, &mut addresses);
        let there = |i: &u32| {
            let at = addresses.get(*i as usize).copied().unwrap_or(0);
            let found = window.at(at, u64::from(self.bytes), None, "a status");
            matches!(found, Ok(Some(_)))
        };
        let bits = channels(mask).filter(there).fold(0, |m, i| m | 1 << i);
        if let Some(dst) = p.response {
            t.regs.set_u32(dst, bits);
        }
    }
}
