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
        /// Cube: six square faces, in the order +x, -x, +y, -y, +z, -z.
        Cube = "image_cube",
        /// Array of cubes.
        CubeArray = "image_cube_array",
    }
}

impl ImageShape {
    /// Number of coordinates of a texel. The layer of an array comes last, then the sample number.
    /// Those of a cube are a direction from its middle.
    pub const fn coordinates(self) -> usize {
        match self {
            ImageShape::D1 | ImageShape::Buffer => 1,
            ImageShape::D1Array | ImageShape::D2 | ImageShape::Block => 2,
            ImageShape::D2Array | ImageShape::D3 | ImageShape::D2Msaa | ImageShape::Cube => 3,
            ImageShape::D2ArrayMsaa | ImageShape::CubeArray => 4,
        }
    }

    /// Returns true if texels have several samples.
    pub const fn is_msaa(self) -> bool {
        matches!(self, ImageShape::D2Msaa | ImageShape::D2ArrayMsaa)
    }

    /// Returns true if it has the faces of cubes.
    pub const fn is_cube(self) -> bool {
        matches!(self, ImageShape::Cube | ImageShape::CubeArray)
    }

    /// Returns true if media block messages access it.
    pub const fn has_rectangles(self) -> bool {
        matches!(self, ImageShape::D2 | ImageShape::Block)
    }

    /// Returns true if the last coordinate is a layer.
    pub const fn is_array(self) -> bool {
        matches!(
            self,
            ImageShape::D1Array | ImageShape::D2Array | ImageShape::CubeArray
        )
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
        /// Layers of an array, or its cubes; 0 where the shape has none.
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
        /// Layers of the memory before the first one of a view, in the low half, and all layers of
        /// the memory in the high half; only where there is no sampler.
        LayerRange = "layer_range",
    }
}

impl ImageFact {
    /// Returns true if Intel's driver provides it, where there is a sampler.
    pub const fn is_driver(self) -> bool {
        !matches!(self, ImageFact::LayerRange)
    }
}

gantry_isa_gen::named_enum! {
    /// Property of a sampler that a kernel can query, with the numbers of Intel's driver
    /// (`sampler_patch_values.h`). Kernels query those from the filter on where there is no
    /// sampler, to sample images in memory.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum SamplerFact {
        /// Addressing mode of the first coordinate: 0 undefined, 1 border of zeros, 2 clamp to
        /// edge, 3 repeat, 4 mirrored repeat.
        Addressing = "addressing",
        /// 8 for normalized coordinates, else 0.
        Normalized = "normalized",
        /// All ones if the kernel itself must move coordinates below 0 outside, else 0. That is so
        /// for nearest filtering with a border of zeros.
        Snap = "snap",
        /// 1 for linear filtering of magnified texels, 0 for nearest.
        Filter = "filter",
        /// Comparison, by its number in [`Compare`].
        Compare = "compare",
        /// Addressing mode of the second coordinate.
        AddressingV = "addressing_v",
        /// Addressing mode of the third coordinate.
        AddressingW = "addressing_w",
        /// 1 for linear filtering of minified texels, 0 for nearest.
        MinFilter = "min_filter",
        /// Filter between levels of detail: 0 takes the first, 1 the nearest, 2 the two around.
        MipFilter = "mip_filter",
        /// Least level of detail: the bits of a float, not below 0.
        MinLod = "min_lod",
        /// Greatest level of detail: the bits of a float, not below the least.
        MaxLod = "max_lod",
    }
}

impl SamplerFact {
    /// Returns true if Intel's driver provides it, where there is a sampler.
    pub const fn is_driver(self) -> bool {
        matches!(
            self,
            SamplerFact::Addressing | SamplerFact::Normalized | SamplerFact::Snap
        )
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
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Addressing {
        /// Border of zeros.
        #[default]
        Border = "border",
        /// Clamp to edge.
        Edge = "edge",
        /// Repeat. Needs normalized coordinates.
        Repeat = "repeat",
        /// Mirrored repeat. Needs normalized coordinates.
        Mirror = "mirror",
    }
}

gantry_isa_gen::named_enum! {
    /// Comparison of a reference with a texel, for samples that compare.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Compare {
        /// Never holds: samplers that do not compare.
        #[default]
        Never = "never",
        /// Reference less than the texel.
        Less = "less",
        /// Equal.
        Equal = "equal",
        /// Reference less than or equal to the texel.
        LessOrEqual = "less_equal",
        /// Reference greater than the texel.
        Greater = "greater",
        /// Not equal.
        NotEqual = "not_equal",
        /// Reference greater than or equal to the texel.
        GreaterOrEqual = "greater_equal",
        /// Always holds.
        Always = "always",
    }
}

/// Sampler that a kernel declares. `.ze_info` has no more of it (`inline_samplers`): one addressing
/// mode for all coordinates, and one filter. Of levels of detail, it takes the nearest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sampler {
    /// Addressing mode.
    pub addressing: Addressing,
    /// True for linear filtering, false for nearest.
    pub linear: bool,
    /// True for normalized coordinates, false for coordinates in texels.
    pub normalized: bool,
}
