//! Images in device memory, and views of their levels and layers.

use super::{DriverImage, ImageDesc, ImageFormat, ImagePlace, ImageType};
use crate::buffer::Buffer;
use crate::error::Error;
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// Texels of an image.
#[derive(Clone)]
pub(crate) enum Texels {
    /// Memory of a buffer, tightly packed.
    Memory(Buffer),
    /// Image of the driver, whose layout nobody knows.
    Driver(Arc<dyn DriverImage>),
}

/// Location of a view in the image whose texels it shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ViewPlace {
    /// Image of all levels and layers.
    pub(crate) whole: ImageDesc,
    /// First level.
    pub(crate) level: u32,
    /// First layer.
    pub(crate) layer: u32,
}

/// Image in device memory, or a view of one. A handle: clones and views share the texels, which are
/// freed with the last of them.
///
/// To the host its texels are tightly packed. Rows of a slice come first, then slices or layers,
/// then levels of detail. A multi-sampled layer has a picture for each sample.
#[derive(Clone)]
pub struct Image {
    pub(crate) texels: Texels,
    format: ImageFormat,
    desc: ImageDesc,
    pub(crate) place: ViewPlace,
}

/// View of an image, to be made by [`Image::view`]: some levels and layers, as an image of another
/// dimensionality or format. What is not set is that of the image.
///
/// ```
/// use gantry_runtime::{Device, ImageDesc, ImageFormat, ImageType, ImageView, SimOptions};
///
/// # fn main() -> Result<(), gantry_runtime::Error> {
/// let device = Device::simulator(SimOptions::default());
/// let array = device.image(ImageFormat::RGBA8, ImageDesc::d2_array(8, 8, 4).with_levels(3))?;
/// let picture = array.view(&ImageView::new().ty(ImageType::D2).layers(2..3).levels(1..))?;
/// assert_eq!(picture.desc(), ImageDesc::d2(4, 4).with_levels(2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImageView {
    ty: Option<ImageType>,
    format: Option<ImageFormat>,
    levels: Part,
    layers: Part,
}

/// Range of numbers, to the last one where there is no end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Part {
    first: u32,
    end: Option<u32>,
}

impl Part {
    fn of(range: &impl RangeBounds<u32>) -> Part {
        let first = match range.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&n) => Some(n.saturating_add(1)),
            Bound::Excluded(&n) => Some(n),
            Bound::Unbounded => None,
        };
        Part { first, end }
    }

    /// Returns the number of numbers, which are below `all`.
    fn count(self, what: &'static str, all: u32, of: ImageDesc) -> Result<u32, Error> {
        let Part { first, end } = self;
        let end = end.unwrap_or(all);
        if first < end && end <= all {
            return Ok(end - first);
        }
        Err(Error::Image(format!(
            "{what}s {first}..{end} are not within the {} of a {of}",
            Count(all, what)
        )))
    }
}

impl ImageView {
    /// Creates a view of all levels and layers.
    pub const fn new() -> ImageView {
        let all = Part {
            first: 0,
            end: None,
        };
        ImageView {
            ty: None,
            format: None,
            levels: all,
            layers: all,
        }
    }

    /// Sets the dimensionality: 2D for a layer of an array, a cube for six of them.
    pub const fn ty(mut self, ty: ImageType) -> ImageView {
        self.ty = Some(ty);
        self
    }

    /// Sets the format, which has as many bytes a texel as that of the image.
    pub const fn format(mut self, format: ImageFormat) -> ImageView {
        self.format = Some(format);
        self
    }

    /// Sets the levels of detail.
    pub fn levels(mut self, levels: impl RangeBounds<u32>) -> ImageView {
        self.levels = Part::of(&levels);
        self
    }

    /// Sets the layers, six for each cube.
    pub fn layers(mut self, layers: impl RangeBounds<u32>) -> ImageView {
        self.layers = Part::of(&layers);
        self
    }
}

/// Dimensionalities whose texels are arranged alike, so that one can be viewed as another.
#[derive(PartialEq, Eq)]
enum Family {
    Rows,
    Buffer,
    Pictures,
    Samples,
    Volume,
}

impl Family {
    fn of(ty: ImageType) -> Family {
        match ty {
            ImageType::D1 | ImageType::D1Array => Family::Rows,
            ImageType::D1Buffer => Family::Buffer,
            ImageType::D2 | ImageType::D2Array | ImageType::Cube | ImageType::CubeArray => {
                Family::Pictures
            }
            ImageType::D2Msaa | ImageType::D2ArrayMsaa => Family::Samples,
            ImageType::D3 => Family::Volume,
        }
    }
}

/// Checks that images of a type can have some layers.
fn check_layers(ty: ImageType, layers: u32, of: ImageDesc) -> Result<(), Error> {
    let wrong = |need: &str| {
        Err(Error::Image(format!(
            "a view as a {ty} has {need}, not {}",
            Count(layers, "layer")
        )))
    };
    if ty.is_cube() && of.width() != of.height() {
        return Err(Error::Image(format!(
            "a view as a {ty} has squares, which the layers of a {of} are not"
        )));
    }
    match ty {
        ImageType::Cube if layers != 6 => wrong("six layers"),
        ImageType::CubeArray if !layers.is_multiple_of(6) => wrong("six layers for each cube"),
        ImageType::Cube => Ok(()),
        ty if !ty.is_array() && layers != 1 => wrong("one layer"),
        _ => Ok(()),
    }
}

impl Image {
    /// Returns the bytes that an image needs.
    pub(crate) fn bytes(format: ImageFormat, desc: ImageDesc) -> Result<usize, Error> {
        desc.check()?;
        usize::try_from(desc.texels() * u64::from(format.texel_bytes()))
            .map_err(|_| Error::Image(format!("no memory for a {desc}")))
    }

    /// Creates an image of texels. Memory holds at least [`Image::bytes`].
    pub(crate) fn over(texels: Texels, format: ImageFormat, desc: ImageDesc) -> Image {
        Image {
            texels,
            format,
            desc,
            place: ViewPlace {
                whole: desc,
                level: 0,
                layer: 0,
            },
        }
    }

    /// Returns a view, which shares the texels. It is an argument like any image.
    ///
    /// # Errors
    /// Levels or layers are not those of the image. The dimensionality does not fit the image or
    /// the number of layers, or the format its texels. On Level Zero, the driver has no such view.
    pub fn view(&self, view: &ImageView) -> Result<Image, Error> {
        let own = self.desc;
        let levels = view.levels.count("level", own.levels(), own)?;
        let layers = view.layers.count("layer", own.layers(), own)?;
        let ty = view.ty.unwrap_or(own.ty());
        if Family::of(ty) != Family::of(own.ty()) {
            return Err(Error::Image(format!("no view of a {own} is a {ty}")));
        }
        check_layers(ty, layers, own)?;
        let format = view.format.unwrap_or(self.format);
        if format.texel_bytes() != self.format.texel_bytes() {
            return Err(Error::Image(format!(
                "a view has as many bytes a texel as its image: {}, not {}",
                self.format.texel_bytes(),
                format.texel_bytes()
            )));
        }
        let desc = own.part(ty, view.levels.first, levels, layers);
        let place = ViewPlace {
            whole: self.place.whole,
            level: self.place.level + view.levels.first,
            layer: self.place.layer + view.layers.first,
        };
        let texels = match &self.texels {
            Texels::Memory(memory) => Texels::Memory(memory.clone()),
            Texels::Driver(image) => Texels::Driver(image.view(place, format, desc)?),
        };
        Ok(Image {
            texels,
            format,
            desc,
            place,
        })
    }

    /// Returns the format of a texel.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Returns the dimensionality and size.
    pub fn desc(&self) -> ImageDesc {
        self.desc
    }

    /// Returns the bytes of all texels, tightly packed.
    pub fn byte_len(&self) -> usize {
        (self.desc.texels() * u64::from(self.format.texel_bytes())) as usize
    }

    /// Returns the id of the device that it belongs to.
    pub(crate) fn device(&self) -> usize {
        match &self.texels {
            Texels::Memory(memory) => memory.inner.device(),
            Texels::Driver(image) => image.device(),
        }
    }

    /// Returns the memory of the texels, if they are in a buffer.
    pub(crate) fn memory(&self) -> Option<&Buffer> {
        match &self.texels {
            Texels::Memory(memory) => Some(memory),
            Texels::Driver(_) => None,
        }
    }

    /// Returns the driver's image, if the texels are not in a buffer.
    pub(crate) fn driver(&self) -> Option<&dyn DriverImage> {
        match &self.texels {
            Texels::Memory(_) => None,
            Texels::Driver(image) => Some(&**image),
        }
    }

    /// Returns the byte offset of a level's first texel in the memory.
    pub(crate) fn level_offset(&self, level: u32) -> u64 {
        let ViewPlace { whole, layer, .. } = self.place;
        let level = self.place.level + level;
        let levels: u64 = (0..level).map(|l| whole.level_texels(l)).sum();
        let [width, height, _] = whole.level(level).map(u64::from);
        let layers = u64::from(layer) * width * height * u64::from(whole.samples());
        (levels + layers) * u64::from(self.format.texel_bytes())
    }

    /// Returns the byte offsets of the first texel and behind the last one in the memory.
    pub(crate) fn range(&self) -> [u64; 2] {
        let last = self.desc.levels() - 1;
        let texels = self.desc.level_texels(last) * u64::from(self.format.texel_bytes());
        [self.level_offset(0), self.level_offset(last) + texels]
    }

    /// Reads all texels as elements.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn read<T: Pod>(&self) -> Result<Vec<T>, Error> {
        let mut out = vec![T::zeroed(); self.byte_len().checked_div(size_of::<T>()).unwrap_or(0)];
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
        for level in 0..self.desc.levels() {
            let size = self.desc.level_size(level);
            let bytes = self.box_bytes(size).min(rest.len());
            let (part, behind) = rest.split_at_mut(bytes);
            // Elements may end within the last texel.
            if bytes == self.box_bytes(size) {
                self.read_box(ImagePlace::level(level), size, part)?;
            } else {
                let mut texels = vec![0; self.box_bytes(size)];
                self.read_box(ImagePlace::level(level), size, &mut texels)?;
                part.copy_from_slice(texels.get(..bytes).unwrap_or_default());
            }
            rest = behind;
        }
        Ok(out)
    }

    /// Writes texels from the first on.
    ///
    /// # Errors
    /// There are more elements than the image has, or the device fails to copy.
    pub fn write<T: Pod>(&self, data: &[T]) -> Result<(), Error> {
        let mut rest: &[u8] = bytemuck::cast_slice(data);
        if rest.len() > self.byte_len() {
            return Err(Error::Image(format!(
                "{} bytes are more than the {} of a {}",
                rest.len(),
                self.byte_len(),
                self.desc
            )));
        }
        for level in 0..self.desc.levels() {
            let size = self.desc.level_size(level);
            let bytes = self.box_bytes(size).min(rest.len());
            let (part, behind) = rest.split_at(bytes);
            self.write_first(level, part)?;
            rest = behind;
        }
        Ok(())
    }

    /// Writes bytes to the first texels of a level.
    fn write_first(&self, level: u32, bytes: &[u8]) -> Result<(), Error> {
        let size = self.desc.level_size(level);
        let place = ImagePlace::level(level);
        if let Some(memory) = self.memory() {
            // A level's layers follow each other.
            return memory.write_bytes(self.level_offset(level) as usize, bytes);
        }
        if bytes.len() == self.box_bytes(size) {
            self.write_box(place, size, bytes)?;
        } else if !bytes.is_empty() {
            let mut texels = vec![0; self.box_bytes(size)];
            self.read_box(place, size, &mut texels)?;
            if let Some(part) = texels.get_mut(..bytes.len()) {
                part.copy_from_slice(bytes);
            }
            self.write_box(place, size, &texels)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("format", &self.format)
            .field("desc", &self.desc)
            .field("place", &self.place)
            .field("memory", &self.memory())
            .finish()
    }
}
