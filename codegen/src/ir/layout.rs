//! The order of blocks, and of instructions in each.

use super::entities::{Block, Inst};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// The instructions of a block: mostly a few.
pub type BlockInsts = SmallVec<[Inst; 4]>;

/// Blocks in order, the entry first, each with its instructions in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    blocks: Vec<Block>,
    insts: SecondaryMap<Block, BlockInsts>,
}

impl Layout {
    /// Appends a block.
    pub fn append_block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Appends an instruction to a block.
    pub fn append_inst(&mut self, block: Block, inst: Inst) {
        self.insts[block].push(inst);
    }

    /// Keeps the blocks that `keep` wants.
    pub fn retain_blocks(&mut self, mut keep: impl FnMut(Block) -> bool) {
        self.blocks.retain(|&b| keep(b));
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The entry block, where there is one.
    pub fn entry(&self) -> Option<Block> {
        self.blocks.first().copied()
    }

    /// The instructions of a block in order.
    pub fn insts(&self, block: Block) -> &[Inst] {
        &self.insts[block]
    }

    /// The instructions of a block, to change.
    pub fn insts_mut(&mut self, block: Block) -> &mut BlockInsts {
        &mut self.insts[block]
    }

    /// The last instruction of a block, where there is one.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.insts[block].last().copied()
    }
}
