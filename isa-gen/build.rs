//! Writes what the sources of this crate include: element types (`src/types.rs`), constant tables
//! (`src/table`), codecs (`src/codec`) and messages (`src/message`).

use gantry_meta::write;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    for (name, source) in [
        ("types.rs", Ok(write::isa_types())),
        ("tables.rs", write::isa_tables()),
        ("codecs.rs", write::isa_codecs()),
        ("message_ops.rs", write::message_ops()),
        ("message_codec.rs", write::message_codec()),
        ("message_listing.rs", write::message_listing()),
    ] {
        std::fs::write(
            Path::new(&out).join(name),
            source.map_err(|e| e.to_string())?,
        )?;
    }
    Ok(())
}
