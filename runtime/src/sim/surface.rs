//! Surfaces: the surface states of a launch, and the binding table that names them.

use super::image::SimImage;
use super::memory::Block;
use gantry_isa_gen::Platform;
use std::sync::Arc;

/// Bytes of a surface state ("RENDER_SURFACE_STATE"), the unit of bindless surface offsets.
const STATE_BYTES: u32 = 64;

/// Content of a surface state.
#[derive(Clone)]
pub(super) enum Surface {
    /// Null surface: reads are 0, and writes are dropped.
    Null,
    /// Buffer.
    Buffer(BufferSurface),
    /// Image.
    Image(Box<SimImage>),
    /// Scratch of the thread that sends the message (Xe-HP and later).
    Scratch,
}

/// Bytes of a block as a surface.
#[derive(Clone)]
pub(super) struct BufferSurface {
    pub(super) block: Arc<Block>,
    /// Byte offset of the buffer in the block.
    pub(super) at: u64,
    /// Length in bytes.
    pub(super) len: u64,
    /// Address of the first byte in the surface. Lower addresses belong to nothing.
    pub(super) first: u32,
}

impl BufferSurface {
    /// Creates a surface of a whole block.
    pub(super) fn whole(block: Arc<Block>) -> BufferSurface {
        BufferSurface {
            at: 0,
            len: block.len() as u64,
            first: 0,
            block,
        }
    }
}

impl Surface {
    /// Returns the image; `None` for a null surface. `what` names the access in an error.
    pub(super) fn image(&self, what: &str) -> Result<Option<&SimImage>, String> {
        match self {
            Surface::Image(i) => Ok(Some(i)),
            Surface::Null => Ok(None),
            Surface::Buffer(_) | Surface::Scratch => {
                Err(format!("{what} to a buffer, which has no format"))
            }
        }
    }
}

/// Surface states of a launch.
#[derive(Default)]
pub(super) struct Surfaces {
    /// States, [`STATE_BYTES`] apart from offset 0 of the surface heap on.
    heap: Vec<Surface>,
    /// Binding table of indices into the heap.
    table: Vec<Option<usize>>,
}

impl Surfaces {
    /// Adds a state. Returns its byte offset in the surface heap.
    pub(super) fn add(&mut self, surface: Surface) -> u32 {
        self.heap.push(surface);
        (self.heap.len() as u32 - 1) * STATE_BYTES
    }

    /// Adds a state and sets a binding table entry to it.
    pub(super) fn bind(&mut self, bti: usize, surface: Surface) {
        if self.table.len() <= bti {
            self.table.resize(bti + 1, None);
        }
        let at = self.add(surface) / STATE_BYTES;
        if let Some(entry) = self.table.get_mut(bti) {
            *entry = Some(at as usize);
        }
    }

    /// Returns the surface at a byte offset in the surface heap.
    #[inline(always)]
    pub(super) fn at(&self, offset: u32) -> Result<&Surface, String> {
        self.heap
            .get((offset / STATE_BYTES) as usize)
            .ok_or_else(|| format!("offset {offset:#x} of the surface heap has no surface state"))
    }

    /// Returns the surface of a binding table entry.
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

/// Returns the byte offset of a surface state that an extended descriptor holds. Before the
/// load/store cache bits 31:12 count states of 64 bytes. Since then bits 31:6 are those of the
/// offset.
pub(super) fn bindless_offset(platform: Platform, ex: u32) -> u32 {
    if platform.features().lsc {
        ex & !0x3f
    } else {
        (ex >> 12) << 6
    }
}

/// Returns the extended descriptor's bits for an offset, as the payload has them. Inverse of
/// [`bindless_offset`].
pub(super) fn bindless_handle(platform: Platform, offset: u32) -> u32 {
    if platform.features().lsc {
        offset
    } else {
        offset << 6
    }
}
