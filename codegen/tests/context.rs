//! Reuse of a `Context`: results equal those of a new one, with fewer allocations. The number of
//! allocations does not grow with the number of instructions. `--nocapture` prints the figures.
#![allow(clippy::unwrap_used, reason = "test code")]
#![allow(unsafe_code, reason = "a global allocator that counts")]

use gantry_codegen::fuzzing::shapes::Shape;
use gantry_codegen::ir::Module;
use gantry_codegen::{
    CodegenError, CompileOptions, Context, ModuleCompilation, OptLevel, compile, text,
};
use gantry_isa_gen::diag::Diagnostics;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: usize) {
    // The counters of a terminating thread are gone.
    let _ = REQUESTS.try_with(|r| r.set(r.get() + 1));
    let _ = BYTES.try_with(|b| b.set(b.get() + bytes as u64));
}

// SAFETY: every request is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of a closure, and their bytes.
fn allocations<T>(f: impl FnOnce() -> T) -> (u64, u64) {
    let before = (REQUESTS.get(), BYTES.get());
    let out = f();
    let found = (REQUESTS.get() - before.0, BYTES.get() - before.1);
    drop(out);
    found
}

/// A compilation begun for its register demand can be finished, with the usual result. So it is if
/// functions were added since, or another one was begun and dropped.
#[test]
fn begun_compilations_can_be_finished() {
    let mut context = Context::new();
    for shape in [Shape::Diamonds, Shape::SimdLoops, Shape::PressureLoops] {
        let mut module = shape.module(2000).unwrap();
        let options = CompileOptions::for_target("skl").unwrap();
        let mut begun = ModuleCompilation::new(&options);
        let kernel = module.find("k").unwrap();
        let func = &module.functions[kernel];
        let asked = context.demand(&module, func, &options).unwrap();
        assert_eq!(begun.begin(&mut context, &module, kernel).unwrap(), asked);
        assert_eq!(asked.fits(), shape != Shape::PressureLoops);
        let more = text::parse("kernel %more() simd8 {\nblock0:\n    return\n}\n").unwrap();
        for func in more.module.functions.values() {
            let name = module.functions.push(func.clone());
            begun.begin(&mut context, &module, name).unwrap();
            begun.forget(&mut context, name);
        }
        let whole = compile(&module, &options).unwrap();
        let finished = begun.finish(&mut context, &module).unwrap();
        assert_eq!(finished.zebin, whole.zebin, "{}", shape.name());
        let stages = |k: &gantry_codegen::CompiledKernel| -> Vec<&'static str> {
            k.stats.stages.iter().map(|s| s.0).collect()
        };
        assert_eq!(stages(&finished.kernels[0]), stages(&whole.kernels[0]));
    }
}

/// Numbers of instructions of the printed table.
const SIZES: [usize; 2] = [100, 3000];

#[test]
fn allocations_are_few() {
    for opt in [OptLevel::O0, OptLevel::O2] {
        allocations_at(opt);
    }
}

fn allocations_at(opt: OptLevel) {
    let options = CompileOptions {
        check: false,
        opt,
        ..CompileOptions::for_target("skl").unwrap()
    };
    println!("-O{}", opt.name());
    println!("shape               insts   fresh     bytes      kept     bytes");
    for shape in Shape::ALL {
        let mut more = 0;
        for size in SIZES {
            let m = shape.module(size).unwrap();
            let once = allocations(|| compile(&m, &options).unwrap());
            let mut context = Context::new();
            context.compile(&m, &options).unwrap();
            let again = allocations(|| context.compile(&m, &options).unwrap());
            println!(
                "{:18} {size:6} {:7} {:9} {:9} {:9}",
                shape.name(),
                once.0,
                once.1,
                again.0,
                again.1
            );
            assert!(again.0 < once.0 && again.1 < once.1, "{}", shape.name());
            more = again.0 - more;
        }
        // Blocks and functions allocate, instructions do not.
        let most = match shape {
            Shape::Straight => 100,
            Shape::Calls | Shape::CallSites => 50_000,
            // Every case is a block and an edge.
            Shape::Switch => 4 * SIZES[1] as u64,
            // Spills and fills allocate, for their registers and for evicted values.
            Shape::Pressure | Shape::PressureLoops => 20 * SIZES[1] as u64,
            _ => 2 * SIZES[1] as u64,
        };
        // The optimizer allocates per block too.
        let most = if opt == OptLevel::O0 { most } else { 2 * most };
        assert!(more < most, "{}: {more} more", shape.name());
    }
}

/// Exceeds the registers, since an index may select any element, so compilation fails midway.
fn too_large() -> Module {
    let text = "kernel %k(i64 ptr, i16) simd1 {\nblock0(v0: i64, v1: i16):\n    v2 = bload.f32x1024 v0\n    v3 = rdregion.f32 v2, <0;1,0>, 0+v1\n    bstore v3, v0\n";
    parse(text).unwrap()
}

/// Exceeds the registers, and is spilled.
fn large() -> Module {
    let mut text = "kernel %k(i64 ptr) simd16 {\nblock0(v0: i64):\n".to_string();
    for n in 1..80 {
        text += &format!("    v{n} = bload.i32x32 v0+{}\n", n * 128);
    }
    for n in 1..80 {
        text += &format!("    bstore v{n}, v0+{}\n", n * 256);
    }
    parse(&text).unwrap()
}

fn parse(text: &str) -> Result<Module, Diagnostics> {
    text::parse(&format!("{text}    return\n}}\n")).map(|p| p.module)
}

#[test]
fn earlier_compilations_change_nothing() {
    let mut context = Context::new();
    let (too_large, large) = (too_large(), large());
    for target in ["skl", "icllp", "bdw", "skl"] {
        let options = CompileOptions::for_target(target).unwrap();
        for shape in Shape::ALL {
            for size in [1000, 60] {
                let m = shape.module(size).unwrap();
                let kept = context.compile(&m, &options).unwrap();
                assert!(kept.zebin == compile(&m, &options).unwrap().zebin);
                let e = context.compile(&too_large, &options).unwrap_err();
                assert!(matches!(e, CodegenError::OutOfRegisters { .. }), "{e}");
            }
        }
        let kept = context.compile(&large, &options).unwrap();
        assert!(kept.kernels[0].stats.spilled.registers > 0);
        assert!(kept.zebin == compile(&large, &options).unwrap().zebin);
    }
}

#[test]
fn a_context_goes_to_another_thread() {
    fn sent<T: Send>() {}
    sent::<Context>();
}
