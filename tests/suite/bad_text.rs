//! Mistakes in IR text and on the command line. Each gets one clear, located message, and exit
//! status 1 or 2.

use crate::common::{Scratch, gantry};

/// Returns a kernel of one line besides its frame. The line is the text's third.
fn kernel(line: &str) -> String {
    format!(
        "kernel %k(i64 ptr, i32x16, i32x8, f32x8) simd1 {{\nblock0(v0: i64, v1: i32x16, v2: i32x8, v3: f32x8):\n    {line}\n    return\n}}\n"
    )
}

/// Compiles a kernel of that line. It must fail with the message, show the line, and mark `marked`
/// in it.
#[track_caller]
fn mistake(line: &str, marked: &str, message: &str) {
    let dir = Scratch::new();
    let path = dir.write("k.gir", kernel(line));
    for command in [&["compile"][..], &["run", "--device", "sim"]] {
        let err = gantry(command.iter().copied().chain([path.as_str()])).fails();
        let column = 5 + line.find(marked).unwrap();
        assert!(err.starts_with(&format!("error: {message}")), "{err}");
        assert!(err.contains(&format!("--> {path}:3:{column}\n")), "{err}");
        let line = line.lines().next().unwrap_or_default();
        let source = format!("\n3 |     {line}\n");
        let mark = format!(
            "\n  | {}{}",
            " ".repeat(column - 1),
            "^".repeat(marked.len())
        );
        assert!(
            err.contains(&source) && err.trim_end().ends_with(mark.trim_end()),
            "{err}"
        );
        assert_eq!(err.matches("error:").count(), 1, "{err}");
    }
}

#[test]
fn unknown_opcode() {
    mistake("v4 = iaddd v2, v2", "iaddd", "unknown opcode `iaddd`");
}

#[test]
fn type_clash() {
    mistake(
        "v4 = iadd v1, v2",
        "v2",
        "type clash: v2 is i32x8, and v1 is i32x16",
    );
    mistake("v4 = fadd v2, v2", "v2", "type clash");
}

#[test]
fn use_before_definition() {
    let later = "v4 = iadd v2, v9\n    v9 = iadd v2, v2";
    mistake(later, "v9", "v9 is used before it is defined");
    mistake("v4 = iadd v2, v9", "v9", "`v9` is not defined");
}

#[test]
fn region_out_of_bounds() {
    mistake(
        "v4 = rdregion.i32x8 v1, <8;8,1>, 36",
        "rdregion.i32x8",
        "region out of bounds",
    );
    mistake(
        "v4 = wrregion v1, <16;8,2>, 8, v2",
        "wrregion",
        "region out of bounds",
    );
}

#[test]
fn bad_mask_width() {
    let dir = Scratch::new();
    let text = kernel("v4 = icmp eq v1, v1\n    v5 = wrregion v1, <8;8,1>, 0, v2, mask v4");
    let path = dir.write("k.gir", text);
    let err = gantry(["compile", &path]).fails();
    assert!(
        err.starts_with("error: bad mask width: 8 lanes take a mask of b1x8, and v4 is b1x16"),
        "{err}"
    );
    assert!(err.contains(":4:44\n"), "{err}");
}

#[test]
fn every_mistake_is_reported() {
    let dir = Scratch::new();
    let path = dir.write("k.gir", kernel("v4 = foo v1\n    v5 = bar v1"));
    let err = gantry(["compile", &path]).fails();
    assert_eq!(err.matches("error:").count(), 2, "{err}");
}

#[test]
fn too_much_for_the_registers() {
    let dir = Scratch::new();
    // An index may select any element, so no part of the vector can be spilled.
    let text = "kernel %k(i64 ptr, i16) simd1 {\nblock0(v0: i64, v1: i16):\n    v2 = bload.f32x1024 v0\n    v3 = rdregion.f32 v2, <0;1,0>, 0+v1\n    bstore v3, v0\n    return\n}\n";
    let path = dir.write("k.gir", text);
    let err = gantry(["compile", &path]).fails();
    assert!(
        err.contains("out of registers") && err.contains("bytes"),
        "{err}"
    );
}

#[test]
fn files() {
    let dir = Scratch::new();
    for command in ["compile", "asm", "disasm", "validate", "run", "test"] {
        let err = gantry([command, &dir.text("missing.gir")]).fails();
        assert!(
            err.contains("missing.gir: ") || command == "test",
            "{command}: {err}"
        );
    }
    let binary = dir.write("binary.gir", [0x80, 0xff, 0x00, 0x41]);
    assert!(
        gantry(["compile", &binary])
            .fails()
            .contains("not a text file")
    );
    for text in ["", "; nothing\n"] {
        let empty = dir.write("empty.gir", text);
        for command in [
            &["compile"][..],
            &["compile", "--emit", "ir"],
            &["run", "--device", "sim"],
        ] {
            let err = gantry(command.iter().copied().chain([empty.as_str()])).fails();
            assert!(err.contains("empty.gir: there is no kernel"), "{err}");
        }
    }
    // Subroutines alone are a module, of which nothing can be launched.
    let text = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    return v0\n}\n";
    let library = dir.write("library.gir", text);
    assert!(
        gantry(["compile", &library])
            .fails()
            .contains("there is no kernel")
    );
    gantry(["compile", &library, "--emit", "ir"]).ok();
    let unwritable = dir.text("no/such/directory");
    let good = dir.write("good.gir", kernel("v4 = iadd v2, v2"));
    assert!(
        gantry(["compile", &good, "-o", &unwritable])
            .fails()
            .contains("no/such/directory")
    );
}

#[test]
fn command_lines() {
    let dir = Scratch::new();
    let path = dir.write("k.gir", kernel("v4 = iadd v2, v2"));
    let path = path.as_str();
    for (args, message) in [
        (&["frobnicate"][..], "unrecognized subcommand"),
        (
            &["compile", path, "--target", "m1"],
            "no product is named `m1`",
        ),
        (&["compile", path, "--emit", "elf"], "invalid value 'elf'"),
        (
            &["compile", path, "--print-after", "magic"],
            "unknown stage `magic`; there are verify, ",
        ),
        (
            &["disasm", path, "--platform", "m1"],
            "unknown platform `m1`",
        ),
        (
            &["run", path, "--device", "cpu"],
            "there is none named `cpu`",
        ),
        (
            &["run", path, "--global", "1,2,3,4"],
            "three dimensions at most",
        ),
        (&["run", path, "--global", "x"], "`x` is no unsigned number"),
        (
            &["run", path, "--kernel", "nobody"],
            "no kernel named `nobody`; the module has `k`",
        ),
        (&["run", path, "--kernel", "kk"], "did you mean `k`?"),
        (
            &["run", path, "--arg", "image:4x4:RGBX:FLOAT:a"],
            "`RGBX` is no channel order; there are R, A, ",
        ),
        (
            &["run", path, "--arg", "image2d:/no/such.png"],
            "/no/such.png: ",
        ),
        (
            &["run", path, "--arg", "sampler:near"],
            "`near` is no address mode; there are none, clamp, ",
        ),
        (
            &["run", path, "--bind", "0,2:inout:s.bin"],
            "--bind 0,2:inout:s.bin: the form is inout:FILE:OUTFILE",
        ),
        (
            &["run", path, "--arg", "f33:1"],
            "`f33` is no form of argument",
        ),
    ] {
        let out = gantry(args);
        // The contents of a file, or its absence, are not the command line's fault.
        let of_files = args
            .iter()
            .any(|a| matches!(*a, "nobody" | "kk") || a.contains("/no/such"));
        let err = if of_files { out.fails() } else { out.misused() };
        assert!(err.contains(message), "{args:?}: {err}");
    }
}
