//! Control flow from the structured form: masks for divergent constructs, branches for uniform
//! ones.

use super::{Emit, Leaves, VarRole};
use crate::body::{Block, Phi, Term};
use crate::cfg::Loop;
use crate::cfg::structurize::Step;
use crate::error::Error;
use crate::module::types::Ty;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::builder::SimdLabel;
use gantry_codegen::ir::{self, IntCC, SourceLoc, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Blocks between a label and the end of an edge that are looked at.
const MAX_WAY: u32 = 8;

/// State of open constructs.
#[derive(Default)]
pub(super) struct ControlState {
    /// Blocks of uniform labels.
    labels: SecondaryMap<Block, PackedOption<ir::Block>>,
    /// Divergent labels.
    simd: BTreeMap<Block, SimdLabel>,
    /// Number of steps that jump to each label, without those that fall through.
    leaves: SecondaryMap<Block, u32>,
    /// Header blocks of uniform loops.
    headers: SecondaryMap<Loop, PackedOption<ir::Block>>,
    /// Values in variables for uses after each loop, at its outermost loop.
    keeps: SecondaryMap<Loop, Vec<Id>>,
    /// Open uniform branches.
    branches: Vec<UniformBranch>,
    /// Condition of each target of a divergent switch.
    cases: BTreeMap<(Block, Block), Value>,
    /// Block of each edge of a uniform switch.
    case_blocks: BTreeMap<(Block, Block), ir::Block>,
    /// Phis of labels that begin as one of their arguments.
    begun: BTreeMap<Id, BegunPhi>,
}

/// Phi that has the value of an argument from the beginning of its label's scope. Channels that
/// pass this argument need no copy.
struct BegunPhi {
    arg: Id,
    leaves: Leaves,
    /// True while no channel has passed another argument.
    untouched: bool,
    /// True if it still has the argument's value in all channels that pass no other.
    whole: bool,
}

struct UniformBranch {
    otherwise: Option<ir::Block>,
    join: Option<ir::Block>,
}

impl Emit<'_, '_, '_> {
    /// Emits the body.
    pub(super) fn run(&mut self) {
        for (n, step) in self.structured.steps.iter().enumerate() {
            match *step {
                Step::Leave(_, to) if self.structured.falls_to(n) != Some(to) => {
                    self.control.leaves[to] += 1;
                }
                Step::LeaveIf(_, to) | Step::LeaveUnless(_, to) | Step::LeaveCase(_, to) => {
                    self.control.leaves[to] += 1;
                }
                _ => {}
            }
        }
        for (id, l) in self.u.escapes.iter() {
            if let Some(l) = l.expand() {
                self.control.keeps[l].push(id);
            }
        }
        for (n, step) in self.structured.steps.iter().enumerate() {
            // Later errors would only be consequences.
            if let Err(e) = self.step(n, *step) {
                let data = &self.body.blocks[self.block];
                return self.error(e, data.at, data.line, None);
            }
        }
        if !self.b.is_filled()
            && let Err(e) = self.leave_function(false)
        {
            self.error(e, 0, 0, None);
        }
    }

    fn step(&mut self, n: usize, step: Step) -> Result<(), Error> {
        match step {
            Step::Begin(l) => self.begin(l)?,
            Step::End(l) => self.end(l),
            Step::LoopBegin(l) => {
                self.forget_kept(l)?;
                if self.u.loops[l] {
                    self.b.simd_loop_begin();
                } else {
                    let header = self.b.create_block();
                    self.b.ins().jump(header, &[]);
                    self.b.switch_to_block(header);
                    self.control.headers[l] = header.into();
                }
            }
            Step::LoopEnd(l) => match self.control.headers[l].expand() {
                None => self.b.simd_loop_end(),
                Some(header) => {
                    self.jump(header);
                    self.b.seal_block(header);
                }
            },
            Step::Code(b) => self.code(b)?,
            Step::If(b) => self.begin_if(b)?,
            Step::Else(b) => {
                if self.u.branch[b] {
                    self.b.simd_else()
                } else {
                    self.next_side(None)
                }
            }
            Step::EndIf(b) => {
                if self.u.branch[b] {
                    self.b.simd_if_end()
                } else {
                    self.end_branch()
                }
            }
            Step::Arms(b) => {
                self.begin_switch(n, b)?;
                if !self.u.branch[b] {
                    self.control.branches.push(UniformBranch {
                        otherwise: None,
                        join: None,
                    });
                }
            }
            Step::Arm(b, to) => {
                if self.u.branch[b] {
                    let cond = self.case(b, to)?;
                    self.b.simd_if_begin(cond);
                } else {
                    self.switch_to_case(b, to)
                }
            }
            Step::EndArm(b) => {
                if self.u.branch[b] {
                    self.b.simd_if_end()
                } else {
                    self.end_side()
                }
            }
            Step::EndArms(b) => {
                if !self.u.branch[b] {
                    self.end_branch();
                }
            }
            Step::Edge(from, to) => self.edge(from, to)?,
            Step::LeaveIf(from, to) => self.leave_if(from, to, true)?,
            Step::LeaveUnless(from, to) => self.leave_if(from, to, false)?,
            Step::LeaveCase(from, to) => {
                self.begin_switch(n, from)?;
                if self.u.branch[from] {
                    self.edge_of_some(from, to)?;
                    let cond = self.case(from, to)?;
                    self.leave_channels(to, cond)?;
                } else {
                    self.switch_to_case(from, to);
                    self.edge(from, to)?;
                    self.leave(to)?;
                }
            }
            Step::Leave(from, to) => {
                self.begin_switch(n, from)?;
                if self.control.case_blocks.contains_key(&(from, to)) {
                    self.switch_to_case(from, to);
                }
                self.edge(from, to)?;
                if self.structured.falls_to(n) != Some(to) {
                    self.leave(to)?;
                }
            }
            Step::Return(b) => {
                if !self.b.is_filled() {
                    self.leave_function(self.body.blocks[b].term == Term::Return)?;
                }
            }
        }
        Ok(())
    }

    fn jump(&mut self, to: ir::Block) {
        if !self.b.is_filled() {
            self.b.ins().jump(to, &[]);
        }
    }

    fn begin(&mut self, l: Block) -> Result<(), Error> {
        self.forget_phis(l)?;
        if self.control.leaves[l] == 0 {
            return Ok(());
        }
        if self.u.label[l] {
            let label = self.b.simd_block_begin();
            self.control.simd.insert(l, label);
        } else {
            let block = self.b.create_block();
            self.control.labels[l] = block.into();
        }
        Ok(())
    }

    /// Gives the phis of a label a value where its scope begins: an argument, if that is known by
    /// then. Otherwise they are undefined, or their last values would be live until here.
    fn forget_phis(&mut self, l: Block) -> Result<(), Error> {
        let phis = self.body.blocks[l].phis.iter();
        let phis = phis.filter(|p| self.u.divergent[p.id]);
        let mut undefined: Vec<(Id, Ty)> = Vec::new();
        for phi in phis {
            self.control.begun.remove(&phi.id);
            let first = self.first_argument(l, phi);
            match first.filter(|arg| self.type_of(*arg).is_ok_and(|ty| ty == phi.ty)) {
                Some(arg) => self.begin_phi(phi.id, arg)?,
                None => undefined.push((phi.id, phi.ty)),
            }
        }
        self.forget(VarRole::Phi, &undefined)
    }

    /// Argument of a phi that is defined where the scope of its label begins, and that at least
    /// half of the edges pass.
    fn first_argument(&self, l: Block, phi: &Phi) -> Option<Id> {
        // The scope begins with the end of the immediate dominator, but for labels after loops. A
        // header's phis change from iteration to iteration.
        let here = self.block;
        if self.g.idom[l].expand() != Some(here) || self.g.loop_with_header(l).is_some() {
            return None;
        }
        // Channels that stay in a loop may have been assigned what others left with.
        let mut from = phi.args.iter().map(|a| a.0);
        if from.any(|from| self.g.exited_loop(from, l).is_some()) {
            return None;
        }
        // The definition and the immediate dominator both dominate the block of the edge.
        let is_known = |arg: Id| {
            let def = self.u.block[arg].expand();
            def.is_some_and(|def| {
                self.g.rpo_index[def] <= self.g.rpo_index[here]
                    && self.g.exited_loop(def, here).is_none()
            })
        };
        let args = phi.args.iter().map(|a| a.1);
        let mut known: SmallVec<[Id; 8]> = args.filter(|arg| is_known(*arg)).collect();
        known.sort_unstable();
        let most = known.chunk_by(Id::eq).max_by_key(|same| same.len())?;
        let half = 2 * most.len() >= phi.args.len();
        most.first().copied().filter(|_| half)
    }

    /// Begins a phi with the value of an argument in all channels.
    fn begin_phi(&mut self, id: Id, arg: Id) -> Result<(), Error> {
        let leaves = self.passed(arg, id)?;
        let leaves: Leaves = leaves.iter().map(|v| self.b.splat(*v, self.simd)).collect();
        let vars = self.declare(VarRole::Phi, id, &leaves, self.simd);
        for (var, leaf) in vars.into_iter().zip(&leaves) {
            self.b.def_var_all_lanes(var, *leaf);
        }
        let begun = BegunPhi {
            arg,
            leaves,
            untouched: true,
            whole: true,
        };
        self.control.begun.insert(id, begun);
        Ok(())
    }

    /// Makes values for uses after a loop undefined where the loop begins.
    fn forget_kept(&mut self, l: Loop) -> Result<(), Error> {
        let ids = std::mem::take(&mut self.control.keeps[l]);
        let typed = ids.into_iter().map(|id| Ok((id, self.type_of(id)?)));
        let typed: Vec<(Id, Ty)> = typed.collect::<Result<_, Error>>()?;
        self.forget(VarRole::AfterLoop, &typed)
    }

    fn forget(&mut self, what: VarRole, all: &[(Id, Ty)]) -> Result<(), Error> {
        for &(id, ty) in all {
            let mut leaves = Leaves::new();
            for (ty, _) in self.m.types.scalars(ty) {
                let scalar = self.leaf_scalar(id, ty)?;
                let ty = self.lanes(scalar, self.simd);
                leaves.push(self.b.ins().undef(ty));
            }
            let vars = self.declare(what, id, &leaves, self.simd);
            for (var, leaf) in vars.into_iter().zip(leaves) {
                self.b.def_var_all_lanes(var, leaf);
            }
        }
        Ok(())
    }

    fn end(&mut self, l: Block) {
        if self.control.simd.remove(&l).is_some() {
            self.b.simd_block_end();
        } else if let Some(block) = self.control.labels[l].expand() {
            self.jump(block);
            self.b.seal_block(block);
            self.b.switch_to_block(block);
        }
    }

    /// Splats a condition to all channels.
    fn channels(&mut self, cond: Value) -> Value {
        self.b.splat(cond, self.simd)
    }

    fn condition(&mut self, b: Block) -> Result<Value, Error> {
        let id = self.body.blocks[b].term.condition();
        let id = id.ok_or_else(|| Error::internal("a branch without condition"))?;
        let v = self.one(id)?;
        if self.b.ty(v).is_pred() {
            Ok(v)
        } else {
            Err(Error::malformed("a branch by what is no bool"))
        }
    }

    /// Condition of a uniform branch.
    fn uniform_condition(&mut self, b: Block) -> Result<Value, Error> {
        let v = self.condition(b)?;
        match self.b.ty(v).lanes() {
            1 => Ok(v),
            _ => Err(Error::internal("a uniform branch by what is not uniform")),
        }
    }

    fn begin_if(&mut self, b: Block) -> Result<(), Error> {
        if self.u.branch[b] {
            let cond = self.condition(b)?;
            let cond = self.channels(cond);
            self.b.simd_if_begin(cond);
            return Ok(());
        }
        let cond = self.uniform_condition(b)?;
        let (then, otherwise) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(cond, then, &[], otherwise, &[]);
        self.b.seal_block(then);
        self.b.seal_block(otherwise);
        self.b.switch_to_block(then);
        self.control.branches.push(UniformBranch {
            otherwise: Some(otherwise),
            join: None,
        });
        Ok(())
    }

    /// Ends a side of the innermost uniform branch.
    fn end_side(&mut self) {
        if self.b.is_filled() {
            return;
        }
        if let Some(branch) = self.control.branches.last_mut() {
            let join = match branch.join {
                Some(j) => j,
                None => {
                    let j = self.b.create_block();
                    branch.join = Some(j);
                    j
                }
            };
            self.b.ins().jump(join, &[]);
        }
    }

    fn next_side(&mut self, to: Option<ir::Block>) {
        self.end_side();
        let otherwise = self
            .control
            .branches
            .last_mut()
            .and_then(|b| b.otherwise.take());
        if let Some(block) = to.or(otherwise) {
            self.b.switch_to_block(block);
        }
    }

    fn end_branch(&mut self) {
        self.end_side();
        if let Some(join) = self.control.branches.pop().and_then(|b| b.join) {
            self.b.seal_block(join);
            self.b.switch_to_block(join);
        }
    }

    /// Continues at the block of a switch edge.
    fn switch_to_case(&mut self, from: Block, to: Block) {
        if let Some(block) = self.control.case_blocks.remove(&(from, to)) {
            self.b.switch_to_block(block);
        }
    }

    fn case(&mut self, from: Block, to: Block) -> Result<Value, Error> {
        let cond = self.control.cases.remove(&(from, to));
        cond.ok_or_else(|| Error::internal("a case without its condition"))
    }

    /// Emits a switch at its first step.
    fn begin_switch(&mut self, n: usize, b: Block) -> Result<(), Error> {
        let Term::Switch(id, default, cases) = &self.body.blocks[b].term else {
            return Ok(());
        };
        if self.structured.term[b] as usize != n {
            return Ok(());
        }
        let v = self.one(*id)?;
        if !self.b.ty(v).scalar().is_int() {
            return Err(Error::malformed("a switch by what is no integer"));
        }
        let mut distinct = BTreeMap::new();
        for (value, to) in cases {
            if distinct.insert(*value, *to).is_some() {
                return Err(Error::malformed(format!("two cases of {value}")));
            }
        }
        if !self.u.branch[b] {
            if self.b.ty(v).lanes() != 1 {
                return Err(Error::internal("a uniform switch by what is not uniform"));
            }
            for to in self.g.succs[b].clone() {
                let block = self.b.create_block();
                self.control.case_blocks.insert((b, to), block);
            }
            let case_block = |e: &Self, to: Block| e.control.case_blocks.get(&(b, to)).copied();
            let none = || Error::internal("a case that leads nowhere");
            let mut case_blocks: Vec<(i64, ir::Block, &[Value])> = Vec::new();
            for (value, to) in &distinct {
                case_blocks.push((*value as i64, case_block(self, *to).ok_or_else(none)?, &[]));
            }
            let otherwise = case_block(self, *default).ok_or_else(none)?;
            self.b.ins().switch(v, otherwise, &[], &case_blocks);
            for to in self.g.succs[b].clone() {
                if let Some(block) = case_block(self, to) {
                    self.b.seal_block(block);
                }
            }
            return Ok(());
        }
        let ty = self.b.ty(v);
        let mut conds: BTreeMap<Block, Value> = BTreeMap::new();
        let mut any: Option<Value> = None;
        for (value, to) in &distinct {
            let bits = (*value & ty.scalar().mask()) as i64;
            let number = self.b.ins().iconst(ty, bits);
            let is = self.b.ins().icmp(IntCC::Equal, v, number);
            let is = self.channels(is);
            let of = conds.get(to).copied();
            let cond = of.map_or(is, |c| self.b.ins().bor(c, is));
            conds.insert(*to, cond);
            any = Some(any.map_or(is, |a| self.b.ins().bor(a, is)));
        }
        if let Some(any) = any {
            let none = self.b.ins().bnot(any);
            let of = conds.get(default).copied();
            let cond = of.map_or(none, |c| self.b.ins().bor(c, none));
            conds.insert(*default, cond);
        }
        for (to, cond) in conds {
            self.control.cases.insert((b, to), cond);
        }
        Ok(())
    }

    /// Assigns the phis of a block for an edge that some of the active channels take. The others
    /// are assigned, too: they no longer have the values that the phis began with.
    fn edge_of_some(&mut self, from: Block, to: Block) -> Result<(), Error> {
        self.edge(from, to)?;
        for phi in &self.body.blocks[to].phis {
            let at = phi.args.binary_search_by_key(&from, |a| a.0);
            let arg = at.ok().and_then(|n| phi.args.get(n)).map(|a| a.1);
            let begun = self.control.begun.get(&phi.id);
            if begun.is_some_and(|b| Some(b.arg) != arg) {
                self.control.begun.remove(&phi.id);
            }
        }
        Ok(())
    }

    fn leave_channels(&mut self, to: Block, cond: Value) -> Result<(), Error> {
        let Some(label) = self.control.simd.get(&to).copied() else {
            return Err(Error::internal("channels leave for a label of the thread"));
        };
        let cond = self.channels(cond);
        self.b.simd_leave_to_if(label, cond);
        Ok(())
    }

    fn leave_if(&mut self, from: Block, to: Block, when: bool) -> Result<(), Error> {
        if self.u.branch[from] {
            self.edge_of_some(from, to)?;
            let cond = self.condition(from)?;
            let cond = if when { cond } else { self.b.ins().bnot(cond) };
            return self.leave_channels(to, cond);
        }
        let cond = self.uniform_condition(from)?;
        let (away, next) = (self.b.create_block(), self.b.create_block());
        if when {
            self.b.ins().brif(cond, away, &[], next, &[])
        } else {
            self.b.ins().brif(cond, next, &[], away, &[])
        }
        self.b.seal_block(away);
        self.b.seal_block(next);
        self.b.switch_to_block(away);
        self.edge(from, to)?;
        self.leave(to)?;
        self.b.switch_to_block(next);
        Ok(())
    }

    /// Jumps to a label with all active channels.
    fn leave(&mut self, to: Block) -> Result<(), Error> {
        if self.b.is_filled() {
            return Ok(());
        }
        if let Some(label) = self.control.simd.get(&to).copied() {
            self.b.simd_leave_to(label);
            return Ok(());
        }
        let block = self.control.labels[to].expand();
        let block = block.ok_or_else(|| Error::internal("a label that is not open"))?;
        self.b.ins().jump(block, &[]);
        Ok(())
    }

    /// Assigns the phis of a block for an edge.
    fn edge(&mut self, from: Block, to: Block) -> Result<(), Error> {
        if self.b.is_filled() {
            return Ok(());
        }
        let mut all: Vec<(Id, Id, Leaves)> = Vec::new();
        for phi in &self.body.blocks[to].phis {
            let arg = phi.args.binary_search_by_key(&from, |a| a.0);
            let Some((_, arg)) = arg.ok().and_then(|n| phi.args.get(n)) else {
                let id = self.body.origin(phi.id);
                return Err(Error::malformed(format!(
                    "{id} takes nothing from a block that leads to it"
                )));
            };
            if self.type_of(*arg)? != phi.ty {
                let id = self.body.origin(phi.id);
                return Err(Error::malformed(format!(
                    "{id} takes what is of another type"
                )));
            }
            all.push((phi.id, *arg, self.passed(*arg, phi.id)?));
        }
        // If all remaining channels take this edge at once, other channels no longer need their
        // values.
        let one = self.g.forward_preds[to].len() == 1 && self.g.exited_loop(from, to).is_none();
        let alone = one || self.g.is_back(from, to);
        for (id, arg, leaves) in all {
            let divergent = self.u.divergent[id];
            let lanes = if divergent { self.simd } else { 1 };
            let (same, in_all) = self.pass_begun(id, arg, from, to);
            if same {
                continue;
            }
            let vars = self.declare(VarRole::Phi, id, &leaves, lanes);
            for (var, leaf) in vars.into_iter().zip(&leaves) {
                let v = if divergent {
                    self.b.splat(*leaf, self.simd)
                } else {
                    *leaf
                };
                if alone || in_all {
                    self.b.def_var_all_lanes(var, v)
                } else {
                    self.b.def_var(var, v)
                }
            }
            if let Some(begun) = self.control.begun.get_mut(&id) {
                begun.whole &= in_all || !alone;
            }
        }
        Ok(())
    }

    /// Notes that channels pass an argument to a phi. Returns whether the phi has this value in
    /// them already, and whether it may be assigned in all channels.
    fn pass_begun(&mut self, id: Id, arg: Id, from: Block, to: Block) -> (bool, bool) {
        let everywhere = self.is_whole(id, arg) && self.is_only_way(arg, from, to);
        let Some(begun) = self.control.begun.get_mut(&id) else {
            return (false, false);
        };
        if begun.arg == arg {
            return (true, false);
        }
        let untouched = std::mem::take(&mut begun.untouched);
        (false, untouched && everywhere)
    }

    /// Returns true if an argument of a phi is a phi that began with the same value, and still has
    /// that in channels that did not come by its label.
    fn is_whole(&self, id: Id, arg: Id) -> bool {
        let begun = &self.control.begun;
        match (begun.get(&id), begun.get(&arg)) {
            (Some(own), Some(other)) => other.whole && own.leaves == other.leaves,
            _ => false,
        }
    }

    /// Returns true if all channels that come by the label of a phi go on by an edge, in the same
    /// iteration.
    fn is_only_way(&self, phi: Id, from: Block, to: Block) -> bool {
        let mut at = self.u.block[phi].expand();
        for _ in 0..MAX_WAY {
            if at == Some(from) {
                return self.g.succs[from].as_slice() == [to]
                    && self.g.exited_loop(from, to).is_none();
            }
            at = at.and_then(|b| self.g.ipdom[b].expand());
        }
        false
    }

    fn code(&mut self, b: Block) -> Result<(), Error> {
        self.block = b;
        let mut values = Vec::new();
        for phi in &self.body.blocks[b].phis {
            let vars = self.vars_of(VarRole::Phi, phi.id);
            if vars.is_empty() {
                let id = self.body.origin(phi.id);
                return Err(Error::malformed(format!("{id} takes nothing")));
            }
            let leaves: Leaves = vars.into_iter().map(|v| self.b.use_var(v)).collect();
            values.push((phi.id, leaves));
        }
        for (id, leaves) in values {
            self.set(id, &leaves);
        }
        for inst in &self.body.blocks[b].insts {
            self.line(inst.line);
            self.inst(inst);
        }
        self.line(self.body.blocks[b].line);
        Ok(())
    }

    fn line(&mut self, line: u32) {
        let found = (line as usize)
            .checked_sub(1)
            .and_then(|n| self.body.lines.get(n));
        let loc = found.and_then(|l| {
            let file = self.file(l.file)?;
            Some(SourceLoc::new(file, l.line, l.column.min(0xffff) as u16))
        });
        self.b.set_source_loc(loc.unwrap_or(SourceLoc::NONE));
    }
}
