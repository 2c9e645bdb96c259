//! Images as the host sees them. Names and numbers are OpenCL's. `view` has images in memory and
//! their views, `copy` their copies.

mod copy;
mod view;

use crate::error::Error;
pub use crate::image_type::ImageType;
pub use crate::sampler::{AddressMode, Compare, FilterMode, MipFilter, Sampler};
pub use copy::ImagePlace;
pub(crate) use copy::{Direction, DriverImage};
use std::fmt;
pub use view::{Image, ImageView};
pub(crate) use view::{Texels, ViewPlace};

gantry_isa_gen::named_enum! {
    /// Components of a texel in memory order. Components that are not stored read as 0 or 1.
    ///
    /// Its name is OpenCL's without `CL_`: `RGBA`, `sRGBA`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ChannelOrder {
        /// Red; reads as (r, 0, 0, 1).
        R = "R",
        /// Alpha; reads as (0, 0, 0, a).
        A = "A",
        /// Red and green; reads as (r, g, 0, 1).
        Rg = "RG",
        /// Red, green and blue in one dword; reads as (r, g, b, 1).
        Rgb = "RGB",
        /// Red, green, blue and alpha.
        Rgba = "RGBA",
        /// Blue, green, red and alpha.
        Bgra = "BGRA",
        /// One value; reads as (i, i, i, i).
        Intensity = "INTENSITY",
        /// One value; reads as (l, l, l, 1).
        Luminance = "LUMINANCE",
        /// One value; reads as (d, 0, 0, 1).
        Depth = "DEPTH",
        /// Red, green, blue and alpha. Colors are stored in sRGB encoding and read as linear.
        Srgba = "sRGBA",
        /// Blue, green, red and alpha. Colors are stored in sRGB encoding and read as linear.
        Sbgra = "sBGRA",
    }
    fn name, from_name ignoring case;
}

impl ChannelOrder {
    /// Returns the number of components in memory.
    pub const fn components(self) -> u32 {
        match self {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Depth => 1,
            ChannelOrder::Rg => 2,
            ChannelOrder::Rgb => 3,
            ChannelOrder::Rgba | ChannelOrder::Bgra | ChannelOrder::Srgba | ChannelOrder::Sbgra => {
                4
            }
        }
    }

    /// Returns OpenCL's number (`CL_RGBA` and the like).
    pub const fn number(self) -> u32 {
        match self {
            ChannelOrder::R => 0x10b0,
            ChannelOrder::A => 0x10b1,
            ChannelOrder::Rg => 0x10b2,
            ChannelOrder::Rgb => 0x10b4,
            ChannelOrder::Rgba => 0x10b5,
            ChannelOrder::Bgra => 0x10b6,
            ChannelOrder::Intensity => 0x10b8,
            ChannelOrder::Luminance => 0x10b9,
            ChannelOrder::Depth => 0x10bd,
            ChannelOrder::Srgba => 0x10c1,
            ChannelOrder::Sbgra => 0x10c2,
        }
    }

    /// Returns true if red, green and blue are stored in sRGB encoding.
    pub const fn is_srgb(self) -> bool {
        matches!(self, ChannelOrder::Srgba | ChannelOrder::Sbgra)
    }
}

gantry_isa_gen::named_enum! {
    /// Storage type of a component. Its name is OpenCL's without `CL_`: `UNORM_INT8`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ChannelType {
        /// 8 bits, -1 to 1.
        SnormInt8 = "SNORM_INT8",
        /// 16 bits, -1 to 1.
        SnormInt16 = "SNORM_INT16",
        /// 8 bits, 0 to 1.
        UnormInt8 = "UNORM_INT8",
        /// 16 bits, 0 to 1.
        UnormInt16 = "UNORM_INT16",
        /// 8-bit signed integer.
        SignedInt8 = "SIGNED_INT8",
        /// 16-bit signed integer.
        SignedInt16 = "SIGNED_INT16",
        /// 32-bit signed integer.
        SignedInt32 = "SIGNED_INT32",
        /// 8-bit unsigned integer.
        UnsignedInt8 = "UNSIGNED_INT8",
        /// 16-bit unsigned integer.
        UnsignedInt16 = "UNSIGNED_INT16",
        /// 32-bit unsigned integer.
        UnsignedInt32 = "UNSIGNED_INT32",
        /// Half float.
        HalfFloat = "HALF_FLOAT",
        /// Single float.
        Float = "FLOAT",
        /// Four components of 0 to 1 in a dword: 10, 10, 10 and 2 bits from the lowest on.
        UnormInt2101010 = "UNORM_INT_2_101010",
        /// Four unsigned integers in a dword: 10, 10, 10 and 2 bits from the lowest on.
        UnsignedInt2101010 = "UNSIGNED_INT_2_101010",
        /// Three floats without sign in a dword: 11, 11 and 10 bits from the lowest on, of which 5
        /// are the exponent.
        Float101111 = "FLOAT_10_11_11",
        /// Three floats without sign in a dword: 9 bits each from the lowest on, and 5 of an
        /// exponent that they share.
        Float5999 = "FLOAT_5_999",
    }
    fn name, from_name ignoring case;
}

impl ChannelType {
    /// Returns true if all components of a texel are in one dword.
    pub const fn is_packed(self) -> bool {
        matches!(
            self,
            ChannelType::UnormInt2101010
                | ChannelType::UnsignedInt2101010
                | ChannelType::Float101111
                | ChannelType::Float5999
        )
    }

    /// Returns the bytes of a component, or of a packed texel.
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
            ChannelType::SignedInt32
            | ChannelType::UnsignedInt32
            | ChannelType::Float
            | ChannelType::UnormInt2101010
            | ChannelType::UnsignedInt2101010
            | ChannelType::Float101111
            | ChannelType::Float5999 => 4,
        }
    }

    /// Returns true if typed messages write it. The render target formats of the surfaces do not
    /// have shared exponents (RENDER_SURFACE_STATE, "Surface Format").
    pub const fn is_written(self) -> bool {
        !matches!(self, ChannelType::Float5999)
    }

    /// Returns true if kernels see integers. Otherwise they see floats.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            ChannelType::SignedInt8
                | ChannelType::SignedInt16
                | ChannelType::SignedInt32
                | ChannelType::UnsignedInt8
                | ChannelType::UnsignedInt16
                | ChannelType::UnsignedInt32
                | ChannelType::UnsignedInt2101010
        )
    }

    /// Returns OpenCL's number (`CL_UNORM_INT8` and the like). Packed integers and floats have
    /// none; theirs are behind all of OpenCL.
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
            // `CL_UNORM_INT_2_101010_EXT`.
            ChannelType::UnormInt2101010 => 0x10e5,
            ChannelType::UnsignedInt2101010 => 0x11d0,
            ChannelType::Float101111 => 0x11d1,
            ChannelType::Float5999 => 0x11d2,
        }
    }
}

/// Format of a texel: the order of its components and their storage type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageFormat {
    order: ChannelOrder,
    channel: ChannelType,
}

impl ImageFormat {
    /// Four bytes of 0 to 1, as in PNG files.
    pub const RGBA8: ImageFormat = ImageFormat {
        order: ChannelOrder::Rgba,
        channel: ChannelType::UnormInt8,
    };

    /// Creates the format of an order and a type.
    ///
    /// # Errors
    /// The order does not go with the type. The pairs are those of the OpenCL
    /// specification (5.3.1.1). Luminance and intensity go with normalized and float types. Depth
    /// goes with `UNORM_INT16` and `FLOAT`, BGRA with 8-bit types, and sRGB with `UNORM_INT8`.
    /// Packed integers and `UNORM` go with RGBA, packed floats with RGB.
    pub fn new(order: ChannelOrder, channel: ChannelType) -> Result<ImageFormat, Error> {
        use ChannelType as T;
        let fits = match order {
            ChannelOrder::Rgb => matches!(channel, T::Float101111 | T::Float5999),
            ChannelOrder::Rgba => !matches!(channel, T::Float101111 | T::Float5999),
            _ if channel.is_packed() => false,
            ChannelOrder::R | ChannelOrder::A | ChannelOrder::Rg => true,
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

    /// Returns the order of its components.
    pub const fn order(self) -> ChannelOrder {
        self.order
    }

    /// Returns the storage type of its components.
    pub const fn channel(self) -> ChannelType {
        self.channel
    }

    /// Returns the bytes of a texel.
    pub const fn texel_bytes(self) -> u32 {
        if self.channel.is_packed() {
            self.channel.bytes()
        } else {
            self.order.components() * self.channel.bytes()
        }
    }
}

/// Dimensionality of an image and its size in texels.
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

    /// Describes one row.
    pub const fn d1(width: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1, width, 1, 1, 1)
    }

    /// Describes one row over a buffer.
    pub const fn d1_buffer(width: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1Buffer, width, 1, 1, 1)
    }

    /// Describes an array of rows.
    pub const fn d1_array(width: u32, layers: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D1Array, width, 1, 1, layers)
    }

    /// Describes a 2D image.
    pub const fn d2(width: u32, height: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D2, width, height, 1, 1)
    }

    /// Describes an array of 2D images.
    pub const fn d2_array(width: u32, height: u32, layers: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D2Array, width, height, 1, layers)
    }

    /// Describes a volume.
    pub const fn d3(width: u32, height: u32, depth: u32) -> ImageDesc {
        ImageDesc::new(ImageType::D3, width, height, depth, 1)
    }

    /// Describes a 2D image of multi-sampled texels: 2, 4, 8 or 16 samples.
    pub const fn d2_msaa(width: u32, height: u32, samples: u32) -> ImageDesc {
        ImageDesc {
            samples,
            ..ImageDesc::new(ImageType::D2Msaa, width, height, 1, 1)
        }
    }

    /// Describes an array of 2D images of multi-sampled texels.
    pub const fn d2_array_msaa(width: u32, height: u32, layers: u32, samples: u32) -> ImageDesc {
        ImageDesc {
            samples,
            ..ImageDesc::new(ImageType::D2ArrayMsaa, width, height, 1, layers)
        }
    }

    /// Describes a cube of six faces, which are its layers.
    pub const fn cube(width: u32) -> ImageDesc {
        ImageDesc::new(ImageType::Cube, width, width, 1, 6)
    }

    /// Describes an array of cubes, whose layers are six a cube.
    pub const fn cube_array(width: u32, cubes: u32) -> ImageDesc {
        let layers = cubes.saturating_mul(6);
        ImageDesc::new(ImageType::CubeArray, width, width, 1, layers)
    }

    /// Sets the number of levels of detail. Each is half as wide, high and deep as the one before.
    pub const fn with_levels(mut self, levels: u32) -> ImageDesc {
        self.levels = levels;
        self
    }

    /// Returns the dimensionality.
    pub const fn ty(&self) -> ImageType {
        self.ty
    }

    /// Returns the texels of a row.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the rows of a slice or layer; 1 where there is one row.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Returns the slices of a volume; otherwise 1.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the layers of an array, six for each cube; otherwise 1.
    pub const fn layers(&self) -> u32 {
        self.layers
    }

    /// Returns the samples of a texel; 1 if it is not multi-sampled.
    pub const fn samples(&self) -> u32 {
        self.samples
    }

    /// Returns the number of levels of detail.
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the width, height and depth of a level of detail, counted from 0.
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

    /// Returns the texels of a level of detail, each of its samples counted.
    pub const fn level_texels(&self, level: u32) -> u64 {
        let [width, height, depth] = self.level(level);
        let all = width as u64 * height as u64 * depth as u64;
        all * self.layers as u64 * self.samples as u64
    }

    /// Returns the texels of all levels, each sample counted.
    pub const fn texels(&self) -> u64 {
        let (mut all, mut level) = (0, 0);
        while level < self.levels && level < 32 {
            all += self.level_texels(level);
            level += 1;
        }
        all
    }

    /// Returns the width and height of a level of detail, and its slices or layers.
    pub(crate) const fn level_size(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.level(level);
        // One of them is 1.
        [width, height, depth * self.layers]
    }

    /// Describes a part of the levels and layers as another type of the same arrangement.
    pub(crate) const fn part(
        &self,
        ty: ImageType,
        first: u32,
        levels: u32,
        layers: u32,
    ) -> ImageDesc {
        let [width, height, depth] = self.level(first);
        ImageDesc {
            ty,
            width,
            height,
            depth,
            layers,
            samples: self.samples,
            levels,
        }
    }

    /// Checks sizes against the limits of surface states. By RENDER_SURFACE_STATE these are 16,384
    /// for width and height, 2,048 for depth and layers, 2^27 texels for buffers, and 16 samples.
    pub(crate) fn check(&self) -> Result<(), Error> {
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
        // Levels go down to one texel.
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
            ImageType::Cube => write!(f, "x{height}"),
            ImageType::CubeArray => write!(f, "x{height}, {} cubes", layers / 6),
        }
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
        assert_eq!(bytes(ImageDesc::cube(4)).unwrap(), 384);
        assert_eq!(
            bytes(ImageDesc::cube_array(2, 3).with_levels(2)).unwrap(),
            360
        );
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
            ImageDesc::cube_array(1, 342),
        ] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
