//! A sample of hashcat's kernels: real programs of up to half a million instructions with all that they call.
//!
//! `GANTRY_HASHCAT=/usr/share/hashcat/OpenCL` (of Debian's `hashcat-data`) and `ocloc` are needed. Of the files of kernels `GANTRY_FILES` (6) are drawn by
//! `GANTRY_SEED`; Intel's front end makes SPIR-V of each, with the macros that hashcat gives, and each kernel in it is compiled for `GANTRY_TARGETS`
//! (`skl`), every instruction judged by the legality rules. It tells what share compiles, what refuses the others by name, and the time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::{CompileOptions, Target, compile};
use gantry_isa_gen::legal;
use gantry_isa_gen::text::list;
use gantry_spirv::{Options, translate};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Macros of the compiler's abilities, of which none is there.
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

/// A file as SPIR-V, kept in the target directory.
fn words(folder: &str, name: &str) -> Result<Vec<u32>, String> {
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
    let bytes = fs::read(&kept).unwrap();
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
}

/// Translates and compiles; the kernels and the bytes of their code.
fn compiled(words: &[u32], target: &Target) -> Result<(usize, usize), String> {
    let t = translate(words, &Options::default()).map_err(|e| e.to_string())?;
    let options = CompileOptions::new(target.clone());
    let out = compile(&t.module, &options).map_err(|e| e.to_string())?;
    let mut bytes = 0;
    for k in &out.kernels {
        bytes += k.code.bytes.len();
        for l in list(target.platform(), &k.code.bytes) {
            let inst = l.inst.map_err(|e| e.to_string())?;
            if let Some(what) = legal::check(target.platform(), &inst).first() {
                panic!("illegal code in {} at {:#x}: {what}", k.name, l.offset);
            }
        }
    }
    Ok((out.kernels.len(), bytes))
}

/// What an error says, without where and without names and numbers.
fn reason(e: &str) -> String {
    let line = e.lines().next().unwrap_or_default();
    let what = line.rsplit_once(": ").map_or(line, |x| x.1);
    what.split_whitespace()
        .map(|w| if w.parse::<u64>().is_ok() { "N" } else { w })
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn hashcats_kernels_compile() {
    let Ok(folder) = std::env::var("GANTRY_HASHCAT") else {
        println!("skipped: GANTRY_HASHCAT names no folder of kernels");
        return;
    };
    let number = |name: &str, or: u64| {
        let v = std::env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let (seed, count) = (number("GANTRY_SEED", 1), number("GANTRY_FILES", 6));
    let named = std::env::var("GANTRY_TARGETS").unwrap_or("skl".to_owned());
    let targets: Vec<Target> = named
        .split(',')
        .map(|n| Target::from_name(n).unwrap())
        .collect();
    let mut names: Vec<String> = fs::read_dir(&folder)
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
    let (mut whole, mut tried, mut bytes) = (0, 0, 0);
    let mut time = Duration::ZERO;
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut none = 0;
    for name in &names {
        let words = match words(&folder, name) {
            Ok(words) => words,
            Err(e) => {
                println!("{name}: Intel's front end: {e}");
                none += 1;
                continue;
            }
        };
        for target in &targets {
            let start = Instant::now();
            let result = compiled(&words, target);
            let took = start.elapsed();
            time += took;
            tried += 1;
            let mega = words.len() as f64 * 4e-6;
            let what = match result {
                Ok((kernels, b)) => {
                    whole += 1;
                    bytes += b;
                    format!("{kernels} kernels, {b} bytes of code")
                }
                Err(e) => {
                    let on = format!("{name} on {}", target.name());
                    refused.entry(reason(&e)).or_default().push(on);
                    e.lines().next().unwrap_or_default().to_owned()
                }
            };
            println!(
                "{name} {} {mega:.1} MB {:.2} s: {what}",
                target.name(),
                took.as_secs_f64()
            );
        }
    }
    for (reason, names) in &refused {
        println!("{:4} {reason}: {}", names.len(), names.join(", "));
    }
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak
        .lines()
        .find(|l| l.starts_with("VmHWM"))
        .unwrap_or_default();
    println!(
        "{} of {all} files by seed {seed}, {none} not taken by Intel's front end; {whole} of {tried} compile, {bytes} bytes of code in {:.1} s; {peak}",
        names.len(),
        time.as_secs_f64()
    );
    assert!(tried > 0 && whole * 10 >= tried * 8, "most should compile");
}
