//! Picture from a PNG file through kernels that use samplers. It is compared with pocl's byte for
//! byte, on every device.

use super::super::case::{Case, zero};
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, FilterMode, ImageDesc, ImageFormat, Sampler,
};

/// Picture: width, height, and four bytes a texel.
struct Picture {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

/// Reads an RGBA or RGB picture of 8 bits from a PNG file.
fn read_png(path: &str) -> Picture {
    let file = std::fs::File::open(path).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    data.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => data,
        png::ColorType::Rgb => data
            .chunks(3)
            .flat_map(|c| [c[0], c[1], c[2], 255])
            .collect(),
        other => panic!("{path}: {other:?} is not RGB or RGBA"),
    };
    Picture {
        width: info.width,
        height: info.height,
        rgba,
    }
}

pub fn cases() -> Vec<Case> {
    let picture = read_png(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../jit-demo/pictures/harbour.png"
    ));
    let Picture {
        width,
        height,
        ref rgba,
    } = picture;
    let size = ImageDesc::d2(width, height);
    let small = ImageDesc::d2(80, 50);
    let rgba8 = ImageFormat::RGBA8;
    let integers = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt8).unwrap();
    let case = |kernel| Case::new("picture", kernel).grid([width, height, 1], [16, 4, 1]);
    // No texel's coordinates are on the edge between two of the source.
    let turned = [0.8731f32, -0.4917, 0.5023, 0.9119];
    let blur = [0.0625f32, 0.25, 0.375, 0.25, 0.0625];
    let cases = [
        case("gaussian_blur")
            .image(rgba8, size, |_, i| rgba[i])
            .image::<u8>(rgba8, size, zero)
            .sampler(Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest))
            .buffer(5, |_, i| blur[i]),
        case("sobel")
            .image(rgba8, size, |_, i| rgba[i])
            .image::<u8>(rgba8, size, zero),
        case("turn")
            .label("mirrored")
            .grid([80, 50, 1], [16, 4, 1])
            .image(rgba8, size, |_, i| rgba[i])
            .image::<u8>(rgba8, small, zero)
            .sampler(Sampler::new(AddressMode::Mirror, FilterMode::Nearest).normalized())
            .value(turned),
        case("turn")
            .label("repeated, linear")
            .grid([80, 50, 1], [16, 4, 1])
            .image(rgba8, size, |_, i| rgba[i])
            .image::<u8>(rgba8, small, zero)
            .sampler(Sampler::new(AddressMode::Repeat, FilterMode::Linear).normalized())
            .value(turned),
        case("brightness_histogram")
            .image(integers, size, |_, i| rgba[i])
            .buffer::<u32>(64, zero),
    ];
    let none = "the device has no sampler, and the compiler leaves reads out";
    cases
        .into_iter()
        .map(|c| c.theirs(&["pvc"], none))
        .collect()
}
