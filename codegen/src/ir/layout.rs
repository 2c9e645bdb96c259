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

    /// Puts blocks before another one; at the end where that is not there.
    pub fn insert_before(&mut self, block: Block, blocks: &[Block]) {
        let at = self.blocks.iter().position(|&b| b == block);
        let at = at.unwrap_or(self.blocks.len());
        self.blocks.splice(at..at, blocks.iter().copied());
    }

    /// Puts each second block of the pairs before the first one of its pair, in time that grows
    /// with all blocks.
    pub fn insert_each_before(&mut self, mut pairs: Vec<(Block, Block)>) {
        if pairs.is_empty() {
            return;
        }
        pairs.sort_by_key(|&(before, _)| before);
        let mut all = Vec::with_capacity(self.blocks.len() + pairs.len());
        for &block in &self.blocks {
            let first = pairs.partition_point(|&(before, _)| before < block);
            let new = pairs.iter().skip(first);
            let new = new.take_while(|&&(before, _)| before == block);
            all.extend(new.map(|&(_, new)| new));
            all.push(block);
        }
        self.blocks = all;
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The entry block, where there is one.
    pub fn entry(&self) -> Option<Block> {
        self.blocks.first().copied()
    }

    /// Instructions of all blocks.
    pub fn num_insts(&self) -> usize {
        self.blocks.iter().map(|&b| self.insts[b].len()).sum()
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
