//! Build script: generates the IR opcodes from the rows of `meta`, and compiles the ISLE rules.

use cranelift_isle::ast::Def;
use cranelift_isle::lexer::Lexer;
use cranelift_isle::parser;
use gantry_meta::{fingerprint, ir};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let (formats, rows) = (ir::formats()?, ir::rows()?);
    let opcodes = out.join("opcodes.isle");
    let values = out.join("values.isle");
    for (path, text) in [
        (out.join("opcodes.rs"), ir::rust(&formats, &rows)),
        (out.join("data.rs"), ir::data(&formats)),
        (out.join("cache_key.rs"), ir::cache_key(&formats)),
        (out.join("printer.rs"), ir::printer(&formats, &rows)?),
        (out.join("parser.rs"), ir::parser(&formats, &rows)?),
        (out.join("builder.rs"), ir::builder(&formats, &rows)),
        (opcodes.clone(), ir::isle(&formats, &rows)),
        (values.clone(), ir::values(&formats, &rows)),
    ] {
        std::fs::write(path, text)?;
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:rustc-env=GANTRY_CODEGEN_SOURCES={}",
        fingerprint(&["src", "../meta/src", "../isa-gen/src", "../zebin/src"])?
    );
    let lower = Rules {
        name: "lower",
        dir: "isel/lower",
        files: &["prelude", "root", "int", "float", "convert"],
        table: "RULES",
        doc: "The lowering rules that can match: file and line.",
    };
    let inputs = lower.compile(opcodes, &out)?;
    std::fs::write(out.join("operations.rs"), operations(&inputs, &rows)?)?;
    let opt = Rules {
        name: "opt",
        dir: "opt",
        files: &[
            "prelude", "arith", "bits", "logic", "compare", "select", "region", "convert",
        ],
        table: "OPT_RULES",
        doc: "The optimizer's rules that can match: file and line.",
    };
    opt.compile(values, &out)?;
    Ok(())
}

/// ISLE rules of a module, `src/DIR/isle`.
struct Rules {
    name: &'static str,
    dir: &'static str,
    files: &'static [&'static str],
    /// Name and doc comment of the table of their source locations.
    table: &'static str,
    doc: &'static str,
}

impl Rules {
    /// Compiles the rules and the opcodes to `NAME.rs` and `NAME_rules.rs`. Returns the input
    /// files.
    fn compile(
        &self,
        opcodes: PathBuf,
        out: &Path,
    ) -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
        let dir = format!("src/{}/isle", self.dir);
        let mut inputs = vec![opcodes, PathBuf::from("src/ir/isle/ir.isle")];
        let files = self.files.iter();
        inputs.extend(files.map(|f| PathBuf::from(format!("{dir}/{f}.isle"))));
        println!("cargo:rerun-if-changed={dir}");
        println!("cargo:rerun-if-changed=src/ir/isle");
        let options = cranelift_isle::codegen::CodegenOptions {
            exclude_global_allow_pragmas: true,
            // One function of all rules takes the Rust compiler minutes.
            split_match_arms: true,
            ..Default::default()
        };
        let code =
            cranelift_isle::compile::from_files(&inputs, &options).map_err(|e| format!("{e}"))?;
        let (recording, rules) = self.instrument(&code)?;
        // Set by cargo if the feature is enabled.
        let recorded = std::env::var_os("CARGO_FEATURE_FUZZING").is_some();
        let code = if recorded { recording } else { code };
        std::fs::write(out.join(format!("{}.rs", self.name)), code)?;
        std::fs::write(out.join(format!("{}_rules.rs", self.name)), rules)?;
        Ok(inputs)
    }

    /// Inserts a call of `fired` where each rule has matched. Also returns the table from the
    /// numbers of the calls to source locations, which ISLE writes as comments.
    fn instrument(&self, code: &str) -> Result<(String, String), String> {
        let mut out = String::with_capacity(code.len() * 9 / 8);
        let mut rules: Vec<(&str, u32)> = Vec::new();
        for line in code.lines() {
            out.push_str(line);
            out.push('\n');
            let Some(at) = line.trim_start().strip_prefix("// Rule at ") else {
                continue;
            };
            let place = at.trim_end_matches('.').split_once(" line ");
            // ISLE counts lines from 0.
            let Some((file, Ok(n))) = place.map(|(file, n)| (file, n.parse().map(|n: u32| n + 1)))
            else {
                return Err(format!("not the location of a rule: {line}"));
            };
            let name = file.rsplit('/').next().unwrap_or(file);
            // Rules of these files only construct the values that they are named after, and hand
            // instructions on.
            if matches!(name, "values.isle" | "opcodes.isle") {
                continue;
            }
            let known = rules.iter().position(|r| *r == (name, n));
            let number = known.unwrap_or(rules.len());
            if known.is_none() {
                rules.push((name, n));
            }
            out.push_str(&format!("C::fired(ctx, {number});\n"));
        }
        if rules.is_empty() {
            return Err("the compiled rules do not say where they are from".to_string());
        }
        let rows: String = rules.iter().map(|r| format!("    {r:?},\n")).collect();
        let table = format!(
            "/// {}\npub const {}: [(&str, u32); {}] = [\n{rows}];\n",
            self.doc,
            self.table,
            rules.len()
        );
        Ok((out, table))
    }
}

/// Generates a function that tells opcodes at the root of rules of the term `operation`.
fn operations(inputs: &[PathBuf], rows: &[ir::Row]) -> Result<String, Box<dyn std::error::Error>> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for path in inputs {
        let text = std::fs::read_to_string(path)?;
        let lexer = Lexer::new(0, &text).map_err(|e| format!("{e:?}"))?;
        for def in parser::parse(lexer).map_err(|e| format!("{e:?}"))? {
            let Def::Rule(rule) = def else { continue };
            let mut terms = Vec::new();
            rule.pattern.terms(&mut |_, sym| terms.push(sym.0.clone()));
            if terms.first().is_some_and(|t| t == "operation") {
                let opcode = |t: &String| rows.iter().find(|r| r.name == *t);
                found.extend(terms.iter().find_map(opcode).map(ir::Row::variant));
            }
        }
    }
    let arms: Vec<String> = found.iter().map(|v| format!("Opcode::{v}")).collect();
    if arms.is_empty() {
        return Err("no rule makes an operation".into());
    }
    Ok(format!(
        "/// Returns true if rules construct an operation with an opcode.\nconst fn has_operation(op: Opcode) -> bool {{\n    matches!(op, {})\n}}\n",
        arms.join(" | ")
    ))
}
