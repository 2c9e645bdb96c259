//! Images and samplers as kernels find them in the payload: their properties, and the bytes of
//! those that are passed by value.

use crate::arg::Arg;
use crate::buffer::Buffer;
use crate::image::{AddressMode, FilterMode, Image, ImageType, MipFilter, Sampler};
use crate::zebin::{ImageFact, SamplerFact};
use gantry_zebin::{ImageDescriptor, SamplerDescriptor};

/// Returns the bytes of an image or a sampler that is passed by value.
pub(crate) fn descriptor(arg: &Arg) -> Option<Vec<u8>> {
    match arg {
        Arg::Image(i) => {
            let fact = |f| image_fact(i, f) as u32;
            let image = ImageDescriptor {
                base: image_fact(i, ImageFact::FlatBase),
                width: fact(ImageFact::Width),
                height: fact(ImageFact::Height),
                depth: fact(ImageFact::Depth),
                layers: fact(ImageFact::ArraySize),
                channel_type: fact(ImageFact::ChannelType),
                channel_order: fact(ImageFact::ChannelOrder),
                samples: fact(ImageFact::Samples),
                levels: fact(ImageFact::MipLevels),
                flat_width: fact(ImageFact::FlatWidth),
                flat_height: fact(ImageFact::FlatHeight),
                flat_pitch: fact(ImageFact::FlatPitch),
                layer_range: i.place.layer | i.place.whole.layers() << 16,
            };
            Some(image.bytes())
        }
        Arg::Sampler(s) => {
            let linear = |filter| u32::from(filter == FilterMode::Linear);
            let [addressing, addressing_v, addressing_w] = s.address.map(address_number);
            let sampler = SamplerDescriptor {
                addressing,
                normalized: sampler_fact(s, SamplerFact::Normalized),
                snap: sampler_fact(s, SamplerFact::SnapWa),
                filter: linear(s.mag),
                compare: s.compare as u32,
                addressing_v,
                addressing_w,
                min_filter: linear(s.min),
                mip_filter: match s.mip {
                    MipFilter::None => 0,
                    MipFilter::Nearest => 1,
                    MipFilter::Linear => 2,
                },
                lod: s.lod(),
            };
            Some(sampler.bytes())
        }
        _ => None,
    }
}

/// Returns a property of an image as the payload has it.
pub(crate) fn image_fact(image: &Image, fact: ImageFact) -> u64 {
    let (d, f) = (image.desc(), image.format());
    let ty = d.ty();
    let row = d.width() * f.texel_bytes();
    u64::from(match fact {
        ImageFact::Width => d.width(),
        ImageFact::Height => match ty {
            ImageType::D1 | ImageType::D1Buffer | ImageType::D1Array => 0,
            _ => d.height(),
        },
        ImageFact::Depth => match ty {
            ImageType::D3 => d.depth(),
            _ => 0,
        },
        ImageFact::ArraySize => {
            if ty == ImageType::CubeArray {
                d.layers() / 6
            } else if ty.is_array() {
                d.layers()
            } else {
                0
            }
        }
        ImageFact::ChannelType => f.channel().number(),
        ImageFact::ChannelOrder => f.order().number(),
        ImageFact::SrgbChannelOrder => {
            if f.order().is_srgb() {
                f.order().number()
            } else {
                0
            }
        }
        // The driver gives 0 for images that have one sample or level.
        ImageFact::Samples if ty.is_msaa() => d.samples(),
        ImageFact::MipLevels if d.levels() > 1 => d.levels(),
        ImageFact::Samples | ImageFact::MipLevels => 0,
        ImageFact::FlatBase => {
            let base = image.memory().map_or(0, Buffer::device_address);
            return base + image.level_offset(0);
        }
        ImageFact::FlatWidth | ImageFact::FlatPitch => row.wrapping_sub(1),
        ImageFact::FlatHeight => d.height().wrapping_sub(1),
    })
}

/// Returns a property of a sampler as the payload has it (numbers of Intel's driver,
/// `sampler_patch_values.h`).
pub(crate) fn sampler_fact(s: &Sampler, fact: SamplerFact) -> u32 {
    match fact {
        // The driver's samplers have one for all coordinates.
        SamplerFact::Address => address_number(s.address[0]),
        SamplerFact::Normalized => u32::from(s.normalized) * 8,
        SamplerFact::SnapWa => {
            let nearest = [s.mag, s.min] == [FilterMode::Nearest; 2];
            if nearest && s.address == [AddressMode::Clamp; 3] {
                u32::MAX
            } else {
                0
            }
        }
    }
}

/// Returns the number of an address mode.
fn address_number(mode: AddressMode) -> u32 {
    match mode {
        AddressMode::None => 0,
        AddressMode::Clamp => 1,
        AddressMode::ClampToEdge => 2,
        AddressMode::Repeat => 3,
        AddressMode::Mirror => 4,
    }
}
