//! Writes the IR opcodes from `meta`'s rows.

use gantry_meta::ir;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let rows = ir::rows()?;
    std::fs::write(out.join("opcodes.rs"), ir::rust(&rows))?;
    std::fs::write(out.join("builder.rs"), ir::builder(&rows))?;
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}
