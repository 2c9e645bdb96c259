//! Scoreboard check with Intel's compiler as the oracle. It finds nothing in what that compiled,
//! and every wait that is removed from it.

use super::case::Case;
use super::{simulated, specs};
use crate::kernels::{self, Device};
use gantry_isa_gen::exec_unit::ExecUnit;
use gantry_isa_gen::swsb::{Token, TokenKind};
use gantry_isa_gen::{Dst, Inst, InstOpts, Platform, Reg, RegRef, Region, Src, decode, encode};
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Hazard, Report, Watch};
use std::collections::BTreeSet;
use std::ops::Range;

/// Launches a case. Returns the report up to the fault, if there is one, and whether there was one.
fn watched(case: &Case, bytes: &[u8], watch: &Watch) -> Result<Report, String> {
    let module = simulated::load(bytes)?;
    let result = simulated::launch(case, &module, Some(watch));
    match result {
        Ok(_) => Ok(watch.report()),
        Err(e) => Err(e.to_string()),
    }
}

fn list(hazards: &[Hazard]) -> String {
    hazards.iter().map(|h| format!("{h}\n")).collect()
}

/// Returns the part of a case's name that `GANTRY_KERNEL` selects.
fn only() -> String {
    std::env::var("GANTRY_KERNEL").unwrap_or_default()
}

/// Runs `f` on every launch of the corpus on a device, at every width.
fn each_launch(device: &'static Device, mut f: impl FnMut(&Case, &kernels::Zebin)) {
    let only = only();
    let cases = specs::cases();
    for zebin in kernels::zebins(device, device.widths, |_| true) {
        let meant = |c: &&Case| {
            c.file == zebin.file
                && c.only.is_none_or(|w| w == zebin.width)
                && c.name().contains(&only)
        };
        for case in cases.iter().filter(meant) {
            f(case, &zebin);
        }
    }
}

fn none_where_compiled(device: &'static Device) {
    if !kernels::have_ocloc_for(device) {
        return;
    }
    let (mut ran, mut instructions, mut faults) = (0, 0, Vec::new());
    let mut wrong = Vec::new();
    each_launch(device, |case, zebin| {
        if case.skipped_theirs(device.name, zebin.width).is_some() {
            return;
        }
        let watch = Watch::new().hazards().counts();
        let name = format!("{} SIMD{}", case.name(), zebin.width);
        match watched(case, &zebin.bytes, &watch) {
            Ok(_) => ran += 1,
            Err(e) => faults.push(format!("{name}: {e}")),
        }
        let report = watch.report();
        instructions += report.instructions.len();
        if !report.hazards.is_empty() {
            wrong.push(format!("{name}\n{}", list(&report.hazards)));
        }
    });
    println!(
        "{}: {ran} launches, {instructions} different instructions executed, {} launches fault, hazards in {}",
        device.name,
        faults.len(),
        wrong.len()
    );
    for f in &faults {
        println!("    {f}");
    }
    assert!(
        ran > 100 && instructions > 5000 || !only().is_empty(),
        "little ran"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn none_where_compiled_tgllp() {
    none_where_compiled(Device::named("tgllp").unwrap());
}

#[test]
fn none_where_compiled_dg2() {
    none_where_compiled(Device::named("dg2").unwrap());
}

/// Returns the bytes of the GRFs that a direct operand of an instruction covers, in a plain region.
fn bytes_of(platform: Platform, at: RegRef<Reg>, bytes: u32) -> Option<Range<u32>> {
    match at.reg {
        Reg::Grf(n) => {
            let first = u32::from(n) * platform.features().grf_bytes + u32::from(at.sub);
            Some(first..first + bytes)
        }
        Reg::Arf(..) => None,
    }
}

/// Returns the bytes that an instruction certainly writes if all of its channels run.
fn written(platform: Platform, inst: &Inst<Reg>) -> Option<Range<u32>> {
    if let Some(send) = inst.send {
        let gantry_isa_gen::Desc::Imm(desc) = send.desc else {
            return None;
        };
        let Dst::Direct { at, .. } = inst.dst else {
            return None;
        };
        let grfs = desc >> 20 & 0x1f;
        return bytes_of(platform, at, grfs * platform.features().grf_bytes);
    }
    match inst.dst {
        Dst::Direct { at, hs: 1, ty } => bytes_of(platform, at, inst.exec.channels() * ty.bytes()),
        _ => None,
    }
}

/// Returns the bytes that an instruction certainly reads if all of its channels run.
fn read(platform: Platform, inst: &Inst<Reg>) -> Vec<Range<u32>> {
    if inst.op.is_send() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for s in &inst.srcs {
        let Src::Direct { at, region, ty, .. } = *s else {
            continue;
        };
        let elements = match region {
            Region::Rect { vs: 0, w: 1, .. } => 1,
            Region::Rect { vs, w, hs: 1 } if vs == w => inst.exec.channels(),
            Region::Rect { vs: 1, w: 1, .. } => inst.exec.channels(),
            _ => continue,
        };
        out.extend(bytes_of(platform, at, elements * ty.bytes()));
    }
    out
}

fn overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Weakened annotation: an instruction, and its new SWSB byte.
struct WeakenedAnnotation {
    ip: u32,
    byte: u8,
    what: String,
}

/// Returns annotations that straight-line code, as it was executed, certainly needs. Either the
/// preceding instruction writes what this one reads, or a send before it does and nothing between
/// them waits for that.
fn needed(platform: Platform, code: &[u8], executed: &BTreeSet<u32>) -> Vec<WeakenedAnnotation> {
    let mut insts: Vec<(u32, Inst<Reg>)> = Vec::new();
    let mut at = 0;
    while let Ok(d) = decode::decode(platform, &code[at..]) {
        insts.push((at as u32, d.inst));
        at += d.len;
        if at >= code.len() {
            break;
        }
    }
    let straight = |i: &Inst<Reg>| {
        !matches!(ExecUnit::of(platform, i), ExecUnit::Uncounted)
            && !i.srcs.iter().any(|s| matches!(s, Src::Target(_)))
    };
    // All channels of both run, or those of the earlier one are the later one's.
    let same_channels = |a: &Inst<Reg>, b: &Inst<Reg>| {
        a.pred.is_none()
            && b.pred.is_none()
            && (a.no_mask || (a.no_mask == b.no_mask && a.exec == b.exec && a.offset == b.offset))
    };
    let encoded = |i: &Inst<Reg>| encode::encode(platform, i).ok().map(|b| b[1]);
    let mut out = Vec::new();
    for (n, (ip, inst)) in insts.iter().enumerate() {
        if !executed.contains(ip) || !straight(inst) || inst.opts.contains(InstOpts::ATOMIC) {
            continue;
        }
        let reads = read(platform, inst);
        let hits = |earlier: &Inst<Reg>| {
            same_channels(earlier, inst)
                && written(platform, earlier).is_some_and(|w| reads.iter().any(|r| overlap(r, &w)))
        };
        let before = insts[..n]
            .iter()
            .rev()
            .take_while(|(ip, i)| executed.contains(ip) && straight(i));
        // In order, by the preceding instruction.
        if inst.swsb.distance.is_some()
            && let Some((_, earlier)) = before.clone().next()
            && matches!(ExecUnit::of(platform, earlier), ExecUnit::InOrder(_))
            && hits(earlier)
        {
            let mut weak = *inst;
            weak.swsb.distance = None;
            out.extend(encoded(&weak).map(|byte| WeakenedAnnotation {
                ip: *ip,
                byte,
                what: format!("{} without its distance", inst.swsb.distance.unwrap()),
            }));
        }
        // Out of order, by the last instruction that set the token.
        if let Some(Token {
            sbid,
            kind: TokenKind::Dst,
        }) = inst.swsb.token
        {
            let setter = before
                .clone()
                .find(|(_, i)| i.swsb.token.is_some_and(|t| t.sbid == sbid));
            if let Some((_, earlier)) = setter
                && earlier.swsb.token.is_some_and(|t| t.kind == TokenKind::Set)
                && hits(earlier)
            {
                let mut weak = *inst;
                weak.swsb.token = None;
                out.extend(encoded(&weak).map(|byte| WeakenedAnnotation {
                    ip: *ip,
                    byte,
                    what: format!("without ${sbid}.dst"),
                }));
            }
        }
    }
    out
}

/// Removes waits from every kernel, one at a time, and expects each to be missed.
fn weakened(device: &'static Device) {
    if !kernels::have_ocloc_for(device) {
        return;
    }
    let (mut tried, mut kernels_tried) = (0, BTreeSet::new());
    let mut wrong = Vec::new();
    each_launch(device, |case, zebin| {
        let watch = Watch::new().counts();
        let _ = watched(case, &zebin.bytes, &watch);
        // An instruction whose channels never run waits for nothing.
        let counts = watch.report().instructions;
        let ran = counts.iter().filter(|i| i.amount.channels > 0);
        let executed: BTreeSet<u32> = ran.map(|i| i.ip).collect();
        let parsed = Zebin::parse(&zebin.bytes).unwrap();
        let (index, _) = parsed.kernel(case.kernel).unwrap();
        let place = parsed.code[index].clone();
        let weak = needed(parsed.platform, &zebin.bytes[place.clone()], &executed);
        // The first, one in the middle and the last.
        let some = BTreeSet::from([0, weak.len() / 2, weak.len().saturating_sub(1)]);
        for w in some.into_iter().filter_map(|i| weak.get(i)) {
            let mut bytes = zebin.bytes.clone();
            bytes[place.start + w.ip as usize + 1] = w.byte;
            let watch = Watch::new().hazards();
            let _ = watched(case, &bytes, &watch);
            let report = watch.report();
            tried += 1;
            kernels_tried.insert((case.file, case.kernel));
            if !report.hazards.iter().any(|h| h.ip == w.ip) {
                let name = format!("{} SIMD{}", case.name(), zebin.width);
                wrong.push(format!("{name}, at {:#x} {}: not found", w.ip, w.what));
            }
        }
    });
    println!(
        "{}: {tried} waits taken out of {} kernels, {} not missed",
        device.name,
        kernels_tried.len(),
        wrong.len()
    );
    assert!(
        kernels_tried.len() >= 50 || !only().is_empty(),
        "{kernels_tried:?}"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn weakened_tgllp() {
    weakened(Device::named("tgllp").unwrap());
}

#[test]
fn weakened_dg2() {
    weakened(Device::named("dg2").unwrap());
}

#[test]
fn none_where_compiled_pvc() {
    none_where_compiled(Device::named("pvc").unwrap());
}

#[test]
fn weakened_pvc() {
    weakened(Device::named("pvc").unwrap());
}
