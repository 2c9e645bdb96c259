//! Kernels of Intel's compiler for every device that go wrong. Their launches end with faults that
//! name the location.

use crate::common::{everywhere, launch};
use gantry_runtime::{Arg, Device, Error, Fault, Grid, Module};

fn faults(f: impl Fn(&Device, &Module, &str)) {
    everywhere("faults.cl", f);
}

fn line(n: u32, group: u32) -> Grid {
    Grid::new([n, 1, 1]).group([group, 1, 1])
}

#[test]
fn faults_end_launches_and_name_the_place() {
    faults(|d, m, what| {
        let p = d.buffer(256).unwrap();
        let far = p.device_address() + 128;
        let fault = |name: &str, grid: Grid, args: Vec<Arg>| {
            let kernel = m.kernel(name).unwrap();
            kernel
                .launch(grid)
                .args(args)
                .run()
                .unwrap_err()
                .to_string()
        };
        let e = fault("out_of_bounds", line(64, 64), vec![(&p).into(), far.into()]);
        assert!(e.contains("kernel `out_of_bounds`"), "{what}: {e}");
        assert!(e.contains("outside every buffer"), "{what}: {e}");
        let e = fault("endless", line(64, 64), vec![(&p).into()]);
        assert!(
            e.contains("kernel `endless`, group (0, 0, 0), thread"),
            "{what}: {e}"
        );
        assert!(e.contains("without an end"), "{what}: {e}");
        // Four threads, of which one waits.
        let many = m.kernel("half_barrier").unwrap().simd_size() * 4;
        let q = d.buffer(many as usize * 4).unwrap();
        let e = fault("half_barrier", line(many, many), vec![(&q).into()]);
        assert!(e.contains("the barrier can never complete"), "{what}: {e}");
        // The device still works.
        let one = d.buffer_from(&[1i32, 0]).unwrap();
        launch(m, "endless", line(1, 1), vec![(&one).into()]);
        assert_eq!(one.read::<i32>().unwrap(), [1, 1], "{what}");
    });
}

#[test]
fn private_memory_ends() {
    faults(|d, m, what| {
        let input: Vec<i32> = (0..64).collect();
        let x = d.buffer_from(&input).unwrap();
        let out = d.buffer(64 * 4).unwrap();
        let run = |by: i32| {
            let k = m.kernel("private_overflow").unwrap();
            let grid = Grid::new([64, 1, 1]).group([64, 1, 1]);
            k.launch(grid).arg(&x).arg(&out).arg(by).run()
        };
        run(0).unwrap();
        // After the arrays of all the thread's channels, where another thread's may be.
        let Err(Error::Fault(f)) = run(300 * 32 + 7) else {
            panic!("{what}: no fault");
        };
        // Arrays are in scratch from Xe-HP on.
        let beyond = f.what.contains(" is beyond the thread's own ");
        assert!(beyond && f.what.ends_with(" overflow"), "{what}: {f}");
    });
}

/// Runs a kernel of calls as deep as each work-item's element says. Returns its results, or the
/// fault.
fn go_down(d: &Device, m: &Module, kernel: &str, depths: &[i32]) -> Result<Vec<i32>, Box<Fault>> {
    let p: Vec<i32> = (0..16).map(|i| i * 3 + 1).collect();
    let (p, o) = (d.buffer_from(&p).unwrap(), d.buffer_from(depths).unwrap());
    let n = depths.len() as u32;
    let kernel = m.kernel(kernel).unwrap();
    match kernel.launch(line(n, n)).arg(&o).arg(&p).run() {
        Ok(_) => Ok(o.read().unwrap()),
        Err(Error::Fault(f)) => Err(f),
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn stacks_end() {
    faults(|d, m, what| {
        // For Broadwell the compiler saves registers by a `sends`, which the device lacks.
        if what.starts_with("bdw") {
            return;
        }
        let mut depths = [2i32; 64];
        depths[40] = 17;
        let sum = |n: i32| n * (n + 1) / 2;
        let array: i32 = (0..16).map(|i| i * 3 + 1).sum();
        let want: Vec<i32> = depths.iter().map(|n| 1 + sum(*n)).collect();
        assert_eq!(go_down(d, m, "descent", &depths).unwrap(), want, "{what}");
        let frame = |n: i32| (0..=n).map(|k| array + 16 * k).sum::<i32>();
        let want: Vec<i32> = depths.iter().map(|n| 1 + sum(*n) + frame(*n)).collect();
        assert_eq!(go_down(d, m, "frames", &depths).unwrap(), want, "{what}");

        // Deeper than memory has room for, in a thread before others and in the last one.
        for deepest in [20, 63] {
            let mut depths = [2; 64];
            depths[deepest] = 5_000;
            for (kernel, function, memory) in [
                ("descent", "deep", "scratch"),
                ("frames", "framed", "private memory"),
            ] {
                // On this device a call saves so much that scratch ends first.
                let memory = if what == "pvc simd32" {
                    "scratch"
                } else {
                    memory
                };
                let f = go_down(d, m, kernel, &depths).unwrap_err();
                assert!(f.what.ends_with(": stack overflow"), "{what}: {f}");
                let beyond = format!(" is beyond the thread's own {memory} of ");
                assert!(f.what.contains(&beyond), "{what}: {f}");
                assert_eq!(f.function.as_deref(), Some(function), "{what}: {f}");
                assert!(f.instruction.contains("send"), "{what}: {f}");
            }
        }
    });
}
