//! Kernels of high register pressure give the interpreter's results on the simulator, wherever
//! their values are.

use gantry_codegen::{Allocator, CompileOptions, OptLevel, compile};
use gantry_filetests::pressure::{ir, kernels};
use gantry_filetests::runner::{CompileVariant, RUNNERS};

#[test]
fn high_pressure_changes_nothing() {
    let simulator = RUNNERS.into_iter().find(|r| r.compiles()).unwrap();
    let interpreter = RUNNERS.into_iter().find(|r| !r.compiles()).unwrap();
    let mut failures = Vec::new();
    for k in kernels() {
        let run = k.launch();
        for surfaces in [true, false] {
            let module = ir::module(&k.name, &k.program, surfaces).unwrap();
            let variant = CompileVariant::default();
            let expected = interpreter.prepare(&module, "skl", variant).unwrap();
            let expected = expected.run(&run).unwrap();
            for allocator in Allocator::ALL {
                let variant = CompileVariant {
                    allocator,
                    ..variant
                };
                let got = simulator.prepare(&module, "skl", variant);
                let got = got.and_then(|p| p.run(&run));
                if let Err(e) = got.and_then(|got| k.same(&expected, &got)) {
                    failures.push(format!("{}, {variant}: {e}", k.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Values that the optimizer computes once are rematerialized where the GRF file is full. Values
/// that fit are allocated, however tightly.
#[test]
fn what_fits_as_it_stands_fits_when_optimized() {
    let (mut fits, mut failures) = (Vec::new(), Vec::new());
    for k in kernels() {
        for large_buffers in [false, true] {
            let module = ir::module(&k.name, &k.program, !large_buffers).unwrap();
            let spilled = OptLevel::ALL.map(|opt| {
                let mut options = CompileOptions::for_target("skl").unwrap();
                (options.opt, options.large_buffers) = (opt, large_buffers);
                let out = compile(&module, &options).unwrap();
                let spilled = &out.kernels[0].stats.spilled;
                spilled.registers + spilled.remats
            });
            if spilled[0] == 0 {
                fits.push((k.name.clone(), large_buffers));
            }
            if spilled[0] == 0 && spilled != [0; 3] {
                failures.push((k.name.clone(), large_buffers, spilled));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
    // There 3,924 of 4,096 bytes are live at once.
    assert!(
        fits.contains(&("sgemm6x8".to_string(), true)) && fits.len() >= 14,
        "{fits:?}"
    );
}
