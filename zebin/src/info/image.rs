//! Images and samplers.

use crate::record::{keyword, record};

keyword! {
    /// Type of an image.
    pub enum ImageKind {
        /// One row over a buffer's memory.
        Buffer = "image_buffer",
        /// One row.
        D1 = "image_1d",
        /// Array of rows.
        D1Array = "image_1d_array",
        /// Rows and columns.
        D2 = "image_2d",
        /// Layers of rows and columns.
        D2Array = "image_2d_array",
        /// Volume.
        D3 = "image_3d",
        /// Six faces.
        Cube = "image_cube",
        /// Layers of six faces.
        CubeArray = "image_cube_array",
        /// Rows and columns of depths.
        D2Depth = "image_2d_depth",
        /// Layers of depths.
        D2ArrayDepth = "image_2d_array_depth",
        /// Rows and columns of multi-sampled texels.
        D2Msaa = "image_2d_msaa",
        /// Rows and columns of multi-sampled depths.
        D2MsaaDepth = "image_2d_msaa_depth",
        /// Layers of multi-sampled texels.
        D2ArrayMsaa = "image_2d_array_msaa",
        /// Layers of multi-sampled depths.
        D2ArrayMsaaDepth = "image_2d_array_msaa_depth",
        /// Rows and columns for media messages.
        D2Media = "image_2d_media",
        /// Rows and columns for messages of blocks.
        D2MediaBlock = "image_2d_media_block",
    }
}

impl ImageKind {
    /// Returns the type of the argument in OpenCL C: `image2d_t`.
    pub fn source_type(self) -> String {
        let name = self.name();
        let name = name.strip_prefix("image_").unwrap_or(name);
        match self {
            ImageKind::Buffer => "image1d_buffer_t".to_owned(),
            _ => format!("image{name}_t"),
        }
    }

    /// Parses the type of an argument in OpenCL C.
    pub fn from_source_type(name: &str) -> Option<ImageKind> {
        ImageKind::ALL.into_iter().find(|k| k.source_type() == name)
    }
}

keyword! {
    /// Type of a sampler.
    pub enum SamplerType {
        /// Sampler of textures.
        Texture = "texture",
        /// 8x8 filter.
        Filter8x8 = "sample_8x8",
        /// 8x8 convolution.
        Convolve = "sample_8x8_2dconvolve",
        /// 8x8 erosion.
        Erode = "sample_8x8_erode",
        /// 8x8 dilation.
        Dilate = "sample_8x8_dilate",
        /// 8x8 filter of minima and maxima.
        MinMaxFilter = "sample_8x8_minmaxfilter",
        /// 8x8 minimum and maximum.
        MinMax = "sample_8x8_minmax",
        /// 8x8 centroid.
        Centroid = "sample_8x8_centroid",
        /// 8x8 centroid of booleans.
        BoolCentroid = "sample_8x8_bool_centroid",
        /// 8x8 sum of booleans.
        BoolSum = "sample_8x8_bool_sum",
    }
}

record! {
    /// Sampler of the code's own.
    pub struct InlineSampler {
        /// Index in the sampler table.
        need sampler_index: u32,
        /// Treatment of coordinates outside the image.
        need addrmode: SamplerAddress,
        /// Filter between texels.
        need filtermode: SamplerFilter,
        /// True if coordinates of 0 to 1 span the image.
        maybe normalized: bool,
    }
}

keyword! {
    /// Treatment of coordinates outside an image.
    pub enum SamplerAddress {
        /// Undefined.
        None = "none",
        /// Border color.
        Border = "clamp_border",
        /// Nearest texel of the edge.
        Edge = "clamp_edge",
        /// Repetition.
        Repeat = "repeat",
        /// Repetition, mirrored every other time.
        Mirror = "mirror",
    }
}

keyword! {
    /// Filter between texels.
    pub enum SamplerFilter {
        /// Value of the texel that contains the coordinates.
        Nearest = "nearest",
        /// Weighted mean.
        Linear = "linear",
    }
}
