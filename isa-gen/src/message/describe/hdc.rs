//! Messages of the data cache ports 0 and 1 and of the read-only port.

use super::DescReader;
use crate::sfid::Sfid;

/// Layout of a message type of [`ROWS`]. A `bool` in a variant is true for writes.
#[derive(Clone, Copy)]
enum MessageLayout {
    OwordBlock,
    /// Aligned block read of data cache 0, also of hwords on platforms with a subtype bit.
    AlignedBlock,
    DualBlock,
    ByteScattered,
    DwordScattered,
    QwordScattered,
    Fence,
    ConstBlock,
    ConstScattered,
    Untyped {
        a64: bool,
    },
    A64Scattered(bool),
    A64Block(bool),
    FloatAtomic {
        a64: bool,
        half: bool,
    },
    IntAtomic,
    A64IntAtomic,
    HalfIntAtomic {
        a64: bool,
    },
    Media(bool),
    Typed {
        status: bool,
    },
    TypedAtomic {
        bits: u32,
    },
    CounterAtomic,
    CcsSector {
        typed: bool,
    },
    CcsPage,
    UncompressedUntyped {
        a64: bool,
    },
    UncompressedTyped,
}

struct MessageRow {
    sfid: Sfid,
    number: u8,
    shape: MessageLayout,
    text: &'static str,
}

const fn row(sfid: Sfid, number: u8, shape: MessageLayout, text: &'static str) -> MessageRow {
    MessageRow {
        sfid,
        number,
        shape,
        text,
    }
}

/// Message types (bits 18:14) by port. MSD0*, MSD1* and MSDCC* of the PRMs.
#[rustfmt::skip]
static ROWS: [MessageRow; 44] = {
    use MessageLayout::*;
    const D0: Sfid = Sfid::DATA_CACHE_0;
    const D1: Sfid = Sfid::DATA_CACHE_1;
    const RO: Sfid = Sfid::CONSTANT_CACHE;
    [
        row(D0, 0x00, OwordBlock, "oword block read"),
        row(D0, 0x01, AlignedBlock, "aligned block read"),
        row(D0, 0x02, DualBlock, "oword dual block read"),
        row(D0, 0x03, DwordScattered, "dword gathering read"),
        row(D0, 0x04, ByteScattered, "byte gathering read"),
        row(D0, 0x05, QwordScattered, "qword gathering read"),
        row(D0, 0x07, Fence, "fence"),
        row(D0, 0x08, OwordBlock, "oword block write"),
        row(D0, 0x09, OwordBlock, "hword aligned block write"),
        row(D0, 0x0a, DualBlock, "oword dual block write"),
        row(D0, 0x0b, DwordScattered, "dword scattering write"),
        row(D0, 0x0c, ByteScattered, "byte scattering write"),
        row(D0, 0x0d, QwordScattered, "qword gathering read"),
        row(D1, 0x01, Untyped { a64: false }, "untyped surface read"),
        row(D1, 0x02, IntAtomic, "untyped atomic int32"),
        row(D1, 0x03, HalfIntAtomic { a64: false }, "untyped atomic int16"),
        row(D1, 0x04, Media(false), "media block read"),
        row(D1, 0x05, Typed { status: false }, "typed surface read"),
        row(D1, 0x06, TypedAtomic { bits: 32 }, "typed"),
        row(D1, 0x07, TypedAtomic { bits: 16 }, "typed"),
        row(D1, 0x09, Untyped { a64: false }, "untyped surface write"),
        row(D1, 0x0a, Media(true), "media block write"),
        row(D1, 0x0b, CounterAtomic, "typed atomic 32-bit counter"),
        row(D1, 0x0c, CounterAtomic, "typed atomic 16-bit counter"),
        row(D1, 0x0d, Typed { status: false }, "typed surface write"),
        row(D1, 0x0e, Typed { status: true }, "typed surface read"),
        row(D1, 0x10, A64Scattered(false), "a64 gathering read"),
        row(D1, 0x11, Untyped { a64: true }, "a64 untyped surface read"),
        row(D1, 0x12, A64IntAtomic, "untyped a64 atomic int"),
        row(D1, 0x13, HalfIntAtomic { a64: true }, "untyped a64 atomic int16"),
        row(D1, 0x14, A64Block(false), "a64 block read"),
        row(D1, 0x15, A64Block(true), "a64 block write"),
        row(D1, 0x19, Untyped { a64: true }, "a64 untyped surface write"),
        row(D1, 0x1a, A64Scattered(true), "a64 scattering write"),
        row(D1, 0x1b, FloatAtomic { a64: false, half: false }, "float atomic"),
        row(D1, 0x1c, FloatAtomic { a64: false, half: true }, "untyped half-float atomic"),
        row(D1, 0x1d, FloatAtomic { a64: true, half: false }, "a64 float atomic"),
        row(D1, 0x1e, FloatAtomic { a64: true, half: true }, "a64 untyped half-float atomic"),
        row(RO, 0x00, ConstBlock, "constant oword block read"),
        row(RO, 0x01, ConstBlock, "constant aligned oword block read"),
        row(RO, 0x03, ConstScattered, "constant dword gathering read"),
        row(RO, 0x09, UncompressedUntyped { a64: false }, "untyped surface uncompressed write"),
        row(RO, 0x0c, CcsSector { typed: true }, "typed surface CCS update message"),
        row(RO, 0x0d, UncompressedTyped, "typed surface uncompressed write"),
    ]
};

/// Message types of the read-only port with A64 addresses.
#[rustfmt::skip]
static A64_CCS: [MessageRow; 3] = {
    use MessageLayout::*;
    const RO: Sfid = Sfid::CONSTANT_CACHE;
    [
        row(RO, 0x17, CcsPage, "A64 page CCS update operation"),
        row(RO, 0x18, CcsSector { typed: false }, "A64 untyped surface CCS operation"),
        row(RO, 0x19, UncompressedUntyped { a64: true }, "A64 untyped surface uncompressed write"),
    ]
};

/// Integer atomics (MDC_AOP), by number.
static INT_OPS: [&str; 16] = [
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

/// Float atomics (MDC_FOP), by number, with their size in bits if it is not that of the message.
static FLOAT_OPS: [(&str, Option<u32>); 8] = [
    ("", None),
    ("max", None),
    ("min", None),
    ("fp-compare and swap ", None),
    ("add", None),
    ("subtract", None),
    ("64b add", Some(64)),
    ("64b subtract", Some(64)),
];

const ELEMENTS: [&str; 4] = ["1 element", "2 elements", "4 elements", "8 elements"];

pub(super) fn read(r: &mut DescReader<'_>) {
    let number = r.bits(14, 5) as u8;
    let found = |row: &&MessageRow| row.sfid == r.sfid && row.number == number;
    if let Some(row) = ROWS.iter().chain(&A64_CCS).find(found) {
        message(r, row);
    } else if r.sfid == Sfid::DATA_CACHE_0 && r.bit(18) {
        scratch(r);
    } else if r.sfid == Sfid::DATA_CACHE_2 {
        r.error(0, 32, "unknown message");
    } else {
        if r.sfid != Sfid::DATA_CACHE_1 {
            r.field("MessageType", 14, 5, |_| "?".to_owned());
        }
        if r.sfid == Sfid::CONSTANT_CACHE {
            r.header();
            r.bti();
        }
        r.error(14, 5, "no such message type");
    }
}

/// Sets the summary line and lists the message type.
fn name(r: &mut DescReader<'_>, text: &str) {
    r.set(text);
    r.field("MessageType", 14, 5, |_| text.to_owned());
}

/// Reads the surface of a message with 32-bit or 64-bit addresses.
fn surface(r: &mut DescReader<'_>, a64: bool) {
    let bti = r.bti();
    if a64 && bti != 255 && bti != 253 {
        r.error(0, 8, "a stateless message has BTI 255 or 253");
    }
}

fn invalidate(r: &mut DescReader<'_>) {
    r.flag("MDC_IAR", 13, "disabled", "invalidate after read");
}

/// Reads a number of owords: 1 low, 1 high, 2, 4, 8, 16. Adds ` xN` to the summary.
fn owords(r: &mut DescReader<'_>, field: &'static str, a64: bool) {
    let bits = r.named(field, 8, 3, &["1 low", "1 high", "2", "4", "8", "16"]);
    if bits == 5 {
        r.only(r.traits.lsc);
    }
    let n = [1, 1, 2, 4, 8, 16, 0, 0][bits as usize];
    r.append(format_args!(" x{n}"));
    if bits == 1 {
        r.append(format_args!("H"));
    }
    surface(r, a64);
}

/// Reads a number of 32-byte blocks, a power of two. Adds ` xN` to the summary.
fn hwords(r: &mut DescReader<'_>, field: &'static str, lo: u8, len: u8) {
    let bits = r.field(field, lo, len, |v| format!("{} blocks of 32 bytes", 1 << v));
    r.append(format_args!(" x{}", 1 << bits));
}

/// Reads MDC_SM2R or MDC_SM2S, the number of channels. `reversed` means that 1 is the smaller
/// number.
fn simd(r: &mut DescReader<'_>, lo: u8, reversed: bool) -> u32 {
    let names = if reversed {
        ["SIMD16", "SIMD8"]
    } else {
        ["SIMD8", "SIMD16"]
    };
    let one = r.named("SimdMode:MDC_SM2R", lo, 1, &names) == 1;
    let n = if one == reversed { 8 } else { 16 };
    if r.traits.full_exec < 32 {
        return n;
    }
    if n == 16 {
        r.error(lo, 1, "no such SIMD mode on this platform");
    }
    2 * n
}

/// Reads MDC_SM3.
fn simd3(r: &mut DescReader<'_>) {
    let bits = r.named("SimdMode:MDC_SM3", 12, 2, &["SIMD4x2", "SIMD16", "SIMD8"]);
    if bits == 0 || bits == 3 {
        r.error(12, 2, "no such SIMD mode");
    }
    if bits == 2 && r.traits.full_exec == 32 {
        r.error(12, 1, "no such SIMD mode on this platform");
    }
}

/// Reads MDC_SG3. Returns true for the upper slots.
fn slots3(r: &mut DescReader<'_>) -> bool {
    let low = low_slots(r);
    let bits = r.named("SlotGroup:MDC_SG3", 12, 2, &["SG4x2", low, "SG8U"]);
    if bits == 3 {
        r.error(12, 2, "no such slot group");
    }
    bits == 2
}

fn slots2(r: &mut DescReader<'_>) -> bool {
    let low = low_slots(r);
    r.flag("SlotGroup:MDC_SG2", 12, low, "SG8U")
}

fn low_slots(r: &DescReader<'_>) -> &'static str {
    if r.traits.full_exec == 32 {
        "SIMD16"
    } else {
        "SG8L"
    }
}

/// Formats the enabled channels of a channel mask (disabled channels are set).
fn channels(disabled: u32) -> String {
    "xyzw"
        .chars()
        .enumerate()
        .filter(|(i, _)| disabled >> i & 1 == 0)
        .map(|(_, c)| c)
        .collect()
}

fn mask(r: &mut DescReader<'_>) {
    if r.field("ChannelDisableMask:MDC_CMASK", 8, 4, channels) == 15 {
        r.error(8, 4, "no channel is enabled");
    }
}

fn append_mask(r: &mut DescReader<'_>) {
    let enabled = channels(r.bits(8, 4));
    r.append(format_args!(" with {enabled}"));
}

fn message(r: &mut DescReader<'_>, row: &MessageRow) {
    let text = row.text;
    match row.shape {
        MessageLayout::OwordBlock => {
            name(r, text);
            owords(r, "DataElements:MDC_DB_OW", false);
            r.header_required();
        }
        MessageLayout::AlignedBlock => aligned_block(r),
        MessageLayout::DualBlock => {
            name(r, text);
            r.header_required();
            r.error(14, 5, "dual blocks are not decoded further");
        }
        MessageLayout::ByteScattered => {
            name(r, text);
            bytes(r, "DataElements:MDC_DS");
            r.simd2(8);
            surface(r, false);
            invalidate(r);
            r.header();
        }
        MessageLayout::DwordScattered => {
            name(r, text);
            let n = 1u32 << r.named("DataElements:MDC_DWS_DS", 10, 2, &ELEMENTS);
            if n != 1 {
                r.append(format_args!(" x{n}"));
            }
            invalidate(r);
            scattered(r);
        }
        MessageLayout::QwordScattered => {
            name(r, text);
            r.named("DataElements:MDC_DWS_DS", 10, 2, &ELEMENTS);
            scattered(r);
        }
        MessageLayout::Fence => fence(r),
        MessageLayout::ConstBlock => {
            name(r, text);
            owords(r, "DataElements:MDC_DB_OW", false);
            invalidate(r);
            r.header_required();
        }
        MessageLayout::ConstScattered => {
            name(r, text);
            invalidate(r);
            r.named("DataElements:MDC_DWS_DS", 10, 2, &ELEMENTS);
            scattered(r);
        }
        MessageLayout::Untyped { a64 } => {
            name(r, text);
            append_mask(r);
            mask(r);
            simd3(r);
            surface(r, a64);
            header_unless(r, a64);
        }
        MessageLayout::A64Scattered(write) => a64_scattered(r, write),
        MessageLayout::A64Block(write) => a64_block(r, text, write),
        MessageLayout::FloatAtomic { half: true, .. } | MessageLayout::HalfIntAtomic { .. }
            if r.traits.simd4x2_atomics =>
        {
            r.error(14, 5, "SIMD4x2 atomics are not decoded further");
        }
        MessageLayout::FloatAtomic { a64, half } => {
            float_atomic(r, text, a64, if half { 16 } else { 32 });
            header_unless(r, a64);
        }
        MessageLayout::IntAtomic => {
            name(r, text);
            simd(r, 12, true);
            int_op(r);
            surface(r, false);
            r.header();
        }
        MessageLayout::A64IntAtomic => {
            let wide = r.flag("DataWidth", 12, "32b", "64b");
            name(r, text);
            r.append(format_args!("{}", if wide { "64" } else { "32" }));
            int_op(r);
            surface(r, true);
            r.header_forbidden();
        }
        MessageLayout::HalfIntAtomic { a64 } => {
            simd(r, 12, true);
            name(r, text);
            int_op(r);
            surface(r, a64);
            header_unless(r, a64);
        }
        MessageLayout::Media(write) => media(r, text, write),
        MessageLayout::Typed { status } => {
            name(r, text);
            if slots3(r) {
                r.append(format_args!(" (high slot group)"));
            }
            if status {
                r.append(format_args!(" returning status"));
            }
            append_mask(r);
            mask(r);
            surface(r, false);
            coordinates(r, r.traits.full_exec / 2);
            r.header();
        }
        MessageLayout::TypedAtomic { bits } => {
            let high = slots2(r);
            name(r, text);
            if high {
                r.append(format_args!("_sgh"));
            }
            r.append(format_args!(" atomic {bits}-bit integer"));
            if high {
                r.append(format_args!(" (slot group high)"));
            }
            int_op(r);
            surface(r, false);
            r.header();
            if bits == 16 {
                coordinates(r, r.traits.full_exec / 2);
            }
        }
        MessageLayout::CounterAtomic => {
            let n = simd(r, 12, true);
            name(r, text);
            int_op(r);
            surface(r, false);
            r.header_required();
            coordinates(r, n);
        }
        MessageLayout::CcsSector { typed } => {
            name(r, text);
            let ops = ["?", "slow clear", "?", "slow uncompress"];
            r.named("SectorUpdateOpcode", 8, 4, &ops);
            if typed {
                slots3(r);
                surface(r, false);
                r.header();
            } else {
                simd3(r);
                surface(r, true);
                r.header_forbidden();
                r.only(r.traits.ccs);
            }
        }
        MessageLayout::CcsPage => {
            name(r, text);
            let ops = ["fast clear", "?", "fast uncompress", "?"];
            r.named("PageUpdateOpcode", 8, 2, &ops);
            r.bti();
            r.header_required();
            r.only(r.traits.lsc);
        }
        MessageLayout::UncompressedUntyped { a64 } => {
            name(r, text);
            mask(r);
            simd3(r);
            surface(r, a64);
            header_unless(r, a64);
            r.only(if a64 { r.traits.ccs } else { r.traits.lsc });
        }
        MessageLayout::UncompressedTyped => {
            name(r, text);
            mask(r);
            slots3(r);
            surface(r, false);
            r.header();
            r.only(r.traits.lsc);
        }
    }
}

/// Records that addresses are coordinates of 32 bits for `channels` channels, or for those of the
/// instruction if fewer.
fn coordinates(r: &mut DescReader<'_>, channels: u32) {
    let exec = r.exec.min(channels);
    r.coordinates(exec, 32);
}

fn header_unless(r: &mut DescReader<'_>, a64: bool) {
    if a64 {
        r.header_forbidden();
    } else {
        r.header();
    }
}

/// Reads the fields after the element count of a scattered message with 32-bit addresses.
fn scattered(r: &mut DescReader<'_>) {
    r.simd2(8);
    surface(r, false);
    if r.plain("LegacySimdMode", 9, 1) != 1 {
        r.warn(9, 1, "always set");
    }
    r.header();
}

/// Reads the element size of a byte scattered message.
fn bytes(r: &mut DescReader<'_>, field: &'static str) {
    let bits = r.named(field, 10, 2, &ELEMENTS);
    if let Some(n) = [8, 16, 32].get(bits as usize) {
        r.append(format_args!(" {n}b"));
    }
}

fn aligned_block(r: &mut DescReader<'_>) {
    let hword = r.traits.lsc && r.flag("BlockMessageSubtype", 13, "oword", "hword");
    if hword {
        name(r, "hword aligned block read");
        hwords(r, "DataElements:MDC_DB_HW", 8, 3);
        surface(r, false);
    } else {
        name(r, "oword aligned block read");
        owords(r, "DataElements:MDC_DB_OW", false);
    }
    r.header_required();
}

fn scratch(r: &mut DescReader<'_>) {
    name(
        r,
        if r.bit(17) {
            "hword scratch block write"
        } else {
            "hword scratch block read"
        },
    );
    hwords(r, "DataElements:MDC_DB_HW", 12, 2);
    r.field("HWordOffset", 0, 12, |v| {
        format!("{v} hwords from the base")
    });
    if r.traits.scratch_channel_mode {
        r.flag("ChannelMode", 16, "oword", "dword");
    }
    r.header_required();
}

fn fence(r: &mut DescReader<'_>) {
    r.field("MessageType", 14, 5, |_| "fence".to_owned());
    if r.flag("Commit", 13, "returns at once", "waits for the commit") {
        r.append(format_args!("synchronized "));
    }
    match r.bits(0, 8) {
        254 => {
            r.bti();
            r.append(format_args!("SLM fence"));
        }
        0 => {
            let l3 = r.bits(9, 4);
            if l3 != 0 && r.bit(8) {
                r.error(8, 1, "an L3 flush flushes L1");
            }
            r.append(format_args!("global fence flushing"));
            if r.flag("L1Flush", 8, "", "L1") {
                r.append(format_args!(" L1"));
            }
            r.plain("L3 Flush Targets", 9, 4);
            if l3 == 15 {
                r.append(format_args!(" all L3 data"));
            } else if l3 != 0 {
                r.append(format_args!(" L3"));
                fence_targets(r, l3);
            }
        }
        _ => r.error(0, 8, "a fence has BTI 0 or 254"),
    }
    r.header_required();
}

fn fence_targets(r: &mut DescReader<'_>, l3: u32) {
    let names = ["r/w", "constant", "texture", "instruction"];
    // No comma follows the first target.
    let mut listed = false;
    for (i, name) in names.iter().enumerate() {
        if l3 >> (3 - i) & 1 == 0 {
            continue;
        }
        if listed {
            r.append(format_args!(","));
        }
        listed |= i > 0;
        r.append(format_args!(" {name} data"));
    }
}

fn a64_scattered(r: &mut DescReader<'_>, write: bool) {
    let sub = r.bits(8, 2);
    let unit = match sub {
        1 => "dword",
        2 => "qword",
        _ => "byte",
    };
    let does = if write {
        "scattering write"
    } else {
        "gathering read"
    };
    r.append(format_args!("a64 {unit} {does}"));
    r.field("MessageType", 14, 5, |_| format!("a64 {does}"));
    r.named("SubType", 8, 2, &["byte", "dword", "qword", "byte, status"]);
    if sub == 3 && write {
        r.error(14, 5, "a write returns no status");
    }
    if unit == "byte" {
        bytes(r, "DataElements:MDC_A64_DS");
    } else {
        r.named("DataElements:MDC_DWS_DS", 10, 2, &ELEMENTS);
    }
    r.simd2(12);
    surface(r, true);
    invalidate(r);
    r.header_forbidden();
}

fn a64_block(r: &mut DescReader<'_>, text: &str, write: bool) {
    r.field("MessageType", 14, 5, |_| text.to_owned());
    let names = ["oword unaligned", "oword", "dual oword", "hword unaligned"];
    let sub = r.named("SubType", 11, 2, &names);
    let does = if write { "write" } else { "read" };
    match sub {
        3 => {
            r.append(format_args!("a64 unaligned hword block {does}"));
            hwords(r, "DataElements:MDC_A64_DB_HW", 8, 3);
            surface(r, true);
            invalidate(r);
        }
        _ => {
            let aligned = if sub == 1 { "aligned" } else { "unaligned" };
            if sub == 2 {
                r.error(11, 2, "dual blocks are not decoded further");
            }
            r.append(format_args!("a64 {aligned} oword block {does}"));
            owords(r, "DataElements:MDC_A64_DB_OW", true);
            invalidate(r);
        }
    }
    r.header_required();
}

fn returns(r: &mut DescReader<'_>) -> bool {
    r.flag("ReturnDataControl", 13, "nothing returned", "returned")
}

fn float_atomic(r: &mut DescReader<'_>, text: &str, a64: bool, bits: u32) {
    r.field("MessageType", 14, 5, |_| text.to_owned());
    let op = r.bits(8, 3);
    let (verb, own) = FLOAT_OPS[op as usize];
    let bits = own.unwrap_or(bits);
    r.value("AtomicOp:MDC_AOP", 8, 3, op, |_| verb.to_owned());
    let back = returns(r);
    if verb.is_empty() {
        r.error(8, 3, "no such float operation");
        return;
    }
    r.append(format_args!("{text} {verb} ({bits}b)"));
    if back {
        r.append(format_args!(" with return"));
    }
    simd(r, 12, !a64);
    surface(r, a64);
}

fn int_op(r: &mut DescReader<'_>) {
    let op = r.named("AtomicIntegerOp", 8, 4, &INT_OPS);
    r.append(format_args!(" {}", INT_OPS[op as usize]));
    returns(r);
}

fn media(r: &mut DescReader<'_>, text: &str, write: bool) {
    r.append(format_args!("{text}"));
    if write && r.bits(25, 4) == 0 {
        r.error(25, 4, "a write has a payload");
    }
    let stride = r.bits(8, 3);
    if stride != 0 {
        r.append(format_args!(" with vertical line stride "));
        let (over, skip) = (stride & 2 != 0, stride & 1 != 0);
        r.append(format_args!(
            "{}",
            match (over, skip) {
                (true, true) => "override,skip, and offset",
                (true, false) => "override and offset",
                (false, true) => " and skip",
                (false, false) => "",
            }
        ));
    }
    surface(r, false);
    r.header_required();
}
