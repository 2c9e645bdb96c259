//! Textures, views and formats.
//!
//! A texture is an image of the runtime, and a view of it a view of the image.

use gantry::runtime::{
    ChannelOrder, ChannelType, Device, Error, Image, ImageDesc, ImageFormat, ImagePlace, ImageType,
    ImageView,
};
use std::ops::Bound;
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Texture. A handle.
#[derive(Clone, Debug)]
pub struct Texture(Image);

/// View of a texture.
#[derive(Clone, Debug)]
pub struct TextureView {
    pub(crate) image: Image,
}

/// Returns the format of texels. `None` where there is none.
pub(crate) fn format_of(format: wgt::TextureFormat) -> Option<ImageFormat> {
    use ChannelOrder as O;
    use ChannelType as T;
    use wgt::TextureFormat as F;
    let (order, channel) = match format {
        F::R8Unorm => (O::R, T::UnormInt8),
        F::R8Snorm => (O::R, T::SnormInt8),
        F::R8Uint => (O::R, T::UnsignedInt8),
        F::R8Sint => (O::R, T::SignedInt8),
        F::R16Uint => (O::R, T::UnsignedInt16),
        F::R16Sint => (O::R, T::SignedInt16),
        F::R16Unorm => (O::R, T::UnormInt16),
        F::R16Snorm => (O::R, T::SnormInt16),
        F::R16Float => (O::R, T::HalfFloat),
        F::Rg8Unorm => (O::Rg, T::UnormInt8),
        F::Rg8Snorm => (O::Rg, T::SnormInt8),
        F::Rg8Uint => (O::Rg, T::UnsignedInt8),
        F::Rg8Sint => (O::Rg, T::SignedInt8),
        F::R32Uint => (O::R, T::UnsignedInt32),
        F::R32Sint => (O::R, T::SignedInt32),
        F::R32Float => (O::R, T::Float),
        F::Rg16Uint => (O::Rg, T::UnsignedInt16),
        F::Rg16Sint => (O::Rg, T::SignedInt16),
        F::Rg16Unorm => (O::Rg, T::UnormInt16),
        F::Rg16Snorm => (O::Rg, T::SnormInt16),
        F::Rg16Float => (O::Rg, T::HalfFloat),
        F::Rgba8Unorm => (O::Rgba, T::UnormInt8),
        F::Rgba8UnormSrgb => (O::Srgba, T::UnormInt8),
        F::Rgba8Snorm => (O::Rgba, T::SnormInt8),
        F::Rgba8Uint => (O::Rgba, T::UnsignedInt8),
        F::Rgba8Sint => (O::Rgba, T::SignedInt8),
        F::Bgra8Unorm => (O::Bgra, T::UnormInt8),
        F::Bgra8UnormSrgb => (O::Sbgra, T::UnormInt8),
        F::Rg32Uint => (O::Rg, T::UnsignedInt32),
        F::Rg32Sint => (O::Rg, T::SignedInt32),
        F::Rg32Float => (O::Rg, T::Float),
        F::Rgba16Uint => (O::Rgba, T::UnsignedInt16),
        F::Rgba16Sint => (O::Rgba, T::SignedInt16),
        F::Rgba16Unorm => (O::Rgba, T::UnormInt16),
        F::Rgba16Snorm => (O::Rgba, T::SnormInt16),
        F::Rgba16Float => (O::Rgba, T::HalfFloat),
        F::Rgba32Uint => (O::Rgba, T::UnsignedInt32),
        F::Rgba32Sint => (O::Rgba, T::SignedInt32),
        F::Rgba32Float => (O::Rgba, T::Float),
        F::Rgb10a2Unorm => (O::Rgba, T::UnormInt2101010),
        F::Rgb10a2Uint => (O::Rgba, T::UnsignedInt2101010),
        F::Rg11b10Ufloat => (O::Rgb, T::Float101111),
        F::Rgb9e5Ufloat => (O::Rgb, T::Float5999),
        F::Depth16Unorm => (O::Depth, T::UnormInt16),
        F::Depth32Float => (O::Depth, T::Float),
        _ => return None,
    };
    ImageFormat::new(order, channel).ok()
}

/// Returns what textures of a format can be used for.
pub(crate) fn capabilities(format: wgt::TextureFormat) -> hal::TextureFormatCapabilities {
    use hal::TextureFormatCapabilities as C;
    let Some(known) = format_of(format) else {
        return C::empty();
    };
    let mut all = C::SAMPLED | C::COPY_SRC | C::COPY_DST;
    if !known.channel().is_integer() {
        all |= C::SAMPLED_LINEAR;
    }
    // WebGPU has no stores to sRGB and depth, and hardware none to shared exponents.
    let stored = !known.order().is_srgb() && known.order() != ChannelOrder::Depth;
    if stored && known.channel().is_written() {
        all |= C::STORAGE_READ_ONLY | C::STORAGE_WRITE_ONLY | C::STORAGE_READ_WRITE;
    }
    if matches!(
        format,
        wgt::TextureFormat::R32Uint | wgt::TextureFormat::R32Sint
    ) {
        all |= C::STORAGE_ATOMIC;
    }
    all
}

impl TextureView {
    /// Returns the bytes of a texel of a color.
    pub(crate) fn texel(&self, color: wgt::Color) -> Vec<u8> {
        texel(self.image.format(), color)
    }
}

/// Returns the bytes of a texel of a color.
fn texel(format: ImageFormat, color: wgt::Color) -> Vec<u8> {
    let wgt::Color { r, g, b, a } = color;
    let encode = |v: f64| match v {
        v if v <= 0.003_130_8 => v * 12.92,
        v => 1.055 * v.powf(1.0 / 2.4) - 0.055,
    };
    let mut colors = [r, g, b];
    if format.order().is_srgb() {
        colors = colors.map(encode);
    }
    let [r, g, b] = colors;
    let all = match format.order() {
        ChannelOrder::Bgra | ChannelOrder::Sbgra => [b, g, r, a],
        ChannelOrder::A => [a; 4],
        _ => [r, g, b, a],
    };
    if let Some(word) = format.packed(all.map(|v| v as f32)) {
        return word.to_le_bytes().to_vec();
    }
    let components = all.into_iter().take(format.order().components() as usize);
    components
        .flat_map(|v| component(format.channel(), v))
        .collect()
}

/// Returns the bytes of a component.
fn component(channel: ChannelType, v: f64) -> Vec<u8> {
    let unit = v.clamp(0.0, 1.0);
    let signed = v.clamp(-1.0, 1.0);
    match channel {
        ChannelType::UnormInt8 => vec![(unit * 255.0).round() as u8],
        ChannelType::UnormInt16 => ((unit * 65535.0).round() as u16).to_le_bytes().to_vec(),
        ChannelType::SnormInt8 => ((signed * 127.0).round() as i8).to_le_bytes().to_vec(),
        ChannelType::SnormInt16 => ((signed * 32767.0).round() as i16).to_le_bytes().to_vec(),
        ChannelType::SignedInt8 => (v as i8).to_le_bytes().to_vec(),
        ChannelType::SignedInt16 => (v as i16).to_le_bytes().to_vec(),
        ChannelType::SignedInt32 => (v as i32).to_le_bytes().to_vec(),
        ChannelType::UnsignedInt8 => vec![v as u8],
        ChannelType::UnsignedInt16 => (v as u16).to_le_bytes().to_vec(),
        ChannelType::UnsignedInt32 => (v as u32).to_le_bytes().to_vec(),
        ChannelType::HalfFloat => half::f16::from_f64(v).to_le_bytes().to_vec(),
        // Packed texels are no components.
        ChannelType::Float
        | ChannelType::UnormInt2101010
        | ChannelType::UnsignedInt2101010
        | ChannelType::Float101111
        | ChannelType::Float5999 => (v as f32).to_le_bytes().to_vec(),
    }
}

impl Texture {
    pub(crate) fn new(
        device: &Device,
        desc: &hal::TextureDescriptor<'_>,
    ) -> Result<Texture, hal::DeviceError> {
        let refused = |what: String| {
            log::error!("gantry-wgpu: a texture of {:?}: {what}", desc.format);
            hal::DeviceError::Unexpected
        };
        let Some(format) = format_of(desc.format) else {
            return Err(refused("there is no such format here".to_owned()));
        };
        if desc.sample_count != 1 {
            return Err(refused("several samples are for rendering".to_owned()));
        }
        let wgt::Extent3d {
            width,
            height,
            depth_or_array_layers: depth,
        } = desc.size;
        let image = match desc.dimension {
            wgt::TextureDimension::D1 => ImageDesc::d1(width),
            wgt::TextureDimension::D2 => ImageDesc::d2_array(width, height, depth),
            wgt::TextureDimension::D3 => ImageDesc::d3(width, height, depth),
        };
        let image = device.image(format, image.with_levels(desc.mip_level_count));
        match image {
            Ok(image) => Ok(Texture(image)),
            Err(Error::Buffer(_)) => Err(hal::DeviceError::OutOfMemory),
            Err(e) => Err(refused(e.to_string())),
        }
    }

    pub(crate) fn view(
        &self,
        desc: &hal::TextureViewDescriptor<'_>,
    ) -> Result<TextureView, hal::DeviceError> {
        let refused = |what: String| {
            log::error!("gantry-wgpu: a view of a texture: {what}");
            hal::DeviceError::Unexpected
        };
        let Some(format) = format_of(desc.format) else {
            return Err(refused(format!(
                "there is no format {:?} here",
                desc.format
            )));
        };
        use wgt::TextureViewDimension as V;
        let ty = match desc.dimension {
            V::D1 => ImageType::D1,
            V::D2 => ImageType::D2,
            V::D2Array => ImageType::D2Array,
            V::Cube => ImageType::Cube,
            V::CubeArray => ImageType::CubeArray,
            V::D3 => ImageType::D3,
        };
        let part = |first: u32, count: Option<u32>| {
            let end = count.map_or(Bound::Unbounded, |n| {
                Bound::Excluded(first.saturating_add(n))
            });
            (Bound::Included(first), end)
        };
        let range = &desc.range;
        let view = ImageView::new()
            .ty(ty)
            .format(format)
            .levels(part(range.base_mip_level, range.mip_level_count))
            .layers(part(range.base_array_layer, range.array_layer_count));
        let image = self.0.view(&view).map_err(|e| refused(e.to_string()))?;
        Ok(TextureView { image })
    }

    /// Returns the image of all levels and layers.
    pub(crate) fn image(&self) -> &Image {
        &self.0
    }

    /// Returns the place of a copy's origin.
    pub(crate) fn place(base: &hal::TextureCopyBase) -> ImagePlace {
        let wgt::Origin3d { x, y, z } = wgt::Origin3d {
            x: base.origin.x,
            y: base.origin.y,
            z: base.origin.z + base.array_layer,
        };
        ImagePlace::level(base.mip_level).at([x, y, z])
    }
}
