//! Images and samplers: the arguments of a kernel, and the properties that operations query.

use super::immediate::{Immediate, Keyed};
use super::opcode::Opcode;
use super::text::{Parser, Res};
use super::types::Scalar;

gantry_isa_gen::named_enum! {
    /// Shape of an image.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ImageShape {
        /// 1D: one row.
        D1 = "image1d",
        /// Array of 1D images.
        D1Array = "image1d_array",
        /// 2D: rows and columns.
        D2 = "image2d",
        /// Array of 2D images.
        D2Array = "image2d_array",
        /// 3D: a volume.
        D3 = "image3d",
        /// Rows of bytes, accessible only by media block messages.
        Block = "image2d_block",
        /// 1D image over the memory of a buffer.
        Buffer = "image1d_buffer",
        /// 2D image of multisampled texels.
        D2Msaa = "image2d_msaa",
        /// Array of multisampled 2D images.
        D2ArrayMsaa = "image2d_array_msaa",
    }
}

impl ImageShape {
    /// Number of coordinates of a texel. The layer of an array comes last, then the sample number.
    pub const fn coordinates(self) -> usize {
        match self {
            ImageShape::D1 | ImageShape::Buffer => 1,
            ImageShape::D1Array | ImageShape::D2 | ImageShape::Block => 2,
            ImageShape::D2Array | ImageShape::D3 | ImageShape::D2Msaa => 3,
            ImageShape::D2ArrayMsaa => 4,
        }
    }

    /// Returns true if texels have several samples.
    pub const fn is_msaa(self) -> bool {
        matches!(self, ImageShape::D2Msaa | ImageShape::D2ArrayMsaa)
    }

    /// Returns true if media block messages access it.
    pub const fn has_rectangles(self) -> bool {
        matches!(self, ImageShape::D2 | ImageShape::Block)
    }

    /// Returns true if the last coordinate is a layer.
    pub const fn is_array(self) -> bool {
        matches!(self, ImageShape::D1Array | ImageShape::D2Array)
    }
}

gantry_isa_gen::named_enum! {
    /// Access of a kernel to an image.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ImageAccess {
        /// Loads and samples.
        Read = "read",
        /// Stores.
        Write = "write",
        /// Loads and stores.
        ReadWrite = "readwrite",
    }
}

impl ImageAccess {
    /// Returns true if texels are loaded.
    pub const fn reads(self) -> bool {
        !matches!(self, ImageAccess::Write)
    }

    /// Returns true if texels are stored.
    pub const fn writes(self) -> bool {
        !matches!(self, ImageAccess::Read)
    }
}

/// Image and sampler of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ImagePlace {
    /// Index among the kernel's image arguments.
    pub image: u8,
    /// Index among the kernel's sampler arguments, followed by its own samplers; 0 for operations
    /// without a sampler.
    pub sampler: u8,
}

impl Keyed for ImagePlace {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        let ImagePlace { image, sampler } = *self;
        w(&[image, sampler]);
    }
}

gantry_isa_gen::named_enum! {
    /// Property of an image that a kernel can query.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum ImageFact {
        /// Texels of a row.
        Width = "width",
        /// Rows; 0 where the shape has none.
        Height = "height",
        /// Slices of a volume; 0 where the shape has none.
        Depth = "depth",
        /// Layers of an array; 0 where the shape has none.
        Layers = "layers",
        /// Format of a component: OpenCL's number.
        ChannelType = "channel_type",
        /// Components of a texel: OpenCL's number.
        ChannelOrder = "channel_order",
        /// Samples of a texel; 0 where the image has one.
        Samples = "samples",
        /// Levels of detail; 0 where the image has one.
        Levels = "levels",
        /// Address of the first texel.
        FlatBase = "flat_base",
        /// Bytes of a row, minus one.
        FlatWidth = "flat_width",
        /// Rows, minus one.
        FlatHeight = "flat_height",
        /// Bytes from row to row, minus one.
        FlatPitch = "flat_pitch",
    }
}

gantry_isa_gen::named_enum! {
    /// Property of a sampler that a kernel can query, with the numbers of Intel's driver
    /// (`sampler_patch_values.h`).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum SamplerFact {
        /// Addressing mode: 0 undefined, 1 border of zeros, 2 clamp to edge, 3 repeat, 4 mirrored
        /// repeat.
        Addressing = "addressing",
        /// 8 for normalized coordinates, else 0.
        Normalized = "normalized",
        /// All ones if the kernel itself must move coordinates below 0 outside, else 0. That is so
        /// for nearest filtering with a border of zeros.
        Snap = "snap",
    }
}

/// Property of a kernel argument beside its value, known at launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ArgFact {
    /// Property of an image argument.
    Image(ImageFact),
    /// Property of a sampler argument.
    Sampler(SamplerFact),
}

impl ArgFact {
    /// Returns the opcode that queries it.
    pub const fn opcode(self) -> Opcode {
        match self {
            ArgFact::Image(_) => Opcode::ImageQuery,
            ArgFact::Sampler(_) => Opcode::SamplerQuery,
        }
    }

    /// Returns its type.
    pub const fn scalar(self) -> Scalar {
        match self {
            ArgFact::Image(ImageFact::FlatBase) => Scalar::I64,
            ArgFact::Image(_) | ArgFact::Sampler(_) => Scalar::I32,
        }
    }
}

impl Immediate for ArgFact {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            ArgFact::Image(fact) => fact.name(),
            ArgFact::Sampler(fact) => fact.name(),
        });
    }

    fn parse(p: &mut Parser<'_>, opcode: Opcode, what: &str) -> Res<ArgFact> {
        if opcode == Opcode::ImageQuery {
            let fact = p.choice(&ImageFact::ALL, ImageFact::name, what)?;
            return Ok(ArgFact::Image(fact));
        }
        let fact = p.choice(&SamplerFact::ALL, SamplerFact::name, what)?;
        Ok(ArgFact::Sampler(fact))
    }
}

/// The opcode tells the properties of images from those of samplers.
impl Keyed for ArgFact {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        w(&[match *self {
            ArgFact::Image(fact) => fact as u8,
            ArgFact::Sampler(fact) => fact as u8,
        }]);
    }
}

gantry_isa_gen::named_enum! {
    /// Addressing mode: the treatment of coordinates outside of an image.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Addressing {
        /// Border of zeros.
        Border = "border",
        /// Clamp to edge.
        Edge = "edge",
        /// Repeat. Needs normalized coordinates.
        Repeat = "repeat",
        /// Mirrored repeat. Needs normalized coordinates.
        Mirror = "mirror",
    }
}

/// Sampler: an argument of a kernel, or one that it declares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Addressing mode.
    pub addressing: Addressing,
    /// True for linear filtering, false for nearest.
    pub linear: bool,
    /// True for normalized coordinates, false for coordinates in texels.
    pub normalized: bool,
}
