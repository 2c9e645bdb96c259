//! Cache keys of compiled code: equal where modules and options yield the same code, different
//! otherwise, and reproducible.

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::fuzzing::shapes::Shape;
use gantry_codegen::ir::{Dim, Function, InstData, Module, scalars};
use gantry_codegen::{
    Allocator, CacheKey, CompileOptions, DebugOptions, GrfMode, Inline, OptLevel, Pass, PassSet,
    SimdCf, Stage, Target, VERSION, text,
};
use std::collections::HashMap;
use std::process::Command;

fn options() -> CompileOptions {
    CompileOptions::for_target("skl").unwrap()
}

fn parse(source: &str) -> Module {
    text::parse(source).unwrap().module
}

fn key(source: &str) -> CacheKey {
    CacheKey::new(&parse(source), &options())
}

const TWICE: &str = "kernel %twice(i64 ptr) simd16 {
block0(v0: i64):
    v1 = group_id.i32 x
    v2 = uextend.i64 v1
    v3 = iadd v0, v2
    v4 = bload.f32x16 v3
    v5 = fadd v4, v4
    bstore v5, v3
    return
}
";

#[test]
fn every_option_counts_but_dumps() {
    let m = parse(TWICE);
    let base = CompileOptions {
        check: false,
        ..options()
    };
    let key = |o: &CompileOptions| CacheKey::new(&m, o);
    let dumped = CompileOptions {
        dump: Stage::ALL.to_vec(),
        ..base.clone()
    };
    assert_eq!(key(&base), key(&dumped));
    let mut all = HashMap::new();
    for target in Target::all() {
        for simd_cf in SimdCf::ALL {
            for inline in Inline::ALL {
                for (check, grfs) in [(false, None), (true, None), (false, Some(64))] {
                    let ways = Allocator::ALL.into_iter().map(|a| (a, true));
                    for (allocator, lane_sharing) in ways.chain([(Allocator::Bytes, false)]) {
                        let o = CompileOptions {
                            target: target.clone(),
                            dump: Vec::new(),
                            simd_cf,
                            inline,
                            opt: OptLevel::default(),
                            without: PassSet::default(),
                            large_buffers: false,
                            grfs,
                            grf_mode: GrfMode::default(),
                            report: false,
                            check,
                            debug: DebugOptions {
                                allocator,
                                lane_sharing,
                            },
                        };
                        let old = all.insert(key(&o), format!("{o:?}"));
                        assert_eq!(old, None, "the key of {o:?}");
                    }
                }
            }
        }
    }
    assert!(all.contains_key(&key(&base)));
    // Only the set of optimizer passes that run counts.
    let large = CompileOptions {
        large_buffers: true,
        ..base.clone()
    };
    let without = CompileOptions {
        without: PassSet::from_iter([Pass::StatelessToStateful]),
        ..base.clone()
    };
    let none = CompileOptions {
        opt: OptLevel::O0,
        ..base.clone()
    };
    for grf_mode in GrfMode::ALL {
        let o = CompileOptions {
            grf_mode,
            ..base.clone()
        };
        assert_eq!(key(&o) == key(&base), grf_mode == GrfMode::default());
    }
    assert_eq!(key(&large), key(&without));
    assert!(!all.contains_key(&key(&large)) && !all.contains_key(&key(&none)));
    assert_ne!(key(&large), key(&none));
}

#[test]
fn numbers_do_not_count_and_names_do() {
    let base = key(TWICE);
    let renumbered = TWICE
        .replace("block0", "block7")
        .replace("v4", "v40")
        .replace("v1", "v99")
        .replace("v0", "v17");
    assert_eq!(base, key(&renumbered));
    assert_ne!(base, key(&TWICE.replace("%twice", "%thrice")));
    let data = |name: &str, of: &str| key(&format!("const %{name} = i32 [{of}]\n\n{TWICE}"));
    assert_eq!(data("a", "1, 2"), data("a", "1, 2"));
    assert_ne!(data("a", "1, 2"), data("b", "1, 2"));
    assert_ne!(data("a", "1, 2"), data("a", "1, 3"));
    assert_ne!(data("a", "1, 2"), base);
}

#[test]
fn locations_count_and_labels_do_not() {
    let file = |name: &str| format!("file0 = \"{name}\"\nfile1 = \"b.cl\"\n\n{TWICE}");
    // Files that no location names have no effect.
    assert_eq!(key(TWICE), key(&file("a.cl")));
    let labelled = TWICE.replace("simd16 {\n", "simd16 {\n    label \"x\" = v4\n");
    assert_ne!(labelled, TWICE);
    assert_eq!(key(TWICE), key(&labelled));
    let at = |name: &str, loc: &str| key(&file(name).replace("v4, v4", &format!("v4, v4 {loc}")));
    let base = at("a.cl", "@file0:3:4");
    assert_eq!(base, at("a.cl", "@file0:3:4"));
    for other in [
        key(TWICE),
        at("c.cl", "@file0:3:4"),
        at("a.cl", "@file1:3:4"),
        at("a.cl", "@file0:4:4"),
        at("a.cl", "@file0:3:5"),
        at("a.cl", "@file0:3"),
    ] {
        assert_ne!(base, other);
    }
    // By name, not by number.
    assert_eq!(at("b.cl", "@file0:3:4"), at("a.cl", "@file1:3:4"));
    let moved = file("a.cl").replace("return", "return @file0:3:4");
    assert_ne!(base, key(&moved));
}

#[test]
fn everything_in_a_module_counts() {
    let base = key(TWICE);
    for (from, to) in [
        ("simd16", "simd8"),
        ("simd16", "simd16 slm 64"),
        ("simd16", "simd16 scratch 64"),
        ("simd16", "simd16 group 16,1,1"),
        ("simd16", "simd16 denorms(f32 flush)"),
        ("simd16", "simd16 rounding(rtz)"),
        ("simd16", "simd16 sums(contract)"),
        ("simd16", "simd16 quotients(reciprocal)"),
        ("i64 ptr", "i64"),
        ("group_id.i32 x", "group_id.i32 y"),
        ("group_id", "group_count"),
        ("uextend", "sextend"),
        ("v4, v4", "v4, v4\n    v6 = fadd v5, v5"),
        ("fadd", "fmul"),
        ("iadd v0, v2", "iadd v2, v0"),
        ("iadd v0, v2", "iadd v0, v0"),
        ("bload.f32x16 v3", "bload.f32x8 v3"),
        (
            "bload.f32x16 v3",
            "bload.i32x16 v3\n    v7 = bitcast.f32x16 v4",
        ),
        ("bload.f32x16 v3", "bload.f32x16 v3+4"),
        ("bload.f32x16 v3", "bload.f32x16 v3 align 16"),
        ("bload.f32x16 v3", "bload.f32x16 v3 volatile"),
        ("bload.f32x16 v3", "bload.f32x16 v3 constant"),
        ("    return", "    jump block1\nblock1:\n    return"),
    ] {
        // Not all of these verify, and keys do not require it.
        assert!(TWICE.contains(from));
        assert_ne!(base, key(&TWICE.replace(from, to)), "{from} and {to}");
    }
}

/// Any change of the text of a random function changes its key: operands, immediates and types.
#[test]
fn modules_that_differ_have_keys_that_differ() {
    let mut seen: HashMap<CacheKey, String> = HashMap::new();
    for shape in Shape::ALL {
        for size in [50, 100, 400] {
            let m = shape.module(size).unwrap();
            let printed = m.to_string();
            let k = CacheKey::new(&m, &options());
            assert_eq!(k, key(&printed), "{} of {size}", shape.name());
            if let Some(old) = seen.insert(k, printed.clone()) {
                assert_eq!(old, printed);
            }
        }
    }
    assert!(seen.len() > 20);
}

#[test]
fn the_builder_and_the_text_give_one_key() {
    let mut f = Function::kernel("twice", 16);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let group = b.ins().group_id(Dim::X);
    let wide = b.ins().uextend(scalars::I64, group);
    let at = b.ins().iadd(p, wide);
    let v = b.ins().bload(scalars::F32.by(16), at, 0);
    let v = b.ins().fadd(v, v);
    b.ins().bstore(v, at, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let mut m = Module::default();
    m.functions.push(f);
    assert_eq!(CacheKey::new(&m, &options()), key(TWICE));
}

/// References to missing entities, and names that contain syntax of the text format.
#[test]
fn modules_that_do_not_verify_have_keys() {
    let mut m = parse(TWICE);
    let base = CacheKey::new(&m, &options());
    let f = m.functions.values_mut().next().unwrap();
    f.name = "twice(i64 ptr) simd8 {\nblock0(v0: i64):\n    return\n}\n\nkernel %twice".to_string();
    let wild = f.layout.insts(f.layout.blocks()[0])[2];
    let missing = gantry_codegen::ir::Value::from_u32(u32::MAX - 1);
    if let InstData::Binary { args, .. } = f.dfg.data_mut(wild) {
        args[0] = missing;
    }
    f.layout
        .append_block(gantry_codegen::ir::Block::from_u32(9));
    assert_ne!(CacheKey::new(&m, &options()), base);
}

/// Keys agree between processes, so they use no randomly seeded hash.
#[test]
fn processes_agree() {
    let own = key(TWICE).to_string();
    if std::env::var_os("GANTRY_PRINT_KEY").is_some() {
        println!("key: {own}.");
        return;
    }
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "key::processes_agree", "--nocapture"])
        .env("GANTRY_PRINT_KEY", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains(&format!("key: {own}.")), "{text}");
    assert!(VERSION.starts_with(env!("CARGO_PKG_VERSION")));
}
