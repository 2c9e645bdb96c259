//! Tests of every instruction of the corpus (`kernels/`) as Intel's compiler emits it. It decodes,
//! prints as in Intel's disassembler, assembles to the same bytes, and violates no rule.
//!
//! `GANTRY_CORPUS=skl,dg2` tests those devices only, instead of [`TESTED`].
//! `GANTRY_CORPUS_FOLDER=DIR` tests the output for the OpenCL C files of a folder instead, and
//! `GANTRY_ORACLES_2026` the output of another compiler (`kernels/`).

use crate::iga::Iga;
use crate::kernels::{self, DEVICES, Device, Kernel};
use gantry_isa_gen::compact;
use gantry_isa_gen::decode;
use gantry_isa_gen::fuzz::Oracle as _;
use gantry_isa_gen::text::{assemble, disassemble, list, print_inst};
use gantry_isa_gen::{Platform, legal};
use std::collections::BTreeMap;
use std::ops::Range;

/// Devices whose codec is complete.
const TESTED: &[&str] = &["bdw", "skl", "bxt", "icllp", "tgllp", "dg2", "pvc"];

/// Rules that Intel's compiler is known to violate: device, rule, reason.
const ERRATA: &[(&str, &str, &str)] = &[(
    "bxt",
    "width-one-stride",
    "scans of quads are written <4;1,4>: with one element a row, the hardware never uses the horizontal stride",
)];

/// Results for the kernels of a device.
#[derive(Default)]
struct Report {
    kernels: usize,
    instructions: usize,
    /// Instructions with bits that their text does not determine. Intel's assembler does not
    /// reproduce them from the text either.
    retold: usize,
    /// Compact instructions.
    compacted: usize,
    /// Disagreements by kind: number and first example.
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

/// Removes trailing blanks.
fn bare(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// Removes the zeros after a kernel, which are for the prefetcher and may end within an
/// instruction.
fn without_padding(code: &[u8]) -> &[u8] {
    let end = code.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
    &code[..end.next_multiple_of(8).min(code.len())]
}

fn hex(word: Option<u128>) -> String {
    word.map_or("nothing".into(), |w| format!("{w:#034x}"))
}

/// Returns the text of one instruction of a program. A branch shows its distance.
fn alone(platform: Platform, code: &[u8], at: &Range<usize>) -> String {
    let text = disassemble(platform, code.get(at.clone()).unwrap_or_default());
    let line = text.lines().find(|l| !l.ends_with(':'));
    line.unwrap_or_default().trim().to_string()
}

/// Tests that instructions that the compiler compacts are compacted to the same bytes. The compiler
/// leaves some instructions uncompacted that have a compact form: those that are patched later, and
/// those before the entry of a kernel. For these, Intel's assembler decides.
fn test_compaction(platform: Platform, k: &Kernel, iga: &mut Iga, r: &mut Report) {
    let mut rest = without_padding(&k.code);
    while let Some((word, after)) = rest.split_at_checked(decode::len(rest)) {
        let short = <[u8; 8]>::try_from(word).ok();
        let long = match short {
            Some(short) => compact::native(platform, &short),
            None => word.try_into().ok(),
        };
        let ours = long.and_then(|long| compact::compact(platform, &long));
        let mut theirs = short;
        if short.is_none() && ours.is_some() {
            let text = iga.disassemble(word).unwrap_or_default();
            let told = iga.assemble(&text).as_deref() == Ok(word);
            iga.auto_compact = true;
            theirs = match iga.assemble(&text) {
                Ok(b) if told => b.try_into().ok(),
                // It does not get these bits from the text (`ret`).
                _ => ours,
            };
            iga.auto_compact = false;
        }
        r.compacted += usize::from(short.is_some());
        if ours != theirs {
            r.wrong("compacts differently", k, || {
                format!("{word:02x?}: ours {ours:02x?}, theirs {theirs:02x?}")
            });
        }
        rest = after;
    }
}

fn test_kernel(platform: Platform, k: &Kernel, iga: &mut Iga, r: &mut Report) {
    let code = without_padding(&k.code);
    test_compaction(platform, k, iga, r);
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
        r.wrong("prints differently", k, || {
            format!("\n ours {a}\n iga  {b}")
        });
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
    // Some bits are not in the text, and the compiler sets them arbitrarily.
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
        // If Intel's assembler does not reproduce the compiler's bytes from the text, ours need
        // only have the same text.
        if mine == intel
            || (want != intel && alone(platform, &bytes, &at) == alone(platform, code, &at))
        {
            r.retold += 1;
            continue;
        }
        r.wrong("assembles differently", k, || {
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
    let tested = match std::env::var("GANTRY_CORPUS") {
        Ok(devices) => devices.split(',').any(|d| d == name),
        Err(_) => TESTED.contains(&name),
    };
    if !tested {
        eprintln!("skipped: {name} is not tested yet");
        return;
    }
    let device: &'static Device = Device::named(name).unwrap();
    let platform = Platform::from_name(device.name).unwrap();
    if !kernels::have_ocloc_for(device) {
        return;
    }
    let Some(mut iga) = Iga::open(platform) else {
        return;
    };
    let mut report = Report::default();
    let time = std::time::Instant::now();
    let folder = std::env::var_os("GANTRY_CORPUS_FOLDER");
    let kernels = match &folder {
        Some(folder) => kernels::folder(device, folder.as_ref()),
        None => kernels::compile(device, device.widths),
    };
    let compiled = time.elapsed();
    for k in &kernels {
        test_kernel(platform, k, &mut iga, &mut report);
    }
    let Report {
        kernels,
        instructions,
        retold,
        compacted,
        wrong,
    } = report;
    println!(
        "{name}: {kernels} kernels, {instructions} instructions, {compacted} of them compacted; {retold} hold bits that \
         no text tells; compiled in {compiled:.1?}, tested in {:.1?}",
        time.elapsed() - compiled
    );
    let wrong: Vec<String> = wrong
        .into_iter()
        .map(|(kind, (n, first))| format!("{n} x {kind}, first in {first}"))
        .collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    assert!(kernels >= 60 || folder.is_some(), "{kernels} kernels");
}

macro_rules! devices {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            device(stringify!($name));
        })*

        #[test]
        fn every_device_is_tested() {
            let tested = [$(stringify!($name)),*];
            assert!(DEVICES.iter().all(|d| tested.contains(&d.name)));
        }
    };
}

devices!(bdw skl bxt icllp tgllp dg2 pvc);

#[test]
fn corpus_has_at_least_sixty_kernels() {
    let of = |text: &str| text.matches("SG kernel void").count();
    let n: usize = kernels::FILES.iter().map(|(_, text)| of(text)).sum();
    println!("{n} kernels in {} files", kernels::FILES.len());
    assert!(n >= 60);
}
