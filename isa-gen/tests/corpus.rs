//! Every instruction of the corpus (`kernels/`) as Intel's compiler emits it: it decodes, prints as Intel's disassembler
//! prints it, assembles to the same bytes and breaks no rule.
//!
//! `GANTRY_CORPUS=skl,dg2` judges those devices alone, whatever [`JUDGED`] says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
#![allow(unsafe_code, reason = "the oracle is a C library")]

mod kernels;
#[path = "support/iga.rs"]
mod support;

use gantry_isa_gen::fuzz::Oracle as _;
use gantry_isa_gen::text::{assemble, disassemble, list, print_inst};
use gantry_isa_gen::{Platform, legal};
use kernels::{DEVICES, Device, Kernel};
use std::collections::BTreeMap;
use std::ops::Range;
use support::Iga;

/// Devices whose codec is complete.
const JUDGED: &[&str] = &["skl", "bxt"];

/// Rules that Intel's compiler is known to break, with the reason: device, rule, why.
const ERRATA: &[(&str, &str, &str)] = &[
    (
        "bxt",
        "width-one-stride",
        "scans of quads are written <4;1,4>: with one element a row, the hardware never uses the horizontal stride",
    ),
    (
        "pvc",
        "condition-needed",
        "a `csel` of r0 from r0, masked for no effect, stands without a condition before some half float code",
    ),
];

/// Whether one-source instructions must take the entries of the compaction tables that Intel's assembler takes, where
/// others say the same.
const SAME_ENTRIES: bool = false;

/// What was seen in a device's kernels.
#[derive(Default)]
struct Report {
    kernels: usize,
    instructions: usize,
    /// Instructions whose bytes hold what no text tells: Intel's assembler does not make them of the text either.
    retold: usize,
    /// Compacted instructions that have other table entries of the same meaning.
    other_entries: usize,
    /// Disagreements by their kind: how often, and the first.
    wrong: BTreeMap<String, (usize, String)>,
}

impl Report {
    fn wrong(&mut self, kind: impl Into<String>, k: &Kernel, what: impl FnOnce() -> String) {
        let Kernel {
            device,
            file,
            width,
            name,
            ..
        } = k;
        let entry = self.wrong.entry(kind.into());
        let first = || format!("{device} {file}.cl {name} SIMD{width}: {}", what());
        entry.or_insert_with(|| (0, first())).0 += 1;
    }
}

/// Text without the comments after sends and the blanks at line ends.
fn bare(text: &str) -> Vec<&str> {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or(l).trim_end())
        .collect()
}

/// The zeros behind a kernel are for the prefetcher, and may end within an instruction.
fn without_padding(code: &[u8]) -> &[u8] {
    let end = code.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
    &code[..end.next_multiple_of(8).min(code.len())]
}

fn hex(word: Option<u128>) -> String {
    word.map_or("nothing".into(), |w| format!("{w:#034x}"))
}

/// The text of one instruction of a program; a branch shows its distance.
fn alone(platform: Platform, code: &[u8], at: &Range<usize>) -> String {
    let text = disassemble(platform, code.get(at.clone()).unwrap_or_default());
    let line = text.lines().find(|l| !l.ends_with(':'));
    line.unwrap_or_default().trim().to_string()
}

fn judge(platform: Platform, k: &Kernel, iga: &mut Iga, r: &mut Report) {
    let code = without_padding(&k.code);
    r.kernels += 1;
    let listing = list(platform, code);
    r.instructions += listing.len();
    for l in &listing {
        match &l.inst {
            Ok(i) => {
                for f in legal::check(platform, i) {
                    let line = || print_inst(platform, i, &|t| format!("{t:?}"));
                    let known = |e: &&(&str, &str, &str)| e.0 == k.device && e.1 == f.rule.name;
                    if ERRATA.iter().find(known).is_none() {
                        r.wrong(format!("breaks {}", f.rule.name), k, || {
                            format!("{f}\n    {}", line())
                        });
                    }
                }
            }
            Err(e) => r.wrong(format!("does not decode: {e}"), k, || {
                let bytes = code[l.offset..l.offset + l.len].iter().rev();
                let bytes: String = bytes.map(|b| format!("{b:02x}")).collect();
                format!("{:#x}: {bytes}", l.offset)
            }),
        }
    }
    let (ours, theirs) = (disassemble(platform, code), iga.disassemble(code).unwrap());
    let differs = bare(&ours)
        .into_iter()
        .zip(bare(&theirs))
        .find(|(a, b)| a != b);
    if let Some((a, b)) = differs {
        r.wrong("prints otherwise", k, || format!("\n ours {a}\n iga  {b}"));
        return;
    }
    let bytes = match assemble(platform, &theirs) {
        Ok(a) => a.bytes,
        Err(e) => {
            return r.wrong("does not assemble", k, || {
                e.to_string().lines().take(6).collect::<Vec<_>>().join("\n")
            });
        }
    };
    if bytes == code {
        return;
    }
    // Some bits are told by no text: the compiler leaves in them what it likes.
    let intels = iga.assemble(&theirs).unwrap_or_default();
    for l in &listing {
        let at = l.offset..l.offset + l.len;
        let of = |b: &[u8]| -> Option<u128> {
            let b = b.get(at.clone())?;
            Some(b.iter().rev().fold(0, |n, b| n << 8 | u128::from(*b)))
        };
        let (mine, want, intel) = (of(&bytes), of(code), of(&intels));
        if mine == want {
            continue;
        }
        // Where Intel's assembler does not get the compiler's bytes from the text, ours need only mean the same.
        if mine == intel
            || (want != intel && alone(platform, &bytes, &at) == alone(platform, code, &at))
        {
            r.retold += 1;
            continue;
        }
        let decoded = |b: &[u8]| b.get(at.clone()).map(|b| list(platform, b));
        if !SAME_ENTRIES && l.len == 8 && decoded(&bytes) == decoded(code) {
            r.other_entries += 1;
            continue;
        }
        r.wrong("assembles otherwise", k, || {
            let text = alone(platform, code, &at);
            format!(
                "\n    {text}\n ours {}\n want {}\n iga  {}",
                hex(mine),
                hex(want),
                hex(intel)
            )
        });
    }
}

fn device(name: &str) {
    let judged = match std::env::var("GANTRY_CORPUS") {
        Ok(devices) => devices.split(',').any(|d| d == name),
        Err(_) => JUDGED.contains(&name),
    };
    if !judged {
        eprintln!("skipped: {name} is not judged yet");
        return;
    }
    let device: &'static Device = Device::named(name).unwrap();
    let platform = Platform::from_name(device.name).unwrap();
    if !kernels::have_ocloc() {
        return;
    }
    let Some(mut iga) = Iga::open(platform) else {
        return;
    };
    let mut report = Report::default();
    let time = std::time::Instant::now();
    let kernels = kernels::compile(device, device.widths);
    let compiled = time.elapsed();
    for k in &kernels {
        judge(platform, k, &mut iga, &mut report);
    }
    let Report {
        kernels,
        instructions,
        retold,
        other_entries,
        wrong,
    } = report;
    println!(
        "{name}: {kernels} kernels, {instructions} instructions; {retold} hold bits that no text tells, {other_entries} are \
         compacted otherwise; \
         compiled in {compiled:.1?}, judged in {:.1?}",
        time.elapsed() - compiled
    );
    let wrong: Vec<String> = wrong
        .into_iter()
        .map(|(kind, (n, first))| format!("{n} x {kind}, first in {first}"))
        .collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    assert!(kernels >= 60, "{kernels} kernels");
}

macro_rules! devices {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            device(stringify!($name));
        })*

        #[test]
        fn every_device_is_judged() {
            let judged = [$(stringify!($name)),*];
            assert!(DEVICES.iter().all(|d| judged.contains(&d.name)));
        }
    };
}

devices!(bdw skl bxt icllp tgllp dg2 pvc);

#[test]
fn there_are_sixty_kernels_and_more() {
    let of = |text: &str| text.matches("SG kernel void").count();
    let n: usize = kernels::FILES.iter().map(|(_, text)| of(text)).sum();
    println!("{n} kernels in {} files", kernels::FILES.len());
    assert!(n >= 60);
}
