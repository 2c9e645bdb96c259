//! Corpus of filetests, and completeness of its manual.

use gantry_codegen::ir::{FuncRef, Opcode};
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, compile};
use gantry_filetests::{Options, TestFile, commands, files, run_path};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let summary = run_path(&root, &Options::from_env());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
    assert!(summary.files > 0, "the corpus is empty");
}

#[test]
fn every_command_has_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let mut texts = String::new();
    each_file(&root, &mut |text| texts.push_str(text));
    for c in commands() {
        let line = format!("test {}", c.name());
        assert!(
            texts.lines().any(|l| l.starts_with(&line)),
            "no file has `{line}`"
        );
    }
}

/// Known bugs are outside of the corpus until they are fixed.
#[test]
fn known_bugs_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("known");
    // Git keeps no empty directory.
    for entry in std::fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        let summary = run_path(&path, &Options::default());
        assert!(
            !summary.failures.is_empty(),
            "{} passes: move it into the corpus",
            path.display()
        );
    }
}

/// Opcodes that no `test run` file has, with the reason.
const NOT_RUN: [(Opcode, &str); 0] = [];

#[test]
fn every_opcode_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let mut run = BTreeSet::new();
    each_file(&root, &mut |text| {
        let file = TestFile::parse("run.gir", text).unwrap();
        assert!(file.tests.iter().any(|t| t.command == "run"), "{text}");
        let module = parse(&file.body).unwrap().module;
        for f in (0..module.functions.len() as u32).map(FuncRef::from_u32) {
            let f = &module.functions[f];
            let blocks = f.layout.blocks().iter();
            let insts = blocks.flat_map(|&b| f.layout.insts(b));
            run.extend(insts.map(|&i| f.dfg.data(i).opcode().name()));
        }
    });
    let excused = |o: Opcode| NOT_RUN.iter().any(|n| n.0 == o);
    for row in Opcode::all() {
        let (runs, excused) = (run.contains(row.name), excused(row.opcode));
        assert!(runs || excused, "no run filetest has `{}`", row.name);
        assert!(
            !(runs && excused),
            "`{}` is run: it needs no excuse",
            row.name
        );
    }
}

fn each_file(path: &Path, see: &mut impl FnMut(&str)) {
    if !path.is_dir() {
        return see(&std::fs::read_to_string(path).unwrap());
    }
    for entry in std::fs::read_dir(path).unwrap() {
        each_file(&entry.unwrap().path(), see);
    }
}

#[test]
fn docs_name_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/filetests.md");
    let docs = std::fs::read_to_string(path).unwrap();
    for c in commands() {
        let name = format!("`test {}`", c.name());
        assert!(
            docs.contains(&name),
            "docs/filetests.md does not name {name}"
        );
        for o in c.options() {
            assert!(
                docs.contains(&format!("`{o}`")),
                "docs/filetests.md does not name the option `{o}` of {name}"
            );
        }
    }
}

/// Source lines do not change code, so that a program is debugged as it runs.
#[test]
fn lines_change_no_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let mut kernels = 0;
    for path in files(&root).unwrap() {
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let file = TestFile::parse(&name, &source).unwrap();
        let bare = gantry_codegen::text::parse(&file.body).unwrap();
        let mut located = bare.clone();
        located.locate(&name);
        for target in ["skl", "dg2"] {
            let options = CompileOptions::for_target(target).unwrap();
            if !file.is_for(&options.target) {
                continue;
            }
            let [bare, located] = [&bare, &located].map(|p| compile(&p.module, &options).unwrap());
            for (b, l) in bare.kernels.iter().zip(&located.kernels) {
                kernels += 1;
                assert!(
                    b.code.bytes == l.code.bytes,
                    "{name}, {target}: %{}",
                    b.name
                );
            }
        }
    }
    println!("{kernels} kernels");
    assert!(kernels > 400);
}
