//! Tests with random bytes: no function panics, and bytes that only one of us and Intel's
//! disassembler accepts are counted.
//!
//! `GANTRY_CASES=10000000` tests that many patterns of each platform.

use crate::iga::Iga;
use gantry_isa_gen::compact::compact;
use gantry_isa_gen::decode::{DecodeError, decode};
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Oracle as _, Rng};
use gantry_isa_gen::text::{assemble, disassemble, print_inst};
use gantry_isa_gen::{Op, Platform, legal};
use std::collections::BTreeMap;

fn number(name: &str, default: u64) -> u64 {
    let n = std::env::var(name)
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(default);
    println!("{name}={n}");
    n
}

/// Generates random bytes, 8 of them if the compaction bit is set. Half have an opcode that exists,
/// and some of these few bits set: uniform noise hardly ever passes the first reserved value.
fn pattern(opcodes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut word = u128::from(rng.bits()) | u128::from(rng.bits()) << 64;
    match rng.below(4) {
        0 | 1 => {}
        2 => word &= u128::from(rng.bits()) | u128::from(rng.bits()) << 64,
        _ => {
            word &= u128::from(rng.bits() & rng.bits()) | u128::from(rng.bits() & rng.bits()) << 64
        }
    }
    if rng.once_in(2) {
        let opcode = rng.pick(opcodes).unwrap_or(0);
        word = word & !0x7f | u128::from(opcode);
    }
    let n = if word >> 29 & 1 == 1 { 8 } else { 16 };
    word.to_le_bytes()[..n].to_vec()
}

fn opcodes(p: Platform) -> Vec<u8> {
    let of = |o: Op| o.info(p).map(|i| i.opcode);
    Op::ALL.into_iter().filter_map(of).collect()
}

/// Applies every function to a pattern. Returns true if it decodes.
fn try_all(p: Platform, bytes: &[u8], text_too: bool) -> bool {
    let decoded = decode(p, bytes);
    let Ok(d) = decoded else {
        return false;
    };
    let _ = legal::check(p, &d.inst);
    let line = print_inst(p, &d.inst, &|t| format!("{t:?}"));
    assert!(!line.is_empty());
    if let Ok(native) = encode(p, &d.inst) {
        let _ = compact(p, &native);
    }
    if text_too {
        let _ = assemble(p, &disassemble(p, bytes));
    }
    true
}

#[test]
fn patterns_never_panic() {
    let seed = number("GANTRY_SEED", 1);
    let cases = number("GANTRY_CASES", 50_000);
    for p in Platform::ALL {
        let opcodes = opcodes(p);
        let count = |part: u64| {
            let mut rng = Rng::new(seed ^ part << 32 ^ (p as u64) << 48);
            let mut taken = 0u64;
            for n in 0..cases / 2 {
                let bytes = pattern(&opcodes, &mut rng);
                taken += u64::from(try_all(p, &bytes, n % 16 == 0));
                let _ = decode(p, &bytes[..rng.below(bytes.len() as u64) as usize]);
            }
            taken
        };
        let taken: u64 = std::thread::scope(|s| {
            let parts = [0, 1].map(|part| s.spawn(move || count(part)));
            parts.into_iter().map(|t| t.join().unwrap()).sum()
        });
        println!("{p}: {taken} of {cases} decode");
    }
}

/// Returns the reason for which we reject bytes.
fn our_reason(e: &DecodeError) -> String {
    match e {
        DecodeError::Field { field, .. } => format!("reserved value in {field}"),
        DecodeError::Opcode(_) => "no such opcode".into(),
        e => e.to_string(),
    }
}

/// Returns the reason of Intel's disassembler, without numbers and bytes.
fn their_reason(e: &str) -> String {
    let first = e.lines().next().unwrap_or(e);
    let what = first.split_once(": ").map_or(first, |(_, what)| what);
    let what = what.split([';', '(']).next().unwrap_or(what).trim();
    if what.contains("targets") {
        return "a target outside the program".into();
    }
    // Operand, register, and description.
    let what = what.rsplit(": ").next().unwrap_or(what);
    what.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Every class of bytes that only one side accepts: prefix and explanation.
const KNOWN: [(&str, &str); 10] = [
    (
        "only Intel's: reserved value in",
        "printed as something that is not there: r140 of 128 registers, `@8` of distances up to 7, `sync.0xFFFFFFFF?`, a \
         source that is both immediate and register; the text does not assemble back",
    ),
    (
        "only Intel's: the instruction is in Align16 mode",
        "shown as Align1 where the swizzles allow; no compiler emits it (docs/oracle-differences.md)",
    ),
    (
        "only ours: GED reports invalid field",
        "a field that the opcode does not use must be zero there; we do not look at it",
    ),
    (
        "only ours: GED reports invalid value",
        "a reserved value in a field whose other values mean the same to us, or that the opcode does not use",
    ),
    (
        "only ours: a target outside the program",
        "where a branch goes is a matter of the program, not of the instruction",
    ),
    (
        "only ours: invalid register number",
        "a register file is one of the platform, the number in it beyond its last: `null5`, `ce3`; rules find it",
    ),
    ("only ours: invalid arf register", "as above"),
    (
        "only ours: SEND dst ARF",
        "a send whose destination is an architecture register; rules find it",
    ),
    (
        "only ours: error decoding instruction",
        "a compacted word whose expansion Intel's decoder refuses for one of the reasons above",
    ),
    (
        "only ours: unsupported Align Dst.ChEn",
        "a send in Align16 with a write mask",
    ),
];

#[test]
fn accepted_patterns_are_counted() {
    let seed = number("GANTRY_SEED", 1);
    let cases = number("GANTRY_CASES", 20_000).min(2_000_000);
    for p in Platform::ALL {
        let Some(mut iga) = Iga::open(p) else { return };
        let mut rng = Rng::new(seed ^ (p as u64) << 48);
        let opcodes = opcodes(p);
        let (mut both, mut neither) = (0u64, 0u64);
        let mut classes: BTreeMap<String, (u64, String)> = BTreeMap::new();
        for _ in 0..cases {
            let bytes = pattern(&opcodes, &mut rng);
            let hex: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            let class = match (decode(p, &bytes), iga.disassemble(&bytes)) {
                (Ok(_), Ok(_)) => {
                    both += 1;
                    continue;
                }
                (Err(_), Err(_)) => {
                    neither += 1;
                    continue;
                }
                (Err(e), Ok(_)) => format!("only Intel's: {}", our_reason(&e)),
                (Ok(_), Err(e)) => format!("only ours: {}", their_reason(&e)),
            };
            classes.entry(class).or_insert((0, hex)).0 += 1;
        }
        println!("{p}: {both} taken by both, {neither} by neither of {cases}");
        for (class, (n, first)) in classes {
            println!("    {n:>6} {class} (first {first})");
            let known = KNOWN.iter().any(|(begin, _)| class.starts_with(begin));
            assert!(known, "{p}: {class} (first {first})");
        }
    }
}
