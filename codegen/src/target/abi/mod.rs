//! How threads begin, meet and end: a file a platform family.
//!
//! What a thread finds in its registers ([`Payload`]), the bits of the thread header that messages
//! want, where the payload of the last message may lie. Sources: the driver's documented behaviour
//! (what it was seen to put there) and the code that Intel's compiler makes.

mod before_xe;
mod payload;
mod xe;

pub(crate) use payload::NO_CROSS_BYTES;
pub(crate) use payload::PACKED_IDS;
pub(crate) use payload::has_what_is_asked;
pub use payload::{LaunchFact, Payload, Slot};

use gantry_isa_gen::Platform;

/// Most routines that a kernel has: subroutines that are called in hardware.
pub(crate) const MAX_ROUTINES: usize = 200;

/// The contract between a thread and who dispatches it.
#[derive(PartialEq, Eq, Debug)]
pub struct Abi {
    /// Whether there is all that kernels may ask for.
    pub(crate) whole: bool,
    /// Registers before the cross-thread data where a kernel reads no local ids.
    pub(crate) no_id_grfs: u32,
    /// Whether the local ids of a dimension start at a register of their own.
    pub(crate) local_id_bytes: u32,
    /// The payload of a thread's last message lies in this many registers at the file's end (PRM,
    /// "End of Thread").
    pub(crate) eot_grfs: u32,
    /// Whether ids and cross-thread data are in memory, where the kernel loads them from to where
    /// other threads find them.
    pub(crate) loads_payload: bool,
    /// What a barrier message says of the group, from the thread header.
    pub(crate) barrier: Barrier,
    /// The bits of dword 5 of the thread header that say where the thread's scratch begins.
    pub(crate) scratch_mask: u32,
    /// By how many bits those are shifted down to be what messages want: the offset of a surface's
    /// state, or of scratch itself.
    pub(crate) scratch_shift: u32,
    /// The bits of dword 5 of the thread header that number the threads that run at a time.
    pub(crate) hw_thread: Bits,
    /// The bits of `sr0.0` that say which EU of its subslice a thread runs on.
    pub(crate) eu: Bits,
    /// ... which of the EU's threads it is.
    pub(crate) eu_thread: Bits,
    /// ... which subslice of its slice it is on.
    pub(crate) subslice: Bits,
    /// ... which slice.
    pub(crate) slice: Bits,
    /// The bits of `cr0.0` that keep denormals of doubles, of singles and of halves.
    pub(crate) denormals: [u32; 3],
}

/// What a barrier message says of the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Barrier {
    /// Dword 2 is that of the thread header, these bits of it.
    Masked(u32),
    /// Bytes 10 and 11 are how many threads signal and how many wait, which is byte 11 of the
    /// thread header.
    Counted,
}

/// Bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bits {
    /// The lowest one.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl Bits {
    const fn new(first: u32, count: u32) -> Bits {
        Bits { first, count }
    }
}

impl Abi {
    /// The contract of a platform, if there is a code generator for it.
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

/// Byte address in the register file of a group id: in the thread header, on all platforms.
pub(crate) fn group_id_address(dim: crate::ir::Dim) -> u32 {
    use crate::ir::Dim;
    match dim {
        Dim::X => 4,
        Dim::Y => 24,
        Dim::Z => 28,
    }
}
