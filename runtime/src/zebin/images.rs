//! Images and samplers of a description, as the host has them.

use super::info::{ArgKind, SamplerEntry, SamplerSource};
use crate::image_type::ImageType;
use crate::sampler::{AddressMode, FilterMode, Sampler};
use gantry_zebin::{
    AddrSpace, ArgDescription, ImageKind, InlineSampler, Kernel, PayloadKind, Pointer,
    SamplerAddress, SamplerFilter, ZebinError,
};

/// Size limit of a sampler table: a descriptor's index has four bits.
const MAX_SAMPLERS: u32 = 16;

/// Returns the type of an image.
pub(super) fn image_type(kind: ImageKind) -> ImageType {
    match kind {
        ImageKind::Buffer => ImageType::D1Buffer,
        ImageKind::D1 => ImageType::D1,
        ImageKind::D1Array => ImageType::D1Array,
        ImageKind::D2 | ImageKind::D2Depth | ImageKind::D2Media | ImageKind::D2MediaBlock => {
            ImageType::D2
        }
        ImageKind::D2Array | ImageKind::D2ArrayDepth => ImageType::D2Array,
        ImageKind::D3 => ImageType::D3,
        ImageKind::D2Msaa | ImageKind::D2MsaaDepth => ImageType::D2Msaa,
        ImageKind::D2ArrayMsaa | ImageKind::D2ArrayMsaaDepth => ImageType::D2ArrayMsaa,
        ImageKind::Cube => ImageType::Cube,
        ImageKind::CubeArray => ImageType::CubeArray,
    }
}

/// Returns the image or sampler that an argument's source type names: `image2d_t;8`,
/// `sampler_t;8`.
pub(super) fn kind_of_type(described: &ArgDescription) -> Option<ArgKind> {
    match described.type_alone() {
        ArgDescription::SAMPLER => Some(ArgKind::Sampler),
        name => {
            let kind = ImageKind::from_source_type(name)?;
            Some(ArgKind::Image(Some(image_type(kind))))
        }
    }
}

/// Returns the sampler table: entries of arguments, and of the code's own samplers.
pub(super) fn samplers(k: &Kernel) -> Result<Vec<SamplerEntry>, ZebinError> {
    let mut table: Vec<SamplerEntry> = Vec::new();
    let mut add = |part: &str, i: usize, index: u32, source| {
        let error = |what: String| k.error(format_args!(".{part}[{i}]"), what);
        if index >= MAX_SAMPLERS {
            return Err(error(format!(
                "sampler_index {index} is above {MAX_SAMPLERS}"
            )));
        }
        if table.iter().any(|e| e.index == index) {
            return Err(error(format!("a second sampler at index {index}")));
        }
        table.push(SamplerEntry { index, source });
        Ok(())
    };
    for (i, p) in k.payload.iter().enumerate() {
        if let PayloadKind::Pointer(Pointer {
            index,
            space: AddrSpace::Sampler,
            sampler_index: Some(at),
            ..
        }) = p.kind
        {
            add("payload_arguments", i, at, SamplerSource::Arg(index))?;
        }
    }
    for (i, s) in k.inline_samplers.iter().enumerate() {
        let source = SamplerSource::Inline(sampler(s));
        add("inline_samplers", i, s.sampler_index, source)?;
    }
    Ok(table)
}

/// Returns a sampler of the code's own.
fn sampler(s: &InlineSampler) -> Sampler {
    let address = match s.addrmode {
        SamplerAddress::None => AddressMode::None,
        SamplerAddress::Border => AddressMode::Clamp,
        SamplerAddress::Edge => AddressMode::ClampToEdge,
        SamplerAddress::Repeat => AddressMode::Repeat,
        SamplerAddress::Mirror => AddressMode::Mirror,
    };
    let filter = match s.filtermode {
        SamplerFilter::Nearest => FilterMode::Nearest,
        SamplerFilter::Linear => FilterMode::Linear,
    };
    let sampler = Sampler::new(address, filter);
    if s.normalized {
        sampler.normalized()
    } else {
        sampler
    }
}
