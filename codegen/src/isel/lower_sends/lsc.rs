//! Messages of the load/store cache, which Xe-HPG has beside the older data port and Xe-HPC instead
//! of it.
//!
//! An access gives its port, its address size, its surface if there is one, and its cache policy.
//! Elements of a lane follow each other row by row, as in messages of the data port. A run at one
//! address is "transposed". (XeHPG and XeHPC PRMs, "Shared Functions - Data Port". Policies that
//! the IR does not give are those of Intel's compiler.)

use super::scattered::LaneUnit;
use crate::ir::{AtomicOp, CachePolicy, LevelPolicy, MemFlags, Space};
use crate::mir::logical::Dir;
use gantry_isa_gen::Type;
use gantry_isa_gen::message::{
    CacheOpt, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort, LscSurface, LscVector, MsgOp,
};

/// Largest number of dwords, and of qwords, of one run.
const LONGEST: u32 = 64;

/// Returns a load, store or atomic in a space. Scratch is a surface, whose state is given outside
/// the message.
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

/// Returns the field of a cache policy.
pub(super) fn policy(cache: CachePolicy) -> LscCaching {
    let level = |policy| match policy {
        LevelPolicy::Default => CacheOpt::Default,
        LevelPolicy::Uncached => CacheOpt::Uncached,
        LevelPolicy::Cached => CacheOpt::Cached,
        LevelPolicy::WriteThrough => CacheOpt::WriteThrough,
        LevelPolicy::WriteBack => CacheOpt::WriteBack,
        LevelPolicy::Streaming => CacheOpt::Streaming,
        LevelPolicy::ReadInvalidate => CacheOpt::ReadInvalidate,
    };
    LscCaching {
        l1: level(cache.l1),
        l3: level(cache.l3),
    }
}

/// Returns the cache policy of an access: that of the IR, if it has one. Else read-only memory is
/// cached in both levels, and volatile accesses bypass the first level, which is private to a core.
fn caching(mem: MemFlags, op: LscOp) -> LscCaching {
    let both = |l1, l3| LscCaching { l1, l3 };
    match op {
        _ if mem.space == Space::Slm => LscCaching::DEFAULT,
        _ if mem.cache != CachePolicy::DEFAULT => policy(mem.cache),
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

/// Returns an access to the elements of one message per lane.
pub(super) fn lanes(dir: Dir, mem: MemFlags, unit: LaneUnit) -> MsgOp {
    let (data, n) = match unit {
        LaneUnit::Bytes(1) => (LscData::D8U32, 1),
        LaneUnit::Bytes(2) => (LscData::D16U32, 1),
        LaneUnit::Bytes(_) => (LscData::D32, 1),
        LaneUnit::Dwords(n) => (LscData::D32, n),
        LaneUnit::Qwords(n) => (LscData::D64, n),
    };
    let (n, transposed) = (n as u8, false);
    access(mem, moves(dir), data, LscVector::Count { n, transposed })
}

/// Returns an access to a run of up to `bytes` bytes, a multiple of four, and the number of bytes
/// that it moves. The address is a multiple of `align`.
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

/// Returns an atomic on one element per lane.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Opcode;
    use gantry_isa_gen::message::LscKind;

    #[test]
    fn the_ir_has_the_policies_of_messages() {
        let kinds = [
            (Opcode::Load, LscKind::Load),
            (Opcode::Store, LscKind::Store),
        ];
        for (opcode, kind) in kinds {
            for l1 in LevelPolicy::ALL {
                for l3 in LevelPolicy::ALL {
                    let cache = CachePolicy { l1, l3 };
                    let has = policy(cache).bits(kind).is_some();
                    assert_eq!(cache.check(opcode).is_ok(), has, "{opcode} {cache:?}");
                }
            }
        }
        // Those of atomics are some of the stores'.
        for cache in CachePolicy::choices(Opcode::Atomic) {
            assert!(cache.check(Opcode::Store).is_ok(), "{cache:?}");
        }
    }
}
