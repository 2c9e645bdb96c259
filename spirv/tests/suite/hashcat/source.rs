//! SPIR-V of hashcat's files, which `ocloc` makes with hashcat's macros.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Draws kernel files of a folder by a seed. Returns them with the number of all files.
pub fn drawn(folder: &str, seed: u64, count: u64) -> (Vec<String>, usize) {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter_map(|n| n.strip_suffix(".cl").map(str::to_owned))
        .filter(|n| n.starts_with('m'))
        .collect();
    names.sort();
    let all = names.len();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for n in (1..names.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        names.swap(n, (state >> 11) as usize % (n + 1));
    }
    names.truncate(count as usize);
    (names, all)
}

/// Macros for features that the compiler does not have.
const NONE: [&str; 20] = [
    "CUDA_ARCH",
    "HAS_ADD",
    "HAS_ADDC",
    "HAS_SUB",
    "HAS_SUBC",
    "HAS_VADD",
    "HAS_VADDC",
    "HAS_VADD_CO",
    "HAS_VADDC_CO",
    "HAS_VSUB",
    "HAS_VSUBB",
    "HAS_VSUB_CO",
    "HAS_VSUBB_CO",
    "HAS_VPERM",
    "HAS_VADD3",
    "HAS_VBFE",
    "HAS_BFE",
    "HAS_LOP3",
    "HAS_MOV64",
    "HAS_PRMT",
];

/// Compiles a file to SPIR-V, cached in the target directory.
pub fn spirv(folder: &str, name: &str) -> Result<PathBuf, String> {
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hashcat");
    let kept = store.join(format!("{name}.spv"));
    if !kept.is_file() {
        let dir = store.join(format!("{name}.{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let none: String = NONE.iter().map(|n| format!(" -D {n}=0")).collect();
        let options = format!(
            "-cl-std=CL1.2 -w -I {folder} -D KERNEL_STATIC -D INCLUDE_PATH={folder} -D XM2S(x)=#x -D M2S(x)=XM2S(x) \
             -D LOCAL_MEM_TYPE=1 -D VENDOR_ID=8 -D VECT_SIZE=1 -D DEVICE_TYPE=4 -D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2 \
             -D DGST_R3=1 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11 -D ATTACK_KERN=0 -D ATTACK_MODE=0 \
             -D FIXED_LOCAL_SIZE=64 -D FIXED_LOCAL_SIZE_COMP=64{none}"
        );
        let out = Command::new("ocloc")
            .args(["compile", "-spv_only", "-device", "skl", "-file"])
            .arg(format!("{folder}/{name}.cl"))
            .arg("-out_dir")
            .arg(&dir)
            .args(["-options", &options])
            .output()
            .map_err(|e| format!("ocloc: {e}"))?;
        let mut all = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
        let spv = all.find(|p| p.extension().is_some_and(|e| e == "spv"));
        let moved = spv.map(|spv| fs::rename(spv, &kept).unwrap());
        fs::remove_dir_all(&dir).unwrap();
        if moved.is_none() {
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            let line = text
                .lines()
                .find(|l| l.contains("error"))
                .unwrap_or("no SPIR-V");
            return Err(line.to_owned());
        }
    }
    Ok(kept)
}
