//! Xe-LP has the ABI of Gen11. From Xe-HP on, the payload is in memory, at the offset of general
//! state base in `r0.0`. It is the cross-thread data, then the ids of one thread after the other.
//!
//! The kernel loads it to the registers that it has before Xe-HP (`emit::prologue`). The hardware
//! generates local ids itself if it can. It then enters the kernel after the instructions that load
//! them.

use super::before_xe::GEN11_ABI;
use super::{Abi, Barrier, Bits};

pub(super) static XE_LP: Abi = GEN11_ABI;

pub(super) static XE_HPG: Abi = XE_HPG_ABI;

pub(super) static XE_HPC: Abi = Abi {
    whole: true,
    ..XE_HPG_ABI
};

const XE_HPG_ABI: Abi = Abi {
    whole: true,
    no_id_grfs: 0,
    loads_payload: true,
    scratch_shift: 4,
    barrier: Barrier::Counted,
    slice: Bits::new(11, 3),
    ..GEN11_ABI
};
