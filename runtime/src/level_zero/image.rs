//! Images and samplers of products that have samplers: the driver's own. Its texels are where it
//! likes, so copies go by its calls.
//!
//! The driver has no levels of detail, cubes, samples or sRGB, and its views show all texels of an
//! image. What it has not is an error that says so.

use super::ffi::{DriverDesc, DriverImage, Gpu, Memory, TexelBox};
use super::{Buffers, hold};
use crate::buffer::{MemoryKind, Pitch};
use crate::control::Span;
use crate::error::Error;
use crate::image::{
    self, AddressMode, ChannelOrder, ChannelType, Compare, Direction, FilterMode, ImageDesc,
    ImageFormat, ImagePlace, ImageType, Sampler, ViewPlace,
};
use std::sync::Arc;

/// Image on a device.
pub(super) struct LevelZeroImage {
    image: Arc<DriverImage>,
    gpu: Arc<Gpu>,
    device: usize,
    buffers: Arc<Buffers>,
    texel_bytes: usize,
}

/// Number of the driver for arrays of rows, whose layers are rows of its regions.
const ROW_ARRAY: u32 = 1;

/// Components of a swizzle.
const RED: u32 = 0;
const GREEN: u32 = 1;
const BLUE: u32 = 2;
const ALPHA: u32 = 3;
const ZERO: u32 = 4;
const ONE: u32 = 5;

fn refused(what: String) -> Error {
    Error::Image(format!("Level Zero has no {what}"))
}

/// Returns the driver's numbers of an image.
fn describe(format: ImageFormat, desc: ImageDesc) -> Result<DriverDesc, Error> {
    let ty = match desc.ty() {
        ImageType::D1 => 0,
        ImageType::D1Array => ROW_ARRAY,
        ImageType::D2 => 2,
        ImageType::D2Array => 3,
        ImageType::D3 => 4,
        ImageType::D1Buffer
        | ImageType::D2Msaa
        | ImageType::D2ArrayMsaa
        | ImageType::Cube
        | ImageType::CubeArray => return Err(refused(format!("{}", desc.ty()))),
    };
    if desc.levels() > 1 {
        return Err(refused(format!(
            "levels of detail, and this {desc} has {}",
            desc.levels()
        )));
    }
    let swizzle = match format.order() {
        ChannelOrder::R | ChannelOrder::Depth => [RED, ZERO, ZERO, ONE],
        ChannelOrder::Rg => [RED, GREEN, ZERO, ONE],
        ChannelOrder::Rgba => [RED, GREEN, BLUE, ALPHA],
        // The driver arranges components for loads, and not for stores.
        order => {
            return Err(refused(format!(
                "images of {} that kernels store to",
                order.name()
            )));
        }
    };
    let layout = match (format.channel().bytes(), format.order().components()) {
        _ if format.channel().is_packed() => 9,
        (1, 1) => 0,
        (2, 1) => 1,
        (4, 1) => 2,
        (1, 2) => 3,
        (1, _) => 4,
        (2, 2) => 5,
        (2, _) => 6,
        (_, 2) => 7,
        _ => 8,
    };
    let component = match format.channel() {
        ChannelType::UnsignedInt8
        | ChannelType::UnsignedInt16
        | ChannelType::UnsignedInt32
        | ChannelType::UnsignedInt2101010 => 0,
        ChannelType::SignedInt8 | ChannelType::SignedInt16 | ChannelType::SignedInt32 => 1,
        ChannelType::UnormInt8 | ChannelType::UnormInt16 | ChannelType::UnormInt2101010 => 2,
        ChannelType::SnormInt8 | ChannelType::SnormInt16 => 3,
        ChannelType::HalfFloat | ChannelType::Float => 4,
        // Of red, green and blue, an order that is refused above.
        packed @ (ChannelType::Float101111 | ChannelType::Float5999) => {
            return Err(refused(format!("images of {}", packed.name())));
        }
    };
    Ok(DriverDesc {
        ty,
        layout,
        component,
        swizzle,
        size: [desc.width(), desc.height(), desc.depth()],
        layers: if desc.ty().is_array() {
            desc.layers()
        } else {
            0
        },
    })
}

/// Returns the driver's numbers of a sampler.
fn sampler_key(s: &Sampler) -> Result<[u32; 3], Error> {
    if s.compare != Compare::Never {
        return Err(refused("samplers that compare".to_owned()));
    }
    if !s.is_plain() {
        return Err(refused(
            "samplers with several address modes or filters, or bounds of levels".to_owned(),
        ));
    }
    let address = match s.address[0] {
        AddressMode::None => 0,
        AddressMode::Repeat => 1,
        AddressMode::ClampToEdge => 2,
        AddressMode::Clamp => 3,
        AddressMode::Mirror => 4,
    };
    let filter = u32::from(s.mag == FilterMode::Linear);
    Ok([address, filter, u32::from(s.normalized)])
}

/// Returns the handle of a sampler.
pub(super) fn sampler(gpu: &Gpu, s: &Sampler) -> Result<usize, Error> {
    gpu.sampler(sampler_key(s)?)
}

impl LevelZeroImage {
    pub(super) fn new(
        gpu: &Arc<Gpu>,
        (device, buffers): (usize, &Arc<Buffers>),
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Result<LevelZeroImage, Error> {
        Ok(LevelZeroImage {
            image: Arc::new(DriverImage::new(gpu, describe(format, desc)?)?),
            gpu: gpu.clone(),
            device,
            buffers: buffers.clone(),
            texel_bytes: format.texel_bytes() as usize,
        })
    }

    /// Returns a box as the driver has it.
    fn texel_box(&self, place: ImagePlace, size: [u32; 3]) -> TexelBox {
        let is_row_array = self.image.ty() == ROW_ARRAY;
        let arrange = |[x, y, z]: [u32; 3], none| {
            if is_row_array {
                [x, z, none]
            } else {
                [x, y, z]
            }
        };
        TexelBox {
            origin: arrange(place.origin, 0),
            size: arrange(size, 1),
        }
    }
}

impl image::DriverImage for LevelZeroImage {
    fn device(&self) -> usize {
        self.device
    }

    fn handle(&self) -> usize {
        self.image.handle()
    }

    fn texels(&self) -> usize {
        self.image.texels()
    }

    fn view(
        &self,
        place: ViewPlace,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Result<Arc<dyn image::DriverImage>, Error> {
        if place.layer > 0 || desc.layers() != place.whole.layers() {
            let what = format!("views of some of the layers of a {}", place.whole);
            return Err(refused(what));
        }
        let image = Arc::new(self.image.view(describe(format, desc)?)?);
        Ok(Arc::new(LevelZeroImage {
            image,
            gpu: self.gpu.clone(),
            device: self.device,
            buffers: self.buffers.clone(),
            texel_bytes: self.texel_bytes,
        }))
    }

    fn read(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        out: &mut [u8],
    ) -> Result<Option<Span>, Error> {
        self.image.read(self.texel_box(place, size), out)
    }

    fn write(&self, place: ImagePlace, size: [u32; 3], data: &[u8]) -> Result<Option<Span>, Error> {
        self.image.write(self.texel_box(place, size), data.to_vec())
    }

    fn copy_from(
        &self,
        to: ImagePlace,
        source: &dyn image::DriverImage,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Option<Result<Option<Span>, Error>> {
        let source: &LevelZeroImage = source.as_any().downcast_ref()?;
        let (to, from) = (self.texel_box(to, size), source.texel_box(from, size));
        Some(self.image.copy_from(to, &source.image, from))
    }

    fn copy_rows(
        &self,
        direction: Direction,
        place: ImagePlace,
        size: [u32; 3],
        (address, pitch): (u64, Pitch),
    ) -> Option<Result<Option<Span>, Error>> {
        let found = hold(&self.buffers).get(&address)?.upgrade()?;
        let texels = self.texel_box(place, size);
        let [width, height, depth] = size.map(|n| n as usize);
        let rows = [width * self.texel_bytes, height, depth];
        let bytes = rows.iter().product();
        if let (packed, [_, 1, 1]) = pitch.merged(rows) {
            let memory = (&found.memory, packed.offset, bytes);
            return Some(self.image.copy_packed(direction, texels, memory));
        }
        // The driver takes tightly packed texels alone: they go through memory that has them so.
        let between = match Memory::new(&self.gpu, bytes, MemoryKind::Device) {
            Ok(memory) => memory,
            Err(e) => return Some(Err(e)),
        };
        let packed = Pitch {
            offset: 0,
            row: rows[0],
            slice: rows[0] * rows[1],
        };
        let whole = (&between, 0, bytes);
        match direction {
            Direction::ToImage => {
                let begin = between.copy_rows_from(packed, &found.memory, pitch, rows)?;
                Some(begin.and_then(|begin| {
                    let end = self.image.copy_packed(direction, texels, whole)?;
                    Ok(Span::join(begin, end))
                }))
            }
            Direction::ToBuffer => {
                let begin = match self.image.copy_packed(direction, texels, whole) {
                    Ok(begin) => begin,
                    Err(e) => return Some(Err(e)),
                };
                let end = found.memory.copy_rows_from(pitch, &between, packed, rows)?;
                Some(end.map(|end| Span::join(begin, end)))
            }
        }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_samplers_have_the_drivers_numbers() {
        let format = |order, channel| ImageFormat::new(order, channel).unwrap();
        let d2 = ImageDesc::d2(4, 4);
        let half = format(ChannelOrder::Rg, ChannelType::HalfFloat);
        let d = describe(half, ImageDesc::d2_array(4, 3, 2)).unwrap();
        assert_eq!((d.ty, d.layout, d.component, d.layers), (3, 5, 4, 2));
        assert_eq!(d.swizzle, [0, 1, 4, 5]);
        let d = describe(ImageFormat::RGBA8, d2).unwrap();
        assert_eq!((d.ty, d.layout, d.component, d.layers), (2, 4, 2, 0));
        for (format, desc, said) in [
            (half, d2.with_levels(2), "no levels of detail"),
            (half, ImageDesc::cube(4), "no cube image"),
            (
                half,
                ImageDesc::d2_msaa(4, 4, 4),
                "no multi-sampled 2D image",
            ),
            (
                format(ChannelOrder::Srgba, ChannelType::UnormInt8),
                d2,
                "no images of sRGBA",
            ),
        ] {
            let error = describe(format, desc).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
        let sampler = Sampler::new(AddressMode::Mirror, FilterMode::Linear).normalized();
        assert_eq!(sampler_key(&sampler).unwrap(), [4, 1, 1]);
        assert!(sampler_key(&sampler.comparing(Compare::Less)).is_err());
    }
}
