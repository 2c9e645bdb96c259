//! Sinking out of loops: finds the nodes of a loop that only code behind it needs.
//!
//! Elaboration does not put these where the program had them, but before what needs them. Then they
//! are computed once, of the operands of the last iteration. Their operands stay live instead of
//! them, which may take up to one [`LICM_SHARE`]th of the GRF file for each loop. Predicates, and
//! operations on them, stay in their loops, since flags are few.
//!
//! Instructions are visited once, users before operands. So a node sinks if all of its users are
//! behind the loop, or sink.

use super::elaborate::LICM_SHARE;
use super::{EGraph, is_node};
use crate::entity_set::Marks;
use crate::ir::{Block, BlockInsts, ControlFlow, Inst, InstData, Value};
use crate::opt::loops::{Loop, Loops};
use crate::sized;
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// Maximum number of loops around another one that are told from unrelated ones.
const CLIMB: u32 = 8;

/// Loops in which a node is needed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Users {
    #[default]
    None,
    /// In this loop and in loops around it, or outside of all.
    Within(Option<Loop>),
    /// In loops of which none is around the other.
    Apart,
}

struct Sinking<'g, 'a> {
    graph: &'g EGraph<'a>,
    loops: &'g Loops,
    users: SecondaryMap<Value, Users>,
    /// Bytes that stay live at the end of each loop because of nodes that left it.
    bytes: SecondaryMap<Loop, u32>,
    most: u32,
    sunk: Marks<Value>,
    count: u32,
}

/// Returns the nodes to sink, and their number. `old` has the instructions of each block, and
/// `needed` the nodes that something with an effect depends on.
pub(super) fn sinking(
    graph: &EGraph<'_>,
    cfg: &ControlFlow,
    old: &SecondaryMap<Block, BlockInsts>,
    needed: &Marks<Value>,
    loops: &Loops,
    file_bytes: u32,
) -> (Marks<Value>, u32) {
    let dfg = &graph.func.dfg;
    let mut s = Sinking {
        graph,
        loops,
        users: sized(dfg.num_values()),
        bytes: SecondaryMap::new(),
        most: file_bytes / LICM_SHARE,
        sunk: Marks::sized(dfg.num_values()),
        count: 0,
    };
    for &block in cfg.order().iter().rev() {
        let own = loops.of(block);
        for &inst in old[block].iter().rev() {
            let data = dfg.data(inst);
            let result = dfg.first_result(inst);
            match result.filter(|_| is_node(data)) {
                Some(result) => {
                    let node = graph.best_of(result).value;
                    if needed.contains(node)
                        && let Some(def) = dfg.def_inst(node)
                    {
                        let to = s.node(node, def, own);
                        s.operands(def, to);
                    }
                }
                None => {
                    let wanted = dfg.results(inst).iter().any(|r| needed.contains(*r));
                    if wanted || data.opcode().info().effect {
                        s.operands(inst, own);
                    }
                }
            }
        }
    }
    (s.sunk, s.count)
}

impl Sinking<'_, '_> {
    /// Returns the loop in which a node of a loop is computed.
    fn node(&mut self, node: Value, def: Inst, own: Option<Loop>) -> Option<Loop> {
        let (Some(from), Users::Within(to)) = (own, self.users[node]) else {
            return own;
        };
        if to == own || !self.is_within(own, to) {
            return own;
        }
        let Some(more) = self.more_bytes(node, def) else {
            return own;
        };
        let bytes = self.bytes[from] + more;
        if bytes > self.most {
            return own;
        }
        self.bytes[from] = bytes;
        if self.sunk.insert(node) {
            self.count += 1;
        }
        to
    }

    /// Returns the bytes of the operands that stay live in place of a node. `None` if one of them
    /// is a predicate, or the node is.
    fn more_bytes(&self, node: Value, def: Inst) -> Option<u32> {
        let dfg = &self.graph.func.dfg;
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        dfg.data(def).for_each_arg(dfg, |v| {
            let v = self.graph.best_of(v).value;
            let constant = dfg.def_inst(v).map(|i| dfg.data(i));
            if !matches!(constant, Some(InstData::Imm { .. })) && !operands.contains(&v) {
                operands.push(v);
            }
        });
        let all = operands.iter().chain([&node]);
        let predicates = all.clone().any(|v| dfg.ty(*v).is_pred());
        let bytes: u32 = operands.iter().map(|v| dfg.ty(*v).bytes()).sum();
        (!predicates).then(|| bytes.saturating_sub(dfg.ty(node).bytes()))
    }

    /// Notes that the operands of an instruction are needed in a loop.
    fn operands(&mut self, inst: Inst, at: Option<Loop>) {
        let graph = self.graph;
        let dfg = &graph.func.dfg;
        dfg.data(inst).for_each_arg(dfg, |v| {
            let node = graph.best_of(v).value;
            self.users[node] = match self.users[node] {
                Users::None => Users::Within(at),
                Users::Within(other) if self.is_within(other, at) => Users::Within(other),
                Users::Within(other) if self.is_within(at, other) => Users::Within(at),
                Users::Within(_) | Users::Apart => Users::Apart,
            };
        });
    }

    /// Returns true if a loop is another one or in it. `None` is all of the function.
    fn is_within(&self, inner: Option<Loop>, outer: Option<Loop>) -> bool {
        let mut at = inner;
        for _ in 0..CLIMB {
            if at == outer {
                return true;
            }
            let Some(this) = at else { return false };
            at = self.loops.loops[this].parent.expand();
        }
        outer.is_none()
    }
}
