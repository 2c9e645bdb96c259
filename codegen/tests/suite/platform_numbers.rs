//! Numbers of single platforms stay in `target/` and `isel/lower_sends/`: stages ask the target.

use std::path::{Path, PathBuf};

/// Code that reveals facts of one platform: sizes of its GRFs and of its GRF file, its name.
const FACTS: [&str; 12] = [
    "% 32",
    "/ 32",
    "* 32",
    "multiple_of(32)",
    "128",
    "4096",
    "4_096",
    "Platform::Gen",
    "Platform::Xe",
    "from_name(\"skl\")",
    "const GRF",
    "GRF_BYTES",
];

/// Exceptions, each with the reason.
const ALLOWED: [(&str, &str, &str); 1] = [(
    "lane_sharing/flags.rs",
    "let start = u32::from(n) * 32 + u32::from(at.sub) * 8 + first;",
    "bits of a flag register, on all platforms",
)];

/// Directories that know platforms, and those that do not generate code.
const DIRECTORIES: [&str; 5] = ["target", "lower_sends", "fuzzing", "ir", "legalize_ops"];

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !DIRECTORIES.contains(&name.as_str()) {
                sources(&path, out);
            }
        } else if name != "tests.rs" && (name.ends_with(".rs") || name.ends_with(".isle")) {
            out.push(path);
        }
    }
}

/// Returns the code of a line, without comments and string literals.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    let line = line.split(";;").next().unwrap_or_default();
    line.split('"').step_by(2).collect()
}

#[test]
fn stages_know_no_platform_by_heart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "{} files", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let code_lines = text.lines().take_while(|l| !l.contains("#[cfg(test)]"));
        for (n, line) in code_lines.enumerate() {
            let allowed = ALLOWED
                .iter()
                .any(|(file, text, _)| path.ends_with(file) && line.trim() == *text);
            // Rust type names are no facts.
            let line = code(line).replace("u128", "").replace("i128", "");
            if !allowed && FACTS.iter().any(|f| line.contains(f)) {
                found.push(format!("{}:{}: {}", path.display(), n + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "ask the target:\n{}", found.join("\n"));
}

/// The lint recognizes such numbers.
#[test]
fn such_a_number_would_be_found() {
    for line in ["let n = at % 32;", "if grf < 128 {", "Platform::Gen9 => 1,"] {
        assert!(FACTS.iter().any(|f| code(line).contains(f)), "{line}");
    }
    assert!(
        !FACTS
            .iter()
            .any(|f| code("let x = 1; // of 128").contains(f))
    );
}
