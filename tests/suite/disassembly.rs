//! Files that `gantry disasm` takes, and those that it refuses.

use crate::common::{Random, Scratch, corpus, gantry};

fn compiled(dir: &Scratch, target: &str) -> String {
    let zebin = dir.text("k.zebin");
    let source = corpus("run/classics/saxpy.gir");
    let source = source.display().to_string();
    gantry(["compile", &source, "--target", target, "-o", &zebin]).ok();
    zebin
}

#[test]
fn a_zebin_kernel_by_kernel() {
    let dir = Scratch::new();
    let zebin = compiled(&dir, "tgllp");
    let text = gantry(["disasm", &zebin]).ok();
    assert!(!text.contains("illegal"), "{text}");
    let comments: Vec<&str> = text.lines().filter(|l| l.starts_with("//")).collect();
    assert_eq!(comments.len(), 4, "{text}");
    assert_eq!(comments[0], "// kernel saxpy8, xelp");
    assert_eq!(comments[2], "// kernel saxpy32, xelp");
    for padding in [comments[1], comments[3]] {
        assert!(padding.ends_with(" bytes of padding"), "{padding}");
    }
    // One of them is that part of the whole, and is read back.
    let one = gantry(["disasm", &zebin, "--kernel", "saxpy32"]).ok();
    assert!(
        text.ends_with(&one) && one.starts_with(comments[2]),
        "{one}"
    );
    let asm = dir.write("k.asm", &one);
    gantry(["asm", &asm, "--target", "tgllp"]).ok();
    let none = gantry(["disasm", &zebin, "--kernel", "saxpy"]).fails();
    assert!(
        none.contains("no kernel `saxpy`: saxpy8, saxpy32"),
        "{none}"
    );
}

#[test]
fn the_platform_of_a_zebin_is_its_own() {
    let dir = Scratch::new();
    let zebin = compiled(&dir, "skl");
    // A product of the same platform is no contradiction.
    gantry(["disasm", &zebin, "--platform", "kbl"]).ok();
    let run = ["run", &zebin, "--kernel", "saxpy8", "--device", "sim"];
    for (other, says) in [("dg2", "xehpg"), ("pvc", "xehpc")] {
        let said = format!("k.zebin: the zebin is compiled for gen9, not for {says}");
        for command in [&["disasm", &zebin], &["validate", &zebin], &run[..]] {
            let err = gantry(command.iter().chain(&["--target", other])).misused();
            assert!(err.contains(&said), "{err}");
        }
    }
    let err = gantry(run.iter().chain(&["--target", "kbl"])).fails();
    assert!(err.contains("takes 4 arguments, 0 were given"), "{err}");
}

#[test]
fn bare_instructions_need_a_platform() {
    let dir = Scratch::new();
    let asm = dir.write("k.asm", "mov (8|M0) r5.0<1>:d r7.0<8;8,1>:d\n");
    let krn = dir.text("k.krn");
    gantry(["asm", &asm, "-o", &krn]).ok();
    for command in ["disasm", "validate"] {
        let err = gantry([command, &krn]).misused();
        assert!(err.contains("bare instructions need --platform"), "{err}");
    }
    let text = gantry(["disasm", &krn, "--target", "skl"]).ok();
    assert!(
        text.contains("mov (8|M0)") && !text.contains("//"),
        "{text}"
    );
    // A piece of an instruction at the end is said.
    let whole = std::fs::read(&krn).unwrap();
    let cut = dir.write("cut.krn", [&whole[..], &whole[..9]].concat());
    let text = gantry(["disasm", &cut, "--platform", "skl"]).ok();
    let last = text.lines().last();
    assert_eq!(last, Some("// 9 bytes at the end: no whole instruction"));
}

#[test]
fn other_files_are_refused() {
    let dir = Scratch::new();
    let mut random = Random(1);
    let noise: Vec<u8> = (0..4096).map(|_| random.next() as u8).collect();
    let elf = [b"\x7fELF".as_slice(), &[0; 60]].concat();
    let files: [(&[u8], &str); 7] = [
        (b"", "it is empty"),
        (&[0; 64], "neither a zebin nor instructions of gen9"),
        (b"A page of text.\n", "it is text"),
        (
            b"kernel %k() simd8 {\n",
            "it is IR text, for `gantry compile`",
        ),
        (
            b"\x03\x02\x23\x07\0\0\0\0",
            "it is SPIR-V, for `gantry compile`",
        ),
        (&noise, " do not decode"),
        (&elf, "not a usable zebin"),
    ];
    for (bytes, said) in files {
        let path = dir.write("file", bytes);
        let err = gantry(["disasm", &path, "--platform", "skl"]).fails();
        assert!(
            err.contains("file: ") && err.contains(said),
            "{said}: {err}"
        );
    }
}

/// `gantry compile` names what it takes.
#[test]
fn code_is_not_compiled() {
    let dir = Scratch::new();
    let zebin = compiled(&dir, "skl");
    let asm = dir.write("k.asm", "nop\n");
    let binary = dir.write("file", [0x80, 0, 1]);
    for (path, what) in [(zebin, "a zebin"), (asm, "assembly"), (binary, "binary")] {
        let err = gantry(["compile", &path]).fails();
        assert!(err.contains(&format!(": this is {what}")), "{err}");
        assert!(err.contains("takes IR (`.gir`), SPIR-V"), "{err}");
    }
}

/// The zebin of an archive for several devices is the one that `--target` or the device names.
#[test]
fn an_archive_has_a_part_for_each_device() {
    let dir = Scratch::new();
    let mut archive = b"!<arch>\n".to_vec();
    for (name, target) in [("64.9.0.9", "skl"), ("64.dg2", "dg2")] {
        let mut zebin = std::fs::read(compiled(&dir, target)).unwrap();
        let len = zebin.len();
        let header = format!("{:<16}{:<32}{len:<10}`\n", format!("{name}/"), 0);
        zebin.resize(len.next_multiple_of(2), b'\n');
        archive.extend([header.as_bytes(), &zebin].concat());
    }
    let archive = dir.write("k.ar", archive);
    for (target, platform) in [("skl", "gen9"), ("kbl", "gen9"), ("dg2", "xehpg")] {
        let text = gantry(["disasm", &archive, "--target", target]).ok();
        let first = format!("// kernel saxpy8, {platform}\n");
        assert!(text.starts_with(&first), "{text}");
        gantry(["validate", &archive, "--target", target]).ok();
        let args = [
            "--arg", "zero:32", "--arg", "zero:32", "--arg", "f32:1", "--arg", "i32:8",
        ];
        let base = ["run", &archive, "--kernel", "saxpy8", "--global", "8"];
        gantry([&base[..], &args, &["--device", target]].concat()).ok();
        gantry([&base[..], &args, &["--device", target, "--target", target]].concat()).ok();
    }
    let error = gantry(["disasm", &archive]).fails();
    assert!(
        error.contains("64.dg2 for dg2\n`--target` chooses"),
        "{error}"
    );
    let error = gantry(["disasm", &archive, "--target", "pvc"]).fails();
    assert!(error.contains("no zebin for pvc"), "{error}");
    let error = gantry(["compile", &archive]).fails();
    assert!(error.contains("compiled already"), "{error}");
    let tokens = dir.write("k.bin", b"CTNI and more");
    let error = gantry(["disasm", &tokens, "--target", "skl"]).fails();
    assert!(error.contains("patch tokens"), "{error}");
}
