//! Tests of docs/ir.md: its table is the opcode table, and its example is a valid kernel.

use gantry_codegen::ir::Opcode;
use gantry_codegen::ir::opcode::{Class, Info, Out};
use gantry_codegen::text::parse;
use gantry_codegen::verifier::verify_parsed;

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md")
}

fn row(i: &Info) -> String {
    let operands = match i.class {
        Class::None => "",
        Class::Int => "integers",
        Class::I32 => "32-bit integers",
        Class::Float => "floats",
        Class::Pred => "predicates",
        Class::Bits => "integers, predicates",
        Class::Data => "integers, floats",
        Class::Any => "anything",
    };
    let result = match i.out {
        Out::None => "none",
        Out::Lane => "one lane",
        Out::Same => "the operand's type",
        Out::Ctrl => "written: `.type`",
        Out::Lanes => "a predicate",
        Out::One => "`b1`",
        Out::Two => "two of the operand's type",
        Out::Special => "by its operands",
    };
    format!(
        "| `{}` | {operands} | {result} | {} |\n",
        i.name,
        i.doc.replace('|', "\\|")
    )
}

/// Rules of the mask stack are all listed in docs/ir.md.
#[test]
fn rules_of_the_mask_stack() {
    let docs = std::fs::read_to_string(path()).unwrap_or_default();
    for rule in gantry_codegen::Rule::ALL {
        assert!(docs.contains(&format!("| `{}` |", rule.name())), "{rule:?}");
    }
}

#[test]
fn the_table_is_the_opcodes() {
    let text = std::fs::read_to_string(path()).unwrap();
    let (head, rest) = text.split_once("<!-- opcodes:").unwrap();
    let (line, rest) = rest.split_once('\n').unwrap();
    let (table, tail) = rest.split_once("<!-- end -->").unwrap();
    let mut want = "| opcode | operands | result | |\n|---|---|---|---|\n".to_owned();
    for i in Opcode::all() {
        want.push_str(&row(i));
    }
    if table != want && std::env::var_os("GANTRY_BLESS").is_some() {
        std::fs::write(
            path(),
            format!("{head}<!-- opcodes:{line}\n{want}<!-- end -->{tail}"),
        )
        .unwrap();
        return;
    }
    assert_eq!(table, want, "bless docs/ir.md with GANTRY_BLESS=1");
}

#[test]
fn the_example_verifies() {
    let text = std::fs::read_to_string(path()).unwrap();
    let example = text.split("```text").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let parsed = parse(example).unwrap_or_else(|e| panic!("{}", e.render("docs/ir.md", example)));
    if let Err(e) = verify_parsed(&parsed) {
        panic!("{}", e.render("docs/ir.md", example));
    }
}

/// Returns true if a text has a word, not as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(part) && !after.starts_with(part)
    })
}

fn sources(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The walkthrough lists the files of its example of a new format. The example is in each, and in
/// no other source of the compiler.
#[test]
fn the_walkthrough_lists_the_files_of_a_format() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("docs/add-an-ir-op.md")).unwrap();
    let (_, rest) = text.split_once("<!-- files of prefetch -->").unwrap();
    let (table, _) = rest.split_once("<!-- end -->").unwrap();
    let names = table
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split_once('`'));
    let listed: Vec<&str> = names.map(|(name, _)| name).collect();
    assert!(!listed.is_empty() && listed.len() <= 11, "{listed:?}");
    let has = |text: &str| has_word(text, "prefetch") || has_word(text, "Prefetch");
    for name in &listed {
        let text = std::fs::read_to_string(root.join(name));
        assert!(has(&text.unwrap_or_default()), "{name} has no prefetch");
    }
    for crate_dir in ["meta/src", "codegen/src"] {
        let mut found = Vec::new();
        sources(&root.join(crate_dir), &mut found);
        for path in found {
            let name = path
                .strip_prefix(&root)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            let text = std::fs::read_to_string(&path).unwrap();
            // Comments and documentation may speak of prefetches.
            let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
            let mentions = code.into_iter().any(has);
            assert!(
                !mentions || listed.contains(&name.as_str()),
                "{name} is not listed"
            );
        }
    }
}
