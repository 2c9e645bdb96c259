//! SPIR-V of the corpus, as `ocloc` passes it to its own compiler.

use crate::kernels::{Device, FILES};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// File of kernels.
pub struct File {
    pub name: &'static str,
    pub words: Vec<u32>,
}

/// Attribute that requires the requested width.
const REQUIRED: &str = "__attribute__((intel_reqd_sub_group_size(SIMD)))";

/// Files that a device compiles at a width. Without a width, those whose kernels may have any,
/// without the attribute.
pub fn files(device: &Device, width: Option<u32>, asked: impl Fn(&str) -> bool) -> Vec<File> {
    let wanted = FILES
        .iter()
        .filter(|(name, text)| asked(name) && device.takes(text, width.unwrap_or(16)));
    let free = |text: &str| {
        if text.contains(REQUIRED) {
            Some(text.replace(REQUIRED, "")).filter(|t| !t.contains("SIMD"))
        } else {
            None
        }
    };
    let made = wanted.filter_map(|(name, text)| {
        let words = match width {
            Some(w) => compile(device.name, name, text, &format!("-DSIMD={w}")),
            None => compile(device.name, name, &free(text)?, ""),
        };
        Some(File { name, words })
    });
    made.collect()
}

/// Compiles a file, cached in the target directory by text and options.
fn compile(device: &str, file: &str, text: &str, macros: &str) -> Vec<u32> {
    let options = format!("-cl-std=CL2.0 {macros}");
    let mut hash = DefaultHasher::new();
    (device, file, text, &options).hash(&mut hash);
    let name = format!("{file}-{device}-{:016x}", hash.finish());
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spirv");
    let kept = store.join(&name);
    if !kept.is_file() {
        let dir = store.join(format!("{name}.{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let source = dir.join(format!("{file}.cl"));
        fs::write(&source, text).unwrap();
        let extensions = text.lines().filter_map(|l| l.strip_prefix("// extension:"));
        let extensions: String = extensions
            .map(|e| format!(" -cl-ext=+{}", e.trim()))
            .collect();
        let out = Command::new("ocloc")
            .args(["compile", "-spv_only", "-device", device, "-file"])
            .arg(&source)
            .arg("-out_dir")
            .arg(&dir)
            .args(["-options", &options])
            .args(["-internal_options", &extensions])
            .current_dir(&dir)
            .output()
            .unwrap();
        let written = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
        let spv = written
            .into_iter()
            .find(|p| p.extension().is_some_and(|e| e == "spv"));
        let spv = spv.unwrap_or_else(|| {
            panic!(
                "ocloc: {}{}",
                String::from_utf8_lossy(&out.stdout),
                String::from_utf8_lossy(&out.stderr)
            )
        });
        fs::rename(spv, &kept).unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }
    let bytes = fs::read(&kept).unwrap();
    let words = bytes.chunks_exact(4);
    words
        .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
        .collect()
}
