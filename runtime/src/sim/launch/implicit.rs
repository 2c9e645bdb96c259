//! Implicit arguments: a structure in memory by which functions that are no kernels learn about the
//! launch.
//!
//! The structure is version 1 of compute-runtime's (`implicit_args_base.h`), which begins like
//! version 0. Its address is in the payload (`implicit_arg_buffer`) or, from Xe-HP on, in `r0.0`.
//! It holds the address of a table with the local ids of all threads of the group.

use super::payload::LocalIdWalk;
use crate::backend::LaunchRequest;
use crate::zebin::{KernelInfo, LaunchFact, PayloadKind};

/// Bytes of memory for the structure.
pub(in super::super) const BYTES: u32 = 192;
/// Size in bytes that the structure states.
const SIZE: u8 = 140;
const VERSION: u8 = 1;

/// Addresses of buffers that a launch provides; 0 where it does not.
#[derive(Clone, Copy, Default)]
pub(super) struct BufferAddresses {
    pub(super) printf: u64,
    pub(super) assert: u64,
    pub(super) sync: u64,
}

/// Implicit arguments of a launch.
pub(in super::super) struct ImplicitArgs {
    /// Structure without the group's size and the table's address.
    template: [u8; BYTES as usize],
    simd: u32,
    /// Bytes of the table for a thread.
    entry: u32,
    /// Bytes of the table for one dimension of a thread's channels.
    row: u32,
}

impl ImplicitArgs {
    /// Creates them; `None` if the kernel does not use them. `in_header` is true if the kernel
    /// takes the address from `r0.0`.
    pub(super) fn new(
        request: &LaunchRequest<'_>,
        in_header: bool,
        buffers: &BufferAddresses,
    ) -> Option<ImplicitArgs> {
        let kernel: &KernelInfo = request.kernel;
        let by_address = kernel
            .payload
            .iter()
            .any(|p| p.kind == PayloadKind::Launch(LaunchFact::ImplicitArgs));
        if !by_address && !in_header {
            return None;
        }
        let mut template = [0; BYTES as usize];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(o) = template.get_mut(at..at + bytes.len()) {
                o.copy_from_slice(bytes);
            }
        };
        let simd = kernel.env.simd_size;
        put(0, &[SIZE, VERSION, request.dimensions as u8, simd as u8]);
        let wide = |v: [u32; 3]| v.map(|n| u64::from(n).to_le_bytes());
        put(16, wide(request.global).as_flattened());
        put(40, &buffers.printf.to_le_bytes());
        put(48, wide(request.offset).as_flattened());
        put(80, request.groups().map(u32::to_le_bytes).as_flattened());
        put(104, &buffers.assert.to_le_bytes());
        put(120, &buffers.sync.to_le_bytes());
        put(128, request.local.map(u32::to_le_bytes).as_flattened());
        // Rows are words, at least 16 of them, whatever the size of a GRF (intel-graphics-compiler,
        // `WIFuncResolution.cpp`).
        let row = simd.max(16) * 2;
        Some(ImplicitArgs {
            template,
            simd,
            entry: if simd == 1 { 6 } else { 3 * row },
            row,
        })
    }

    /// Returns the bytes for the table of a number of threads and the structure after it.
    pub(in super::super) fn bytes(&self, threads: u32) -> usize {
        self.table(threads) + BYTES as usize
    }

    /// Returns the bytes of the table of a number of threads.
    fn table(&self, threads: u32) -> usize {
        (threads as usize * self.entry as usize).next_multiple_of(64)
    }

    /// Builds the table and the structure of a group, for memory at an address. Returns the bytes
    /// and the structure's offset in them.
    pub(in super::super) fn of_group(
        &self,
        walk: &LocalIdWalk,
        size: [u32; 3],
        address: u64,
    ) -> (Vec<u8>, usize) {
        let items = size.iter().product::<u32>();
        let threads = items.div_ceil(self.simd);
        let entry = self.entry;
        let table = self.table(threads);
        let mut out = vec![0; table + BYTES as usize];
        for t in 0..threads {
            let first = t * self.simd;
            let lanes = (items - first).min(self.simd);
            if let Some(o) = out.get_mut((t * entry) as usize..((t + 1) * entry) as usize) {
                if self.simd == 1 {
                    walk.packed(first, o);
                } else {
                    walk.rows(first, lanes, self.row, o);
                }
            }
        }
        if let Some(o) = out.get_mut(table..) {
            o.copy_from_slice(&self.template);
        }
        let sizes = size.map(u32::to_le_bytes);
        if let Some(o) = out.get_mut(table + 4..table + 16) {
            o.copy_from_slice(sizes.as_flattened());
        }
        if let Some(o) = out.get_mut(table + 72..table + 80) {
            o.copy_from_slice(&address.to_le_bytes());
        }
        (out, table)
    }
}
