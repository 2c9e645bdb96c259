//! Media block messages: a rectangle of a 2D surface's bytes, in registers row by row.
//!
//! The header has the rectangle's x offset (bytes) and y offset (rows) as signed dwords 0 and 1.
//! Its dword 2 has the width minus one (bytes, bits 5:0) and the height minus one (rows, bits
//! 21:16). Rows of the data are a power of two of bytes apart, at least four (Skylake PRM, Vol. 7,
//! "Media Block Read/Write").

use super::super::surface::Surface;
use super::super::thread::Thread;
use super::plan::SendOp;
use super::rows::PayloadRows;
use gantry_isa_gen::message::{Dir, Message};

/// Media block message.
pub(super) struct MediaBlock {
    dir: Dir,
    /// Byte offset of the header.
    header: u32,
    /// Byte offset of the data or the response, and its bytes; `None` where a response is dropped.
    data: Option<(u32, u32)>,
}

impl MediaBlock {
    pub(super) fn new(
        s: &SendOp,
        message: &Message,
        dir: Dir,
        grf: u32,
    ) -> Result<MediaBlock, String> {
        let data = match dir {
            Dir::Read => s.dst.map(|d| (d, u32::from(message.response_grfs) * grf)),
            Dir::Write => {
                let rows = PayloadRows::new(s, message, grf);
                let bytes = rows.bytes();
                let at = rows
                    .find(0, bytes)
                    .ok_or_else(|| format!("the message has a split block: {message}"))?;
                Some((at, bytes))
            }
        };
        if !message.header {
            return Err(format!("the message has no header: {message}"));
        }
        Ok(MediaBlock {
            dir,
            header: s.src0,
            data,
        })
    }

    pub(super) fn run(&self, t: &mut Thread, surface: &Surface) -> Result<(), String> {
        let Some((base, room)) = self.data else {
            return Ok(());
        };
        let x = i64::from(t.regs.u32(self.header) as i32);
        let y = i64::from(t.regs.u32(self.header + 4) as i32);
        let size = t.regs.u32(self.header + 8);
        let (width, height) = ((size & 0x3f) + 1, (size >> 16 & 0x3f) + 1);
        let pitch = width.next_power_of_two().max(4);
        if pitch * height > room {
            return Err(format!(
                "a media block of {width} bytes by {height} rows takes {} bytes, the message has {room}",
                pitch * height
            ));
        }
        let moved = u64::from(width) * u64::from(height);
        match self.dir {
            Dir::Read => t.counts.bytes_read += moved,
            Dir::Write => t.counts.bytes_written += moved,
        }
        let Some(image) = surface.image("a media block message")? else {
            if self.dir == Dir::Read {
                t.regs.get_mut(base, (pitch * height) as usize).fill(0);
            }
            return Ok(());
        };
        let texel = i64::from(image.format.texel_bytes());
        let [w, h, _] = image.extent.map(i64::from);
        let (start, _) = image.bytes();
        for row in 0..height {
            for column in 0..width {
                let (px, py) = (x + i64::from(column), y + i64::from(row));
                let at = base + row * pitch + column;
                let (cx, cy) = (px.clamp(0, w * texel - 1), py.clamp(0, h - 1));
                match self.dir {
                    Dir::Read => {
                        // Reads outside repeat the edge's texels. A byte keeps its position within
                        // its texel.
                        let cx = if cx == px {
                            cx
                        } else {
                            cx / texel * texel + px.rem_euclid(texel)
                        };
                        let v = image.block.load(start + (cy * w * texel + cx) as u64, 1);
                        t.regs.set_element(at, 1, v);
                    }
                    Dir::Write if (cx, cy) == (px, py) => {
                        let v = t.regs.element(at, 1);
                        image
                            .block
                            .store(start + (cy * w * texel + cx) as u64, 1, v);
                    }
                    Dir::Write => {}
                }
            }
        }
        Ok(())
    }
}
