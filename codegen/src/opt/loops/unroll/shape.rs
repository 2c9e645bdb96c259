//! Shape of loops whose iterations can be copied in sequence.

use crate::ir::{Block, ControlFlow, Function, InstData, Opcode, Value};
use crate::opt::clone_insts::jump_args;
use crate::opt::loops::{Loop, Loops};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

/// Nesting depth of loops that are looked at.
const DEPTH: u32 = 16;

/// Loop with one entering jump, one jump back, and its only exit at the header.
#[derive(Clone)]
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

/// Returns the innermost loops of this shape.
pub(super) fn innermost<'a>(
    func: &'a Function,
    cfg: &'a ControlFlow,
    loops: &'a Loops,
) -> impl Iterator<Item = LoopShape> + 'a {
    let mut blocks = blocks(cfg, loops, false);
    let mut inner: Vec<bool> = vec![true; loops.loops.len()];
    for data in loops.loops.values() {
        if let Some(up) = data.parent.expand() {
            inner[up.as_u32() as usize] = false;
        }
    }
    let all = loops.loops.keys();
    all.filter(move |l| inner[l.as_u32() as usize])
        .filter_map(move |l| shape(func, cfg, loops, l, std::mem::take(&mut blocks[l])))
}

/// Returns the shape of each loop that has it, nested up to [`DEPTH`] deep.
pub(super) fn nested(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
) -> SecondaryMap<Loop, Option<LoopShape>> {
    let mut blocks = blocks(cfg, loops, true);
    let mut out = SecondaryMap::new();
    for l in loops.loops.keys() {
        if loops.loops[l].depth <= DEPTH {
            out[l] = shape(func, cfg, loops, l, std::mem::take(&mut blocks[l]));
        }
    }
    out
}

/// Returns the blocks of each loop in reverse postorder, with those of inner loops if asked.
fn blocks(cfg: &ControlFlow, loops: &Loops, inner: bool) -> SecondaryMap<Loop, Vec<Block>> {
    let mut blocks: SecondaryMap<Loop, Vec<Block>> = SecondaryMap::new();
    for &block in cfg.order() {
        let mut at = loops.of(block);
        while let Some(l) = at {
            if loops.loops[l].depth <= DEPTH {
                blocks[l].push(block);
            }
            at = loops.loops[l].parent.expand().filter(|_| inner);
        }
    }
    blocks
}

fn shape(
    func: &Function,
    cfg: &ControlFlow,
    loops: &Loops,
    this: Loop,
    blocks: Vec<Block>,
) -> Option<LoopShape> {
    let header = loops.loops[this].header;
    let inside = |b: Block| loops.contains(this, b);
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
    // Irreducible cycles would have uses before definitions. Inner loops have their headers.
    let places: FxHashMap<Block, usize> = blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    let back = |(n, b): (usize, &Block)| {
        let end = func.layout.terminator(*b);
        let dests = end.map_or(&[][..], |i| func.dfg.destinations(i));
        let is_header = |b: Block| {
            loops
                .of(b)
                .is_some_and(|l| l != this && loops.loops[l].header == b)
        };
        let to = dests.iter().filter(|d| !is_header(d.block));
        let mut to = to.filter_map(|d| places.get(&d.block));
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
