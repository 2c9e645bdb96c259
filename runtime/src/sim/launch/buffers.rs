//! Buffers that a launch gives a kernel on its own: what it prints, failed assertions, synchronisation of groups.

use super::super::memory::{SimBuffer, Space, View};
use super::super::printf;
use super::implicit::Buffers;
use crate::backend::{BufferBackend, Request};
use crate::error::Error;
use crate::zebin::PayloadKind;
use std::sync::Arc;

/// Bytes of the assertion buffer (compute-runtime, `assert_handler.h`): its size, a flag that an assertion failed, then a
/// printf buffer.
const ASSERT_BYTES: usize = 64 << 10;
const ASSERT_FLAG: u64 = 4;
const ASSERT_TEXT: u64 = 8;

/// A launch's own buffers.
#[derive(Default)]
pub(super) struct LaunchBuffers {
    pub(super) addresses: Buffers,
    printf: Option<Arc<SimBuffer>>,
    assert: Option<Arc<SimBuffer>>,
    _sync: Option<Arc<SimBuffer>>,
}

impl LaunchBuffers {
    /// Makes those that the kernel asks for. `implicit_args`: it has implicit arguments, through which functions may print.
    pub(super) fn new(
        request: &Request<'_>,
        implicit_args: bool,
        space: &Arc<Space>,
    ) -> Result<LaunchBuffers, Error> {
        let kernel = request.kernel;
        let has = |kind: &PayloadKind| kernel.payload.iter().any(|p| p.kind == *kind);
        let implicit = implicit_args || has(&PayloadKind::ImplicitArgs);
        let make = |wanted: bool, bytes: usize| -> Result<Option<Arc<SimBuffer>>, Error> {
            wanted.then(|| space.alloc(bytes)).transpose()
        };
        let printf = make(
            implicit || has(&PayloadKind::PrintfBuffer),
            printf::BUFFER_BYTES,
        )?;
        if let Some(b) = &printf {
            b.block.store(0, 4, u64::from(printf::EMPTY));
        }
        let assert = make(implicit || has(&PayloadKind::AssertBuffer), ASSERT_BYTES)?;
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
        let sync = make(
            has(&PayloadKind::SyncBuffer),
            usize::try_from(groups.saturating_mul(4).next_multiple_of(64)).unwrap_or(usize::MAX),
        )?;
        let address = |b: &Option<Arc<SimBuffer>>| b.as_ref().map_or(0, |b| b.address());
        Ok(LaunchBuffers {
            addresses: Buffers {
                printf: address(&printf),
                assert: address(&assert),
                sync: address(&sync),
            },
            printf,
            assert,
            _sync: sync,
        })
    }

    /// What the kernel printed. `memory` holds the strings.
    pub(super) fn printed(&self, memory: &View) -> Option<String> {
        let b = self.printf.as_ref()?;
        let text = printf::text(&b.block, 0, memory);
        (!text.is_empty()).then_some(text)
    }

    /// What failed assertions say, if any failed.
    pub(super) fn assertion(&self, memory: &View) -> Option<String> {
        let b = self.assert.as_ref()?;
        (b.block.load(ASSERT_FLAG, 4) != 0).then(|| printf::text(&b.block, ASSERT_TEXT, memory))
    }
}
