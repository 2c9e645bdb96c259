//! Tests of the text of Xe. Every line that Intel's disassembler prints and its assembler accepts
//! is parsed into an instruction that prints as the same line.
//!
//! The lines are of random instructions, native and compact, and of random bit flips in them, which
//! produce forms that no generator has. (`corpus.rs` has kernels of Intel's compiler.)

use crate::iga::Iga;
use gantry_isa_gen::compact::compact;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Oracle as _, Rng, random_inst};
use gantry_isa_gen::inst::Target;
use gantry_isa_gen::text::{parse_inst, print_inst};
use gantry_isa_gen::{MathFn, Op, Platform};
use std::collections::{BTreeMap, BTreeSet};

/// Number of damaged words of each platform, unless `GANTRY_CASES` is set.
const CASES: u64 = 20_000;
/// Number of undamaged words of each opcode.
const EACH: u32 = 100;

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok().and_then(|v| v.parse().ok());
    value.unwrap_or(default)
}

/// Returns the instruction in a listing, without comment and label.
fn line(listing: &str) -> Option<&str> {
    let l = listing.lines().find(|l| !l.ends_with(':'))?;
    l.split(" //").next()
}

/// Parses a line and prints it.
fn again(platform: Platform, line: &str) -> Result<String, String> {
    let (inst, labels) = parse_inst(platform, line).map_err(|e| e.to_string())?;
    Ok(print_inst(platform, &inst, &|t| match t {
        Target::Label(n) => labels[n as usize].clone(),
        Target::Rel(r) => r.to_string(),
    }))
}

/// Returns true if Intel's tools agree about a line: its assembler produces bytes that are printed
/// as the line.
fn is_canonical(iga: &mut Iga, line: &str) -> bool {
    // Targets are at most 16 bytes away.
    let program = format!("L0:\n{line}\nL8:\nL16:\n");
    let Ok(bytes) = iga.assemble(&program) else {
        return false;
    };
    let Ok(text) = iga.disassemble(&bytes) else {
        return false;
    };
    self::line(&text).is_some_and(|l| l.trim_end() == line.trim_end())
}

/// Returns true for a `calla` to a label, whose absolute target depends on the program.
fn needs_a_program(line: &str) -> bool {
    line.contains("calla ") && line.contains(" L")
}

/// Returns true for lines without a meaning that Intel's tools accept: sub-registers beyond the end
/// of architecture registers, and math macros with strides and addresses.
fn is_nothing(line: &str, ours: &Result<String, String>) -> bool {
    let strided = |l: &str| l.find('<').is_some_and(|n| n < 2);
    let macro_fn = line.contains("mme");
    macro_fn && (line.contains("r[") || line.split("mme").skip(1).any(strided))
        || matches!(ours, Err(e) if e.contains("the sub-register is beyond the register"))
}

#[derive(Default)]
struct Report {
    alike: usize,
    /// Lines that Intel's own assembler rejects.
    refused: usize,
    nothing: usize,
    ops: BTreeSet<String>,
    wrong: BTreeMap<String, (usize, String)>,
}

impl Report {
    fn check_line(&mut self, platform: Platform, iga: &mut Iga, line: &str) {
        let ours = again(platform, line);
        if ours.as_deref() == Ok(line) {
            self.alike += 1;
            let word = line.split(')').find_map(|w| w.split_whitespace().next());
            self.ops
                .extend(word.map(|w| w.split('.').next().unwrap().to_string()));
        } else if needs_a_program(line) || !is_canonical(iga, line) {
            self.refused += 1;
        } else if is_nothing(line, &ours) {
            self.nothing += 1;
        } else {
            let (kind, text) = match ours {
                Ok(text) => ("prints differently".to_string(), text),
                Err(e) => (e.split_once(": ").unwrap().1.to_string(), e),
            };
            let first = || (0, format!("{line}\n{text}"));
            self.wrong.entry(kind).or_insert_with(first).0 += 1;
        }
    }
}

/// Generates words of random instructions of every opcode, native and compact.
fn words(platform: Platform, rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for op in Op::ALL {
        for _ in 0..EACH {
            let function = rng.pick(&MathFn::ALL);
            let Some(i) = random_inst(platform, op, function, rng) else {
                continue;
            };
            let Ok(native) = encode(platform, &i) else {
                continue;
            };
            out.extend(compact(platform, &native).map(|c| c.to_vec()));
            out.push(native.to_vec());
        }
    }
    out
}

fn platform(platform: Platform) {
    let Some(mut iga) = Iga::open(platform) else {
        return;
    };
    let seed = number("GANTRY_SEED", 12);
    let mut rng = Rng::new(seed);
    let mut seeds = words(platform, &mut rng);
    let mut report = Report::default();
    for w in &seeds {
        if let Ok(text) = iga.disassemble(w)
            && let Some(l) = line(&text)
        {
            report.check_line(platform, &mut iga, l);
        }
    }
    let undamaged = report.alike;
    // Every opcode, with random fields.
    for info in Op::ALL.into_iter().filter_map(|op| op.info(platform)) {
        for n in 0..40 {
            let mut w = [rng.bits().to_le_bytes(), rng.bits().to_le_bytes()].concat();
            (w[0], w[3]) = (info.opcode, w[3] & !0x20);
            if n % 2 == 0 {
                w[8..].iter_mut().for_each(|b| *b &= rng.bits() as u8);
            }
            seeds.push(w);
        }
    }
    for _ in 0..number("GANTRY_CASES", CASES) {
        let mut w = seeds[rng.below(seeds.len() as u64) as usize].clone();
        for _ in 0..=rng.below(6) {
            let bit = rng.below(w.len() as u64 * 8) as usize;
            // Not the compaction bit.
            if bit != 29 {
                w[bit / 8] ^= 1 << (bit % 8);
            }
        }
        if let Ok(text) = iga.disassemble(&w)
            && let Some(l) = line(&text)
        {
            report.check_line(platform, &mut iga, l);
            if rng.once_in(4) {
                seeds.push(w);
            }
        }
    }
    println!(
        "{platform}: {} lines of {} opcodes are read and printed as they stand (seed {seed}), {undamaged} of them of \
         undamaged words; {} are not taken by Intel's assembler, {} without meaning",
        report.alike,
        report.ops.len(),
        report.refused,
        report.nothing,
    );
    let wrong: Vec<String> = report
        .wrong
        .iter()
        .map(|(kind, (n, first))| format!("{n} times {kind}:\n{first}"))
        .collect();
    assert!(wrong.is_empty(), "{platform}\n{}", wrong.join("\n"));
}

#[test]
fn lines_of_xe_lp() {
    platform(Platform::XeLp);
}

#[test]
fn lines_of_xe_hp() {
    platform(Platform::XeHp);
}

#[test]
fn lines_of_xe_hpg() {
    platform(Platform::XeHpg);
}

#[test]
fn lines_of_xe_hpc() {
    platform(Platform::XeHpc);
}

/// Forms that occur in no kernel.
#[test]
fn forms_that_are_parsed_and_not_printed() {
    for (platform, text, line) in [
        (
            Platform::XeHpg,
            "bfn.0x23 (8|M0) r1.0<1>:ud r2.0<1;0>:ud r3.0<1;0>:ud r4.0<1>:ud",
            "bfn.((s0|~s2)&~s1) (8|M0) r1.0<1>:ud r2.0<1;0>:ud r3.0<1;0>:ud r4.0<1>:ud",
        ),
        (
            Platform::XeHpc,
            "bfn.(s0 | ~s2 & (s1 ^ 1)) (8|M0) r1.0<1>:ud r2.0<1;0>:ud r3.0<1;0>:ud r4.0<1>:ud",
            "bfn.(s0|~s1&~s2) (8|M0) r1.0<1>:ud r2.0<1;0>:ud r3.0<1;0>:ud r4.0<1>:ud",
        ),
        (
            Platform::XeLp,
            "sync.allwr 0x10001:ud",
            "sync.allwr ($0,$16)",
        ),
        (
            Platform::XeLp,
            "sync.nop {$1.src}",
            "sync.nop null {$1.src}",
        ),
        (Platform::XeHpc, "sync.bar 0x3:ud", "sync.bar 0x3"),
        (Platform::XeHpc, "sync.bar f0.0:ud", "sync.bar f0.0:ud"),
        (
            Platform::XeHpg,
            "send.ugm (16|M0) r10:f r12:ud r14:ud 0x80 0x04200500 {$1,A@2}",
            "send.ugm (16|M0) r10 r12 r14:2 0x0 0x04200500 {A@2,$1}",
        ),
        (
            Platform::XeHp,
            "send.dc0 (16|M0) null r12 r14:2 a0.2 a0.0",
            "send.dc0 (16|M0) null r12 r14:2 a0.2 a0.0 {ExBSO}",
        ),
        (
            Platform::XeHpg,
            "dpas.8x4 (8|M0) r10:f null:f r12:bf r20.0:bf {Atomic}",
            "dpas.8x4 (8|M0) r10:f null:f r12:bf r20.0:bf {Atomic}",
        ),
    ] {
        let ours = again(platform, text).unwrap();
        let ours = ours.trim_end();
        let shown: Vec<&str> = ours.split_whitespace().collect();
        assert_eq!(shown.join(" "), line, "{text}");
        assert_eq!(again(platform, ours).unwrap().trim_end(), ours);
        if let Some(mut iga) = Iga::open(platform) {
            let bytes = iga_bytes(&mut iga, text);
            let theirs = iga.disassemble(&bytes).unwrap();
            assert_eq!(self::line(&theirs).unwrap().trim_end(), ours, "{text}");
        }
    }
}

/// Intel's disassembler prints a type that its assembler drops; `corpus.rs` has kernels with it.
#[test]
fn words_that_name_barriers() {
    let ours = again(Platform::XeHpc, "sync.bar 0x3:uw").unwrap();
    let shown: Vec<&str> = ours.split_whitespace().collect();
    assert_eq!(shown, ["sync.bar", "0x3:uw"]);
}

fn iga_bytes(iga: &mut Iga, text: &str) -> Vec<u8> {
    iga.assemble(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn errors_have_location_and_reason() {
    for (platform, text, want) in [
        (
            Platform::Gen9,
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {$1}",
            "1:37: gen9 has no software scoreboard",
        ),
        (
            Platform::XeLp,
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {@8}",
            "1:38: a scoreboard distance 8 is above 7",
        ),
        (
            Platform::XeLp,
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {$16.dst}",
            "1:38: a scoreboard token 16 is above 15",
        ),
        (
            Platform::XeHpc,
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {Q@1}",
            "1:37: unknown pipe `Q`",
        ),
        (
            Platform::XeHpc,
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {$1,$2}",
            "1:40: a second scoreboard token",
        ),
        (
            Platform::XeLp,
            "send.ugm (8|M0) r5 r6 null 0x0 0x0",
            "1:6: `send` has no function `ugm`",
        ),
        (
            Platform::XeLp,
            "send.dc0 (8|M0) r5 r6 null:0 0x0 0x0",
            "1:23: on xelp the length of source 1 is in the extended descriptor",
        ),
        // Intel's assembler accepts this, and loses the length.
        (
            Platform::XeHp,
            "send.dc0 (8|M0) r5 r6 r7:2 0x0 0x0",
            "1:23: on xehp the length of source 1 is in the extended descriptor",
        ),
        (
            Platform::XeHpg,
            "send.ugm (8|M0) r5 r6 r7 a0.2 0x0 {ExBSO}",
            "1:23: {ExBSO} needs the length of source 1, as in `r10:4`",
        ),
        (
            Platform::XeHpg,
            "send.ugm (8|M0) r5 r6 r7:3 0x40 0x0",
            "1:23: source 1 is 3 long, but the extended descriptor says 1",
        ),
        (
            Platform::XeHpg,
            "sync.foo null",
            "1:6: `sync` has no function `foo`",
        ),
        (
            Platform::XeHpg,
            "bfn.(s0&s3) (8|M0) r1.0<1>:ud r2.0<1;0>:ud r3.0<1;0>:ud r4.0<1>:ud",
            "1:9: expected `s0`, `s1`, `s2`, `zeros` or `ones`",
        ),
        (
            Platform::XeHpg,
            "dpas.3x4 (8|M0) r10:f null:f r12:bf r20.0:bf",
            "1:6: `dpas` has no function `3x4`",
        ),
        (
            Platform::XeLp,
            "add3 (8|M0) r1.0<1>:d r2.0<1;0>:d r3.0<1;0>:d r4.0<1>:d",
            "1:1: `add3` does not exist on xelp",
        ),
    ] {
        let e = parse_inst(platform, text).unwrap_err();
        assert_eq!(e.to_string(), want, "{text}");
    }
}

/// Known errors of Intel's tools (docs/oracle-differences.md) still exist.
#[test]
fn known_disagreements_still_exist() {
    let shown = |platform: Platform, text: &str| {
        let mut iga = Iga::open(platform)?;
        let bytes = iga_bytes(&mut iga, text);
        let theirs = iga.disassemble(&bytes).unwrap();
        let words = self::line(&theirs).unwrap().split_whitespace();
        Some(words.collect::<Vec<_>>().join(" "))
    };
    let dpas = "dpas.8x3 (16|M0) r75:ud r99:ud r35:b r10.256:u1";
    let ours = again(Platform::XeHpc, dpas).unwrap();
    assert!(ours.contains("r10.256:u1"), "{ours}");
    if let Some(theirs) = shown(Platform::XeHpc, dpas) {
        assert_eq!(theirs, dpas.replace(".256", ".0"));
    }
    let send = "send.dc0 (8|M0) r5 r6 r7:2 0x0 0x00000000";
    if let Some(theirs) = shown(Platform::XeHp, send) {
        assert_eq!(theirs, send.replace(":2", ""));
    }
}
