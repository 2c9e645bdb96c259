//! ABI of threads, one file per platform family: how threads start, synchronize and end.
//!
//! It covers the initial contents of a thread's registers ([`Payload`]), and the bits of the thread
//! header that messages need. It also covers the registers for the last message's payload. Sources:
//! the driver's documented and observed behaviour, and the output of Intel's compiler.

mod before_xe;
mod payload;
mod xe;

pub use payload::{LaunchFact, Payload, Slot};
pub(crate) use payload::{NO_CROSS_BYTES, PACKED_IDS, has_resources};

use gantry_isa_gen::Platform;

/// Largest number of routines of a kernel: subroutines that are called in hardware.
pub(crate) const MAX_ROUTINES: usize = 200;

/// Contract between a thread and its dispatcher.
#[derive(PartialEq, Eq, Debug)]
pub struct Abi {
    /// True if everything that kernels may use is supported.
    pub(crate) whole: bool,
    /// Number of GRFs before the cross-thread data in a kernel that reads no local ids.
    pub(crate) no_id_grfs: u32,
    /// Alignment in bytes of the local ids of a dimension.
    pub(crate) local_id_bytes: u32,
    /// Number of GRFs at the end of the GRF file that may hold the payload of a thread's last
    /// message (PRM, "End of Thread").
    pub(crate) eot_grfs: u32,
    /// True if ids and cross-thread data are in memory. The kernel then loads them to the registers
    /// that other platforms put them in.
    pub(crate) loads_payload: bool,
    /// Fields of a barrier message that describe the group, taken from the thread header.
    pub(crate) barrier: Barrier,
    /// Bits of dword 5 of the thread header with the start of the thread's scratch.
    pub(crate) scratch_mask: u32,
    /// Right shift of these bits that gives the value for messages: the offset of a surface's
    /// state, or of scratch itself.
    pub(crate) scratch_shift: u32,
    /// Bits of dword 5 of the thread header with the number of the hardware thread.
    pub(crate) hw_thread: Bits,
    /// Bits of `sr0.0` with the EU in its subslice.
    pub(crate) eu: Bits,
    /// Bits of `sr0.0` with the thread in its EU.
    pub(crate) eu_thread: Bits,
    /// Bits of `sr0.0` with the subslice in its slice.
    pub(crate) subslice: Bits,
    /// Bits of `sr0.0` with the slice.
    pub(crate) slice: Bits,
    /// Bits of `cr0.0` that keep denormals of doubles, of singles and of halves.
    pub(crate) denormals: [u32; 3],
}

/// Fields of a barrier message that describe the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Barrier {
    /// Dword 2 is that of the thread header under this mask.
    Masked(u32),
    /// Bytes 10 and 11 are the numbers of threads that signal and that wait. Both are byte 11 of
    /// the thread header.
    Counted,
}

/// Bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bits {
    /// Lowest bit.
    pub first: u32,
    /// Number of bits.
    pub count: u32,
}

impl Bits {
    const fn new(first: u32, count: u32) -> Bits {
        Bits { first, count }
    }
}

impl Abi {
    /// Returns the ABI of a platform, if there is a code generator for it.
    pub fn of(platform: Platform) -> Option<&'static Abi> {
        match platform {
            Platform::Gen8 | Platform::Gen8Lp | Platform::Gen9 | Platform::Gen9Lp => {
                Some(&before_xe::GEN8)
            }
            Platform::Gen11 => Some(&before_xe::GEN11),
            Platform::XeLp => Some(&xe::XE_LP),
            Platform::XeHpg => Some(&xe::XE_HPG),
            Platform::XeHpc => Some(&xe::XE_HPC),
            _ => None,
        }
    }
}

/// Returns the byte address in the GRF file of a group id: in the thread header, on all platforms.
pub(crate) fn group_id_address(dim: crate::ir::Dim) -> u32 {
    use crate::ir::Dim;
    match dim {
        Dim::X => 4,
        Dim::Y => 24,
        Dim::Z => 28,
    }
}
