//! Buffers that a launch provides to a kernel: for printing, failed assertions, and synchronisation
//! of groups.

use super::super::memory::{SimBuffer, Space, View};
use super::super::printf;
use super::implicit::BufferAddresses;
use crate::backend::LaunchRequest;
use crate::buffer::BufferBackend;
use crate::error::Error;
use crate::limits::{Limits, within};
use crate::zebin::{LaunchFact, PayloadKind};
use std::sync::Arc;

/// Bytes of the assertion buffer. It has its size, a flag that an assertion failed, then a printf
/// buffer (compute-runtime, `assert_handler.h`).
const ASSERT_BYTES: usize = 64 << 10;
const ASSERT_FLAG: u64 = 4;
const ASSERT_TEXT: u64 = 8;

/// Buffers of a launch.
#[derive(Default)]
pub(super) struct LaunchBuffers {
    pub(super) addresses: BufferAddresses,
    printf: Option<Arc<SimBuffer>>,
    assert: Option<Arc<SimBuffer>>,
    sync: Option<Arc<SimBuffer>>,
}

impl LaunchBuffers {
    /// Allocates the buffers that the kernel asks for. `implicit_args` is true if it has implicit
    /// arguments, through which functions may print.
    pub(super) fn new(
        request: &LaunchRequest<'_>,
        implicit_args: bool,
        space: &Arc<Space>,
        limits: &Limits,
    ) -> Result<LaunchBuffers, Error> {
        let kernel = request.kernel;
        let has = |fact| {
            let mut kinds = kernel.payload.iter().map(|p| &p.kind);
            kinds.any(|k| *k == PayloadKind::Launch(fact))
        };
        let implicit = implicit_args || has(LaunchFact::ImplicitArgs);
        let make = |wanted: bool, bytes: usize| -> Result<Option<Arc<SimBuffer>>, Error> {
            wanted.then(|| space.alloc(bytes)).transpose()
        };
        let printf = make(
            implicit || has(LaunchFact::PrintfBuffer),
            printf::BUFFER_BYTES,
        )?;
        if let Some(b) = &printf {
            b.block.store(0, 4, u64::from(printf::EMPTY));
        }
        let assert = make(implicit || has(LaunchFact::AssertBuffer), ASSERT_BYTES)?;
        if let Some(b) = &assert {
            b.block.store(0, 4, ASSERT_BYTES as u64);
            b.block
                .store(ASSERT_TEXT, 4, ASSERT_TEXT + u64::from(printf::EMPTY));
        }
        let groups = request
            .groups()
            .iter()
            .map(|n| u64::from(*n))
            .product::<u64>();
        let sync_bytes = if has(LaunchFact::SyncBuffer) {
            groups
                .saturating_mul(4)
                .checked_next_multiple_of(64)
                .map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX))
        } else {
            0
        };
        let what = "bytes of memory that its groups share";
        within(what, sync_bytes, limits.launch_bytes).map_err(|excess| Error::Limit {
            kernel: kernel.name.clone(),
            excess,
        })?;
        let sync = make(sync_bytes > 0, sync_bytes)?;
        let address = |b: &Option<Arc<SimBuffer>>| b.as_ref().map_or(0, |b| b.address());
        Ok(LaunchBuffers {
            addresses: BufferAddresses {
                printf: address(&printf),
                assert: address(&assert),
                sync: address(&sync),
            },
            printf,
            assert,
            sync,
        })
    }

    /// Returns their length in bytes.
    pub(super) fn bytes(&self) -> usize {
        let all = [&self.printf, &self.assert, &self.sync];
        all.into_iter().flatten().map(|b| b.len()).sum()
    }

    /// Returns the text that the kernel printed. `memory` holds the strings.
    pub(super) fn printed(&self, memory: &View<'_>, limits: &Limits) -> printf::PrintedText {
        let printf = self.printf.as_ref();
        printf.map_or_else(printf::PrintedText::default, |b| {
            printf::text(&b.block, 0, memory, limits)
        })
    }

    /// Returns the text of failed assertions, if any failed.
    pub(super) fn assertion(&self, memory: &View<'_>, limits: &Limits) -> Option<String> {
        let b = self.assert.as_ref()?;
        let failed = b.block.load(ASSERT_FLAG, 4) != 0;
        failed.then(|| printf::text(&b.block, ASSERT_TEXT, memory, limits).text)
    }
}
