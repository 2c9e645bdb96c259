//! Writes the IR opcodes from `meta`'s rows and compiles the lowering rules.

use gantry_meta::ir;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let rows = ir::rows()?;
    std::fs::write(out.join("opcodes.rs"), ir::rust(&rows))?;
    std::fs::write(out.join("builder.rs"), ir::builder(&rows))?;
    let opcodes = out.join("opcodes.isle");
    std::fs::write(&opcodes, ir::isle(&rows))?;
    let mut inputs = vec![opcodes];
    for name in ["prelude", "root", "int", "float", "convert"] {
        inputs.push(PathBuf::from(format!("src/lower/isle/{name}.isle")));
    }
    println!("cargo:rerun-if-changed=src/lower/isle");
    println!("cargo:rerun-if-changed=build.rs");
    let options = cranelift_isle::codegen::CodegenOptions {
        exclude_global_allow_pragmas: true,
        ..Default::default()
    };
    let code =
        cranelift_isle::compile::from_files(&inputs, &options).map_err(|e| format!("{e}"))?;
    let (code, rules) = marked(&code)?;
    std::fs::write(out.join("lower.rs"), code)?;
    std::fs::write(out.join("rules.rs"), rules)?;
    Ok(())
}

/// The compiled rules with a call of `fired` where each rule has matched, and the table that gives the calls' numbers a place in the sources. ISLE
/// marks those places by a comment.
fn marked(code: &str) -> Result<(String, String), String> {
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
            return Err(format!("not a rule's place: {line}"));
        };
        let name = file.rsplit('/').next().unwrap_or(file);
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
    let doc = "/// The lowering rules that can match: file and line.";
    let table = format!(
        "{doc}\npub const RULES: [(&str, u32); {}] = [\n{rows}];\n",
        rules.len()
    );
    Ok((out, table))
}
