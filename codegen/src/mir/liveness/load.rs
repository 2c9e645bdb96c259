//! Sum of the bytes that are live at the ends of blocks.

use crate::error::CodegenError;
use crate::mir::{VBlock, VCode};
use cranelift_entity::EntityRef;

/// Bytes that are live at the ends of blocks.
///
/// If their sum exceeds the size of the GRF file times the number of blocks, some block needs more
/// than the file. This ends the computation early: to follow all live ranges of nested code would
/// take quadratic time.
pub(crate) struct LiveOutLoad {
    pub(super) bytes: Vec<u32>,
    pub(super) total: u64,
    pub(super) most: u64,
}

impl LiveOutLoad {
    /// Returns an empty load for a GRF file of `file` bytes.
    pub(crate) fn new(code: &VCode, file: u32) -> LiveOutLoad {
        LiveOutLoad {
            bytes: vec![0; code.blocks.len()],
            total: 0,
            most: u64::from(file) * code.blocks.len() as u64,
        }
    }

    /// Adds bytes that are live at a block's end, which count as `cost` bytes in the sum. Returns
    /// true if all may still fit.
    pub(crate) fn add(&mut self, block: VBlock, bytes: u32, cost: u32) -> bool {
        self.bytes[block.index()] = self.bytes[block.index()].saturating_add(bytes);
        self.total += u64::from(cost);
        self.total <= self.most
    }

    /// Returns the error for the block with most live bytes.
    pub(crate) fn error(&self, name: &str, code: &VCode, file: u32) -> CodegenError {
        let blocks = self.bytes.iter().zip(code.blocks.values());
        let worst = blocks.max_by_key(|(bytes, _)| **bytes);
        let (needed, at) = worst.map_or((0, 0), |(bytes, b)| (*bytes, b.end.saturating_sub(1)));
        code.out_of_registers(name, at, [needed, file], false)
    }
}
