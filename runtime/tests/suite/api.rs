//! Public API: wrong arguments and grids are errors that say what was expected, and many threads
//! may launch at once.

use crate::common;
use crate::common::{have, simulator};
use gantry_runtime::{Arg, Bounds, Device, Grid, Local, Module, Progress, SimOptions};

fn core(d: &Device) -> Module {
    d.load(&common::compile("api.cl", 16, "-cl-std=CL2.0"))
        .unwrap()
}

fn line(n: u32, group: u32) -> Grid {
    Grid::new([n, 1, 1]).group([group, 1, 1])
}

#[test]
fn wrong_arguments_are_named() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let m = core(&d);
    let e = m.kernel("sxpy").unwrap_err().to_string();
    assert!(
        e.starts_with("no kernel named `sxpy`; the module has `saxpy`, "),
        "{e}"
    );
    let k = m.kernel("saxpy").unwrap();
    let b = d.buffer(4096).unwrap();
    let buffer = || Arg::from(&b);
    let fail = |args: Vec<Arg>| {
        k.launch(line(64, 64))
            .args(args)
            .run()
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        fail(vec![buffer(), buffer(), 1f32.into()]),
        "kernel `saxpy` takes 4 arguments, 3 were given"
    );
    assert_eq!(
        fail(vec![buffer(), 7u64.into(), 1f32.into(), 1i32.into()]),
        "kernel `saxpy`, argument 1 (`y`): expected a buffer, got a value of 8 bytes"
    );
    assert_eq!(
        fail(vec![buffer(), buffer(), 1f64.into(), 1i32.into()]),
        "kernel `saxpy`, argument 2 (`a`): expected a value of 4 bytes, got a value of 8 bytes"
    );
    assert_eq!(
        fail(vec![buffer(), buffer(), 1f32.into(), buffer()]),
        "kernel `saxpy`, argument 3 (`n`): expected a value of 4 bytes, got a buffer of 4096 bytes"
    );
    let other = simulator().buffer(16).unwrap();
    assert_eq!(
        fail(vec![(&other).into(), buffer(), 1f32.into(), 1i32.into()]),
        "kernel `saxpy`, argument 0 (`x`): expected a buffer of this device, got a buffer of another"
    );
    let e = m
        .kernel("slm_sum")
        .unwrap()
        .launch(line(64, 64))
        .args(vec![buffer(), buffer(), buffer()])
        .run()
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("argument 2 (`tmp`): expected an SLM size"),
        "{e}"
    );
}

#[test]
fn wrong_grids_are_named() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let m = core(&d);
    let b = d.buffer(1 << 16).unwrap();
    let run = |m: &Module, kernel: &str, grid: Grid, args: Vec<Arg>| {
        m.kernel(kernel).unwrap().launch(grid).args(args).run()
    };
    let v = || vec![Arg::from(&b), Arg::from(&b), Arg::from(&b)];
    for (grid, said) in [
        (line(64, 0), "is empty"),
        (line(4096, 2048), "is too large"),
        (Grid::new([u32::MAX; 3]).group([1, 1, 1]), "is too large"),
    ] {
        let e = run(&m, "vadd", grid, v()).unwrap_err().to_string();
        assert!(e.starts_with("kernel `vadd`: ") && e.contains(said), "{e}");
    }
    // A kernel compiled for whole groups refuses a partial one.
    let whole = d
        .load(&common::compile("api.cl", 16, "-cl-std=CL1.2"))
        .unwrap();
    let e = run(&whole, "vadd", line(100, 64), v())
        .unwrap_err()
        .to_string();
    assert!(e.contains("compiled for whole groups"), "{e}");
    assert!(run(&m, "vadd", line(100, 64), v()).is_ok());
    // Too much SLM.
    let e = run(
        &m,
        "slm_sum",
        line(64, 64),
        vec![(&b).into(), (&b).into(), Local(100_000).into()],
    )
    .unwrap_err()
    .to_string();
    assert!(
        e.contains("100352 bytes of SLM; a group has at most 65536"),
        "{e}"
    );
    // An empty grid runs nothing. A default group is one thread.
    let stats = run(&m, "vadd", line(0, 64), v()).unwrap();
    assert_eq!(stats.threads, 0);
    let stats = run(&m, "vadd", Grid::new([64, 1, 1]), v()).unwrap();
    assert_eq!(stats.threads, 4);
}

#[test]
fn launches_say_what_they_moved() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let m = core(&d);
    let y = d.buffer_from(&[1f32; 1000]).unwrap();
    let x = d.buffer_from(&[2f32; 1000]).unwrap();
    let kernel = m.kernel("saxpy").unwrap();
    let run = |n: i32| {
        let args: Vec<Arg> = vec![(&x).into(), (&y).into(), 3f32.into(), n.into()];
        kernel.launch(line(1000, 40)).args(args).run().unwrap()
    };
    // Threads have 16, 16 and 8 work-items.
    let stats = run(800);
    assert_eq!(
        (stats.threads, stats.bytes_read, stats.bytes_written),
        (75, 800 * 8, 800 * 4)
    );
    let stats = run(0);
    assert_eq!((stats.bytes_read, stats.bytes_written), (0, 0));
    let want = |i| if i < 800 { 7.0 } else { 1.0 };
    assert_eq!(
        y.read::<f32>().unwrap(),
        (0..1000).map(want).collect::<Vec<_>>()
    );
}

#[test]
fn buffers_are_bounded() {
    let d = simulator();
    let b = d.buffer_from(&[1u16, 2, 3]).unwrap();
    assert_eq!((b.len(), b.is_empty()), (6, false));
    assert_eq!(b.read::<u8>().unwrap(), [1, 0, 2, 0, 3, 0]);
    assert_eq!(b.read::<u32>().unwrap(), [0x0002_0001]);
    b.write_bytes(3, &[9, 8]).unwrap();
    assert_eq!(b.read::<u8>().unwrap(), [1, 0, 2, 9, 8, 0]);
    let e = b.write(&[1u64]).unwrap_err().to_string();
    assert_eq!(e, "8 bytes at 0 are not within a buffer of 6 bytes");
    assert!(b.read_bytes(usize::MAX, &mut [0; 2]).is_err());
    assert!(d.buffer(usize::MAX).is_err());
    assert!(d.buffer(0).unwrap().read::<f32>().unwrap().is_empty());
}

/// Values of any size are copied as far as they and the kernel's argument reach. Numbers must have
/// the size that the kernel declares.
#[test]
fn values_of_other_sizes_are_copied_in_part() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let kernel = core(&d).kernel("saxpy").unwrap();
    let x = d.buffer_from(&[1f32; 64]).unwrap();
    let run = |n: Arg| {
        let y = d.buffer_from(&[0f32; 64]).unwrap();
        let launch = kernel.launch(line(64, 64)).arg(&x).arg(&y).arg(2f32);
        launch.arg(n).run().map(|_| y.read::<f32>().unwrap())
    };
    assert_eq!(run(Arg::bytes(&[64])).unwrap(), [2f32; 64]);
    let long = [5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    let some: Vec<f32> = (0..64).map(|i| if i < 5 { 2. } else { 0. }).collect();
    assert_eq!(run(Arg::bytes(&long)).unwrap(), some);
    let e = run(Arg::from(64i64)).unwrap_err().to_string();
    assert!(
        e.contains("argument 3") && e.contains("expected a value of 4 bytes"),
        "{e}"
    );
}

/// Elements are counted by their own size. A launch runs on the thread it was sent to.
#[test]
fn parts_of_buffers_and_launches_elsewhere() {
    let d = simulator();
    let b = d.buffer_from(&[[1u32, 2, 3]; 4]).unwrap();
    b.write_at(2, &[[7u32, 8, 9]]).unwrap();
    let mut some = [[0u32; 3]; 2];
    b.read_into(2, &mut some).unwrap();
    assert_eq!(some, [[7, 8, 9], [1, 2, 3]]);
    assert!(b.read_into(3, &mut some).is_err());
    assert!(b.write_at(usize::MAX, &[0u32]).is_err());
    if !have("ocloc") {
        return;
    }
    let launch = {
        let kernel = core(&d).kernel("saxpy").unwrap();
        let (x, n) = (d.buffer_from(&[1f32; 64]).unwrap(), 64i32);
        kernel.launch(line(64, 64)).arg(&x).arg(&x).arg(2f32).arg(n)
    };
    let stats = std::thread::spawn(move || launch.run()).join().unwrap();
    assert!(stats.unwrap().threads > 0);
}

/// A null pointer is a fault by default, as it is for access by address.
#[test]
fn null_pointers_are_faults() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let kernel = core(&d).kernel("saxpy").unwrap();
    let y = d.buffer_from(&[1f32; 64]).unwrap();
    let launch = kernel.launch(line(64, 64)).arg(Arg::Null).arg(&y);
    let e = launch.arg(2f32).arg(64i32).run().unwrap_err();
    assert!(e.to_string().contains("without a buffer"), "{e}");
}

#[test]
fn null_pointers_read_zero_and_swallow_writes() {
    if !have("ocloc") {
        return;
    }
    let d = Device::simulator(SimOptions {
        bounds: Bounds::Drop,
        ..SimOptions::default()
    });
    let m = core(&d);
    let y = d.buffer_from(&[1f32; 64]).unwrap();
    m.kernel("saxpy")
        .unwrap()
        .launch(line(64, 64))
        .arg(Arg::Null)
        .arg(&y)
        .arg(2f32)
        .arg(64i32)
        .run()
        .unwrap();
    assert_eq!(y.read::<f32>().unwrap(), [1f32; 64]);
    m.kernel("saxpy")
        .unwrap()
        .launch(line(64, 64))
        .arg(&y)
        .arg(Arg::Null)
        .arg(2f32)
        .arg(64i32)
        .run()
        .unwrap();
}

#[test]
fn many_threads_launch_at_once_and_count_progress() {
    if !have("ocloc") {
        return;
    }
    let d = simulator();
    let m = core(&d);
    std::thread::scope(|s| {
        for t in 0..8 {
            let (d, m) = (d.clone(), m.clone());
            s.spawn(move || {
                let n = 2048 + t * 64;
                let xs: Vec<i32> = (0..n as i32).collect();
                let x = d.buffer_from(&xs).unwrap();
                let y = d.buffer_from(&vec![t as i32; n as usize]).unwrap();
                let z = d.buffer(n as usize * 4).unwrap();
                let progress = Progress::new();
                for _ in 0..5 {
                    m.kernel("vadd")
                        .unwrap()
                        .launch(line(n, 64))
                        .arg(&x)
                        .arg(&y)
                        .arg(&z)
                        .progress(&progress)
                        .run()
                        .unwrap();
                    assert_eq!(progress.done(), progress.total());
                    assert_eq!(progress.total(), u64::from(n / 16));
                    let want: Vec<i32> = xs.iter().map(|v| v + t as i32).collect();
                    assert_eq!(z.read::<i32>().unwrap(), want);
                }
            });
        }
    });
}
