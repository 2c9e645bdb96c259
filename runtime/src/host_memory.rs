//! Memory of the host that a device uses in place.
#![allow(unsafe_code, reason = "devices access memory that the host allocated")]

use bytemuck::Pod;
use memmap2::MmapMut;
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;

/// Bytes that a device accesses at a time, and to which memory of the host is aligned.
const WORD: usize = 8;

/// Memory of the host that a device uses in place, without a copy. It is kept until the last buffer
/// over it is dropped.
pub struct HostMemory {
    start: NonNull<u8>,
    bytes: usize,
    owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the owner may be sent to any thread, and by the contract of `HostMemory::new` the memory
// belongs to it.
unsafe impl Send for HostMemory {}
// SAFETY: as for `Send`. The pointer is only read.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Describes `bytes` bytes from `start` on, which live as long as `owner` does.
    ///
    /// # Safety
    /// - `start` is a multiple of 8. The bytes up to the next multiple of 8 after the last are
    ///   readable and writable until `owner` is dropped.
    /// - Nothing has a reference to them while a buffer over the memory exists.
    /// - The host accesses them only while no command that accesses them runs.
    pub unsafe fn new(
        start: NonNull<u8>,
        bytes: usize,
        owner: impl Any + Send + Sync,
    ) -> HostMemory {
        HostMemory {
            start,
            bytes,
            owner: Box::new(owner),
        }
    }

    /// Takes the elements of a vector. They stay where they are, if they begin at a multiple of 8
    /// bytes, and are copied otherwise.
    pub fn from_vec<T: Pod + Send + Sync>(mut elements: Vec<T>) -> HostMemory {
        let bytes = size_of_val(elements.as_slice());
        if !elements.as_ptr().cast::<u8>().addr().is_multiple_of(WORD) {
            let mut words = vec![0u64; bytes.div_ceil(WORD)];
            let copy: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            for (to, from) in copy
                .iter_mut()
                .zip(bytemuck::cast_slice::<T, u8>(&elements))
            {
                *to = *from;
            }
            return HostMemory::of(words, bytes);
        }
        // The last word has bytes of its own.
        while size_of::<T>() > 0 && !size_of_val(elements.as_slice()).is_multiple_of(WORD) {
            elements.push(T::zeroed());
        }
        HostMemory::of(elements, bytes)
    }

    /// Takes elements whose length is a multiple of a word.
    fn of<T: Pod + Send + Sync>(mut elements: Vec<T>, bytes: usize) -> HostMemory {
        let start = NonNull::new(elements.as_mut_ptr().cast::<u8>()).unwrap_or(NonNull::dangling());
        HostMemory {
            start,
            bytes,
            owner: Box::new(elements),
        }
    }

    /// Takes pages, of which the first `bytes` bytes are used.
    pub(crate) fn of_pages(mut pages: MmapMut, bytes: usize) -> HostMemory {
        let start = NonNull::new(pages.as_mut_ptr()).unwrap_or(NonNull::dangling());
        HostMemory {
            start,
            bytes: bytes.min(pages.len()),
            owner: Box::new(pages),
        }
    }

    /// Returns the address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the owner, who must be kept while the memory is used.
    pub(crate) fn into_owner(self) -> Box<dyn Any + Send + Sync> {
        self.owner
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory")
            .field("start", &self.start)
            .field("bytes", &self.bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_stay_where_they_are() {
        let v = vec![1.0f32, 2.0, 3.0];
        let at = v.as_ptr().cast::<u8>();
        let capacity = v.capacity();
        let m = HostMemory::from_vec(v);
        assert_eq!(m.len(), 12);
        assert!(m.start().addr().get().is_multiple_of(WORD));
        // A vector that had no room for the last word's bytes may have moved.
        assert!(capacity < 4 || m.start().as_ptr().cast_const() == at);
        assert!(HostMemory::from_vec(Vec::<u16>::new()).is_empty());
    }
}
