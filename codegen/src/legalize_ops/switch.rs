//! Expansion of `switch` to a tree of compares and branches. Dense cases are jump tables, which are
//! leaves of the tree.

use super::Expander;
use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, BlockInsts, Inst, InstData, IntCC, Opcode, Type, Value};
use smallvec::SmallVec;
use std::ops::Range;

/// Consecutive values with the same destination, or a range of them whose destination is a jump
/// table.
#[derive(Clone, Copy)]
pub(super) struct CaseCluster {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) dest: BlockCall,
    /// True for a jump table, which leads all values outside of the range to the default.
    pub(super) table: bool,
}

/// Maximal clusters that a leaf compares one by one.
const LEAF: usize = 3;

/// Undecided node of the tree.
struct SwitchNode {
    block: Option<Block>,
    clusters: Range<usize>,
    /// Bounds of the value in this node.
    low: u64,
    high: u64,
}

impl Expander<'_> {
    /// Ends the block with the decision tree if the instruction is a `switch`. Each cluster is in
    /// one leaf. The depth of a leaf is the logarithm of the number of clusters.
    pub(super) fn switch(&mut self, inst: Inst) -> bool {
        let InstData::Switch { arg, cases, .. } = *self.func.dfg.data(inst) else {
            return false;
        };
        let cases = self.func.dfg.cases(cases).clone();
        let Some((&otherwise, dests)) = cases.dests.split_first() else {
            return false;
        };
        let mut sorted: Vec<(u64, BlockCall)> = cases
            .values
            .iter()
            .copied()
            .zip(dests.iter().copied())
            .collect();
        sorted.sort_unstable_by_key(|c| c.0);
        let mut clusters: Vec<CaseCluster> = Vec::new();
        for (value, dest) in sorted {
            match clusters.last_mut() {
                Some(last) if last.high + 1 == value && self.same(&last.dest, &dest) => {
                    last.high = value;
                }
                _ => clusters.push(CaseCluster {
                    low: value,
                    high: value,
                    dest,
                    table: false,
                }),
            }
        }
        // Many leaves lead there: its arguments are passed once.
        let otherwise = if otherwise.args.is_empty() || clusters.len() < 2 {
            otherwise
        } else {
            BlockCall {
                block: self.jump_from_new(otherwise),
                args: ValueList::new(),
            }
        };
        if self.tables {
            clusters = self.tables(arg, clusters, otherwise);
            if clusters.is_empty() && !cases.values.is_empty() {
                return true;
            }
        }
        let ty = self.ty(arg);
        let mut work = vec![SwitchNode {
            block: None,
            clusters: 0..clusters.len(),
            low: 0,
            high: ty.scalar().mask(),
        }];
        while let Some(node) = work.pop() {
            let outer = node.block.map(|_| std::mem::take(&mut self.out));
            let of = node.clusters.clone();
            if of.len() <= LEAF {
                self.leaf(arg, &clusters, &node, otherwise)
            } else {
                let middle = of.start + of.len() / 2;
                let first = clusters.get(middle).map_or(0, |c| c.low);
                let less = self.compare(IntCC::UnsignedLessThan, arg, ty, first);
                let [below, above] = [self.block(), self.block()];
                self.branch(less, call(below), call(above));
                work.push(SwitchNode {
                    block: Some(above),
                    clusters: middle..of.end,
                    low: first,
                    high: node.high,
                });
                work.push(SwitchNode {
                    block: Some(below),
                    clusters: of.start..middle,
                    low: node.low,
                    high: first.saturating_sub(1),
                });
            }
            self.end(node.block, outer);
        }
        true
    }

    /// Compares with the clusters one by one. The last needs no compare if the value can be nothing
    /// else.
    fn leaf(
        &mut self,
        arg: Value,
        clusters: &[CaseCluster],
        node: &SwitchNode,
        otherwise: BlockCall,
    ) {
        let ty = self.ty(arg);
        let (mut low, mut high) = (node.low, node.high);
        // A table decides for all values that are left.
        let list: SmallVec<[CaseCluster; LEAF]> = {
            let all = &clusters[node.clusters.clone()];
            let tables = all.iter().filter(|c| c.table);
            all.iter()
                .filter(|c| !c.table)
                .chain(tables)
                .copied()
                .collect()
        };
        // If the clusters cover the node, the last needs no compare, whatever the order of the
        // others.
        let inside: u128 = list.iter().map(|c| u128::from(c.high - c.low) + 1).sum();
        let full = inside == u128::from(high - low) + 1;
        let mut block = None;
        let mut outer = None;
        for (n, c) in list.iter().enumerate() {
            let last = n + 1 == list.len();
            if last && (full || c.table) {
                self.push_jump(c.dest);
                self.end(block, outer);
                return;
            }
            let is = if c.low == c.high {
                self.compare(IntCC::Equal, arg, ty, c.low)
            } else if c.low == low {
                self.compare(IntCC::UnsignedLessThanOrEqual, arg, ty, c.high)
            } else if c.high == high {
                self.compare(IntCC::UnsignedGreaterThanOrEqual, arg, ty, c.low)
            } else {
                let first = self.int(ty, c.low as i64);
                let distance = self.bin(Opcode::Isub, arg, first);
                self.compare(IntCC::UnsignedLessThanOrEqual, distance, ty, c.high - c.low)
            };
            // The compare narrows the bounds.
            if c.low == low {
                low = c.high.saturating_add(1);
            } else if c.high == high {
                high = c.low.saturating_sub(1);
            }
            if last {
                self.branch(is, c.dest, otherwise);
                self.end(block, outer);
                return;
            }
            let next = self.block();
            self.branch(is, c.dest, call(next));
            self.end(block, outer);
            block = Some(next);
            outer = Some(std::mem::take(&mut self.out));
        }
        self.push_jump(otherwise);
        self.end(block, outer);
    }

    /// Returns true if two destinations are the same.
    fn same(&self, a: &BlockCall, b: &BlockCall) -> bool {
        let pool = &self.func.dfg.pool;
        a.block == b.block && a.args.as_slice(pool) == b.args.as_slice(pool)
    }

    pub(super) fn compare(&mut self, cond: IntCC, v: Value, ty: Type, with: u64) -> Value {
        let with = self.int(ty, with as i64);
        self.icmp(cond, v, with)
    }

    pub(super) fn branch(&mut self, cond: Value, then: BlockCall, otherwise: BlockCall) {
        let (opcode, dests) = (Opcode::Brif, [then, otherwise]);
        self.push(
            InstData::Brif {
                opcode,
                cond,
                dests,
            },
            None,
        );
    }

    fn push_jump(&mut self, dest: BlockCall) {
        let opcode = Opcode::Jump;
        self.push(InstData::Jump { opcode, dest }, None);
    }

    /// Appends a new block.
    pub(super) fn block(&mut self) -> Block {
        let block = self.func.dfg.make_block();
        self.func.layout.append_block(block);
        block
    }

    /// Moves the appended instructions into a new block, and restores the outer ones. Without a
    /// block they stay in the current one.
    pub(super) fn end(&mut self, block: Option<Block>, outer: Option<BlockInsts>) {
        if let (Some(block), Some(outer)) = (block, outer) {
            *self.func.layout.insts_mut(block) = std::mem::replace(&mut self.out, outer);
        }
    }

    /// Makes a block that jumps to a destination.
    pub(super) fn jump_from_new(&mut self, dest: BlockCall) -> Block {
        let block = self.block();
        let outer = std::mem::take(&mut self.out);
        self.push_jump(dest);
        self.end(Some(block), Some(outer));
        block
    }
}

/// Returns a destination without arguments.
pub(super) fn call(block: Block) -> BlockCall {
    let args = ValueList::new();
    BlockCall { block, args }
}
