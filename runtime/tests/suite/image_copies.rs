//! Views of images, and copies between images and buffers, against a model that has each texel by
//! its coordinates.

use crate::common::simulator;
use crate::rng::Rng;
use gantry_runtime::{
    Buffer, ChannelOrder, ChannelType, CommandList, Device, Image, ImageDesc, ImageFormat,
    ImagePlace, ImageType, ImageView, Pitch, QueueOptions,
};
use std::collections::BTreeMap;

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

/// Formats of one to sixteen bytes a texel.
fn formats() -> [ImageFormat; 6] {
    [
        format(ChannelOrder::R, ChannelType::UnormInt8),
        format(ChannelOrder::R, ChannelType::HalfFloat),
        ImageFormat::RGBA8,
        format(ChannelOrder::Srgba, ChannelType::UnormInt8),
        format(ChannelOrder::Rg, ChannelType::UnsignedInt32),
        format(ChannelOrder::Rgba, ChannelType::Float),
    ]
}

/// Level, column, row, layer or slice, and sample.
type At = (u32, u32, u32, u32, u32);
/// Texels of an image: the first byte of each.
type Model = BTreeMap<At, u8>;

fn random_desc(r: &mut Rng) -> ImageDesc {
    let mut n = |most: u64| 1 + r.below(most) as u32;
    let (w, h, d) = (n(9), n(7), n(13));
    let desc = match n(8) {
        1 => ImageDesc::d1(w),
        2 => ImageDesc::d1_array(w, d),
        3 => ImageDesc::d2(w, h),
        4 => ImageDesc::d2_array(w, w, d),
        5 => ImageDesc::d3(w, h, d),
        6 => ImageDesc::cube(w),
        7 => ImageDesc::cube_array(w, 1 + d % 3),
        _ => return ImageDesc::d2_array_msaa(w, h, d, 4),
    };
    let largest = desc.width().max(desc.height()).max(desc.depth());
    desc.with_levels(n(u64::from(32 - largest.leading_zeros())))
}

fn size_of(d: ImageDesc, level: u32) -> [u32; 3] {
    let [w, h, depth] = d.level(level);
    [w, h, depth * d.layers()]
}

/// Iterates over the texels of an image in the host's order.
fn texels(d: ImageDesc) -> impl Iterator<Item = At> {
    (0..d.levels()).flat_map(move |l| {
        let [w, h, z] = size_of(d, l);
        (0..z).flat_map(move |z| {
            (0..d.samples())
                .flat_map(move |s| (0..h).flat_map(move |y| (0..w).map(move |x| (l, x, y, z, s))))
        })
    })
}

/// Image or view, with the location of its first texel in the model.
struct Viewed {
    image: Image,
    level: u32,
    layer: u32,
}

impl Viewed {
    fn whole(&self, (l, x, y, z, s): At) -> At {
        (self.level + l, x, y, self.layer + z, s)
    }

    /// Iterates over the model's texels of a box, in the host's order.
    fn of_box(&self, p: ImagePlace, [w, h, d]: [u32; 3]) -> impl Iterator<Item = At> {
        let [px, py, pz] = p.origin;
        let samples = self.image.desc().samples();
        let (level, layer) = (self.level + p.level, self.layer);
        (0..d).flat_map(move |z| {
            (0..samples).flat_map(move |s| {
                (0..h).flat_map(move |y| {
                    (0..w).map(move |x| (level, px + x, py + y, layer + pz + z, s))
                })
            })
        })
    }

    fn random(of: &Image, r: &mut Rng) -> Viewed {
        let d = of.desc();
        let mut part = |all: u32| {
            let first = r.below(u64::from(all)) as u32;
            first..first + 1 + r.below(u64::from(all - first)) as u32
        };
        let levels = part(d.levels());
        let mut layers = part(d.layers());
        let six = layers.end - layers.start >= 6 && d.width() == d.height();
        let ty = match (d.ty(), r.below(4)) {
            (ImageType::D1Array, 0) => ImageType::D1,
            (ImageType::D1 | ImageType::D1Array, _) => ImageType::D1Array,
            (ImageType::D3, _) => ImageType::D3,
            (ImageType::D2ArrayMsaa, 0) => ImageType::D2Msaa,
            (ImageType::D2ArrayMsaa, _) => ImageType::D2ArrayMsaa,
            (_, 0) => ImageType::D2,
            (_, 1) if six => ImageType::Cube,
            (_, 2) if six => ImageType::CubeArray,
            _ => ImageType::D2Array,
        };
        let count = match ty {
            ImageType::D1 | ImageType::D2 | ImageType::D3 | ImageType::D2Msaa => 1,
            ImageType::Cube => 6,
            ImageType::CubeArray => (layers.end - layers.start) / 6 * 6,
            _ => layers.end - layers.start,
        };
        layers.end = layers.start + count;
        let same = formats().into_iter();
        let bytes = of.format().texel_bytes();
        let same: Vec<_> = same.filter(|f| f.texel_bytes() == bytes).collect();
        let view = ImageView::new()
            .ty(ty)
            .levels(levels.clone())
            .layers(layers.clone())
            .format(same[r.below(same.len() as u64) as usize]);
        let image = of
            .view(&view)
            .unwrap_or_else(|e| panic!("{d} as {view:?}: {e}"));
        assert_eq!(image.desc().ty(), ty);
        Viewed {
            image,
            level: levels.start,
            layer: layers.start,
        }
    }

    /// Draws a box in a level.
    fn random_box(&self, r: &mut Rng) -> (ImagePlace, [u32; 3]) {
        let level = r.below(u64::from(self.image.desc().levels())) as u32;
        let (mut origin, mut size) = ([0; 3], [0; 3]);
        let all = size_of(self.image.desc(), level);
        for ((at, n), all) in origin.iter_mut().zip(&mut size).zip(all) {
            // Whole rows and slices are as likely as parts.
            if r.below(2) == 0 {
                *n = all;
            } else {
                *at = r.below(u64::from(all)) as u32;
                *n = 1 + r.below(u64::from(all - *at)) as u32;
            }
        }
        (ImagePlace::level(level).at(origin), size)
    }
}

fn check(image: &Image, model: &Model, seed: u64) {
    let bytes = image.format().texel_bytes() as usize;
    let got: Vec<u8> = image.read().unwrap();
    let got: Vec<u8> = got.chunks_exact(bytes).map(|t| t[bytes - 1]).collect();
    let want: Vec<u8> = texels(image.desc()).map(|at| model[&at]).collect();
    assert_eq!(got, want, "seed {seed}: {}", image.desc());
}

fn pitch_of(r: &mut Rng, [w, h, d]: [usize; 3]) -> (Pitch, usize) {
    let row = w + r.below(2) as usize * r.below(5) as usize;
    let slice = row * (h + r.below(2) as usize);
    let offset = r.below(9) as usize;
    let end = offset + (d - 1) * slice + (h - 1) * row + w;
    (Pitch { offset, row, slice }, end + r.below(4) as usize)
}

/// Random copies of random views, by commands and at once.
#[test]
fn copies_and_views_are_those_of_a_model() {
    let device = simulator();
    let queue = device.queue(QueueOptions::default());
    let mut refused = 0;
    for seed in 0..400u64 {
        let mut r = Rng(seed.wrapping_mul(0x9e37_79b9) + 1);
        let format = formats()[r.below(6) as usize];
        let bytes = format.texel_bytes() as usize;
        let images = [0; 2].map(|_| {
            let mut desc = random_desc(&mut r);
            // Samples are copied between images that have as many.
            if desc.samples() > 1 && r.below(2) == 0 {
                desc = ImageDesc::d2(5, 4);
            }
            device.image(format, desc).unwrap()
        });
        let mut models = images.each_ref().map(|image| -> Model {
            let values: BTreeMap<At, u8> = texels(image.desc())
                .map(|at| (at, r.below(200) as u8))
                .collect();
            let all: Vec<u8> = texels(image.desc())
                .flat_map(|at| vec![values[&at]; bytes])
                .collect();
            image.write(&all).unwrap();
            values
        });
        for _ in 0..8 {
            let [a, b] = [0; 2].map(|_| r.below(2) as usize);
            let from = Viewed::random(&images[a], &mut r);
            let to = Viewed::random(&images[b], &mut r);
            check_view(&from, &models[a], seed);
            let synchronous = r.below(2) == 0;
            let (place, size) = from.random_box(&mut r);
            match r.below(4) {
                0 => {
                    // A place in the other image where the box fits, if there is one.
                    let level = r.below(u64::from(to.image.desc().levels())) as u32;
                    let all = size_of(to.image.desc(), level);
                    let mut origin = [0; 3];
                    let mut size = size;
                    for ((at, n), all) in origin.iter_mut().zip(&mut size).zip(all) {
                        *n = (*n).min(all);
                        *at = r.below(u64::from(all - *n) + 1) as u32;
                    }
                    let target = ImagePlace::level(level).at(origin);
                    let cells: Vec<At> = from.of_box(place, size).collect();
                    let targets: Vec<At> = to.of_box(target, size).collect();
                    let overlap = a == b && cells.iter().any(|c| targets.contains(c));
                    let unlike = from.image.desc().samples() != to.image.desc().samples();
                    let done = if synchronous {
                        to.image.copy_from(target, &from.image, place, size)
                    } else {
                        queue
                            .copy_image((&from.image, place), (&to.image, target), size)
                            .and_then(|e| e.wait())
                    };
                    assert_eq!(done.is_err(), overlap || unlike, "seed {seed}: {done:?}");
                    if done.is_err() {
                        refused += 1;
                        continue;
                    }
                    for (c, t) in cells.into_iter().zip(targets) {
                        let value = models[a][&c];
                        models[b].insert(t, value);
                    }
                }
                1 => {
                    let texel = vec![r.below(200) as u8; bytes];
                    if synchronous {
                        from.image.fill(place, size, &texel).unwrap();
                    } else {
                        let fill = queue.fill_image((&from.image, place), size, &texel);
                        fill.unwrap().wait().unwrap();
                    }
                    for at in from.of_box(place, size) {
                        models[a].insert(at, texel[0]);
                    }
                }
                direction => {
                    let samples = from.image.desc().samples();
                    let [w, h, d] = size.map(|n| n as usize);
                    let rows = [w * bytes, h, d * samples as usize];
                    let (pitch, len) = pitch_of(&mut r, rows);
                    let data: Vec<u8> = (0..len).map(|_| r.below(200) as u8).collect();
                    let buffer = device.buffer_from(&data).unwrap();
                    let last = |n: usize, x: usize| {
                        let [slice, row] = [n / h, n % h];
                        pitch.offset + slice * pitch.slice + row * pitch.row + x * bytes + bytes - 1
                    };
                    let cells: Vec<At> = from.of_box(place, size).collect();
                    let places: Vec<usize> = (0..cells.len()).map(|n| last(n / w, n % w)).collect();
                    let to_image = direction == 2;
                    rows_copied(
                        &queue_or(&queue, synchronous),
                        &from,
                        place,
                        (&buffer, pitch),
                        size,
                        to_image,
                    );
                    if to_image {
                        for (c, p) in cells.into_iter().zip(places) {
                            models[a].insert(c, data[p]);
                        }
                    } else {
                        let got: Vec<u8> = buffer.read().unwrap();
                        let mut want = data;
                        for (c, p) in cells.into_iter().zip(places) {
                            let value = models[a][&c];
                            want[p] = value;
                            // Other bytes of a texel may be anything that was filled in.
                            want[p + 1 - bytes..p].copy_from_slice(&got[p + 1 - bytes..p]);
                        }
                        assert_eq!(got, want, "seed {seed}");
                    }
                }
            }
        }
        for (image, model) in images.iter().zip(&models) {
            check(image, model, seed);
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Queue to submit to, or none for copies at once.
fn queue_or(queue: &gantry_runtime::Queue, at_once: bool) -> Option<gantry_runtime::Queue> {
    (!at_once).then(|| queue.clone())
}

fn rows_copied(
    queue: &Option<gantry_runtime::Queue>,
    v: &Viewed,
    place: ImagePlace,
    (buffer, pitch): (&Buffer, Pitch),
    size: [u32; 3],
    to_image: bool,
) {
    let done = match (queue, to_image) {
        (None, true) => v.image.copy_from_buffer(place, buffer, pitch, size),
        (None, false) => v.image.copy_to_buffer(place, buffer, pitch, size),
        (Some(q), true) => q
            .copy_to_image((buffer, pitch), (&v.image, place), size)
            .and_then(|e| e.wait()),
        (Some(q), false) => q
            .copy_from_image((&v.image, place), (buffer, pitch), size)
            .and_then(|e| e.wait()),
    };
    done.unwrap();
}

/// A view has the texels of its part, in the host's order.
fn check_view(v: &Viewed, model: &Model, seed: u64) {
    let bytes = v.image.format().texel_bytes() as usize;
    let got: Vec<u8> = v.image.read().unwrap();
    let got: Vec<u8> = got.chunks_exact(bytes).map(|t| t[bytes - 1]).collect();
    let want: Vec<u8> = texels(v.image.desc())
        .map(|at| model[&v.whole(at)])
        .collect();
    assert_eq!(got, want, "seed {seed}: {}", v.image.desc());
    v.image.write(&v.image.read::<u8>().unwrap()).unwrap();
}

fn array(device: &Device) -> Image {
    let desc = ImageDesc::d2_array(8, 4, 7).with_levels(3);
    device.image(ImageFormat::RGBA8, desc).unwrap()
}

#[test]
fn views_that_do_not_fit_are_named() {
    let device = simulator();
    let image = array(&device);
    let square = device
        .image(ImageFormat::RGBA8, ImageDesc::d2_array(8, 8, 13))
        .unwrap();
    let v = ImageView::new;
    let halves = format(ChannelOrder::Rgba, ChannelType::HalfFloat);
    for (of, view, said) in [
        (
            &image,
            v().levels(1..4),
            "levels 1..4 are not within the 3 levels of a 2D image array",
        ),
        (&image, v().levels(2..2), "levels 2..2 are not within"),
        (
            &image,
            v().layers(7..),
            "layers 7..7 are not within the 7 layers",
        ),
        (
            &image,
            v().ty(ImageType::D2),
            "a view as a 2D image has one layer, not 7 layers",
        ),
        (
            &image,
            v().ty(ImageType::D3),
            "no view of a 2D image array of 8x4, 7 layers is a 3D image",
        ),
        (
            &image,
            v().ty(ImageType::Cube).layers(..6),
            "has squares, which the layers",
        ),
        (
            &square,
            v().ty(ImageType::Cube),
            "has six layers, not 13 layers",
        ),
        (
            &square,
            v().ty(ImageType::CubeArray),
            "has six layers for each cube, not 13 layers",
        ),
        (
            &image,
            v().format(halves),
            "as many bytes a texel as its image: 4, not 8",
        ),
    ] {
        let error = of.view(&view).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // A view of a view counts from its own.
    let view = image.view(&v().levels(1..).layers(2..5)).unwrap();
    let inner = view
        .view(&v().ty(ImageType::D2).levels(1..).layers(2..))
        .unwrap();
    assert_eq!(inner.desc(), ImageDesc::d2(2, 1));
    inner.write(&[7u32, 8]).unwrap();
    let all: Vec<u32> = image.read().unwrap();
    // Levels of 8x4 and 4x2, then four layers of 2x1.
    let at = 7 * (32 + 8) + 4 * 2;
    assert_eq!(all[at..at + 2], [7, 8]);
    assert_eq!(all.iter().filter(|t| **t != 0).count(), 2);
    let error = view.view(&v().levels(2..)).unwrap_err().to_string();
    assert!(error.contains("within the 2 levels"), "{error}");
}

#[test]
fn copies_that_do_not_fit_say_where() {
    let device = simulator();
    let queue = device.queue(QueueOptions::default());
    let image = array(&device);
    let small = device
        .image(
            format(ChannelOrder::R, ChannelType::UnormInt8),
            ImageDesc::d2(8, 8),
        )
        .unwrap();
    let samples = device
        .image(ImageFormat::RGBA8, ImageDesc::d2_msaa(8, 8, 4))
        .unwrap();
    let place = ImagePlace::level;
    let buffer = device.buffer(64).unwrap();
    let rows = |row| Pitch {
        offset: 4,
        row,
        slice: 0,
    };
    let errors = [
        queue.copy_image((&image, place(0)), (&image, place(3)), [1; 3]),
        queue.copy_image(
            (&image, place(1).at([3, 0, 0])),
            (&image, place(0)),
            [2, 1, 1],
        ),
        queue.copy_image((&image, place(0)), (&small, place(0)), [1; 3]),
        queue.copy_image((&image, place(0)), (&samples, place(0)), [1; 3]),
        queue.copy_image(
            (&image, place(0)),
            (&image, place(0).at([1, 1, 1])),
            [2, 2, 2],
        ),
        queue.copy_to_image((&buffer, rows(16)), (&image, place(0)), [4, 4, 1]),
        queue.copy_from_image((&image, place(0)), (&buffer, rows(8)), [4, 2, 1]),
        queue.fill_image((&image, place(2)), [2, 1, 8], &[0u32]),
        queue.fill_image((&image, place(0)), [1; 3], &[0u8]),
    ];
    let said = [
        "1x1x1 texels at [0, 0, 0] of level 3: a 2D image array of 8x4, 7 layers has 3 levels",
        "2x1x1 texels at [3, 0, 0] are not within level 1 of a 2D image array of 8x4, 7 layers, which is 4x2x7",
        "a copy from texels of 4 bytes to texels of 1 byte",
        "a copy from texels of 1 sample to texels of 4 samples",
        "which overlap",
        "are not within a buffer of 64 bytes",
        "are not within a buffer of 64 bytes",
        "2x1x8 texels at [0, 0, 0] are not within level 2",
        "a fill by 1 byte, where a texel has 4",
    ];
    for (error, said) in errors.into_iter().zip(said) {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // An image over a buffer is that buffer's bytes.
    let memory = device.buffer(256).unwrap();
    let over = device
        .image_of(&memory, ImageFormat::RGBA8, ImageDesc::d2(8, 8))
        .unwrap();
    let row = |offset| Pitch {
        offset,
        ..Pitch::default()
    };
    let error = queue.copy_to_image((&memory, row(32)), (&over, place(0).at([7, 0, 0])), [1; 3]);
    assert!(error.is_ok(), "they are apart");
    let error = queue.copy_to_image(
        (&memory, row(32)),
        (&over, place(0).at([0, 1, 0])),
        [8, 1, 1],
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("in the same bytes"), "{error}");
}

#[test]
fn command_lists_have_copies_of_images() {
    let device = simulator();
    let queue = device.queue(QueueOptions::default());
    let image = array(&device);
    let line = device.buffer_from(&[1u32, 2, 3, 4]).unwrap();
    let out = device.buffer(64).unwrap();
    let mut list = CommandList::new(&device);
    let (first, second) = (ImagePlace::level(0), ImagePlace::level(1).at([0, 1, 6]));
    let row = Pitch::default();
    list.copy_to_image((&line, row), (&image, first), [4, 1, 1])
        .unwrap();
    list.copy_image((&image, first), (&image, second), [4, 1, 1])
        .unwrap();
    list.fill_image((&image, second), [1; 3], &[9u32]).unwrap();
    list.copy_from_image((&image, second), (&out, row), [4, 1, 1])
        .unwrap();
    assert_eq!(list.len(), 4);
    queue.replay(&list).submit().unwrap().wait().unwrap();
    assert_eq!(out.read::<u32>().unwrap()[..4], [9, 2, 3, 4]);
    line.write(&[5u32, 6, 7, 8]).unwrap();
    queue.replay(&list).submit().unwrap().wait().unwrap();
    assert_eq!(out.read::<u32>().unwrap()[..4], [9, 6, 7, 8]);
}
