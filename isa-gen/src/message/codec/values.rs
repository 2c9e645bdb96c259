//! Kinds of fields, in both directions, and errors about them.

use crate::message::params::{AddrModel, Rgba, Simd, Surface};
use crate::message::{MessageError, MsgOp};
use crate::platform::Platform;
use crate::sfid::traits::traits;

/// Returns bits `lo + len - 1 : lo`.
#[inline]
pub(super) fn bits(w: u64, lo: u32, len: u32) -> u32 {
    (w >> lo) as u32 & ((1 << len) - 1)
}

/// Returns a value of a field of `len` bits, checked to fit.
pub(super) fn fit(
    message: &'static str,
    field: &'static str,
    value: u64,
    len: u32,
) -> Result<u32, MessageError> {
    if value >= 1 << len {
        return range(message, field, value);
    }
    Ok(value as u32)
}

pub(super) fn range<T>(
    message: &'static str,
    field: &'static str,
    value: u64,
) -> Result<T, MessageError> {
    Err(MessageError::Range {
        message,
        field,
        value,
    })
}

pub(super) fn reserved<T>(
    message: &'static str,
    field: &'static str,
    value: u32,
) -> Result<T, MessageError> {
    Err(MessageError::Reserved {
        message,
        field,
        value,
    })
}

pub(super) fn unsupported<T>(platform: Platform, what: String) -> Result<T, MessageError> {
    Err(MessageError::Unsupported { platform, what })
}

/// Returns log2 of a count of 1, 2, 4 or 8.
pub(super) fn log2_count(
    message: &'static str,
    field: &'static str,
    count: u8,
    max: u32,
) -> Result<u32, MessageError> {
    if count.is_power_of_two() && count.trailing_zeros() <= max {
        Ok(count.trailing_zeros())
    } else {
        range(message, field, u64::from(count))
    }
}

/// SIMD modes of a platform: half of the channels of a full message, or all.
#[derive(Clone, Copy)]
pub(super) struct SimdModes {
    pub(super) small: Simd,
    pub(super) full: Simd,
}

impl SimdModes {
    pub(super) fn of(platform: Platform) -> SimdModes {
        if traits(platform).full_exec == 32 {
            SimdModes {
                small: Simd::S16,
                full: Simd::S32,
            }
        } else {
            SimdModes {
                small: Simd::S8,
                full: Simd::S16,
            }
        }
    }

    /// Decodes MDC_SM2 (1 is the full mode).
    pub(super) fn simd2(self, bit: u32) -> Simd {
        if bit == 0 { self.small } else { self.full }
    }

    /// Encodes a mode of a message as a bit, 1 for the full mode.
    pub(super) fn bit(
        self,
        platform: Platform,
        message: &MsgOp,
        simd: Simd,
    ) -> Result<u32, MessageError> {
        match simd {
            s if s == self.full => Ok(1),
            s if s == self.small => Ok(0),
            _ => unsupported(platform, message.to_string()),
        }
    }
}

/// Returns the enabled components of a mask of disabled ones.
pub(super) fn components(
    message: &'static str,
    field: &'static str,
    off: u32,
) -> Result<Rgba, MessageError> {
    match Rgba::new(!off as u8 & 0xf) {
        Some(rgba) => Ok(rgba),
        None => reserved(message, field, off),
    }
}

/// Decodes the surface of a message with 64-bit addresses.
pub(super) fn stateless(bits: u32) -> Result<Surface, MessageError> {
    match Surface::from_bits(bits as u8) {
        s if s.is_stateless() => Ok(s),
        _ => reserved("A64", "binding table index 7:0", bits),
    }
}

/// Encodes the binding table index field, or returns an error if it would be decoded as something
/// else.
pub(super) fn surface_bits(addr: AddrModel) -> Result<u32, MessageError> {
    let s = addr.surface();
    let wrong = match addr {
        AddrModel::A32(_) => matches!(s, Surface::Bti(253..)),
        AddrModel::A64(_) => !s.is_stateless(),
    };
    if wrong {
        return range("data port", "binding table index", u64::from(s.bits()));
    }
    Ok(u32::from(s.bits()))
}
