//! Tests that every word that Intel's tools disassemble and assemble on Xe decodes, and encodes to
//! itself. The words are found by seeded random walks over those that libiga64 disassembles and
//! assembles to the same bits.
//!
//! `GANTRY_CASES=1000` sets the number of steps from each seed instruction, `GANTRY_SEED` the seed.

use crate::iga::Iga;
use crate::xe_seeds::seeds;
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::{EncodeError, encode};
use gantry_isa_gen::fuzz::{Oracle as _, Rng};
use gantry_isa_gen::swsb::{Distance, Pipe, Swsb, Token, TokenKind};
use gantry_isa_gen::text::disassemble;
use gantry_isa_gen::{
    Arf, Cond, CondMod, Inst, InstOpts, Op, Platform, PredCtrl, Predicate, Reg, RegRef, Subfn,
};
use std::collections::{BTreeMap, BTreeSet};

const XE: [Platform; 4] = [
    Platform::XeLp,
    Platform::XeHp,
    Platform::XeHpg,
    Platform::XeHpc,
];

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// Returns the text of a word if Intel's tools disassemble it and assemble the text to the same
/// word.
fn taken(iga: &mut Iga, word: u128) -> Option<String> {
    let bytes = word.to_le_bytes();
    let text = iga.disassemble(&bytes).ok()?;
    (iga.assemble(&text).ok()? == bytes).then_some(text)
}

/// Changes bits or bit ranges of a word, except the opcode and the compaction bit.
fn mutate(word: u128, rng: &mut Rng) -> u128 {
    let mut w = word;
    for _ in 0..=rng.below(3) {
        let lo = 8 + rng.below(120) as u32;
        if rng.once_in(2) {
            w ^= 1 << lo;
        } else {
            let width = 1 + rng.below(12) as u32;
            let mask = ((1u128 << width) - 1) << lo;
            w = w & !mask | u128::from(rng.bits()) << lo & mask;
        }
    }
    w & !(1 << 29)
}

/// Checks that a word that Intel's tools accept is one of ours. The error is a class of
/// differences.
fn check_word(p: Platform, word: u128, text: &str) -> Result<(), String> {
    let inst = match decode(p, &word.to_le_bytes()) {
        Ok(d) => d.inst,
        Err(e) => return Err(format!("decode: {e}")),
    };
    match encode(p, &inst).map(u128::from_le_bytes) {
        Ok(again) if again == word => {}
        Ok(again) => return Err(format!("bits {:#x}", again ^ word)),
        Err(e) => return Err(format!("encode: {e}")),
    }
    // Equal text implies an equal instruction.
    let ours = disassemble(p, &word.to_le_bytes());
    if bare(&ours) == bare(text) {
        Ok(())
    } else {
        Err("text".to_string())
    }
}

/// Returns the lines without comments and trailing blanks.
fn bare(text: &str) -> Vec<&str> {
    text.lines()
        .map(|l| l.split(" //").next().unwrap_or(l).trim_end())
        .collect()
}

/// Returns the reason for words on which we differ deliberately. `text` is Intel's.
fn known(p: Platform, word: u128, text: &str) -> Option<&'static str> {
    let math = Op::Math.info(p).map(|i| u128::from(i.opcode)) == Some(word & 0x7f);
    if math && word >> 93 & 7 == 7 {
        if word >> 48 & 3 != 1 {
            return Some("a math macro's operands have no place for a stride of the destination");
        }
        if word >> 35 & 1 != 0 || word >> 80 & 1 != 0 || word >> 112 & 1 != 0 {
            return Some("an indirect operand of a math macro has no special accumulator");
        }
    }
    if text.contains("dpas") && text.contains(":u1") {
        return Some("Intel's cuts the sub-register of single bits to eight bits");
    }
    None
}

/// Examples of known differences, which must still exist.
const KNOWN: &[(Platform, u128)] = &[
    (Platform::XeLp, 0x0210091cea10060c04062aa1094b0038),
    (Platform::XeHpg, 0x00110924ea10023404152aa1c0030038),
];

#[test]
fn known_differences_still_exist() {
    for (p, word) in KNOWN {
        let Some(mut iga) = Iga::open(*p) else {
            return;
        };
        let text = taken(&mut iga, *word);
        let text = text.unwrap_or_else(|| panic!("{p}: Intel's take {word:#034x} no longer"));
        assert!(check_word(*p, *word, &text).is_err(), "{p}: {text}");
        assert!(known(*p, *word, &text).is_some(), "{p}: {text}");
    }
}

fn walk(p: Platform, steps: u64, seed: u64) -> Option<(u64, Vec<String>)> {
    let mut iga = Iga::open(p)?;
    let mut rng = Rng::new(seed);
    let mut taken_words = 0;
    let mut wrong: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for inst in seeds(p) {
        let op = inst.op;
        let start = encode(p, &inst).unwrap_or_else(|e| panic!("{p} {op}: {e}\n{inst:?}"));
        let start = u128::from_le_bytes(start);
        let mut word = start;
        for step in 0..steps {
            if step % 64 == 0 {
                word = start;
            }
            let next = if step == 0 {
                start
            } else {
                mutate(word, &mut rng)
            };
            let Some(text) = taken(&mut iga, next) else {
                if step == 0 {
                    let bytes = next.to_le_bytes();
                    let text = iga.disassemble(&bytes);
                    wrong.insert(
                        format!("{op}: Intel's do not take the seed {next:#034x}: {text:?}"),
                        (1, String::new()),
                    );
                }
                continue;
            };
            seen.insert(op);
            taken_words += 1;
            word = next;
            if let Err(class) = check_word(p, next, &text)
                && known(p, next, &text).is_none()
            {
                let ours = disassemble(p, &next.to_le_bytes());
                let example = format!("{next:#034x}\n{text}ours:\n{ours}");
                wrong
                    .entry(format!("{op}: {class}"))
                    .and_modify(|e| e.0 += 1)
                    .or_insert((1, example));
            }
        }
    }
    for op in Op::ALL {
        assert_eq!(op.info(p).is_some(), seen.contains(&op), "{p}: {op}");
    }
    let wrong = wrong
        .into_iter()
        .map(|(class, (n, example))| format!("{p} {class} ({n} times): {example}"))
        .collect();
    Some((taken_words, wrong))
}

#[test]
fn words_that_intels_tools_accept_are_accepted() {
    let steps = number("GANTRY_CASES", 40);
    let seed = number("GANTRY_SEED", 1);
    let mut all = Vec::new();
    for p in XE {
        let Some((n, wrong)) = walk(p, steps, seed) else {
            return;
        };
        println!("{p}: {n} words of GANTRY_CASES={steps} GANTRY_SEED={seed}");
        all.extend(wrong);
    }
    assert!(all.is_empty(), "{} classes:\n{}", all.len(), all.join("\n"));
}

/// Additions to an instruction never cause a mismatch of tables and codec.
#[test]
fn additions_are_encoded_or_rejected() {
    let flag = RegRef::new(Reg::Arf(Arf::Flag, 1), 2);
    let pred = Some(Predicate {
        flag,
        inverse: true,
        ctrl: PredCtrl::Sequential,
    });
    let cond = |cond| Some(CondMod { cond, flag });
    for p in XE {
        for i in seeds(p) {
            let mut all = vec![
                Inst { pred, ..i },
                Inst { sat: true, ..i },
                Inst { no_mask: true, ..i },
                Inst {
                    subfn: Subfn::BranchCtrl(true),
                    ..i
                },
            ];
            all.extend([Cond::Eq, Cond::Gt, Cond::Eo].map(|c| Inst { cond: cond(c), ..i }));
            all.extend(InstOpts::all().iter().map(|opts| Inst { opts, ..i }));
            for i in all {
                match encode(p, &i) {
                    Err(e @ EncodeError::Field { .. }) => panic!("{p}: {e}\n{i:?}"),
                    Err(_) => {}
                    Ok(bytes) => {
                        let opts = i.opts - InstOpts::COMPACTED;
                        let again = decode(p, &bytes).map(|d| d.inst);
                        assert_eq!(again, Ok(Inst { opts, ..i }), "{p}");
                    }
                }
            }
        }
    }
}

/// Every annotation is rejected, or decodes to itself.
#[test]
fn annotations_round_trip() {
    for p in XE {
        let mut coded = 0;
        for op in [Op::Send, Op::Math, Op::Dpas, Op::Add, Op::Sync] {
            let Some(i) = seeds(p).into_iter().find(|i| i.op == op) else {
                continue;
            };
            let pipes = Pipe::ALL
                .into_iter()
                .flat_map(|pipe| (0..9).map(move |n| Some(Distance { pipe, n })));
            for distance in pipes.chain([None]) {
                let kinds = [TokenKind::Set, TokenKind::Dst, TokenKind::Src];
                let tokens = kinds
                    .into_iter()
                    .flat_map(|kind| (0..33).map(move |sbid| Some(Token { sbid, kind })));
                for token in tokens.chain([None]) {
                    let swsb = Swsb { distance, token };
                    let i = Inst { swsb, ..i };
                    if let Ok(bytes) = encode(p, &i) {
                        coded += 1;
                        assert_eq!(decode(p, &bytes).map(|d| d.inst), Ok(i), "{p}");
                    }
                }
            }
        }
        println!("{p}: {coded} annotations");
        assert!(coded > 500);
    }
}
