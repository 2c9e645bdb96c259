//! Data port message types: which number is which message on which platform.

use super::{Dir, Sfid};
use crate::platform::Platform;

/// A message type of a data port; parameters are in the rest of the descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    OwordBlock(Dir),
    OwordUnalignedBlock,
    DwordScattered(Dir),
    ByteScattered(Dir),
    Fence,
    Untyped(Dir),
    Atomic,
    FloatAtomic,
    A64Untyped(Dir),
    A64Scattered(Dir),
    A64Atomic,
    A64Block(Dir),
    A64FloatAtomic,
    ConstOwordBlock,
    ConstOwordUnalignedBlock,
    ConstDwordScattered,
}

/// One row: the message, its port, and its type number (descriptor bits 18:14) by platform.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) sfid: Sfid,
    gen9: Option<u8>,
}

impl Row {
    /// The type number on a platform, where it has the message.
    pub(super) fn number(&self, platform: Platform) -> Option<u8> {
        match platform {
            Platform::Gen9 | Platform::Gen9Lp => self.gen9,
            _ => None,
        }
    }
}

const fn row(kind: Kind, sfid: Sfid, gen9: u8) -> Row {
    Row {
        kind,
        sfid,
        gen9: Some(gen9),
    }
}

/// Skylake PRM, Vol. 2d, MSD0*, MSD1* and MSDCC*.
pub(super) static ROWS: [Row; 23] = [
    row(Kind::OwordBlock(Dir::Read), Sfid::DATA_CACHE_0, 0x00),
    row(Kind::OwordUnalignedBlock, Sfid::DATA_CACHE_0, 0x01),
    row(Kind::DwordScattered(Dir::Read), Sfid::DATA_CACHE_0, 0x03),
    row(Kind::ByteScattered(Dir::Read), Sfid::DATA_CACHE_0, 0x04),
    row(Kind::Fence, Sfid::DATA_CACHE_0, 0x07),
    row(Kind::OwordBlock(Dir::Write), Sfid::DATA_CACHE_0, 0x08),
    row(Kind::DwordScattered(Dir::Write), Sfid::DATA_CACHE_0, 0x0b),
    row(Kind::ByteScattered(Dir::Write), Sfid::DATA_CACHE_0, 0x0c),
    row(Kind::Untyped(Dir::Read), Sfid::DATA_CACHE_1, 0x01),
    row(Kind::Atomic, Sfid::DATA_CACHE_1, 0x02),
    row(Kind::Untyped(Dir::Write), Sfid::DATA_CACHE_1, 0x09),
    row(Kind::A64Scattered(Dir::Read), Sfid::DATA_CACHE_1, 0x10),
    row(Kind::A64Untyped(Dir::Read), Sfid::DATA_CACHE_1, 0x11),
    row(Kind::A64Atomic, Sfid::DATA_CACHE_1, 0x12),
    row(Kind::A64Block(Dir::Read), Sfid::DATA_CACHE_1, 0x14),
    row(Kind::A64Block(Dir::Write), Sfid::DATA_CACHE_1, 0x15),
    row(Kind::A64Untyped(Dir::Write), Sfid::DATA_CACHE_1, 0x19),
    row(Kind::A64Scattered(Dir::Write), Sfid::DATA_CACHE_1, 0x1a),
    row(Kind::FloatAtomic, Sfid::DATA_CACHE_1, 0x1b),
    row(Kind::A64FloatAtomic, Sfid::DATA_CACHE_1, 0x1d),
    row(Kind::ConstOwordBlock, Sfid::CONSTANT_CACHE, 0x00),
    row(Kind::ConstOwordUnalignedBlock, Sfid::CONSTANT_CACHE, 0x01),
    row(Kind::ConstDwordScattered, Sfid::CONSTANT_CACHE, 0x03),
];

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
