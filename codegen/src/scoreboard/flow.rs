//! Control flow graph of physical instructions.

use super::facts::Facts;
use super::order::falls_through;
use crate::emit::NATIVE;
use gantry_isa_gen::{Inst, Op, Reg, Src, Target};
use smallvec::SmallVec;
use std::ops::Range;

/// Blocks, and the edges between them.
pub(super) struct FlowGraph {
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) succs: Vec<SmallVec<[u32; 2]>>,
}

/// Returns the branch targets of an instruction.
fn targets(n: usize, inst: &Inst<Reg>) -> impl Iterator<Item = usize> + '_ {
    inst.srcs.iter().filter_map(move |s| match *s {
        Src::Target(Target::Rel(by)) => usize::try_from(n as i64 + i64::from(by / NATIVE)).ok(),
        _ => None,
    })
}

impl FlowGraph {
    pub(super) fn of(insts: &[Inst<Reg>], facts: &Facts) -> FlowGraph {
        let len = insts.len();
        let mut leads = vec![false; len + 1];
        for (n, inst) in insts.iter().enumerate() {
            let mut leaves = matches!(inst.op, Op::Ret | Op::Jmpi);
            for to in targets(n, inst) {
                leaves = true;
                if let Some(l) = leads.get_mut(to) {
                    *l = true;
                }
            }
            if leaves {
                leads[n + 1] = true;
            }
        }
        // Block of each instruction.
        let mut of = Vec::with_capacity(len);
        let mut blocks: Vec<Range<usize>> = Vec::new();
        for (n, lead) in leads.iter().take(len).enumerate() {
            match blocks.last_mut() {
                Some(last) if !lead => last.end = n + 1,
                _ => blocks.push(n..n + 1),
            }
            of.push(blocks.len() as u32 - 1);
        }
        let mut flow = FlowGraph {
            succs: vec![SmallVec::new(); blocks.len()],
            blocks,
        };
        let mut calls: Vec<(u32, u32)> = Vec::new();
        for b in 0..flow.blocks.len() {
            let Some(last) = flow.blocks[b].end.checked_sub(1) else {
                continue;
            };
            let (Some(inst), Some(fact)) = (insts.get(last), facts.insts.get(last)) else {
                continue;
            };
            for to in targets(last, inst) {
                if let Some(&to) = of.get(to) {
                    flow.edge(b, to);
                    if inst.op == Op::Call {
                        calls.push((to, b as u32 + 1));
                    }
                }
            }
            if inst.op == Op::Jmpi && targets(last, inst).next().is_none() {
                // The table of a jump by a register: the jumps after it, and the instruction that
                // the last entry may fall through to.
                let mut entry = b + 1;
                while let Some(range) = flow.blocks.get(entry).cloned() {
                    flow.succs[b].push(entry as u32);
                    let one = insts.get(range.start).filter(|_| range.len() == 1);
                    if !one.is_some_and(|i| i.op == Op::Jmpi && i.pred.is_none()) {
                        break;
                    }
                    entry += 1;
                }
            }
            if falls_through(inst, fact) && b + 1 < flow.blocks.len() {
                flow.edge(b, b as u32 + 1);
            }
        }
        flow.returns(insts, &calls);
        flow
    }

    fn edge(&mut self, from: usize, to: u32) {
        if let Some(s) = self.succs.get_mut(from)
            && !s.contains(&to)
        {
            s.push(to);
        }
    }

    /// Adds edges from the returns of routines to the instructions after their calls. `calls` has
    /// the routine's first block and the block after the call.
    fn returns(&mut self, insts: &[Inst<Reg>], calls: &[(u32, u32)]) {
        let mut calls = calls.to_vec();
        calls.sort_unstable();
        let mut seen = vec![u32::MAX; self.blocks.len()];
        let mut work = Vec::new();
        for group in calls.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(entry, _)) = group.first() else {
                continue;
            };
            work.push(entry);
            let mut ends = Vec::new();
            while let Some(b) = work.pop() {
                let (Some(range), Some(mark)) =
                    (self.blocks.get(b as usize), seen.get_mut(b as usize))
                else {
                    continue;
                };
                if std::mem::replace(mark, entry) == entry {
                    continue;
                }
                match range.end.checked_sub(1).and_then(|l| insts.get(l)) {
                    Some(last) if last.op == Op::Ret => ends.push(b),
                    // The walk continues after a call within the routine.
                    Some(last) if last.op == Op::Call => work.push(b + 1),
                    _ => work.extend(self.succs.get(b as usize).into_iter().flatten()),
                }
            }
            for end in ends {
                for (_, after) in group {
                    self.edge(end as usize, *after);
                }
            }
        }
    }
}
