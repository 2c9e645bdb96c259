//! Jump tables: dense cases of a `switch` become a jump by a computed distance.
//!
//! A table takes four to six instructions, whatever the number of cases: a difference with the
//! first case, a minimum that leads all others to the last entry, the distance in bytes, a `jmpi`
//! by it, and the `jmpi` of the entry. The first two are left out if they change nothing. In the IR
//! a table is a `switch` on that distance, whose cases are the positions of the entries in order
//! and whose default is the last entry. Lowering makes a machine instruction of it ([`is_table`]).
//!
//! [`dense`] finds the cases in one walk over them, sorted by value.

use super::switch::{CaseCluster, call};
use super::{Expander, rule};
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockCall, Cases, DataFlowGraph, Inst, InstData, IntCC, Opcode, Scalar, Type, Value,
};
use crate::target::Target;
use std::collections::HashMap;
use std::ops::Range;

/// Fewest clusters of a table. Their tree of compares executes six or seven instructions on
/// average, and a table four to six.
const FEWEST: usize = 7;
/// Most entries of a table per cluster. A compare and its branch take as many bytes as two.
const SPARSEST: u64 = 2;
/// Most entries of a table, so that no block has very many successors.
const MOST: u64 = 256;
/// Largest first case that is no reason for a difference: the entries before it are the default's.
const UNSHIFTED: u64 = 2;
/// Bytes of an entry, by a power of two.
const ENTRY_SHIFT: u64 = 4;
/// Definitions that [`bound`] follows.
const DEPTH: u32 = 4;

/// Returns the end of the table of clusters from `start` on, if they are dense.
pub(super) fn dense(clusters: &[CaseCluster], start: usize) -> Option<usize> {
    let first = clusters.get(start)?.low;
    let is_dense = |end: usize| {
        let last = clusters.get(end - 1).map_or(0, |c| c.high);
        last - first < MOST.min(SPARSEST * (end - start) as u64)
    };
    let mut end = start;
    while end < clusters.len() && is_dense(end + 1) {
        end += 1;
    }
    (end - start >= FEWEST).then_some(end)
}

/// Returns the distance from a `jmpi` by a register to the first entry of its table.
fn first_entry(target: &Target) -> u64 {
    if target.features().jmpi_from_end {
        0
    } else {
        1 << ENTRY_SHIFT
    }
}

/// Returns the number of an integer constant.
fn constant(dfg: &DataFlowGraph, v: Value) -> Option<u64> {
    match *dfg.data(dfg.def_inst(v)?) {
        InstData::Imm {
            opcode: Opcode::Iconst,
            bits,
        } => Some(bits),
        _ => None,
    }
}

/// Returns the largest number that an unsigned value can be, as far as a few definitions tell.
/// Definitions for which `stops` holds are not followed.
fn bound(dfg: &DataFlowGraph, v: Value, depth: u32, stops: &impl Fn(Inst) -> bool) -> u64 {
    let all = dfg.ty(v).scalar().mask();
    let (Some(inst), Some(depth)) = (dfg.def_inst(v), depth.checked_sub(1)) else {
        return all;
    };
    if stops(inst) {
        return all;
    }
    let of = |v: Value| bound(dfg, v, depth, stops);
    match *dfg.data(inst) {
        InstData::Imm {
            opcode: Opcode::Iconst,
            bits,
        } => bits,
        InstData::Binary {
            opcode: Opcode::Band | Opcode::Umin,
            args: [a, b],
        } => of(a).min(of(b)),
        InstData::Binary {
            opcode: Opcode::Ushr,
            args: [a, b],
        } => {
            let by = constant(dfg, b).and_then(|by| u32::try_from(by).ok());
            by.and_then(|by| of(a).checked_shr(by)).unwrap_or(all)
        }
        InstData::Unary {
            opcode: Opcode::Uextend | Opcode::Ireduce,
            arg,
        } => match of(arg) {
            n if n <= all => n,
            _ => all,
        },
        _ => all,
    }
}

/// Returns true if a `switch` jumps by a table: its operand is the distance to an entry.
pub(crate) fn is_table(dfg: &DataFlowGraph, inst: Inst, target: &Target) -> bool {
    let InstData::Switch { arg, cases, .. } = *dfg.data(inst) else {
        return false;
    };
    let first = first_entry(target);
    let values = &dfg.cases(cases).values;
    let in_order = (0u64..)
        .zip(values)
        .all(|(n, v)| *v == (n << ENTRY_SHIFT) + first);
    let binary = |v: Value, wanted: Opcode| match dfg.def_inst(v).map(|i| *dfg.data(i)) {
        Some(InstData::Binary { opcode, args }) if opcode == wanted => Some(args),
        _ => None,
    };
    let shifted = if first == 0 {
        Some(arg)
    } else {
        let sum = binary(arg, Opcode::Iadd);
        sum.filter(|s| constant(dfg, s[1]) == Some(first))
            .map(|s| s[0])
    };
    let index = shifted
        .and_then(|v| binary(v, Opcode::Ishl))
        .filter(|s| constant(dfg, s[1]) == Some(ENTRY_SHIFT))
        .map(|s| s[0]);
    in_order && index.is_some_and(|v| bound(dfg, v, DEPTH, &|_| false) <= values.len() as u64)
}

impl Expander<'_> {
    /// Ends the current block with a jump by a table of sorted clusters. All other values lead to
    /// `otherwise`.
    pub(super) fn jump_table(
        &mut self,
        arg: Value,
        clusters: &[CaseCluster],
        otherwise: BlockCall,
    ) {
        let (Some(first), Some(last)) = (clusters.first(), clusters.last()) else {
            return;
        };
        let (ty, i32) = (self.ty(arg), Type::scalar_of(Scalar::I32));
        let base = if first.low <= UNSHIFTED { 0 } else { first.low };
        let mut index = arg;
        if base > 0 {
            let first = self.int(ty, base as i64);
            index = self.bin(Opcode::Isub, arg, first);
        }
        let mut dests = Vec::with_capacity((last.high - base) as usize + 2);
        let mut blocks = HashMap::new();
        for c in clusters {
            let dest = self.without_args(c.dest, &mut blocks);
            dests.resize((c.low - base) as usize, otherwise);
            dests.resize((c.high - base) as usize + 1, dest);
        }
        let count = dests.len() as u64;
        // Dwords of a qword have a bound of their own.
        let mut inner = None;
        match ty.scalar() {
            Scalar::I32 => {}
            Scalar::I64 => {
                if self.bound(index) >= count {
                    let is = self.compare(IntCC::UnsignedLessThan, index, ty, count);
                    let block = self.block();
                    self.branch(is, call(block), otherwise);
                    inner = Some((block, std::mem::take(&mut self.out)));
                }
                index = self.to(Opcode::Ireduce, i32, index);
            }
            _ => index = self.to(Opcode::Uextend, i32, index),
        }
        if self.bound(index) >= count {
            let most = self.int(i32, count as i64);
            index = self.bin(Opcode::Umin, index, most);
            dests.push(otherwise);
        }
        let start = first_entry(self.target);
        let shift = self.int(i32, ENTRY_SHIFT as i64);
        let mut distance = self.bin(Opcode::Ishl, index, shift);
        if start > 0 {
            let start = self.int(i32, start as i64);
            distance = self.bin(Opcode::Iadd, distance, start);
        }
        // The last entry is the default.
        dests.rotate_right(1);
        let values = (1..dests.len() as u64).map(|n| ((n - 1) << ENTRY_SHIFT) + start);
        let values = values.collect();
        let cases = self.func.dfg.make_cases(Cases { values, dests });
        let data = InstData::Switch {
            opcode: Opcode::Switch,
            arg: distance,
            cases,
        };
        self.push(data, None);
        if let Some((block, outer)) = inner {
            self.end(Some(block), Some(outer));
        }
    }

    /// Returns the largest number of an unsigned value, by definitions that stay as they are.
    fn bound(&self, v: Value) -> u64 {
        let stops = |inst| rule(&self.func, inst, self.target).is_some();
        bound(&self.func.dfg, v, DEPTH, &stops)
    }

    /// Returns a destination without arguments: the arguments of several entries are passed once.
    fn without_args(
        &mut self,
        dest: BlockCall,
        blocks: &mut HashMap<(Block, Vec<Value>), Block>,
    ) -> BlockCall {
        if dest.args.is_empty() {
            return dest;
        }
        let args = dest.args.as_slice(&self.func.dfg.pool).to_vec();
        let key = (dest.block, args);
        let made = blocks.get(&key).copied();
        let block = made.unwrap_or_else(|| self.jump_from_new(dest));
        blocks.insert(key, block);
        call(block)
    }

    /// Replaces dense clusters by a block that jumps by a table. If all are dense, the current
    /// block jumps, and none are left.
    pub(super) fn tables(
        &mut self,
        arg: Value,
        clusters: Vec<CaseCluster>,
        otherwise: BlockCall,
    ) -> Vec<CaseCluster> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < clusters.len() {
            match dense(&clusters, at) {
                Some(end) => {
                    found.push(at..end);
                    at = end;
                }
                None => at += 1,
            }
        }
        let of = |r: &Range<usize>| clusters.get(r.clone()).unwrap_or_default();
        if let [all] = &found[..]
            && of(all).len() == clusters.len()
        {
            self.jump_table(arg, &clusters, otherwise);
            return Vec::new();
        }
        let mut out = Vec::with_capacity(clusters.len());
        let mut next = 0;
        for range in &found {
            out.extend_from_slice(of(&(next..range.start)));
            next = range.end;
            let these = of(range);
            if let (Some(first), Some(last)) = (these.first(), these.last()) {
                let block = self.block();
                let outer = std::mem::take(&mut self.out);
                self.jump_table(arg, these, otherwise);
                self.end(Some(block), Some(outer));
                out.push(CaseCluster {
                    low: first.low,
                    high: last.high,
                    dest: BlockCall {
                        block,
                        args: ValueList::new(),
                    },
                    table: true,
                });
            }
        }
        out.extend_from_slice(of(&(next..clusters.len())));
        out
    }
}
