//! Block messages: consecutive bytes for the whole thread.

use super::expr::{Cond, Expr, either};
use super::field::{
    Codec, Entry, Field, Meaning, Missing, arg, field, header_required, invalidate, stateless,
    surface,
};
use super::row::{Form, LSC, Message, Payload, Port};
use crate::generation::{ALL, GEN7P5, GEN8, GEN9, Gens};

/// Generations with 64-bit addresses.
const GEN8_ON: Gens = ALL.without(GEN7P5);
/// Generations whose scratch messages select the unit of the execution mask.
const SCRATCH_MODES: Gens = GEN7P5.and(GEN8).and(GEN9);

fn entry(bits: u32, values: &[&'static str]) -> Entry {
    Entry {
        bits,
        values: values.to_vec(),
        gens: ALL,
    }
}

/// Lines of a number of owords.
fn owords(f: Field, name: &'static str) -> Field {
    f.named(name, &["1 low", "1 high", "2", "4", "8", "16"])
        .error_on(ALL.without(LSC), &[5], (14, 5), "not on this platform")
        .words(
            "count",
            &[" x1", " x1H", " x2", " x4", " x8", " x16", " x0", " x0"],
        )
        .named_in_errors("block size", "count")
}

/// Number of aligned owords, one of them in either half of its GRF.
fn aligned(name: &'static str) -> Field {
    let codec = Codec::Table {
        entries: vec![
            entry(0, &["BlockUnit::Oword", "1"]),
            entry(1, &["BlockUnit::OwordHigh", "1"]),
            entry(2, &["BlockUnit::Oword", "2"]),
            entry(3, &["BlockUnit::Oword", "4"]),
            entry(4, &["BlockUnit::Oword", "8"]),
        ],
        missing: Missing::Range("count"),
        choose: false,
    };
    let f = Field {
        args: vec!["unit", "count"],
        codec,
        ..field(8, 3)
    };
    owords(f, name)
}

/// Number of owords at any dword.
fn unaligned(name: &'static str) -> Field {
    let entries = vec![
        entry(0, &["1"]),
        entry(2, &["2"]),
        entry(3, &["4"]),
        entry(4, &["8"]),
    ];
    let codec = Codec::Table {
        entries,
        missing: Missing::Range("count"),
        choose: false,
    };
    owords(arg("count", 8, 3, codec), name)
}

/// Number of 32-byte blocks, by its logarithm.
fn hwords(name: &'static str, lo: u8, len: u8) -> Field {
    let counts = 0..1u32 << len;
    let names: Vec<String> = counts
        .clone()
        .map(|v| format!("{} blocks of 32 bytes", 1u32 << v))
        .collect();
    let words: Vec<String> = counts.map(|v| format!(" x{}", 1u32 << v)).collect();
    let mut f = arg("count", lo, len, Codec::Log2(3)).named_in_errors("block size", "count");
    f = f.listed(name, Meaning::Names(names));
    f.words = Some(("count", words));
    f
}

fn subtype(lo: u8, name: &'static str, names: &[&str]) -> Field {
    field(lo, 1).named(name, names)
}

/// Units of a block with 64-bit addresses, in the words of Intel's assembler, which swaps them.
fn unit(bits: u32) -> Field {
    field(11, 2).select(bits).named(
        "SubType",
        &["oword unaligned", "oword", "dual oword", "hword unaligned"],
    )
}

const OWORDS: &str = "DataElements:MDC_DB_OW";
const A64_OWORDS: &str = "DataElements:MDC_A64_DB_OW";
const HWORD_SUBTYPE: (&str, [&str; 2]) = ("BlockMessageSubtype", ["oword", "hword"]);

/// Forms with 32-bit addresses.
fn a32() -> Vec<Form> {
    let d0 = |number| Form::of(Port::DataCache0, number);
    let ro = |number| Form::of(Port::ReadOnly, number);
    let (name, names) = HWORD_SUBTYPE;
    let oword = |number, value, text: &'static str, summary| {
        d0(number)
            .value("block", value)
            .lacks("oword block")
            .fields([aligned(OWORDS), surface(), header_required()])
            .says("MessageType", text, summary)
    };
    vec![
        oword(
            0x00,
            "Block { dir: Dir::Read, addr: AddrModel::A32(surface), unit, count, cache: Cache::Data }",
            "oword block read",
            "oword block read{count}",
        ),
        oword(
            0x08,
            "Block { dir: Dir::Write, addr: AddrModel::A32(surface), unit, count, cache: Cache::Data }",
            "oword block write",
            "oword block write{count}",
        ),
        // The hword block read is a subtype of the unaligned oword block.
        d0(0x01)
            .on(LSC)
            .value(
                "block",
                "Block { dir: Dir::Read, addr: AddrModel::A32(surface), unit: BlockUnit::Hword, count, cache: Cache::Data }",
            )
            .lacks("hword block")
            .fields([
                subtype(13, name, &names).select(1),
                hwords("DataElements:MDC_DB_HW", 8, 3),
                surface(),
                header_required(),
            ])
            .says(
                "MessageType",
                "hword aligned block read",
                "hword aligned block read{count}",
            )
            .described_on(LSC),
        d0(0x01)
            .value(
                "block",
                "Block { dir: Dir::Read, addr: AddrModel::A32(surface), unit: BlockUnit::OwordUnaligned, count, cache: Cache::Data }",
            )
            .lacks("oword block")
            .fields([
                subtype(13, name, &names).on(LSC),
                unaligned(OWORDS),
                surface(),
                header_required(),
            ])
            .says(
                "MessageType",
                "oword aligned block read",
                "oword aligned block read{count}",
            ),
        // Intel's assembler counts the hwords as owords.
        d0(0x09)
            .described("hword aligned block write{count}")
            .fields([
                aligned(OWORDS).not_encoded(),
                surface(),
                header_required(),
            ])
            .says(
                "MessageType",
                "hword aligned block write",
                "hword aligned block write{count}",
            ),
        d0(0x09)
            .on(LSC)
            .value(
                "block",
                "Block { dir: Dir::Write, addr: AddrModel::A32(surface), unit: BlockUnit::Hword, count, cache: Cache::Data }",
            )
            .lacks("hword block")
            .fields([hwords("DataElements:MDC_DB_HW", 8, 3), surface()]),
        dual(0x02, "oword dual block read"),
        dual(0x0a, "oword dual block write"),
        ro(0x00)
            .value(
                "block",
                "Block { dir: Dir::Read, addr: AddrModel::A32(surface), unit, count, cache: Cache::Constant }",
            )
            .lacks("oword block")
            .fields([aligned(OWORDS), surface(), invalidate(), header_required()])
            .says(
                "MessageType",
                "constant oword block read",
                "constant oword block read{count}",
            ),
        ro(0x01)
            .value(
                "block",
                "Block { dir: Dir::Read, addr: AddrModel::A32(surface), unit: BlockUnit::OwordUnaligned, count, cache: Cache::Constant }",
            )
            .lacks("oword block")
            .fields([unaligned(OWORDS), surface(), invalidate(), header_required()])
            .says(
                "MessageType",
                "constant aligned oword block read",
                "constant aligned oword block read{count}",
            ),
    ]
}

fn dual(number: u8, text: &'static str) -> Form {
    let error = super::field::fails(14, 5, "dual blocks are not decoded further");
    Form::of(Port::DataCache0, number)
        .fields([header_required(), error])
        .says("MessageType", text, text)
}

/// Texts of the forms with 64-bit addresses: title, and summaries by unit.
struct A64Block {
    number: u8,
    title: &'static str,
    values: [&'static str; 3],
    texts: [&'static str; 4],
}

fn a64(b: &A64Block) -> Vec<Form> {
    let [oword, unaligned_oword, hword] = b.values;
    let form = |n: u32, text| {
        Form::of(Port::DataCache1, b.number)
            .on(GEN8_ON)
            .described(text)
            .fields([unit(n).label("block subtype")])
    };
    let of = |f: Form, count: Field, value| {
        f.value("block", value).lacks("A64 block").fields([
            count,
            stateless().turn(1),
            invalidate(),
            header_required(),
        ])
    };
    let owords = |f: Field| f.not_encoded();
    let [t0, t1, t2, t3] = b.texts;
    let dual = Form::of(Port::DataCache1, b.number)
        .on(GEN8_ON)
        .reserved("block")
        .fields([
            unit(2)
                .label("block subtype")
                .error(&[2], "dual blocks are not decoded further"),
            owords(aligned(A64_OWORDS)),
            stateless().not_encoded(),
            invalidate(),
            header_required(),
        ])
        .described(t2);
    vec![
        of(form(0, t0), aligned(A64_OWORDS), oword),
        of(form(1, t1), unaligned(A64_OWORDS), unaligned_oword),
        of(
            form(3, t3),
            hwords("DataElements:MDC_A64_DB_HW", 8, 3),
            hword,
        ),
        dual,
    ]
    .into_iter()
    .map(|f| {
        let text = f.text;
        f.says("MessageType", b.title, text)
    })
    .collect()
}

fn block() -> Message {
    let bytes = either(Cond::Is("unit", "BlockUnit::Hword"), 32, 16);
    Message::new(
        "Block",
        "Block access: consecutive bytes to consecutive registers. The address is in the header.",
    )
    .dir()
    .addr()
    .arg("unit", "BlockUnit", "Unit of the block.")
    .arg("count", "u8", "Number of units: 1, 2, 4 or 8 (1 for `OwordHigh`).")
    .arg("cache", "Cache", "Data port that carries the message.")
    .text("{cache=Cache::Constant?constant }{unit} block {dir} {addr} x{count}")
    .payload(Payload::moved(Expr::Num(0), Expr::Arg("count").times(bytes).grfs()).headed())
    .forms(a32())
    .forms(a64(&A64Block {
        number: 0x14,
        title: "a64 block read",
        values: [
            "Block { dir: Dir::Read, addr: AddrModel::A64(surface), unit, count, cache: Cache::Data }",
            "Block { dir: Dir::Read, addr: AddrModel::A64(surface), unit: BlockUnit::OwordUnaligned, count, cache: Cache::Data }",
            "Block { dir: Dir::Read, addr: AddrModel::A64(surface), unit: BlockUnit::Hword, count, cache: Cache::Data }",
        ],
        texts: [
            "a64 unaligned oword block read{count}",
            "a64 aligned oword block read{count}",
            "a64 unaligned oword block read{count}",
            "a64 unaligned hword block read{count}",
        ],
    }))
    .forms(a64(&A64Block {
        number: 0x15,
        title: "a64 block write",
        values: [
            "Block { dir: Dir::Write, addr: AddrModel::A64(surface), unit, count, cache: Cache::Data }",
            "Block { dir: Dir::Write, addr: AddrModel::A64(surface), unit: BlockUnit::OwordUnaligned, count, cache: Cache::Data }",
            "Block { dir: Dir::Write, addr: AddrModel::A64(surface), unit: BlockUnit::Hword, count, cache: Cache::Data }",
        ],
        texts: [
            "a64 unaligned oword block write{count}",
            "a64 aligned oword block write{count}",
            "a64 unaligned oword block write{count}",
            "a64 unaligned hword block write{count}",
        ],
    }))
}

fn scratch() -> Message {
    let form = |write: u32, value, text: &'static str, summary| {
        Form::other(Port::DataCache0)
            .value("scratch block", value)
            .fields([
                field(18, 1).select(1),
                field(17, 1).select(write),
                hwords("DataElements:MDC_DB_HW", 12, 2),
                arg("offset", 0, 12, Codec::Uint("u16"))
                    .label("offset")
                    .listed("HWordOffset", Meaning::Number("", " hwords from the base")),
                arg("dword_mode", 16, 1, Codec::Flag)
                    .named("ChannelMode", &["oword", "dword"])
                    .on(SCRATCH_MODES),
                header_required(),
            ])
            .says("MessageType", text, summary)
    };
    Message::new(
        "Scratch",
        "Scratch block access: whole GRFs of the thread's own scratch space, based at `r0.5` of the header.",
    )
    .dir()
    .arg("count", "u8", "Number of hwords of 32 bytes: 1, 2, 4 or 8.")
    .arg("offset", "u16", "Offset in the scratch space in hwords, 0 to 4095.")
    .arg(
        "dword_mode",
        "bool",
        "Channel mode: true if a bit of the execution mask stands for a dword, false for an oword.",
    )
    .text("scratch {dir} x{count} at {offset}")
    .payload(
        Payload::moved(
            Expr::Num(0),
            Expr::Arg("count").times(Expr::Num(32)).grfs(),
        )
        .headed(),
    )
    .form(form(
        0,
        "Scratch { dir: Dir::Read, count, offset, dword_mode }",
        "hword scratch block read",
        "hword scratch block read{count}",
    ))
    .form(form(
        1,
        "Scratch { dir: Dir::Write, count, offset, dword_mode }",
        "hword scratch block write",
        "hword scratch block write{count}",
    ))
}

pub(super) fn rows() -> Vec<Message> {
    vec![block(), scratch()]
}
