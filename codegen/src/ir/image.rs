//! Images and samplers: what a kernel's arguments are, and what operations ask of them.

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
}

impl ImageShape {
    /// Every shape.
    pub const ALL: [ImageShape; 7] = [
        ImageShape::D1,
        ImageShape::D1Array,
        ImageShape::D2,
        ImageShape::D2Array,
        ImageShape::D3,
        ImageShape::Block,
        ImageShape::Buffer,
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
        }
    }

    /// Coordinates of a texel, an array's layer last among them.
    pub const fn coordinates(self) -> usize {
        match self {
            ImageShape::D1 | ImageShape::Buffer => 1,
            ImageShape::D1Array | ImageShape::D2 | ImageShape::Block => 2,
            ImageShape::D2Array | ImageShape::D3 => 3,
        }
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
    /// The n-th sampler argument of the kernel; 0 where there is no sampler in it.
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
}

impl ImageFact {
    /// Every fact.
    pub const ALL: [ImageFact; 6] = [
        ImageFact::Width,
        ImageFact::Height,
        ImageFact::Depth,
        ImageFact::Layers,
        ImageFact::ChannelType,
        ImageFact::ChannelOrder,
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
        }
    }
}
