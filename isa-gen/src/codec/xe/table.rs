//! The types of the constant tables of Xe that `gantry-meta` generates.

use crate::inst::SyncFn;
use crate::swsb::{Pipe, TokenKind};
use crate::table::TypeCodes;

/// How the SWSB field is coded.
#[derive(Debug)]
pub(crate) struct SwsbTable {
    /// Bits of a distance alone, in the order of [`Pipe`].
    pub pipes: [u16; 6],
    /// Bits of a token alone, in the order of [`TokenKind`].
    pub tokens: [u16; 3],
    pub token_bits: u8,
    /// Distance and token together, of `send`, `math`, `dpas` and all others.
    pub pairs: [&'static [(Pipe, TokenKind, u16)]; 4],
    pub no_acc: Option<u16>,
}

/// A pipe that distances cannot name.
pub(crate) const NO_BASE: u16 = 0xffff;

/// The codes of a generation of Xe.
#[derive(Debug)]
pub(crate) struct XeTables {
    /// Of the destination and source 0 of `dpas`, with the execution type as bit 3.
    pub dpas_acc_types: TypeCodes,
    /// Of the other sources, with the precision above.
    pub dpas_types: TypeCodes,
    /// Systolic depths of `dpas` by code; 0 for none.
    pub depths: [u8; 4],
    pub swsb: SwsbTable,
    /// In the order of [`SyncFn`]: the code, and whether it takes an immediate.
    pub sync_codes: [Option<(u8, bool)>; SyncFn::ALL.len()],
    /// By code.
    pub syncs: [Option<SyncFn>; 16],
    pub sync_flag: Option<SyncFn>,
    pub whole_preds: bool,
    pub chan_shift: u8,
    pub sub_shift: u8,
    pub ternary_dst_shift: u8,
    pub vxh: u8,
    pub sfids: u16,
    pub own_src1_len: bool,
    /// How many architecture registers of each kind there are, by the kind's code.
    pub arfs: [u8; 16],
}
