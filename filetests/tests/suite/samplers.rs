//! Random samplers, levels of detail and coordinates, on a sampler, in memory and by the
//! interpreter.

use crate::rng::Rng;
use gantry_codegen::interp::{Addressing, Compare, Component, MipFilter, Sampler};
use gantry_codegen::ir::ImageShape;
use gantry_codegen::{Target, text};
use gantry_filetests::data::{Data, Kind, Tolerance};
use gantry_filetests::launch::{Arg, Expect, ImageArg, Run, sampler_text};
use gantry_filetests::runner::{CompileVariant, Prepared, RUNNERS};

/// Lanes of a sample.
const LANES: usize = 16;
/// Shapes that samples are of.
const SHAPES: [ImageShape; 7] = [
    ImageShape::D1,
    ImageShape::D1Array,
    ImageShape::D2,
    ImageShape::D2Array,
    ImageShape::D3,
    ImageShape::Cube,
    ImageShape::CubeArray,
];

/// Returns a module with a kernel for each combination of texels, a level and a reference.
fn module(shape: ImageShape) -> String {
    let coords = shape.coordinates();
    let mut out = String::new();
    for (name, scalar, lod, reference) in KERNELS {
        out += &format!(
            "kernel %{name}(i32 {} read, i32 sampler, i64 ptr, i64 ptr) simd1 {{\n\
             block0(v0: i32, v1: i32, v2: i64, v3: i64):\n",
            shape.name()
        );
        let mut places = Vec::new();
        for n in 0..coords + 2 {
            out += &format!("    v{} = bload.f32x16 v2+{}\n", 4 + n, 64 * n);
            places.push(format!("v{}", 4 + n));
        }
        let mut more = String::new();
        if lod {
            more += &format!(" lod {}", places[coords]);
        }
        if reference {
            more += &format!(" ref {}", places[coords + 1]);
        }
        let at = places[..coords].join(", ");
        out += &format!("    v20 = sample.{scalar}x64 image 0 sampler 0 ({at}){more}\n");
        // Of a comparison, one component is specified.
        for n in 0..if reference { 1 } else { 4 } {
            let from = 64 * n;
            let to = 21 + n;
            out += &format!("    v{to} = rdregion.{scalar}x16 v20, <16;16,1>, {from}\n");
            out += &format!("    bstore v{to}, v3+{from}\n");
        }
        out += "    return\n}\n\n";
    }
    out
}

const KERNELS: [(&str, &str, bool, bool); 6] = [
    ("plain", "f32", false, false),
    ("level", "f32", true, false),
    ("compared", "f32", false, true),
    ("both", "f32", true, true),
    ("whole", "i32", false, false),
    ("whole_level", "i32", true, false),
];

fn kind(name: &str) -> Kind {
    Kind::from_name(name).unwrap()
}

fn any<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

fn sampler(rng: &mut Rng) -> Sampler {
    let normalized = rng.below(4) > 0;
    let modes: &[Addressing] = match normalized {
        true => &Addressing::ALL,
        // Others are undefined.
        false => &[Addressing::Border, Addressing::Edge],
    };
    let mut out = Sampler::new(any(rng, modes), rng.below(2) == 0);
    if rng.below(2) == 0 {
        out.addressing = [(); 3].map(|()| any(rng, modes));
    }
    out.min = rng.below(2) == 0;
    out.mip = any(
        rng,
        &[MipFilter::None, MipFilter::Nearest, MipFilter::Linear],
    );
    if rng.below(2) == 0 {
        let bound = |rng: &mut Rng| rng.below(1024) as u16;
        let (a, b) = (bound(rng), bound(rng));
        out.lod = [a.min(b), a.max(b)];
    }
    out.normalized = normalized;
    out.compare = any(rng, &Compare::ALL);
    out
}

fn image(rng: &mut Rng, shape: ImageShape, integers: bool) -> (ImageArg, Data) {
    let mut size = || 1 + rng.below(9) as u32;
    let (width, height, depth) = (size(), size(), size());
    let extent = match shape {
        ImageShape::D1 => [width, 1, 1],
        ImageShape::D1Array | ImageShape::D2 => [width, height, 1],
        ImageShape::Cube => [width, width, 6],
        ImageShape::CubeArray => [width, width, 6 * (1 + depth % 3)],
        _ => [width, height, depth],
    };
    let shrinking = match shape {
        ImageShape::D1 | ImageShape::D1Array => width,
        ImageShape::D3 => width.max(height).max(depth),
        _ => width.max(extent[1]),
    };
    let most = 32 - shrinking.leading_zeros();
    let image = ImageArg {
        shape,
        extent,
        samples: 1,
        levels: 1 + rng.below(u64::from(most)) as u32,
        components: any(rng, &[1, 2, 4]),
        component: match integers {
            true => any(rng, &[Component::Uint8, Component::Sint16]),
            false => any(rng, &[Component::Unorm8, Component::F16, Component::F32]),
        },
    };
    let bytes = image.at(0).byte_len() as usize;
    let data = match image.component {
        Component::F32 => Data {
            kind: kind("f32"),
            bits: (0..bytes / 4)
                .map(|_| u64::from(rng.f32(-8.0, 8.0).to_bits()))
                .collect(),
        },
        // Small and positive as halves.
        Component::F16 => Data {
            kind: kind("u16"),
            bits: (0..bytes / 2).map(|_| rng.below(0x4800)).collect(),
        },
        _ => Data {
            kind: kind("u8"),
            bits: (0..bytes).map(|_| rng.below(256)).collect(),
        },
    };
    (image, data)
}

/// Returns coordinates, levels and references of all lanes.
fn places(rng: &mut Rng, image: &ImageArg, s: &Sampler) -> Data {
    let cube = image.shape.is_cube();
    let coords = image.shape.coordinates();
    let mut bits = Vec::new();
    for n in 0..coords + 2 {
        let spatial = n < coords - usize::from(image.shape.is_array());
        for _ in 0..LANES {
            let v = match () {
                () if n > coords => rng.f32(-1.0, 2.0),
                () if n == coords => match rng.below(8) {
                    0 => rng.wild_f32(),
                    1 => 0.0,
                    2 => rng.below(5) as f32,
                    _ => rng.f32(-1.0, 5.0),
                },
                () if !spatial => match rng.below(8) {
                    0 => rng.wild_f32(),
                    _ => rng.f32(-1.0, 9.0),
                },
                () if cube => rng.f32(-1.0, 1.0),
                () if rng.below(6) == 0 => rng.wild_f32(),
                () if s.normalized => rng.f32(-2.5, 3.5),
                () => rng.f32(-4.0, 12.0),
            };
            bits.push(u64::from(v.to_bits()));
        }
    }
    Data {
        kind: kind("f32"),
        bits,
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let parts = bytes.chunks_exact(4);
    parts
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

#[test]
fn samplers_and_memory_agree_with_the_interpreter() {
    let cases = std::env::var("GANTRY_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|n| n.parse().ok());
    let mut rng = Rng(seed.unwrap_or(7));
    for shape in SHAPES {
        let source = module(shape);
        let module = text::parse(&source).unwrap().module;
        let mut ways: Vec<(String, Box<dyn Prepared + '_>)> = Vec::new();
        for runner in RUNNERS {
            let targets: &[&str] = match runner.compiles() {
                true => &["bdw", "tgllp", "dg2", "pvc"],
                false => &["skl"],
            };
            for target in targets {
                assert!(Target::lookup(target).is_ok());
                let variant = CompileVariant::default();
                let way = runner.prepare(&module, target, variant);
                let way = way.unwrap_or_else(|e| panic!("{target}: {e}\n{source}"));
                ways.push((format!("{} {target}", runner.name()), way));
            }
        }
        for _ in 0..cases.unwrap_or(150) {
            let (name, scalar, ..) = any(&mut rng, &KERNELS);
            let (image, texels) = image(&mut rng, shape, scalar == "i32");
            let sampler = sampler(&mut rng);
            let places = places(&mut rng, &image, &sampler);
            let run = Run {
                kernel: name.to_owned(),
                global: [1, 1, 1],
                groups: None,
                local: None,
                offset: [0, 0, 0],
                tolerance: Tolerance::default(),
                args: vec![
                    Arg::Image(image, texels),
                    Arg::Sampler(sampler),
                    Arg::Buffer(places.clone()),
                    Arg::Buffer(Data {
                        kind: kind("u32"),
                        bits: vec![0; 4 * LANES],
                    }),
                ],
                places: Vec::new(),
                prints: None,
                expect: Expect::Args(Vec::new()),
            };
            let mut all = ways.iter().map(|(who, way)| {
                let got = way.run(&run).unwrap_or_else(|e| panic!("{who}: {e}"));
                let bytes = got.buffers[3].clone().unwrap();
                (who, bytes)
            });
            let all: Vec<(&String, Vec<u8>)> = all.by_ref().collect();
            let (_, want) = all.last().unwrap();
            for (who, got) in &all {
                let parts = floats(want).into_iter().zip(floats(got)).enumerate();
                for (n, (want, got)) in parts {
                    let same = want.to_bits() == got.to_bits();
                    let near = scalar == "f32" && (want - got).abs() <= 1e-3;
                    let coords: Vec<f32> = (0..)
                        .map_while(|k| places.bits.get(k * LANES + n % LANES))
                        .map(|b| f32::from_bits(*b as u32))
                        .collect();
                    assert!(
                        same || near,
                        "{who}: {name} of {image}, {}, lane {}, component {}, at {coords:?}: \
                         {got:?} is not {want:?}",
                        sampler_text(&sampler),
                        n % LANES,
                        n / LANES,
                    );
                }
            }
        }
    }
}
