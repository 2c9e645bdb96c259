//! Shape of loops whose iterations can be copied in sequence.

use crate::ir::{Block, ControlFlow, Function, InstData, Opcode, Value};
use crate::opt::clone_insts::jump_args;
use crate::opt::loops::{Loop, Loops};
use rustc_hash::FxHashMap;

/// Innermost loop with one entering jump, one jump back, and its only exit at the header.
pub(super) struct LoopShape {
    pub header: Block,
    /// Block that jumps into the loop, and block that jumps back.
    pub before: Block,
    pub latch: Block,
    /// Condition of the header, and indices of its destinations inside and outside of the loop.
    pub cond: Value,
    pub body: usize,
    pub exit: usize,
    /// Blocks in an order with definitions before uses; the header is first.
    pub blocks: Vec<Block>,
}

impl LoopShape {
    /// Returns the index of a counter among the header's parameters and its constant step.
    pub fn counts(&self, func: &Function, number: Value) -> Option<(usize, u64)> {
        let params = func.dfg.block_params(self.header);
        let place = params.iter().position(|&p| p == number)?;
        let next = *jump_args(func, self.latch).get(place)?;
        match *func.dfg.data(func.dfg.def_inst(next)?) {
            InstData::Binary {
                opcode: Opcode::Iadd,
                args: [x, step],
            } if x == number => Some((place, super::constant(func, step)?)),
            _ => None,
        }
    }
}

/// Returns the loops of this shape.
pub(super) fn innermost<'a>(
    func: &'a Function,
    cfg: &'a ControlFlow,
    loops: &'a Loops,
) -> impl Iterator<Item = LoopShape> + 'a {
    let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); loops.loops.len()];
    for &block in cfg.order() {
        if let Some(l) = loops.of(block) {
            blocks[l.as_u32() as usize].push(block);
        }
    }
    let mut inner: Vec<bool> = vec![true; loops.loops.len()];
    for data in loops.loops.values() {
        if let Some(up) = data.parent.expand() {
            inner[up.as_u32() as usize] = false;
        }
    }
    let all = loops.loops.keys();
    all.filter(move |l| inner[l.as_u32() as usize])
        .filter_map(move |l| {
            let blocks = std::mem::take(&mut blocks[l.as_u32() as usize]);
            shape(func, cfg, loops, l, blocks)
        })
}

fn shape(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    this: Loop,
    blocks: Vec<Block>,
) -> Option<LoopShape> {
    let header = loops.loops[this].header;
    let inside = |b: Block| loops.of(b) == Some(this);
    let &[(a, _), (b, _)] = cfg.preds(header) else {
        return None;
    };
    let (before, latch) = match (inside(a), inside(b)) {
        (false, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    let end = |b: Block| func.layout.terminator(b).map(|i| func.dfg.data(i));
    let jumps = |b: Block| matches!(end(b), Some(InstData::Jump { .. }));
    if !jumps(before) || !jumps(latch) {
        return None;
    }
    let InstData::Brif { cond, dests, .. } = *end(header)? else {
        return None;
    };
    let (body, exit) = match (inside(dests[0].block), inside(dests[1].block)) {
        (true, false) => (0, 1),
        (false, true) => (1, 0),
        _ => return None,
    };
    // The only exit is at the header, and the exit block has no other predecessor.
    let leaves = |b: &Block| {
        let end = func.layout.terminator(*b);
        let dests = end.map_or(&[][..], |i| func.dfg.destinations(i));
        *b != header && dests.iter().any(|d| !inside(d.block))
    };
    // Irreducible cycles would have uses before definitions.
    let places: FxHashMap<Block, usize> = blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    let back = |(n, b): (usize, &Block)| {
        let end = func.layout.terminator(*b);
        let dests = end.map_or(&[][..], |i| func.dfg.destinations(i));
        let mut to = dests.iter().filter_map(|d| places.get(&d.block));
        to.any(|&to| to != 0 && to <= n)
    };
    if latch == header || blocks.iter().enumerate().any(back) {
        return None;
    }
    if blocks.iter().any(leaves) || cfg.preds(dests[exit].block).len() != 1 {
        return None;
    }
    Some(LoopShape {
        header,
        before,
        latch,
        cond,
        body,
        exit,
        blocks,
    })
}
