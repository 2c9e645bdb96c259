//! Types of the generated tables of Xe.

use crate::swsb::{Pipe, TokenKind};
use crate::sync_fn::SyncFn;
use crate::table::TypeCodes;

/// Encoding of the SWSB field.
#[derive(Debug)]
pub(crate) struct SwsbTable {
    /// Bits of a distance without a token, in the order of [`Pipe`].
    pub pipes: [u16; 6],
    /// Bits of a token without a distance, in the order of [`TokenKind`].
    pub tokens: [u16; 3],
    pub token_bits: u8,
    /// Combinations of distance and token of `send`, `math`, `dpas` and all other formats.
    pub pairs: [&'static [(Pipe, TokenKind, u16)]; 4],
    pub no_acc: Option<u16>,
}

/// Marks a pipe that distances cannot name.
pub(crate) const NO_BASE: u16 = 0xffff;

/// Encodings of a generation of Xe.
#[derive(Debug)]
pub(crate) struct XeTables {
    /// Types of the destination and source 0 of `dpas`, with the execution type as bit 3.
    pub dpas_acc_types: TypeCodes,
    /// Types of the other sources of `dpas`, with the precision in the higher bits.
    pub dpas_types: TypeCodes,
    /// Systolic depths of `dpas` by code, 0 for none.
    pub depths: [u8; 4],
    pub swsb: SwsbTable,
    /// Code of each [`SyncFn`], with true if it takes an immediate.
    pub sync_codes: [Option<(u8, bool)>; SyncFn::ALL.len()],
    /// Functions of `sync` by code.
    pub syncs: [Option<SyncFn>; 16],
    pub sync_flag: Option<SyncFn>,
    pub whole_preds: bool,
    pub chan_shift: u8,
    pub sub_shift: u8,
    pub ternary_dst_shift: u8,
    pub vxh: u8,
    pub sfids: u16,
    pub own_src1_len: bool,
    /// Number of architecture registers of each kind, by the code of the kind.
    pub arfs: [u8; 16],
}
