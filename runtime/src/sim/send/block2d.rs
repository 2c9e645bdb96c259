//! 2D blocks of the load/store cache: rectangles of elements, in a surface that the payload
//! describes.
//!
//! The facts are those of the Xe-HPC PRM's A2DBLOCK_PAYLOAD, and of the payload that Intel's
//! compiler builds.

use super::super::regs::Regs;
use super::super::thread::Thread;
use super::Payload;
use super::window::Window;
use gantry_isa_gen::message::{Dir, LscData};

/// Layout of elements in the registers of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ElementLayout {
    /// Row after row.
    Rows,
    /// Column after column (transposed).
    Columns,
    /// Dwords of the elements of consecutive rows (VNNI).
    Packed,
}

/// 2D block access.
pub(super) struct Block2d {
    dir: Dir,
    /// Bytes of an element.
    element: u32,
    layout: ElementLayout,
    /// GRFs of the data.
    grfs: u32,
    /// Bytes of a GRF.
    grf: u32,
}

/// Payload: a surface and a rectangle in it.
struct BlockShape {
    base: u64,
    /// Bytes of a row of the surface.
    width: u32,
    /// Rows of the surface.
    height: u32,
    /// Bytes between rows.
    pitch: u32,
    /// First column (in elements) and row of the block.
    x: i32,
    y: i32,
    /// Columns and rows of a block, and the number of blocks side by side.
    columns: u32,
    rows: u32,
    blocks: u32,
}

impl BlockShape {
    fn read(regs: &Regs, at: u32) -> BlockShape {
        let dword = |n: u32| regs.u32(at + n * 4);
        let more = |n: u32| dword(n).wrapping_add(1);
        let size = dword(7);
        BlockShape {
            base: regs.u64(at),
            width: more(2),
            height: more(3),
            pitch: more(4),
            x: dword(5) as i32,
            y: dword(6) as i32,
            columns: (size & 0xff) + 1,
            rows: (size >> 8 & 0xff) + 1,
            blocks: (size >> 16 & 0xf) + 1,
        }
    }
}

impl Block2d {
    pub(super) fn new(
        dir: Dir,
        data: LscData,
        transposed: bool,
        vnni: bool,
        grfs: u32,
        grf: u32,
    ) -> Result<Block2d, String> {
        let element = data.register_bits() / 8;
        if data.register_bits() != data.memory_bits() {
            return Err(format!("2D blocks have no data size {}", data.name()));
        }
        let layout = match (transposed, vnni) {
            (false, false) => ElementLayout::Rows,
            (true, false) if element >= 4 && dir == Dir::Read => ElementLayout::Columns,
            (false, true) if element < 4 => ElementLayout::Packed,
            _ => {
                return Err(format!(
                    "a 2D block of {} that is{}{}",
                    data.name(),
                    if transposed { " transposed" } else { "" },
                    if vnni { " packed" } else { "" }
                ));
            }
        };
        Ok(Block2d {
            dir,
            element,
            layout,
            grfs,
            grf,
        })
    }

    /// Returns the byte offset of an element by column and row in the block's registers, and the
    /// bytes of the whole block.
    fn place(&self, s: &BlockShape) -> (impl Fn(u32, u32) -> u32 + use<>, u32) {
        let (layout, e) = (self.layout, self.element);
        let pack = 4 / e.min(4);
        let (step, n) = match layout {
            ElementLayout::Rows => (s.columns.next_power_of_two() * e, s.rows),
            ElementLayout::Columns => (s.rows.next_power_of_two() * e, s.columns),
            ElementLayout::Packed => (s.columns.next_power_of_two() * 4, s.rows.div_ceil(pack)),
        };
        let at = move |x: u32, y: u32| match layout {
            ElementLayout::Rows => y * step + x * e,
            ElementLayout::Columns => x * step + y * e,
            ElementLayout::Packed => y / pack * step + x * 4 + y % pack * e,
        };
        (at, (step * n).next_multiple_of(self.grf))
    }

    /// Checks the limits of the hardware.
    fn check(&self, s: &BlockShape, bytes: u32) -> Result<(), String> {
        let e = self.element;
        if !s.base.is_multiple_of(64) {
            return Err(format!(
                "a 2D block of a surface at {:#x}, which is not a multiple of 64",
                s.base
            ));
        }
        if s.width > 1 << 24 || s.height > 1 << 24 || s.pitch > 1 << 24 || s.pitch < s.width {
            return Err(format!(
                "a 2D block of a surface of {} bytes by {} rows, {} bytes apart",
                s.width, s.height, s.pitch
            ));
        }
        if !(i64::from(s.x) * i64::from(e)).rem_euclid(4).eq(&0) {
            return Err(format!(
                "a 2D block at column {}, which is not dword-aligned",
                s.x
            ));
        }
        let rows = if self.dir == Dir::Read { 32 } else { 8 };
        let one = self.dir == Dir::Write || self.layout == ElementLayout::Columns;
        if s.columns * e * s.blocks > 64 || s.rows > rows || (one && s.blocks > 1) {
            return Err(format!(
                "a 2D block of {} blocks of {} by {} elements of {e} bytes",
                s.blocks, s.columns, s.rows
            ));
        }
        if bytes * s.blocks > self.grfs * self.grf {
            return Err(format!(
                "a 2D block of {} blocks of {bytes} bytes, and {} registers for it",
                s.blocks, self.grfs
            ));
        }
        Ok(())
    }

    pub(super) fn run(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
    ) -> Result<(), String> {
        let s = BlockShape::read(&t.regs, p.address);
        let (place, bytes) = self.place(&s);
        self.check(&s, bytes)?;
        let e = u64::from(self.element);
        let (what, registers) = match (self.dir, p.response) {
            (Dir::Read, Some(dst)) => {
                // Padding and elements outside the surface are zero.
                t.regs.get_mut(dst, (bytes * s.blocks) as usize).fill(0);
                ("a read", dst)
            }
            (Dir::Read, None) => return Ok(()),
            (Dir::Write, _) => ("a write", p.data),
        };
        for b in 0..s.blocks {
            for y in 0..s.rows {
                let row = i64::from(s.y) + i64::from(y);
                if !(0..i64::from(s.height)).contains(&row) {
                    continue;
                }
                for x in 0..s.columns {
                    let byte = (i64::from(s.x) + i64::from(b * s.columns + x)) * e as i64;
                    if byte < 0 || byte + e as i64 > i64::from(s.width) {
                        continue;
                    }
                    let address = s.base + (row * i64::from(s.pitch) + byte) as u64;
                    let at = registers + b * bytes + place(x, y);
                    let Some((block, offset)) = window.at(address, e, None, what)? else {
                        continue;
                    };
                    match self.dir {
                        Dir::Read => {
                            t.counts.bytes_read += e;
                            let v = block.load(offset, e);
                            t.regs.set_element(at, self.element, v);
                        }
                        Dir::Write => {
                            t.counts.bytes_written += e;
                            block.store(offset, e, t.regs.element(at, self.element));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
