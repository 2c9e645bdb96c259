//! 2D block instructions, executed one element at a time.

use super::Lanes;
use super::memory::{Spaces, from_le};
use super::pure::lane_of;
use super::thread::Frame;
use crate::ir::{Block2dShape, Inst, InstData, Opcode};

/// Required alignment of the address of a surface, in bytes.
const SURFACE_ALIGN: u64 = 64;
/// Exclusive maximum of `width - 1`, `rows - 1` and `pitch - 1`.
const MAX_SIZE: u32 = 1 << 24;

/// Surface, and the position of a block in it.
struct Surface {
    base: u64,
    /// Bytes of a row.
    width: u32,
    rows: u32,
    /// Bytes from row to row.
    pitch: u32,
    /// First column, in elements, and row.
    x: i64,
    y: i64,
}

impl Surface {
    /// Rejects surfaces and positions that no message accepts.
    fn check(&self, bytes: u32) -> Result<(), String> {
        let Surface {
            base,
            width,
            rows,
            pitch,
            x,
            ..
        } = *self;
        if !base.is_multiple_of(SURFACE_ALIGN) {
            return Err(format!(
                "a 2D block of a surface at {base:#x}, which is not a multiple of {SURFACE_ALIGN}"
            ));
        }
        // A size of 0 wraps to the largest number.
        let sizes = [width, rows, pitch].map(|n| n.wrapping_sub(1));
        if sizes.iter().any(|n| *n >= MAX_SIZE) || pitch < width {
            return Err(format!(
                "a 2D block of a surface of {width} bytes by {rows} rows, {pitch} bytes apart"
            ));
        }
        if !(x * i64::from(bytes)).rem_euclid(4).eq(&0) {
            return Err(format!(
                "a 2D block at column {x}, which is not dword-aligned"
            ));
        }
        Ok(())
    }

    /// Returns the address of an element's first byte; `None` outside of the surface.
    fn address(&self, bytes: u32, column: i64, row: i64) -> Option<u64> {
        let (at, row) = ((self.x + column) * i64::from(bytes), self.y + row);
        let inside = at >= 0
            && at + i64::from(bytes) <= i64::from(self.width)
            && (0..i64::from(self.rows)).contains(&row);
        inside.then(|| {
            let offset = row * i64::from(self.pitch) + at;
            self.base.wrapping_add_signed(offset)
        })
    }
}

/// Executes `block2d_load`, `block2d_store` and `block2d_prefetch`, and returns the loaded value.
/// Elements outside of the surface read as zeros, and are not written.
pub(super) fn blocks(
    frame: &Frame<'_>,
    inst: Inst,
    data: InstData,
    memory: &mut Spaces<'_>,
) -> Result<Option<Lanes>, String> {
    let InstData::Block2d {
        opcode,
        shape,
        args: [base, rest @ ..],
        data,
    } = data
    else {
        return Ok(None);
    };
    let base = lane_of(&frame.values[base], 0)?;
    let mut numbers = [0; 5];
    for (n, v) in numbers.iter_mut().zip(rest) {
        *n = lane_of(&frame.values[v], 0)? as u32;
    }
    let [width, rows, pitch, x, y] = numbers;
    let surface = Surface {
        base,
        width,
        rows,
        pitch,
        x: i64::from(x as i32),
        y: i64::from(y as i32),
    };
    surface.check(shape.bytes.into())?;
    if opcode == Opcode::Block2dPrefetch {
        return Ok(None);
    }
    let dfg = &frame.func.dfg;
    let value = data.expand().or(dfg.first_result(inst)).ok_or("no value")?;
    let size = dfg.ty(value).scalar().bytes() as usize;
    let mut bytes = vec![0; shape.value_bytes() as usize];
    if data.is_some() {
        let lanes = frame.values[value].iter();
        let from = lanes.flat_map(|l| l.to_le_bytes().into_iter().take(size));
        bytes.iter_mut().zip(from).for_each(|(to, b)| *to = b);
    }
    for_each(&shape, |column, row, at| {
        let element = bytes.get_mut(at..at + usize::from(shape.bytes));
        let element = element.ok_or("a value of other bytes")?;
        let Some(address) = surface.address(shape.bytes.into(), column, row) else {
            return Ok(());
        };
        let done = if data.is_some() {
            memory.memory.write(address, element)
        } else {
            memory.memory.read(address, element)
        };
        done.map_err(|e| e.to_string())
    })?;
    if data.is_some() {
        return Ok(None);
    }
    let lanes = bytes.chunks(size.max(1)).map(from_le);
    Ok(Some(lanes.collect()))
}

/// Calls a function on the elements of all blocks, with column and row relative to the first block,
/// and the offset in the value.
fn for_each(
    s: &Block2dShape,
    mut f: impl FnMut(i64, i64, usize) -> Result<(), String>,
) -> Result<(), String> {
    let columns = u32::from(s.columns);
    for block in 0..u32::from(s.blocks) {
        for row in 0..u32::from(s.rows) {
            for column in 0..columns {
                let at = s.place(block, column, row) as usize;
                f((block * columns + column).into(), row.into(), at)?;
            }
        }
    }
    Ok(())
}
