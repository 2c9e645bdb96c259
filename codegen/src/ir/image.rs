//! Images and samplers: what a kernel's arguments are, and what operations ask of them.

use super::opcode::Opcode;
use super::types::Scalar;

/// The shape of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageShape {
    /// One row.
    D1,
    /// Rows.
    D1Array,
    /// Rows and columns.
    D2,
    /// Layers of rows and columns.
    D2Array,
    /// A volume.
    D3,
    /// Rows of bytes, for rectangles of them alone.
    Block,
    /// One row, over a buffer's memory.
    Buffer,
    /// Rows and columns of texels of several samples.
    D2Msaa,
    /// Layers of those.
    D2ArrayMsaa,
}

impl ImageShape {
    /// Every shape.
    pub const ALL: [ImageShape; 9] = [
        ImageShape::D1,
        ImageShape::D1Array,
        ImageShape::D2,
        ImageShape::D2Array,
        ImageShape::D3,
        ImageShape::Block,
        ImageShape::Buffer,
        ImageShape::D2Msaa,
        ImageShape::D2ArrayMsaa,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            ImageShape::D1 => "image1d",
            ImageShape::D1Array => "image1d_array",
            ImageShape::D2 => "image2d",
            ImageShape::D2Array => "image2d_array",
            ImageShape::D3 => "image3d",
            ImageShape::Block => "image2d_block",
            ImageShape::Buffer => "image1d_buffer",
            ImageShape::D2Msaa => "image2d_msaa",
            ImageShape::D2ArrayMsaa => "image2d_array_msaa",
        }
    }

    /// Coordinates of a texel, an array's layer last among them; a sample's number behind them.
    pub const fn coordinates(self) -> usize {
        match self {
            ImageShape::D1 | ImageShape::Buffer => 1,
            ImageShape::D1Array | ImageShape::D2 | ImageShape::Block => 2,
            ImageShape::D2Array | ImageShape::D3 | ImageShape::D2Msaa => 3,
            ImageShape::D2ArrayMsaa => 4,
        }
    }

    /// Whether texels have several samples.
    pub const fn is_msaa(self) -> bool {
        matches!(self, ImageShape::D2Msaa | ImageShape::D2ArrayMsaa)
    }

    /// Whether rectangles of its bytes are read and written.
    pub const fn has_rectangles(self) -> bool {
        matches!(self, ImageShape::D2 | ImageShape::Block)
    }

    /// Whether the last coordinate is a layer.
    pub const fn is_array(self) -> bool {
        matches!(self, ImageShape::D1Array | ImageShape::D2Array)
    }
}

/// What a kernel does with an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageAccess {
    /// Loads and samples.
    Read,
    /// Stores.
    Write,
    /// Loads and stores.
    ReadWrite,
}

impl ImageAccess {
    /// Every access.
    pub const ALL: [ImageAccess; 3] = [
        ImageAccess::Read,
        ImageAccess::Write,
        ImageAccess::ReadWrite,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            ImageAccess::Read => "read",
            ImageAccess::Write => "write",
            ImageAccess::ReadWrite => "readwrite",
        }
    }

    /// Whether texels are loaded.
    pub const fn reads(self) -> bool {
        !matches!(self, ImageAccess::Write)
    }

    /// Whether texels are stored.
    pub const fn writes(self) -> bool {
        !matches!(self, ImageAccess::Read)
    }
}

/// Which image an operation means, and by which sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ImagePlace {
    /// The n-th image argument of the kernel.
    pub image: u8,
    /// The n-th sampler argument of the kernel, or one of its own behind those; 0 where there is no
    /// sampler in it.
    pub sampler: u8,
}

/// What can be asked of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ImageFact {
    /// Texels of a row.
    Width,
    /// Rows; 0 where the shape has none.
    Height,
    /// Slices of a volume; 0 where the shape has none.
    Depth,
    /// Layers of an array; 0 where the shape has none.
    Layers,
    /// How a component is stored: OpenCL's number.
    ChannelType,
    /// Which components there are: OpenCL's number.
    ChannelOrder,
    /// Samples of a texel; 0 where the image has one.
    Samples,
    /// Levels of detail; 0 where the image has one.
    Levels,
    /// Address of the first texel.
    FlatBase,
    /// Bytes of a row, minus one.
    FlatWidth,
    /// Rows, minus one.
    FlatHeight,
    /// Bytes from row to row, minus one.
    FlatPitch,
}

impl ImageFact {
    /// Every fact.
    pub const ALL: [ImageFact; 12] = [
        ImageFact::Width,
        ImageFact::Height,
        ImageFact::Depth,
        ImageFact::Layers,
        ImageFact::ChannelType,
        ImageFact::ChannelOrder,
        ImageFact::Samples,
        ImageFact::Levels,
        ImageFact::FlatBase,
        ImageFact::FlatWidth,
        ImageFact::FlatHeight,
        ImageFact::FlatPitch,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            ImageFact::Width => "width",
            ImageFact::Height => "height",
            ImageFact::Depth => "depth",
            ImageFact::Layers => "layers",
            ImageFact::ChannelType => "channel_type",
            ImageFact::ChannelOrder => "channel_order",
            ImageFact::Samples => "samples",
            ImageFact::Levels => "levels",
            ImageFact::FlatBase => "flat_base",
            ImageFact::FlatWidth => "flat_width",
            ImageFact::FlatHeight => "flat_height",
            ImageFact::FlatPitch => "flat_pitch",
        }
    }
}

/// What can be asked of a sampler, in the numbers of Intel's driver (`sampler_patch_values.h`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SamplerFact {
    /// What is outside of images: 0 undefined, 1 zeros, 2 the edge, 3 the image again, 4 the image
    /// mirrored.
    Addressing,
    /// 8 where coordinates from 0 to 1 span an image, else 0.
    Normalized,
    /// All ones where the kernel itself must move coordinates below 0 outside (it takes the nearest
    /// texel, and zeros are outside), else 0.
    Snap,
}

impl SamplerFact {
    /// Every fact.
    pub const ALL: [SamplerFact; 3] = [
        SamplerFact::Addressing,
        SamplerFact::Normalized,
        SamplerFact::Snap,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            SamplerFact::Addressing => "addressing",
            SamplerFact::Normalized => "normalized",
            SamplerFact::Snap => "snap",
        }
    }
}

/// What a launch says about an argument of the kernel, beside its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ArgFact {
    /// About the n-th image argument.
    Image(ImageFact),
    /// About the n-th sampler argument.
    Sampler(SamplerFact),
}

impl ArgFact {
    /// The opcode that asks for it.
    pub const fn opcode(self) -> Opcode {
        match self {
            ArgFact::Image(_) => Opcode::ImageQuery,
            ArgFact::Sampler(_) => Opcode::SamplerQuery,
        }
    }

    /// Its type.
    pub const fn scalar(self) -> Scalar {
        match self {
            ArgFact::Image(ImageFact::FlatBase) => Scalar::I64,
            ArgFact::Image(_) | ArgFact::Sampler(_) => Scalar::I32,
        }
    }
}

/// What a sampler makes of coordinates outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addressing {
    /// Zeros are outside.
    Border,
    /// The texels of the edge.
    Edge,
    /// The image again. Of coordinates from 0 to 1 only.
    Repeat,
    /// The image, mirrored every other time. Of coordinates from 0 to 1 only.
    Mirror,
}

impl Addressing {
    /// Every one.
    pub const ALL: [Addressing; 4] = [
        Addressing::Border,
        Addressing::Edge,
        Addressing::Repeat,
        Addressing::Mirror,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            Addressing::Border => "border",
            Addressing::Edge => "edge",
            Addressing::Repeat => "repeat",
            Addressing::Mirror => "mirror",
        }
    }
}

/// A sampler: an argument, or one of a kernel's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// What is outside.
    pub addressing: Addressing,
    /// Whether it weighs the texels around a place; else it takes the one that holds it.
    pub linear: bool,
    /// Coordinates from 0 to 1 span the image; else they count texels.
    pub normalized: bool,
}
