//! Texels that are one dword: conversion from and to the four components of a kernel.

use crate::image::{ChannelType, ImageFormat};
use half::f16;

/// Bits of the components of `UNORM_INT_2_101010`, from the lowest on.
const TENS: [u32; 4] = [10, 10, 10, 2];
/// Bits of the components of `FLOAT_10_11_11`.
const FLOATS: [u32; 3] = [11, 11, 10];
/// Bits of the exponent and before the point of `FLOAT_5_999`, together. A component is a whole
/// number by two to the power of the exponent less this.
const SHARED_BIAS: i32 = 15 + 9;
/// Greatest value of `FLOAT_5_999`.
const SHARED_MAX: f32 = 65408.0;

impl ImageFormat {
    /// Returns the dword of a packed texel, by its components as floats. `None` if the format has
    /// none.
    pub fn packed(self, components: [f32; 4]) -> Option<u32> {
        let texel = if self.channel().is_integer() {
            components.map(|v| v as u32)
        } else {
            components.map(f32::to_bits)
        };
        let packed = self.channel().is_packed();
        packed.then(|| pack(self.channel(), texel))
    }
}

/// Splits a dword into fields.
fn fields<const N: usize>(word: u32, bits: [u32; N]) -> [u32; N] {
    let mut at = 0;
    bits.map(|n| {
        let field = word >> at & ((1 << n) - 1);
        at += n;
        field
    })
}

/// Joins fields to a dword.
fn joined<const N: usize>(fields: [u32; N], bits: [u32; N]) -> u32 {
    let mut at = 0;
    let parts = fields.into_iter().zip(bits);
    parts.fold(0, |word, (field, n)| {
        let word = word | field << at;
        at += n;
        word
    })
}

/// Converts a dword to red, green, blue and alpha as registers hold them.
pub(crate) fn unpack(channel: ChannelType, word: u32) -> [u32; 4] {
    let one = 1f32.to_bits();
    match channel {
        ChannelType::UnormInt2101010 => {
            let [r, g, b, a] = fields(word, TENS);
            let part = |v: u32, most: f32| (v as f32 * (1.0 / most)).to_bits();
            [
                part(r, 1023.0),
                part(g, 1023.0),
                part(b, 1023.0),
                part(a, 3.0),
            ]
        }
        ChannelType::Float101111 => {
            let [r, g, b] = fields(word, FLOATS);
            // A half without its sign and lowest bits.
            let single = |half: u32| f16::from_bits(half as u16).to_f32().to_bits();
            [single(r << 4), single(g << 4), single(b << 5), one]
        }
        ChannelType::Float5999 => {
            let [r, g, b, exponent] = fields(word, [9, 9, 9, 5]);
            let scale = (2f32).powi(exponent as i32 - SHARED_BIAS);
            let [r, g, b] = [r, g, b].map(|v| (v as f32 * scale).to_bits());
            [r, g, b, one]
        }
        _ => fields(word, TENS),
    }
}

/// Converts components in registers to a dword: rounded to the nearest even, and clamped to the
/// range of the format. A NaN is 0 where the format has none.
pub(crate) fn pack(channel: ChannelType, texel: [u32; 4]) -> u32 {
    let [r, g, b, a] = texel;
    let floats = texel.map(f32::from_bits);
    match channel {
        ChannelType::UnormInt2101010 => {
            let most = [1023.0, 1023.0, 1023.0, 3.0f32];
            let mut out = [0; 4];
            for ((to, v), most) in out.iter_mut().zip(floats).zip(most) {
                *to = (v.clamp(0.0, 1.0) * most).round_ties_even() as u32;
            }
            joined(out, TENS)
        }
        ChannelType::Float101111 => {
            let [r, g, b, _] = floats;
            let part = |v, cut| small_float(v, cut);
            joined([part(r, 4), part(g, 4), part(b, 5)], FLOATS)
        }
        ChannelType::Float5999 => {
            let [r, g, b, _] = floats.map(|v| v.clamp(0.0, SHARED_MAX));
            shared([r, g, b])
        }
        _ => joined([r.min(1023), g.min(1023), b.min(1023), a.min(3)], TENS),
    }
}

/// Converts to a float of 5 bits of exponent, no sign, and `cut` bits less than a half.
fn small_float(v: f32, cut: u32) -> u32 {
    let half = f16::from_f32(v).to_bits() as i16;
    // What is below 0 is 0, and a NaN stays one.
    let half = u32::from(half.max(0) as u16).min(0x7e00);
    let even = half >> cut & 1;
    (half + (1 << (cut - 1)) - 1 + even) >> cut
}

/// Converts to floats that share an exponent (Vulkan, "Shared Exponent to RGB", inverted).
fn shared(parts: [f32; 3]) -> u32 {
    let most = parts.into_iter().fold(0f32, f32::max);
    let least = (2f32).powi(-16);
    let exponent = most.max(least).log2().floor() as i32 + 16;
    let whole =
        |v: f32, exponent: i32| (v / (2f32).powi(exponent - SHARED_BIAS)).round_ties_even() as u32;
    // Rounding may need one bit more.
    let exponent = exponent + i32::from(whole(most, exponent) > 511);
    let [r, g, b] = parts.map(|v| whole(v, exponent));
    joined([r, g, b, exponent as u32], [9, 9, 9, 5])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ChannelType; 4] = [
        ChannelType::UnormInt2101010,
        ChannelType::UnsignedInt2101010,
        ChannelType::Float101111,
        ChannelType::Float5999,
    ];

    #[test]
    fn every_stored_value_comes_back() {
        for channel in ALL {
            for n in 0..0x4_0000u32 {
                let word = n.wrapping_mul(0x9e37_79b9) ^ n;
                let texel = unpack(channel, word);
                let floats = texel.map(f32::from_bits);
                if !channel.is_integer() && floats.iter().any(|v| v.is_nan()) {
                    continue;
                }
                let again = unpack(channel, pack(channel, texel));
                assert_eq!(again, texel, "{channel:?} {word:#x}");
            }
        }
    }

    #[test]
    fn values_are_rounded_and_clamped() {
        let of = |channel, v: [f32; 4]| pack(channel, v.map(f32::to_bits));
        let unorm = ChannelType::UnormInt2101010;
        assert_eq!(of(unorm, [7.0, -1.0, f32::NAN, 0.5]), 0x8000_03ff);
        assert_eq!(
            pack(ChannelType::UnsignedInt2101010, [2000, 1, 2, 9]),
            0xc020_07ff
        );
        let float = ChannelType::Float101111;
        assert_eq!(of(float, [1.0, -2.0, f32::INFINITY, 0.0]), 0xf800_03c0);
        // Half way between two: the even one.
        let halves = |v: f32| of(float, [v, 0.0, 0.0, 0.0]);
        assert_eq!(
            [1.0 + 1.0 / 128.0, 1.0 + 3.0 / 128.0].map(halves),
            [0x3c0, 0x3c2]
        );
        assert_eq!(halves(1e9), 0x7c0);
        assert!(halves(f32::NAN) > 0x7c0);
        let shared = ChannelType::Float5999;
        let all = unpack(shared, of(shared, [1e9, f32::NAN, -1.0, 0.0]));
        assert_eq!(all.map(f32::from_bits), [65408.0, 0.0, 0.0, 1.0]);
        let all = unpack(shared, of(shared, [1.0, 0.5, 0.25, 0.0]));
        assert_eq!(all.map(f32::from_bits), [1.0, 0.5, 0.25, 1.0]);
        let all = unpack(shared, of(shared, [511.75 / 512.0, 0.0, 0.0, 0.0]));
        assert_eq!(all.map(f32::from_bits), [1.0, 0.0, 0.0, 1.0]);
    }
}
