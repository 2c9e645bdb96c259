//! Tests of random legal instructions on every platform against Intel's assembler and disassembler,
//! called in process. `GANTRY_CASES=200000` runs the full number of cases; `GANTRY_SEED` sets the
//! seed.

use crate::disagreements::{DISAGREEMENTS, Kind};
use crate::iga::Iga;
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::{Oracle as _, Rng, check_many, random_inst};
use gantry_isa_gen::text::{assemble, disassemble};
use gantry_isa_gen::{Inst, MathFn, Op, Platform, Reg, legal};
use std::collections::BTreeMap;
use std::time::Instant;

/// Number of instructions of one program.
const PROGRAM: usize = 500;

fn from_env(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok().and_then(|s| s.parse().ok());
    value.unwrap_or(default)
}

/// Returns true for opcodes that the oracle cannot assemble, according to the list of
/// disagreements.
fn unknown(platform: Platform, op: Op) -> bool {
    platform == Platform::Gen7p5 && matches!(op, Op::Dim | Op::Brc)
}

/// Returns all opcodes of a platform, `math` once for each function.
fn rows(platform: Platform) -> Vec<(Op, Option<MathFn>)> {
    let has = |op: &Op| op.info(platform).is_some() && !unknown(platform, *op);
    Op::ALL
        .into_iter()
        .filter(has)
        .flat_map(|op| match op {
            Op::Math => MathFn::ALL
                .into_iter()
                .filter(|f| f.code(platform).is_some())
                .map(|f| (op, Some(f)))
                .collect(),
            _ => vec![(op, None)],
        })
        .collect()
}

fn platform(platform: Platform) {
    let Some(mut iga) = Iga::open(platform) else {
        return;
    };
    let cases = from_env("GANTRY_CASES", 5_000);
    let seed = from_env("GANTRY_SEED", 9);
    let mut rng = Rng::new(seed ^ (platform as u64) << 32);
    let start = Instant::now();
    let rows = rows(platform);
    let mut hits: BTreeMap<String, u32> = BTreeMap::new();
    let (mut legal_ones, mut others, mut compacted) = (0u64, 0u64, 0);
    let mut refused: Vec<String> = Vec::new();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let name = |(op, f): &(Op, Option<MathFn>)| match f {
        Some(f) => format!("{op}.{f}"),
        None => op.to_string(),
    };
    for r in &rows {
        hits.insert(name(r), 0);
    }
    let mut tries = 0u64;
    while legal_ones < cases && tries < cases * 20 + 10_000 {
        let mut program: Vec<(String, bool, Inst<Reg>)> = Vec::new();
        while program.len() < PROGRAM && tries < cases * 20 + 10_000 {
            tries += 1;
            let row = rows[tries as usize % rows.len()];
            let Some(i) = random_inst(platform, row.0, row.1, &mut rng) else {
                continue;
            };
            program.push((name(&row), legal::check(platform, &i).is_empty(), i));
        }
        let insts: Vec<Inst<Reg>> = program.iter().map(|p| p.2).collect();
        let bulk = check_many(platform, &insts, &mut iga);
        compacted += bulk.compacted;
        for (n, message) in bulk.refused {
            let legal = if program[n].1 {
                "legal, but refused"
            } else {
                "refused"
            };
            refused.push(format!("{legal}: {message}"));
        }
        for (n, f) in bulk.failures {
            let name = program.get(n).map_or("?", |p| p.0.as_str());
            let of = failures.entry(format!("{name}: {}", f.property));
            of.or_default().push(f.to_string());
        }
        for ((name, legal, _), agrees) in program.iter().zip(bulk.agrees) {
            if agrees && *legal {
                legal_ones += 1;
                *hits.entry(name.clone()).or_default() += 1;
            } else if agrees {
                others += 1;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{platform}: {legal_ones} legal instructions of {} rows agree, and {others} that are not legal; {compacted} \
         compacted; {} refused, {} differ; {seconds:.1} s (seed {seed}, GANTRY_SEED)",
        rows.len(),
        refused.len(),
        failures.values().map(Vec::len).sum::<usize>(),
    );
    let mut classes: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for r in &refused {
        let class = r.lines().next().unwrap_or("");
        let e = classes.entry(class.to_string()).or_insert((0, r.clone()));
        e.0 += 1;
    }
    for (class, (n, example)) in &classes {
        println!(
            "  {n} times: {class}\n{}",
            example.lines().skip(1).collect::<String>()
        );
    }
    for (class, all) in &failures {
        println!("{class}: {} times, as\n{}\n", all.len(), all[0]);
    }
    let never: Vec<&String> = hits.iter().filter(|h| *h.1 == 0).map(|h| h.0).collect();
    assert!(failures.is_empty(), "{platform}: there are differences");
    assert!(
        !refused.iter().any(|r| r.starts_with("legal")),
        "{platform}"
    );
    assert!(never.is_empty(), "{platform}: no legal ones of {never:?}");
    assert!(legal_ones >= cases, "{platform}: the dice make too few");
}

macro_rules! platforms {
    ($($name:ident: $platform:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            platform(Platform::$platform);
        }
    )*};
}

platforms! {
    gen7p5: Gen7p5,
    gen8: Gen8,
    gen8lp: Gen8Lp,
    gen9: Gen9,
    gen9lp: Gen9Lp,
    gen10: Gen10,
    gen11: Gen11,
    xelp: XeLp,
    xehp: XeHp,
    xehpg: XeHpg,
    xehpc: XeHpc,
}

/// Round trip without an oracle.
#[test]
fn encoding_round_trips() {
    let cases = from_env("GANTRY_CASES", 5_000);
    let seed = from_env("GANTRY_SEED", 9);
    for p in Platform::ALL {
        let rows = rows(p);
        let mut rng = Rng::new(seed ^ (p as u64) << 40);
        let (mut done, mut hit) = (0, vec![false; rows.len()]);
        for tries in 0..cases * 20 {
            if done >= cases && hit.iter().all(|h| *h) {
                break;
            }
            let n = tries as usize % rows.len();
            let (op, f) = rows[n];
            let Some(i) = random_inst(p, op, f, &mut rng) else {
                continue;
            };
            let bytes = encode(p, &i).unwrap_or_else(|e| panic!("{p}: {e}\n{i:?}"));
            assert_eq!(decode(p, &bytes).map(|d| d.inst), Ok(i), "{p}");
            // Instructions that the rules reject have an encoding too.
            let legal = legal::is_legal(p, &i);
            done += u64::from(legal);
            hit[n] |= legal;
        }
        println!("{p}: {done} legal instructions come back (seed {seed})");
        assert!(done >= cases, "{p}");
        let missed: Vec<_> = rows.iter().zip(&hit).filter(|(_, h)| !**h).collect();
        assert!(missed.is_empty(), "{p}: no legal ones of {missed:?}");
    }
}

#[test]
fn known_differences_still_exist() {
    for d in &DISAGREEMENTS {
        for p in d.platforms {
            let Some(mut iga) = Iga::open(*p) else {
                return;
            };
            let text = d.text.replace("L: ", "L:\n") + "\n";
            let ours = assemble(*p, &text).unwrap_or_else(|e| panic!("{p}: {e}\n{text}"));
            let again = assemble(*p, &disassemble(*p, &ours.bytes)).unwrap();
            assert_eq!(again.bytes, ours.bytes, "{p}: {text}");
            let found = match iga.assemble(&text) {
                Err(_) => Some(Kind::Refused),
                Ok(bytes) if bytes != ours.bytes => Some(Kind::Bytes),
                Ok(bytes) => {
                    let bare = |t: &str| -> Vec<String> {
                        let code = |l: &str| l.split("//").next().map(|l| l.trim_end().to_string());
                        t.lines().filter_map(code).collect()
                    };
                    let theirs = iga.disassemble(&bytes).unwrap();
                    (bare(&theirs) != bare(&disassemble(*p, &bytes))).then_some(Kind::Text)
                }
            };
            assert_eq!(
                found,
                Some(d.kind),
                "{p}: {}\nlisted because {}",
                d.text,
                d.reason
            );
        }
    }
}
