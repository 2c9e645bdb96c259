//! Words of a block: allocated here, or memory of the host that is used in place.
#![allow(
    unsafe_code,
    reason = "memory of the host is used in place, at its own address"
)]

use super::WORD;
use crate::host_memory::HostMemory;
use bytemuck::allocation::try_zeroed_slice_box;
use std::any::Any;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Words of a block.
pub(super) struct Words {
    all: NonNull<[AtomicU64]>,
    /// Owner of the host's memory; `None` where this allocated the words.
    owner: Option<Box<dyn Any + Send + Sync>>,
}

// SAFETY: the words are atomics, and their owner may be sent and shared.
unsafe impl Send for Words {}
// SAFETY: as for `Send`.
unsafe impl Sync for Words {}

impl Words {
    /// Allocates words that are zero; `None` if there is not that much memory.
    pub(super) fn zeroed(n: usize) -> Option<Words> {
        let all: Box<[AtomicU64]> = try_zeroed_slice_box(n).ok()?;
        Some(Words {
            all: NonNull::from(Box::leak(all)),
            owner: None,
        })
    }

    /// Uses memory of the host, whose last word may be one in part.
    pub(super) fn of_host(memory: HostMemory) -> Words {
        let start = memory.start().cast::<AtomicU64>();
        let n = memory.len().div_ceil(WORD as usize);
        Words {
            all: NonNull::slice_from_raw_parts(start, n),
            owner: Some(memory.into_owner()),
        }
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the words are those of a box that only `drop` frees, or by the contract of
        // `HostMemory::new` readable, writable and aligned as long as the owner lives.
        unsafe { self.all.as_ref() }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.owner.is_none() {
            // SAFETY: `zeroed` leaked this box, and nothing else frees it.
            drop(unsafe { Box::from_raw(self.all.as_ptr()) });
        }
    }
}
