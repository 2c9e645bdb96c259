//! Images of other formats than colors, of several samples and levels, and block accesses to them.
//! pocl lacks most of these. The expectation is computed here.

use super::super::case::{Case, Memory, any, within, zero};
use crate::rng::Rng;
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, FilterMode, ImageDesc, ImageFormat, Sampler,
};
use half::f16;

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

const W: usize = 12;
const H: usize = 5;

pub fn cases() -> Vec<Case> {
    let mut cases = of_kinds();
    cases.extend(of_samples());
    cases.extend(of_levels());
    let none = "the device has no sampler, and the compiler leaves reads out";
    let mut cases: Vec<Case> = cases
        .into_iter()
        .map(|c| c.theirs(&["pvc"], none))
        .collect();
    cases.push(level_writes());
    for width in [8, 16] {
        cases.extend(of_blocks(width));
    }
    cases
}

fn of_kinds() -> Vec<Case> {
    use ChannelOrder::{Bgra, Depth, Rgba, Sbgra, Srgba};
    use ChannelType::{Float, HalfFloat, SignedInt32, UnormInt8, UnormInt16};
    let size = ImageDesc::d2(W as u32, H as u32);
    let case =
        |file, kernel| Case::new(file, kernel).grid([W as u32, H as u32, 1], [4, H as u32, 1]);
    let byte = |r: &mut Rng, _: usize| r.u64() as u8;
    let layers = ImageDesc::d2_array(W as u32, H as u32, 2);
    vec![
        case("image_kinds", "image_depth")
            .label("floats")
            .image::<f32>(format(Depth, Float), size, within(0.0, 1.0))
            .image::<f32>(format(Depth, Float), layers, within(0.0, 1.0))
            .image::<f32>(format(Depth, Float), size, zero)
            .buffer::<f32>(W * H, zero)
            .expect(|m, _| {
                let (d, l) = (m.get::<f32>(0), m.get::<f32>(1));
                m.fill(2, |i| d[i] * 0.5);
                m.fill(3, |i| depth(&d, &l, i, ChannelType::Float));
            }),
        case("image_kinds", "image_depth")
            .label("words")
            .image::<u16>(format(Depth, UnormInt16), size, any)
            .image::<u16>(format(Depth, UnormInt16), layers, any)
            .image::<u16>(format(Depth, UnormInt16), size, zero)
            .off_by(1)
            .buffer::<f32>(W * H, zero)
            .ulps(2.0)
            .expect(|m, _| {
                let floats = |w: Vec<u16>| -> Vec<f32> {
                    w.into_iter().map(|w| f32::from(w) / 65535.0).collect()
                };
                let (d, l) = (floats(m.get(0)), floats(m.get(1)));
                m.fill(2, |i| (d[i] * 0.5 * 65535.0).round_ties_even() as u16);
                m.fill(3, |i| depth(&d, &l, i, ChannelType::UnormInt16));
            }),
        case("image_kinds", "image_filter")
            .label("sRGB")
            .image(format(Srgba, UnormInt8), size, byte)
            .image::<f32>(format(Rgba, Float), size, zero)
            .ulps_of(8.0, 1.0)
            .expect(|m, _| filtered(m, [0, 1, 2, 3])),
        case("image_kinds", "image_filter")
            .label("sBGRA")
            .image(format(Sbgra, UnormInt8), size, byte)
            .image::<f32>(format(Rgba, Float), size, zero)
            .ulps_of(8.0, 1.0)
            .expect(|m, _| filtered(m, [2, 1, 0, 3])),
        case("image", "image_copy")
            .label("to sRGB")
            .image::<f32>(format(Rgba, Float), size, within(-0.1, 1.1))
            .image::<u8>(format(Srgba, UnormInt8), size, zero)
            .off_by(1)
            .expect(|m, _| {
                let x = m.get::<f32>(0);
                m.fill(1, |i| {
                    let v = f64::from(x[i / 4 * 4 + [2, 1, 0, 3][i % 4]]).clamp(0.0, 1.0);
                    let v = match i % 4 {
                        3 => v,
                        _ if v < 0.003_130_8 => v * 12.92,
                        _ => 1.055 * v.powf(1.0 / 2.4) - 0.055,
                    };
                    (v * 255.0).round_ties_even() as u8
                });
            }),
        case("image", "image_copy")
            .label("BGRA")
            .image(format(Bgra, UnormInt8), size, byte)
            .image::<u8>(format(Rgba, UnormInt8), size, zero)
            .expect(|m, _| {
                // Red and blue are swapped twice.
                let x = m.get::<u8>(0);
                m.set(1, x);
            }),
        case("image_kinds", "image_half")
            .image::<f16>(format(Rgba, HalfFloat), size, within(-2.0, 2.0))
            .image::<f32>(format(Rgba, Float), size, zero)
            .buffer::<f16>(4 * W * H, zero)
            .expect(|m, _| {
                let x = m.get::<f16>(0);
                m.fill(1, |i| x[i / 4 * 4 + (i + 3) % 4].to_f32());
                m.fill(2, |i| f16::from_f32(x[i].to_f32() * 2.0));
            }),
        Case::new("image_kinds", "image_writes")
            .line(8, 8)
            .image::<i32>(
                format(Rgba, SignedInt32),
                ImageDesc::d3(8, 2, 3),
                within(-1e6, 1e6),
            )
            .image::<i32>(
                format(Rgba, SignedInt32),
                ImageDesc::d1_array(8, 3),
                within(-1e6, 1e6),
            )
            .image::<i32>(
                format(Rgba, SignedInt32),
                ImageDesc::d2_array(8, 3, 2),
                within(-1e6, 1e6),
            )
            .image::<i32>(
                format(Rgba, SignedInt32),
                ImageDesc::d1_buffer(64),
                within(-1e6, 1e6),
            )
            .expect(|m, _| {
                // For each image: the row read, the row written, and the number added.
                let rows = [(2, 5, 1), (2, 1, 2), (1, 5, 3), (0, 4, 4)];
                for (image, (from, to, add)) in rows.into_iter().enumerate() {
                    let mut x = m.get::<i32>(image);
                    (0..32).for_each(|i| x[to * 32 + i] = x[from * 32 + i] + add);
                    m.set(image, x);
                }
            }),
    ]
}

fn depth(d: &[f32], layers: &[f32], i: usize, channel: ChannelType) -> f32 {
    let right = if i % W == W - 1 { i } else { i + 1 };
    let mean = d[i] * 0.5 + d[right] * 0.5;
    mean + layers[W * H + i] + (channel.number() as f32) + W as f32
}

/// Computes the mean of each texel and the next of its row in linear light, of components in this
/// order.
fn filtered(m: &mut Memory, order: [usize; 4]) {
    let x = m.get::<u8>(0);
    m.fill(1, |i| {
        let (texel, c) = (i / 4, i % 4);
        let right = if texel % W == W - 1 { texel } else { texel + 1 };
        let linear = |texel: usize| {
            let v = f64::from(x[texel * 4 + order[c]]) / 255.0;
            match c {
                3 => v,
                _ if v <= 0.04045 => v / 12.92,
                _ => ((v + 0.055) / 1.055).powf(2.4),
            }
        };
        (linear(texel) * 0.5 + linear(right) * 0.5) as f32
    });
}

fn of_samples() -> Vec<Case> {
    use ChannelOrder::{Depth, Rgba};
    use ChannelType::{Float, UnsignedInt16};
    let case =
        |kernel| Case::new("image_msaa", kernel).grid([W as u32, H as u32, 1], [4, H as u32, 1]);
    let (w, h) = (W as u32, H as u32);
    let whole = |r: &mut Rng, _: usize| r.below(100) as f32;
    vec![
        case("image_samples")
            .image::<f32>(format(Rgba, Float), ImageDesc::d2_msaa(w, h, 4), whole)
            .image::<f32>(
                format(Rgba, Float),
                ImageDesc::d2_array_msaa(w, h, 3, 2),
                whole,
            )
            .buffer::<f32>(4 * W * H, zero)
            .expect(|m, _| {
                let (x, l) = (m.get::<f32>(0), m.get::<f32>(1));
                let n = 4 * W * H;
                m.fill(2, |i| {
                    let sum: f32 = (0..4).map(|s| x[s * n + i] * (s + 1) as f32).sum();
                    sum + l[(2 + i / 4 % W % 2) * n + i] + 3.0 + W as f32
                });
            }),
        case("image_sample_numbers")
            .image::<u16>(
                format(Rgba, UnsignedInt16),
                ImageDesc::d2_msaa(w, h, 8),
                any,
            )
            .buffer::<u32>(4 * W * H, zero)
            .expect(|m, _| {
                let x = m.get::<u16>(0);
                m.fill(1, |i| u32::from(x[i / 4 % W % 8 * 4 * W * H + i]));
            }),
        case("image_depth_samples")
            .image::<f32>(format(Depth, Float), ImageDesc::d2_msaa(w, h, 4), whole)
            .image::<f32>(
                format(Depth, Float),
                ImageDesc::d2_array_msaa(w, h, 3, 2),
                whole,
            )
            .buffer::<f32>(W * H, zero)
            .expect(|m, _| {
                let (x, l) = (m.get::<f32>(0), m.get::<f32>(1));
                let n = W * H;
                m.fill(2, |i| {
                    x[i / W % 4 * n + i] + 2.0 * l[(4 + i % W % 2) * n + i]
                });
            }),
    ]
}

/// Levels of a 16x8 image: start in texels, width and height.
const LEVELS: [(usize, usize, usize); 3] = [(0, 16, 8), (128, 8, 4), (160, 4, 2)];

fn of_levels() -> Vec<Case> {
    use {ChannelOrder::Rgba, ChannelType::Float};
    let whole = |r: &mut Rng, _: usize| r.below(100) as f32;
    let sampler = Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest).normalized();
    let case = |label, level: f32| {
        Case::new("image_levels", "image_level_reads")
            .label(label)
            .grid([8, 4, 1], [8, 2, 1])
            .image::<f32>(
                format(Rgba, Float),
                ImageDesc::d2(16, 8).with_levels(3),
                whole,
            )
            .image::<f32>(
                format(Rgba, Float),
                ImageDesc::d3(8, 8, 4).with_levels(2),
                whole,
            )
            .sampler(sampler)
            .buffer::<f32>(4 * 8 * 4, zero)
            .scalar(level)
    };
    vec![
        case("first", 0.0).expect(|m, _| level_reads(m, 0)),
        // The nearest level.
        case("second", 1.25).expect(|m, _| level_reads(m, 1)),
        case("beyond the last", 7.0).expect(|m, _| level_reads(m, 9)),
    ]
}

fn level_reads(m: &mut Memory, level: usize) {
    let (x, v) = (m.get::<f32>(0), m.get::<f32>(1));
    m.fill(2, |i| {
        let (px, py, c) = (i / 4 % 8, i / 32, i % 4);
        let at = |level: usize| {
            let (base, w, h) = LEVELS[level.min(2)];
            let (tx, ty) = ((2 * px + 1) * w / 16, (2 * py + 1) * h / 8);
            x[(base + ty * w + tx) * 4 + c]
        };
        // The second level of the volume has 4x4x2 texels.
        let volume = v[(8 * 8 * 4 + py * 4 + px / 2) * 4 + c];
        at(level + px % 2) + 10.0 * at(1) + 100.0 * volume + 3.0
    });
}

fn level_writes() -> Case {
    let f = format(ChannelOrder::Rgba, ChannelType::UnsignedInt8);
    Case::new("image_levels", "image_level_writes")
        .grid([4, 4, 1], [4, 4, 1])
        .image::<u8>(f, ImageDesc::d2(8, 8).with_levels(4), zero)
        .image::<u8>(f, ImageDesc::d2_array(8, 8, 2).with_levels(2), zero)
        .expect(|m, _| {
            let (mut x, mut l) = (m.get::<u8>(0), m.get::<u8>(1));
            for (px, py) in (0..16).map(|i| (i % 4, i / 4)) {
                let texel = |a: u8, b: u8| [px as u8, py as u8, a, b];
                let at = 4 * (64 + py * 4 + px);
                x[at..at + 4].copy_from_slice(&texel(1, 2));
                let at = 4 * match px % 2 {
                    0 => 64 + py * 8 + px,
                    _ => 128 + 16 + py * 4 + px,
                };
                l[at..at + 4].copy_from_slice(&texel(3, 4));
            }
            m.set(0, x);
            m.set(1, l);
        })
}

/// Image of the block launches: bytes of a row, and rows.
const ROW: usize = 160;
const ROWS: usize = 14;
/// Coordinates of the blocks.
const X: usize = 16;
const Y: usize = 3;

fn of_blocks(width: u32) -> Vec<Case> {
    let bytes = format(ChannelOrder::R, ChannelType::UnsignedInt8);
    let image = ImageDesc::d2(ROW as u32, ROWS as u32);
    let n = width as usize;
    let case = |kernel| {
        Case::new("image_blocks", kernel)
            .line(width, width)
            .only(width)
    };
    vec![
        case("media_reads")
            .image::<u8>(bytes, image, any)
            .buffer::<u8>(16 * n, zero)
            .buffer::<u16>(4 * n, zero)
            .buffer::<u32>(2 * n, zero)
            .scalar(X as i32)
            .scalar(Y as i32)
            .expect(|m, width| {
                let x = m.get::<u8>(0);
                let w = width as usize;
                // A block with a number of elements a row, distributed to the lanes.
                m.fill(1, |i| part(&x, w * 2, 1, i % 16 * w + i / 16) as u8);
                m.fill(2, |i| part(&x, w / 2, 2, i % 4 * w + i / 4) as u16);
                m.fill(3, |i| part(&x, w / 2, 4, i % 2 * w + i / 2) as u32);
            }),
        case("media_writes")
            .image::<u8>(bytes, image, any)
            .buffer::<u8>(4 * n, any)
            .buffer::<u32>(n, any)
            .scalar(X as i32)
            .scalar(Y as i32)
            .expect(|m, width| {
                let (mut x, c, u) = (m.get::<u8>(0), m.get::<u8>(1), m.get::<u32>(2));
                let w = width as usize;
                for i in 0..4 * w {
                    // Element `i` is component i / w of lane i % w.
                    x[(Y + i / w) * ROW + X + i % w] = c[i % w * 4 + i / w];
                    let dword = u[i / 4].to_le_bytes();
                    x[(Y + 4 + i / (2 * w)) * ROW + X + i % (2 * w)] = dword[i % 4];
                }
                m.set(0, x);
            }),
        case("image_block_reads")
            .image::<u8>(bytes, image, any)
            .buffer::<u8>(4 * n, zero)
            .buffer::<u16>(4 * n, zero)
            .buffer::<u32>(8 * n, zero)
            .buffer::<u64>(2 * n, zero)
            .scalar(X as i32)
            .scalar(Y as i32)
            .expect(|m, width| {
                let x = m.get::<u8>(0);
                let w = width as usize;
                // A row for each component.
                m.fill(1, |i| part(&x, w, 1, i % 4 * w + i / 4) as u8);
                m.fill(2, |i| part(&x, w, 2, i % 4 * w + i / 4) as u16);
                m.fill(3, |i| part(&x, w, 4, i % 8 * w + i / 8) as u32);
                m.fill(4, |i| part(&x, w, 8, i % 2 * w + i / 2));
            }),
        case("image_block_writes")
            .image::<u8>(bytes, image, any)
            .buffer::<u16>(4 * n, any)
            .scalar(X as i32)
            .scalar(Y as i32)
            .expect(|m, width| {
                let (mut x, words) = (m.get::<u8>(0), m.get::<u16>(1));
                let w = width as usize;
                for i in 0..4 * w {
                    let at = (Y + i / w) * ROW + X + i % w * 2;
                    x[at..at + 2].copy_from_slice(&words[i % w * 4 + i / w].to_le_bytes());
                }
                m.set(0, x);
            }),
    ]
}

/// Returns element `i` of a block at the launches' coordinates, whose rows have `row` elements of
/// `bytes` bytes.
fn part(x: &[u8], row: usize, bytes: usize, i: usize) -> u64 {
    let at = (Y + i / row) * ROW + X + i % row * bytes;
    let le = x[at..at + bytes].iter().rev();
    le.fold(0, |v, b| v << 8 | u64::from(*b))
}
