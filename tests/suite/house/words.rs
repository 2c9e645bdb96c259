//! Words that the tree is written in: what can be counted of README, docs and comments.

use std::path::PathBuf;

/// Most words of a sentence.
const LONGEST_SENTENCE: usize = 25;
/// Most words of a cell of a table in README.
const LONGEST_CELL: usize = 12;
/// Most lines of README.
const README_LINES: usize = 150;
/// Most columns of a line of comments.
const COLUMNS: usize = 100;
/// Words that no doc comment begins with: those of questions.
const QUESTIONS: [&str; 11] = [
    "What", "Whether", "Who", "Which", "Whose", "Of", "How", "Where", "When", "That", "Why",
];

pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files of the tree below some folders, by their ending.
pub(super) fn files(folders: &[&str], ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|f| root().join(f)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            let inner = entries.map(|e| e.unwrap().path());
            // Build directories stand beside a manifest; `codegen/src/target` does not.
            let built = path.join("Cargo.toml").exists();
            open.extend(inner.filter(|p| !(built && p.ends_with("target"))));
        } else if path.to_string_lossy().ends_with(ending) {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// Folders that hold Rust.
const RUST: [&str; 12] = [
    "meta",
    "isa-gen",
    "zebin",
    "codegen",
    "spirv",
    "runtime",
    "filetests",
    "jit-demo",
    "src",
    "tests",
    "examples",
    "fuzz",
];

/// Text of a line without code spans and the targets of links.
fn plain(line: &str) -> String {
    let mut out = String::new();
    for (n, part) in line.split('`').enumerate() {
        out.push_str(if n % 2 == 0 { part } else { "code" });
    }
    // `[text](target)` is its text.
    let mut text = String::new();
    let mut rest = out.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |r| r.1);
    }
    text + rest
}

/// Sentences of Markdown, without code, headings and tables.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut code = false;
    let mut flush = |paragraph: &mut String| {
        let mut sentence = String::new();
        for word in paragraph.split_whitespace() {
            sentence.push_str(word);
            sentence.push(' ');
            if word.ends_with(['.', '!', '?']) || word.ends_with(".)") {
                found.push(std::mem::take(&mut sentence));
            }
        }
        if !sentence.is_empty() {
            found.push(sentence);
        }
        paragraph.clear();
    };
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            code = !code;
        }
        let item = line.starts_with("- ")
            || line
                .split_once(". ")
                .is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        if line.is_empty() || line.starts_with(['#', '|', '<']) || line.starts_with("```") || item {
            flush(&mut paragraph);
        }
        if !code && !line.starts_with(['#', '|', '<']) && !line.starts_with("```") {
            paragraph.push_str(&plain(line.trim_start_matches("- ")));
            paragraph.push(' ');
        }
    }
    flush(&mut paragraph);
    found
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Sentences of a page that are too long.
fn long_sentences(name: &str, text: &str) -> Vec<String> {
    let long = sentences(text)
        .into_iter()
        .filter(|s| words(s) > LONGEST_SENTENCE);
    long.map(|s| format!("{name}: {} words: {s}", words(&s)))
        .collect()
}

#[test]
fn readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= README_LINES);
    let mut lengths: Vec<usize> = sentences(&text).iter().map(|s| words(s)).collect();
    lengths.sort_unstable();
    assert!(lengths[lengths.len() / 2] < 18, "{lengths:?}");
    for line in text.lines().filter(|l| l.starts_with('|')) {
        for cell in line.split('|') {
            assert!(words(&plain(cell)) <= LONGEST_CELL, "{cell}");
        }
    }
}

#[test]
fn sentences_of_pages_are_short() {
    let mut pages = files(&["README.md", "CONTRIBUTING.md", "docs"], ".md");
    // Data is written by benchmarks.
    pages.retain(|p| !p.0.starts_with("docs/data"));
    let long: Vec<String> = pages
        .iter()
        .flat_map(|(n, t)| long_sentences(n, t))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Comment lines that are too wide.
fn wide_comments(name: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let wide =
        lines.filter(|(_, l)| l.trim_start().starts_with("//") && l.chars().count() > COLUMNS);
    wide.map(|(n, _)| format!("{name}:{}", n + 1)).collect()
}

#[test]
fn comments_are_narrow() {
    let files = files(&RUST, ".rs");
    let wide: Vec<String> = files
        .iter()
        .flat_map(|(n, t)| wide_comments(n, t))
        .collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Doc comments, by the line that they begin at, with their first line.
fn doc_comments(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (n, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        if let Some(doc) = doc.filter(|_| !inside) {
            found.push((n + 1, doc.trim()));
        }
        inside = doc.is_some();
    }
    found
}

/// Returns true if a doc comment begins with a word of questions.
fn asks(doc: &str) -> bool {
    let first = doc.split(|c: char| !c.is_alphabetic()).next();
    first.is_some_and(|w| QUESTIONS.contains(&w))
}

#[test]
fn doc_comments_begin_with_nouns_or_verbs() {
    let files = files(&RUST, ".rs");
    let mut all = 0;
    let mut asking = Vec::new();
    for (name, text) in &files {
        for (n, doc) in doc_comments(text) {
            all += 1;
            if asks(doc) {
                asking.push(format!("{name}:{n}: {doc}"));
            }
        }
    }
    println!(
        "{} of {all} doc comments begin with a question word",
        asking.len()
    );
    assert!(
        asking.len() * 50 < all,
        "{} of {all}:\n{}",
        asking.len(),
        asking.join("\n")
    );
}

/// Words that the glossary calls old, with those that replace them.
fn old_words(glossary: &str) -> Vec<(String, String)> {
    let (_, table) = glossary.split_once("## Old words").unwrap();
    let rows = table.lines().filter_map(|l| l.strip_prefix("| "));
    let cells = rows.filter_map(|l| l.trim_end_matches(" |").split_once(" | "));
    cells
        .filter(|(old, _)| *old != "old")
        .map(|(old, new)| (old.to_string(), new.to_string()))
        .collect()
}

/// Lines of comments or pages that have an old word outside of code spans.
fn old_fashioned(name: &str, text: &str, old: &[(String, String)]) -> Vec<String> {
    let page = name.ends_with(".md");
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let prose = if page {
            line
        } else {
            line.split_once("//").map_or("", |(_, comment)| comment)
        };
        let prose = plain(prose).to_lowercase();
        for (word, new) in old {
            if prose.contains(word.as_str()) {
                found.push(format!("{name}:{}: `{word}` is `{new}`", n + 1));
            }
        }
    }
    found
}

#[test]
fn no_old_words() {
    let glossary = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let old = old_words(&glossary);
    assert!(!old.is_empty());
    let mut texts = files(&RUST, ".rs");
    texts.extend(files(&["README.md", "CONTRIBUTING.md", "docs"], ".md"));
    texts.retain(|(name, _)| name != "docs/glossary.md");
    let each = texts.iter().flat_map(|(n, t)| old_fashioned(n, t, &old));
    let found: Vec<String> = each.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Each counter finds a planted case, and nothing in what is right.
#[test]
fn planted_prose_is_found() {
    let long = "word ".repeat(LONGEST_SENTENCE + 1) + "end.";
    assert_eq!(long_sentences("p", &long).len(), 1);
    assert_eq!(
        long_sentences("p", "A short one. Another `x y z` one.").len(),
        0
    );
    assert_eq!(long_sentences("p", &format!("```\n{long}\n```")).len(), 0);
    assert_eq!(
        wide_comments("f", &format!("    // {}", "x".repeat(COLUMNS))).len(),
        1
    );
    assert_eq!(
        wide_comments("f", &format!("let x = \"{}\";", "x".repeat(COLUMNS))).len(),
        0
    );
    let docs =
        doc_comments("/// What it is.\n/// What it was.\nstruct X;\n/// Length.\nfn f() {}\n");
    assert_eq!(docs.iter().filter(|d| asks(d.1)).count(), 1);
    let old = [("gizmo".to_string(), "device".to_string())];
    let count = |name: &str, text: &str| old_fashioned(name, text, &old).len();
    assert_eq!(count("a.rs", "// Gizmos."), 1);
    assert_eq!(count("a.rs", "let gizmo = 4;"), 0);
    assert_eq!(count("a.md", "A gizmo and a `gizmo`."), 1);
}
