//! Dimensionality of images.

use std::fmt;

/// Dimensionality of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageType {
    /// One row: `image1d_t`.
    D1,
    /// One row over a buffer's memory: `image1d_buffer_t`.
    D1Buffer,
    /// Array of rows: `image1d_array_t`.
    D1Array,
    /// Rows and columns: `image2d_t`.
    D2,
    /// Layers of rows and columns: `image2d_array_t`.
    D2Array,
    /// Volume: `image3d_t`.
    D3,
    /// Rows and columns of multi-sampled texels: `image2d_msaa_t`.
    D2Msaa,
    /// Layers of rows and columns of multi-sampled texels: `image2d_array_msaa_t`.
    D2ArrayMsaa,
    /// Six square faces, in the order +x, -x, +y, -y, +z, -z. OpenCL has no such images.
    Cube,
    /// Cubes one after the other.
    CubeArray,
}

impl ImageType {
    /// Returns the number of coordinates of a texel, including an array's layer. Those of a cube
    /// are its direction from the middle.
    pub const fn coordinates(self) -> u32 {
        match self {
            ImageType::D1 | ImageType::D1Buffer => 1,
            ImageType::D1Array | ImageType::D2 | ImageType::D2Msaa => 2,
            ImageType::D2Array | ImageType::D3 | ImageType::D2ArrayMsaa | ImageType::Cube => 3,
            ImageType::CubeArray => 4,
        }
    }

    /// Returns true if the last coordinate is a layer.
    pub const fn is_array(self) -> bool {
        matches!(
            self,
            ImageType::D1Array | ImageType::D2Array | ImageType::D2ArrayMsaa | ImageType::CubeArray
        )
    }

    /// Returns true if it has the faces of cubes.
    pub const fn is_cube(self) -> bool {
        matches!(self, ImageType::Cube | ImageType::CubeArray)
    }

    /// Returns true if a texel has several samples.
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
            ImageType::Cube => "cube image",
            ImageType::CubeArray => "cube image array",
        })
    }
}
