//! Statements of documents about the tree: the files and test targets that they name exist, and
//! lists are complete.

use gantry_codegen::{Pass, Stage};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the documents about the whole tree, with their text.
fn documents() -> Vec<(String, String)> {
    let mut paths = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let pages = docs.map(|e| e.unwrap().path());
    paths.extend(pages.filter(|p| p.extension().is_some_and(|e| e == "md")));
    let read = |p: PathBuf| (p.display().to_string(), std::fs::read_to_string(p).unwrap());
    paths.into_iter().map(read).collect()
}

/// Top-level directories that paths in documents begin with.
const ROOMS: [&str; 10] = [
    "meta/",
    "isa-gen/",
    "codegen/",
    "runtime/",
    "filetests/",
    "jit-demo/",
    "docs/",
    "fuzz/",
    "tests/",
    ".ci/",
];

#[test]
fn files_that_are_named_exist() {
    for (name, text) in documents() {
        let words = text.split(|c: char| c.is_whitespace() || "`()[],;:\"'|".contains(c));
        for word in words {
            let path = word.trim_end_matches(['.', '/']);
            if ROOMS.iter().any(|r| path.starts_with(r)) && !path.contains(['*', '<', '{']) {
                // `tests/` alone may be that of the crate in question.
                let rooms = ["", "isa-gen", "codegen", "runtime", "filetests"];
                let there = rooms.iter().any(|r| root().join(r).join(path).exists());
                assert!(there, "{name}: there is no {path}");
            }
        }
    }
}

#[test]
fn test_targets_that_are_named_exist() {
    for (name, text) in documents() {
        for line in text.lines().filter(|l| l.contains("cargo ")) {
            for (kind, folder) in [("--test ", "tests"), ("--bench ", "benches")] {
                let Some((before, after)) = line.split_once(kind) else {
                    continue;
                };
                let word = |s: &str| -> String {
                    let is = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
                    s.chars().take_while(is).collect()
                };
                let package = before
                    .rsplit_once("-p gantry-")
                    .map_or(String::new(), |p| word(p.1));
                let target = root().join(package).join(folder).join(word(after));
                let there = target.with_extension("rs").exists() || target.join("main.rs").exists();
                assert!(there, "{name}: no target {}", target.display());
            }
        }
    }
}

/// Compares a generated part of a document with what is there, or writes it with `GANTRY_BLESS=1`.
/// The part stands between `<!-- NAME -->` and `<!-- end -->`.
fn generated(document: &str, name: &str, text: &str) {
    let path = root().join(document);
    let old = std::fs::read_to_string(&path).unwrap();
    let start = format!("<!-- {name} -->\n");
    let (before, rest) = old.split_once(&start).expect(name);
    let (_, after) = rest.split_once("<!-- end -->").expect("end");
    let new = format!("{before}{start}{text}<!-- end -->{after}");
    if std::env::var_os("GANTRY_BLESS").is_some() {
        std::fs::write(&path, new).unwrap();
    } else {
        assert!(
            old == new,
            "{document}: `{name}` is old: GANTRY_BLESS=1 writes it"
        );
    }
}

#[test]
fn the_pipeline_has_its_stages() {
    let mut text = "| stage | takes | makes | in | |\n|---|---|---|---|---|\n".to_string();
    for stage in Stage::ALL {
        let (name, room) = (stage.name(), stage.room());
        assert!(root().join("codegen/src").join(room).exists(), "{room}");
        let forms = [stage.input(), stage.output()].map(|f| f.name());
        let summary = stage.summary();
        text += &format!(
            "| `{name}` | {} | {} | `{room}` | {summary} |\n",
            forms[0], forms[1]
        );
    }
    generated("docs/pipeline.md", "stages", &text);
}

#[test]
fn the_optimizer_has_its_passes() {
    let mut text = "| pass | level | |\n|---|---|---|\n".to_string();
    for pass in Pass::ALL {
        let (name, level) = (pass.name(), pass.level().name());
        text += &format!("| `{name}` | `-O {level}` | {} |\n", pass.summary());
    }
    generated("docs/optimizer.md", "passes", &text);
}

/// The fuzz targets, their manifest and their smoke tests must agree.
#[test]
fn fuzz_targets_are_listed_and_run() {
    let folder = root().join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let smoke = std::fs::read_to_string(root().join("filetests/tests/suite/fuzz.rs")).unwrap();
    let contributing = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("fuzz_targets")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("fuzz::{name}(")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(smoke.contains(&format!("fn {name}()")), "{name}");
        assert!(contributing.contains(name), "{name}");
        count += 1;
    }
    assert_eq!(manifest.matches("[[bin]]").count(), count);
}
