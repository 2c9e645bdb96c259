//! Device memory as the host sees it.

use crate::error::Error;
use bytemuck::Pod;
use std::fmt;
use std::sync::Arc;

/// Device memory.
pub(crate) trait BufferBackend: Send + Sync {
    /// Returns the length in bytes.
    fn len(&self) -> usize;
    /// Returns the address that kernels see.
    fn address(&self) -> u64;
    /// Copies out of the buffer, from the offset `at`; the range is within the buffer.
    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error>;
    /// Copies into the buffer, at the offset `at`; the range is within the buffer.
    fn write(&self, at: usize, data: &[u8]) -> Result<(), Error>;
    /// Returns the id of the device that it belongs to: `DeviceBackend::id`.
    fn device(&self) -> usize;
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

/// Device memory. A handle: clones share the memory, which is freed with the last of them.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) inner: Arc<dyn BufferBackend>,
}

impl Buffer {
    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Returns true if the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address that kernels see.
    pub fn device_address(&self) -> u64 {
        self.inner.address()
    }

    /// Reads the whole buffer as elements. Bytes after the last whole element are left out.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn read<T: Pod>(&self) -> Result<Vec<T>, Error> {
        let mut out = vec![T::zeroed(); self.len().checked_div(size_of::<T>()).unwrap_or(0)];
        self.inner.read(0, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
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
        self.check(at, out.len())?;
        self.inner.read(at, out)
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
        self.check(at, data.len())?;
        self.inner.write(at, data)
    }

    fn check(&self, at: usize, n: usize) -> Result<(), Error> {
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
