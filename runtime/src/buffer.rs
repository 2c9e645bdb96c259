//! Device memory as the host sees it.

use crate::backend::BufferBackend;
use crate::error::Error;
use std::fmt;
use std::sync::Arc;

/// A number that buffers hold and arguments pass: integers and floats, little-endian as the device has them.
pub trait Plain: Copy + Default + sealed::Plain {}

mod sealed {
    /// Conversion to and from the device's bytes.
    pub trait Plain: Sized {
        /// Bytes of one.
        const SIZE: usize;
        /// Writes one; `out` has `SIZE` bytes.
        fn put(self, out: &mut [u8]);
        /// Reads one; `bytes` has `SIZE` bytes.
        fn take(bytes: &[u8]) -> Self;
    }
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl sealed::Plain for $t {
            const SIZE: usize = std::mem::size_of::<$t>();
            #[inline]
            fn put(self, out: &mut [u8]) {
                for (o, b) in out.iter_mut().zip(self.to_le_bytes()) {
                    *o = b;
                }
            }
            #[inline]
            fn take(bytes: &[u8]) -> Self {
                let mut a = [0; std::mem::size_of::<$t>()];
                for (o, b) in a.iter_mut().zip(bytes) {
                    *o = *b;
                }
                Self::from_le_bytes(a)
            }
        }
        impl Plain for $t {}
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, half::f16);

/// The device's bytes of a slice.
pub(crate) fn to_bytes<T: Plain>(data: &[T]) -> Vec<u8> {
    let mut out = vec![0; data.len() * T::SIZE];
    for (o, v) in out.chunks_exact_mut(T::SIZE).zip(data) {
        v.put(o);
    }
    out
}

/// Device memory. A handle: clones are the same memory, which lives as long as one of them does.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) inner: Arc<dyn BufferBackend>,
}

impl Buffer {
    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address that kernels see.
    pub fn device_address(&self) -> u64 {
        self.inner.address()
    }

    /// All of it, as elements. Bytes after the last whole element are left out.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn read<T: Plain>(&self) -> Result<Vec<T>, Error> {
        let mut bytes = vec![0; self.len()];
        self.inner.read(0, &mut bytes)?;
        Ok(bytes.chunks_exact(T::SIZE).map(T::take).collect())
    }

    /// Bytes from `at` on, as many as `out` has.
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
    /// They do not fit, or the device fails to copy.
    pub fn write<T: Plain>(&self, data: &[T]) -> Result<(), Error> {
        self.write_bytes(0, &to_bytes(data))
    }

    /// Writes bytes from `at` on.
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
