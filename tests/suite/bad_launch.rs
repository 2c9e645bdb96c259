//! Launches that go wrong. The message names what and where, and the process ends with status 1.

use crate::common::{Outcome, Scratch, gantry};

const KERNELS: &str = "
kernel %copy(i64 ptr, i64 ptr, i32) simd8 {
block0(v0: i64, v1: i64, v2: i32):
    v3 = bload.i32x8 v0
    bstore v3, v1
    return
}

kernel %far(i64 ptr) simd8 {
block0(v0: i64):
    v1 = group_id.i32 x
    v2 = iconst.i32 4096
    v3 = imul v1, v2
    v4 = sextend.i64 v3
    v5 = iadd v0, v4
    v6 = iconst.i32x8 7
    bstore v6, v5
    return
}

kernel %spin(i64 ptr) simd8 {
block0(v0: i64):
    jump block1
block1:
    jump block1
}
";

fn launch(kernel: &str, args: &[&str]) -> Outcome {
    let dir = Scratch::new();
    let path = dir.write("k.gir", KERNELS);
    let fixed = [
        "run",
        &path,
        "--device",
        "sim",
        // A surface has no faults out of bounds.
        "--large-buffers",
        "--kernel",
        kernel,
        "--instruction-limit",
        "100000",
    ];
    gantry(fixed.iter().chain(args))
}

#[test]
fn argument_counts_and_kinds() {
    let good = ["--arg", "zero:32", "--arg", "zero:32", "--arg", "i32:5"];
    launch("copy", &good).ok();
    for (args, message) in [
        (&good[..4], "kernel `copy` takes 3 arguments, 2 were given"),
        (
            &[&good[..], &good[..2]].concat(),
            "kernel `copy` takes 3 arguments, 4 were given",
        ),
        (
            &["--arg", "i32:1", "--arg", "zero:32", "--arg", "i32:5"],
            "argument 0: expected a buffer",
        ),
        (
            &["--arg", "zero:32", "--arg", "zero:32", "--arg", "i64:5"],
            "argument 2: expected a value of 4 bytes",
        ),
        (
            &["--arg", "zero:32", "--arg", "zero:32", "--arg", "zero:4"],
            "argument 2: expected a value",
        ),
        (
            &["--arg", "zero:32", "--arg", "local:32", "--arg", "i32:4"],
            "argument 1: expected a buffer",
        ),
        (
            &[
                "--arg",
                "in:/no/such/file",
                "--arg",
                "zero:32",
                "--arg",
                "i32:4",
            ],
            "/no/such/file: ",
        ),
    ] {
        let err = launch("copy", args).fails();
        assert!(err.contains(message), "{args:?}: {err}");
    }
}

/// If arguments are missing, those that the kernel takes are listed as the command line has them.
#[test]
fn arguments_are_listed() {
    let err = launch("copy", &["--arg", "zero:32"]).fails();
    let list = "takes 3 arguments, 1 was given\n  --arg in:FILE  buffer\n  --arg in:FILE  buffer\n  --arg TYPE:N   value of 4 bytes\n";
    assert!(err.ends_with(list), "{err}");
    let err = launch("spin", &[]).fails();
    assert!(err.contains("takes 1 argument, 0 were given\n"), "{err}");
}

#[cfg(feature = "wgsl")]
#[test]
fn bindings_are_listed() {
    let path = crate::common::corpus("shaders/image.wgsl");
    let path = path.display().to_string();
    let run = |more: &[&str]| {
        let args = ["run", &path, "--device", "sim", "--kernel", "scaled"];
        gantry(args.iter().chain(more)).fails()
    };
    let list = "\n  --bind 0,0:image2d:FILE.png        image: source\n  --bind 0,1:sampler:ADDRESS:FILTER  sampler: how\n  --bind 1,4:image2d:FILE.png        image: to\n  --bind push:TYPE:N                 push constants: pushed\n";
    let err = run(&[]);
    assert!(err.contains("takes 4 arguments, 0 were given"), "{err}");
    assert!(err.ends_with(list), "{err}");
    let err = run(&["--bind", "0,1:sampler:clamp_to_edge:nearest"]);
    assert!(err.contains("nothing is bound at binding 0,0\n"), "{err}");
    assert!(err.ends_with(list), "{err}");
    // A binding that there is not is the mistake that is said.
    let err = run(&["--bind", "0,7:zero:4"]);
    assert!(err.contains("it has no binding 0,7"), "{err}");
}

/// Checks that a fault's message names kernel, group, thread, location and instruction, and its
/// line in the text.
#[track_caller]
fn names_the_place(err: &str, kernel: &str, group: &str, instruction: &str) {
    assert!(
        err.contains(&format!(
            "kernel `{kernel}`, group {group}, thread 0, at 0x"
        )),
        "{err}"
    );
    let mut last = err.trim_end().lines().rev();
    let (line, code) = (last.next().unwrap(), last.next().unwrap());
    assert!(line.contains("k.gir:"), "{err}");
    assert!(code.contains(instruction), "{err}");
}

#[test]
fn a_store_out_of_bounds() {
    launch(
        "far",
        &["--global", "8", "--local", "8", "--arg", "zero:64"],
    )
    .ok();
    let err = launch(
        "far",
        &["--global", "16", "--local", "8", "--arg", "zero:64"],
    )
    .fails();
    names_the_place(&err, "far", "(1, 0, 0)", "sends (8|M0)");
}

#[test]
fn a_load_from_nowhere() {
    let err = launch(
        "copy",
        &["--arg", "zero:16", "--arg", "zero:32", "--arg", "i32:0"],
    )
    .fails();
    names_the_place(&err, "copy", "(0, 0, 0)", "send (");
}

#[test]
fn an_endless_loop() {
    let err = launch("spin", &["--arg", "zero:4"]).fails();
    names_the_place(&err, "spin", "(0, 0, 0)", "jmpi");
    assert!(err.contains("without an end"), "{err}");
}

#[test]
fn a_launch_that_takes_too_long() {
    let args = ["--arg", "zero:4", "--threads", "1", "--timeout"];
    let with = |seconds| launch("spin", &[&args[..], &[seconds]].concat());
    let err = with("0").fails();
    assert!(
        err.contains("kernel `spin` passed its deadline after 0 of 1 group, 0 instructions"),
        "{err}"
    );
    let err = with("-1").misused();
    assert!(err.contains("`-1` is no number of seconds"), "{err}");
}

/// An access out of bounds is an error whatever the compiler makes of buffers. It is so by address,
/// and by surfaces, where hardware would drop the store.
#[test]
fn a_store_far_outside_is_an_error_at_every_level() {
    let dir = Scratch::new();
    let path = dir.write("k.gir", KERNELS);
    let run = |target: &str, level: &str, bounds: &str| {
        gantry([
            "run", &path, "--device", "sim", "--kernel", "far", "--global", "16", "--local", "8",
            "--arg", "zero:64", "--target", target, "-O", level, "--bounds", bounds,
        ])
    };
    for target in ["skl", "tgllp", "dg2", "pvc"] {
        for level in ["0", "1", "2"] {
            let e = run(target, level, "error").fails();
            assert!(
                e.contains("kernel `far`, group (1, 0, 0)"),
                "{target} {level}: {e}"
            );
        }
        run(target, "0", "drop").fails();
        run(target, "2", "drop").ok();
    }
}
