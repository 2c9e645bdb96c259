//! Tests of send descriptors against Intel's disassembler: the comment after a send, on every
//! platform, for random descriptors of every shared function.

use crate::iga::Iga;
use gantry_isa_gen::Platform;
use gantry_isa_gen::fuzz::{Oracle as _, Rng};
use gantry_isa_gen::inst::Desc;
use gantry_isa_gen::message::{SendText, Sfid, comment, describe};
use gantry_isa_gen::reg::{Arf, Reg, RegRef};
use gantry_isa_gen::text::disassemble;
use std::fmt::Write as _;

/// Returns the number of sends of each shared function on each platform: `GANTRY_CASES`, or some
/// hundreds.
fn cases() -> usize {
    std::env::var("GANTRY_CASES")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(400)
}

fn seed() -> u64 {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(5);
    println!("seed {seed} (GANTRY_SEED)");
    seed
}

/// Returns dword `sub` of a0 as a descriptor.
fn a0(sub: u64) -> Desc {
    Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub as u16 * 4))
}

/// Returns the shared functions of a platform: every number if it is in the descriptor, else those
/// with a name.
fn functions(platform: Platform) -> Vec<Sfid> {
    (0..16)
        .filter_map(Sfid::new)
        .filter(|s| !platform.features().unified_send || s.mnemonic(platform).is_some())
        .collect()
}

/// Returns the bits of an immediate extended descriptor that a send of the platform can encode,
/// without other fields.
fn ex_bits(platform: Platform) -> u32 {
    match platform {
        Platform::Gen7p5 | Platform::Gen8 | Platform::Gen8Lp => 0,
        p if p.features().lsc => 0xffff_f800,
        p if p.features().unified_send => 0xffff_f000,
        _ => 0xffff_0000,
    }
}

/// Returns the bits of an immediate descriptor.
fn desc_bits(platform: Platform) -> u32 {
    match platform {
        Platform::Gen7p5 | Platform::Gen8 | Platform::Gen8Lp => 0x1fff_ffff,
        p if p.features().unified_send => u32::MAX,
        _ => 0x7fff_ffff,
    }
}

/// Generates a send as text and as input of our comment.
fn send(platform: Platform, sfid: Sfid, rng: &mut Rng) -> (String, SendText) {
    let f = platform.features();
    let split = f.unified_send || (f.split_send && rng.once_in(2));
    let exec = rng.pick(&[1, 2, 4, 8, 16]).unwrap();
    let null = !split || rng.once_in(4);
    let len = if null { 0 } else { rng.below(16) as u32 };
    let payload = if null { "null" } else { "r40" };
    // Bits above the lengths are mostly 0.
    let own = if rng.once_in(2) {
        u32::MAX
    } else {
        0x1fff_ffff
    };
    let desc = if rng.once_in(16) {
        a0(0)
    } else {
        Desc::Imm(rng.bits() as u32 & own & desc_bits(platform))
    };
    let in_a0 = split && rng.once_in(8);
    let mut ex = if rng.once_in(2) { 0 } else { rng.bits() as u32 } & ex_bits(platform);
    let mut text = String::new();
    let mut src1_len = None;
    // The length of source 1 follows it, or is part of the descriptor.
    let mut options = "";
    if f.unified_send {
        let name = sfid.mnemonic(platform).unwrap();
        let cond = if rng.once_in(8) { "c" } else { "" };
        write!(text, "send{cond}.{name} ({exec}|M0) r10 r20 {payload}").unwrap();
        let ex_bso =
            in_a0 && matches!(platform, Platform::XeHp | Platform::XeHpg | Platform::XeHpc);
        let ex_bso = ex_bso && rng.once_in(2);
        if ex_bso || (f.lsc && !in_a0) {
            write!(text, ":{len}").unwrap();
            src1_len = Some(len as u8);
        } else {
            ex |= len << 6;
        }
        if ex_bso {
            options = " {ExBSO}";
        }
    } else {
        ex |= len << 6 | u32::from(sfid.number());
        if split {
            write!(text, "sends ({exec}|M0) r10:ud r20 {payload}:ud").unwrap();
        } else {
            write!(text, "send ({exec}|M0) r10:ud r20:ud").unwrap();
        }
    }
    let ex = if in_a0 {
        a0(rng.below(4) * 2)
    } else {
        Desc::Imm(ex)
    };
    for d in [ex, desc] {
        match d {
            Desc::Imm(v) => write!(text, " 0x{v:X}").unwrap(),
            Desc::Reg(r) => write!(text, " a0.{}", r.sub / 4).unwrap(),
        }
    }
    writeln!(text, "{options}").unwrap();
    let send = SendText {
        sfid: f.unified_send.then_some(sfid),
        exec,
        ex,
        desc,
        src1_len,
        src1_null: null,
    };
    (text, send)
}

/// Field: lowest bit, width, name and value.
type Part = (u8, u8, String, u32);

/// Parses `ExDesc[10:6]` or `Desc[13]`.
fn bit_range(text: &str) -> Option<(u8, u8)> {
    let (word, rest) = text.split_once('[')?;
    let (range, _) = rest.split_once(']')?;
    let base = match word.trim() {
        "ExDesc" => 32,
        "Desc" => 0,
        _ => return None,
    };
    let (hi, lo) = range.split_once(':').unwrap_or((range, range));
    let (hi, lo): (u8, u8) = (hi.parse().ok()?, lo.parse().ok()?);
    Some((base + lo, hi - lo + 1))
}

/// Returns the fields and findings that `iga64 -Xdsd` lists.
fn listed(
    platform: Platform,
    sfid: Sfid,
    exec: u32,
    ex: u32,
    desc: u32,
) -> (Vec<Part>, Vec<(u8, u8)>) {
    let mut command = std::process::Command::new("iga64");
    command
        .arg(format!("-p={}", platform.iga_name()))
        .arg("-Xdsd");
    if platform.features().unified_send {
        command.arg(sfid.mnemonic(platform).unwrap());
    }
    let out = command
        .args([
            format!("({exec})"),
            format!("0x{ex:X}"),
            format!("0x{desc:X}"),
        ])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    let fields: Vec<Part> = text
        .lines()
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter_map(|l| {
            let (lo, len) = bit_range(l)?;
            // Names contain single blanks; two blanks end them.
            let rest = l.split_once(']')?.1.trim_start();
            let (name, rest) = rest.split_once("  ")?;
            let value = rest.trim_start().split("  ").next()?.trim();
            let value = u32::from_str_radix(value.strip_prefix("0x")?, 16).ok()?;
            Some((lo, len, name.to_owned(), value))
        })
        .collect();
    let errors = String::from_utf8_lossy(&out.stderr);
    let findings = errors
        .lines()
        .filter_map(|l| {
            let stray = l.contains("undefined field");
            bit_range(l).map(|(lo, len)| (lo, len, stray))
        })
        .collect::<Vec<_>>();
    let findings = spread(&findings, &fields);
    (fields, findings)
}

/// Returns the findings in order, without duplicates. Stray bits are listed bit by bit, because the
/// oracle's ranges of them extend over bits of fields.
fn spread(findings: &[(u8, u8, bool)], fields: &[Part]) -> Vec<(u8, u8)> {
    let owned = |bit: u8| fields.iter().any(|f| bit >= f.0 && bit < f.0 + f.1);
    let mut out = Vec::new();
    for (lo, len, stray) in findings {
        if *stray {
            out.extend((*lo..lo + len).filter(|b| !owned(*b)).map(|b| (b, 1)));
        } else {
            out.push((*lo, *len));
        }
    }
    out.sort();
    out.dedup();
    out
}

#[test]
fn fields_are_those_of_intels_listing() {
    if Iga::open(Platform::Gen9).is_none() {
        return;
    }
    let mut rng = Rng::new(seed());
    let (mut sends, mut wrong) = (0, Vec::new());
    for platform in Platform::ALL {
        for sfid in functions(platform) {
            for _ in 0..cases().div_ceil(400) * 3 {
                let (_, send) = send(platform, sfid, &mut rng);
                let (Desc::Imm(ex), Desc::Imm(desc)) = (send.ex, send.desc) else {
                    continue;
                };
                sends += 1;
                let d = describe(platform, sfid, send.exec, Ok(ex), desc);
                let mut fields: Vec<Part> = d
                    .fields
                    .iter()
                    .map(|f| (f.lo, f.len, f.name.to_owned(), f.value))
                    .collect();
                let findings: Vec<_> = d
                    .findings
                    .iter()
                    .filter(|f| f.len > 0)
                    .map(|f| (f.lo, f.len, f.text == "bits set in no field"))
                    .collect();
                let findings = spread(&findings, &fields);
                let (mut their_fields, mut their_findings) =
                    listed(platform, sfid, send.exec, ex, desc);
                // Known error: it warns about the stride of a media block exactly if it is
                // overridden, instead of the reverse.
                let media = sfid == Sfid::DATA_CACHE_1 && matches!(desc >> 14 & 31, 4 | 10);
                their_findings.retain(|f| !media || *f != (8, 3));
                fields.sort();
                their_fields.sort();
                let what = format!("{platform} {sfid} ({}) 0x{ex:X} 0x{desc:X}", send.exec);
                if fields != their_fields {
                    wrong.push(format!(
                        "{what}\n  iga:  {their_fields:?}\n  ours: {fields:?}\n"
                    ));
                } else if findings != their_findings {
                    wrong.push(format!(
                        "{what}\n  iga:  {their_findings:?}\n  ours: {findings:?}\n"
                    ));
                }
            }
        }
    }
    println!("{sends} descriptors");
    let some = wrong.iter().take(50).cloned().collect::<String>();
    assert!(wrong.is_empty(), "{} differ\n{some}", wrong.len());
}

#[test]
fn comments_are_those_of_intels_disassembler() {
    let seed = seed();
    let mut wrong = Vec::new();
    for platform in Platform::ALL {
        let Some(mut iga) = Iga::open(platform) else {
            return;
        };
        let mut rng = Rng::new(seed ^ (platform as u64) << 32);
        let mut sends = 0;
        for sfid in functions(platform) {
            let made: Vec<_> = (0..cases())
                .map(|_| send(platform, sfid, &mut rng))
                .collect();
            for group in made.chunks(500) {
                let text: String = group.iter().map(|(t, _)| t.as_str()).collect();
                let bytes = iga.assemble(&text).unwrap();
                let listing = iga.disassemble(&bytes).unwrap();
                let ours = disassemble(platform, &bytes);
                for (o, t) in ours.lines().zip(listing.lines()) {
                    assert_eq!(o, t, "{platform} {sfid}");
                }
                let lines: Vec<&str> = listing.lines().filter(|l| l.contains("send")).collect();
                assert_eq!(lines.len(), group.len(), "{platform}");
                for (line, (text, send)) in lines.iter().zip(group) {
                    sends += 1;
                    let theirs = line.split_once(" // ").map_or("", |(_, c)| c);
                    let ours = comment(platform, send);
                    if theirs != ours {
                        wrong.push(format!(
                            "{platform}: {text}  iga:  {theirs}\n  ours: {ours}\n"
                        ));
                    }
                }
            }
        }
        println!("{platform}: {sends} sends");
    }
    let some = wrong.iter().take(50).cloned().collect::<String>();
    assert!(wrong.is_empty(), "{} differ\n{some}", wrong.len());
}
