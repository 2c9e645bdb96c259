//! Direction of the rooms of each crate.
//!
//! The table in a crate's `lib.rs` lists its rooms from bottom to top. A room uses rooms above it
//! in that table, and never one below. Tests inside a room may use any.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Source file of a crate: path below `src`, and text.
type Source = (String, String);

/// Returns every Rust file below a folder, with its path relative to it.
fn sources(dir: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap();
                let name = name.replace('\\', "/");
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Returns the rooms that the table of a `lib.rs` lists, from bottom to top.
fn listed(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|l| l.strip_prefix("//! | `"));
    rows.filter_map(|l| l.split_once('`'))
        .map(|(name, _)| name.to_string())
        .collect()
}

/// Room that a file belongs to: its first folder, or its own name.
fn room(path: &str) -> &str {
    path.split('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".rs")
}

/// Code of a file without comments and without its modules of tests, line by line.
fn code(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    // Indentation of the module of tests that is being left out.
    let mut tests: Option<usize> = None;
    let mut test_follows = false;
    let mut in_attribute = false;
    for (n, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(depth) = tests {
            if indent == depth && line.trim_start().starts_with('}') {
                tests = None;
            }
            continue;
        }
        let bare = line.split("//").next().unwrap_or("");
        if bare.trim().starts_with("#[cfg(test)]") || bare.trim().starts_with("#[cfg(all(test,") {
            test_follows = true;
            continue;
        }
        if test_follows && !bare.trim().is_empty() {
            // Attributes may take several lines.
            in_attribute |= bare.trim().starts_with("#[");
            if in_attribute {
                in_attribute = !bare.trim_end().ends_with(']');
                continue;
            }
            test_follows = false;
            if bare.trim_end().ends_with('{') {
                tests = Some(indent);
            }
            continue;
        }
        lines.push((n + 1, bare));
    }
    lines
}

/// Names that `lib.rs` brings to the root of a crate, by the room that they come from.
fn reexports(lib: &str) -> HashMap<String, String> {
    let text: String = code(lib).iter().map(|(_, l)| format!("{l}\n")).collect();
    let mut found = HashMap::new();
    for statement in text.split(';') {
        let Some((_, path)) = statement.split_once("use ") else {
            continue;
        };
        let Some((from, names)) = path.trim().split_once("::") else {
            continue;
        };
        let words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in words.filter(|w| !w.is_empty()) {
            found.insert(name.to_string(), from.to_string());
        }
    }
    found
}

/// Files of a crate that are only compiled for tests, by the `mod` items that declare them.
fn test_files(files: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let base = path.trim_end_matches("mod.rs").trim_end_matches(".rs");
        let base = if path.ends_with("mod.rs") || path == "lib.rs" {
            base.trim_end_matches("lib").to_string()
        } else {
            format!("{base}/")
        };
        let mut test = false;
        for line in text.lines().map(str::trim) {
            if line == "#[cfg(test)]" {
                test = true;
            } else if !line.starts_with("#[") && !line.starts_with("//") {
                let item = line.split("mod ").nth(1).and_then(|l| l.strip_suffix(';'));
                if let Some(name) = item.filter(|_| test) {
                    found.push(format!("{base}{name}.rs"));
                    found.push(format!("{base}{name}/"));
                }
                test = false;
            }
        }
    }
    found
}

/// Number of modules from the root of a crate to that of a file.
fn depth(path: &str) -> usize {
    let names = path.trim_end_matches(".rs").trim_end_matches("/mod");
    names.split('/').count()
}

/// Paths of a line that leave their room by `super::`, as seen from the root of the crate.
fn escaping(line: &str, depth: usize) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find("super::")?;
        rest = &rest[start..];
        let mut steps = 0;
        while let Some(after) = rest.strip_prefix("super::") {
            (rest, steps) = (after, steps + 1);
        }
        Some((rest, steps))
    })
    .filter(move |(_, steps)| *steps >= depth)
    .map(|(path, _)| path)
}

/// Uses that go up, and rooms that the table does not list or that do not exist.
fn upward(files: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let Some((_, lib)) = files.iter().find(|f| f.0 == "lib.rs") else {
        return vec!["no lib.rs".to_string()];
    };
    let order = listed(lib);
    let height: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(n, r)| (r.as_str(), n))
        .collect();
    let mut names = reexports(lib);
    names.extend(files.iter().flat_map(|(path, text)| {
        let exported = text.split("#[macro_export]\n").skip(1);
        let macros = exported.filter_map(|t| t.split("macro_rules! ").nth(1));
        let words = macros.filter_map(|t| t.split_whitespace().next());
        words.map(|name| (name.to_string(), room(path).to_string()))
    }));
    let tests = test_files(files);
    for r in &order {
        if !files.iter().any(|f| room(&f.0) == r) {
            findings.push(format!("lib.rs: lists `{r}`, which does not exist"));
        }
    }
    for (path, text) in files {
        let here = room(path);
        if here == "lib" || here == "main" || here == "bin" {
            continue;
        }
        if tests
            .iter()
            .any(|t| path == t || t.ends_with('/') && path.starts_with(t))
        {
            continue;
        }
        let Some(&level) = height.get(here) else {
            findings.push(format!("{path}: lib.rs does not list `{here}`"));
            continue;
        };
        let depth = depth(path);
        for (n, line) in code(text) {
            let paths = line.split("crate::").skip(1);
            for part in paths.chain(escaping(line, depth)) {
                let name: String = part
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let target = names.get(&name).unwrap_or(&name);
                match height.get(target.as_str()) {
                    Some(&t) if t > level => findings.push(format!(
                        "{path}:{n}: `{here}` uses `{target}`, which is above it"
                    )),
                    Some(_) => {}
                    None if name.is_empty() => findings.push(format!(
                        "{path}:{n}: write `crate::room::..`, one `use` a room"
                    )),
                    None => findings.push(format!(
                        "{path}:{n}: `{here}` uses `{name}`, which is in no room"
                    )),
                }
            }
        }
    }
    findings
}

fn check(name: &str) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(name)
        .join("src");
    let findings = upward(&sources(&root));
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn codegen() {
    check("codegen");
}

#[test]
fn isa_gen() {
    check("isa-gen");
}

#[test]
fn meta() {
    check("meta");
}

#[test]
fn filetests() {
    check("filetests");
}

#[test]
fn jit_demo() {
    check("jit-demo");
}

#[test]
fn zebin() {
    check("zebin");
}

#[test]
fn spirv() {
    check("spirv");
}

#[test]
fn runtime() {
    check("runtime");
}

/// A use that goes up is found, wherever it stands; one from a test is not.
#[test]
fn a_planted_use_is_found() {
    let lib = "//! | `low` | a |\n//! | `high` | b |\nmod high;\nmod low;\npub use high::Thing;\n";
    let find = |text: &str| {
        let files = [
            ("lib.rs".to_string(), lib.to_string()),
            ("low/mod.rs".to_string(), text.to_string()),
            ("high.rs".to_string(), "use crate::low::f;".to_string()),
        ];
        upward(&files).len()
    };
    assert_eq!(find("use crate::low::f;"), 0);
    assert_eq!(find("use crate::high::Thing;"), 1);
    assert_eq!(find("use crate::Thing;"), 1);
    assert_eq!(find("fn f() { crate::high::g() }"), 1);
    assert_eq!(find("use super::high::g;"), 1);
    assert_eq!(find("use super::low::g;"), 0);
    assert_eq!(find("use crate::Nowhere;"), 1);
    assert_eq!(find("// as crate::high::g"), 0);
    assert_eq!(find("use crate::{low, high};"), 1);
    assert_eq!(
        find("#[cfg(test)]\nmod tests {\n    use crate::high::g;\n}\n"),
        0
    );
    assert_eq!(
        find("#[cfg(test)]\nmod tests {\n}\nuse crate::high::g;\n"),
        1
    );
}
