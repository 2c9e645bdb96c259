//! Random functions verify, parse back from their text, and run in the interpreter. Damaged
//! functions and texts yield errors, not panics.

use gantry_codegen::fuzzing::{
    CUBE_SIDE, IMAGE_LEVELS, IMAGE_SIDE, IN_BYTES, OUT_BYTES, Options, Rng, SHARED_BYTES, input,
    module,
};
use gantry_codegen::interp::{Addressing, Arg, Buffers, Component, Grid, Image, Sampler, launch};
use gantry_codegen::ir::{
    Block, FuncKind, FuncRef, ImageShape, InstData, Module, Opcode, ParamInfo, ParamRole, Resource,
    Value,
};
use gantry_codegen::text::parse;
use gantry_codegen::verifier::{verify_module, verify_parsed};
use gantry_codegen::{CacheKey, CompileOptions};

/// Returns the seed of a run: `GANTRY_SEED`, or a fixed one.
fn seed() -> u64 {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok());
    let seed = seed.unwrap_or(20_260_101);
    println!("GANTRY_SEED={seed}");
    seed
}

fn opcodes(m: &Module) -> Vec<Opcode> {
    let mut out = Vec::new();
    for f in m.functions.values() {
        for &b in f.layout.blocks() {
            out.extend(f.layout.insts(b).iter().map(|&i| f.dfg.data(i).opcode()));
        }
    }
    out
}

#[test]
fn text_reads_back() {
    let seed = seed();
    let mut seen = vec![0; Opcode::all().len()];
    for n in 0..400 {
        let m = module(seed + n, &Options::any());
        if let Err(e) = verify_module(&m) {
            panic!("seed {}: {e}\n{m}", seed + n);
        }
        let text = m.to_string();
        let parsed = match parse(&text) {
            Ok(p) => p,
            Err(e) => panic!("seed {}: {}", seed + n, e.render("random.gir", &text)),
        };
        assert_eq!(parsed.module, m, "seed {}", seed + n);
        for ((r, a), (_, b)) in m.functions.iter().zip(&parsed.module.functions) {
            assert!(a.same_code(b), "seed {}, {r}", seed + n);
        }
        verify_parsed(&parsed).unwrap();
        for o in opcodes(&m) {
            seen[o as usize] += 1;
        }
    }
    for info in Opcode::all() {
        assert!(
            seen[info.opcode as usize] >= 20,
            "{} was made {} times",
            info.name,
            seen[info.opcode as usize]
        );
    }
}

/// Index of the kind of a parameter's reflection.
fn reflected_kind(info: &ParamInfo) -> usize {
    match info.role {
        ParamRole::Argument if info.name.is_empty() => 0,
        ParamRole::Argument => 1,
        ParamRole::PushConstants => 2,
        ParamRole::SizeOf(_) => 3,
        ParamRole::Resource(_, Resource::StorageBuffer { .. }) => 4,
        ParamRole::Resource(_, Resource::UniformBuffer { .. }) => 5,
        ParamRole::Resource(_, Resource::Image) => 6,
        ParamRole::Resource(_, Resource::Sampler) => 7,
    }
}

/// A module that is parsed from its text has the same key, and the reflection of each parameter is
/// part of the key.
#[test]
fn keys_follow_text_and_reflection() {
    let seed = seed();
    let options = CompileOptions::for_target("skl").unwrap();
    let key = |m: &Module| CacheKey::new(m, &options);
    let mut seen = [0; 8];
    for n in 0..200 {
        let m = module(seed + n, &Options::any());
        let parsed = parse(&m.to_string()).unwrap().module;
        assert_eq!(key(&m), key(&parsed), "seed {}", seed + n);
        let infos = &m.functions[FuncRef::from_u32(0)].reflection;
        for (at, info) in infos.iter().enumerate() {
            seen[reflected_kind(info)] += 1;
            if *info != ParamInfo::default() {
                let mut other = m.clone();
                let reflection = &mut other.functions[FuncRef::from_u32(0)].reflection;
                reflection.set(at, ParamInfo::default());
                assert_ne!(key(&m), key(&other), "seed {}, {at}", seed + n);
            }
        }
    }
    assert!(seen.iter().all(|n| *n >= 10), "{seen:?}");
}

/// Returns the number of work-items of a thread.
fn simd(m: &Module) -> u32 {
    match m.functions[FuncRef::from_u32(0)].kind {
        FuncKind::Kernel { simd, .. } => simd,
        FuncKind::Subroutine => panic!("the first function is a kernel"),
    }
}

#[test]
fn runnable_ones_run() {
    let seed = seed();
    for n in 0..200 {
        let m = module(seed + n, &Options::runnable());
        verify_module(&m).unwrap();
        let mut memory = Buffers::default();
        let data = input(seed + n);
        assert_eq!(data.len(), IN_BYTES as usize);
        let x = memory.add(data);
        let y = memory.add(vec![0; OUT_BYTES as usize]);
        let z = memory.add(vec![0; SHARED_BYTES as usize]);
        let image = Image {
            shape: ImageShape::D2,
            extent: [IMAGE_SIDE, IMAGE_SIDE, 1],
            samples: 1,
            levels: IMAGE_LEVELS,
            components: 4,
            component: Component::Uint32,
            address: memory.add(vec![0; (2 * IMAGE_SIDE * IMAGE_SIDE * 16) as usize]),
        };
        let block = Image {
            shape: ImageShape::Block,
            ..image
        };
        let block = Arg(vec![memory.add_image(block)]);
        let counters = Image {
            components: 1,
            ..image
        };
        let counters = Arg(vec![memory.add_image(counters)]);
        let cubes = Image {
            shape: ImageShape::CubeArray,
            extent: [CUBE_SIDE, CUBE_SIDE, 12],
            components: 1,
            component: Component::Unorm8,
            ..image
        };
        let cubes = Arg(vec![memory.add_image(cubes)]);
        let image = Arg(vec![memory.add_image(image)]);
        let sampler = memory.add_sampler(Sampler::new(Addressing::Edge, false));
        let sampler = Arg(vec![sampler]);
        let args = [
            Arg::ptr(x),
            Arg::ptr(y),
            Arg::i32(5),
            Arg::f32(1.5),
            Arg::ptr(z),
            image.clone(),
            image,
            sampler,
            block,
            counters,
            cubes,
        ];
        let simd = simd(&m);
        let grid = Grid::new([simd, 1, 1], [simd, 1, 1]);
        let ran = launch(
            &m,
            FuncRef::from_u32(0),
            &grid,
            &args,
            &mut memory,
            1_000_000,
        );
        if let Err(e) = ran {
            panic!("seed {}: {e}\n{m}", seed + n);
        }
        assert!(
            memory.bytes(y).iter().any(|&b| b != 0),
            "seed {}: nothing was stored",
            seed + n
        );
    }
}

/// Replaces an instruction's operands, opcode or type by those of another one.
fn damage(m: &mut Module, rng: &mut Rng) {
    let keys: Vec<FuncRef> = m.functions.keys().collect();
    let f = &mut m.functions[rng.pick(&keys).unwrap()];
    let (insts, values) = (f.dfg.num_insts() as u32, f.dfg.num_values() as u32);
    let inst = gantry_codegen::ir::Inst::from_u32(rng.below(insts));
    let mut value = || Value::from_u32(rng.below(values + 3));
    let (v, w) = (value(), value());
    let mut pick = rng.below(7);
    f.dfg.map_args(inst, |old| {
        pick = pick.wrapping_sub(1);
        if pick == 0 { v } else { old }
    });
    match rng.below(6) {
        0 => {
            let other = gantry_codegen::ir::Inst::from_u32(rng.below(insts));
            *f.dfg.data_mut(inst) = *f.dfg.data(other);
        }
        1 => {
            let opcodes: Vec<Opcode> = Opcode::all().iter().map(|i| i.opcode).collect();
            let opcode = rng.pick(&opcodes).unwrap();
            *f.dfg.data_mut(inst) = InstData::Binary {
                opcode,
                args: [v, w],
            };
        }
        2 => {
            let blocks = f.layout.blocks().to_vec();
            let block = rng.pick(&blocks).unwrap();
            let list = f.layout.insts_mut(block);
            if !list.is_empty() {
                let at = rng.below(list.len() as u32) as usize;
                if rng.one_in(2) {
                    list.swap_remove(at);
                } else {
                    list.push(inst);
                }
            }
        }
        3 => {
            let n = f.dfg.num_blocks() as u32;
            for d in f.dfg.destinations_mut(inst).0 {
                d.block = Block::from_u32(rng.below(n + 2));
            }
        }
        _ => {}
    }
}

#[test]
fn damaged_functions_do_not_panic() {
    let seed = seed();
    let mut refused = 0;
    for n in 0..2000 {
        let mut rng = Rng::new(seed + n);
        let mut m = module(
            seed + n % 50,
            &Options {
                size: 25,
                ..Options::any()
            },
        );
        for _ in 0..=rng.below(3) {
            damage(&mut m, &mut rng);
        }
        refused += u32::from(verify_module(&m).is_err());
    }
    assert!(refused > 500, "{refused} of 2000 were refused");
}

#[test]
fn damaged_texts_do_not_panic() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let (mut refused, mut read) = (0, 0);
    for n in 0..1500 {
        let text = module(
            seed + n % 40,
            &Options {
                size: 15,
                ..Options::any()
            },
        )
        .to_string();
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=rng.below(2) {
            let at = rng.below(bytes.len() as u32) as usize;
            match rng.below(5) {
                0 => bytes.truncate(at),
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, rng.pick(b"()<>{},;:=+-%.xv0129 \n\xff").unwrap()),
                3 => bytes[at] = rng.bits() as u8,
                _ => {
                    let end = (at + rng.below(40) as usize).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = rng.below(bytes.len() as u32) as usize;
                    bytes.splice(to..to, piece);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().count() as u32;
        let errors = match parse(&text) {
            Ok(p) => {
                read += 1;
                verify_parsed(&p).err()
            }
            Err(e) => Some(e),
        };
        for d in errors.iter().flat_map(|e| &e.0) {
            refused += 1;
            assert!(
                d.span.line >= 1 && d.span.line <= lines.max(1) && d.span.col >= 1,
                "{d}\n{text}"
            );
        }
        if let Some(e) = errors {
            e.render("t", &text);
        }
    }
    assert!(
        refused > 500 && read > 50,
        "{refused} errors, {read} texts read"
    );
}
