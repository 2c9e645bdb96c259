//! Gen8 to Gen11: `r0` is the thread header. If the kernel reads local ids, whole GRFs of words for
//! x, y and z follow; else one unused GRF. Then comes the cross-thread data.

use super::{Abi, Barrier, Bits};

pub(super) static GEN8: Abi = GEN8_ABI;

const GEN8_ABI: Abi = Abi {
    whole: true,
    no_id_grfs: 1,
    local_id_bytes: 2,
    eot_grfs: 16,
    loads_payload: false,
    barrier: Barrier::Masked(0x8f00_0000),
    scratch_mask: 0xffff_fc00,
    scratch_shift: 0,
    hw_thread: Bits::new(0, 9),
    eu: Bits::new(8, 4),
    eu_thread: Bits::new(0, 3),
    subslice: Bits::new(12, 2),
    slice: Bits::new(14, 2),
    denormals: [0x40, 0x80, 0x400],
};

pub(super) static GEN11: Abi = GEN11_ABI;

/// ABI that Xe-LP is based on.
pub(super) const GEN11_ABI: Abi = Abi {
    barrier: Barrier::Masked(0x7f00_0000),
    hw_thread: Bits::new(0, 10),
    eu: Bits::new(4, 4),
    subslice: Bits::new(8, 1),
    slice: Bits::new(12, 3),
    ..GEN8_ABI
};
