//! 2D blocks: rectangles of elements of a surface in memory that is told by its address, its size
//! and its pitch.
//!
//! What one message of Xe-HPC's load/store cache moves is what an instruction may ask for. (Limits:
//! the XeHPC PRM's A2DBLOCK_PAYLOAD, and the `load_2d`, `store_2d` and `prefetch_2d` of Intel's
//! ESIMD extension.)

use super::opcode::Opcode;

/// The most rows of a block that is stored.
const MOST_STORED: u8 = 8;
/// The most rows of a block that is loaded.
const MOST_LOADED: u8 = 32;
/// The most bytes of a row of all blocks.
const MOST_ROW: u32 = 64;
/// Bytes of a doubleword: rows are of whole ones, and packed elements fill one.
const DWORD: u32 = 4;

/// How the elements of a block lie in a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockLayout {
    /// Row after row.
    Rows,
    /// Column after column.
    Transposed,
    /// Doublewords, row after row of them: each has the elements of a column of as many rows as
    /// fill it (VNNI).
    Packed,
}

impl BlockLayout {
    /// All of them.
    pub const ALL: [BlockLayout; 3] = [
        BlockLayout::Rows,
        BlockLayout::Transposed,
        BlockLayout::Packed,
    ];

    /// Its word in text; rows have none.
    pub const fn name(self) -> &'static str {
        match self {
            BlockLayout::Rows => "",
            BlockLayout::Transposed => "transposed",
            BlockLayout::Packed => "packed",
        }
    }
}

/// What `block2d_load`, `block2d_store` and `block2d_prefetch` move: blocks of elements that stand
/// side by side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block2dShape {
    /// How a value has the elements.
    pub layout: BlockLayout,
    /// Bytes of an element.
    pub bytes: u8,
    /// Rows of a block.
    pub rows: u8,
    /// Columns of a block, elements.
    pub columns: u8,
    /// How many blocks.
    pub blocks: u8,
}

impl Block2dShape {
    /// Whether an instruction can move it.
    ///
    /// # Errors
    /// It cannot: a sentence that says why.
    pub fn check(&self, opcode: Opcode) -> Result<(), String> {
        let Block2dShape {
            layout,
            bytes,
            rows,
            columns,
            blocks,
        } = *self;
        let name = layout.name();
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(format!("elements of {bytes} bytes: they have 1, 2, 4 or 8"));
        }
        if layout != BlockLayout::Rows && opcode != Opcode::Block2dLoad {
            return Err(format!(
                "`{opcode}` of {name} blocks: loads alone make them"
            ));
        }
        let most = match opcode {
            Opcode::Block2dStore => MOST_STORED,
            _ => MOST_LOADED,
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
        if row == 0 || !row.is_multiple_of(DWORD) || row * u32::from(blocks) > MOST_ROW {
            return Err(format!(
                "{blocks} rows of {row} bytes: they have a multiple of {DWORD}, and {MOST_ROW} in all at most"
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
                         16, in rows that fill doublewords"
                    )
                })
            }
        }
    }

    /// Bytes of a value that has all blocks, one behind the other.
    pub const fn value_bytes(&self) -> u32 {
        self.block_bytes() * self.blocks as u32
    }

    /// Bytes of one block.
    pub const fn block_bytes(&self) -> u32 {
        self.bytes as u32 * self.rows as u32 * self.columns as u32
    }

    /// Elements that lie beside each other come in runs: bytes of one, and how many of them a block
    /// has.
    pub const fn runs(&self) -> (u32, u32) {
        let (bytes, rows, columns) = (self.bytes as u32, self.rows as u32, self.columns as u32);
        match self.layout {
            BlockLayout::Rows => (columns * bytes, rows),
            BlockLayout::Transposed => (rows * bytes, columns),
            BlockLayout::Packed => (columns * DWORD, rows * bytes / DWORD),
        }
    }

    /// Where in a value an element lies, in bytes.
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

    /// Every shape that is allowed has each place once, and no more than a message of Xe-HPC
    /// brings.
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
        // Of 1, 2, 4 and 8 bytes: rows of 1 to 16, so many in one, two or four blocks, and the
        // other layouts.
        assert!(shapes > 1500, "{shapes}");
    }

    #[test]
    fn what_no_message_moves_is_refused() {
        let good = Block2dShape {
            layout: BlockLayout::Rows,
            bytes: 2,
            rows: 8,
            columns: 16,
            blocks: 2,
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
