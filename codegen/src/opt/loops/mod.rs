//! Natural loops: their blocks and their nesting.

pub(crate) mod rotate;
pub(crate) mod unroll;
use crate::ir::{Block, ControlFlow, Function};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};

/// Loop of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Loop(u32);
entity_impl!(Loop, "loop");

/// Header, parent and depth of a loop.
pub(crate) struct LoopData {
    /// Block that every entry into the loop goes through.
    pub header: Block,
    /// Innermost loop around this one.
    pub parent: PackedOption<Loop>,
    /// Nesting depth: 1 for an outermost loop.
    pub depth: u32,
}

/// Natural loops of a function: those with one header that dominates all of their blocks. Blocks of
/// irreducible cycles belong to the loops around these.
pub(crate) struct Loops {
    pub loops: PrimaryMap<Loop, LoopData>,
    /// Innermost loop of each block.
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
}

impl Loops {
    /// Finds loops, in time that grows with edges and with the logarithm of the nesting depth.
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
        // For each loop, a known loop around it. A few steps lead to the outermost one.
        let mut around: Vec<Loop> = Vec::new();
        // Inner loops have later headers, so they are found first. Loops around them take each as
        // one step.
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
        // Outer loops were made later than inner ones.
        for n in (0..out.loops.len()).rev() {
            let this = Loop::from_u32(n as u32);
            let around = out.loops[this].parent.expand();
            out.loops[this].depth = 1 + around.map_or(0, |l| out.loops[l].depth);
        }
        debug_assert!(func.layout.entry().is_none_or(|b| out.of(b).is_none()));
        out
    }

    /// Returns the innermost loop of a block.
    pub fn of(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Returns the number of loops around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.of(block).map_or(0, |l| self.loops[l].depth)
    }
}

/// Returns the outermost known loop around one. Halves the path for later calls.
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
