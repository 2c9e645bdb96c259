//! Fingerprints the sources, for keys of compile caches.

use gantry_meta::fingerprint;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:rustc-env=GANTRY_SPIRV_SOURCES={}",
        fingerprint(&["src"])?
    );
    Ok(())
}
