//! Data port message types by generation.

use super::Sfid;
use super::params::Dir;
use crate::platform::Platform;

/// Message type of a data port. The parameters are in the rest of the descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MessageType {
    OwordBlock(Dir),
    OwordUnalignedBlock,
    HwordBlock(Dir),
    DwordScattered(Dir),
    ByteScattered(Dir),
    QwordScattered(Dir),
    Fence,
    Untyped(Dir),
    Atomic,
    HalfAtomic,
    FloatAtomic,
    HalfFloatAtomic,
    Media(Dir),
    Typed(Dir),
    TypedStatus,
    TypedAtomic { half: bool },
    CounterAtomic { half: bool },
    A64Untyped(Dir),
    A64Scattered(Dir),
    A64Atomic,
    A64HalfAtomic,
    A64Block(Dir),
    A64FloatAtomic,
    A64HalfFloatAtomic,
    ConstOwordBlock,
    ConstOwordUnalignedBlock,
    ConstDwordScattered,
}

/// Row of the table: message type, shared function, and type number (descriptor bits 18:14) in each
/// column.
pub(super) struct MessageRow {
    pub(super) kind: MessageType,
    pub(super) sfid: Sfid,
    numbers: [Option<u8>; 9],
}

impl MessageRow {
    /// Returns the type number on a platform, or `None` if it does not have the message.
    pub(super) fn number(&self, platform: Platform) -> Option<u8> {
        self.numbers[platform.column()]
    }
}

/// Columns, in the order of the other tables.
const HSW: usize = 0;
const BDW: usize = 1;
const SKL: usize = 2;
const CNL: usize = 3;
const ICL: usize = 4;
const TGL: usize = 5;
const DG2: usize = 7;

/// Row of a message that has a number from a column on.
const fn from(column: usize, kind: MessageType, sfid: Sfid, number: u8) -> MessageRow {
    let mut numbers = [None; 9];
    let mut i = column;
    while i < numbers.len() {
        numbers[i] = Some(number);
        i += 1;
    }
    MessageRow {
        kind,
        sfid,
        numbers,
    }
}

/// Message types, from the Haswell, Broadwell and Skylake PRMs, Vol. 2d, MSD0*, MSD1* and MSDCC*.
/// Mesa's `brw_eu_defines.h` says when each was introduced.
#[rustfmt::skip]
pub(super) static ROWS: [MessageRow; 40] = {
    use Dir::{Read, Write};
    const D0: Sfid = Sfid::DATA_CACHE_0;
    const D1: Sfid = Sfid::DATA_CACHE_1;
    const RO: Sfid = Sfid::CONSTANT_CACHE;
    [
        from(HSW, MessageType::OwordBlock(Read), D0, 0x00),
        from(HSW, MessageType::OwordUnalignedBlock, D0, 0x01),
        from(HSW, MessageType::DwordScattered(Read), D0, 0x03),
        from(HSW, MessageType::ByteScattered(Read), D0, 0x04),
        from(ICL, MessageType::QwordScattered(Read), D0, 0x05),
        from(HSW, MessageType::Fence, D0, 0x07),
        from(HSW, MessageType::OwordBlock(Write), D0, 0x08),
        // The read shares the number of the unaligned oword block, with a subtype bit.
        from(DG2, MessageType::HwordBlock(Write), D0, 0x09),
        from(DG2, MessageType::HwordBlock(Read), D0, 0x01),
        from(HSW, MessageType::DwordScattered(Write), D0, 0x0b),
        from(HSW, MessageType::ByteScattered(Write), D0, 0x0c),
        from(ICL, MessageType::QwordScattered(Write), D0, 0x0d),
        from(HSW, MessageType::Untyped(Read), D1, 0x01),
        from(HSW, MessageType::Atomic, D1, 0x02),
        from(TGL, MessageType::HalfAtomic, D1, 0x03),
        from(HSW, MessageType::Media(Read), D1, 0x04),
        from(HSW, MessageType::Typed(Read), D1, 0x05),
        from(HSW, MessageType::TypedAtomic { half: false }, D1, 0x06),
        from(TGL, MessageType::TypedAtomic { half: true }, D1, 0x07),
        from(HSW, MessageType::Untyped(Write), D1, 0x09),
        from(HSW, MessageType::Media(Write), D1, 0x0a),
        from(HSW, MessageType::CounterAtomic { half: false }, D1, 0x0b),
        from(TGL, MessageType::CounterAtomic { half: true }, D1, 0x0c),
        from(HSW, MessageType::Typed(Write), D1, 0x0d),
        from(CNL, MessageType::TypedStatus, D1, 0x0e),
        from(BDW, MessageType::A64Scattered(Read), D1, 0x10),
        from(BDW, MessageType::A64Untyped(Read), D1, 0x11),
        from(BDW, MessageType::A64Atomic, D1, 0x12),
        from(TGL, MessageType::A64HalfAtomic, D1, 0x13),
        from(BDW, MessageType::A64Block(Read), D1, 0x14),
        from(BDW, MessageType::A64Block(Write), D1, 0x15),
        from(BDW, MessageType::A64Untyped(Write), D1, 0x19),
        from(BDW, MessageType::A64Scattered(Write), D1, 0x1a),
        from(SKL, MessageType::FloatAtomic, D1, 0x1b),
        from(TGL, MessageType::HalfFloatAtomic, D1, 0x1c),
        from(SKL, MessageType::A64FloatAtomic, D1, 0x1d),
        from(TGL, MessageType::A64HalfFloatAtomic, D1, 0x1e),
        from(HSW, MessageType::ConstOwordBlock, RO, 0x00),
        from(HSW, MessageType::ConstOwordUnalignedBlock, RO, 0x01),
        from(HSW, MessageType::ConstDwordScattered, RO, 0x03),
    ]
};

/// Returns the message type of a number of a port.
pub(super) fn find(platform: Platform, sfid: Sfid, number: u8) -> Option<MessageType> {
    ROWS.iter()
        .find(|r| r.sfid == sfid && r.number(platform) == Some(number))
        .map(|r| r.kind)
}

/// Returns the type number of a message.
pub(super) fn number(platform: Platform, kind: MessageType) -> Option<u8> {
    ROWS.iter()
        .find(|r| r.kind == kind)
        .and_then(|r| r.number(platform))
}
