//! Images and samplers on the command line: PNG files, raw texels, `--arg` forms.

use crate::{Failure, input};
use gantry::isa::diag::Count;
use gantry::runtime::{
    AddressMode, ChannelOrder, ChannelType, Device, FilterMode, Image, ImageDesc, ImageFormat,
    ImageType, MipFilter, Sampler,
};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Image as the command line gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ImageForm {
    /// Initial contents.
    from: ImageSource,
    /// File that it is written to after the launch, in the format of its input.
    to: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ImageSource {
    /// PNG file, as RGBA8.
    Png(PathBuf),
    /// Tightly packed texels; all zero without a file.
    Raw {
        size: Vec<u32>,
        format: ImageFormat,
        file: Option<PathBuf>,
    },
}

/// Image created for a launch, and the file for it afterwards.
pub(crate) struct ImageOutput {
    image: Image,
    png: bool,
    path: PathBuf,
}

impl ImageForm {
    /// Parses `FILE.png[:OUT.png]`.
    pub(crate) fn png(rest: &str) -> Result<ImageForm, String> {
        let (file, to) = match rest.split_once(':') {
            Some((file, to)) => (file, Some(to)),
            None => (rest, None),
        };
        if file.is_empty() || to == Some("") {
            return Err("the form is image2d:FILE.png or image2d:FILE.png:OUT.png".to_owned());
        }
        Ok(ImageForm {
            from: ImageSource::Png(file.into()),
            to: to.map(PathBuf::from),
        })
    }

    /// Parses `40x32[x8]:ORDER:CHANNEL:FILE[:OUTFILE]`.
    pub(crate) fn raw(rest: &str) -> Result<ImageForm, String> {
        let parts: Vec<&str> = rest.splitn(5, ':').collect();
        let (size, order, channel, file, to) = match *parts.as_slice() {
            [size, order, channel, file] => (size, order, channel, file, None),
            [size, order, channel, file, to] => (size, order, channel, file, Some(to)),
            _ => {
                return Err(
                    "the form is image:WIDTHxHEIGHT[xDEPTH]:ORDER:CHANNEL:FILE[:OUTFILE]"
                        .to_owned(),
                );
            }
        };
        let dims: Vec<u32> = size
            .split('x')
            .map(|n| n.parse().ok().filter(|&n| n > 0))
            .collect::<Option<_>>()
            .filter(|d: &Vec<u32>| d.len() <= 3)
            .ok_or_else(|| format!("`{size}` is no size; one is 40x32 or 40x32x8"))?;
        let order = ChannelOrder::from_name(order).ok_or_else(|| {
            format!("`{order}` is no channel order; there are R, A, RG, RGBA, BGRA, INTENSITY, LUMINANCE, DEPTH, sRGBA, sBGRA")
        })?;
        let channel = ChannelType::from_name(channel).ok_or_else(|| {
            format!(
                "`{channel}` is no channel type; there are {}",
                ChannelType::ALL.map(ChannelType::name).join(", ")
            )
        })?;
        Ok(ImageForm {
            from: ImageSource::Raw {
                size: dims,
                format: ImageFormat::new(order, channel).map_err(|e| e.to_string())?,
                file: Some(file).filter(|f| !f.is_empty()).map(PathBuf::from),
            },
            to: to.map(PathBuf::from),
        })
    }

    /// Creates the image. `ty` is the type that the kernel takes, if its zebin says. Otherwise two
    /// sizes are of a 2D image and three of a 3D one.
    pub(crate) fn make(
        &self,
        device: &Device,
        ty: Option<ImageType>,
    ) -> Result<(Image, Option<ImageOutput>), Failure> {
        let image = match &self.from {
            ImageSource::Png(path) => {
                let (desc, texels) = read_png(path)?;
                let image = device
                    .image(ImageFormat::RGBA8, desc)
                    .map_err(|e| Failure::file(path, e))?;
                image.write(&texels).map_err(Failure::new)?;
                image
            }
            ImageSource::Raw { size, format, file } => {
                let image = device
                    .image(*format, desc(size, ty))
                    .map_err(Failure::new)?;
                if let Some(path) = file {
                    let texels = input::read(path)?;
                    if texels.len() != image.byte_len() {
                        return Err(Failure::file(
                            path,
                            format!(
                                "the file has {}, a {} takes {}",
                                Count(texels.len(), "byte"),
                                image.desc(),
                                image.byte_len()
                            ),
                        ));
                    }
                    image.write(&texels).map_err(Failure::new)?;
                }
                image
            }
        };
        let saved = self.to.clone().map(|path| ImageOutput {
            image: image.clone(),
            png: matches!(self.from, ImageSource::Png(_)),
            path,
        });
        Ok((image, saved))
    }
}

/// Describes an image of these sizes.
fn desc(size: &[u32], ty: Option<ImageType>) -> ImageDesc {
    match (size, ty) {
        ([w], Some(ImageType::D1Buffer)) => ImageDesc::d1_buffer(*w),
        ([w], _) => ImageDesc::d1(*w),
        ([w, n], Some(ImageType::D1Array)) => ImageDesc::d1_array(*w, *n),
        ([w, h], _) => ImageDesc::d2(*w, *h),
        ([w, h, n], Some(ImageType::D2Array)) => ImageDesc::d2_array(*w, *h, *n),
        // The layers of a cube are its faces.
        ([w, _, 6], Some(ImageType::Cube)) => ImageDesc::cube(*w),
        ([w, _, n], Some(ImageType::CubeArray)) => ImageDesc::cube_array(*w, *n / 6),
        ([w, h, d, ..], _) => ImageDesc::d3(*w, *h, *d),
        ([], _) => ImageDesc::d1(0),
    }
}

/// Parses `ADDRESS:FILTER` and what follows: `norm`, `mip=FILTER`, `lod=LEAST-MOST`. Address modes
/// that differ by coordinate and filters that differ for magnified and minified texels are
/// separated by `/`.
pub(crate) fn sampler(rest: &str) -> Result<Sampler, String> {
    let form = || {
        "the form is sampler:ADDRESS:FILTER, and then any of :norm, :mip=FILTER and :lod=LEAST-MOST"
            .to_owned()
    };
    let address = |name: &str| {
        AddressMode::from_name(name).ok_or_else(|| {
            format!(
                "`{name}` is no address mode; there are none, clamp, clamp_to_edge, repeat, mirror"
            )
        })
    };
    let filter = |name: &str| {
        FilterMode::from_name(name)
            .ok_or_else(|| format!("`{name}` is no filter; there are nearest and linear"))
    };
    let mut parts = rest.split(':');
    let modes = parts.next().unwrap_or_default().split('/').map(address);
    let modes = modes.collect::<Result<Vec<_>, _>>()?;
    let filters = parts.next().unwrap_or_default().split('/').map(filter);
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    let mut modes = modes.into_iter();
    let (Some(first), [mag, min @ ..]) = (modes.next(), filters.as_slice()) else {
        return Err(form());
    };
    let second = modes.next().unwrap_or(first);
    let all = [first, second, modes.next().unwrap_or(second)];
    if modes.next().is_some() || min.len() > 1 {
        return Err(form());
    }
    let mut sampler = Sampler::new(first, *mag)
        .addressing(all)
        .minifying(*min.first().unwrap_or(mag));
    for part in parts {
        sampler = match part.split_once('=') {
            None if part == "norm" => sampler.normalized(),
            Some(("mip", name)) => {
                let mip = MipFilter::from_name(name).ok_or_else(|| {
                    format!("`{name}` is no filter of levels; there are none, nearest and linear")
                })?;
                sampler.between_levels(mip)
            }
            Some(("lod", bounds)) => {
                let bounds = bounds.split_once('-').ok_or_else(form)?;
                let number = |text: &str| text.parse::<f32>().map_err(|_| form());
                sampler.lod_clamp(number(bounds.0)?, number(bounds.1)?)
            }
            _ => return Err(form()),
        };
    }
    Ok(sampler)
}

/// Reads a PNG file of any colour type, as RGBA8.
fn read_png(path: &Path) -> Result<(ImageDesc, Vec<u8>), Failure> {
    let wrong = |e: png::DecodingError| Failure::file(path, format!("not a readable PNG: {e}"));
    let mut decoder = png::Decoder::new(Cursor::new(input::read(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(wrong)?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| Failure::file(path, "the picture is too large"))?;
    let mut data = vec![0; size];
    let info = reader.next_frame(&mut data).map_err(wrong)?;
    let texels = data
        .get(..info.buffer_size())
        .ok_or_else(|| Failure::file(path, "a frame larger than its buffer"))?
        .chunks_exact(info.color_type.samples())
        .flat_map(|p| match *p {
            [grey] => [grey, grey, grey, 255],
            [grey, a] => [grey, grey, grey, a],
            [r, g, b] => [r, g, b, 255],
            [r, g, b, a, ..] => [r, g, b, a],
            [] => [0; 4],
        })
        .collect();
    Ok((ImageDesc::d2(info.width, info.height), texels))
}

impl ImageOutput {
    /// Writes the image to its file.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let texels = self.image.read::<u8>().map_err(Failure::new)?;
        if !self.png {
            return input::write(&self.path, &texels);
        }
        let mut file = Vec::new();
        let desc = self.image.desc();
        let mut encoder = png::Encoder::new(&mut file, desc.width(), desc.height());
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder
            .write_header()
            .and_then(|mut w| {
                w.write_image_data(&texels)?;
                w.finish()
            })
            .map_err(|e| Failure::file(&self.path, e))?;
        input::write(&self.path, &file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert!(ImageForm::png("a.png").is_ok());
        let both = ImageForm::png("a.png:b.png").unwrap();
        assert_eq!(both.to, Some("b.png".into()));
        let raw = ImageForm::raw("40x32:RGBA:unorm_int8:a.raw:b.raw").unwrap();
        let ImageSource::Raw { size, format, file } = raw.from else {
            panic!("not raw");
        };
        assert_eq!((size, format), (vec![40, 32], ImageFormat::RGBA8));
        assert_eq!(file, Some("a.raw".into()));
        assert!(ImageForm::raw("4:R:FLOAT:").is_ok());
        let s = sampler("repeat:linear:norm").unwrap();
        assert!(s.normalized && s.min == FilterMode::Linear);
        let s = sampler("repeat/mirror:linear/nearest:norm:mip=linear:lod=0.5-2").unwrap();
        let modes = [
            AddressMode::Repeat,
            AddressMode::Mirror,
            AddressMode::Mirror,
        ];
        assert_eq!(
            (s.address, s.mag, s.min),
            (modes, FilterMode::Linear, FilterMode::Nearest)
        );
        assert_eq!((s.mip, s.lod()), (MipFilter::Linear, [0.5, 2.0]));
    }

    #[test]
    fn mistakes() {
        for bad in ["", ":", "a.png:"] {
            assert!(ImageForm::png(bad).is_err(), "{bad}");
        }
        for bad in [
            "40x32:RGBA:UNORM_INT8",
            "40x0:R:FLOAT:a",
            "1x2x3x4:R:FLOAT:a",
            "ax2:R:FLOAT:a",
            "4:RGBX:FLOAT:a",
            "4:R:FLOAT32:a",
            "4:BGRA:FLOAT:a",
        ] {
            assert!(ImageForm::raw(bad).is_err(), "{bad}");
        }
        for bad in [
            "clamp",
            "edge:linear",
            "clamp:cubic",
            "clamp:linear:no",
            "clamp:linear:norm:x",
        ] {
            assert!(sampler(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shapes_follow_the_kernel() {
        assert_eq!(desc(&[4, 5], None), ImageDesc::d2(4, 5));
        assert_eq!(
            desc(&[4, 5], Some(ImageType::D1Array)),
            ImageDesc::d1_array(4, 5)
        );
        assert_eq!(
            desc(&[4, 5, 6], Some(ImageType::D3)),
            ImageDesc::d3(4, 5, 6)
        );
    }
}
