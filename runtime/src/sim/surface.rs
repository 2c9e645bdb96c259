//! Surfaces: what a launch's surface states describe, and the binding table that names them.

use super::memory::Block;
use std::sync::Arc;

/// Bytes of a surface state: bindless surface offsets count them ("RENDER_SURFACE_STATE").
const STATE_BYTES: u32 = 64;

/// What a surface state describes.
#[derive(Clone)]
pub(super) enum Surface {
    /// Nothing: reads are 0, writes vanish.
    Null,
    /// A buffer; the surface begins and ends with it.
    Buffer(Arc<Block>),
    /// The scratch of the thread that sends the message (Xe-HP and later).
    Scratch,
}

/// The surface states of a launch.
#[derive(Default)]
pub(super) struct Surfaces {
    /// Every state, [`STATE_BYTES`] apart from offset 0 of the surface heap on.
    heap: Vec<Surface>,
    /// Binding table: indices into the heap.
    table: Vec<Option<usize>>,
}

impl Surfaces {
    /// Adds a state. Returns its offset in the surface heap, in bytes.
    pub(super) fn add(&mut self, surface: Surface) -> u32 {
        self.heap.push(surface);
        (self.heap.len() as u32 - 1) * STATE_BYTES
    }

    /// Adds a state and lets a binding table entry name it.
    pub(super) fn bind(&mut self, bti: usize, surface: Surface) {
        if self.table.len() <= bti {
            self.table.resize(bti + 1, None);
        }
        let at = self.add(surface) / STATE_BYTES;
        if let Some(entry) = self.table.get_mut(bti) {
            *entry = Some(at as usize);
        }
    }

    /// The surface of a state, by its offset in the surface heap, in bytes.
    #[inline(always)]
    pub(super) fn at(&self, offset: u32) -> Result<&Surface, String> {
        self.heap
            .get((offset / STATE_BYTES) as usize)
            .ok_or_else(|| format!("offset {offset:#x} of the surface heap has no surface state"))
    }

    /// The surface of a binding table entry.
    #[inline(always)]
    pub(super) fn bound(&self, bti: u8) -> Result<&Surface, String> {
        self.table
            .get(usize::from(bti))
            .copied()
            .flatten()
            .and_then(|i| self.heap.get(i))
            .ok_or_else(|| format!("binding table index {bti} names no surface"))
    }
}
