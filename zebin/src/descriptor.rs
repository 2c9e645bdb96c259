//! Images and samplers by value, on platforms without a sampler.
//!
//! Drivers have no images there. A kernel's image or sampler is an argument by value
//! (`arg_byvalue`), of which the payload has the parts that the kernel reads: `source_offset` is
//! the offset of a part in the descriptor. The argument's type in `.kernels_misc_info` says that it
//! is an image or a sampler (`image2d_t;8`). A host passes the whole descriptor.

use crate::info::payload::{ImageFact, SamplerFact};

/// Descriptor of an image: the address of tightly packed texels, sizes, and the format in OpenCL's
/// numbers. Sizes that its type does not have are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImageDescriptor {
    /// Address of the first texel.
    pub base: u64,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices of a volume.
    pub depth: u32,
    /// Layers of an array, or its cubes.
    pub layers: u32,
    /// Format of a component.
    pub channel_type: u32,
    /// Components of a texel.
    pub channel_order: u32,
    /// Samples of a texel; 0 for one.
    pub samples: u32,
    /// Levels of detail; 0 for one.
    pub levels: u32,
    /// Bytes of a row, minus one.
    pub flat_width: u32,
    /// Rows, minus one.
    pub flat_height: u32,
    /// Bytes from row to row, minus one.
    pub flat_pitch: u32,
    /// Layers of the memory that are before the first one of a view, in the low half, and all
    /// layers of the memory in the high half. Levels of detail are that many layers apart.
    pub layer_range: u32,
}

impl ImageDescriptor {
    /// Bytes of a descriptor.
    pub const BYTES: u32 = 56;
    /// Offset of the layers in memory, which no property of drivers is.
    pub const LAYER_RANGE: u32 = 52;

    /// Returns the offset of a property. Those of drivers alone have none.
    pub const fn offset(fact: ImageFact) -> Option<u32> {
        Some(match fact {
            ImageFact::FlatBase => 0,
            ImageFact::Width => 8,
            ImageFact::Height => 12,
            ImageFact::Depth => 16,
            ImageFact::ArraySize => 20,
            ImageFact::ChannelType => 24,
            ImageFact::ChannelOrder => 28,
            ImageFact::Samples => 32,
            ImageFact::MipLevels => 36,
            ImageFact::FlatWidth => 40,
            ImageFact::FlatHeight => 44,
            ImageFact::FlatPitch => 48,
            ImageFact::SrgbChannelOrder => return None,
        })
    }

    /// Returns the bytes of the descriptor.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.base.to_le_bytes().to_vec();
        let rest = [
            self.width,
            self.height,
            self.depth,
            self.layers,
            self.channel_type,
            self.channel_order,
            self.samples,
            self.levels,
            self.flat_width,
            self.flat_height,
            self.flat_pitch,
            self.layer_range,
        ];
        out.extend(rest.map(u32::to_le_bytes).as_flattened());
        out
    }
}

/// Descriptor of a sampler.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SamplerDescriptor {
    /// Addressing mode of the first coordinate: 0 undefined, 1 border, 2 edge, 3 repeat, 4 mirrored
    /// repeat.
    pub addressing: u32,
    /// 8 for normalized coordinates, else 0.
    pub normalized: u32,
    /// All ones for nearest filtering with a border, else 0.
    pub snap: u32,
    /// 1 for linear filtering of magnified texels, 0 for nearest.
    pub filter: u32,
    /// Comparison: 0 never, 1 less, 2 equal, 3 less or equal, 4 greater, 5 not equal, 6 greater or
    /// equal, 7 always.
    pub compare: u32,
    /// Addressing mode of the second coordinate.
    pub addressing_v: u32,
    /// Addressing mode of the third coordinate.
    pub addressing_w: u32,
    /// 1 for linear filtering of minified texels, 0 for nearest.
    pub min_filter: u32,
    /// Filter between levels of detail: 0 takes the first level, 1 the nearest, 2 the two around.
    pub mip_filter: u32,
    /// Least and greatest level of detail.
    pub lod: [f32; 2],
}

impl SamplerDescriptor {
    /// Bytes of a descriptor.
    pub const BYTES: u32 = 44;
    /// Offset of the filter of magnified texels, which no property of drivers is, nor are those
    /// that follow.
    pub const FILTER: u32 = 12;
    /// Offset of the comparison.
    pub const COMPARE: u32 = 16;
    /// Offset of the second coordinate's addressing mode.
    pub const ADDRESSING_V: u32 = 20;
    /// Offset of the third coordinate's addressing mode.
    pub const ADDRESSING_W: u32 = 24;
    /// Offset of the filter of minified texels.
    pub const MIN_FILTER: u32 = 28;
    /// Offset of the filter between levels of detail.
    pub const MIP_FILTER: u32 = 32;
    /// Offset of the least level of detail.
    pub const MIN_LOD: u32 = 36;
    /// Offset of the greatest level of detail.
    pub const MAX_LOD: u32 = 40;

    /// Returns the offset of a property.
    pub const fn offset(fact: SamplerFact) -> u32 {
        match fact {
            SamplerFact::Address => 0,
            SamplerFact::Normalized => 4,
            SamplerFact::SnapWa => 8,
        }
    }

    /// Returns the bytes of the descriptor.
    pub fn bytes(&self) -> Vec<u8> {
        let parts = [
            self.addressing,
            self.normalized,
            self.snap,
            self.filter,
            self.compare,
            self.addressing_v,
            self.addressing_w,
            self.min_filter,
            self.mip_filter,
            self.lod[0].to_bits(),
            self.lod[1].to_bits(),
        ];
        parts.map(u32::to_le_bytes).as_flattened().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_the_bytes() {
        let image = ImageDescriptor {
            base: 1 << 40,
            width: 8,
            height: 12,
            depth: 16,
            layers: 20,
            channel_type: 24,
            channel_order: 28,
            samples: 32,
            levels: 36,
            flat_width: 40,
            flat_height: 44,
            flat_pitch: 48,
            layer_range: ImageDescriptor::LAYER_RANGE,
        };
        let bytes = image.bytes();
        assert_eq!(bytes.len() as u32, ImageDescriptor::BYTES);
        assert_eq!(bytes[52..], 52u32.to_le_bytes());
        for fact in ImageFact::ALL {
            // Each number is its own offset.
            if let Some(at @ 1..) = ImageDescriptor::offset(fact) {
                assert_eq!(bytes[at as usize..][..4], at.to_le_bytes());
            }
        }
        let sampler = SamplerDescriptor {
            addressing: 0,
            normalized: 4,
            snap: 8,
            filter: SamplerDescriptor::FILTER,
            compare: SamplerDescriptor::COMPARE,
            addressing_v: SamplerDescriptor::ADDRESSING_V,
            addressing_w: SamplerDescriptor::ADDRESSING_W,
            min_filter: SamplerDescriptor::MIN_FILTER,
            mip_filter: SamplerDescriptor::MIP_FILTER,
            lod: [SamplerDescriptor::MIN_LOD, SamplerDescriptor::MAX_LOD].map(f32::from_bits),
        };
        let bytes = sampler.bytes();
        assert_eq!(bytes.len() as u32, SamplerDescriptor::BYTES);
        for (n, part) in (0..).zip(bytes.chunks_exact(4)) {
            assert_eq!(*part, (4 * n as u32).to_le_bytes());
        }
    }
}
