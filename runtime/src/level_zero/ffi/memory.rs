//! Memory of a GPU.

use super::super::api::{CopyRegion, DeviceMemDesc, HostMemDesc, check};
use super::{Gpu, QueueResource};
use crate::buffer::{MemoryKind, Pitch};
use crate::control::Span;
use crate::error::Error;
use std::ffi::c_void;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

/// Alignment of allocations, in bytes.
const ALIGN: usize = 64;
/// Limit on the bytes of a pattern that the driver fills by: a power of two.
const MAX_PATTERN: usize = 16;

/// Memory of a GPU.
pub(in super::super) struct Memory {
    gpu: Arc<Gpu>,
    at: *mut c_void,
    len: usize,
    kind: MemoryKind,
}

// SAFETY: the address is of memory that only the driver's calls touch, and who is given it by
// `host_ptr`.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`; every call has a list of its own.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        self.gpu.release(QueueResource::Memory(self.at));
    }
}

impl Memory {
    /// Allocates memory of a length in bytes, with undefined contents.
    pub(in super::super) fn new(
        gpu: &Arc<Gpu>,
        len: usize,
        kind: MemoryKind,
    ) -> Result<Memory, Error> {
        let (f, context, device) = (&gpu.f, gpu.context, gpu.device);
        let desc = DeviceMemDesc {
            stype: 0x15,
            next: null(),
            flags: 0,
            ordinal: 0,
        };
        let host = HostMemDesc {
            stype: 0x16,
            next: null(),
            flags: 0,
        };
        let mut at = null_mut();
        let (size, to) = (len.max(1), &raw mut at);
        // SAFETY: our handles, whole descriptors and a place for the address; a size of at least 1
        // byte.
        let (call, code) = unsafe {
            match kind {
                MemoryKind::Device => (
                    "zeMemAllocDevice",
                    (f.mem_alloc)(context, &desc, size, ALIGN, device, to),
                ),
                MemoryKind::Host => (
                    "zeMemAllocHost",
                    (f.mem_alloc_host)(context, &host, size, ALIGN, to),
                ),
                MemoryKind::Shared => (
                    "zeMemAllocShared",
                    (f.mem_alloc_shared)(context, &desc, &host, size, ALIGN, device, to),
                ),
            }
        };
        check(call, code)?;
        Ok(Memory {
            gpu: gpu.clone(),
            at,
            len,
            kind,
        })
    }

    pub(in super::super) fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// Returns the address for the host, where the host can access the memory.
    pub(in super::super) fn host_ptr(&self) -> Option<NonNull<u8>> {
        let at = NonNull::new(self.at.cast())?;
        (self.kind != MemoryKind::Device).then_some(at)
    }

    pub(in super::super) fn len(&self) -> usize {
        self.len
    }

    pub(in super::super) fn address(&self) -> u64 {
        self.at as u64
    }

    pub(super) fn range(&self, at: usize, n: usize) -> Result<*mut c_void, Error> {
        match at.checked_add(n) {
            Some(end) if end <= self.len => Ok(self.at.wrapping_byte_add(at)),
            _ => Err(Error::Buffer(format!(
                "{n} bytes at {at} are outside the buffer"
            ))),
        }
    }

    /// Copies to the device.
    pub(in super::super) fn write(&self, at: usize, bytes: Vec<u8>) -> Result<Option<Span>, Error> {
        let to = self.range(at, bytes.len())?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let from = bytes.as_ptr().cast();
        let result = self.gpu.copy(to, from, bytes.len());
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }

    /// Copies from the device.
    pub(in super::super) fn read(&self, at: usize, out: &mut [u8]) -> Result<Option<Span>, Error> {
        let from = self.range(at, out.len())?;
        if out.is_empty() {
            return Ok(None);
        }
        let mut bytes = vec![0; out.len()];
        let to = bytes.as_mut_ptr().cast();
        let result = self.gpu.copy(to, from.cast_const(), bytes.len());
        if result.is_ok() {
            out.copy_from_slice(&bytes);
        }
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }

    /// Copies from other memory of the same GPU, which has no bytes in common.
    pub(in super::super) fn copy_from(
        &self,
        at: usize,
        source: &Memory,
        from: usize,
        len: usize,
    ) -> Result<Option<Span>, Error> {
        let (to, from) = (self.range(at, len)?, source.range(from, len)?);
        if len == 0 {
            return Ok(None);
        }
        self.gpu.copy(to, from.cast_const(), len)
    }

    /// Repeats a pattern. The driver fills where it can, else the host makes the bytes.
    pub(in super::super) fn fill(
        &self,
        at: usize,
        bytes: usize,
        pattern: &[u8],
    ) -> Result<Option<Span>, Error> {
        let to = self.range(at, bytes)?;
        let n = pattern.len();
        let fits = n.is_power_of_two() && n <= MAX_PATTERN && bytes.is_multiple_of(n);
        if !fits || !(to as usize).is_multiple_of(n) {
            let mut data = pattern.repeat(bytes.div_ceil(n.max(1)));
            data.truncate(bytes);
            return self.write(at, data);
        }
        if bytes == 0 {
            return Ok(None);
        }
        let pattern = pattern.to_vec();
        let from = pattern.as_ptr().cast();
        let f = &self.gpu.f;
        let result = self.gpu.transfer(|list, event| {
            // SAFETY: a list and an event that no other thread has. The range is within the memory,
            // and pattern and memory live until the list has ended: they are released, not freed.
            check("zeCommandListAppendMemoryFill", unsafe {
                (f.list_fill)(list, to, from, n, bytes, event, 0, null_mut())
            })
        });
        self.gpu.release(QueueResource::Host { _bytes: pattern });
        result
    }

    /// Copies rows from other memory of the same GPU: `size` has the bytes of a row, the rows and
    /// the slices. `None` where the driver's copy does not take such rows.
    pub(in super::super) fn copy_rows_from(
        &self,
        to: Pitch,
        source: &Memory,
        from: Pitch,
        size: [usize; 3],
    ) -> Option<Result<Option<Span>, Error>> {
        let [width, height, depth] = size.map(|n| u32::try_from(n).ok());
        let region = CopyRegion {
            x: 0,
            y: 0,
            z: 0,
            width: width?,
            height: height?,
            depth: depth?,
        };
        let [_, rows, slices] = size;
        // Slices that are not whole rows apart, or that lie between each other's rows, are left to
        // copies of one row.
        let pitches = |p: Pitch| {
            let row = if rows == 1 { size[0] } else { p.row };
            let slice = if slices == 1 {
                row.checked_mul(rows)?
            } else {
                p.slice
            };
            let whole = slice.is_multiple_of(row) && slice / row >= rows;
            let end = slice.checked_mul(slices)?.checked_add(p.offset)?;
            let fits = whole && u32::try_from(end).is_ok();
            fits.then_some((row as u32, slice as u32))
        };
        let (to_pitch, from_pitch) = (pitches(to)?, pitches(from)?);
        // `Buffer` has checked that the last row is within each.
        let place = |m: &Memory, p: Pitch| m.range(p.offset, size[0]);
        let places = place(self, to).and_then(|t| Ok((t, place(source, from)?)));
        let (target, start) = match places {
            Ok(places) => places,
            Err(e) => return Some(Err(e)),
        };
        let f = &self.gpu.f;
        Some(self.gpu.transfer(|list, event| {
            // SAFETY: a list and an event that no other thread has. All rows are within their
            // memory, which lives until the list has ended; the regions are copied by the call.
            check("zeCommandListAppendMemoryCopyRegion", unsafe {
                (f.list_copy_region)(
                    list,
                    target,
                    &region,
                    to_pitch.0,
                    to_pitch.1,
                    start.cast_const(),
                    &region,
                    from_pitch.0,
                    from_pitch.1,
                    event,
                    0,
                    null_mut(),
                )
            })
        }))
    }
}
