//! Data port message types: which number is which message on which generation.

use super::Sfid;
use super::params::Dir;
use crate::platform::Platform;

/// A message type of a data port; parameters are in the rest of the descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
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

/// One row: the message, its port, and its type number (descriptor bits 18:14) by column.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) sfid: Sfid,
    numbers: [Option<u8>; 9],
}

impl Row {
    /// The type number on a platform, where it has the message.
    pub(super) fn number(&self, platform: Platform) -> Option<u8> {
        self.numbers[platform.column()]
    }
}

/// Columns, as in the other tables.
const HSW: usize = 0;
const BDW: usize = 1;
const SKL: usize = 2;
const CNL: usize = 3;
const ICL: usize = 4;
const TGL: usize = 5;
const DG2: usize = 7;

/// A row of a number that is the message's from a column on.
const fn from(column: usize, kind: Kind, sfid: Sfid, number: u8) -> Row {
    let mut numbers = [None; 9];
    let mut i = column;
    while i < numbers.len() {
        numbers[i] = Some(number);
        i += 1;
    }
    Row {
        kind,
        sfid,
        numbers,
    }
}

/// Haswell, Broadwell and Skylake PRMs, Vol. 2d, MSD0*, MSD1* and MSDCC*; Mesa's `brw_eu_defines.h` for what came when.
#[rustfmt::skip]
pub(super) static ROWS: [Row; 40] = {
    use Dir::{Read, Write};
    const D0: Sfid = Sfid::DATA_CACHE_0;
    const D1: Sfid = Sfid::DATA_CACHE_1;
    const RO: Sfid = Sfid::CONSTANT_CACHE;
    [
        from(HSW, Kind::OwordBlock(Read), D0, 0x00),
        from(HSW, Kind::OwordUnalignedBlock, D0, 0x01),
        from(HSW, Kind::DwordScattered(Read), D0, 0x03),
        from(HSW, Kind::ByteScattered(Read), D0, 0x04),
        from(ICL, Kind::QwordScattered(Read), D0, 0x05),
        from(HSW, Kind::Fence, D0, 0x07),
        from(HSW, Kind::OwordBlock(Write), D0, 0x08),
        // The read shares the number of the unaligned oword block, with a subtype bit.
        from(DG2, Kind::HwordBlock(Write), D0, 0x09),
        from(DG2, Kind::HwordBlock(Read), D0, 0x01),
        from(HSW, Kind::DwordScattered(Write), D0, 0x0b),
        from(HSW, Kind::ByteScattered(Write), D0, 0x0c),
        from(ICL, Kind::QwordScattered(Write), D0, 0x0d),
        from(HSW, Kind::Untyped(Read), D1, 0x01),
        from(HSW, Kind::Atomic, D1, 0x02),
        from(TGL, Kind::HalfAtomic, D1, 0x03),
        from(HSW, Kind::Media(Read), D1, 0x04),
        from(HSW, Kind::Typed(Read), D1, 0x05),
        from(HSW, Kind::TypedAtomic { half: false }, D1, 0x06),
        from(TGL, Kind::TypedAtomic { half: true }, D1, 0x07),
        from(HSW, Kind::Untyped(Write), D1, 0x09),
        from(HSW, Kind::Media(Write), D1, 0x0a),
        from(HSW, Kind::CounterAtomic { half: false }, D1, 0x0b),
        from(TGL, Kind::CounterAtomic { half: true }, D1, 0x0c),
        from(HSW, Kind::Typed(Write), D1, 0x0d),
        from(CNL, Kind::TypedStatus, D1, 0x0e),
        from(BDW, Kind::A64Scattered(Read), D1, 0x10),
        from(BDW, Kind::A64Untyped(Read), D1, 0x11),
        from(BDW, Kind::A64Atomic, D1, 0x12),
        from(TGL, Kind::A64HalfAtomic, D1, 0x13),
        from(BDW, Kind::A64Block(Read), D1, 0x14),
        from(BDW, Kind::A64Block(Write), D1, 0x15),
        from(BDW, Kind::A64Untyped(Write), D1, 0x19),
        from(BDW, Kind::A64Scattered(Write), D1, 0x1a),
        from(SKL, Kind::FloatAtomic, D1, 0x1b),
        from(TGL, Kind::HalfFloatAtomic, D1, 0x1c),
        from(SKL, Kind::A64FloatAtomic, D1, 0x1d),
        from(TGL, Kind::A64HalfFloatAtomic, D1, 0x1e),
        from(HSW, Kind::ConstOwordBlock, RO, 0x00),
        from(HSW, Kind::ConstOwordUnalignedBlock, RO, 0x01),
        from(HSW, Kind::ConstDwordScattered, RO, 0x03),
    ]
};

/// The row of a type number of a port.
pub(super) fn find(platform: Platform, sfid: Sfid, number: u8) -> Option<Kind> {
    ROWS.iter()
        .find(|r| r.sfid == sfid && r.number(platform) == Some(number))
        .map(|r| r.kind)
}

/// The type number of a message.
pub(super) fn number(platform: Platform, kind: Kind) -> Option<u8> {
    ROWS.iter()
        .find(|r| r.kind == kind)
        .and_then(|r| r.number(platform))
}
