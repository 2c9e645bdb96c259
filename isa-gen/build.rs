//! Writes the constant tables that `src/table` includes, and the codecs that `src/codec` does.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let tables = gantry_meta::write::isa_tables().map_err(|e| e.to_string())?;
    std::fs::write(Path::new(&out).join("tables.rs"), tables)?;
    let codecs = gantry_meta::write::isa_codecs().map_err(|e| e.to_string())?;
    std::fs::write(Path::new(&out).join("codecs.rs"), codecs)?;
    Ok(())
}
