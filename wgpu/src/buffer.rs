//! Buffers, which are memory of the device that the host can map.

use gantry::runtime::{self, Device, Mapping};
use std::cell::Cell;
use std::fmt::{self, Write};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu_hal as hal;

/// Buffer. A handle.
#[derive(Clone)]
pub struct Buffer(Arc<Memory>);

struct Memory {
    all: runtime::Buffer,
    mapping: Mutex<Option<Mapping>>,
}

impl Buffer {
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Buffer, hal::DeviceError> {
        let none = || hal::DeviceError::OutOfMemory;
        let bytes = usize::try_from(bytes).map_err(|_| none())?;
        let all = device.buffer(bytes).map_err(|_| none())?;
        Ok(Buffer(Arc::new(Memory {
            all,
            mapping: Mutex::default(),
        })))
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.all.len() as u64
    }

    /// Returns all of the memory.
    pub(crate) fn all(&self) -> &runtime::Buffer {
        &self.0.all
    }

    /// Returns a part.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<runtime::Buffer, runtime::Error> {
        let [from, to] = [range.start, range.end].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        self.0.all.slice(from..to)
    }

    /// Maps a part. The pointer is valid until [`Self::unmap`].
    pub(crate) fn map(&self, range: Range<u64>) -> Result<NonNull<u8>, hal::DeviceError> {
        let lost = |e| crate::device::unexpected("a mapping", &e);
        let mapping = self.part(range).and_then(|part| part.map()).map_err(lost)?;
        let start = mapping.as_ptr();
        *self
            .0
            .mapping
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(mapping);
        Ok(start)
    }

    pub(crate) fn unmap(&self) {
        let mapping = self
            .0
            .mapping
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Err(e)) = mapping.map(Mapping::unmap) {
            log::error!("gantry-wgpu: what the host has written is lost: {e}");
        }
    }
}

thread_local! {
    static SEEN: Cell<Option<Buffer>> = const { Cell::new(None) };
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SEEN.set(Some(self.clone()));
        f.debug_tuple("Buffer").field(&self.0.all).finish()
    }
}

/// Returns the buffer of a binding.
///
/// In wgpu-hal 30 the field is private and has no getter; `BufferBinding::buffer` comes with the
/// next release. `Debug` of a binding calls that of its buffer, which remembers the buffer.
pub(crate) fn of_binding(binding: &hal::BufferBinding<'_, Buffer>) -> Option<Buffer> {
    struct Nowhere;
    impl Write for Nowhere {
        fn write_str(&mut self, _: &str) -> fmt::Result {
            Ok(())
        }
    }
    SEEN.set(None);
    write!(Nowhere, "{binding:?}").ok()?;
    SEEN.take()
}
