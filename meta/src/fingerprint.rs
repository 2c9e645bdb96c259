//! Fingerprint of the compiler's sources. It changes the keys of cached code while a compiler under
//! development keeps its version.

use std::error::Error;
use std::path::{Path, PathBuf};

/// Hashes the sources of the package whose build script calls it: `build.rs`, and `dirs` beside the
/// manifest. Directories that do not exist, as outside of the workspace, are skipped. Cargo is told
/// to watch them.
///
/// # Errors
/// Returns an error if a file cannot be read, or no package is being built.
pub fn fingerprint(dirs: &[&str]) -> Result<String, Box<dyn Error>> {
    let own = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let mut files = vec![own.join("build.rs")];
    for dir in dirs.iter().map(|d| own.join(d)) {
        if dir.is_dir() {
            println!("cargo:rerun-if-changed={}", dir.display());
            sources(&dir, &mut files)?;
        }
    }
    let named = |path: PathBuf| -> Result<(String, Vec<u8>), Box<dyn Error>> {
        let name = path
            .strip_prefix(&own)?
            .to_string_lossy()
            .replace('\\', "/");
        // Line ends depend on the checkout.
        let mut text = std::fs::read(&path)?;
        text.retain(|b| *b != b'\r');
        Ok((name, text))
    };
    let mut files = files
        .into_iter()
        .map(named)
        .collect::<Result<Vec<_>, _>>()?;
    files.sort();
    // 128-bit FNV-1a.
    let mut hash: u128 = 0x6c62272e07bb014262b821756295c58d;
    let mut add = |bytes: &[u8]| {
        let length = (bytes.len() as u64).to_le_bytes();
        for b in length.iter().chain(bytes) {
            hash = (hash ^ u128::from(*b)).wrapping_mul(0x0000000001000000000000000000013b);
        }
    };
    for (name, text) in &files {
        add(name.as_bytes());
        add(text);
    }
    Ok(format!("{hash:032x}"))
}

/// Collects the files of a directory, at any depth.
fn sources(dir: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, out)?;
        } else {
            out.push(path);
        }
    }
    Ok(())
}
