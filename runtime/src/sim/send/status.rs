//! Load status: whether memory is where each channel would read.
//!
//! A bit for each channel in the first dword of the response, set where all elements of its vector are there
//! (`documentation/visa/instructions/LSC_UNTYPED.md` of Intel's compiler, which asks for pages of tiled resources; here a
//! buffer's memory is there and nothing else is).

use super::super::thread::Thread;
use super::Payload;
use super::scatter::{AddressForm, channels};
use super::window::Window;
use gantry_isa_gen::sem;

/// A load status message.
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
