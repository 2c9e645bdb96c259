//! Images as surfaces: addresses of texels, and conversion between their bytes and a kernel's
//! values.

use super::memory::Block;
use crate::image::{ChannelOrder, ChannelType, Image, ImageDesc, ImageFormat, ImageType};
use crate::packed;
use half::f16;
use std::sync::Arc;

/// Four components as registers hold them: the bits of floats, or integers.
pub(super) type Texel = [u32; 4];

/// Image that a surface state describes.
#[derive(Clone)]
pub(super) struct SimImage {
    pub(super) block: Arc<Block>,
    pub(super) desc: ImageDesc,
    pub(super) format: ImageFormat,
    /// Texels along each coordinate. Layers are along an array's last one.
    pub(super) extent: [u32; 3],
    /// Byte offsets of the image's first texel in the block, and behind its last one.
    range: [u64; 2],
    /// Byte offsets of the levels of detail in the block.
    levels: Arc<[u64]>,
    /// Byte offset of the level of detail in the block.
    base: u64,
}

impl SimImage {
    /// Creates an image or a view whose texels begin at an offset of a block.
    pub(super) fn new(image: &Image, at: usize, block: Arc<Block>) -> SimImage {
        let (d, at) = (image.desc(), at as u64);
        let levels = (0..d.levels()).map(|level| at + image.level_offset(level));
        let range = image.range().map(|n| at + n);
        SimImage {
            block,
            desc: d,
            format: image.format(),
            extent: extent(d, 0),
            range,
            levels: levels.collect(),
            base: range[0],
        }
    }

    /// Returns the byte offset of the image in its block, and its length in bytes. Texels of other
    /// layers may be between its own.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let [start, end] = self.range;
        (start, end - start)
    }

    /// Returns a level of detail as an image; `None` where there is none.
    pub(super) fn level(&self, level: u32) -> Option<SimImage> {
        let base = *self.levels.get(level as usize)?;
        Some(SimImage {
            extent: extent(self.desc, level),
            base,
            ..self.clone()
        })
    }

    /// Returns the byte offset of a texel; `None` outside the image. Coordinates that the type does
    /// not have are 0.
    #[inline]
    pub(super) fn at(&self, [x, y, z]: [i64; 3]) -> Option<u64> {
        let [w, h, d] = self.extent.map(i64::from);
        let inside = (0..w).contains(&x) && (0..h).contains(&y) && (0..d).contains(&z);
        let slice = i64::from(self.desc.samples()) * z;
        inside.then(|| {
            self.base + ((slice * h + y) * w + x) as u64 * u64::from(self.format.texel_bytes())
        })
    }

    /// Loads and converts a sample of a texel.
    pub(super) fn load_sample(&self, place: [i64; 3], sample: u32) -> Texel {
        let [w, h, _] = self.extent.map(u64::from);
        match self.at(place) {
            Some(at) if sample < self.desc.samples() => {
                let picture = w * h * u64::from(self.format.texel_bytes());
                load(&self.block, at + u64::from(sample) * picture, self.format)
            }
            _ => self.border(),
        }
    }

    /// Loads and converts a texel. Outside the image it is the border color.
    #[inline]
    pub(super) fn load(&self, place: [i64; 3]) -> Texel {
        match self.at(place) {
            Some(at) => load(&self.block, at, self.format),
            None => self.border(),
        }
    }

    /// Converts and stores a texel. Outside the image nothing happens.
    pub(super) fn store(&self, place: [i64; 3], texel: Texel) {
        if let Some(at) = self.at(place) {
            store(&self.block, at, self.format, texel);
        }
    }

    /// Returns the border color: zeros, with alpha 1 where the format has none (OpenCL C
    /// 6.15.15.1.4).
    pub(super) fn border(&self) -> Texel {
        arrange(
            self.format.order(),
            [0; 4],
            one(self.format.channel().is_integer()),
        )
    }
}

/// Returns the texels of a level of detail along each coordinate.
fn extent(d: ImageDesc, level: u32) -> [u32; 3] {
    let [width, height, depth] = d.level(level);
    match d.ty() {
        ImageType::D1 | ImageType::D1Buffer => [width, 1, 1],
        ImageType::D1Array => [width, d.layers(), 1],
        ImageType::D2 | ImageType::D2Msaa => [width, height, 1],
        ImageType::D2Array | ImageType::D2ArrayMsaa | ImageType::Cube | ImageType::CubeArray => {
            [width, height, d.layers()]
        }
        ImageType::D3 => [width, height, depth],
    }
}

/// Returns the component 1.
fn one(integer: bool) -> u32 {
    if integer { 1 } else { 1f32.to_bits() }
}

/// Arranges components from memory order as red, green, blue, alpha.
fn arrange(order: ChannelOrder, [a, b, c, d]: Texel, one: u32) -> Texel {
    match order {
        ChannelOrder::R | ChannelOrder::Depth => [a, 0, 0, one],
        ChannelOrder::A => [0, 0, 0, a],
        ChannelOrder::Rg => [a, b, 0, one],
        ChannelOrder::Rgb => [a, b, c, one],
        ChannelOrder::Rgba | ChannelOrder::Srgba => [a, b, c, d],
        ChannelOrder::Bgra | ChannelOrder::Sbgra => [c, b, a, d],
        ChannelOrder::Intensity => [a; 4],
        ChannelOrder::Luminance => [a, a, a, one],
    }
}

fn load(block: &Block, at: u64, format: ImageFormat) -> Texel {
    let (order, channel) = (format.order(), format.channel());
    let n = order.components();
    let bytes = channel.bytes();
    if channel.is_packed() {
        return packed::unpack(channel, block.load(at, u64::from(bytes)) as u32);
    }
    let mut raw = [0; 4];
    for (i, r) in raw.iter_mut().enumerate().take(n as usize) {
        let bits = block.load(at + i as u64 * u64::from(bytes), u64::from(bytes));
        *r = decode(channel, bits as u32);
    }
    let mut texel = arrange(order, raw, one(channel.is_integer()));
    if order.is_srgb() {
        for c in texel.iter_mut().take(3) {
            *c = linear_of_srgb(f32::from_bits(*c)).to_bits();
        }
    }
    texel
}

fn store(block: &Block, at: u64, format: ImageFormat, texel: Texel) {
    let (order, channel) = (format.order(), format.channel());
    let bytes = channel.bytes();
    if channel.is_packed() {
        let word = packed::pack(channel, texel);
        return block.store(at, u64::from(bytes), u64::from(word));
    }
    let [r, g, b, a] = if order.is_srgb() {
        let [r, g, b, a] = texel;
        let encode = |c| srgb_of_linear(f32::from_bits(c)).to_bits();
        [encode(r), encode(g), encode(b), a]
    } else {
        texel
    };
    let memory = match order {
        ChannelOrder::A => [a, 0, 0, 0],
        ChannelOrder::Bgra | ChannelOrder::Sbgra => [b, g, r, a],
        _ => [r, g, b, a],
    };
    for (i, c) in memory
        .into_iter()
        .enumerate()
        .take(order.components() as usize)
    {
        let at = at + i as u64 * u64::from(bytes);
        block.store(at, u64::from(bytes), u64::from(encode(channel, c)));
    }
}

/// Converts a component's bits in memory, zero-extended, to a register's. Normalized ones are
/// multiplied by the reciprocal, which is within the 1.5 ULP that OpenCL allows (OpenCL C 8.3.1).
fn decode(channel: ChannelType, bits: u32) -> u32 {
    let float = match channel {
        ChannelType::UnormInt8 => bits as f32 * (1.0 / 255.0),
        ChannelType::UnormInt16 => bits as f32 * (1.0 / 65535.0),
        ChannelType::SnormInt8 => (f32::from(bits as i8) * (1.0 / 127.0)).max(-1.0),
        ChannelType::SnormInt16 => (f32::from(bits as i16) * (1.0 / 32767.0)).max(-1.0),
        ChannelType::HalfFloat => f16::from_bits(bits as u16).to_f32(),
        ChannelType::SignedInt8 => return i32::from(bits as i8) as u32,
        ChannelType::SignedInt16 => return i32::from(bits as i16) as u32,
        ChannelType::UnsignedInt8
        | ChannelType::UnsignedInt16
        | ChannelType::SignedInt32
        | ChannelType::UnsignedInt32
        | ChannelType::Float
        // A texel is one component then.
        | ChannelType::UnormInt2101010
        | ChannelType::UnsignedInt2101010
        | ChannelType::Float101111
        | ChannelType::Float5999 => return bits,
    };
    float.to_bits()
}

/// Converts a component in a register to its bits in memory. Floats are rounded to the nearest
/// (ties to even), and everything is clamped to the range of the format. A NaN becomes 0 where the
/// format has none (OpenCL C 8.3.1).
fn encode(channel: ChannelType, v: u32) -> u32 {
    let scaled = |by: f32| (f32::from_bits(v) * by).round_ties_even();
    match channel {
        ChannelType::UnormInt8 => u32::from(scaled(255.0) as u8),
        ChannelType::UnormInt16 => u32::from(scaled(65535.0) as u16),
        ChannelType::SnormInt8 => scaled(127.0) as i8 as u32,
        ChannelType::SnormInt16 => scaled(32767.0) as i16 as u32,
        ChannelType::HalfFloat => u32::from(f16::from_f32(f32::from_bits(v)).to_bits()),
        ChannelType::SignedInt8 => (v as i32).clamp(-128, 127) as u32,
        ChannelType::SignedInt16 => (v as i32).clamp(-32768, 32767) as u32,
        ChannelType::UnsignedInt8 => v.min(255),
        ChannelType::UnsignedInt16 => v.min(65535),
        ChannelType::SignedInt32
        | ChannelType::UnsignedInt32
        | ChannelType::Float
        | ChannelType::UnormInt2101010
        | ChannelType::UnsignedInt2101010
        | ChannelType::Float101111
        | ChannelType::Float5999 => v,
    }
}

/// Returns the linear light of an sRGB component (OpenCL 8.4).
fn linear_of_srgb(c: f32) -> f32 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// Returns the sRGB component of linear light.
fn srgb_of_linear(c: f32) -> f32 {
    if c.is_nan() || c <= 0.0 {
        0.0
    } else if c < 0.003_130_8 {
        c * 12.92
    } else if c < 1.0 {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(channel: ChannelType, v: u32) -> u32 {
        decode(channel, encode(channel, v) & mask(channel))
    }

    fn mask(channel: ChannelType) -> u32 {
        u32::MAX >> (32 - channel.bytes() * 8)
    }

    #[test]
    fn every_stored_value_comes_back() {
        for channel in ChannelType::ALL.into_iter().filter(|c| !c.is_packed()) {
            for bits in (0..0x1_0000u32).chain([0x8000_0000, 0x7fff_ffff, 0xdead_beef]) {
                let bits = bits & mask(channel);
                let v = decode(channel, bits);
                if f32::from_bits(v).is_nan() && !channel.is_integer() {
                    continue;
                }
                assert_eq!(round(channel, v), v, "{channel:?} {bits:#x}");
            }
        }
    }

    #[test]
    fn values_are_clamped() {
        let f = |channel, v: f32| f32::from_bits(round(channel, v.to_bits()));
        assert_eq!(f(ChannelType::UnormInt8, 7.0), 1.0);
        assert_eq!(f(ChannelType::UnormInt16, -0.5), 0.0);
        assert_eq!(f(ChannelType::UnormInt8, f32::NAN), 0.0);
        assert_eq!(f(ChannelType::SnormInt8, -3.0), -1.0);
        // 127.5 and 126.5 round to even.
        assert_eq!(encode(ChannelType::UnormInt8, 0.5f32.to_bits()), 128);
        assert_eq!(
            round(ChannelType::SignedInt8, (-300i32) as u32),
            -128i32 as u32
        );
        assert_eq!(round(ChannelType::UnsignedInt16, 70000), 65535);
    }

    #[test]
    fn srgb_is_inverted() {
        for i in 0..=255u32 {
            let linear = linear_of_srgb(i as f32 / 255.0);
            let back = encode(ChannelType::UnormInt8, srgb_of_linear(linear).to_bits());
            assert_eq!(back, i);
        }
    }
}
