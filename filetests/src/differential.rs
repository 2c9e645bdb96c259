//! Differential testing with random kernels: the compiled bytes on the simulator must give the
//! interpreter's results.
//!
//! It is a library function with the target as a parameter. `tests/suite/random.rs` runs a seeded
//! few on every target, and a fuzz target as many as desired.

use crate::check::check_code;
use crate::runner::{self, INSTRUCTION_LIMIT};
use gantry_codegen::Inline;
use gantry_codegen::fuzzing::{
    self, CUBE_SIDE, IMAGE_LEVELS, IMAGE_SIDE, OUT_BYTES, Options, SHARED_BYTES,
};
use gantry_codegen::interp::{
    self, Addressing, Arg, Buffers, Component, Grid, Image, Sampler, lane_float, launch,
};
use gantry_codegen::ir::{FuncKind, FuncRef, ImageShape, InstData, Module, Opcode, Scalar, Type};
use gantry_codegen::text::parse;
use gantry_codegen::{
    CodegenError, CompileOptions, Compiled, GrfMode, OptLevel, Pass, PassSet, SimdCf, Target,
    compile,
};
use gantry_runtime::{
    ChannelOrder, ChannelType, Device, ImageDesc, ImageFormat, SimOptions, Watch,
};

/// Result of a case.
#[derive(Debug)]
pub enum Outcome {
    /// Interpreter and simulator agree on the kernel.
    Equal(Box<Agreed>),
    /// The compiler refuses the kernel: one instruction alone needs more registers than there are,
    /// which the IR cannot rule out.
    TooLarge,
}

/// Kernel whose bytes give the results of its IR.
#[derive(Debug)]
pub struct Agreed {
    /// IR of the kernel.
    pub module: Module,
    /// Compiled code of each variant.
    ///
    /// The first is unoptimized, with SIMD control flow on the mask stack where it keeps to the
    /// rules, and small subroutines inline. The second is unoptimized, with flags, and calls every
    /// subroutine. The third is optimized, at a level and in a variant that the seed selects. If
    /// stages are not checked, the first two alternate.
    pub variants: Vec<Compiled>,
}

/// Returns the passes of `GANTRY_WITHOUT` (`unroll,pieces`). Leaving out the wrong pass makes a
/// failing case succeed.
fn without() -> PassSet {
    let names = std::env::var("GANTRY_WITHOUT").unwrap_or_default();
    names.split(',').filter_map(Pass::from_name).collect()
}

/// Returns the number of GRFs of threads in a case, on targets that have more for kernels that ask.
/// A third of the cases has all of them. `GANTRY_GRF` (`128`, `256`, `auto`) overrides this.
fn grf_mode(seed: u64, target: &Target) -> GrfMode {
    let asked = std::env::var("GANTRY_GRF").ok();
    let drawn = match seed % 3 {
        0 => GrfMode::Large,
        _ => GrfMode::default(),
    };
    let mode = asked.and_then(|m| GrfMode::from_name(&m)).unwrap_or(drawn);
    match target.with_large_file() {
        Some(_) => mode,
        None => GrfMode::default(),
    }
}

/// Removes from the options what a target lacks: doubles in the ALU, quotients and powers in the
/// math unit.
pub fn for_target(options: &Options, target: &Target) -> Options {
    let mut without = options.without.clone();
    if !target.features().math_div_pow {
        // These are near the interpreter's results, not equal.
        without.extend([Opcode::Fdiv, Opcode::Fpow]);
    }
    let features = target.features();
    Options {
        without,
        block2d: features.block2d,
        named_barriers: features.named_barriers,
        sampler: features.sampler,
        systolic: features.dpas.then_some((features.grf_bytes / 4) as u8),
        doubles: options.doubles && target.features().native_f64,
        float_atomics: options.float_atomics && target.features().float_atomics,
        word_atomics: options.word_atomics && target.features().word_atomics,
        ..options.clone()
    }
}

/// Checks that a case performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseChecks {
    /// Number of registers that values may be in, if not all.
    pub grfs: Option<u32>,
    /// True if every stage's output is checked too, and one variant more is compiled. That takes
    /// more than two thirds of the time.
    pub stages: bool,
}

/// Tests a random module on a target.
///
/// The module goes through its text and back, is compiled and run. The legality rules check every
/// emitted instruction. Stored values must equal the interpreter's.
///
/// # Errors
/// The compiler refuses verified IR, or the results differ. The message says how.
pub fn case(
    seed: u64,
    options: &Options,
    target: &Target,
    how: CaseChecks,
) -> Result<Outcome, String> {
    module_case(fuzzing::module(seed, options), seed, target, how)
}

/// Tests a module on a target in the ways that a seed selects, as [`case`] does. `reduce.rs` of the
/// examples makes the module of a case smaller.
///
/// # Errors
/// The same.
pub fn module_case(
    made: Module,
    seed: u64,
    target: &Target,
    how: CaseChecks,
) -> Result<Outcome, String> {
    let CaseChecks { grfs, stages } = how;
    let text = made.to_string();
    let m = parse(&text).map_err(|e| e.to_string())?.module;
    if m != made {
        return Err("another module comes back from its text".to_string());
    }
    let input = fuzzing::input(seed);
    let expected = interpret(&m, &input)?;
    let mut variants = Vec::new();
    // Unoptimized in both variants. Optimized in alternating variants and levels, and sometimes
    // with buffers by address.
    let optimized = match seed % 4 {
        0 => (SimdCf::Auto, Inline::Auto, OptLevel::O1),
        1 => (SimdCf::Flags, Inline::Never, OptLevel::O2),
        _ => (SimdCf::Auto, Inline::Auto, OptLevel::O2),
    };
    let plain = [
        (SimdCf::Auto, Inline::Auto, OptLevel::O0),
        (SimdCf::Flags, Inline::Never, OptLevel::O0),
    ];
    let by_turns = (0..).map(|n| stages || seed / 4 % 2 == n);
    let plain = plain.into_iter().zip(by_turns).filter(|p| p.1).map(|p| p.0);
    for (simd_cf, inline, opt) in plain.chain([optimized]) {
        let options = CompileOptions {
            check: stages,
            simd_cf,
            inline,
            opt,
            grf_mode: grf_mode(seed, target),
            large_buffers: (seed / 4).is_multiple_of(2),
            without: without(),
            grfs,
            ..CompileOptions::new(target.clone())
        };
        let by = |e: String| format!("{}, -O{}: {e}", simd_cf.name(), opt.name());
        let compiled = match compile(&m, &options) {
            Err(CodegenError::OutOfRegisters { alone: true, .. }) => return Ok(Outcome::TooLarge),
            other => other.map_err(|e| by(e.to_string()))?,
        };
        check_code(&compiled, &options).map_err(by)?;
        let annotated = target.features().swsb;
        let got = simulate(&compiled.zebin, &input, simd(&m), annotated).map_err(by)?;
        compare(&m, &expected.output, &got.output).map_err(by)?;
        if expected.printed != got.printed {
            let what = "what is printed differs\n";
            let (want, have) = (&expected.printed, &got.printed);
            return Err(by(format!("{what}{want:?}\n{have:?}")));
        }
        if expected.surface != got.surface {
            let differ = |(a, b): (&u8, &u8)| a != b;
            let at = expected.surface.iter().zip(&got.surface).position(differ);
            let at = at.unwrap_or(0);
            return Err(by(format!("the surface differs at byte {at}")));
        }
        let images = [
            ("image", &expected.image, &got.image),
            ("image of rectangles", &expected.block, &got.block),
            ("image of atomics", &expected.counters, &got.counters),
        ];
        for (name, expected, got) in images {
            let differ = |(a, b): (&u8, &u8)| a != b;
            let at = expected.iter().zip(got).position(differ);
            if expected != got {
                let at = at.unwrap_or(0);
                return Err(by(format!("the {name} differs at byte {at}")));
            }
        }
        variants.push(compiled);
    }
    Ok(Outcome::Equal(Box::new(Agreed {
        module: m,
        variants,
    })))
}

/// Memory after a launch.
struct FinalMemory {
    output: Vec<u8>,
    surface: Vec<u8>,
    image: Vec<u8>,
    block: Vec<u8>,
    counters: Vec<u8>,
    printed: String,
}

/// Bytes of a random kernel's image for 2D blocks.
const BLOCK_BYTES: usize = (IMAGE_SIDE * IMAGE_SIDE) as usize;

/// Bytes of a random kernel's image for atomics.
const COUNTER_BYTES: usize = (IMAGE_SIDE * IMAGE_SIDE * 4) as usize;

/// Bytes of a random kernel's images.
const IMAGE_BYTES: usize = (IMAGE_SIDE * IMAGE_SIDE * 16) as usize;

/// Returns the bytes of the image that is read, of all levels.
fn texels_of(input: &[u8]) -> Vec<u8> {
    // All levels have less than twice the texels of the first.
    input
        .iter()
        .copied()
        .cycle()
        .take(2 * IMAGE_BYTES)
        .collect()
}

/// Sampler of the launches.
fn sampler() -> Sampler {
    Sampler {
        addressing: [Addressing::Edge, Addressing::Border, Addressing::Edge],
        lod: [0, 0x1c0],
        compare: interp::Compare::Less,
        ..Sampler::new(Addressing::Edge, false)
    }
}

/// Faces of the cubes, and their bytes.
const FACES: u32 = 12;
const CUBE_BYTES: usize = (CUBE_SIDE * CUBE_SIDE * FACES) as usize;

/// Returns the initial contents of the surface's buffer: the end of the input, reversed.
fn shared(input: &[u8]) -> Vec<u8> {
    input
        .iter()
        .rev()
        .copied()
        .take(SHARED_BYTES as usize)
        .collect()
}

/// Returns the work-items of a thread. A kernel is launched as one thread.
fn simd(m: &Module) -> u32 {
    match m.functions.values().next().map(|f| f.kind) {
        Some(FuncKind::Kernel { simd, .. }) => simd,
        _ => 1,
    }
}

fn interpret(m: &Module, input: &[u8]) -> Result<FinalMemory, String> {
    let mut memory = Buffers::default();
    let x = memory.add(input.to_vec());
    let y = memory.add(vec![0; OUT_BYTES as usize]);
    let z = memory.add(shared(input));
    let texels = memory.add(texels_of(input));
    let written = memory.add(vec![0; IMAGE_BYTES]);
    let block = memory.add(input.iter().copied().take(BLOCK_BYTES).collect());
    let counters = memory.add(input.iter().copied().take(COUNTER_BYTES).collect());
    let cubes = memory.add(input.iter().copied().take(CUBE_BYTES).collect());
    let image = |address| Image {
        shape: ImageShape::D2,
        extent: [IMAGE_SIDE, IMAGE_SIDE, 1],
        samples: 1,
        levels: 1,
        components: 4,
        component: Component::Uint32,
        address,
    };
    let args = [
        Arg::ptr(x),
        Arg::ptr(y),
        Arg::i32(5),
        Arg::f32(1.5),
        Arg::ptr(z),
        Arg(vec![memory.add_image(Image {
            levels: IMAGE_LEVELS,
            ..image(texels)
        })]),
        Arg(vec![memory.add_image(image(written))]),
        Arg(vec![memory.add_sampler(sampler())]),
        Arg(vec![memory.add_image(Image {
            shape: ImageShape::Block,
            extent: [IMAGE_SIDE / 2, IMAGE_SIDE, 1],
            samples: 1,
            levels: 1,
            components: 2,
            component: Component::Unorm8,
            address: block,
        })]),
        Arg(vec![memory.add_image(Image {
            components: 1,
            ..image(counters)
        })]),
        Arg(vec![memory.add_image(Image {
            shape: ImageShape::CubeArray,
            extent: [CUBE_SIDE, CUBE_SIDE, FACES],
            samples: 1,
            levels: 1,
            components: 1,
            component: Component::Unorm8,
            address: cubes,
        })]),
    ];
    let simd = simd(m);
    let grid = Grid::new([simd, 1, 1], [simd, 1, 1]);
    launch(
        m,
        FuncRef::from_u32(0),
        &grid,
        &args,
        &mut memory,
        INSTRUCTION_LIMIT,
    )
    .map_err(|e| format!("interpreter: {e}"))?;
    Ok(FinalMemory {
        output: memory.bytes(y).to_vec(),
        surface: memory.bytes(z).to_vec(),
        image: memory.bytes(written).to_vec(),
        block: memory.bytes(block).to_vec(),
        counters: memory.bytes(counters).to_vec(),
        printed: String::from_utf8_lossy(memory.printed()).into_owned(),
    })
}

/// Runs a kernel on the simulator. If `annotated`, its annotations must cover every read and write.
fn simulate(zebin: &[u8], input: &[u8], simd: u32, annotated: bool) -> Result<FinalMemory, String> {
    let watch = Watch::new().hazards();
    let device = Device::simulator(SimOptions {
        instruction_limit: INSTRUCTION_LIMIT,
        ..SimOptions::default()
    });
    let run = || -> Result<FinalMemory, gantry_runtime::Error> {
        let kernel = device.load(zebin)?.kernel("k")?;
        let x = device.buffer_from(input)?;
        let y = device.buffer_from(&vec![0u8; OUT_BYTES as usize])?;
        let z = device.buffer_from(&shared(input))?;
        let texels = device.buffer_from(&texels_of(input))?;
        let written = device.buffer_from(&vec![0u8; IMAGE_BYTES])?;
        let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt32)?;
        let desc = ImageDesc::d2(IMAGE_SIDE, IMAGE_SIDE);
        let images = [
            device.image_of(&texels, format, desc.with_levels(IMAGE_LEVELS))?,
            device.image_of(&written, format, desc)?,
        ];
        let bytes: Vec<u8> = input.iter().copied().take(BLOCK_BYTES).collect();
        let block = device.buffer_from(&bytes)?;
        let pairs = ImageFormat::new(ChannelOrder::Rg, ChannelType::UnormInt8)?;
        let rows = ImageDesc::d2(IMAGE_SIDE / 2, IMAGE_SIDE);
        let rows = device.image_of(&block, pairs, rows)?;
        let bytes: Vec<u8> = input.iter().copied().take(COUNTER_BYTES).collect();
        let counters = device.buffer_from(&bytes)?;
        let dwords = ImageFormat::new(ChannelOrder::R, ChannelType::UnsignedInt32)?;
        let counted = device.image_of(&counters, dwords, desc)?;
        let bytes: Vec<u8> = input.iter().copied().take(CUBE_BYTES).collect();
        let cubes = device.buffer_from(&bytes)?;
        let bytes = ImageFormat::new(ChannelOrder::R, ChannelType::UnormInt8)?;
        let desc = ImageDesc::cube_array(CUBE_SIDE, FACES / 6);
        let cubes = device.image_of(&cubes, bytes, desc)?;
        let sampler = runner::sampler(&sampler());
        let grid = gantry_runtime::Grid::new([simd, 1, 1]).group([simd, 1, 1]);
        let mut printed = String::new();
        let mut launch = kernel.launch(grid).printf(|text| printed += text);
        if annotated {
            launch = launch.watch(&watch);
        }
        launch
            .arg(&x)
            .arg(&y)
            .arg(5i32)
            .arg(1.5f32)
            .arg(&z)
            .arg(&images[0])
            .arg(&images[1])
            .arg(sampler)
            .arg(&rows)
            .arg(&counted)
            .arg(&cubes)
            .run()?;
        Ok(FinalMemory {
            output: y.read()?,
            surface: z.read()?,
            image: written.read()?,
            block: block.read()?,
            counters: counters.read()?,
            printed,
        })
    };
    let left = run().map_err(|e| format!("simulator: {e}"))?;
    match watch.report().hazards.first() {
        Some(h) => Err(format!("simulator: {h}")),
        None => Ok(left),
    }
}

/// Returns the offsets in the output that blocks of floats are stored to, with their types.
fn floats(m: &Module) -> Vec<(usize, Type)> {
    let Some(f) = m.functions.get(FuncRef::from_u32(0)) else {
        return Vec::new();
    };
    let params = f.layout.entry().map_or(&[][..], |b| f.dfg.block_params(b));
    let output = params.get(1).copied();
    let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
    insts
        .filter_map(|&i| match *f.dfg.data(i) {
            InstData::Store {
                args: [v, to],
                offset,
                ..
            } if Some(to) == output => Some((offset as usize, f.dfg.ty(v))),
            _ => None,
        })
        .filter(|(_, ty)| ty.scalar().is_float())
        .collect()
}

/// Compares outputs. Integers must be equal, and floats too, except that all NaNs and both zeros
/// are equal.
fn compare(m: &Module, expected: &[u8], got: &[u8]) -> Result<(), String> {
    let mut scalars = vec![Scalar::I8; expected.len()];
    for (at, ty) in floats(m) {
        if let Some(s) = scalars.get_mut(at..at + ty.bytes() as usize) {
            s.fill(ty.scalar());
        }
    }
    let mut at = 0;
    while let Some(&scalar) = scalars.get(at) {
        let size = scalar.bytes() as usize;
        let read = |from: &[u8]| {
            let mut bits = [0; 8];
            for (to, b) in bits.iter_mut().zip(from.iter().skip(at).take(size)) {
                *to = *b;
            }
            u64::from_le_bytes(bits)
        };
        let (a, b) = (read(expected), read(got));
        let (x, y) = (lane_float(scalar, a), lane_float(scalar, b));
        if a != b && !(x.is_nan() && y.is_nan()) && x != y {
            return Err(format!(
                "byte {at}, {scalar}: interpreter {a:#x} ({x}), simulator {b:#x} ({y})"
            ));
        }
        at += size;
    }
    Ok(())
}
