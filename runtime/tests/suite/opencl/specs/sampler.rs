//! Samplers as arguments, images of every type, and image queries.

use super::super::case::{Case, Element, any, index, within, zero};
use crate::rng::Rng;
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, FilterMode, ImageDesc, ImageFormat, Sampler,
};
use half::f16;

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

fn byte(r: &mut Rng, _: usize) -> u8 {
    r.u64() as u8
}

/// Samplers whose results OpenCL defines for float coordinates.
const SAMPLERS: [(&str, Sampler); 14] = {
    use AddressMode::{Clamp, ClampToEdge, Mirror, None, Repeat};
    use FilterMode::{Linear, Nearest};
    [
        ("clamp, nearest", Sampler::new(Clamp, Nearest)),
        ("clamp, linear", Sampler::new(Clamp, Linear)),
        ("edge, nearest", Sampler::new(ClampToEdge, Nearest)),
        ("edge, linear", Sampler::new(ClampToEdge, Linear)),
        (
            "clamp, nearest, normalized",
            Sampler::new(Clamp, Nearest).normalized(),
        ),
        (
            "clamp, linear, normalized",
            Sampler::new(Clamp, Linear).normalized(),
        ),
        (
            "edge, nearest, normalized",
            Sampler::new(ClampToEdge, Nearest).normalized(),
        ),
        (
            "edge, linear, normalized",
            Sampler::new(ClampToEdge, Linear).normalized(),
        ),
        (
            "repeat, nearest",
            Sampler::new(Repeat, Nearest).normalized(),
        ),
        ("repeat, linear", Sampler::new(Repeat, Linear).normalized()),
        (
            "mirror, nearest",
            Sampler::new(Mirror, Nearest).normalized(),
        ),
        ("mirror, linear", Sampler::new(Mirror, Linear).normalized()),
        ("none, nearest", Sampler::new(None, Nearest)),
        ("none, linear", Sampler::new(None, Linear)),
    ]
};

/// Generates coordinates around an image of `size` texels, or in it where they must be inside.
fn around(s: &Sampler, size: f64) -> impl Fn(&mut Rng, usize) -> f32 {
    let inside = s.address[0] == AddressMode::None;
    let (lo, hi) = if inside {
        (0.5, size - 0.5)
    } else {
        (-size, 2.0 * size)
    };
    let scale = if s.normalized { 1.0 / size } else { 1.0 };
    within(lo * scale, hi * scale)
}

/// Tolerance of linear filtering: sums of eight products at most, of values up to 1.
const SUM: (f64, f64) = (8.0, 1.0);

pub fn cases() -> Vec<Case> {
    use ChannelOrder::{A, Bgra, R, Rg, Rgba};
    use ChannelType::{
        Float, HalfFloat, SignedInt8, SignedInt16, SignedInt32, SnormInt8, SnormInt16, UnormInt8,
        UnormInt16, UnsignedInt8, UnsignedInt16, UnsignedInt32,
    };
    let case = |kernel| Case::new("sampler", kernel);
    let rgba8 = ImageFormat::RGBA8;
    let n = 96;
    let mut cases = Vec::new();
    for (label, s) in SAMPLERS {
        let line = |kernel| case(kernel).label(label).line(n, 32);
        let points = n as usize;
        cases.extend([
            line("sample_1d")
                .buffer::<f32>(4 * points, zero)
                .ulps_of(SUM.0, SUM.1)
                .buffer(points, around(&s, 13.0))
                .image(rgba8, ImageDesc::d1(13), byte)
                .sampler(s),
            // Sizes that are no powers of two, and sizes that are.
            line("sample_2d")
                .buffer::<f32>(4 * points, zero)
                .ulps_of(SUM.0, SUM.1)
                .buffer(2 * points, around(&s, 12.0))
                .image(rgba8, ImageDesc::d2(12, 12), byte)
                .sampler(s),
            line("sample_3d")
                .buffer::<f32>(4 * points, zero)
                .ulps_of(SUM.0, SUM.1)
                .buffer(4 * points, around(&s, 8.0))
                .image::<f32>(
                    format(Rgba, Float),
                    ImageDesc::d3(8, 8, 8),
                    within(-1.0, 1.0),
                )
                .sampler(s),
        ]);
        // pocl takes layers as normalized too, which OpenCL does not.
        if !s.normalized {
            let layers = move |r: &mut Rng, i: usize| match i % 4 {
                2 => r.unit() as f32 * 7.0 - 1.0,
                _ => around(&s, 9.0)(r, i),
            };
            cases.push(
                line("sample_layers")
                    .buffer::<f32>(8 * points, zero)
                    .ulps_of(SUM.0, SUM.1)
                    .buffer(4 * points, layers)
                    .image(rgba8, ImageDesc::d2_array(9, 9, 5), byte)
                    .image(rgba8, ImageDesc::d1_array(9, 5), byte)
                    .sampler(s),
            );
        }
        if s.mag == FilterMode::Nearest {
            cases.extend([
                line("sample_signed")
                    .buffer::<i32>(4 * points, zero)
                    .buffer(2 * points, around(&s, 12.0))
                    .image::<i16>(format(Rgba, SignedInt16), ImageDesc::d2(12, 12), any)
                    .sampler(s),
                line("sample_unsigned")
                    .buffer::<u32>(4 * points, zero)
                    .buffer(2 * points, around(&s, 12.0))
                    .image::<u32>(format(Rgba, UnsignedInt32), ImageDesc::d2(12, 12), any)
                    .sampler(s),
            ]);
        }
    }
    let edge = Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest);
    let border = Sampler::new(AddressMode::Clamp, FilterMode::Nearest);
    for (label, s) in [("edge", edge), ("border", border)] {
        cases.push(
            case("load_2d")
                .label(label)
                .line(n, 16)
                .buffer::<f32>(4 * n as usize, zero)
                .buffer::<i32>(2 * n as usize, within(-9.0, 19.0))
                .image(format(Bgra, UnormInt8), ImageDesc::d2(11, 10), byte)
                .sampler(s),
        );
    }
    cases.push(
        case("sample_diverged")
            .line(n, 32)
            .buffer::<f32>(4 * n as usize, zero)
            .ulps_of(32.0, 1.0)
            .buffer::<f32>(2 * n as usize, within(-0.5, 1.5))
            .image(rgba8, ImageDesc::d2(12, 7), byte)
            .image::<f32>(format(Rgba, Float), ImageDesc::d2(5, 8), within(0.0, 1.0))
            .sampler(Sampler::new(AddressMode::Clamp, FilterMode::Linear))
            .sampler(Sampler::new(AddressMode::Repeat, FilterMode::Linear).normalized()),
    );

    // Reads of every format, with one component in a register or four.
    let size = ImageDesc::d2(19, 6);
    let grid = |kernel, label| case(kernel).label(label).grid([19, 6, 1], [8, 2, 1]);
    fn load<T: Element>(c: Case, f: ImageFormat, size: ImageDesc, s: Sampler) -> Case {
        c.buffer::<f32>(19 * 6, zero)
            .image::<T>(f, size, any)
            .sampler(s)
    }
    let one = |label| grid("load_one", label);
    cases.extend([
        load::<u8>(one("r8"), format(R, UnormInt8), size, edge),
        load::<i8>(one("r8s"), format(R, SnormInt8), size, edge),
        load::<u16>(one("a16"), format(A, UnormInt16), size, edge),
        // pocl has no images of two components.
        load::<u8>(one("rg8"), format(Rg, UnormInt8), size, edge).expect(|m, _| {
            let texels = m.get::<u8>(1);
            m.fill(0, |i| f32::from(texels[2 * i]) * (1.0 / 255.0) + 1.0);
        }),
        load::<i16>(one("rgba16s"), format(Rgba, SnormInt16), size, edge),
        load::<f16>(one("rgba16f"), format(Rgba, HalfFloat), size, edge),
        one("a32f")
            .buffer::<f32>(19 * 6, zero)
            .image::<f32>(format(A, Float), size, within(-9.0, 9.0))
            .sampler(edge),
        load::<u8>(one("bgra8"), format(Bgra, UnormInt8), size, edge),
    ]);

    // Writes to every format, with clamping.
    let floats = |label| {
        grid("store_float", label).buffer::<f32>(4 * 19 * 6, |r, _| match r.below(8) {
            0 => f32::NAN,
            1 => r.unit() as f32 * 1e6 - 5e5,
            _ => r.unit() as f32 * 3.0 - 1.5,
        })
    };
    cases.extend([
        floats("r8").image::<u8>(format(R, UnormInt8), size, zero),
        floats("rgba8").image::<u8>(rgba8, size, zero),
        floats("bgra8").image::<u8>(format(Bgra, UnormInt8), size, zero),
        floats("a8").image::<u8>(format(A, UnormInt8), size, zero),
        floats("rgba8s").image::<i8>(format(Rgba, SnormInt8), size, zero),
        floats("rgba16").image::<u16>(format(Rgba, UnormInt16), size, zero),
        floats("r16s").image::<i16>(format(R, SnormInt16), size, zero),
        floats("rgba16f").image::<f16>(format(Rgba, HalfFloat), size, zero),
        floats("rgba32f").image::<f32>(format(Rgba, Float), size, zero),
    ]);
    let signed = |label| grid("store_signed", label).buffer::<i32>(4 * 19 * 6, any);
    let unsigned = |label| grid("store_unsigned", label).buffer::<u32>(4 * 19 * 6, any);
    cases.extend([
        signed("rgba8").image::<i8>(format(Rgba, SignedInt8), size, zero),
        signed("rg16")
            .image::<i16>(format(Rg, SignedInt16), size, zero)
            .expect(|m, _| {
                let texels = m.get::<i32>(0);
                let clamped = |v: i32| v.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
                m.fill(1, |i| clamped(texels[i / 2 * 4 + i % 2]));
            }),
        signed("r32").image::<i32>(format(R, SignedInt32), size, zero),
        unsigned("rgba8").image::<u8>(format(Rgba, UnsignedInt8), size, zero),
        unsigned("r16").image::<u16>(format(R, UnsignedInt16), size, zero),
        unsigned("rgba32").image::<u32>(format(Rgba, UnsignedInt32), size, zero),
        grid("store_some", "").image(format(Rgba, UnsignedInt8), size, byte),
        case("store_line")
            .line(21, 16)
            .image(format(Rgba, UnsignedInt8), ImageDesc::d1(21), byte)
            .image(format(Rgba, UnsignedInt8), ImageDesc::d1_array(21, 3), byte)
            .image(format(Rgba, UnsignedInt8), ImageDesc::d1_buffer(21), byte),
        case("facts")
            .buffer::<i32>(18, zero)
            .image::<u8>(format(R, UnormInt8), ImageDesc::d1(7), index)
            .image::<u8>(format(R, UnormInt8), ImageDesc::d1_buffer(8), index)
            .image::<u8>(format(R, UnormInt8), ImageDesc::d1_array(9, 2), index)
            .image::<f32>(format(Rgba, Float), ImageDesc::d2(10, 3), zero)
            .image::<u8>(rgba8, ImageDesc::d2_array(11, 4, 5), index)
            .image::<i16>(format(Rgba, SignedInt16), ImageDesc::d3(12, 6, 7), zero)
            // pocl cannot give some of this for some types.
            .expect(|m, _| {
                let kind = [(R, UnormInt8), (Rgba, Float), (Rgba, SignedInt16)];
                let kinds = kind.map(|(o, c)| [o.number(), c.number()].map(|n| n as i32));
                let sizes = [7, 8, 9, 2, 10, 3, 11, 4, 5, 12, 6, 7];
                m.set(0, sizes.into_iter().chain(kinds.into_iter().flatten()));
            }),
    ]);

    // Pictures, byte for byte.
    let size = ImageDesc::d2(61, 40);
    let picture = |kernel| case(kernel).grid([61, 40, 1], [16, 4, 1]);
    for (label, s) in [("edge", edge), ("border", border)] {
        cases.push(
            picture("gauss")
                .label(label)
                .image(rgba8, size, byte)
                .image::<u8>(rgba8, size, zero)
                .sampler(s),
        );
    }
    cases.push(
        picture("gauss_wide")
            .image(rgba8, size, byte)
            .image::<u8>(rgba8, size, zero)
            .sampler(Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear))
            // Value for a sigma of 1.5.
            .scalar(0.800_737_4f32),
    );
    let none = "the device has no sampler, and the compiler leaves reads out";
    let writes = |c: &Case| c.kernel.starts_with("store") || c.kernel == "facts";
    cases
        .into_iter()
        .map(|c| {
            if writes(&c) {
                c
            } else {
                c.theirs(&["pvc"], none)
            }
        })
        .collect()
}
