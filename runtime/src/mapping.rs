//! Buffers mapped into the host's memory.
#![allow(unsafe_code, reason = "pointers to memory that the mapping keeps")]

use crate::buffer::Buffer;
use crate::error::Error;
use std::fmt;
use std::ptr::NonNull;

/// Buffer as the host's memory: a pointer that is valid until the mapping is dropped.
///
/// The pointer is to the memory itself, if the host can access it (simulator, host and shared
/// memory). Elsewhere it is a copy, which [`Self::unmap`] writes back.
pub struct Mapping {
    buffer: Buffer,
    /// Copy of the buffer; `None` if the host accesses the buffer itself.
    copy: Option<Vec<u64>>,
    start: NonNull<u8>,
    unmapped: bool,
}

// SAFETY: a pointer to memory that the mapping keeps. Accesses through it are the caller's.
unsafe impl Send for Mapping {}
// SAFETY: as for `Send`.
unsafe impl Sync for Mapping {}

impl Buffer {
    /// Maps the buffer. Commands that access it should not run until it is unmapped: what they
    /// write may be lost, and accesses through the pointer are data races.
    ///
    /// # Errors
    /// The device fails to copy.
    pub fn map(&self) -> Result<Mapping, Error> {
        if let Some(memory) = self.inner.host_ptr() {
            let first = memory.as_ptr().wrapping_add(self.offset());
            return Ok(Mapping {
                buffer: self.clone(),
                copy: None,
                start: NonNull::new(first).unwrap_or(memory),
                unmapped: false,
            });
        }
        let mut copy = vec![0u64; self.len().div_ceil(8)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut copy);
        self.read_bytes(0, bytes.get_mut(..self.len()).unwrap_or_default())?;
        Ok(Mapping {
            start: NonNull::new(copy.as_mut_ptr().cast()).unwrap_or(NonNull::dangling()),
            copy: Some(copy),
            buffer: self.clone(),
            unmapped: false,
        })
    }
}

impl Mapping {
    /// Returns the host's address of the buffer's first byte. It is valid for [`Self::len`] bytes
    /// until the mapping is dropped.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns true if the pointer is to the device's own memory, so that both see at once what
    /// either writes.
    pub fn is_direct(&self) -> bool {
        self.copy.is_none()
    }

    /// Ends the mapping.
    ///
    /// # Errors
    /// The device fails to take what the host has written.
    pub fn unmap(mut self) -> Result<(), Error> {
        self.write_back()
    }

    fn write_back(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.unmapped, true) {
            return Ok(());
        }
        let Some(copy) = &self.copy else {
            return Ok(());
        };
        let bytes: &[u8] = bytemuck::cast_slice(copy);
        let bytes = bytes.get(..self.buffer.len()).unwrap_or_default();
        self.buffer.write_bytes(0, bytes)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Who wants the error calls `unmap`.
        let _ = self.write_back();
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping")
            .field("buffer", &self.buffer)
            .field("is_direct", &self.is_direct())
            .finish()
    }
}
