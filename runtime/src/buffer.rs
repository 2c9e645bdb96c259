//! Device memory as the host sees it.

use crate::control::Span;
use crate::error::Error;
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::ptr::NonNull;
use std::sync::Arc;

/// Device memory. Copies return their time, where the device measures it.
pub(crate) trait BufferBackend: Send + Sync {
    /// Returns the length in bytes.
    fn len(&self) -> usize;
    /// Returns the address that kernels see.
    fn address(&self) -> u64;
    /// Copies out of the buffer, from the offset `at`; the range is within the buffer.
    fn read(&self, at: usize, out: &mut [u8]) -> Result<Option<Span>, Error>;
    /// Copies into the buffer, at the offset `at`; the range is within the buffer.
    fn write(&self, at: usize, data: &[u8]) -> Result<Option<Span>, Error>;
    /// Returns the id of the device that it belongs to: `DeviceBackend::id`.
    fn device(&self) -> usize;
    /// Returns the kind of memory.
    fn kind(&self) -> MemoryKind;
    /// Returns the host's address of the first byte, where the host can access the memory.
    fn host_ptr(&self) -> Option<NonNull<u8>>;
    /// Repeats a pattern, from the offset `at` on; the range is within the buffer, and the pattern
    /// is not empty.
    fn fill(&self, at: usize, bytes: usize, pattern: &[u8]) -> Result<Option<Span>, Error>;
    /// Copies rows from memory of the same device at an address; all are within their memory, and
    /// none overlaps another. `None` if the host has to copy.
    fn copy_rows(
        &self,
        to: Pitch,
        source: u64,
        from: Pitch,
        size: [usize; 3],
    ) -> Option<Result<Option<Span>, Error>> {
        let _ = (to, source, from, size);
        None
    }
}

/// Kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryKind {
    /// Memory of the device. The host copies.
    #[default]
    Device,
    /// Memory of the host, which the device accesses where it is.
    Host,
    /// Memory of both, whose addresses are the same on host and device. Pointers in structures work
    /// on both.
    Shared,
}

#[cfg(target_endian = "big")]
compile_error!("devices are little-endian, and buffers are copied as the host's bytes");

/// Number that a launch passes by value: integers and floats. Structures are passed by
/// [`Arg::value`](crate::Arg::value).
pub trait Plain: Pod {}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {}
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, half::f16);

/// Device memory, or a part of it. A handle: clones and slices share the memory. It is freed with
/// the last of them.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) inner: Arc<dyn BufferBackend>,
    /// Byte offset in the memory.
    at: usize,
    /// Length in bytes.
    len: usize,
}

/// Rows and slices of bytes in a buffer, as copies of rectangles have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pitch {
    /// Offset of the first byte.
    pub offset: usize,
    /// Bytes from one row to the next.
    pub row: usize,
    /// Bytes from one slice to the next.
    pub slice: usize,
}

impl Pitch {
    /// Returns the offset of a row, or `None` if numbers overflow.
    fn row_at(&self, row: usize, slice: usize) -> Option<usize> {
        let in_slice = row.checked_mul(self.row)?;
        let before = slice.checked_mul(self.slice)?;
        self.offset.checked_add(before)?.checked_add(in_slice)
    }

    /// Checks that all rows of a size (bytes, rows, slices), none of which is 0, are in a buffer.
    pub(crate) fn check(
        &self,
        [bytes, rows, slices]: [usize; 3],
        buffer: &Buffer,
    ) -> Result<(), Error> {
        let steps_fit = (rows == 1 || self.row >= bytes) && (slices == 1 || self.slice > 0);
        let last = self.row_at(rows - 1, slices - 1);
        let end = last.and_then(|at| at.checked_add(bytes));
        match end {
            Some(end) if end <= buffer.len() && steps_fit => Ok(()),
            _ => Err(Error::Buffer(format!(
                "{slices} slices of {rows} rows of {} at {self:?} are not within a buffer of {}",
                Count(bytes, "byte"),
                Count(buffer.len(), "byte")
            ))),
        }
    }
}

impl Pitch {
    /// Returns the same bytes as fewer and longer rows, where rows or slices follow each other
    /// without gaps.
    pub(crate) fn merged(self, [bytes, rows, slices]: [usize; 3]) -> (Pitch, [usize; 3]) {
        let Pitch { offset, row, slice } = self;
        let rows_follow = rows == 1 || row == bytes;
        if !rows_follow {
            return (self, [bytes, rows, slices]);
        }
        let bytes = bytes * rows;
        if slices == 1 || slice == bytes {
            let all = Pitch {
                offset,
                row: 0,
                slice: 0,
            };
            return (all, [bytes * slices, 1, 1]);
        }
        (self, [bytes, 1, slices])
    }

    /// Returns the offsets of all rows of a size, which has been checked.
    pub(crate) fn all(self, [_, rows, slices]: [usize; 3]) -> impl Iterator<Item = usize> {
        let slices = (0..slices).map(move |n| self.offset + n * self.slice);
        slices.flat_map(move |at| (0..rows).map(move |n| at + n * self.row))
    }
}

/// Bytes that a copy moves at a time.
const CHUNK: usize = 64 << 10;

impl Buffer {
    /// Creates a handle of all of some memory.
    pub(crate) fn whole(inner: Arc<dyn BufferBackend>) -> Buffer {
        Buffer {
            at: 0,
            len: inner.len(),
            inner,
        }
    }

    /// Returns a part of the buffer, by bytes. It shares the memory. As an argument it is all that
    /// a kernel sees through a surface.
    ///
    /// # Errors
    /// The range is not within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Buffer, Error> {
        let from = match range.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(&n) => n.saturating_add(1),
            Bound::Excluded(&n) => n,
            Bound::Unbounded => self.len,
        };
        let Some(len) = to.checked_sub(from) else {
            return Err(Error::Buffer(format!(
                "the range from {from} to {to} ends before it begins"
            )));
        };
        self.check(from, len)?;
        Ok(Buffer {
            inner: self.inner.clone(),
            at: self.at + from,
            len,
        })
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the byte offset in the memory that it is a part of.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.inner.kind()
    }

    /// Returns the address that kernels see.
    pub fn device_address(&self) -> u64 {
        self.inner.address() + self.at as u64
    }

    /// Returns the address of the memory that it is a part of.
    pub(crate) fn allocation_address(&self) -> u64 {
        self.inner.address()
    }

    /// Returns true if both are parts of the same memory and have bytes in common.
    pub fn overlaps(&self, other: &Buffer) -> bool {
        let ends = |b: &Buffer| b.at + b.len;
        self.allocation_address() == other.allocation_address()
            && self.inner.device() == other.inner.device()
            && self.at.max(other.at) < ends(self).min(ends(other))
    }

    /// Reads the whole buffer as elements. Bytes after the last whole element are left out.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn read<T: Pod>(&self) -> Result<Vec<T>, Error> {
        Ok(self.read_measured()?.0)
    }

    pub(crate) fn read_measured<T: Pod>(&self) -> Result<(Vec<T>, Option<Span>), Error> {
        let mut out = vec![T::zeroed(); self.len().checked_div(size_of::<T>()).unwrap_or(0)];
        let bytes = bytemuck::cast_slice_mut(&mut out);
        self.check(0, bytes.len())?;
        let measured = self.inner.read(self.at, bytes)?;
        Ok((out, measured))
    }

    /// Reads as many elements as `out` has, starting at index `first`.
    ///
    /// # Errors
    /// The elements are not within the buffer, or the device fails to copy.
    pub fn read_into<T: Pod>(&self, first: usize, out: &mut [T]) -> Result<(), Error> {
        let at = first.saturating_mul(size_of::<T>());
        self.read_bytes(at, bytemuck::cast_slice_mut(out))
    }

    /// Reads as many bytes as `out` has, starting at offset `at`.
    ///
    /// # Errors
    /// The range is not within the buffer, or the device fails to copy.
    pub fn read_bytes(&self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        self.read_at(at, out)?;
        Ok(())
    }

    /// Reads bytes at an offset, and tells how long it took where the device measures it.
    pub(crate) fn read_at(&self, at: usize, out: &mut [u8]) -> Result<Option<Span>, Error> {
        self.check(at, out.len())?;
        self.inner.read(self.at + at, out)
    }

    /// Writes elements from the buffer's start.
    ///
    /// # Errors
    /// The elements do not fit, or the device fails to copy.
    pub fn write<T: Pod>(&self, data: &[T]) -> Result<(), Error> {
        self.write_bytes(0, bytemuck::cast_slice(data))
    }

    /// Writes elements, starting at index `first`.
    ///
    /// # Errors
    /// The elements do not fit, or the device fails to copy.
    pub fn write_at<T: Pod>(&self, first: usize, data: &[T]) -> Result<(), Error> {
        let at = first.saturating_mul(size_of::<T>());
        self.write_bytes(at, bytemuck::cast_slice(data))
    }

    /// Writes bytes, starting at offset `at`.
    ///
    /// # Errors
    /// The range is not within the buffer, or the device fails to copy.
    pub fn write_bytes(&self, at: usize, data: &[u8]) -> Result<(), Error> {
        self.write_measured(at, data)?;
        Ok(())
    }

    pub(crate) fn write_measured(&self, at: usize, data: &[u8]) -> Result<Option<Span>, Error> {
        self.check(at, data.len())?;
        self.inner.write(self.at + at, data)
    }

    /// Repeats a pattern over the whole buffer. The last one may be cut.
    ///
    /// # Errors
    /// The pattern is empty, or the device fails to write.
    pub fn fill<T: Pod>(&self, pattern: &[T]) -> Result<(), Error> {
        self.fill_measured(bytemuck::cast_slice(pattern))?;
        Ok(())
    }

    pub(crate) fn fill_measured(&self, pattern: &[u8]) -> Result<Option<Span>, Error> {
        if pattern.is_empty() {
            return Err(Error::Buffer("a fill by an empty pattern".to_owned()));
        }
        self.inner.fill(self.at, self.len, pattern)
    }

    /// Copies all of another buffer, of this device or another, to the start of this one.
    ///
    /// # Errors
    /// It is longer than this buffer, or has bytes in common with it. The device fails to copy.
    pub fn copy_from(&self, source: &Buffer) -> Result<(), Error> {
        self.copy_measured(source)?;
        Ok(())
    }

    pub(crate) fn copy_measured(&self, source: &Buffer) -> Result<Option<Span>, Error> {
        self.check_copy(source)?;
        if source.len == 0 {
            return Ok(None);
        }
        let row = Pitch::default();
        match self.copy_on_device(row, source, row, [source.len, 1, 1]) {
            Some(result) => result,
            None => self.copy_row(0, source, 0, source.len),
        }
    }

    /// Lets the device copy rows, where both buffers are its own and it can.
    fn copy_on_device(
        &self,
        to: Pitch,
        source: &Buffer,
        from: Pitch,
        size: [usize; 3],
    ) -> Option<Result<Option<Span>, Error>> {
        if self.inner.device() != source.inner.device() {
            return None;
        }
        let within = |b: &Buffer, p: Pitch| Pitch {
            offset: p.offset + b.at,
            ..p
        };
        let (to, from) = (within(self, to), within(source, from));
        self.inner
            .copy_rows(to, source.allocation_address(), from, size)
    }

    pub(crate) fn check_copy(&self, source: &Buffer) -> Result<(), Error> {
        self.check(0, source.len)?;
        self.check_apart(source)
    }

    fn check_apart(&self, source: &Buffer) -> Result<(), Error> {
        if self.overlaps(source) {
            return Err(Error::Buffer(
                "a copy between buffers that have bytes in common".to_owned(),
            ));
        }
        Ok(())
    }

    fn copy_row(
        &self,
        at: usize,
        source: &Buffer,
        from: usize,
        len: usize,
    ) -> Result<Option<Span>, Error> {
        let mut measured = None;
        let mut chunk = vec![0; len.min(CHUNK)];
        let mut done = 0;
        while done < len {
            let n = chunk.len().min(len - done);
            let part = chunk.get_mut(..n).unwrap_or_default();
            let read = source.inner.read(source.at + from + done, part)?;
            let written = self.inner.write(self.at + at + done, part)?;
            // The times of another device are on its own clock.
            let same = source.inner.device() == self.inner.device();
            let both = Span::join(read.filter(|_| same), written);
            measured = Span::join(measured, both);
            done += n;
        }
        Ok(measured)
    }

    /// Copies rows of another buffer: `size` has the bytes of a row, the rows of a slice, and the
    /// slices.
    ///
    /// # Errors
    /// Rows are not within their buffer, or overlap. The buffers have bytes in common. The device
    /// fails to copy.
    pub fn copy_rows_from(
        &self,
        to: Pitch,
        source: &Buffer,
        from: Pitch,
        size: [usize; 3],
    ) -> Result<(), Error> {
        self.copy_rows_measured(to, source, from, size)?;
        Ok(())
    }

    pub(crate) fn copy_rows_measured(
        &self,
        to: Pitch,
        source: &Buffer,
        from: Pitch,
        size: [usize; 3],
    ) -> Result<Option<Span>, Error> {
        self.check_rows(to, source, from, size)?;
        if size.contains(&0) {
            return Ok(None);
        }
        self.copy_rows_apart(to, source, from, size)
    }

    /// Copies rows, none of them empty, which are within their buffers and do not overlap.
    pub(crate) fn copy_rows_apart(
        &self,
        to: Pitch,
        source: &Buffer,
        from: Pitch,
        size: [usize; 3],
    ) -> Result<Option<Span>, Error> {
        // Rows that follow each other on both sides are one.
        let (to, from, size) = match (to.merged(size), from.merged(size)) {
            ((to, a), (from, b)) if a == b => (to, from, a),
            _ => (to, from, size),
        };
        if let Some(result) = self.copy_on_device(to, source, from, size) {
            return result;
        }
        let mut measured = None;
        for (to, from) in to.all(size).zip(from.all(size)) {
            let row = self.copy_row(to, source, from, size[0])?;
            measured = Span::join(measured, row);
        }
        Ok(measured)
    }

    /// Returns the part from the first byte of some rows to the last.
    pub(crate) fn rows(
        &self,
        pitch: Pitch,
        [bytes, rows, slices]: [usize; 3],
    ) -> Result<Buffer, Error> {
        let last = pitch.row_at(rows.saturating_sub(1), slices.saturating_sub(1));
        self.slice(pitch.offset..last.unwrap_or(usize::MAX).saturating_add(bytes))
    }

    pub(crate) fn check_rows(
        &self,
        to: Pitch,
        source: &Buffer,
        from: Pitch,
        size: [usize; 3],
    ) -> Result<(), Error> {
        if size.contains(&0) {
            return Ok(());
        }
        to.check(size, self)?;
        from.check(size, source)?;
        self.check_apart(source)
    }

    pub(crate) fn check(&self, at: usize, n: usize) -> Result<(), Error> {
        match at.checked_add(n) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::Buffer(format!(
                "{n} bytes at {at} are not within a buffer of {} bytes",
                self.len()
            ))),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("len", &self.len())
            .field("device_address", &self.device_address())
            .finish()
    }
}
