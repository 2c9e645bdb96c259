//! Differences between platforms in memory access: channels of a message, split sends, fences.

use crate::ir::FenceSpaces;
use crate::target::Target;
use gantry_isa_gen::message::{
    AddrModel, CacheOpt, GatewayOp, LscAccess, LscAddr, LscCaching, LscData, LscFenceOp, LscOp,
    LscPort, LscScope, LscSurface, LscVector, MsgOp,
};
use gantry_isa_gen::{ExecSize, Platform};
use smallvec::SmallVec;

/// Returns the largest number of channels of a scattered message. Before split sends, a message of
/// 16 with 64-bit addresses would leave no space for data. (Intel's compiler takes 8 on Gen8.)
pub(super) fn channels(target: &Target, addr: AddrModel) -> u32 {
    if addr.is_a64() && !target.split_sends() {
        8
    } else {
        target.grf().bytes / 2
    }
}

/// Returns the largest number of channels of an atomic (PRM, data port 1: A64 atomics are SIMD8).
pub(super) fn atomic_channels(target: &Target, addr: AddrModel) -> u32 {
    if addr.is_a64() && !target.features().lsc {
        8
    } else {
        channels(target, addr)
    }
}

/// Returns true if sampler messages have a header: Intel's compiler gives them one only on Gen9.
pub(super) fn sampler_header(target: &Target) -> bool {
    matches!(target.platform(), Platform::Gen9 | Platform::Gen9Lp)
}

/// Returns true if typed messages have a header, whose last dword is the mask of enabled slots.
pub(super) fn typed_header(target: &Target) -> bool {
    !target.split_sends()
}

/// Returns the message that ends a thread: to the thread spawner, or to the gateway on platforms
/// without one.
pub(super) fn thread_end(target: &Target) -> MsgOp {
    let no_dereference = true;
    if target.features().lsc {
        MsgOp::Gateway(GatewayOp::ThreadEnd { no_dereference })
    } else {
        MsgOp::ThreadEnd { no_dereference }
    }
}

/// Returns the fences that order accesses to some memories, and the channels of each. If local
/// memory is in the L3 cache, one fence orders both. The load/store cache has one fence per port,
/// as Intel's compiler emits them.
///
/// Before a barrier there, local memory needs none. Intel's compiler emits none for Gen8 and Gen9
/// (`barrier(CLK_LOCAL_MEM_FENCE)` for bdw, skl and bxt), and one from Gen11 on.
pub(super) fn fences(
    target: &Target,
    spaces: FenceSpaces,
    before_barrier: bool,
) -> SmallVec<[(MsgOp, ExecSize); 3]> {
    let f = target.features();
    let mut out = SmallVec::new();
    if f.lsc {
        let fence = |port, op, scope| {
            let backup = port == LscPort::Ugm;
            let op = MsgOp::LscFence {
                port,
                op,
                scope,
                backup,
            };
            (op, ExecSize::S1)
        };
        if spaces.slm() {
            out.push(fence(LscPort::Slm, LscFenceOp::None, LscScope::Group));
        }
        if spaces.global() {
            for port in [LscPort::Ugm, LscPort::Tgm] {
                out.push(fence(port, LscFenceOp::Evict, LscScope::Gpu));
            }
        }
        return out;
    }
    let fence = |slm, flush| {
        let commit = true;
        (MsgOp::Fence { slm, commit, flush }, ExecSize::S8)
    };
    let one = f.slm_in_l3;
    if spaces.slm() && !one {
        out.push(fence(true, 0));
    }
    if spaces.global() || one && !before_barrier {
        out.push(fence(false, u8::from(!one)));
    }
    out
}

/// Returns the fence that makes a thread's writes to a memory outlive the thread.
pub(super) fn end_fence(target: &Target, slm: bool) -> (MsgOp, ExecSize) {
    if !target.features().lsc {
        let op = MsgOp::Fence {
            slm,
            commit: true,
            flush: 0,
        };
        return (op, ExecSize::S8);
    }
    let port = if slm { LscPort::Slm } else { LscPort::Ugm };
    let op = MsgOp::LscFence {
        port,
        op: LscFenceOp::None,
        scope: LscScope::Local,
        backup: port == LscPort::Ugm,
    };
    (op, ExecSize::S1)
}

/// Returns a load of `n` dwords at a 32-bit offset in general state base, to whole GRFs. The offset
/// is the payload's first dword.
pub(crate) fn payload_load(n: u8) -> MsgOp {
    MsgOp::Lsc(LscAccess {
        port: LscPort::Ugm,
        op: LscOp::Load,
        data: LscData::D32,
        vector: LscVector::Count {
            n,
            transposed: true,
        },
        addr: LscAddr::A32,
        surface: LscSurface::Bti(STATELESS),
        caching: LscCaching {
            l1: CacheOpt::Cached,
            l3: CacheOpt::Cached,
        },
    })
}

/// Binding table index that is no surface.
const STATELESS: u8 = 255;
