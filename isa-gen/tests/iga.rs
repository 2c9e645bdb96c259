//! Our encoder, decoder, printer and assembler against Intel's, form by form.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
#![allow(unsafe_code, reason = "the oracle is a C library")]

#[path = "support/iga.rs"]
mod support;

use gantry_isa_gen::compact::compact;
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Oracle as _, Outcome, Rng, check, random_inst};
use gantry_isa_gen::text::{assemble, disassemble};
use gantry_isa_gen::{MathFn, Op, Platform};
use support::Iga;

const PLATFORM: Platform = Platform::Gen9;
/// Random forms of each row that the oracle takes.
const FORMS: u32 = 100;

fn seed() -> u64 {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(9);
    println!("seed {seed} (GANTRY_SEED)");
    seed
}

/// Tries forms of a row until enough agree; gives how many the oracle refused.
fn row(
    op: Op,
    function: Option<MathFn>,
    seed: u64,
    iga: &mut Iga,
    errors: &mut Vec<String>,
) -> u32 {
    let mut rng = Rng::new(seed ^ (op as u64) << 8 ^ function.map_or(0, |f| f as u64 + 1));
    let (mut agreed, mut refused, mut tries) = (0, 0, 0);
    while agreed < FORMS && tries < FORMS * 100 {
        tries += 1;
        let Some(i) = random_inst(PLATFORM, op, function, &mut rng) else {
            continue;
        };
        match check(PLATFORM, &i, iga) {
            Ok(Outcome::Agrees) => agreed += 1,
            Ok(Outcome::Refused) => refused += 1,
            Err(e) => {
                errors.push(e.to_string());
                return refused;
            }
        }
    }
    if agreed < FORMS {
        errors.push(format!(
            "{op} {function:?}: only {agreed} forms in {tries} tries, {refused} refused"
        ));
    }
    refused
}

#[test]
fn every_row_in_random_forms() {
    let Some(mut iga) = Iga::gen9() else { return };
    let seed = seed();
    let mut errors = Vec::new();
    let mut rows = 0;
    let mut refused = 0;
    for op in Op::ALL {
        if op.info(PLATFORM).is_none() {
            continue;
        }
        if op == Op::Math {
            for f in MathFn::ALL {
                refused += row(op, Some(f), seed, &mut iga, &mut errors);
                rows += 1;
            }
        } else {
            refused += row(op, None, seed, &mut iga, &mut errors);
            rows += 1;
        }
    }
    println!("{rows} rows, {FORMS} forms of each agree, {refused} were refused");
    assert!(
        errors.is_empty(),
        "{} rows fail:\n{}",
        errors.len(),
        errors.join("\n\n")
    );
}

/// Text without comments and blanks at line ends.
fn bare(text: &str) -> Vec<String> {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or("").trim_end().to_string())
        .collect()
}

#[test]
fn every_compaction_index_expands_as_intels_does() {
    let Some(mut iga) = Iga::gen9() else { return };
    // Opcode, and the compact bits of each table's index: control, datatype, subreg, src0, src1; for three sources
    // control and source.
    let basic = [(8u32, 32u64), (13, 32), (18, 32), (30, 32), (35, 32)];
    let ternary = [(8u32, 4u64), (10, 4)];
    let forms: [(Op, &[(u32, u64)]); 6] = [
        (Op::Mov, &basic),
        (Op::Add, &basic),
        (Op::Mul, &basic),
        (Op::And, &basic),
        (Op::Mad, &ternary),
        (Op::Csel, &ternary),
    ];
    let (mut compared, mut refused) = (0, 0);
    for (op, tables) in forms {
        let opcode = op.info(PLATFORM).unwrap().opcode;
        for (a, n) in tables {
            for (b, m) in tables {
                for x in 0..*n {
                    for y in 0..*m {
                        if a == b && x != y {
                            continue;
                        }
                        // Registers 5, 6 and 7, or what overlaps them.
                        let word = u64::from(opcode)
                            | 1 << 29
                            | 5 << 40
                            | 6 << 48
                            | 7 << 56
                            | x << a
                            | y << b;
                        let bytes = word.to_le_bytes();
                        let Ok(theirs) = iga.disassemble(&bytes) else {
                            refused += 1;
                            continue;
                        };
                        compared += 1;
                        assert_eq!(
                            bare(&disassemble(PLATFORM, &bytes)),
                            bare(&theirs),
                            "{op}, {word:#018x}"
                        );
                    }
                }
            }
        }
    }
    println!("{compared} compared, {refused} refused");
    assert!(compared > 20_000);
}

#[test]
fn compacts_what_intels_assembler_compacts() {
    let Some(mut iga) = Iga::gen9() else { return };
    iga.auto_compact = true;
    let mut rng = Rng::new(seed());
    let (mut short, mut long) = (0, 0);
    for _ in 0..40_000 {
        let op = rng.pick(&Op::ALL).unwrap();
        let function = rng.pick(&MathFn::ALL);
        let Some(i) = random_inst(PLATFORM, op, function, &mut rng) else {
            continue;
        };
        if op.format().is_branch() || op.is_send() {
            continue;
        }
        let native = encode(PLATFORM, &i).unwrap();
        let text = disassemble(PLATFORM, &native);
        let Ok(theirs) = iga.assemble(&text) else {
            continue;
        };
        match compact(PLATFORM, &native) {
            Some(ours) => {
                assert_eq!(theirs, ours, "{text}");
                short += 1;
            }
            None => {
                assert_eq!(theirs, native, "{text}");
                long += 1;
            }
        }
    }
    println!("{short} compacted alike, {long} by neither");
    assert!(short > 100);
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = Rng::new(seed());
    let mut taken = 0;
    for _ in 0..100_000 {
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&rng.bits().to_le_bytes());
        bytes[8..].copy_from_slice(&rng.bits().to_le_bytes());
        if rng.once_in(2) {
            // Half of them with an opcode that exists.
            let op = rng.pick(&Op::ALL).unwrap();
            bytes[0] = op.info(PLATFORM).map_or(0, |i| i.opcode);
        }
        let n = rng.below(17) as usize;
        taken += u32::from(decode(PLATFORM, &bytes).is_ok());
        let _ = decode(PLATFORM, &bytes[..n]);
        let text = disassemble(PLATFORM, &bytes);
        let _ = assemble(PLATFORM, &text);
    }
    println!("{taken} of 100000 decode");
    assert!(taken > 1000, "the dice hardly ever make an instruction");
}
