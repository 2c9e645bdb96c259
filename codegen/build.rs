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
    std::fs::write(out.join("lower.rs"), code)?;
    Ok(())
}
