//! Untyped atomics.

use super::expr::{Cond, Expr, addresses, either, row};
use super::field::{
    Codec, Entry, Field, Meaning, Missing, arg, atomic_simd, fails, field, header_of, returns,
    small, surface_of,
};
use super::row::{Form, Message, Payload, Port};
use crate::generation::{ALL, GEN7P5, GEN8, Gens, PRE_XE, XE, XE_HP_ON};

/// Generations with 64-bit addresses.
const GEN8_ON: Gens = ALL.without(GEN7P5);
/// Generations with float atomics.
const GEN9_ON: Gens = GEN8_ON.without(GEN8);

/// Integer operations (MDC_AOP) in the words of Intel's assembler, by number.
const INT_OPS: [&str; 16] = [
    "64b integer compare and swap",
    "logical AND",
    "logical OR",
    "logical XOR",
    "store",
    "integer increment",
    "integer decrement",
    "integer add",
    "integer subtract",
    "commuted integer subtract",
    "signed-integer max",
    "signed-integer min",
    "unsigned-integer max",
    "unsigned-integer min",
    "integer compare and swap",
    "integer pre-decrement (returns pre-decrement value)",
];

/// Float operations (MDC_FOP) in the words of Intel's assembler, by number.
const FLOAT_OPS: [&str; 8] = [
    "",
    "max",
    "min",
    "fp-compare and swap ",
    "add",
    "subtract",
    "64b add",
    "64b subtract",
];

/// Operation of an integer atomic.
pub(super) fn int_op() -> Field {
    arg("op", 8, 4, Codec::Enum("AtomicOp"))
        .named("AtomicIntegerOp", &INT_OPS)
        .words("op", &INT_OPS)
}

/// Size of the operations of a float atomic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Float {
    Half,
    Single,
    Double,
}

/// Operation of a float atomic. Add and subtract came with Xe-HP, for 32 bits and, under other
/// numbers, for 64.
fn float_op(size: Float) -> Field {
    let entry = |bits, op, gens| Entry {
        bits,
        values: vec![op],
        gens,
    };
    let (adds, missing) = match size {
        Float::Half => (4, "format!(\"{} of 16 bits\", op.name())"),
        Float::Single => (4, "format!(\"{} of 32 bits\", op.name())"),
        Float::Double => (6, "format!(\"{} of 64 bits\", op.name())"),
    };
    let mut entries = vec![];
    if size != Float::Double {
        entries.extend([
            entry(1, "FloatAtomicOp::FMax", ALL),
            entry(2, "FloatAtomicOp::FMin", ALL),
            entry(3, "FloatAtomicOp::FCmpWr", ALL),
        ]);
    }
    entries.extend([
        entry(adds, "FloatAtomicOp::FAdd", XE_HP_ON),
        entry(adds + 1, "FloatAtomicOp::FSub", XE_HP_ON),
    ]);
    let codec = Codec::Table {
        entries,
        missing: Missing::Lacks(missing),
        choose: size == Float::Double,
    };
    let bits = if size == Float::Half { 16 } else { 32 };
    // Listings show three of the four bits.
    let names = [FLOAT_OPS, FLOAT_OPS].concat();
    let words: Vec<String> = FLOAT_OPS
        .iter()
        .enumerate()
        .cycle()
        .take(16)
        .map(|(n, verb)| format!("{verb} ({}b)", if n > 5 { 64 } else { bits }))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    arg("op", 8, 4, codec)
        .of("float atomic")
        .label("operation")
        .named("AtomicOp:MDC_AOP", &names)
        .lower(3)
        .words("op", &words)
}

fn returns_words() -> Field {
    returns().words("returns", &["", " with return"])
}

fn atomic() -> Message {
    let grf_row = Expr::AtomicChannels
        .times(either(Cond::Flag("qword"), 8, 4))
        .grfs();
    let payload = Payload {
        address: Expr::AtomicChannels.times(either(Cond::A64, 8, 4)).grfs(),
        response: Expr::Flag("returns").times(grf_row.clone()).times(either(
            Cond::Is("op", "AtomicOp::CmpWr2W"),
            2,
            1,
        )),
        ..Payload::atomic(Expr::Num(0), grf_row)
    };
    Message::new("Atomic", "Integer atomic on a dword, or (A64) on a qword.")
        .arg("op", "AtomicOp", "Operation.")
        .addr()
        .arg(
            "qword",
            "bool",
            "True for qwords, false for dwords (A64 only).",
        )
        .returns()
        .arg("simd", "Simd", "Number of channels; 8 only with A64.")
        .text("atomic {op} {addr} simd{simd} d{qword?64|32}{returns? returning}")
        .payload(payload)
        .forms(undefined())
        .form(
            Form::of(Port::DataCache1, 0x02)
                .value(
                    "atomic",
                    "Atomic { op, addr: AddrModel::A32(surface), qword: false, returns, simd }",
                )
                .fields([
                    atomic_simd(12, true),
                    int_op(),
                    returns(),
                    surface_of(false),
                    header_of(false),
                ])
                .says(
                    "MessageType",
                    "untyped atomic int32",
                    "untyped atomic int32 {op}",
                ),
        )
        .form(
            Form::of(Port::DataCache1, 0x12)
                .on(GEN8_ON)
                .value(
                    "A64 atomic",
                    "Atomic { op, addr: AddrModel::A64(surface), qword, returns, simd }",
                )
                .fields([
                    small(),
                    arg("qword", 12, 1, Codec::Flag)
                        .named("DataWidth", &["32b", "64b"])
                        .words("qword", &["32", "64"]),
                    int_op(),
                    returns(),
                    surface_of(true),
                    header_of(true),
                ])
                .says(
                    "MessageType",
                    "untyped a64 atomic int",
                    "untyped a64 atomic int{qword} {op}",
                ),
        )
}

fn float_atomic() -> Message {
    Message::new("FloatAtomic", "Float atomic on a single-precision float.")
        .arg("op", "FloatAtomicOp", "Operation.")
        .addr()
        .returns()
        .arg("simd", "Simd", "Number of channels; 8 only with A64.")
        .text("atomic {op} {addr} simd{simd}{returns? returning}")
        .payload(Payload::atomic(addresses(), row(Expr::Num(4))))
        .form(
            Form::of(Port::DataCache1, 0x1b)
                .on(GEN9_ON)
                .value(
                    "float atomic",
                    "FloatAtomic { op, addr: AddrModel::A32(surface), returns, simd }",
                )
                .fields([
                    float_op(Float::Single),
                    returns_words(),
                    atomic_simd(12, true),
                    surface_of(false),
                    header_of(false),
                ])
                .says("MessageType", "float atomic", "float atomic {op}{returns}"),
        )
        .form(
            Form::of(Port::DataCache1, 0x1d)
                .on(GEN9_ON)
                .value(
                    "A64 float atomic",
                    "FloatAtomic { op, addr: AddrModel::A64(surface), returns, simd }",
                )
                .fields([
                    float_op(Float::Single),
                    returns_words(),
                    one_mode(),
                    surface_of(true).turn(1),
                    header_of(true),
                ])
                .says(
                    "MessageType",
                    "a64 float atomic",
                    "a64 float atomic {op}{returns}",
                ),
        )
}

/// Number of channels of a float atomic with 64-bit addresses, whose bit is 0.
fn one_mode() -> Field {
    arg("simd", 12, 1, Codec::Small)
        .label("SIMD mode")
        .turn(-1)
        .atomic_simd_lines(false)
}

/// Float atomics that are only described: the operation has no meaning, or (before Xe) there are
/// four channels of two vertices.
fn undefined() -> Vec<Form> {
    let titles = [
        (0x1b, "float atomic", ALL, false),
        (0x1c, "untyped half-float atomic", XE, false),
        (0x1d, "a64 float atomic", ALL, true),
        (0x1e, "a64 untyped half-float atomic", XE, true),
    ];
    let mut forms: Vec<Form> = titles
        .into_iter()
        .map(|(number, title, gens, a64)| {
            let op = field(8, 3).select(0);
            Form::of(Port::DataCache1, number)
                .fields([
                    op.listed("AtomicOp:MDC_AOP", Meaning::Plain)
                        .error(&[0], "no such float operation"),
                    returns(),
                    header_of(a64),
                ])
                .says("MessageType", title, "")
                .described_on(gens)
        })
        .collect();
    forms.extend([0x03, 0x13, 0x1c, 0x1e].map(|number| {
        Form::of(Port::DataCache1, number)
            .described("")
            .described_on(PRE_XE)
            .fields([fails(14, 5, "SIMD4x2 atomics are not decoded further")])
    }));
    forms
}

fn half_atomic() -> Message {
    Message::new("HalfAtomic", "Integer atomic on a word (Xe-LP to Xe-HPG).")
        .arg("op", "AtomicOp", "Operation.")
        .addr()
        .returns()
        .simd()
        .text("atomic {op} {addr} simd{simd} d16{returns? returning}")
        .payload(Payload::atomic(addresses(), row(Expr::Num(4))))
        .form(
            Form::of(Port::DataCache1, 0x03)
                .on(XE)
                .value(
                    "16-bit atomic",
                    "HalfAtomic { op, addr: AddrModel::A32(surface), returns, simd }",
                )
                .fields([
                    atomic_simd(12, true),
                    int_op(),
                    returns(),
                    surface_of(false),
                    header_of(false),
                ])
                .says(
                    "MessageType",
                    "untyped atomic int16",
                    "untyped atomic int16 {op}",
                ),
        )
        .form(
            Form::of(Port::DataCache1, 0x13)
                .on(XE)
                .value(
                    "16-bit atomic",
                    "HalfAtomic { op, addr: AddrModel::A64(surface), returns, simd }",
                )
                .fields([
                    // 0 means the smaller number of channels, as in messages that Intel's compiler
                    // sends. Its assembler says the opposite.
                    arg("simd", 12, 1, Codec::Simd(false)).atomic_simd_lines(true),
                    int_op(),
                    returns(),
                    surface_of(true),
                    header_of(true),
                ])
                .says(
                    "MessageType",
                    "untyped a64 atomic int16",
                    "untyped a64 atomic int16 {op}",
                ),
        )
}

fn sized_float_atomic() -> Message {
    let double = |number, value, mode: Field, a64| {
        Form::of(Port::DataCache1, number)
            .on(GEN9_ON)
            .value(
                if a64 {
                    "A64 float atomic"
                } else {
                    "float atomic"
                },
                value,
            )
            .lacks("float atomic")
            .fields([
                float_op(Float::Double),
                returns(),
                mode,
                surface_of(a64).turn(1),
            ])
    };
    let half = |number, value, title, summary, a64: bool| {
        Form::of(Port::DataCache1, number)
            .on(XE)
            .value("half float atomic", value)
            .lacks("float atomic")
            .fields([
                float_op(Float::Half),
                returns_words(),
                atomic_simd(12, !a64),
                surface_of(a64),
                header_of(a64),
            ])
            .says("MessageType", title, summary)
    };
    // Xe-HP numbers the doubles here too, but they are no halves.
    let doubles = |number, a64| {
        Form::of(Port::DataCache1, number)
            .on(XE_HP_ON)
            .reserved("half float atomic")
            .fields([
                Field {
                    of: None,
                    ..float_op(Float::Double)
                },
                surface_of(a64),
            ])
    };
    Message::new(
        "SizedFloatAtomic",
        "Float atomic on a half-precision float, or on a double-precision one (add and subtract only).",
    )
    .arg("op", "FloatAtomicOp", "Operation.")
    .arg("bits", "u8", "Size of the float in bits, 16 or 64.")
    .addr()
    .returns()
    .arg(
        "simd",
        "Simd",
        "Number of channels; 8 only for a double-precision float with A64.",
    )
    .text("atomic {op} {addr} simd{simd} f{bits}{returns? returning}")
    .payload(Payload::atomic(
        addresses(),
        row(either(Cond::Is("bits", "64"), 8, 4)),
    ))
    .form(double(
        0x1b,
        "SizedFloatAtomic { op, bits: 64, addr: AddrModel::A32(surface), returns, simd }",
        atomic_simd(12, true),
        false,
    ))
    .form(double(
        0x1d,
        "SizedFloatAtomic { op, bits: 64, addr: AddrModel::A64(surface), returns, simd }",
        one_mode(),
        true,
    ))
    .forms([doubles(0x1c, false), doubles(0x1e, true)])
    .form(half(
        0x1c,
        "SizedFloatAtomic { op, bits: 16, addr: AddrModel::A32(surface), returns, simd }",
        "untyped half-float atomic",
        "untyped half-float atomic {op}{returns}",
        false,
    ))
    .form(half(
        0x1e,
        "SizedFloatAtomic { op, bits: 16, addr: AddrModel::A64(surface), returns, simd }",
        "a64 untyped half-float atomic",
        "a64 untyped half-float atomic {op}{returns}",
        true,
    ))
}

pub(super) fn rows() -> Vec<Message> {
    // Doubles come before the floats of their type number.
    vec![
        atomic(),
        half_atomic(),
        sized_float_atomic(),
        float_atomic(),
    ]
}
