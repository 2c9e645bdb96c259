//! Tests of compaction against Intel's tools. Every entry of every table expands as in Intel's
//! disassembler. Exactly the instructions that Intel's assembler compacts are compacted, to the
//! same bytes.
//!
//! `GANTRY_CASES` is the number of random words of each platform.

use crate::iga::Iga;
use gantry_isa_gen::compact::{compact, native};
use gantry_isa_gen::fuzz::{Oracle as _, Rng};
use gantry_isa_gen::op::Format;
use gantry_isa_gen::{Op, Platform};
use std::collections::BTreeMap;

/// Bit range of a compact word: lowest bit and width.
type Run = (u32, u32);

/// Index field and the formats that have it.
struct Index {
    name: &'static str,
    runs: &'static [Run],
    formats: &'static [Format],
}

const BASIC: &[Format] = &[
    Format::Unary,
    Format::Binary,
    Format::Math,
    Format::Sync,
    Format::Send,
];
const TERNARY: &[Format] = &[Format::Ternary];
const DPAS: &[Format] = &[Format::Dpas];

const fn index(name: &'static str, runs: &'static [Run], formats: &'static [Format]) -> Index {
    Index {
        name,
        runs,
        formats,
    }
}

const PRE_XE: [Index; 7] = [
    index("control", &[(8, 5)], BASIC),
    index("datatype", &[(13, 5)], BASIC),
    index("subreg", &[(18, 5)], BASIC),
    index("source 0", &[(30, 5)], BASIC),
    index("source 1", &[(35, 5)], BASIC),
    index("ternary control", &[(8, 2)], TERNARY),
    index("ternary source", &[(10, 2)], TERNARY),
];
const TERNARY_OR_DPAS: &[Format] = &[Format::Ternary, Format::Dpas];
const XE: [Index; 8] = [
    index("control", &[(24, 5)], BASIC),
    index("datatype", &[(30, 5)], BASIC),
    index("subreg", &[(35, 5)], BASIC),
    index("source 0", &[(48, 4)], BASIC),
    index("source 1", &[(52, 4)], BASIC),
    index("ternary control", &[(24, 5)], TERNARY_OR_DPAS),
    index("ternary source", &[(30, 5)], TERNARY_OR_DPAS),
    index("ternary subreg", &[(35, 5)], TERNARY_OR_DPAS),
];
const XE_HPC: [Index; 11] = [
    index("control", &[(18, 5)], BASIC),
    index("datatype", &[(26, 3), (30, 2)], BASIC),
    index("subreg", &[(48, 4)], BASIC),
    index("source 0", &[(23, 3)], BASIC),
    index("source 1", &[(52, 4)], BASIC),
    index("ternary control", &[(18, 4)], TERNARY),
    index("ternary source", &[(22, 4)], TERNARY),
    index("ternary subreg", &[(26, 3), (30, 2)], TERNARY),
    index("dpas control", &[(18, 4)], DPAS),
    index("dpas source", &[(22, 4)], DPAS),
    index("dpas subreg", &[(26, 3), (30, 2)], DPAS),
];

/// Returns the index fields of a platform.
fn indices(p: Platform) -> &'static [Index] {
    match p {
        // These have no compact three-source instructions.
        Platform::Gen7p5 | Platform::Gen11 => &PRE_XE[..5],
        Platform::Gen8 | Platform::Gen8Lp | Platform::Gen9 | Platform::Gen9Lp | Platform::Gen10 => {
            &PRE_XE
        }
        Platform::XeLp | Platform::XeHp | Platform::XeHpg => &XE,
        Platform::XeHpc => &XE_HPC,
    }
}

impl Index {
    fn entries(&self) -> u64 {
        1 << self.runs.iter().map(|r| r.1).sum::<u32>()
    }

    fn get(&self, word: u64) -> u64 {
        let (mut value, mut at) = (0, 0);
        for (lo, n) in self.runs {
            value |= (word >> lo & ((1 << n) - 1)) << at;
            at += n;
        }
        value
    }

    fn set(&self, mut word: u64, mut value: u64) -> u64 {
        for (lo, n) in self.runs {
            let mask = (1 << n) - 1;
            word = word & !(mask << lo) | (value & mask) << lo;
            value >>= n;
        }
        word
    }
}

/// Removes comments, the compaction option and trailing blanks.
fn bare(text: &str) -> Vec<String> {
    text.lines()
        .filter(|l| !l.ends_with(':'))
        .map(|l| {
            let code = l.split("//").next().unwrap_or("");
            let (code, options) = code.split_once('{').unwrap_or((code, ""));
            let options: Vec<&str> = options
                .trim_end_matches([' ', '}'])
                .split(',')
                .filter(|o| *o != "Compacted")
                .collect();
            format!("{} {{{}}}", code.trim_end(), options.join(","))
        })
        .filter(|l| l != " {}")
        .collect()
}

fn seed() -> u64 {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(7);
    println!("seed {seed} (GANTRY_SEED)");
    seed
}

/// Returns the number of random words of each platform.
fn cases() -> u32 {
    std::env::var("GANTRY_CASES")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(20_000)
}

fn opcodes(p: Platform, formats: &[Format]) -> Vec<u8> {
    Op::ALL
        .iter()
        .filter_map(|o| o.info(p))
        .filter(|i| formats.contains(&i.format))
        .map(|i| i.opcode)
        .collect()
}

/// Generates a random compact word, with small immediates more often than by chance.
fn word(rng: &mut Rng, opcodes: &[u8]) -> u64 {
    const IMM: u64 = 0xff << 56 | 0x1f << 35;
    let bits = match rng.below(4) {
        0 => rng.bits() & !IMM,
        1 => rng.bits() | IMM,
        _ => rng.bits(),
    };
    bits & !0x7f | u64::from(rng.pick(opcodes).unwrap()) | 1 << 29
}

#[test]
fn every_entry_expands_as_intels_does() {
    let seed = seed();
    for p in Platform::ALL {
        let Some(mut iga) = Iga::open(p) else { return };
        let mut rng = Rng::new(seed);
        let (mut compared, mut never) = (0, Vec::new());
        for i in indices(p) {
            let ops = opcodes(p, i.formats);
            for value in 0..i.entries() {
                let mut taken = 0;
                for _ in 0..20_000 {
                    let w = i.set(word(&mut rng, &ops), value).to_le_bytes();
                    let Ok(theirs) = iga.disassemble(&w) else {
                        continue;
                    };
                    let long = native(p, &w).unwrap_or_else(|| panic!("{p}: {w:02x?}: {theirs}"));
                    let ours = iga.disassemble(&long).unwrap_or_default();
                    assert_eq!(bare(&ours), bare(&theirs), "{p}: {w:02x?}");
                    taken += 1;
                    if taken == 4 {
                        break;
                    }
                }
                compared += taken;
                if taken == 0 {
                    never.push(format!("{} {value}", i.name));
                }
            }
        }
        println!("{p}: {compared} words compared");
        assert!(never.is_empty(), "{p}: Intel's decoder refuses {never:?}");
    }
}

/// Bits that Intel's assembler loses in compaction (docs/oracle-differences.md). One is the odd
/// half of the channel offset: one bit on Gen7.5, another from Gen8 on. The last is EOT of a `send`
/// with its descriptor in a register.
const LOST: u128 = 1 << 47 | 1 << 11 | 1 << 127;

/// Outcome of compacting one native word.
enum CompactionOutcome {
    /// The oracle cannot disassemble it, or not assemble the text.
    Unread,
    Both([u8; 8]),
    Neither,
    /// Only Intel's assembler compacts it, and loses these bits.
    TheirsOnly(u128),
}

/// Compacts the instruction of a native word with both assemblers. It is a failure if only ours
/// compacts it, or to other bytes.
fn compact_by_both(p: Platform, word: u128, iga: &mut Iga) -> CompactionOutcome {
    let Ok(text) = iga.disassemble(&(word & !(1 << 29)).to_le_bytes()) else {
        return CompactionOutcome::Unread;
    };
    iga.auto_compact = false;
    let long = iga.assemble(&text).map(<[u8; 16]>::try_from);
    iga.auto_compact = true;
    let theirs = iga.assemble(&text).map(<[u8; 8]>::try_from);
    let (Ok(Ok(long)), Ok(theirs)) = (long, theirs) else {
        return CompactionOutcome::Unread;
    };
    match (compact(p, &long), theirs) {
        (Some(ours), Ok(theirs)) => {
            assert_eq!(ours, theirs, "{p}: {text}");
            assert_eq!(native(p, &ours), Some(long), "{p}: {text}");
            CompactionOutcome::Both(ours)
        }
        (None, Err(_)) => CompactionOutcome::Neither,
        (Some(ours), Err(_)) => panic!("{p}: only we compact, to {ours:02x?}: {text}"),
        (None, Ok(theirs)) => {
            let back = native(p, &theirs).unwrap();
            CompactionOutcome::TheirsOnly(u128::from_le_bytes(back) ^ u128::from_le_bytes(long))
        }
    }
}

/// Returns true for entries that Intel's assembler never or rarely uses, because its text cannot
/// express them.
fn rare(p: Platform, index: &str, entry: u64) -> bool {
    match (index, entry) {
        // Align16, which only macros of `math` still have.
        ("control", 2 | 4 | 6 | 7 | 9 | 10 | 12 | 14 | 16..=19) => p < Platform::XeLp,
        // ARF as source 1, and a destination in Align16.
        ("datatype", 15 | 20) => p < Platform::XeLp,
        // Odd byte offsets, although no entry of the types has bytes.
        ("subreg", 26) => p < Platform::XeLp,
        // Three-source instructions are written in Align1.
        ("ternary control" | "ternary source", _) => p == Platform::Gen10,
        _ => false,
    }
}

#[test]
fn compacts_like_intels_assembler() {
    let seed = seed();
    let cases = cases();
    for p in Platform::ALL {
        let Some(mut iga) = Iga::open(p) else { return };
        iga.numeric_labels = true;
        let mut rng = Rng::new(seed);
        let mut missing = Vec::new();
        let (mut both, mut neither) = (0, 0);
        let mut lost: BTreeMap<u128, u32> = BTreeMap::new();
        // Each entry.
        for i in indices(p) {
            let ops = opcodes(p, i.formats);
            for value in (0..i.entries()).filter(|v| !rare(p, i.name, *v)) {
                let hit = (0..20_000).any(|_| {
                    let w = i.set(word(&mut rng, &ops), value).to_le_bytes();
                    let Some(long) = native(p, &w) else {
                        return false;
                    };
                    match compact_by_both(p, u128::from_le_bytes(long), &mut iga) {
                        CompactionOutcome::Both(short) => i.get(u64::from_le_bytes(short)) == value,
                        _ => false,
                    }
                });
                if !hit {
                    missing.push(format!("{} {value}", i.name));
                }
            }
        }
        // Random words, and words close to having a compact form.
        let rest = [Format::Wait, Format::Ret, Format::Dpas, Format::Ternary];
        let ops = opcodes(p, &[BASIC, &rest].concat());
        for _ in 0..cases {
            let Some(long) = native(p, &word(&mut rng, &ops).to_le_bytes()) else {
                continue;
            };
            let mut w = u128::from_le_bytes(long);
            for _ in 0..rng.below(3) {
                w ^= 1 << rng.below(128);
            }
            match compact_by_both(p, w, &mut iga) {
                CompactionOutcome::Unread => {}
                CompactionOutcome::Both(_) => both += 1,
                CompactionOutcome::Neither => neither += 1,
                CompactionOutcome::TheirsOnly(bits) => *lost.entry(bits).or_default() += 1,
            }
        }
        println!("{p}: {both} compacted by both, {neither} by neither, {lost:x?} lose bits");
        assert!(
            missing.is_empty(),
            "{p}: Intel's assembler never chose {missing:?}"
        );
        assert!(both > cases / 500, "{p}: too few are compacted");
        for bits in lost.keys() {
            assert!(bits & !LOST == 0, "{p}: the bits {bits:x} are lost");
        }
    }
}

/// Disagreements of `docs/oracle-differences.md` still exist.
#[test]
fn intels_assembler_still_loses_bits() {
    use Platform::*;
    let offset = "add (8|M4) r1.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f";
    let end = "send (8|M0) r3:f r57:f 0x2C a0.0";
    for (platforms, text, bit) in [
        (&[Gen7p5][..], offset, 47),
        (&[Gen8, Gen9, Gen10, Gen11], offset, 11),
        (&[Gen7p5, Gen8], end, 127),
    ] {
        for p in platforms {
            let Some(mut iga) = Iga::open(*p) else { return };
            let long: [u8; 16] = iga.assemble(text).unwrap().try_into().unwrap();
            iga.auto_compact = true;
            let short: [u8; 8] = iga.assemble(text).unwrap().try_into().unwrap();
            let back = u128::from_le_bytes(native(*p, &short).unwrap());
            assert_eq!(back ^ u128::from_le_bytes(long), 1 << bit, "{p}: {text}");
            assert_eq!(compact(*p, &long), None, "{p}: {text}");
        }
    }
}

/// Expanded words compact again to an equivalent word, without an oracle.
#[test]
fn expanded_words_compact_again() {
    let mut rng = Rng::new(seed());
    for p in Platform::ALL {
        let ops = opcodes(p, &Format::ALL);
        let (mut expanded, mut again) = (0, 0);
        for n in 0..20_000 {
            let w = if n % 4 == 0 {
                rng.bits() | 1 << 29
            } else {
                word(&mut rng, &ops)
            };
            let Some(long) = native(p, &w.to_le_bytes()) else {
                continue;
            };
            expanded += 1;
            // ARF as source 1, or a jump.
            let Some(short) = compact(p, &long) else {
                continue;
            };
            again += 1;
            assert_eq!(native(p, &short), Some(long), "{p}: {w:#x}");
        }
        println!("{p}: {expanded} expand, {again} of them compact again");
        assert!(again > expanded / 2 && again > 2000);
    }
}

/// Returns true if Intel's decoder rejects some compact words of the opcode, but not their
/// expansions (docs/oracle-differences.md).
fn refused(p: Platform, opcode: u8) -> bool {
    match p {
        Platform::Gen10 | Platform::Gen11 => Op::Movi.info(p).map(|i| i.opcode) == Some(opcode),
        Platform::XeLp => Op::Sync.info(p).map(|i| i.opcode) == Some(opcode),
        _ => false,
    }
}

#[test]
fn expands_like_intels_decoder() {
    let seed = seed();
    for p in Platform::ALL {
        let Some(mut iga) = Iga::open(p) else { return };
        let mut rng = Rng::new(seed);
        let odd: Vec<u8> = (0..128).filter(|o| refused(p, *o)).collect();
        let (mut both, mut ours_alone) = (0, 0);
        for n in 0..cases() {
            // Any opcode, existing or not, and sometimes one of particular interest.
            let w = match n % 8 {
                0 if !odd.is_empty() => word(&mut rng, &odd),
                _ => rng.bits() | 1 << 29,
            }
            .to_le_bytes();
            match (native(p, &w), iga.disassemble(&w)) {
                (Some(long), Ok(theirs)) => {
                    both += 1;
                    // The distance of a jump is relative to its end.
                    if Op::Jmpi.info(p).map(|i| i.opcode) != Some(w[0] & 0x7f) {
                        let ours = iga.disassemble(&long).unwrap_or_default();
                        assert_eq!(bare(&ours), bare(&theirs), "{p}: {w:02x?}");
                    }
                }
                (None, Ok(text)) => panic!("{p}: {w:02x?} does not expand: {text}"),
                (Some(long), Err(_)) => {
                    if let Ok(text) = iga.disassemble(&long) {
                        assert!(refused(p, w[0] & 0x7f), "{p}: {w:02x?} expands to {text}");
                        ours_alone += 1;
                    }
                }
                (None, Err(_)) => {}
            }
        }
        println!("{p}: {both} words mean something to both, {ours_alone} to us alone");
        assert_eq!(ours_alone > 0, !odd.is_empty(), "{p}");
    }
}
