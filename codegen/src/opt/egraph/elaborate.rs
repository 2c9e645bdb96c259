//! Elaboration: puts the chosen nodes of an e-graph back into blocks.
//!
//! Blocks are visited down the dominator tree. A pure operation goes where the program had it, if
//! something needs it and no dominating block has it. So values that were close together stay so.
//! Operands that are missing go before it. With [`Pass::Licm`], loop-invariant nodes go to the end
//! of the block before the loop. Each loop may move values of up to one [`LICM_SHARE`]th of the GRF
//! file. Predicates stay, since flags are few. Nodes of a loop that only code behind it needs are
//! put there ([`sinking`]).

use super::sinking::sinking;
use super::{EGraph, Pass, take_insts};
use crate::entity_set::Marks;
use crate::ir::{Block, BlockInsts, ControlFlow, Inst, InstData, Value, ValueDef};
use crate::opt::PassContext;
use crate::opt::loops::{self, Loop, Loops};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use smallvec::SmallVec;

/// Divisor of the GRF file size that limits the bytes moved out of one loop.
pub(super) const LICM_SHARE: u32 = 4;

/// Value that was put for a node.
#[derive(Clone, Copy)]
struct Placement {
    value: Value,
    /// Number of loops around it.
    depth: u32,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement {
            value: Value::reserved_value(),
            depth: 0,
        }
    }
}

/// Block of the dominator tree whose dominated blocks are being visited.
struct DomScope {
    block: Block,
    /// Nodes that were put here; they go out of scope at its end.
    put: SmallVec<[Value; 8]>,
}

struct Elaborator<'g, 'a> {
    graph: EGraph<'a>,
    ctx: &'g PassContext<'a>,
    loops: Loops,
    /// Placement of each node that is in scope.
    placements: SecondaryMap<Value, Placement>,
    /// Nodes whose own instruction is in use.
    used: Marks<Value>,
    /// Node that a copy was made from.
    copied: SecondaryMap<Value, PackedOption<Value>>,
    scopes: Vec<DomScope>,
    /// Index of a block's scope in `scopes`, current or former.
    scope_of: SecondaryMap<Block, u32>,
    /// Nodes that are put before what needs them, not where the program had them.
    sunk: Marks<Value>,
    /// Bytes moved out of each loop.
    licm_bytes: SecondaryMap<Loop, u32>,
    count: u32,
    block: Block,
}

/// Step of putting a node.
enum ElaborateStep {
    Operands(Value),
    Put(Value),
}

/// Puts nodes back. Returns the number of nodes that moved out of loops. Only with `sinks` do they
/// move behind loops.
pub(super) fn run(graph: EGraph<'_>, cfg: &ControlFlow, ctx: &PassContext<'_>, sinks: bool) -> u32 {
    let Some(entry) = graph.func.layout.entry() else {
        return 0;
    };
    let mut old = take_insts(graph.func, cfg);
    let needed = needed(&graph, cfg, &old);
    let loops = loops::find(graph.func, cfg);
    let sinks = sinks && ctx.passes.contains(Pass::Licm) && !loops.loops.is_empty();
    let (sunk, count) = if sinks {
        let file = ctx.target.grf().size();
        sinking(&graph, cfg, &old, &needed, &loops, file)
    } else {
        (Marks::sized(0), 0)
    };
    let (blocks, values) = (graph.func.dfg.num_blocks(), graph.func.dfg.num_values());
    let mut children: SecondaryMap<Block, SmallVec<[Block; 2]>> = sized(blocks);
    for &block in cfg.order() {
        if let Some(up) = cfg.idom(block) {
            children[up].push(block);
        }
    }
    let mut e = Elaborator {
        graph,
        ctx,
        loops,
        placements: sized(values),
        used: Marks::sized(values),
        copied: sized(values),
        scopes: Vec::new(),
        scope_of: sized(blocks),
        sunk,
        licm_bytes: SecondaryMap::new(),
        count,
        block: entry,
    };
    // Blocks to visit; `None` ends the scope of the last one.
    let mut work = vec![Some(entry)];
    while let Some(next) = work.pop() {
        let Some(block) = next else {
            let scope = e.scopes.pop();
            for v in scope.into_iter().flat_map(|s| s.put) {
                e.placements[v] = Placement::default();
            }
            continue;
        };
        e.block = block;
        e.scope_of[block] = e.scopes.len() as u32;
        e.scopes.push(DomScope {
            block,
            put: SmallVec::new(),
        });
        let insts = std::mem::take(&mut old[block]);
        e.graph.func.layout.insts_mut(block).reserve(insts.len());
        for inst in insts {
            e.inst(inst, &needed);
        }
        work.push(None);
        work.extend(children[block].iter().rev().map(|&b| Some(b)));
    }
    e.finish(cfg)
}

/// Returns the nodes and other results that an instruction with an effect depends on.
fn needed(
    graph: &EGraph<'_>,
    cfg: &ControlFlow,
    old: &SecondaryMap<Block, BlockInsts>,
) -> Marks<Value> {
    let mut out = Marks::sized(graph.func.dfg.num_values());
    let mut work: Vec<Value> = Vec::new();
    let dfg = &graph.func.dfg;
    for &block in cfg.order() {
        for &inst in &old[block] {
            if dfg.data(inst).opcode().info().effect {
                dfg.data(inst).for_each_arg(dfg, |v| work.push(v));
            }
        }
    }
    while let Some(v) = work.pop() {
        let v = graph.best_of(v).value;
        if out.insert(v)
            && let Some(inst) = dfg.def_inst(v)
        {
            // All results of an instruction are needed if one is.
            for &other in dfg.results(inst) {
                out.insert(other);
            }
            dfg.data(inst).for_each_arg(dfg, |a| work.push(a));
        }
    }
    out
}

impl Elaborator<'_, '_> {
    /// Puts an instruction of the program if something needs it.
    fn inst(&mut self, inst: Inst, needed: &Marks<Value>) {
        let dfg = &self.graph.func.dfg;
        let data = dfg.data(inst);
        let result = dfg.first_result(inst);
        if let (true, Some(result)) = (super::is_node(data), result) {
            let class = self.graph.known[result].class.expand().unwrap_or(result);
            let node = self.graph.best_of(class).value;
            if needed.contains(node) && !self.sunk.contains(node) {
                self.value(class);
            }
            return;
        }
        if !data.opcode().info().effect && !result.is_some_and(|r| needed.contains(r)) {
            return;
        }
        let mut args: SmallVec<[Value; 8]> = SmallVec::new();
        data.for_each_arg(dfg, |v| args.push(v));
        // A branch with two targets would have to write the constant on both edges.
        let jumps = matches!(data, InstData::Jump { .. });
        for v in &mut args {
            *v = if jumps {
                self.written(*v)
            } else {
                self.value(*v)
            };
        }
        let mut args = args.into_iter();
        let dfg = &mut self.graph.func.dfg;
        dfg.map_args(inst, |v| args.next().unwrap_or(v));
        let depth = self.loops.depth(self.block);
        for &value in self.graph.func.dfg.results(inst) {
            self.placements[value] = Placement { value, depth };
        }
        self.graph.func.layout.append_inst(self.block, inst);
    }

    /// Returns the value of a class for a use that overwrites it. Such a use gets its own constant,
    /// since it would have to copy a shared one.
    fn written(&mut self, class: Value) -> Value {
        let node = self.graph.best_of(class).value;
        let func = &mut *self.graph.func;
        let constant = func.dfg.def_inst(node).map(|i| *func.dfg.data(i));
        let Some(data @ InstData::Imm { .. }) = constant else {
            return self.value(class);
        };
        let copy = func.dfg.make_inst(data, &[func.dfg.ty(node)]);
        func.layout.append_inst(self.block, copy);
        let value = func.dfg.first_result(copy).unwrap_or(node);
        self.copied[value] = node.into();
        value
    }

    /// Returns the value of a class in the current block.
    fn value(&mut self, class: Value) -> Value {
        let node = self.graph.best_of(class).value;
        if let Some(placement) = self.placement_of(node) {
            return placement.value;
        }
        // Mostly all operands are there already.
        let Some(inst) = self.graph.func.dfg.def_inst(node) else {
            return node;
        };
        if let (operands, true) = self.operands(inst) {
            return self.put(node, inst, &operands);
        }
        let mut work: SmallVec<[ElaborateStep; 16]> = SmallVec::new();
        work.push(ElaborateStep::Operands(node));
        while let Some(step) = work.pop() {
            match step {
                ElaborateStep::Operands(node) => {
                    if self.placement_of(node).is_some() {
                        continue;
                    }
                    work.push(ElaborateStep::Put(node));
                    let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
                    let dfg = &self.graph.func.dfg;
                    if let Some(inst) = dfg.def_inst(node) {
                        dfg.data(inst).for_each_arg(dfg, |v| operands.push(v));
                    }
                    // The first operand is put first.
                    for v in operands.into_iter().rev() {
                        let node = self.node(v);
                        if self.placement_of(node).is_none() {
                            work.push(ElaborateStep::Operands(node));
                        }
                    }
                }
                ElaborateStep::Put(node) => {
                    if self.placement_of(node).is_none()
                        && let Some(inst) = self.graph.func.dfg.def_inst(node)
                    {
                        let (operands, _) = self.operands(inst);
                        self.put(node, inst, &operands);
                    }
                }
            }
        }
        self.placement_of(node).map_or(node, |p| p.value)
    }

    /// Returns the placements of a node's operands, and true if all of them are in scope. Those
    /// that are not stand for themselves.
    fn operands(&self, inst: Inst) -> (SmallVec<[Placement; 4]>, bool) {
        let dfg = &self.graph.func.dfg;
        let mut placements = SmallVec::new();
        let mut ready = true;
        dfg.data(inst).for_each_arg(dfg, |value| {
            let placement = self.placement_of(self.node(value));
            ready &= placement.is_some();
            placements.push(placement.unwrap_or(Placement { value, depth: 0 }));
        });
        (placements, ready)
    }

    /// Returns the node of an operand. This is the best node of a class, or the node that an
    /// existing copy was made from.
    fn node(&self, v: Value) -> Value {
        let v = self.copied[v].expand().unwrap_or(v);
        self.graph.best_of(v).value
    }

    /// Returns the placement of a node that is in scope. Block parameters are always in scope.
    fn placement_of(&self, node: Value) -> Option<Placement> {
        let dfg = &self.graph.func.dfg;
        let at = |block: Block| Placement {
            value: node,
            depth: self.loops.depth(block),
        };
        match dfg.def(node) {
            ValueDef::Param(block, _) => Some(at(block)),
            ValueDef::Result(..) => {
                let placement = self.placements[node];
                (!placement.value.is_reserved_value()).then_some(placement)
            }
        }
    }

    /// Puts a node with its instruction, after its operands. Returns its value.
    fn put(&mut self, node: Value, inst: Inst, operands: &[Placement]) -> Value {
        let data = *self.graph.func.dfg.data(inst);
        let deepest = operands.iter().map(|p| p.depth).max().unwrap_or(0);
        let (scope, depth) = self.scope_for(node, &data, deepest);
        let at = self.scopes[scope].block;
        let func = &mut *self.graph.func;
        let mut new = data;
        let mut args = operands.iter();
        new.map_args(&mut func.dfg, |v| args.next().map_or(v, |p| p.value));
        let first = self.used.insert(node);
        let (inst, value) = if first {
            *func.dfg.data_mut(inst) = new;
            (inst, node)
        } else {
            let ty = func.dfg.ty(node);
            let loc = func.srclocs[inst];
            let copy = func.dfg.make_inst(new, &[ty]);
            func.set_srcloc(copy, loc);
            let value = func.dfg.first_result(copy).unwrap_or(node);
            self.copied[value] = node.into();
            (copy, value)
        };
        // A constant that is overwritten gets its own copy.
        if let InstData::WrRegion { args, .. } = data {
            let old = self.node(args[0]);
            let func = &mut *self.graph.func;
            if let Some(own) = func.dfg.def_inst(old)
                && let imm @ InstData::Imm { .. } = *func.dfg.data(own)
            {
                let copy = func.dfg.make_inst(imm, &[func.dfg.ty(old)]);
                let fresh = func.dfg.first_result(copy).unwrap_or(old);
                self.copied[fresh] = old.into();
                let mut first = true;
                func.dfg
                    .map_args(inst, |v| if std::mem::take(&mut first) { fresh } else { v });
                self.append(at, copy);
            }
        }
        self.append(at, inst);
        self.placements[node] = Placement { value, depth };
        self.scopes[scope].put.push(node);
        value
    }

    /// Appends an instruction to a block; in a finished block it goes before the branch.
    fn append(&mut self, at: Block, inst: Inst) {
        let insts = self.graph.func.layout.insts_mut(at);
        if at == self.block {
            insts.push(inst)
        } else {
            insts.insert(insts.len().saturating_sub(1), inst)
        }
    }

    /// Returns the scope whose block takes a node, and the loop depth there.
    fn scope_for(&mut self, node: Value, data: &InstData, deepest: u32) -> (usize, u32) {
        let here = self.scopes.len() - 1;
        let mut depth = self.loops.depth(self.block);
        let ty = self.graph.ty(node);
        let stays = ty.is_pred()
            || !self.ctx.passes.contains(Pass::Licm)
            // An index out of bounds would be an error where the program did not read.
            || matches!(data, InstData::RdRegion { index, .. } | InstData::WrRegion { index, .. } if index.is_some());
        let mut scope = here;
        let mut around = self.loops.of(self.block);
        while let (false, Some(this)) = (stays || deepest >= depth, around) {
            let header = self.loops.loops[this].header;
            let up = self.loops.loops[this].parent.expand();
            // The block before the loop: the scope around that of its header.
            let Some(before) = self.scope_before(header, scope) else {
                break;
            };
            let most = self.ctx.target.grf().size() / LICM_SHARE;
            let bytes = self.licm_bytes[this] + ty.bytes();
            if self.loops.of(self.scopes[before].block) != up || bytes > most {
                break;
            }
            self.licm_bytes[this] = bytes;
            self.count += 1;
            scope = before;
            depth -= 1;
            around = up;
        }
        (scope, depth)
    }

    /// Returns the scope around that of a block, among those up to `from`.
    fn scope_before(&self, header: Block, from: usize) -> Option<usize> {
        let at = self.scope_of[header] as usize;
        let open = at <= from && self.scopes.get(at).is_some_and(|s| s.block == header);
        open.then(|| at.checked_sub(1)).flatten()
    }

    /// Removes dead nodes and maps labels to new values. Returns the number of nodes that moved out
    /// of loops.
    fn finish(self, cfg: &ControlFlow) -> u32 {
        let func = self.graph.func;
        let mut used: Marks<Value> = Marks::sized(func.dfg.num_values());
        for &block in cfg.order().iter().rev() {
            let mut insts = std::mem::take(func.layout.insts_mut(block));
            let dfg = &func.dfg;
            let mut kept: SmallVec<[bool; 32]> = SmallVec::new();
            for &inst in insts.iter().rev() {
                let data = dfg.data(inst);
                let wanted = dfg.results(inst).iter().any(|&r| used.contains(r));
                let keep = data.opcode().info().effect || wanted;
                if keep {
                    data.for_each_arg(dfg, |v| {
                        used.insert(v);
                    });
                }
                kept.push(keep);
            }
            let mut kept = kept.into_iter().rev();
            insts.retain(|_| kept.next().unwrap_or(true));
            *func.layout.insts_mut(block) = insts;
        }
        let known = &self.graph.known;
        let dfg = &func.dfg;
        func.labels.map_values(|v| {
            let class = known[v].class.expand().unwrap_or(v);
            let best = known[class].best.value;
            let node = if best.is_reserved_value() {
                class
            } else {
                best
            };
            match dfg.def(node) {
                ValueDef::Param(..) => Some(node),
                ValueDef::Result(..) => used.contains(node).then_some(node),
            }
        });
        self.count
    }
}
