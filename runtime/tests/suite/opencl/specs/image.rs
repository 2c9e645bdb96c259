//! Images and samplers.

use super::super::case::{Case, Memory, any, within, zero};
use crate::rng::Rng;
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, FilterMode, ImageDesc, ImageFormat, Sampler,
};
use half::f16;

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

pub fn cases() -> Vec<Case> {
    use ChannelOrder::{Bgra, R, Rg, Rgba};
    use ChannelType::{
        Float, HalfFloat, SignedInt16, SignedInt32, SnormInt8, UnormInt8, UnormInt16, UnsignedInt8,
        UnsignedInt16, UnsignedInt32,
    };
    let rgba8 = ImageFormat::RGBA8;
    let byte = |r: &mut Rng, _: usize| r.u64() as u8;
    // With an odd size, threads at the edge have fewer work-items.
    let size = ImageDesc::d2(21, 13);
    let case = |kernel| Case::new("image", kernel).grid([21, 13, 1], [8, 4, 1]);
    let mut cases = vec![
        case("image_copy")
            .label("rgba8")
            .image(rgba8, size, byte)
            .image::<u8>(rgba8, size, zero),
        case("image_copy")
            .label("rgba8 to bgra8")
            .image(rgba8, size, byte)
            .image::<u8>(format(Bgra, UnormInt8), size, zero),
        case("image_copy")
            .label("rgba16 to rgba16f")
            .image::<u16>(format(Rgba, UnormInt16), size, any)
            .image::<f16>(format(Rgba, HalfFloat), size, zero)
            .ulps(1.0),
        case("image_copy")
            .label("rgba8s to rgba32f")
            .image::<i8>(format(Rgba, SnormInt8), size, any)
            .image::<f32>(format(Rgba, Float), size, zero)
            .ulps(1.0),
        case("image_copy")
            .label("rg16f to rgba32f")
            .image::<f16>(format(Rg, HalfFloat), size, within(-2.0, 2.0))
            .image::<f32>(format(Rgba, Float), size, zero)
            .expect(|m, _| {
                let rg = m.get::<f16>(0);
                // Blue, which is not stored, green, red, and alpha, which is 1.
                m.fill(1, |i| match i % 4 {
                    0 => 0.0,
                    1 => rg[i / 4 * 2 + 1].to_f32(),
                    2 => rg[i / 4 * 2].to_f32(),
                    _ => 1.0,
                });
            }),
        case("image_copy")
            .label("r32f to rgba8")
            .image::<f32>(format(R, Float), size, within(-0.5, 1.5))
            .image::<u8>(rgba8, size, zero),
        case("image_resize")
            .label("of an odd size")
            .grid([25, 18, 1], [8, 4, 1])
            .image(rgba8, ImageDesc::d2(9, 7), byte)
            .image::<f32>(format(Rgba, Float), ImageDesc::d2(25, 18), zero)
            .ulps_of(16.0, 1.0),
        case("image_resize")
            .image(rgba8, ImageDesc::d2(16, 9), byte)
            .image::<f32>(format(Rgba, Float), size, zero)
            .ulps_of(16.0, 1.0),
        case("image_read_write").image::<u32>(format(Rgba, UnsignedInt32), size, any),
        // The result has the number of the channel order, which bytes cannot hold.
        case("image_read_write")
            .label("rgba8ui")
            .image(format(Rgba, UnsignedInt8), size, byte),
        Case::new("image", "image_3d")
            .label("rgba8ui")
            .grid([8, 6, 5], [8, 2, 1])
            .image(format(Rgba, UnsignedInt8), ImageDesc::d3(9, 6, 5), byte)
            .image::<u32>(format(Rgba, UnsignedInt32), ImageDesc::d3(9, 6, 5), zero),
        Case::new("image", "image_3d")
            .label("rgba16ui")
            .grid([10, 6, 5], [8, 4, 1])
            .image::<u16>(format(Rgba, UnsignedInt16), ImageDesc::d3(11, 6, 5), any)
            .image::<u32>(format(Rgba, UnsignedInt32), ImageDesc::d3(11, 6, 5), zero),
        Case::new("image", "image_3d")
            .label("r16ui")
            .grid([8, 6, 5], [4, 2, 5])
            .image::<u16>(format(R, UnsignedInt16), ImageDesc::d3(9, 6, 5), any)
            .image::<u32>(format(Rgba, UnsignedInt32), ImageDesc::d3(9, 6, 5), zero)
            .expect(sum_of_neighbours),
        Case::new("image", "image_1d")
            .line(40, 20)
            .image::<i16>(format(Rgba, SignedInt16), ImageDesc::d1(40), any)
            .image::<i32>(
                format(Rgba, SignedInt32),
                ImageDesc::d1_buffer(40),
                within(-1e6, 1e6),
            )
            .image::<i32>(format(Rgba, SignedInt32), ImageDesc::d1(40), zero),
        // Of one component; the others are 0 and 1.
        Case::new("image", "image_1d")
            .label("r32i")
            .line(50, 16)
            .image::<i32>(format(R, SignedInt32), ImageDesc::d1(50), within(-1e6, 1e6))
            .image::<i32>(
                format(R, SignedInt32),
                ImageDesc::d1_buffer(50),
                within(-1e6, 1e6),
            )
            .image::<i32>(format(Rgba, SignedInt32), ImageDesc::d1(50), zero)
            .expect(|m, _| {
                let (line, over) = (m.get::<i32>(0), m.get::<i32>(1));
                m.fill(2, |i| match i % 4 {
                    0 => line[i / 4] + over[i / 4] + 50,
                    3 => 1 + 1 + 50,
                    _ => 50,
                });
            }),
        Case::new("image", "image_arrays")
            .grid([12, 3, 4], [4, 3, 2])
            .image::<f32>(
                format(Rgba, Float),
                ImageDesc::d2_array(12, 3, 4),
                within(0.0, 1.0),
            )
            .image::<f32>(
                format(R, Float),
                ImageDesc::d1_array(12, 3),
                within(0.0, 1.0),
            )
            .image::<f32>(format(Rgba, Float), ImageDesc::d2_array(12, 3, 4), zero)
            .ulps_of(16.0, 4.0)
            .expect(corners_of_layers),
    ];
    for (label, address) in [
        ("clamp", AddressMode::Clamp),
        ("clamp to edge", AddressMode::ClampToEdge),
    ] {
        cases.push(
            case("image_blur")
                .label(label)
                .image(rgba8, size, byte)
                .image::<u8>(rgba8, size, zero)
                .sampler(Sampler::new(address, FilterMode::Nearest)),
        );
    }
    // OpenCL leaves reads outside undefined; here they give the border.
    cases.push(
        case("image_blur")
            .label("none")
            .image(rgba8, size, byte)
            .image::<u8>(rgba8, size, zero)
            .sampler(Sampler::new(AddressMode::None, FilterMode::Nearest))
            .expect(|m, _| {
                let texels = m.get::<u8>(0);
                m.fill(1, |i| {
                    let (x, y) = (i / 4 % 21, i / 84);
                    let inside = |x: usize, y: usize| (1..22).contains(&x) && (1..14).contains(&y);
                    let around = (x..x + 3).flat_map(|x| (y..y + 3).map(move |y| (x, y)));
                    let sum: u32 = around
                        .filter(|(x, y)| inside(*x, *y))
                        .map(|(x, y)| u32::from(texels[((y - 1) * 21 + x - 1) * 4 + i % 4]))
                        .sum();
                    // Ninths have no ties.
                    ((2 * sum + 9) / 18) as u8
                });
            }),
    );
    for width in [8, 16] {
        let size = ImageDesc::d2(4 * width, 6);
        cases.push(
            Case::new("block", "block_image")
                .only(width)
                .grid([4 * width, 3, 1], [width, 1, 1])
                .image::<u32>(format(R, UnsignedInt32), size, any)
                .image::<u32>(format(R, UnsignedInt32), size, zero)
                .expect(swap_rows),
        );
    }
    let none = "the device has no sampler, and the compiler leaves reads out";
    cases
        .into_iter()
        .map(|c| c.theirs(&["pvc"], none))
        .collect()
}

/// Sums neighbours in an image of one component, whose others are 0 and 1. pocl reads such an image
/// of integers with an alpha of 0.
fn sum_of_neighbours(m: &mut Memory, _: u32) {
    let (r, before) = (m.get::<u16>(0), m.get::<u32>(1));
    m.fill(1, |i| {
        let texel = i / 4;
        match i % 4 {
            _ if texel % 9 == 8 => before[i],
            0 => u32::from(r[texel]) + u32::from(r[texel + 1]) + 5,
            3 => 1 + 1 + 5,
            _ => 5,
        }
    });
}

/// Computes samples at whole normalized coordinates with a sampler that repeats. They are at the
/// corner between the image's last texel and its first, in the layer of the third coordinate. pocl
/// reads another layer there.
fn corners_of_layers(m: &mut Memory, _: u32) {
    let (layers, lines) = (m.get::<f32>(0), m.get::<f32>(1));
    m.fill(2, |i| {
        let (x, y, z, c) = (i / 4 % 12, i / 48 % 3, i / 144, i % 4);
        let corner = |x: usize, y: usize| layers[((z * 3 + y) * 12 + x) * 4 + c];
        let mean = (corner(0, 0) + corner(11, 0) + corner(0, 2) + corner(11, 2)) / 4.0;
        let line = match c {
            0 => lines[y * 12 + x],
            3 => 1.0,
            _ => 0.0,
        };
        (mean + line) * 4.0
    });
}

/// Swaps each pair of rows.
fn swap_rows(m: &mut Memory, width: u32) {
    let (rows, row) = (m.get::<u32>(0), 4 * width as usize);
    m.fill(1, |i| rows[((i / row) ^ 1) * row + i % row]);
}
