//! The number by which keys of compiled code change with a compiler under development while its
//! version does not.

use std::error::Error;
use std::path::{Path, PathBuf};

/// Hash of the sources of the package whose build script calls it: `build.rs`, and these
/// directories beside the manifest. Those that are not there, as outside of the workspace, are left
/// out. Cargo is told to look at them.
///
/// # Errors
/// A file cannot be read, or nobody builds a package.
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
        // Line ends are a matter of the checkout.
        let mut text = std::fs::read(&path)?;
        text.retain(|b| *b != b'\r');
        Ok((name, text))
    };
    let mut files = files
        .into_iter()
        .map(named)
        .collect::<Result<Vec<_>, _>>()?;
    files.sort();
    // FNV-1a of 128 bits.
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

/// The files of a directory, at any depth.
fn sources(dir: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        match path.is_dir() {
            true => sources(&path, out)?,
            false => out.push(path),
        }
    }
    Ok(())
}
