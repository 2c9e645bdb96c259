//! Completeness of the packages of the crates: a build reads no file outside of its package.
//!
//! `cargo package --workspace` builds each package from what is in it, which takes minutes. This
//! test finds the usual mistake at once.

use super::words::files;
use std::path::{Component, Path, PathBuf};

/// Crates by their folders.
const CRATES: [&str; 9] = [
    "meta",
    "isa-gen",
    "zebin",
    "codegen",
    "spirv",
    "runtime",
    "filetests",
    "jit-demo",
    "",
];

/// Path of a file that a line includes, relative to the line's own.
fn included(line: &str) -> Option<&str> {
    let macros = ["include_str!(\"", "include_bytes!(\"", "#[path = \""];
    let (_, rest) = macros.iter().find_map(|m| line.split_once(m))?;
    rest.split_once('"').map(|(path, _)| path)
}

/// Resolves `..` in a path; `None` if it leaves the folder that the path is relative to.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !out.pop() => return None,
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    Some(out)
}

/// Lines of a source that include files outside of its crate, by number. Items for documentation
/// tests may, since those run in the workspace only.
fn outside(path: &str, text: &str) -> Vec<usize> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    let mut doctest = false;
    for (n, line) in text.lines().enumerate() {
        if line.starts_with("#[cfg(") {
            doctest = line.contains("doctest");
        } else if !line.starts_with("#[") {
            doctest = false;
        }
        let leaves = |p: &str| inside(&folder.join(p)).is_none();
        if !doctest && included(line).is_some_and(leaves) {
            found.push(n + 1);
        }
    }
    found
}

#[test]
fn builds_read_their_own_package() {
    let mut includes = 0;
    for of in CRATES {
        let folder = |name: &str| Path::new(of).join(name).display().to_string();
        let (src, build) = (folder("src"), folder("build.rs"));
        let mut sources = files(&[&src], ".rs");
        if super::words::root().join(&build).exists() {
            sources.extend(files(&[&build], ".rs"));
        }
        assert!(!sources.is_empty(), "{src}");
        for (name, text) in sources {
            let path = Path::new(&name).strip_prefix(of).unwrap();
            let path = path.to_str().unwrap();
            assert_eq!(outside(path, &text), [0; 0], "{name}");
            includes += text.lines().filter_map(included).count();
        }
    }
    assert!(includes > 10, "{includes}");
}

#[test]
fn a_planted_include_is_found() {
    let line = "const A: &str = include_str!(\"../../docs/ir.md\");\n";
    assert_eq!(outside("src/lib.rs", line), [1]);
    assert_eq!(outside("src/a/b.rs", line), [0; 0]);
    let line = "#[cfg(doctest)]\n#[doc = include_str!(\"../../docs/ir.md\")]\nstruct Page;\n";
    assert_eq!(outside("src/lib.rs", line), [0; 0]);
    let line = line.replace("doctest", "test");
    assert_eq!(outside("src/lib.rs", &line), [2]);
}
