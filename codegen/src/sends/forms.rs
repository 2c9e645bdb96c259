//! What differs between platforms in how memory is reached: how many channels one message takes, whether data travels apart from addresses, which
//! fences order what.

use crate::target::Target;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::AddrModel;

/// The most channels of a scattered message. With 64-bit addresses, before split sends, a message of 16 would not leave room for the data
/// beside the addresses (Intel's compiler takes 8 on Gen8).
pub(super) fn channels(target: &Target, addr: AddrModel) -> u32 {
    if addr.is_a64() && !splits(target) {
        8
    } else {
        16
    }
}

/// The most channels of an atomic (PRM, data port 1: A64 atomics are SIMD8).
pub(super) fn atomic_channels(addr: AddrModel) -> u32 {
    if addr.is_a64() { 8 } else { 16 }
}

/// Whether messages of the sampler have a header: on Gen9 alone Intel's compiler gives them one.
pub(super) fn sampler_header(target: &Target) -> bool {
    matches!(target.platform(), Platform::Gen9 | Platform::Gen9Lp)
}

/// Whether the sampler has messages for level 0 of their own. Without them the level is a parameter, which for loads stands behind the first
/// coordinate.
pub(super) fn level_zero(target: &Target) -> bool {
    splits(target)
}

/// Whether loads of samples take 64 bits of where those are; else 32.
pub(super) fn wide_samples(target: &Target) -> bool {
    splits(target)
}

/// Whether typed messages have a header, whose last dword says which slots count.
pub(super) fn typed_header(target: &Target) -> bool {
    !splits(target)
}

/// Whether a send takes two payloads, addresses in the one and data in the other.
pub(super) fn splits(target: &Target) -> bool {
    let f = target.features();
    f.split_send || f.unified_send
}

/// The caches that a fence of global memory flushes: bits of the descriptor (what Intel's compiler asks for).
pub(super) fn global_flush(target: &Target) -> u8 {
    u8::from(!target.features().slm_in_l3)
}
