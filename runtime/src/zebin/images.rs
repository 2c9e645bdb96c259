//! Images and samplers in `.ze_info`.

use super::ZebinError;
use super::info::{AddrSpace, PayloadKind, SamplerEntry, SamplerSource};
use super::yaml::Node;
use crate::image_type::ImageType;
use crate::sampler::{AddressMode, Compare, FilterMode, Sampler};

/// Size limit of a sampler table: a descriptor's index has four bits.
const MAX_SAMPLERS: u32 = 16;

/// Returns the image type of an image argument's entry, if it is one known here.
pub(super) fn image_type(n: &Node<'_>) -> Result<Option<ImageType>, ZebinError> {
    let Some(ty) = n.get("image_type")? else {
        return Ok(None);
    };
    let ty = ty.string()?;
    Ok(Some(match ty.as_str() {
        "image_buffer" => ImageType::D1Buffer,
        "image_1d" => ImageType::D1,
        "image_1d_array" => ImageType::D1Array,
        "image_2d" | "image_2d_depth" | "image_2d_media" | "image_2d_media_block" => ImageType::D2,
        "image_2d_array" | "image_2d_array_depth" => ImageType::D2Array,
        "image_3d" => ImageType::D3,
        "image_2d_msaa" | "image_2d_msaa_depth" => ImageType::D2Msaa,
        "image_2d_array_msaa" | "image_2d_array_msaa_depth" => ImageType::D2ArrayMsaa,
        // No launch can give cubes.
        "image_cube" | "image_cube_array" => return Ok(None),
        _ => return Err(n.error(&format!("unknown image_type `{ty}`"))),
    }))
}

/// Returns the image type or sampler that a source type names: `image2d_t;8`, `sampler_t;8`.
pub(super) fn kind_of_type(name: &str) -> Option<super::ArgKind> {
    let name = name.split_once(';').map_or(name, |(n, _)| n);
    let ty = match name {
        "sampler_t" => return Some(super::ArgKind::Sampler),
        "image1d_t" => ImageType::D1,
        "image1d_buffer_t" => ImageType::D1Buffer,
        "image1d_array_t" => ImageType::D1Array,
        "image2d_t" | "image2d_depth_t" => ImageType::D2,
        "image2d_array_t" | "image2d_array_depth_t" => ImageType::D2Array,
        "image3d_t" => ImageType::D3,
        "image2d_msaa_t" | "image2d_msaa_depth_t" => ImageType::D2Msaa,
        "image2d_array_msaa_t" | "image2d_array_msaa_depth_t" => ImageType::D2ArrayMsaa,
        _ => return None,
    };
    Some(super::ArgKind::Image(Some(ty)))
}

/// Reads the sampler table: entries of arguments, and of the code's own samplers.
pub(super) fn samplers(
    node: &Node<'_>,
    payload: &[(Node<'_>, PayloadKind)],
) -> Result<Vec<SamplerEntry>, ZebinError> {
    let mut table: Vec<SamplerEntry> = Vec::new();
    let mut add = |n: &Node<'_>, source| {
        let index = n.need("sampler_index")?.u32()?;
        if index >= MAX_SAMPLERS {
            return Err(n.error(&format!("sampler_index {index} is above {MAX_SAMPLERS}")));
        }
        if table.iter().any(|e| e.index == index) {
            return Err(n.error(&format!("a second sampler at index {index}")));
        }
        table.push(SamplerEntry { index, source });
        Ok(())
    };
    for (n, kind) in payload {
        if let PayloadKind::Pointer {
            index,
            space: AddrSpace::Sampler,
            ..
        } = kind
            && n.get("sampler_index")?.is_some()
        {
            add(n, SamplerSource::Arg(*index))?;
        }
    }
    for n in node.list_of("inline_samplers")? {
        let address = n.need("addrmode")?.string()?;
        let filter = n.need("filtermode")?.string()?;
        let sampler = Sampler {
            address: match address.as_str() {
                "none" => AddressMode::None,
                "repeat" => AddressMode::Repeat,
                "clamp_edge" => AddressMode::ClampToEdge,
                "clamp_border" => AddressMode::Clamp,
                "mirror" => AddressMode::Mirror,
                _ => return Err(n.error(&format!("unknown addrmode `{address}`"))),
            },
            filter: FilterMode::from_name(&filter)
                .ok_or_else(|| n.error(&format!("unknown filtermode `{filter}`")))?,
            normalized: n.flag("normalized")?,
            compare: Compare::Never,
        };
        add(&n, SamplerSource::Inline(sampler))?;
    }
    Ok(table)
}
