//! Compile times grow linearly with the size of a function, not quadratically, and deep functions
//! need no deep stack. The bench of the same name prints figures.

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::fuzzing::shapes::Shape;
use gantry_codegen::ir::{Function, IntCC, Module, scalars::I32};
use gantry_codegen::{
    CodegenError, CompileOptions, Inline, OptLevel, SimdCf, compile, text, verifier,
};
use std::collections::BTreeMap;
use std::time::Instant;

fn options() -> CompileOptions {
    CompileOptions {
        check: true,
        ..CompileOptions::for_target("skl").unwrap()
    }
}

/// Returns the seconds of each stage.
fn stages(shape: Shape, size: usize) -> BTreeMap<&'static str, f64> {
    let mut out = BTreeMap::new();
    let mut clock = Instant::now();
    let mut lap = |name, out: &mut BTreeMap<_, _>| {
        out.insert(name, clock.elapsed().as_secs_f64());
        clock = Instant::now();
    };
    let module = shape.module(size).unwrap();
    lap("build", &mut out);
    let printed = module.to_string();
    lap("print", &mut out);
    let parsed = text::parse(&printed).unwrap();
    lap("parse", &mut out);
    verifier::verify_parsed(&parsed).unwrap();
    lap("verify the text", &mut out);
    let compiled = compile(&module, &options()).unwrap();
    for (stage, time) in &compiled.kernels[0].stats.stages {
        out.insert(stage, time.as_secs_f64());
    }
    out
}

/// Stages are not quadratic. For 16 times the instructions a quadratic stage takes 256 times as
/// long, and a linear one 16 times. The limit is 80.
///
/// Times are the best of several, since other tests run concurrently, and fresh memory for the
/// larger size is slow. On a quiet machine two rounds suffice.
#[test]
fn no_stage_is_quadratic() {
    for shape in Shape::ALL {
        let mut small: BTreeMap<&str, f64> = BTreeMap::new();
        let mut large = small.clone();
        let least = |all: &mut BTreeMap<&'static str, f64>, more: BTreeMap<&'static str, f64>| {
            for (stage, time) in more {
                let t = all.entry(stage).or_insert(time);
                *t = t.min(time);
            }
        };
        let mut slow = Vec::new();
        for _ in 0..24 {
            least(&mut small, stages(shape, 2_000));
            least(&mut large, stages(shape, 32_000));
            // Times below 100 microseconds, the share of 2,000 instructions, are too short to
            // measure.
            let ratio = |(stage, t): (&&'static str, &f64)| (*stage, t / small[stage].max(100e-6));
            slow = large.iter().map(ratio).filter(|s| s.1 > 80.0).collect();
            if slow.is_empty() {
                break;
            }
        }
        assert!(slow.is_empty(), "{}: {slow:?}", shape.name());
    }
}

/// Values permuted in cycles at the ends of loops need one free register. Allocation does not retry
/// with fewer registers. The checker verifies them.
#[test]
fn permutation_cycles_need_no_second_attempt() {
    for size in [1_000, 20_000] {
        let module = Shape::PressureLoops.module(size).unwrap();
        let compiled = compile(&module, &options()).unwrap();
        let stats = &compiled.kernels[0].stats;
        assert!(stats.spilled.fills > 0 && stats.splits > 0);
        assert_eq!(stats.phases.attempts, 1, "{size}");
    }
}

/// Runs a closure in a thread whose stack holds a few hundred frames.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(160 << 10);
    thread.spawn(f).unwrap().join().unwrap();
}

#[test]
fn deep_functions_take_no_stack() {
    for shape in [Shape::NestedIfs, Shape::NestedLoops, Shape::Calls] {
        on_a_small_stack(move || {
            let module = shape.module(30_000).unwrap();
            let printed = module.to_string();
            let parsed = text::parse(&printed).unwrap();
            verifier::verify_parsed(&parsed).unwrap();
            assert!(parsed.module == module);
            let unoptimized = CompileOptions {
                opt: OptLevel::O0,
                ..options()
            };
            let compiled = compile(&parsed.module, &unoptimized).unwrap();
            assert!(compiled.kernels[0].stats.instructions > 5_000);
            compile(&parsed.module, &options()).unwrap();
        });
    }
}

/// Loops nested so deep that flags are allocated by another algorithm. All checkers are enabled.
#[test]
fn deep_loops_are_right() {
    let compiled = compile(&Shape::NestedLoops.module(12_000).unwrap(), &options()).unwrap();
    assert!(compiled.kernels[0].stats.instructions > 6_000);
}

fn doubling(levels: usize) -> Module {
    let mut text = "kernel %k(i64 ptr) simd1 {\nblock0(v0: i64):\n    v1 = call %f1(v0)\n    \
                    bstore v1, v0\n    return\n}\n"
        .to_string();
    for n in 1..=levels {
        text += &format!("\nfunction %f{n}(i64) -> i64 {{\nblock0(v0: i64):\n");
        text += &if n < levels {
            format!("    v1 = call %f{0}(v0)\n    v2 = call %f{0}(v1)\n", n + 1)
        } else {
            "    v2 = iadd v0, v0\n".to_string()
        };
        text += "    return v2\n}\n";
    }
    text::parse(&text).unwrap().module
}

/// Inlining that would make 2^40 copies of a function is refused quickly.
#[test]
fn calls_that_double_are_refused() {
    let inline = |inline| CompileOptions {
        inline,
        ..options()
    };
    match compile(&doubling(40), &inline(Inline::All)) {
        Err(CodegenError::TooLarge { kernel, limit, .. }) => {
            assert_eq!((kernel.as_str(), limit), ("k", 500_000));
        }
        other => panic!("{:?}", other.map(|c| c.zebin.len())),
    }
    compile(&doubling(8), &inline(Inline::All)).unwrap();
    // Without inlining they are few.
    for way in [Inline::Auto, Inline::Never] {
        let compiled = compile(&doubling(40), &inline(way)).unwrap();
        assert!(compiled.kernels[0].stats.instructions < 1500);
    }
}

/// Makes nested divergent ifs, each of which keeps a mask live.
fn nested_masks(depth: usize) -> Module {
    let mut f = Function::kernel("k", 16);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let first = b.ins().bload(I32.by(16), p, 0);
    let v = b.var(first);
    for _ in 0..depth {
        let x = b.use_var(v);
        let c = b.ins().icmp(IntCC::SignedGreaterThan, x, first);
        b.simd_if_begin(c);
        let y = b.ins().imul(x, x);
        b.def_var(v, y);
    }
    for _ in 0..depth {
        b.simd_if_end();
        let x = b.use_var(v);
        let z = b.ins().bxor(x, first);
        b.def_var(v, z);
    }
    let x = b.use_var(v);
    b.ins().bstore(x, p, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let mut m = Module::default();
    m.functions.push(f);
    m
}

/// Nests of any depth compile on the mask stack.
#[test]
fn deep_masks_are_compiled() {
    on_a_small_stack(|| {
        let out = compile(&nested_masks(10_000), &options()).unwrap();
        assert!(out.kernels[0].stats.simd_cf.is_empty());
    });
}

/// Masks in flags that exceed the GRF file by far are refused. That is found without a walk of all
/// blocks for each mask, and without deep recursion.
#[test]
fn deep_masks_are_refused() {
    on_a_small_stack(|| {
        let options = CompileOptions {
            simd_cf: SimdCf::Flags,
            ..options()
        };
        compile(&nested_masks(200), &options).unwrap();
        match compile(&nested_masks(10_000), &options) {
            Err(CodegenError::OutOfRegisters { needed, .. }) => assert!(needed > 4096),
            other => panic!("{:?}", other.map(|c| c.zebin.len())),
        }
    });
}
