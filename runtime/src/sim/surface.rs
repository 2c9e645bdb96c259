//! Surfaces: what a launch's surface states describe, and the binding table that names them.

use super::image::SimImage;
use super::memory::Block;
use gantry_isa_gen::Platform;
use std::sync::Arc;

/// Bytes of a surface state: bindless surface offsets count them ("RENDER_SURFACE_STATE").
const STATE_BYTES: u32 = 64;

/// What a surface state describes.
#[derive(Clone)]
pub(super) enum Surface {
    /// Nothing: reads are 0, writes vanish.
    Null,
    /// A buffer, with which the surface ends, behind so many bytes that nothing is in.
    Buffer(Arc<Block>, u32),
    /// An image.
    Image(Box<SimImage>),
    /// The scratch of the thread that sends the message (Xe-HP and later).
    Scratch,
}

impl Surface {
    /// The image; `None` where there is nothing. `what` asks, for an error.
    pub(super) fn image(&self, what: &str) -> Result<Option<&SimImage>, String> {
        match self {
            Surface::Image(i) => Ok(Some(i)),
            Surface::Null => Ok(None),
            Surface::Buffer(..) | Surface::Scratch => {
                Err(format!("{what} to a buffer, which has no format"))
            }
        }
    }
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

/// The offset of a surface state that an extended descriptor holds, in bytes. Before the load/store cache bits 31:12 count
/// states of 64 bytes, since then bits 31:6 are the offset's own.
pub(super) fn bindless_offset(platform: Platform, ex: u32) -> u32 {
    if platform.features().lsc {
        ex & !0x3f
    } else {
        (ex >> 12) << 6
    }
}

/// The same the other way: the extended descriptor's bits for an offset, as the payload has them.
pub(super) fn bindless_handle(platform: Platform, offset: u32) -> u32 {
    if platform.features().lsc {
        offset
    } else {
        offset << 6
    }
}
