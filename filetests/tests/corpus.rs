//! The corpus, and that its manual is whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_filetests::{COMMANDS, Options, run_path};
use std::path::Path;

#[test]
fn corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let summary = run_path(&root, Options::from_env());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
    assert!(summary.files > 0, "the corpus is empty");
}

fn read_all(path: &Path, out: &mut String) {
    if !path.is_dir() {
        return out.push_str(&std::fs::read_to_string(path).unwrap());
    }
    for entry in std::fs::read_dir(path).unwrap() {
        read_all(&entry.unwrap().path(), out);
    }
}

#[test]
fn every_command_has_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let mut texts = String::new();
    read_all(&root, &mut texts);
    for c in COMMANDS {
        let line = format!("test {}", c.name());
        assert!(
            texts.lines().any(|l| l.starts_with(&line)),
            "no file has `{line}`"
        );
    }
}

#[test]
fn docs_name_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/filetests.md");
    let docs = std::fs::read_to_string(path).unwrap();
    for c in COMMANDS {
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
