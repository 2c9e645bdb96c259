//! Natural loops: which blocks are in which, and how they nest.

pub(crate) mod rotate;
pub(crate) mod unroll;
use crate::ir::{Block, ControlFlow, Function};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};

/// A loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Loop(u32);
entity_impl!(Loop, "loop");

/// What is known of a loop.
pub(crate) struct LoopData {
    /// The block that every way into it goes through.
    pub header: Block,
    /// The loop around it.
    pub parent: PackedOption<Loop>,
    /// How many loops it is in, itself included.
    pub depth: u32,
}

/// The natural loops of a function: those with one header, that dominates them. Blocks of
/// irreducible cycles are in the loops around those.
pub(crate) struct Loops {
    pub loops: PrimaryMap<Loop, LoopData>,
    /// The innermost loop of each block.
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
}

impl Loops {
    /// Finds them, in time that grows with edges and the logarithm of the depth of nests.
    pub fn new(func: &Function, cfg: &ControlFlow) -> Loops {
        let mut out = Loops {
            loops: PrimaryMap::new(),
            innermost: sized(func.dfg.num_blocks()),
        };
        if !cfg.goes_back() {
            return out;
        }
        let intervals = cfg.dominator_intervals();
        let dominates = |a: Block, b: Block| {
            intervals[a].0 <= intervals[b].0 && intervals[b].1 <= intervals[a].1
        };
        // By loop, one around it that is known by now: the outermost, after few steps.
        let mut around: Vec<Loop> = Vec::new();
        // Inner loops have their headers later in the order: they are found first, and are one step
        // for the loops around them.
        let mut stack = Vec::new();
        for &header in cfg.order().iter().rev() {
            let latches = cfg.preds(header).iter().map(|&(b, _)| b);
            stack.extend(latches.filter(|&b| cfg.is_reachable(b) && dominates(header, b)));
            if stack.is_empty() {
                continue;
            }
            let this = out.loops.push(LoopData {
                header,
                parent: None.into(),
                depth: 0,
            });
            around.push(this);
            while let Some(block) = stack.pop() {
                let outer = out.of(block).map(|l| outermost(&mut around, l));
                let next = match outer {
                    Some(l) if l == this => continue,
                    None => {
                        out.innermost[block] = this.into();
                        block
                    }
                    Some(inner) => {
                        out.loops[inner].parent = this.into();
                        around[inner.as_u32() as usize] = this;
                        out.loops[inner].header
                    }
                };
                if next != header {
                    let preds = cfg.preds(next).iter().map(|&(b, _)| b);
                    stack.extend(preds.filter(|&b| cfg.is_reachable(b)));
                }
            }
        }
        // Loops around others were made later.
        for n in (0..out.loops.len()).rev() {
            let this = Loop::from_u32(n as u32);
            let around = out.loops[this].parent.expand();
            out.loops[this].depth = 1 + around.map_or(0, |l| out.loops[l].depth);
        }
        debug_assert!(func.layout.entry().is_none_or(|b| out.of(b).is_none()));
        out
    }

    /// The innermost loop that a block is in.
    pub fn of(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// How many loops a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.of(block).map_or(0, |l| self.loops[l].depth)
    }
}

/// The outermost loop around one; the way there is halved for who asks next.
fn outermost(around: &mut [Loop], of: Loop) -> Loop {
    let mut at = of.as_u32() as usize;
    loop {
        let up = around[at].as_u32() as usize;
        if up == at {
            return Loop::from_u32(at as u32);
        }
        around[at] = around[up];
        at = up;
    }
}
