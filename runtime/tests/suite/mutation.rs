//! Mutated zebins. Loading and launching a file ends with a result or an error, whatever its
//! container, its `.ze_info` or its code says. Nothing panics, nothing runs longer than the
//! watchdog lets it, and memory stays bounded.
//!
//! `GANTRY_CASES=100000` runs so many instead of 2,000. A case is generated from its number alone,
//! so that a failing one can be run again: `GANTRY_CASE=1234`.

use crate::common;
use crate::common::{Rng, have};
use gantry_runtime::zebin::{ArgKind, Zebin};
use gantry_runtime::{Arg, Device, Grid, SimOptions, Watch};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

const SOURCE: &str = "
__kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
void loops(__global const int *in, __global int *out, __local int *tmp, int n) {
    int i = get_global_id(0), l = get_local_id(0), s = 0;
    int kept[16];
    tmp[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < n + (in[i] & 7); j++) {
        kept[j & 15] = s;
        if (j & 1) { s += tmp[(l + j) & 31]; } else { s ^= j * in[i] / (l + 1); }
        if (s > 1000000) break;
    }
    atomic_add(&out[l & 3], s + kept[l & 15]);
    out[i + 4] = s;
}
__constant int table[4] = {3, 1, 4, 1};
__kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
void floats(__global const float4 *in, __global float4 *out, float k) {
    int i = get_global_id(0);
    float4 v = in[i];
    out[i] = native_sqrt(v) * k + (v.x > v.y ? floor(v) : fmax(v, 1.0f)) + table[i & 3];
}
";

struct Base {
    bytes: Vec<u8>,
    code: Vec<Range<usize>>,
    /// Range of `.ze_info`.
    info: Range<usize>,
    /// Range of the section headers.
    headers: Range<usize>,
}

fn bases() -> Vec<Base> {
    let mut out = Vec::new();
    for (device, simd, options) in [
        ("skl", 8, ""),
        ("skl", 32, "-g"),
        ("tgllp", 16, "-g"),
        ("tgllp", 32, ""),
        ("dg2", 8, "-g"),
        ("dg2", 16, ""),
    ] {
        let bytes = common::compile_for(device, SOURCE, &format!("-DSIMD={simd} {options}"));
        let parsed = Zebin::parse(&bytes).unwrap();
        let find = |what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
        let start = find(b"version:").unwrap();
        let len = bytes[start..].iter().position(|b| *b == 0);
        let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        let count = u16::from_le_bytes(bytes[60..62].try_into().unwrap()) as usize;
        out.push(Base {
            code: parsed.code,
            info: start..start + len.unwrap_or(1000),
            headers: table..table + count * 64,
            bytes,
        });
    }
    out
}

/// Returns a random position in a range.
fn within(r: &mut Rng, range: &Range<usize>) -> usize {
    range.start + r.below(range.len().max(1) as u64) as usize
}

/// Returns numbers that are edge cases for readers.
fn wild(r: &mut Rng) -> u64 {
    let edges = [
        0,
        1,
        0x7f,
        0xff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        u64::MAX,
        1 << 63,
    ];
    match r.below(3) {
        0 => r.u64() >> r.below(64),
        1 => edges[r.below(edges.len() as u64) as usize],
        _ => r.below(4096),
    }
}

fn flip(r: &mut Rng, b: &mut [u8], range: &Range<usize>) {
    let at = within(r, range);
    if let Some(v) = b.get_mut(at) {
        *v ^= 1 << r.below(8);
    }
}

fn put(r: &mut Rng, b: &mut [u8], at: usize) {
    let v = wild(r).to_le_bytes();
    let n = [1, 2, 4, 8][r.below(4) as usize];
    for (o, v) in b.iter_mut().skip(at).zip(&v[..n]) {
        *o = *v;
    }
}

/// Mutates numbers and lines of `.ze_info`, at the same length.
fn mutate_text(r: &mut Rng, text: &mut [u8]) {
    let digits: Vec<usize> = (0..text.len())
        .filter(|&i| text[i].is_ascii_digit())
        .collect();
    let newlines: Vec<usize> = (0..text.len()).filter(|&i| text[i] == b'\n').collect();
    match r.below(5) {
        0 if !digits.is_empty() => {
            let at = digits[r.below(digits.len() as u64) as usize];
            text[at] = b'0' + r.below(10) as u8;
        }
        // A longer number, over what follows it.
        1 if !digits.is_empty() => {
            let at = digits[r.below(digits.len() as u64) as usize];
            let n = r.below(22) as usize;
            for t in text.iter_mut().skip(at).take(n) {
                *t = b'0' + r.below(10) as u8;
            }
        }
        // A line over another.
        2 if newlines.len() > 2 => {
            let line = |r: &mut Rng| {
                let i = r.below(newlines.len() as u64 - 1) as usize;
                newlines[i] + 1..newlines[i + 1]
            };
            let (from, to) = (line(r), line(r));
            let copy = text[from].to_vec();
            for (t, c) in text.iter_mut().skip(to.start).zip(copy) {
                *t = c;
            }
        }
        3 => {
            let at = r.below(text.len() as u64) as usize;
            text[at] = b"-:[]{}'\"#&*!|>%@ \n\t"[r.below(19) as usize];
        }
        _ => {
            let at = r.below(text.len() as u64) as usize;
            text[at] = r.u64() as u8;
        }
    }
}

/// Generates the case with a number.
fn case(bases: &[Base], number: u64) -> Vec<u8> {
    let mut r = Rng(number.wrapping_mul(0x9e37_79b9) ^ 0x5eed);
    let base = &bases[r.below(bases.len() as u64) as usize];
    let mut b = base.bytes.clone();
    let whole = 0..b.len();
    let code = base.code[r.below(base.code.len() as u64) as usize].clone();
    let times = 1 + r.below(4);
    let kind = r.below(10);
    for _ in 0..times {
        match kind {
            0 => flip(&mut r, &mut b, &whole),
            1 => b.truncate(r.below(b.len() as u64 + 1) as usize),
            2 => {
                let at = within(&mut r, &(0..64));
                put(&mut r, &mut b, at);
            }
            3 => {
                let at = within(&mut r, &base.headers);
                put(&mut r, &mut b, at);
            }
            4 | 5 => mutate_text(&mut r, &mut b[base.info.clone()]),
            6 => flip(&mut r, &mut b, &code),
            7 => {
                let at = within(&mut r, &code);
                put(&mut r, &mut b, at);
            }
            // An instruction replaced by another, of any kernel and platform.
            8 => {
                let from = &bases[r.below(bases.len() as u64) as usize];
                let other = &from.code[0];
                let source = other.start + r.below(other.len() as u64 / 8) as usize * 8;
                let at = code.start + r.below(code.len() as u64 / 8) as usize * 8;
                let n = 8 + 8 * r.below(4) as usize;
                let n = n.min(from.bytes.len() - source).min(b.len() - at);
                b[at..at + n].copy_from_slice(&from.bytes[source..source + n]);
            }
            _ => {
                // Anything in the rest of the file, including debug information and symbols.
                let at = within(&mut r, &whole);
                put(&mut r, &mut b, at);
            }
        }
        if b.len() < base.bytes.len() {
            break;
        }
    }
    b
}

/// Counts of the cases' outcomes.
#[derive(Default, Debug)]
struct OutcomeCounts {
    refused: u64,
    launches: u64,
    failed: u64,
}

fn try_case(bytes: &[u8], watched: bool, ended: &mut OutcomeCounts) {
    let d = Device::simulator(SimOptions {
        instruction_limit: 3000,
        ..SimOptions::default()
    });
    let module = match d.load(bytes) {
        Ok(m) => m,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            ended.refused += 1;
            return;
        }
    };
    let names: Vec<String> = module.kernels().map(str::to_owned).collect();
    for name in names {
        let kernel = module.kernel(&name).unwrap();
        let mut args = Vec::new();
        for a in kernel.args() {
            args.push(match a.kind {
                ArgKind::Buffer => Arg::Buffer(d.buffer(4096).unwrap()),
                ArgKind::Local => Arg::Local(256),
                ArgKind::Value { size } if size < 4096 => Arg::Value(vec![1; size as usize]),
                _ => Arg::Null,
            });
        }
        let watch = Watch::new()
            .hazards()
            .counts()
            .trace(Default::default(), |e| {
                assert!(!e.to_string().is_empty());
            });
        let launch = kernel
            .launch(Grid::new([64, 1, 1]).group([32, 1, 1]))
            .args(args);
        let run = if watched {
            launch.watch(&watch).run()
        } else {
            launch.run()
        };
        ended.launches += 1;
        if let Err(e) = run {
            assert!(e.to_string().contains(&name) || !name.is_ascii(), "{e}");
            ended.failed += 1;
        }
        for h in watch.report().hazards {
            assert!(!h.to_string().is_empty());
        }
    }
}

/// Returns the peak memory of the process in MB, where the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kb: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1024)
}

/// Variable that is set in the process that the cases run in.
const CHILD: &str = "GANTRY_MUTATION_CHILD";

/// The cases run in a process of their own, whose memory is theirs alone.
#[test]
fn mutated_zebins() {
    if !have("ocloc") {
        return;
    }
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "mutation::mutated_zebins", "--nocapture"]);
        let out = command.env(CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        print!("{text}");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.success() && text.contains(" cases: "),
            "{errors}"
        );
        return;
    }
    let bases = bases();
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let cases = match number("GANTRY_CASE") {
        Some(n) => n..n + 1,
        None => 0..number("GANTRY_CASES").unwrap_or(2000),
    };
    let mut ended = OutcomeCounts::default();
    for n in cases.clone() {
        let bytes = case(&bases, n);
        let run = AssertUnwindSafe(|| try_case(&bytes, n % 8 == 0, &mut ended));
        assert!(catch_unwind(run).is_ok(), "GANTRY_CASE={n} panics");
    }
    println!(
        "{} cases: {ended:?}, at most {:?} MB",
        cases.end - cases.start,
        peak()
    );
    if cases.end > 1000 {
        assert!(ended.refused > 100 && ended.failed > 100, "{ended:?}");
        assert!(ended.launches - ended.failed > 100, "{ended:?}");
    }
    assert!(peak().unwrap_or(0) < 512, "{:?} MB", peak());
}
