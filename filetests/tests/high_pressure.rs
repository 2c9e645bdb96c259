//! The kernels of high pressure do on the simulator what they do in the interpreter, wherever their values are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::Allocator;
use gantry_filetests::pressure::{ir, kernels};
use gantry_filetests::runner::{RUNNERS, Way};

#[test]
fn high_pressure_changes_nothing() {
    let simulator = RUNNERS.into_iter().find(|r| r.compiles()).unwrap();
    let interpreter = RUNNERS.into_iter().find(|r| !r.compiles()).unwrap();
    let mut failures = Vec::new();
    for k in kernels() {
        let run = k.launch();
        for surfaces in [true, false] {
            let module = ir::module(&k.name, &k.program, surfaces).unwrap();
            let way = Way::default();
            let expected = interpreter.prepare(&module, "skl", way).unwrap();
            let expected = expected.run(&run).unwrap();
            for allocator in Allocator::ALL {
                let way = Way { allocator, ..way };
                let got = simulator.prepare(&module, "skl", way);
                let got = got.and_then(|p| p.run(&run));
                if let Err(e) = got.and_then(|got| k.same(&expected, &got)) {
                    failures.push(format!("{}, {way}: {e}", k.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
