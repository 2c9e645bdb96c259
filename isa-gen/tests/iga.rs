//! Kernels that Intel's compiler makes for Gen9, printed, assembled and judged.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
#![allow(unsafe_code, reason = "the oracle is a C library")]

#[path = "support/iga.rs"]
mod support;

use gantry_isa_gen::fuzz::Oracle as _;
use gantry_isa_gen::text::{assemble, disassemble, list, print_inst};
use gantry_isa_gen::{Platform, legal};
use std::collections::BTreeSet;
use support::Iga;

const PLATFORM: Platform = Platform::Gen9;
const KERNELS: &str = r#"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SIMD __attribute__((intel_reqd_sub_group_size(WIDTH)))
SIMD __kernel void saxpy(__global const float *x, __global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
SIMD __kernel void ops(__global int *x, __global float *f, __global long *l, __global half *h,
                       __global double *d, int n) {
    int i = get_global_id(0), v = x[i];
    unsigned u = (unsigned)v;
    v = (v << 3) ^ (v >> 2) | (v & n);
    v += popcount(u) + clz(v) + min(v, n) * max(v, 7);
    v /= (n | 1);
    u %= (unsigned)(n | 1);
    long q = l[i];
    q = q * 3 + (q >> 5) - v;
    l[i] = (q ^ (q << 7)) + mul_hi(v, n);
    float g = f[i];
    g = sin(g) + cos(g) * exp(g) - log(g) / sqrt(g) + rsqrt(g) + pow(g, 2.5f) + floor(g) + ceil(g)
        + rint(g) + trunc(g) + fma(g, g, 1.5f) + native_recip(g);
    f[i] = clamp(g, 0.0f, 1.0f) + (float)u + (g > 1.0f ? 2.0f : -g) + fabs(g);
    h[i] = h[i] * (half)g + (half)1.5;
    d[i] = d[i] * 2.0 + sqrt(d[i]) / 3.0;
    x[i] = v + (int)u + bitselect(v, n, 7) + rotate(v, 3) + (int)abs_diff(v, n) + hadd(v, n) + (char)v;
}
SIMD __kernel void slm(__global int *x, __local int *t, int n) {
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) t[l] += t[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) atomic_add(&x[get_group_id(0)], t[0]);
}
SIMD __kernel void loops(__global float *o, int w, int it) {
    int x = get_global_id(0), y = get_global_id(1), k = 0;
    float cr = x * 0.01f - 2.0f, ci = y * 0.01f - 1.0f, zr = 0, zi = 0;
    while (k < it && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        k++;
        if (k == 17) break;
        if ((k & 3) == 1) continue;
        zr += 1e-7f;
    }
    o[y * w + x] = k;
    switch (x % 5) {
        case 0: o[0] = 1; break;
        case 1: o[1] = k; break;
        case 3: o[3] = zr; break;
        default: o[4] += zi;
    }
}
"#;

/// The bytes of each `.text.*` section of a zebin (ELF64, little-endian).
fn text_sections(elf: &[u8]) -> Vec<(String, &[u8])> {
    let int = |at: usize, n: usize| {
        elf[at..at + n]
            .iter()
            .rev()
            .fold(0usize, |v, b| v << 8 | usize::from(*b))
    };
    let (table, count, names) = (int(0x28, 8), int(0x3c, 2), int(0x3e, 2));
    let section = |i: usize| {
        let at = table + 64 * i;
        (int(at, 4), int(at + 24, 8), int(at + 32, 8))
    };
    let (_, strings, _) = section(names);
    (0..count)
        .map(section)
        .map(|(name, at, len)| {
            let name = elf[strings + name..].split(|b| *b == 0).next().unwrap();
            (
                String::from_utf8_lossy(name).into_owned(),
                &elf[at..at + len],
            )
        })
        .filter(|(name, _)| name.starts_with(".text."))
        .collect()
}

#[test]
fn intels_kernels_print_as_intel_prints_them() {
    let Some(mut iga) = Iga::open(PLATFORM) else {
        return;
    };
    let dir = std::env::temp_dir().join(format!("gantry-isa-{}", std::process::id()));
    let (mut kernels, mut lines, mut again) = (0, 0, 0);
    let mut findings = BTreeSet::new();
    for width in [8, 16, 32] {
        std::fs::create_dir_all(&dir).unwrap();
        let source = dir.join("k.cl");
        std::fs::write(&source, KERNELS.replace("WIDTH", &width.to_string())).unwrap();
        let run = std::process::Command::new("ocloc")
            .args([
                "compile", "-file", "k.cl", "-device", "skl", "-out_dir", "out",
            ])
            .args([
                "-internal_options",
                "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin",
            ])
            .current_dir(&dir)
            .output();
        let Ok(run) = run else {
            assert!(
                std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
                "ocloc is required"
            );
            eprintln!("skipped: ocloc is not on PATH");
            return;
        };
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stdout)
        );
        let elf = std::fs::read(dir.join("out/k_Gen9core.bin")).unwrap();
        for (name, code) in text_sections(&elf) {
            // Padding that is shorter than an instruction is left out by both.
            let theirs = iga.disassemble(code).unwrap();
            let ours = disassemble(PLATFORM, code);
            let strip = |s: &str| -> Vec<String> {
                s.lines()
                    .map(|l| l.split(" //").next().unwrap().to_string())
                    .collect()
            };
            assert_eq!(strip(&ours), strip(&theirs), "{name}, SIMD{width}");
            for l in list(PLATFORM, code) {
                let i = l.inst.unwrap();
                for f in legal::check(PLATFORM, &i) {
                    let line = print_inst(PLATFORM, &i, &|t| format!("{t:?}"));
                    findings.insert(format!("{f}\n    {line}"));
                }
            }
            // Both assemblers make the same of it; reserved bits that the text does not tell are gone.
            let bytes = assemble(PLATFORM, &ours).unwrap().bytes;
            assert_eq!(disassemble(PLATFORM, &bytes), ours, "{name}, SIMD{width}");
            let intels = iga.assemble(&ours).unwrap();
            assert_eq!(bytes.len(), intels.len(), "{name}, SIMD{width}");
            // Where an entry of a compaction table does not matter, the choice may differ.
            for (a, b) in list(PLATFORM, &bytes).iter().zip(list(PLATFORM, &intels)) {
                assert_eq!(*a, b, "{name}, SIMD{width}");
                let at = a.offset..a.offset + a.len;
                assert!(
                    a.len == 8 || bytes[at.clone()] == intels[at.clone()],
                    "{name}, SIMD{width}: {a:?}, {:x?}, {:x?}",
                    &bytes[at.clone()],
                    &intels[at]
                );
            }
            again += usize::from(code.starts_with(&bytes));
            kernels += 1;
            lines += ours.lines().count();
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    println!("{kernels} kernels, {lines} lines; {again} assemble to the very same bytes");
    assert!(kernels >= 12 && again > 0);
    assert!(
        findings.is_empty(),
        "Intel's code is found illegal:\n{}",
        findings.into_iter().collect::<Vec<_>>().join("\n")
    );
}
