//! Messages of the load/store cache. The summary is the message in the assembler's load/store
//! syntax if the descriptor is valid, and only its operation otherwise.
//!
//! Fields, their bits, words and checks are in the rows. What is written here no row can say,
//! because it depends on more than a field:
//!
//! - the summary, whose text depends on whether there was an error;
//! - the surface, whose index or offset may be in a register;
//! - caching, whose policies have other names for loads than for stores, and none for SLM;
//! - elements, where the operation decides which fields there are;
//! - checks of two fields, and coordinates, which only one port has.

use super::rows::{DescStep, lsc_fields as at, step};
use super::{DescReader, ExDesc};
use crate::message::lsc::{LscAddr, LscCaching, LscKind, LscRow};
use crate::message::op::{CcsOp, LscData, LscFenceOp, LscOp, LscScope, OPS, VECTORS};
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

/// Lists and checks a field, and returns its value.
fn field(r: &mut DescReader<'_>, of: &DescStep) -> u32 {
    step(r, of);
    r.bits(of.at.0, of.at.1)
}

fn error(r: &mut DescReader<'_>, of: &DescStep, text: &str) {
    r.error(of.at.0, of.at.1, text);
}

pub(super) fn read(r: &mut DescReader<'_>) {
    let Some(row) = OPS.get(field(r, &at::OPCODE) as usize) else {
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
    match row.op {
        LscOp::Ccs => ccs(r, &mut s, &mut line),
        LscOp::Fence => fence(r, &mut s, &mut line),
        LscOp::ReadState => {
            if surface(r, &mut s) == 0 {
                error(r, &at::ADDR_TYPE, "takes a surface");
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
    let kind = field(r, &at::ADDR_TYPE);
    let name = at::ADDR_TYPE.meaning.of(kind);
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
    LscAddr::from_bits(field(r, &at::ADDR_SIZE))
}

fn caching(r: &mut DescReader<'_>, s: &mut LscSyntax, kind: LscKind) {
    let (lo, len) = at::CACHING.at;
    let name = LscCaching::from_bits(kind, r.bits(lo, len)).to_string();
    s.controls.push_str(&name);
    r.field("Caching", lo, len, |_| name);
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
    let bits = field(r, &at::DATA_SIZE);
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
    let bits = field(r, &at::COMP_EN);
    let names = at::COMP_EN.meaning.of(bits);
    put(&mut s.controls, format_args!(".{names}"));
}

fn elements(r: &mut DescReader<'_>, s: &mut LscSyntax, op: LscOp, block: bool) {
    let (lo, len) = at::VEC_SIZE.at;
    let n = VECTORS[(r.bits(lo, len) & 7) as usize];
    let transposed = field(r, &at::DATA_ORDER) == 1;
    if !block {
        field(r, &at::VEC_SIZE);
    }
    if n > 1 || (transposed && !block) {
        put(&mut s.controls, format_args!("x{n}"));
    }
    if transposed {
        s.controls.push('t');
        if op == LscOp::LoadStatus {
            error(r, &at::DATA_ORDER, "a status is not transposed");
        }
    }
    if op == LscOp::LoadBlock2d && field(r, &at::BLOCK2D_VNNI_TRANSFORM) == 1 {
        s.controls.push('v');
    }
}

fn fence(r: &mut DescReader<'_>, s: &mut LscSyntax, line: &mut String) {
    let op = field(r, &at::FLUSH_OP);
    let scope = field(r, &at::FLUSH_SCOPE);
    let does = at::FLUSH_OP.meaning.of(op);
    let whom = at::FLUSH_SCOPE.meaning.of(scope);
    put(line, format_args!(" {does} scoped to {whom}"));
    let op = LscFenceOp::ALL.get(op as usize).map_or("", |o| o.name());
    let scope = LscScope::ALL.get(scope as usize).map_or("", |o| o.name());
    put(&mut s.controls, format_args!(".{op}.{scope}"));
}

fn ccs(r: &mut DescReader<'_>, s: &mut LscSyntax, line: &mut String) {
    let number = field(r, &at::CCS_OP);
    let op = CcsOp::ALL.get(number as usize).copied();
    let does = at::CCS_OP.meaning.of(number);
    // Intel's assembler leaves out the space before an invalid one.
    let space = if op.is_some() { " " } else { "" };
    put(line, format_args!("{space}{does}"));
    let kind = surface(r, s);
    let Some(op) = op else { return };
    s.mnemonic = op.name().to_owned();
    if op.is_page() {
        if kind != 0 {
            error(r, &at::ADDR_TYPE, "a page has a flat address");
        }
        if address(r) != Some(LscAddr::A64) {
            error(r, &at::ADDR_SIZE, "a page has a 64-bit address");
        }
    } else {
        s.controls.push_str(".a32");
    }
}
