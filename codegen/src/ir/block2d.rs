//! 2D blocks: rectangles of elements of a surface given by its address, size and pitch.
//!
//! An instruction may ask for what one message of Xe-HPC's load/store cache can move. The limits
//! are those of A2DBLOCK_PAYLOAD in the XeHPC PRM. They are also those of `load_2d`, `store_2d` and
//! `prefetch_2d` in Intel's ESIMD extension.

use super::cache::CachePolicy;
use super::immediate::{Immediate, Keyed};
use super::opcode::Opcode;
use super::text::{Parser, Res};
use gantry_isa_gen::diag::Diagnostic;

/// Maximum number of rows of a stored block.
const MAX_STORED_ROWS: u8 = 8;
/// Maximum number of rows of a loaded block.
const MAX_LOADED_ROWS: u8 = 32;
/// Maximum bytes of a row, over all blocks.
const MAX_ROW_BYTES: u32 = 64;
/// Bytes of a dword. Rows are whole dwords, and packed elements fill one.
const DWORD: u32 = 4;

gantry_isa_gen::named_enum! {
    /// Layout of the elements of a block in a value.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum BlockLayout {
        /// Row-major.
        Rows = "",
        /// Column-major.
        Transposed = "transposed",
        /// VNNI: dwords in row-major order. Each packs the elements of one column from as many rows
        /// as fill a dword.
        Packed = "packed",
    }
}

/// Blocks, side by side, that `block2d_load`, `block2d_store` or `block2d_prefetch` moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block2dShape {
    /// Layout of the elements in the value.
    pub layout: BlockLayout,
    /// Bytes of an element.
    pub bytes: u8,
    /// Rows of a block.
    pub rows: u8,
    /// Columns of a block, in elements.
    pub columns: u8,
    /// Number of blocks.
    pub blocks: u8,
    /// Cache policy.
    pub cache: CachePolicy,
}

/// Text: `packed rows 16 columns 16 blocks 1 bytes 2 l1 cached l3 cached`.
impl Immediate for Block2dShape {
    fn print(&self, out: &mut String) {
        let Block2dShape {
            layout,
            bytes,
            rows,
            columns,
            blocks,
            cache,
        } = *self;
        if layout != BlockLayout::Rows {
            out.push_str(layout.name());
            out.push(' ');
        }
        out.push_str(&format!(
            "rows {rows} columns {columns} blocks {blocks} bytes {bytes}"
        ));
        cache.print(out);
    }

    fn parse(p: &mut Parser<'_>, _: Opcode, _: &str) -> Res<Block2dShape> {
        let named = [BlockLayout::Transposed, BlockLayout::Packed];
        let layout = named.into_iter().find(|l| p.eat_word(l.name()));
        let mut numbers = [0; 4];
        for (n, word) in numbers
            .iter_mut()
            .zip(["rows", "columns", "blocks", "bytes"])
        {
            let span = p.span();
            let said = p.number_after(word)?;
            let Ok(said) = u8::try_from(said) else {
                let what = format!("no 2D block has {said} {word}");
                return Err(Diagnostic::new(span, what));
            };
            *n = said;
        }
        let [rows, columns, blocks, bytes] = numbers;
        Ok(Block2dShape {
            layout: layout.unwrap_or(BlockLayout::Rows),
            bytes,
            rows,
            columns,
            blocks,
            cache: CachePolicy::parse(p)?,
        })
    }
}

impl Keyed for Block2dShape {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        let Block2dShape {
            layout,
            bytes,
            rows,
            columns,
            blocks,
            cache,
        } = *self;
        w(&[layout as u8, bytes, rows, columns, blocks]);
        w(&cache.key());
    }
}

impl Block2dShape {
    /// Checks that one message can move it.
    ///
    /// # Errors
    /// Returns an error that names the limit it exceeds.
    pub fn check(&self, opcode: Opcode) -> Result<(), String> {
        let Block2dShape {
            layout,
            bytes,
            rows,
            columns,
            blocks,
            cache,
        } = *self;
        let name = layout.name();
        cache.check(opcode)?;
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(format!("elements of {bytes} bytes: they have 1, 2, 4 or 8"));
        }
        if layout != BlockLayout::Rows && opcode != Opcode::Block2dLoad {
            return Err(format!(
                "`{opcode}` of {name} blocks: loads alone make them"
            ));
        }
        let most = match opcode {
            Opcode::Block2dStore => MAX_STORED_ROWS,
            _ => MAX_LOADED_ROWS,
        };
        if !(1..=most).contains(&rows) {
            return Err(format!("{rows} rows: `{opcode}` has 1 to {most}"));
        }
        let one = layout == BlockLayout::Transposed || opcode == Opcode::Block2dStore;
        let most = match bytes {
            _ if one => 1,
            1 | 2 => 4,
            4 => 2,
            _ => 1,
        };
        if !matches!(blocks, 1 | 2 | 4) || blocks > most {
            return Err(format!(
                "{blocks} blocks of elements of {bytes} bytes: there are {most} at most, and a power of two"
            ));
        }
        let row = u32::from(columns) * u32::from(bytes);
        if row == 0 || !row.is_multiple_of(DWORD) || row * u32::from(blocks) > MAX_ROW_BYTES {
            return Err(format!(
                "{blocks} rows of {row} bytes: they have a multiple of {DWORD}, and {MAX_ROW_BYTES} in all at most"
            ));
        }
        match layout {
            BlockLayout::Rows => Ok(()),
            BlockLayout::Transposed => match (bytes, columns, rows) {
                (4, ..=8, _) | (8, 1 | 2 | 4, 8) => Ok(()),
                _ => Err(format!(
                    "{rows} {name} rows of {columns} elements of {bytes} bytes: of 4 bytes there are up to 8, of 8 \
                     bytes 8 rows of 1, 2 or 4"
                )),
            },
            BlockLayout::Packed => {
                let fits = bytes < 4 && columns <= 16 && rows.is_multiple_of(DWORD as u8 / bytes);
                fits.then_some(()).ok_or_else(|| {
                    format!(
                        "{rows} {name} rows of {columns} elements of {bytes} bytes: of 1 or 2 bytes there are up to \
                         16, in rows that fill dwords"
                    )
                })
            }
        }
    }

    /// Bytes of a value that holds all blocks consecutively.
    pub const fn value_bytes(&self) -> u32 {
        self.block_bytes() * self.blocks as u32
    }

    /// Bytes of one block.
    pub const fn block_bytes(&self) -> u32 {
        self.bytes as u32 * self.rows as u32 * self.columns as u32
    }

    /// Returns the bytes of a run of adjacent elements, and the number of runs in a block.
    pub const fn runs(&self) -> (u32, u32) {
        let (bytes, rows, columns) = (self.bytes as u32, self.rows as u32, self.columns as u32);
        match self.layout {
            BlockLayout::Rows => (columns * bytes, rows),
            BlockLayout::Transposed => (rows * bytes, columns),
            BlockLayout::Packed => (columns * DWORD, rows * bytes / DWORD),
        }
    }

    /// Returns the byte offset of an element in the value.
    pub const fn place(&self, block: u32, column: u32, row: u32) -> u32 {
        let (run, _) = self.runs();
        let bytes = self.bytes as u32;
        let at = match self.layout {
            BlockLayout::Rows => row * run + column * bytes,
            BlockLayout::Transposed => column * run + row * bytes,
            BlockLayout::Packed => {
                let packed = DWORD / bytes;
                row / packed * run + column * DWORD + row % packed * bytes
            }
        };
        block * self.block_bytes() + at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places in every legal shape are distinct, and fit in the response of one Xe-HPC message.
    #[test]
    fn places_fill_values() {
        let mut shapes = 0;
        for layout in BlockLayout::ALL {
            for bytes in [1, 2, 4, 8] {
                for (rows, columns, blocks) in (1..=33)
                    .flat_map(|r| (1..=65).flat_map(move |c| (1..=5).map(move |b| (r, c, b))))
                {
                    let s = Block2dShape {
                        layout,
                        bytes,
                        rows,
                        columns,
                        blocks,
                        cache: CachePolicy::DEFAULT,
                    };
                    if s.check(Opcode::Block2dLoad).is_err() {
                        continue;
                    }
                    shapes += 1;
                    let (run, runs) = s.runs();
                    assert_eq!(run * runs, s.block_bytes(), "{s:?}");
                    assert!(s.value_bytes() <= 64 * 32, "{s:?}");
                    let mut seen = vec![false; s.value_bytes() as usize];
                    for b in 0..u32::from(blocks) {
                        for c in 0..u32::from(columns) {
                            for r in 0..u32::from(rows) {
                                let at = s.place(b, c, r) as usize;
                                for place in &mut seen[at..at + usize::from(bytes)] {
                                    assert!(!std::mem::replace(place, true), "{s:?} {b} {c} {r}");
                                }
                            }
                        }
                    }
                    assert!(seen.iter().all(|s| *s), "{s:?}");
                }
            }
        }
        // Elements of 1, 2, 4 and 8 bytes, 1 to 16 rows, one, two or four blocks, and the other
        // layouts.
        assert!(shapes > 1500, "{shapes}");
    }

    #[test]
    fn rejects_what_no_message_moves() {
        let good = Block2dShape {
            layout: BlockLayout::Rows,
            bytes: 2,
            rows: 8,
            columns: 16,
            blocks: 2,
            cache: CachePolicy::DEFAULT,
        };
        let said = |opcode, s: Block2dShape| s.check(opcode).err().unwrap_or_default();
        let (load, store) = (Opcode::Block2dLoad, Opcode::Block2dStore);
        assert_eq!(said(load, good), "");
        let s = |f: fn(&mut Block2dShape)| {
            let mut s = good;
            f(&mut s);
            s
        };
        assert!(said(load, s(|s| s.bytes = 3)).contains("elements of 3 bytes"));
        assert!(said(load, s(|s| s.rows = 33)).contains("33 rows"));
        assert!(said(load, s(|s| s.columns = 17)).contains("34 bytes"));
        assert!(said(load, s(|s| s.columns = 32)).contains("2 rows of 64 bytes"));
        assert!(said(load, s(|s| s.blocks = 3)).contains("3 blocks"));
        assert!(said(load, s(|s| s.layout = BlockLayout::Transposed)).contains("1 at most"));
        assert!(said(load, s(|s| (s.rows, s.layout) = (7, BlockLayout::Packed))).contains("fill"));
        assert!(said(store, good).contains("2 blocks"));
        assert!(said(store, s(|s| (s.rows, s.blocks) = (9, 1))).contains("9 rows"));
        assert!(said(store, s(|s| s.layout = BlockLayout::Packed)).contains("loads alone"));
    }
}
