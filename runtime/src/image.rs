//! Images as the host sees them. Names and numbers are OpenCL's.

use crate::buffer::Buffer;
use crate::error::Error;
pub use crate::sampler::{AddressMode, Compare, FilterMode, Sampler};
use bytemuck::Pod;
use std::fmt;

/// What shape an image has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageType {
    /// One row: `image1d_t`.
    D1,
    /// One row over a buffer's memory: `image1d_buffer_t`.
    D1Buffer,
    /// Rows: `image1d_array_t`.
    D1Array,
    /// Rows and columns: `image2d_t`.
    D2,
    /// Layers of rows and columns: `image2d_array_t`.
    D2Array,
    /// A volume: `image3d_t`.
    D3,
    /// Rows and columns of texels of several samples: `image2d_msaa_t`.
    D2Msaa,
    /// Layers of those: `image2d_array_msaa_t`.
    D2ArrayMsaa,
}

impl ImageType {
    /// Coordinates of a texel, an array's layer among them.
    pub const fn coordinates(self) -> u32 {
        match self {
            ImageType::D1 | ImageType::D1Buffer => 1,
            ImageType::D1Array | ImageType::D2 | ImageType::D2Msaa => 2,
            ImageType::D2Array | ImageType::D3 | ImageType::D2ArrayMsaa => 3,
        }
    }

    /// Whether the last coordinate is a layer.
    pub const fn is_array(self) -> bool {
        matches!(
            self,
            ImageType::D1Array | ImageType::D2Array | ImageType::D2ArrayMsaa
        )
    }

    /// Whether a texel has several samples.
    pub const fn is_msaa(self) -> bool {
        matches!(self, ImageType::D2Msaa | ImageType::D2ArrayMsaa)
    }
}

impl fmt::Display for ImageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageType::D1 => "1D image",
            ImageType::D1Buffer => "1D image of a buffer",
            ImageType::D1Array => "1D image array",
            ImageType::D2 => "2D image",
            ImageType::D2Array => "2D image array",
            ImageType::D3 => "3D image",
            ImageType::D2Msaa => "multi-sampled 2D image",
            ImageType::D2ArrayMsaa => "multi-sampled 2D image array",
        })
    }
}

/// Which components a texel has, in memory order, and what the others read as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelOrder {
    /// Red; reads as (r, 0, 0, 1).
    R,
    /// Alpha; reads as (0, 0, 0, a).
    A,
    /// Red and green; reads as (r, g, 0, 1).
    Rg,
    /// All four.
    Rgba,
    /// All four, blue first in memory.
    Bgra,
    /// One value; reads as (i, i, i, i).
    Intensity,
    /// One value; reads as (l, l, l, 1).
    Luminance,
    /// One value; reads as (d, 0, 0, 1).
    Depth,
    /// All four; red, green and blue are stored in sRGB encoding and read as linear.
    Srgba,
    /// The same, blue first in memory.
    Sbgra,
}

impl ChannelOrder {
    /// Components in memory.
    pub const fn components(self) -> u32 {
        match self {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Depth => 1,
            ChannelOrder::Rg => 2,
            ChannelOrder::Rgba | ChannelOrder::Bgra | ChannelOrder::Srgba | ChannelOrder::Sbgra => {
                4
            }
        }
    }

    /// OpenCL's number (`CL_RGBA` and its like).
    pub const fn number(self) -> u32 {
        match self {
            ChannelOrder::R => 0x10b0,
            ChannelOrder::A => 0x10b1,
            ChannelOrder::Rg => 0x10b2,
            ChannelOrder::Rgba => 0x10b5,
            ChannelOrder::Bgra => 0x10b6,
            ChannelOrder::Intensity => 0x10b8,
            ChannelOrder::Luminance => 0x10b9,
            ChannelOrder::Depth => 0x10bd,
            ChannelOrder::Srgba => 0x10c1,
            ChannelOrder::Sbgra => 0x10c2,
        }
    }

    /// Whether red, green and blue are stored in sRGB encoding.
    pub const fn is_srgb(self) -> bool {
        matches!(self, ChannelOrder::Srgba | ChannelOrder::Sbgra)
    }

    /// The order of OpenCL's name without `CL_`, in either case: `RGBA`, `sRGBA`.
    pub fn from_name(name: &str) -> Option<ChannelOrder> {
        Some(match name.to_ascii_uppercase().as_str() {
            "R" => ChannelOrder::R,
            "A" => ChannelOrder::A,
            "RG" => ChannelOrder::Rg,
            "RGBA" => ChannelOrder::Rgba,
            "BGRA" => ChannelOrder::Bgra,
            "INTENSITY" => ChannelOrder::Intensity,
            "LUMINANCE" => ChannelOrder::Luminance,
            "DEPTH" => ChannelOrder::Depth,
            "SRGBA" => ChannelOrder::Srgba,
            "SBGRA" => ChannelOrder::Sbgra,
            _ => return None,
        })
    }
}

/// How a component is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelType {
    /// 8 bits, -1 to 1.
    SnormInt8,
    /// 16 bits, -1 to 1.
    SnormInt16,
    /// 8 bits, 0 to 1.
    UnormInt8,
    /// 16 bits, 0 to 1.
    UnormInt16,
    /// 8-bit signed integer.
    SignedInt8,
    /// 16-bit signed integer.
    SignedInt16,
    /// 32-bit signed integer.
    SignedInt32,
    /// 8-bit unsigned integer.
    UnsignedInt8,
    /// 16-bit unsigned integer.
    UnsignedInt16,
    /// 32-bit unsigned integer.
    UnsignedInt32,
    /// Half float.
    HalfFloat,
    /// Single float.
    Float,
}

impl ChannelType {
    /// Every type.
    pub const ALL: [ChannelType; 12] = [
        ChannelType::SnormInt8,
        ChannelType::SnormInt16,
        ChannelType::UnormInt8,
        ChannelType::UnormInt16,
        ChannelType::SignedInt8,
        ChannelType::SignedInt16,
        ChannelType::SignedInt32,
        ChannelType::UnsignedInt8,
        ChannelType::UnsignedInt16,
        ChannelType::UnsignedInt32,
        ChannelType::HalfFloat,
        ChannelType::Float,
    ];

    /// Bytes of a component.
    pub const fn bytes(self) -> u32 {
        match self {
            ChannelType::SnormInt8
            | ChannelType::UnormInt8
            | ChannelType::SignedInt8
            | ChannelType::UnsignedInt8 => 1,
            ChannelType::SnormInt16
            | ChannelType::UnormInt16
            | ChannelType::SignedInt16
            | ChannelType::UnsignedInt16
            | ChannelType::HalfFloat => 2,
            ChannelType::SignedInt32 | ChannelType::UnsignedInt32 | ChannelType::Float => 4,
        }
    }

    /// Whether kernels see integers; otherwise floats.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            ChannelType::SignedInt8
                | ChannelType::SignedInt16
                | ChannelType::SignedInt32
                | ChannelType::UnsignedInt8
                | ChannelType::UnsignedInt16
                | ChannelType::UnsignedInt32
        )
    }

    /// OpenCL's number (`CL_UNORM_INT8` and its like).
    pub const fn number(self) -> u32 {
        match self {
            ChannelType::SnormInt8 => 0x10d0,
            ChannelType::SnormInt16 => 0x10d1,
            ChannelType::UnormInt8 => 0x10d2,
            ChannelType::UnormInt16 => 0x10d3,
            ChannelType::SignedInt8 => 0x10d7,
            ChannelType::SignedInt16 => 0x10d8,
            ChannelType::SignedInt32 => 0x10d9,
            ChannelType::UnsignedInt8 => 0x10da,
            ChannelType::UnsignedInt16 => 0x10db,
            ChannelType::UnsignedInt32 => 0x10dc,
            ChannelType::HalfFloat => 0x10dd,
            ChannelType::Float => 0x10de,
        }
    }

    /// OpenCL's name without `CL_`: `UNORM_INT8`.
    pub const fn name(self) -> &'static str {
        match self {
            ChannelType::SnormInt8 => "SNORM_INT8",
            ChannelType::SnormInt16 => "SNORM_INT16",
            ChannelType::UnormInt8 => "UNORM_INT8",
            ChannelType::UnormInt16 => "UNORM_INT16",
            ChannelType::SignedInt8 => "SIGNED_INT8",
            ChannelType::SignedInt16 => "SIGNED_INT16",
            ChannelType::SignedInt32 => "SIGNED_INT32",
            ChannelType::UnsignedInt8 => "UNSIGNED_INT8",
            ChannelType::UnsignedInt16 => "UNSIGNED_INT16",
            ChannelType::UnsignedInt32 => "UNSIGNED_INT32",
            ChannelType::HalfFloat => "HALF_FLOAT",
            ChannelType::Float => "FLOAT",
        }
    }

    /// The type of a name, in either case.
    pub fn from_name(name: &str) -> Option<ChannelType> {
        ChannelType::ALL
            .into_iter()
            .find(|t| t.name().eq_ignore_ascii_case(name))
    }
}

/// What a texel is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageFormat {
    order: ChannelOrder,
    channel: ChannelType,
}

impl ImageFormat {
    /// Four bytes of 0 to 1: what PNG files hold.
    pub const RGBA8: ImageFormat = ImageFormat {
        order: ChannelOrder::Rgba,
        channel: ChannelType::UnormInt8,
    };

    /// A format of these.
    ///
    /// # Errors
    /// The order does not go with the type: the pairs are those of the OpenCL specification (5.3.1.1), of
    /// luminance and intensity with normalized and float types, depth with `UNORM_INT16` and `FLOAT`, BGRA with 8-bit
    /// types, sRGB with `UNORM_INT8`.
    pub fn new(order: ChannelOrder, channel: ChannelType) -> Result<ImageFormat, Error> {
        use ChannelType as T;
        let fits = match order {
            ChannelOrder::R | ChannelOrder::A | ChannelOrder::Rg | ChannelOrder::Rgba => true,
            ChannelOrder::Bgra => channel.bytes() == 1,
            ChannelOrder::Intensity | ChannelOrder::Luminance => !channel.is_integer(),
            ChannelOrder::Depth => matches!(channel, T::UnormInt16 | T::Float),
            ChannelOrder::Srgba | ChannelOrder::Sbgra => channel == T::UnormInt8,
        };
        if fits {
            Ok(ImageFormat { order, channel })
        } else {
            Err(Error::Image(format!(
                "there is no image format of {order:?} with {}",
                channel.name()
            )))
        }
    }

    /// Its components.
    pub const fn order(self) -> ChannelOrder {
        self.order
    }

    /// How each is stored.
    pub const fn channel(self) -> ChannelType {
        self.channel
    }

    /// Bytes of a texel.
    pub const fn texel_bytes(self) -> u32 {
        self.order.components() * self.channel.bytes()
    }
}

/// An image's shape and size in texels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageDesc {
    ty: ImageType,
    width: u32,
    height: u32,
    depth: u32,
    layers: u32,
    samples: u32,
    levels: u32,
}

impl ImageDesc {
    const fn new(ty: ImageType, width: u32, height: u32, depth: u32, layers: u32) -> ImageDesc {
        ImageDesc {
            ty,
            width,
            height,
            depth,
            layers,
            samples: 1,
            levels: 1,
        }
    }

    /// One row.
    pub const fn d1(width: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1, width, 1, 1, 1)
    }

    /// One row over a buffer.
    pub const fn d1_buffer(width: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1Buffer, width, 1, 1, 1)
    }

    /// So many rows of their own.
    pub const fn d1_array(width: u32, layers: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1Array, width, 1, 1, layers)
    }

    /// A picture.
    pub const fn d2(width: u32, height: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D2, width, height, 1, 1)
    }

    /// So many pictures of their own.
    pub const fn d2_array(width: u32, height: u32, layers: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D2Array, width, height, 1, layers)
    }

    /// A volume.
    pub const fn d3(width: u32, height: u32, depth: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D3, width, height, depth, 1)
    }

    /// A picture whose texels have so many samples: 2, 4, 8 or 16.
    pub const fn d2_msaa(width: u32, height: u32, samples: u32) -> ImageDesc {
        ImageDesc {
            samples,
            ..ImageDesc::new(ImageType::D2Msaa, width, height, 1, 1)
        }
    }

    /// So many such pictures.
    pub const fn d2_array_msaa(width: u32, height: u32, layers: u32, samples: u32) -> ImageDesc {
        ImageDesc {
            samples,
            ..ImageDesc::new(ImageType::D2ArrayMsaa, width, height, 1, layers)
        }
    }

    /// The same with so many levels of detail, each half as wide, high and deep as the one before.
    pub const fn with_levels(mut self, levels: u32) -> ImageDesc {
        self.levels = levels;
        self
    }

    /// The shape.
    pub const fn ty(&self) -> ImageType {
        self.ty
    }

    /// Texels of a row.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Rows of a slice or layer; 1 where there is one row.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Slices of a volume; otherwise 1.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Layers of an array; otherwise 1.
    pub const fn layers(&self) -> u32 {
        self.layers
    }

    /// Samples of a texel; 1 if it is not of several.
    pub const fn samples(&self) -> u32 {
        self.samples
    }

    /// Levels of detail.
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// Width, height and depth of a level of detail, counted from 0.
    pub const fn level(&self, level: u32) -> [u32; 3] {
        const fn half(n: u32, times: u32) -> u32 {
            let n = if times < 32 { n >> times } else { 0 };
            if n == 0 { 1 } else { n }
        }
        [
            half(self.width, level),
            half(self.height, level),
            half(self.depth, level),
        ]
    }

    /// Texels of a level of detail, each of its samples counted.
    pub const fn level_texels(&self, level: u32) -> u64 {
        let [width, height, depth] = self.level(level);
        let all = width as u64 * height as u64 * depth as u64;
        all * self.layers as u64 * self.samples as u64
    }

    /// Texels in all, each of their samples and levels counted.
    pub const fn texels(&self) -> u64 {
        let (mut all, mut level) = (0, 0);
        while level < self.levels && level < 32 {
            all += self.level_texels(level);
            level += 1;
        }
        all
    }

    /// Checks sizes against what surface states hold (RENDER_SURFACE_STATE: width and height 16,384, depth and layers
    /// 2,048, buffers of 2^27 texels, 16 samples).
    fn check(&self) -> Result<(), Error> {
        let widest = match self.ty {
            ImageType::D1Buffer => 1 << 27,
            ImageType::D3 => 2048,
            _ => 16384,
        };
        let tallest = widest.min(16384);
        let within = |n: u32, most: u32| (1..=most).contains(&n);
        let allowed: &[u32] = if self.ty.is_msaa() {
            &[2, 4, 8, 16]
        } else {
            &[1]
        };
        if !allowed.contains(&self.samples) {
            return Err(Error::Image(format!(
                "a {self} cannot have {} samples a texel: {allowed:?} can be",
                self.samples
            )));
        }
        // Down to one texel.
        let largest = self.width.max(self.height).max(self.depth);
        let most = match self.ty {
            ImageType::D1Buffer | ImageType::D2Msaa | ImageType::D2ArrayMsaa => 1,
            _ => 32 - largest.leading_zeros(),
        };
        if !within(self.levels, most.max(1)) {
            return Err(Error::Image(format!(
                "a {self} cannot have {} levels of detail, only {most}",
                self.levels
            )));
        }
        if within(self.width, widest)
            && within(self.height, tallest)
            && within(self.depth, 2048)
            && within(self.layers, 2048)
        {
            return Ok(());
        }
        Err(Error::Image(format!(
            "a {self} cannot be: 1 to {widest} texels wide and {tallest} high, of 1 to 2048 slices or layers"
        )))
    }
}

impl fmt::Display for ImageDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImageDesc {
            ty,
            width,
            height,
            depth,
            layers,
            ..
        } = self;
        write!(f, "{ty} of {width}")?;
        match ty {
            ImageType::D1 | ImageType::D1Buffer => Ok(()),
            ImageType::D1Array => write!(f, ", {layers} layers"),
            ImageType::D2 | ImageType::D2Msaa => write!(f, "x{height}"),
            ImageType::D2Array | ImageType::D2ArrayMsaa => {
                write!(f, "x{height}, {layers} layers")
            }
            ImageType::D3 => write!(f, "x{height}x{depth}"),
        }
    }
}

/// An image in device memory. A handle: clones are the same image. To the host its texels are tightly packed: rows of a
/// slice, then slices or layers (a layer of several samples has a picture for each), then levels of detail.
#[derive(Clone, Debug)]
pub struct Image {
    pub(crate) texels: Buffer,
    format: ImageFormat,
    desc: ImageDesc,
}

impl Image {
    /// Bytes that an image needs.
    pub(crate) fn bytes(format: ImageFormat, desc: ImageDesc) -> Result<usize, Error> {
        desc.check()?;
        usize::try_from(desc.texels() * u64::from(format.texel_bytes()))
            .map_err(|_| Error::Image(format!("no memory for a {desc}")))
    }

    /// An image over memory, which holds at least [`Image::bytes`].
    pub(crate) fn over(texels: Buffer, format: ImageFormat, desc: ImageDesc) -> Image {
        Image {
            texels,
            format,
            desc,
        }
    }

    /// What a texel is.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Shape and size.
    pub fn desc(&self) -> ImageDesc {
        self.desc
    }

    /// Bytes of all texels, tightly packed.
    pub fn byte_len(&self) -> usize {
        (self.desc.texels() * u64::from(self.format.texel_bytes())) as usize
    }

    /// All texels, as elements.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn read<T: Pod>(&self) -> Result<Vec<T>, Error> {
        let mut out = vec![T::zeroed(); self.byte_len().checked_div(size_of::<T>()).unwrap_or(0)];
        self.texels.read_into(0, &mut out)?;
        Ok(out)
    }

    /// Writes texels from the first on.
    ///
    /// # Errors
    /// There are more than the image has, or the device fails to copy.
    pub fn write<T: Pod>(&self, data: &[T]) -> Result<(), Error> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        if bytes.len() > self.byte_len() {
            return Err(Error::Image(format!(
                "{} bytes are more than the {} of a {}",
                bytes.len(),
                self.byte_len(),
                self.desc
            )));
        }
        self.texels.write_bytes(0, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert!(ImageFormat::new(ChannelOrder::Bgra, ChannelType::Float).is_err());
        assert!(ImageFormat::new(ChannelOrder::Depth, ChannelType::UnormInt8).is_err());
        let f = ImageFormat::new(ChannelOrder::Rg, ChannelType::HalfFloat).unwrap();
        assert_eq!(f.texel_bytes(), 4);
        for t in ChannelType::ALL {
            assert_eq!(ChannelType::from_name(t.name()), Some(t));
        }
    }

    #[test]
    fn sizes() {
        let bytes = |d| Image::bytes(ImageFormat::RGBA8, d);
        assert_eq!(bytes(ImageDesc::d2_array(3, 5, 7)).unwrap(), 420);
        assert_eq!(bytes(ImageDesc::d2_array_msaa(3, 5, 7, 4)).unwrap(), 1680);
        // 5x4, 2x2, 1x1.
        assert_eq!(bytes(ImageDesc::d2(5, 4).with_levels(3)).unwrap(), 100);
        for bad in [
            ImageDesc::d2(0, 4),
            ImageDesc::d2(4, 16385),
            ImageDesc::d3(1, 1, 2049),
            ImageDesc::d1_buffer(1 << 28),
            ImageDesc::d2_msaa(4, 4, 3),
            ImageDesc::d2_msaa(4, 4, 1),
            ImageDesc::d2(4, 5).with_levels(4),
            ImageDesc::d2(4, 5).with_levels(0),
            ImageDesc::d1_buffer(8).with_levels(2),
        ] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
