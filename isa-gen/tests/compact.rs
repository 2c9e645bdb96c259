//! The 8-byte form against Intel's: every entry of every table expands as Intel's disassembler expands it, and what
//! Intel's assembler compacts we compact to the same bytes, and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
#![allow(unsafe_code, reason = "the oracle is a C library")]

#[path = "support/iga.rs"]
mod support;

use gantry_isa_gen::compact::{compact, native};
use gantry_isa_gen::fuzz::{Oracle as _, Rng};
use gantry_isa_gen::Platform;
use std::collections::BTreeMap;
use support::Iga;

/// Text without comments and blanks at line ends.
fn bare(text: &str) -> Vec<String> {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or("").replace("{Compacted}", "").replace("Compacted,","").replace(",Compacted","").trim_end().to_string())
        .filter(|l| !l.is_empty())
        .collect()
}

#[test]
fn explore() {
    let n: u32 = std::env::var("N").ok().and_then(|s| s.parse().ok()).unwrap_or(20000);
    for p in Platform::ALL {
        if std::env::var("P").is_ok_and(|x| x != p.name()) { continue; }
        let Some(mut iga) = Iga::open(p) else { return };
        iga.numeric_labels = true;
        let mut rng = Rng::new(7);
        let mut stat: BTreeMap<&str, u32> = BTreeMap::new();
        let mut shown: BTreeMap<String, u32> = BTreeMap::new();
        let mut show = |k: &str, d: String| { let c = shown.entry(k.to_string()).or_default(); *c += 1; if *c <= 6 { println!("{p} {k}: {d}"); } };
        for _ in 0..n {
            let narrow = (rng.bits() & !0) | 1 << 29;
            let Some(long) = native(p, &narrow.to_le_bytes()) else { *stat.entry("no native").or_default() += 1; continue };
            // expansion
            let theirs = iga.disassemble(&narrow.to_le_bytes());
            let ours = iga.disassemble(&long);
            match (&theirs, &ours) {
                (Ok(a), Ok(b)) if bare(a) == bare(b) => *stat.entry("expand same").or_default() += 1,
                (Ok(a), Ok(b)) => { *stat.entry("expand differs").or_default() += 1; show("expand differs", format!("{narrow:016x}\n{a}{b}")); }
                (Err(_), Err(_)) => *stat.entry("expand neither").or_default() += 1,
                (Ok(a), Err(e)) => { *stat.entry("expand native refused").or_default() += 1; show("expand native refused", format!("{narrow:016x} {a}{e}")); }
                (Err(e), Ok(a)) => { *stat.entry("expand compact refused").or_default() += 1; show("expand compact refused", format!("{narrow:016x} {a}{e}")); }
            }
            // compaction
            let mut word = u128::from_le_bytes(long);
            if rng.once_in(3) { word ^= 1 << rng.below(128); }
            if rng.once_in(4) { word ^= 1 << rng.below(128); }
            word &= !(1 << 29);
            let Ok(text) = iga.disassemble(&word.to_le_bytes()) else { *stat.entry("bad native").or_default() += 1; continue };
            iga.auto_compact = false;
            let Ok(long) = iga.assemble(&text) else { *stat.entry("not reassembled").or_default() += 1; continue };
            if long.len() != 16 { *stat.entry("odd length").or_default() += 1; continue; }
            iga.auto_compact = true;
            let Ok(short) = iga.assemble(&text) else { *stat.entry("no compact assembly").or_default() += 1; continue };
            iga.auto_compact = false;
            let long: [u8; 16] = long.try_into().unwrap();
            let ours = compact(p, &long);
            let w = u128::from_le_bytes(long);
            match ours {
                Some(o) if short == o => *stat.entry("compact same").or_default() += 1,
                None if short.len() == 16 => *stat.entry("compact neither").or_default() += 1,
                None => { *stat.entry("compact theirs").or_default() += 1; show("compact theirs", format!("{w:032x} {:016x}\n{text}", u64::from_le_bytes(short.try_into().unwrap()))); }
                Some(o) if short.len() == 16 => { *stat.entry("compact ours").or_default() += 1; show("compact ours", format!("{w:032x} {:016x}\n{text}", u64::from_le_bytes(o))); }
                Some(o) => { *stat.entry("compact differs").or_default() += 1; show("compact differs", format!("{w:032x} {:016x} {:016x}\n{text}", u64::from_le_bytes(o), u64::from_le_bytes(short.try_into().unwrap()))); }
            }
        }
        println!("{p}: {stat:?}");
    }
}
