//! Tests of the messages of compiled kernels. Each decodes to a typed message, encodes to the same
//! bits, and needs the payloads that the compiler provides. `GANTRY_CORPUS=all`, or a list of
//! devices, tests more.

use crate::iga::Iga;
use crate::kernels::{self, DEVICES, Device};
use gantry_isa_gen::Platform;
use gantry_isa_gen::fuzz::Oracle as _;
use gantry_isa_gen::message::{Lengths, LscKind, LscPort, Message, MsgOp, SendBits, Sfid};
use std::collections::BTreeMap;

/// Parses a send of a listing to its channels and message fields, or returns `None` if a descriptor
/// is in a0.
fn read(platform: Platform, line: &str) -> Option<(u32, SendBits)> {
    let code = line.split(" // ").next()?;
    let eot = code.contains("EOT");
    let code = code.split('{').next()?;
    let (head, rest) = code.split_once("send")?;
    assert!(
        head.trim().is_empty() || head.trim().ends_with(')'),
        "{line}"
    );
    let (mnemonic, rest) = rest.split_once('(')?;
    let (exec, operands) = rest.split_once(')')?;
    let exec = exec.split('|').next()?.parse().ok()?;
    let operands: Vec<&str> = operands.split_whitespace().collect();
    let hex = |s: &str| u32::from_str_radix(s.strip_prefix("0x")?, 16).ok();
    let (ex, desc) = (operands.get(operands.len() - 2)?, operands.last()?);
    let desc = hex(desc)?;
    if !platform.features().unified_send {
        return Some((exec, SendBits::of_descs(hex(ex)?, desc)));
    }
    let name = mnemonic.trim().split_once('.')?.1;
    let own = operands.get(2)?.split_once(':');
    // A surface in a0 does not affect the payloads.
    let ex = hex(ex).or(own.map(|_| 0))?;
    let (own_len, mask) = match own {
        Some((_, n)) => (n.parse().ok()?, !0x3f),
        None => ((ex >> 6 & 31) as u8, !0x7ff),
    };
    let send = SendBits {
        sfid: Sfid::from_mnemonic(platform, name)?,
        ex: ex & mask,
        desc,
        src1_len: own_len,
        eot,
    };
    Some((exec, send))
}

/// Returns true if the lengths are those that the operation needs. An atomic may have no response,
/// and typed messages have up to four coordinates.
fn fits(m: &Message, l: &Lengths) -> bool {
    let sent = u32::from(m.src0_grfs) + u32::from(m.src1_grfs);
    let need = u32::from(m.header) + l.address + l.data;
    let response = u32::from(m.response_grfs);
    match m.op {
        MsgOp::Sample(_) | MsgOp::LscBlock2d { .. } | MsgOp::MediaBlock { .. } => true,
        MsgOp::Lsc(a) if a.port == LscPort::Tgm => sent > need,
        MsgOp::Typed { .. } | MsgOp::TypedAtomic { .. } => {
            (need + 1..=need + 4).contains(&sent) && response == l.response
        }
        MsgOp::Lsc(a) if matches!(a.op.kind(), LscKind::Atomic(_)) => {
            sent == need && (response == l.response || response == 0)
        }
        _ => sent == need && response == l.response,
    }
}

/// Returns the devices to test: `GANTRY_CORPUS`, or those with the most kinds of ports.
fn devices() -> Vec<&'static Device> {
    let names = std::env::var("GANTRY_CORPUS").unwrap_or("dg2,pvc".to_owned());
    let asked = |d: &&Device| names.split(',').any(|n| n == d.name || n == "all");
    DEVICES.iter().filter(asked).collect()
}

#[test]
fn compiled_messages_are_typed_and_have_their_lengths() {
    if !kernels::have_ocloc() || Iga::open(Platform::Gen9).is_none() {
        return;
    }
    let mut wrong: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for device in devices() {
        let platform = Platform::from_name(device.name).unwrap();
        let mut iga = Iga::open(platform).unwrap();
        let (mut sends, mut in_a0, mut raw) = (0, 0, BTreeMap::new());
        for kernel in kernels::compile(device, &[16]) {
            let listing = iga.disassemble(&kernel.code).unwrap();
            for line in listing.lines().filter(|l| l.contains("send")) {
                sends += 1;
                let Some((exec, send)) = read(platform, line) else {
                    in_a0 += 1;
                    continue;
                };
                let mut fail = |kind: String| {
                    let first = || format!("{} {}: {}", device.name, kernel.name, line.trim());
                    wrong.entry(kind).or_insert_with(|| (0, first())).0 += 1;
                };
                let m = match Message::read(platform, &send) {
                    Ok(m) => m,
                    Err(e) => {
                        fail(format!("{}: {e}", device.name));
                        continue;
                    }
                };
                if let MsgOp::Raw { .. } = m.op {
                    let what = line.split("; ").last().unwrap_or(line).to_owned();
                    *raw.entry(what).or_insert(0) += 1;
                    continue;
                }
                let back = m.bits(platform).unwrap();
                if back != send {
                    fail(format!("{}: {} comes back as {back:x?}", device.name, m.op));
                }
                let l = m.op.lengths_for(platform, exec);
                if !fits(&m, &l) {
                    fail(format!("{} ({exec}): {} needs {l:?}", device.name, m));
                }
            }
        }
        println!(
            "{}: {sends} sends, {in_a0} with a descriptor in a0, not typed: {raw:?}",
            device.name
        );
    }
    let list: String = wrong
        .iter()
        .map(|(k, (n, first))| format!("{n} {k}\n    {first}\n"))
        .collect();
    assert!(wrong.is_empty(), "{} kinds\n{list}", wrong.len());
}
