//! Writer of the encodings of Xe, as an entry of a platform's tables.

use super::Writer;
use super::isa::type_codes;
use crate::generation::Generation;
use crate::layout::xe::{self, Swsb, XeFacts};

/// Names of the variants of `SyncFn`, in order.
const SYNCS: [&str; 6] = ["Nop", "Allrd", "Allwr", "Fence", "Bar", "Host"];

pub(super) fn tables(w: &mut Writer, g: Generation) {
    let Some(f) = xe::facts(g) else {
        w.line("xe: None,");
        return;
    };
    w.line("xe: Some(XeTables {");
    for (name, codes) in [
        ("dpas_acc_types", &f.dpas_acc_types),
        ("dpas_types", &f.dpas_types),
    ] {
        w.line(format!("{name}: {},", type_codes(codes)));
    }
    swsb(w, &f.swsb);
    syncs(w, &f);
    for (name, value) in [
        ("depths", format!("{:?}", f.depths)),
        ("whole_preds", f.whole_preds.to_string()),
        ("chan_shift", f.chan_shift.to_string()),
        ("sub_shift", f.sub_shift.to_string()),
        ("ternary_dst_shift", f.ternary_dst_shift.to_string()),
        ("vxh", f.vxh.to_string()),
        ("sfids", format!("{:#06x}", f.sfids)),
        ("own_src1_len", f.own_src1_len.to_string()),
        ("arfs", format!("{:?}", f.arfs)),
    ] {
        w.line(format!("{name}: {value},"));
    }
    w.line("}),");
}

fn swsb(w: &mut Writer, s: &Swsb) {
    let pipes = s
        .pipes
        .map(|p| p.map_or("NO_BASE".into(), |b| format!("{b:#x}")));
    w.line("swsb: SwsbTable {");
    w.line(format!("pipes: [{}],", pipes.join(", ")));
    w.line(format!("tokens: {:?},", s.tokens));
    w.line(format!("token_bits: {},", s.token_bits));
    w.line("pairs: [");
    for rules in &s.pairs {
        let rules: Vec<String> = rules
            .iter()
            .map(|r| format!("(Pipe::{}, TokenKind::{}, {:#x})", r.pipe, r.kind, r.base))
            .collect();
        w.line(format!("&[{}],", rules.join(", ")));
    }
    w.line("],");
    w.line(format!("no_acc: {:?},", s.no_acc));
    w.line("},");
}

fn syncs(w: &mut Writer, f: &XeFacts) {
    let forth = SYNCS.map(|name| {
        let found = f.syncs.iter().find(|(n, ..)| *n == name);
        found.map_or("None".into(), |(_, code, imm)| {
            format!("Some(({code}, {imm}))")
        })
    });
    let back: Vec<String> = (0..16)
        .map(|n| {
            let found = f.syncs.iter().find(|(_, c, _)| *c == n);
            found.map_or("None".into(), |(name, ..)| format!("Some(SyncFn::{name})"))
        })
        .collect();
    w.line(format!("sync_codes: [{}],", forth.join(", ")));
    w.line(format!("syncs: [{}],", back.join(", ")));
    let flag = f
        .sync_flag
        .map_or("None".into(), |name| format!("Some(SyncFn::{name})"));
    w.line(format!("sync_flag: {flag},"));
}
