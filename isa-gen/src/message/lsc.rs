//! Messages of the load/store cache (Xe-HPG on): operations, parameters and names.
//!
//! Source: the DP_* descriptor structures of the Xe-HPG and Xe-HPC PRMs ("Shared Functions - Data
//! Port").

use super::Sfid;
use super::op::{CcsOp, Lengths, LscData, LscOp, OPS};
use super::params::Rgba;
use std::fmt;

/// Port of the load/store cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscPort {
    /// Untyped global memory.
    Ugm,
    /// Untyped global memory, low bandwidth.
    Ugml,
    /// Typed global memory: images.
    Tgm,
    /// Shared local memory.
    Slm,
}

impl LscPort {
    /// Returns the shared function of the port.
    pub const fn sfid(self) -> Sfid {
        match self {
            LscPort::Ugm => Sfid::UGM,
            LscPort::Ugml => Sfid::UGML,
            LscPort::Tgm => Sfid::TGM,
            LscPort::Slm => Sfid::SLM,
        }
    }

    /// Returns the port with this shared function.
    pub fn of_sfid(sfid: Sfid) -> Option<LscPort> {
        [LscPort::Ugm, LscPort::Ugml, LscPort::Tgm, LscPort::Slm]
            .into_iter()
            .find(|p| p.sfid() == sfid)
    }
}

/// Kind of memory access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscKind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, compute with this number of data operands, and write.
    Atomic(u8),
    /// No memory access of data.
    Other,
}

/// Operation of the load/store cache, as listed in [`OPS`].
pub(crate) struct LscRow {
    pub(crate) op: LscOp,
    pub(crate) name: &'static str,
    /// Description for a listing that cannot name all parts of the message.
    pub(crate) line: &'static str,
    pub(crate) kind: LscKind,
    /// True if components are selected by a mask instead of a count.
    pub(crate) mask: bool,
}

impl LscOp {
    /// Returns the operation with this number.
    pub fn from_bits(bits: u32) -> Option<LscOp> {
        OPS.get(bits as usize).map(|r| r.op)
    }

    /// Returns the number.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    pub(crate) fn row(self) -> &'static LscRow {
        &OPS[self as usize]
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the kind of memory access.
    pub fn kind(self) -> LscKind {
        self.row().kind
    }

    /// Returns true if components are selected by a mask (`load_quad`) instead of a count.
    pub fn has_mask(self) -> bool {
        self.row().mask
    }
}

impl fmt::Display for LscOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl LscData {
    /// Returns the bits of an element in memory.
    pub const fn memory_bits(self) -> u32 {
        match self {
            LscData::D8 | LscData::D8U32 => 8,
            LscData::D16 | LscData::D16U32 | LscData::D16U32H => 16,
            LscData::D32 => 32,
            LscData::D64 => 64,
        }
    }

    /// Returns the bits of an element in registers.
    pub const fn register_bits(self) -> u32 {
        match self {
            LscData::D8U32 | LscData::D16U32 | LscData::D16U32H => 32,
            d => d.memory_bits(),
        }
    }
}

/// Size of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscAddr {
    /// 16 bits (SLM).
    A16,
    /// 32 bits.
    A32,
    /// 64 bits.
    A64,
}

impl LscAddr {
    /// Decodes bits 8:7 of the descriptor.
    pub const fn from_bits(bits: u32) -> Option<LscAddr> {
        match bits {
            1 => Some(LscAddr::A16),
            2 => Some(LscAddr::A32),
            3 => Some(LscAddr::A64),
            _ => None,
        }
    }

    /// Returns the size of an address in bits.
    pub const fn width(self) -> u32 {
        16 << self as u32
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            LscAddr::A16 => "a16",
            LscAddr::A32 => "a32",
            LscAddr::A64 => "a64",
        }
    }
}

/// Elements of one address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscVector {
    /// Consecutive elements.
    Count {
        /// Number of elements: 1, 2, 3, 4, 8, 16, 32 or 64.
        n: u8,
        /// True if the elements are adjacent in a register (one address), false if each element of
        /// all channels has its own GRFs.
        transposed: bool,
    },
    /// Components x, y, z, w.
    Mask(Rgba),
}

impl LscVector {
    /// One element.
    pub const ONE: LscVector = LscVector::Count {
        n: 1,
        transposed: false,
    };

    /// Returns the number of elements.
    pub const fn count(self) -> u32 {
        match self {
            LscVector::Count { n, .. } => n as u32,
            LscVector::Mask(m) => m.count(),
        }
    }
}

/// Surface that addresses are relative to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscSurface {
    /// Virtual memory or SLM, without a surface.
    Flat,
    /// Bindless surface state at this offset from the bindless base.
    Bss(u32),
    /// Surface state at this offset from the surface state base.
    Ss(u32),
    /// Entry of the binding table.
    Bti(u8),
}

/// Policy of a cache for the lines of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CacheOpt {
    /// Policy of the surface or the memory object.
    Default,
    /// Not cached.
    Uncached,
    /// Cached.
    Cached,
    /// Write-through.
    WriteThrough,
    /// Write-back.
    WriteBack,
    /// Cached as the first to be evicted.
    Streaming,
    /// Read and invalidated: this is the last use.
    ReadInvalidate,
}

impl CacheOpt {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            CacheOpt::Default => "df",
            CacheOpt::Uncached => "uc",
            CacheOpt::Cached => "ca",
            CacheOpt::WriteThrough => "wt",
            CacheOpt::WriteBack => "wb",
            CacheOpt::Streaming => "st",
            CacheOpt::ReadInvalidate => "ri",
        }
    }
}

/// Policies of both cache levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LscCaching {
    /// Policy of the first level.
    pub l1: CacheOpt,
    /// Policy of the third level.
    pub l3: CacheOpt,
}

const fn both(l1: CacheOpt, l3: CacheOpt) -> LscCaching {
    LscCaching { l1, l3 }
}

/// Policies by number (bits 19:17 of the descriptor): for loads, then for stores and atomics.
#[rustfmt::skip]
static CACHING: [[LscCaching; 8]; 2] = {
    use CacheOpt::*;
    [
        [both(Default, Default), both(Uncached, Uncached), both(Uncached, Cached), both(Cached, Uncached),
         both(Cached, Cached), both(Streaming, Uncached), both(Streaming, Cached), both(ReadInvalidate, Cached)],
        [both(Default, Default), both(Uncached, Uncached), both(Uncached, WriteBack), both(WriteThrough, Uncached),
         both(WriteThrough, WriteBack), both(Streaming, Uncached), both(Streaming, WriteBack), both(WriteBack, WriteBack)],
    ]
};

impl LscCaching {
    /// Default policies of the surface state.
    pub const DEFAULT: LscCaching = both(CacheOpt::Default, CacheOpt::Default);

    /// Returns the policies with this number.
    pub fn from_bits(kind: LscKind, bits: u32) -> LscCaching {
        CACHING[usize::from(kind != LscKind::Load)][(bits & 7) as usize]
    }

    /// Returns the number, or `None` if the policies have none.
    pub fn bits(self, kind: LscKind) -> Option<u32> {
        let of = &CACHING[usize::from(kind != LscKind::Load)];
        of.iter().position(|c| *c == self).map(|n| n as u32)
    }
}

impl fmt::Display for LscCaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == LscCaching::DEFAULT {
            return Ok(());
        }
        write!(f, ".{}.{}", self.l1.name(), self.l3.name())
    }
}

impl CcsOp {
    /// Returns true if the operation takes one page instead of an address per channel.
    pub const fn is_page(self) -> bool {
        matches!(self, CcsOp::PageClear | CcsOp::PageUncompress)
    }
}

/// Access: load, store or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LscAccess {
    /// Port that carries the message.
    pub port: LscPort,
    /// Operation: any whose kind is not [`LscKind::Other`], except 2D blocks.
    pub op: LscOp,
    /// The size of an element.
    pub data: LscData,
    /// Elements of an address.
    pub vector: LscVector,
    /// Size of an address.
    pub addr: LscAddr,
    /// Surface that addresses are relative to.
    pub surface: LscSurface,
    /// Cache policies, [`LscCaching::DEFAULT`] on SLM.
    pub caching: LscCaching,
}

impl LscAccess {
    /// Computes the payload lengths for GRFs of `grf` bytes and `exec` channels. The cache
    /// processes at least half of a full message, and takes one address if elements are transposed
    /// or strided.
    pub(super) fn lengths(&self, grf: u32, exec: u32) -> Lengths {
        let exec = exec.max(grf / 4);
        let rows = |bits: u32| (exec * bits).div_ceil(8 * grf);
        let bits = self.data.register_bits();
        let n = self.vector.count();
        let (transposed, strided) = (
            matches!(
                self.vector,
                LscVector::Count {
                    transposed: true,
                    ..
                }
            ),
            matches!(self.op, LscOp::LoadStrided | LscOp::StoreStrided),
        );
        let address = match self.port {
            // The surface determines the number of coordinates.
            LscPort::Tgm => 0,
            _ if transposed || strided => 1,
            _ => rows(self.addr.width()),
        };
        let moved = if transposed {
            (bits * n).div_ceil(8 * grf)
        } else {
            rows(bits) * n
        };
        let (data, response) = match self.op.kind() {
            _ if self.op == LscOp::LoadStatus => (0, 1),
            LscKind::Load => (0, moved),
            LscKind::Store => (moved, 0),
            LscKind::Atomic(sources) => (u32::from(sources) * moved, moved),
            LscKind::Other => (0, 0),
        };
        Lengths {
            header: false,
            address,
            data,
            response,
        }
    }
}
