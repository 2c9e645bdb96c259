//! Messages of the load/store cache, which Xe-HPG has beside the data port of before, and Xe-HPC in
//! its stead.
//!
//! An access says through which port it goes, how long an address is, of which surface it is if of
//! any, and what caches do with its lines. Elements of a lane follow each other row by row, as in
//! messages of the data port; a run at one address is "transposed". (XeHPG and XeHPC PRMs, "Shared
//! Functions - Data Port"; policies as Intel's compiler asks for.)

use super::scattered::Unit;
use crate::ir::{AtomicOp, MemFlags, Space};
use crate::mir::logical::Dir;
use gantry_isa_gen::Type;
use gantry_isa_gen::message::{
    CacheOpt, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort, LscSurface, LscVector, MsgOp,
};

/// The most dwords, and the most qwords, of one run.
const LONGEST: u32 = 64;

/// A load, store or atomic of a space. Scratch is a surface, whose state is named beside the
/// message.
fn access(mem: MemFlags, op: LscOp, data: LscData, vector: LscVector) -> MsgOp {
    let (port, addr, surface) = match mem.space {
        Space::Global => (LscPort::Ugm, LscAddr::A64, LscSurface::Flat),
        Space::Slm => (LscPort::Slm, LscAddr::A32, LscSurface::Flat),
        Space::Surface(n) => (LscPort::Ugm, LscAddr::A32, LscSurface::Bti(n)),
        Space::Scratch => (LscPort::Ugm, LscAddr::A32, LscSurface::Ss(0)),
    };
    MsgOp::Lsc(LscAccess {
        port,
        op,
        data,
        vector,
        addr,
        surface,
        caching: caching(mem, op),
    })
}

/// What caches do with the lines of an access: what nobody writes is kept in both; what is volatile
/// goes by the first, which is a core's own.
fn caching(mem: MemFlags, op: LscOp) -> LscCaching {
    let both = |l1, l3| LscCaching { l1, l3 };
    match op {
        _ if mem.space == Space::Slm => LscCaching::DEFAULT,
        LscOp::Load if mem.volatile => both(CacheOpt::Uncached, CacheOpt::Cached),
        LscOp::Load if mem.constant => both(CacheOpt::Cached, CacheOpt::Cached),
        LscOp::Store if mem.volatile => both(CacheOpt::Uncached, CacheOpt::WriteBack),
        _ => LscCaching::DEFAULT,
    }
}

fn moves(dir: Dir) -> LscOp {
    match dir {
        Dir::Read => LscOp::Load,
        Dir::Write => LscOp::Store,
    }
}

/// An access of what a message moves of each lane.
pub(super) fn lanes(dir: Dir, mem: MemFlags, unit: Unit) -> MsgOp {
    let (data, n) = match unit {
        Unit::Bytes(1) => (LscData::D8U32, 1),
        Unit::Bytes(2) => (LscData::D16U32, 1),
        Unit::Bytes(_) => (LscData::D32, 1),
        Unit::Dwords(n) => (LscData::D32, n),
        Unit::Qwords(n) => (LscData::D64, n),
    };
    let (n, transposed) = (n as u8, false);
    access(mem, moves(dir), data, LscVector::Count { n, transposed })
}

/// An access of a run of so many bytes at most, a multiple of four, at an address that is a
/// multiple of `align`; and how many bytes it moves.
pub(super) fn run(dir: Dir, mem: MemFlags, bytes: u32, align: u32) -> (MsgOp, u32) {
    let (qword, dword) = (Type::Uq.bytes(), Type::Ud.bytes());
    let (data, size) = if align >= qword && bytes >= LONGEST * qword {
        (LscData::D64, qword)
    } else {
        (LscData::D32, dword)
    };
    let n = 1u32 << (bytes / size).clamp(1, LONGEST).ilog2();
    let vector = LscVector::Count {
        n: n as u8,
        transposed: true,
    };
    (access(mem, moves(dir), data, vector), n * size)
}

/// An atomic on an element a lane.
pub(super) fn atomic(op: AtomicOp, mem: MemFlags, ty: Type) -> MsgOp {
    let op = match op {
        AtomicOp::Fmin => LscOp::AtomicFmin,
        AtomicOp::Fmax => LscOp::AtomicFmax,
        AtomicOp::Fcmpxchg => LscOp::AtomicFcas,
        AtomicOp::Add => LscOp::AtomicIadd,
        AtomicOp::Sub => LscOp::AtomicIsub,
        AtomicOp::Inc => LscOp::AtomicIinc,
        AtomicOp::Dec => LscOp::AtomicIdec,
        AtomicOp::And => LscOp::AtomicAnd,
        AtomicOp::Or => LscOp::AtomicOr,
        AtomicOp::Xor => LscOp::AtomicXor,
        AtomicOp::Xchg => LscOp::AtomicStore,
        AtomicOp::Smin => LscOp::AtomicSmin,
        AtomicOp::Smax => LscOp::AtomicSmax,
        AtomicOp::Umin => LscOp::AtomicUmin,
        AtomicOp::Umax => LscOp::AtomicUmax,
        AtomicOp::Cmpxchg => LscOp::AtomicIcas,
    };
    let data = match ty.bytes() {
        8 => LscData::D64,
        2 => LscData::D16U32,
        _ => LscData::D32,
    };
    access(mem, op, data, LscVector::ONE)
}
