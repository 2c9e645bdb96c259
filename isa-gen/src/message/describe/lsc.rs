//! Messages of the load/store cache. The summary is the message in the assembler's load/store
//! syntax if the descriptor is valid, and only its operation otherwise.

use super::rows::lsc_fields as at;
use super::{DescReader, ExDesc};
use crate::message::lsc::{
    CcsOp, LscAddr, LscCaching, LscData, LscFenceOp, LscKind, LscRow, LscScope, VECTORS,
};
use crate::message::op::{LscOp, OPS};
use crate::sfid::Sfid;
use std::fmt::Write as _;

/// Parts of the syntax, in order.
#[derive(Default)]
struct LscSyntax {
    mnemonic: String,
    controls: String,
    surface: String,
}

fn put(to: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = to.write_fmt(text);
}

fn bits(r: &DescReader<'_>, (lo, len): (u8, u8)) -> u32 {
    r.bits(lo, len)
}

fn field(
    r: &mut DescReader<'_>,
    name: &'static str,
    (lo, len): (u8, u8),
    meaning: impl FnOnce(u32) -> String,
) -> u32 {
    r.field(name, lo, len, meaning)
}

fn named(r: &mut DescReader<'_>, name: &'static str, at: (u8, u8), names: &[&str]) -> u32 {
    field(r, name, at, |v| {
        (*names.get(v as usize).unwrap_or(&"?")).to_owned()
    })
}

fn error(r: &mut DescReader<'_>, (lo, len): (u8, u8), text: &str) {
    r.find(true, lo, len, text);
}

pub(super) fn read(r: &mut DescReader<'_>) {
    let Some(row) = OPS.get(bits(r, at::OP) as usize) else {
        field(r, "Opcode", at::OP, |_| "?".to_owned());
        error(r, at::OP, "no such operation");
        return;
    };
    // Older platforms have no names in their mnemonics, but the numbers mean the same.
    let port = match r.sfid {
        Sfid::UGM => "ugm",
        Sfid::UGML => "ugml",
        Sfid::SLM => "slm",
        _ => "tgm",
    };
    let mut s = LscSyntax {
        mnemonic: row.name.to_owned(),
        controls: format!(".{port}"),
        surface: String::new(),
    };
    let mut line = row.line.to_owned();
    field(r, "Opcode", at::OP, |_| row.name.to_owned());
    match row.op {
        LscOp::Ccs => ccs(r, &mut s, &mut line),
        LscOp::Fence => fence(r, &mut s, &mut line),
        LscOp::ReadState => {
            if surface(r, &mut s) == 0 {
                error(r, at::SURFACE, "takes a surface");
            }
            r.coordinates(1, 64);
        }
        _ => access(r, &mut s, row),
    }
    if r.errors {
        r.set(&line);
        return;
    }
    r.set(&s.mnemonic);
    r.append(format_args!("{}", s.controls));
    if !s.surface.is_empty() {
        r.append(format_args!(".{}", s.surface));
    }
}

/// Reads the address type and its surface. Returns the number of the type.
fn surface(r: &mut DescReader<'_>, s: &mut LscSyntax) -> u32 {
    let names = ["flat", "bss", "ss", "bti"];
    let kind = named(r, "AddrType", at::SURFACE, &names);
    let name = names[(kind & 3) as usize];
    let to = &mut s.surface;
    match (kind, r.ex) {
        (0, _) => {}
        (_, ExDesc::Reg(a)) => put(to, format_args!("{name}[a0.{a}]")),
        (3, ExDesc::Imm(_)) => {
            let bti = r.field("BTI", 32 + 24, 8, |v| format!("entry {v}"));
            put(to, format_args!("{name}[{bti}]"));
        }
        (_, ExDesc::Imm(_)) => {
            let state = r.bits(32 + 11, 21) << 11;
            r.value("SurfaceStateOffset", 11, 21, state, |_| String::new());
            put(to, format_args!("{name}[0x{state:X}]"));
        }
    }
    kind
}

fn address(r: &mut DescReader<'_>) -> Option<LscAddr> {
    let sizes = ["?", "16 bits", "32 bits", "64 bits"];
    let bits = named(r, "AddrSize", at::ADDR, &sizes);
    let size = LscAddr::from_bits(bits);
    if size.is_none() {
        error(r, at::ADDR, "no such address size");
    }
    size
}

fn caching(r: &mut DescReader<'_>, s: &mut LscSyntax, kind: LscKind) {
    let bits = field(r, "Caching", at::CACHING, |v| {
        LscCaching::from_bits(kind, v).to_string()
    });
    put(
        &mut s.controls,
        format_args!("{}", LscCaching::from_bits(kind, bits)),
    );
}

/// Checks that an immediate extended descriptor has no bits below the surface.
fn low_ex(r: &mut DescReader<'_>) {
    if matches!(r.ex, ExDesc::Imm(v) if v & 0x7ff != 0) {
        r.error(0, 12, "bits 11:0 of the extended descriptor are 0");
    }
}

fn access(r: &mut DescReader<'_>, s: &mut LscSyntax, row: &LscRow) {
    let block = matches!(row.op, LscOp::LoadBlock2d | LscOp::StoreBlock2d);
    low_ex(r);
    if row.op == LscOp::LoadStatus && r.bits(20, 5) != 1 {
        r.error(20, 5, "the response has one GRF");
    }
    surface(r, s);
    let addr = if block {
        Some(LscAddr::A64)
    } else {
        address(r)
    };
    let bits = field(r, "DataSize", at::DATA, |v| {
        match LscData::ALL.get(v as usize) {
            Some(d) => format!("{} bits", d.memory_bits()),
            None => "?".to_owned(),
        }
    });
    match LscData::ALL.get(bits as usize) {
        Some(d) => put(&mut s.controls, format_args!(".{}", d.name())),
        None => put(&mut s.controls, format_args!(".0x{bits:X}")),
    }
    if row.mask {
        components(r, s);
    } else {
        elements(r, s, row.op, block);
    }
    if let Some(a) = addr {
        put(&mut s.controls, format_args!(".{}", a.name()));
    }
    if r.sfid != Sfid::SLM {
        caching(r, s, row.kind);
    }
    let atomic = matches!(row.kind, LscKind::Atomic(_));
    if r.sfid == Sfid::TGM && (atomic || row.mask) {
        let exec = r.exec;
        r.coordinates(exec, addr.map_or(0, LscAddr::width));
    }
}

fn components(r: &mut DescReader<'_>, s: &mut LscSyntax) {
    let name = |v: u32| -> String {
        let on = |i: &usize| v >> i & 1 == 1;
        (0..4).filter(on).map(|i| &"xyzw"[i..=i]).collect()
    };
    let bits = field(r, "CompEn", at::VECTOR, name);
    put(&mut s.controls, format_args!(".{}", name(bits)));
    if bits == 0 {
        error(r, at::VECTOR, "no component is enabled");
    }
}

fn elements(r: &mut DescReader<'_>, s: &mut LscSyntax, op: LscOp, block: bool) {
    let (size, order) = ((at::VECTOR.0, at::VECTOR.1 - 1), at::BLOCK2D_TRANSPOSED);
    let n = VECTORS[bits(r, size) as usize];
    let transposed = named(r, "DataOrder", order, &["a row per element", "transposed"]) == 1;
    if !block {
        field(r, "VecSize", size, |_| format!("{n} per address"));
    }
    if n > 1 || (transposed && !block) {
        put(&mut s.controls, format_args!("x{n}"));
    }
    if transposed {
        s.controls.push('t');
        if op == LscOp::LoadStatus {
            error(r, order, "a status is not transposed");
        }
    }
    let states = ["disabled", "enabled"];
    let vnni = at::BLOCK2D_VNNI;
    if op == LscOp::LoadBlock2d && named(r, "Block2dVnniTransform", vnni, &states) == 1 {
        s.controls.push('v');
    }
}

fn fence(r: &mut DescReader<'_>, s: &mut LscSyntax, line: &mut String) {
    fence_fields(r, &mut s.controls, line);
}

/// Reads the operation and the scope of a fence.
fn fence_fields(r: &mut DescReader<'_>, controls: &mut String, line: &mut String) {
    let (op, scope) = (bits(r, at::FENCE_OP), bits(r, at::FENCE_SCOPE));
    let does = match LscFenceOp::ALL.get(op as usize) {
        Some(LscFenceOp::None) => "no op",
        Some(LscFenceOp::Evict) => "evict (dirty lines invalidated and evicted)",
        Some(LscFenceOp::Invalidate) => "invalidate (all clean lines, but do not evict)",
        Some(LscFenceOp::Discard) => "discard (dirty and clean lines invalidated without eviction)",
        Some(LscFenceOp::Clean) => "clean (dirty lines written out, but kept in clean state)",
        Some(LscFenceOp::FlushL3) => "flush L3 only",
        // Intel's assembler also reports the second number for no operation as invalid.
        Some(LscFenceOp::Type6) | None => {
            error(r, at::FENCE_OP, "no such operation");
            "invalid flush type"
        }
    };
    let whom = match LscScope::ALL.get(scope as usize) {
        Some(LscScope::Group) => "thread group",
        Some(LscScope::Local) => "slice",
        Some(LscScope::Tile) => "tile",
        Some(LscScope::Gpu) => "gpu",
        Some(LscScope::Gpus) => "all gpus",
        Some(LscScope::SysRel) => "system release",
        Some(LscScope::SysAcq) => "system acquire",
        None => {
            error(r, at::FENCE_SCOPE, "no such scope");
            "invalid flush scope"
        }
    };
    field(r, "FlushOp", at::FENCE_OP, |_| does.to_owned());
    field(r, "FlushScope", at::FENCE_SCOPE, |_| whom.to_owned());
    put(line, format_args!(" {does} scoped to {whom}"));
    let op = LscFenceOp::ALL.get(op as usize).map_or("", |o| o.name());
    let scope = LscScope::ALL.get(scope as usize).map_or("", |o| o.name());
    put(controls, format_args!(".{op}.{scope}"));
}

fn ccs(r: &mut DescReader<'_>, s: &mut LscSyntax, line: &mut String) {
    let number = bits(r, at::CCS_OP);
    let op = CcsOp::ALL.get(number as usize).copied();
    let does = match op {
        Some(CcsOp::PageClear) => " page clear (64k)",
        Some(CcsOp::SectorClear) => " sector clear (2-cachelines)",
        Some(CcsOp::PageUncompress) => " page uncompress (64k)",
        Some(CcsOp::SectorUncompress) => " sector uncompress (2-cachelines)",
        None => {
            error(r, at::CCS_OP, "no such operation");
            "invalid ccs sop"
        }
    };
    field(r, "CcsOp", at::CCS_OP, |_| does.trim().to_owned());
    line.push_str(does);
    let kind = surface(r, s);
    let Some(op) = op else { return };
    s.mnemonic = op.name().to_owned();
    if op.is_page() {
        if kind != 0 {
            error(r, at::SURFACE, "a page has a flat address");
        }
        if address(r) != Some(LscAddr::A64) {
            error(r, at::ADDR, "a page has a 64-bit address");
        }
    } else {
        s.controls.push_str(".a32");
    }
}
