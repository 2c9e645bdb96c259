//! Inliner: builds the body of a kernel, or of a called function, as one graph of blocks.
//!
//! Needs a module whose functions are split into blocks, and its [`InlinePlan`]. Afterwards:
//!
//! - only functions that the plan keeps are called;
//! - ids of inlined functions have new numbers beyond the bound of the module, a set for each call;
//! - phis and terminators name blocks of the body;
//! - unreachable blocks, and branches to `OpUnreachable` blocks, are gone;
//! - a called function returns in one block.

use crate::body::{BInst, Block, BlockData, Body, Call, Line, Phi, Term};
use crate::calling_convention::CallConv;
use crate::error::Error;
use crate::inline_policy::{self, InlinePlan};
use crate::intel_builtins;
use crate::module::types::{Ty, Type};
use crate::module::{BlockDef, Def, Func, FuncData, Module};
use crate::read::{self, Id, Inst, OpClass};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_codegen::entity_set::sized;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};

/// Maximum number of instructions of a kernel with all functions.
pub(crate) const MAX_INSTS: usize = 500_000;
/// Maximum nesting depth of calls.
const MAX_CALLS: usize = 64;

/// Function at a call site.
struct InlinedFunction {
    func: Func,
    /// Arguments, or the parameters themselves if ids are not renumbered.
    args: Vec<Id>,
    /// New number of the first id that the function defines. `None` if ids are not renumbered.
    base: Option<u32>,
    /// Index of the inlined call. `None` for the root.
    call: Option<usize>,
    /// Index of the first block in the body.
    first: u32,
    /// Block that it returns to.
    ret: Option<Block>,
    /// Return values with their blocks.
    returned: Vec<(Block, Id)>,
    /// Private variables for values that its calls pass in memory.
    slots: Vec<(Ty, Id)>,
}

struct Inliner<'m, 'w> {
    m: &'m Module<'w>,
    plan: &'m InlinePlan,
    body: Body,
    /// Instructions of the kernel so far.
    insts: &'m mut usize,
    /// Nesting depth of calls.
    depth: usize,
}

/// Builds the body of a kernel or of a called function. `insts` counts the instructions of the
/// kernel with its functions.
///
/// # Errors
/// Invalid calls and bodies, and kernels over the limits.
pub(crate) fn inline(
    m: &Module<'_>,
    plan: &InlinePlan,
    root: Func,
    insts: &mut usize,
) -> Result<Body, Error> {
    let mut f = Inliner {
        m,
        plan,
        body: Body::new(m.stream.bound),
        insts,
        depth: 0,
    };
    let data = func(m, root)?;
    f.body.params.clone_from(&data.params);
    if data.blocks.is_empty() {
        return Err(Error::malformed("an entry point without a body"));
    }
    let ret = plan.is_called(root).then(|| {
        f.body.blocks.push(BlockData {
            phis: Vec::new(),
            insts: Vec::new(),
            term: Term::Return,
            at: data.at,
            line: 0,
        })
    });
    let mut frame = InlinedFunction {
        func: root,
        args: data.params.iter().map(|p| p.0).collect(),
        base: None,
        call: None,
        first: 0,
        ret,
        returned: Vec::new(),
        slots: Vec::new(),
    };
    f.function(&mut frame)?;
    let mut body = f.body;
    let entry = Block::new(frame.first as usize);
    body.entry = Some(entry).into();
    if let (Some(ret), Some(conv)) = (ret, plan.calling_convention(root)) {
        receive_params(m, data, conv, entry, &mut body);
        return_result(m, data, (conv, frame.returned), ret, &mut body);
    }
    prune(&mut body);
    Ok(body)
}

/// Receives the parameters of a called function. Values in memory are loaded, and modified `ByVal`
/// pointees are copied.
fn receive_params(m: &Module<'_>, data: &FuncData, conv: &CallConv, entry: Block, body: &mut Body) {
    let at = (data.at, 0);
    let mut insts = Vec::new();
    let mut params = Vec::with_capacity(data.params.len() + 1);
    let inputs = conv.inputs.iter().map(|(var, ty)| {
        let id = body.fresh(*ty);
        body.builtin_params.insert(*var, id);
        (id, *ty)
    });
    let inputs: Vec<(Id, Ty)> = inputs.collect();
    for ((param, ty), place) in data.params.iter().chain(&inputs).zip(&conv.params) {
        if let Some(pointer) = *place {
            let given = body.fresh(pointer);
            let words = [given.as_u32()];
            insts.push(body.inst(Op::Load, at, Some(*ty), Some(*param), &words));
            params.push((given, pointer));
        } else if inline_policy::is_by_value(m, *param)
            && inline_policy::may_change(m, data, *param)
        {
            let given = body.fresh(*ty);
            insts.extend(own_copy(body, *ty, [*param, given], at));
            params.push((given, *ty));
        } else {
            params.push((*param, *ty));
        }
    }
    body.params = params;
    body.blocks[entry].insts.splice(0..0, insts);
}

/// Returns the value of a called function from its return block.
fn return_result(
    m: &Module<'_>,
    data: &FuncData,
    (conv, returned): (&CallConv, Vec<(Block, Id)>),
    ret: Block,
    body: &mut Body,
) {
    if *m.types.kind(data.result) == Type::Void {
        return;
    }
    let (id, ty, at) = (body.fresh(data.result), data.result, data.at);
    let args = returned;
    body.blocks[ret].phis.push(Phi { id, ty, at, args });
    let Some(pointer) = conv.result else {
        body.result = Some((id, ty));
        return;
    };
    let to = body.fresh(pointer);
    let words = [to, id].map(|id| id.as_u32());
    let store = body.inst(Op::Store, (at, 0), None, None, &words);
    body.blocks[ret].insts.push(store);
    body.params.push((to, pointer));
}

/// Instructions of a private variable that is initialized as a copy of a pointee of its type.
fn own_copy(body: &mut Body, ty: Ty, [own, from]: [Id; 2], at: (u32, u32)) -> [BInst; 2] {
    let words = [own, from].map(|id| id.as_u32());
    [
        variable(body, ty, own, at),
        body.inst(Op::CopyMemory, at, None, None, &words),
    ]
}

fn variable(body: &mut Body, ty: Ty, id: Id, at: (u32, u32)) -> BInst {
    let class = [StorageClass::Function as u32];
    body.inst(Op::Variable, at, Some(ty), Some(id), &class)
}

fn func<'m>(m: &'m Module<'_>, func: Func) -> Result<&'m crate::module::FuncData, Error> {
    let data = m.funcs.get(func);
    data.ok_or_else(|| Error::internal("no such function"))
}

impl Inliner<'_, '_> {
    fn function(&mut self, frame: &mut InlinedFunction) -> Result<(), Error> {
        let data = func(self.m, frame.func)?;
        if self.depth >= MAX_CALLS {
            return Err(Error::limit(format!(
                "calls are nested deeper than {MAX_CALLS}"
            )));
        }
        self.depth += 1;
        frame.first = self.body.blocks.len() as u32;
        for b in &data.blocks {
            self.body.blocks.push(BlockData {
                phis: Vec::new(),
                insts: Vec::new(),
                term: Term::Unreachable,
                at: 0,
                line: 0,
            });
            *self.insts = self.insts.saturating_add(b.insts.len());
        }
        // Their ids precede those of inlined calls, so they belong to the function itself.
        for ty in self.plan.memory_slots(self.m, frame.func) {
            let id = self.body.fresh(ty);
            let new = variable(&mut self.body, ty, id, (data.at, 0));
            let first = Block::new(frame.first as usize);
            self.body.blocks[first].insts.push(new);
            frame.slots.push((ty, id));
        }
        if *self.insts > MAX_INSTS {
            return Err(Error::limit(format!(
                "more than {MAX_INSTS} instructions with everything that is called"
            )));
        }
        // Last block of each block, after inlined calls.
        let mut ends = Vec::with_capacity(data.blocks.len());
        for (n, def) in data.blocks.iter().enumerate() {
            let at = Block::new(frame.first as usize + n);
            ends.push(self.block(frame, def, at)?);
        }
        for n in 0..data.blocks.len() {
            let at = Block::new(frame.first as usize + n);
            for phi in &mut self.body.blocks[at].phis {
                for (from, _) in &mut phi.args {
                    let n = from.index().checked_sub(frame.first as usize);
                    *from = n.and_then(|n| ends.get(n)).copied().unwrap_or(*from);
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Id of the body for an id of a function.
    fn id(&mut self, frame: &InlinedFunction, id: Id) -> Id {
        let Some(base) = frame.base else {
            return id;
        };
        if self.m.def(id) != Def::Local(frame.func) {
            return id;
        }
        let n = self.m.local[id];
        // Parameters are the first local ids of a function.
        if let Some(arg) = frame.args.get(n as usize) {
            return *arg;
        }
        let new = Id::from_u32(base + n);
        if self.body.origin(new) == new {
            self.body.set_origin(new, id, self.m.type_of(id));
        }
        new
    }

    /// Renames the operands of an instruction.
    fn rename(&mut self, frame: &InlinedFunction, inst: &BInst) {
        let mut old: SmallVec<[(usize, Id); 8]> = SmallVec::new();
        self.body.for_each_use_at(inst, |n, id| old.push((n, id)));
        for (n, id) in old {
            let new = self.id(frame, id);
            self.body.set_operand(inst, n, new);
        }
    }

    /// Block of a branch target.
    fn target(&self, frame: &InlinedFunction, label: Id) -> Result<Block, Error> {
        let block = self.label(frame, label)?;
        if block.index() == frame.first as usize {
            Err(Error::malformed("a branch to a function's first block"))
        } else {
            Ok(block)
        }
    }

    fn label(&self, frame: &InlinedFunction, label: Id) -> Result<Block, Error> {
        let data = func(self.m, frame.func)?;
        let n = self.m.label[label] as usize;
        match data.blocks.get(n).map(|b| b.label) {
            Some(l) if l == label => Ok(Block::new(frame.first as usize + n)),
            _ => Err(Error::malformed(format!(
                "{label} is no label of this function"
            ))),
        }
    }

    /// Copies a block. Returns the block in which its code ends.
    fn block(
        &mut self,
        frame: &mut InlinedFunction,
        def: &BlockDef,
        mut at: Block,
    ) -> Result<Block, Error> {
        let insts = &self.m.stream.insts[def.insts.clone()];
        self.body.blocks[at].insts.reserve(insts.len());
        let mut line = 0;
        for inst in insts {
            let words = self.m.stream.operands(inst);
            let fail = |e: Error| self.m.error(e, inst.at, inst.id.expand());
            match inst.op {
                Op::Line => {
                    if let [file, l, c] = *words {
                        let new = Line {
                            file: Id::of(file),
                            line: l,
                            column: c,
                        };
                        if self.body.lines.last() != Some(&new) {
                            self.body.lines.push(new);
                        }
                        line = self.body.lines.len() as u32;
                    }
                }
                Op::NoLine => line = 0,
                Op::Phi => self.phi(frame, inst, words, at).map_err(fail)?,
                Op::FunctionCall => at = self.call(frame, inst, words, at, line).map_err(fail)?,
                op if read::kind(op) == OpClass::Terminator => {
                    let term = self.terminator(frame, inst, words, at).map_err(fail)?;
                    let block = &mut self.body.blocks[at];
                    (block.term, block.at, block.line) = (term, inst.at, line);
                }
                // They are only hints in kernels.
                Op::ExtInst if self.m.is_foreign(inst) => {}
                Op::Nop | Op::LoopMerge | Op::SelectionMerge | Op::LoopControlINTEL => {}
                _ => {
                    let shifted = self.m.is_glsl(inst).then(|| read::shifted(words));
                    let operands = shifted.as_deref().unwrap_or(words);
                    let mut ids = 0;
                    read::for_each_id(inst.op, operands, false, |n| ids |= Body::bit(n))
                        .map_err(|e| fail(Error::malformed(e)))?;
                    let id = inst.id.expand().map(|id| self.id(frame, id));
                    let ty = inst.ty.expand().and_then(|t| self.m.ty(t));
                    let place = (inst.at, line);
                    let new = self.body.inst_of(inst.op, place, ty, id, operands, ids);
                    if frame.base.is_some() {
                        self.rename(frame, &new);
                    }
                    self.body.blocks[at].insts.push(new);
                }
            }
        }
        Ok(at)
    }

    fn phi(
        &mut self,
        frame: &InlinedFunction,
        inst: &Inst,
        words: &[u32],
        at: Block,
    ) -> Result<(), Error> {
        let ty = inst.ty.expand().and_then(|t| self.m.ty(t));
        let (Some(id), Some(ty)) = (inst.id.expand(), ty) else {
            return Err(Error::internal("a phi without result"));
        };
        if !self.body.blocks[at].insts.is_empty() {
            return Err(Error::malformed("a phi behind other instructions"));
        }
        let mut args = Vec::with_capacity(words.len() / 2);
        for pair in words.chunks_exact(2) {
            if let [value, from] = *pair {
                let from = self.label(frame, Id::of(from))?;
                args.push((from, self.id(frame, Id::of(value))));
            }
        }
        let id = self.id(frame, id);
        let at_word = inst.at;
        self.body.blocks[at].phis.push(Phi {
            id,
            ty,
            at: at_word,
            args,
        });
        Ok(())
    }

    fn call(
        &mut self,
        frame: &InlinedFunction,
        inst: &Inst,
        words: &[u32],
        at: Block,
        line: u32,
    ) -> Result<Block, Error> {
        let (called, data) = inline_policy::callee(self.m, words)?;
        let args: Vec<Id> = words.iter().skip(1).map(|w| Id::of(*w)).collect();
        let args: Vec<Id> = args.into_iter().map(|id| self.id(frame, id)).collect();
        let given = args.iter().map(|a| self.body.type_of(self.m, *a));
        if !given.eq(data.params.iter().map(|p| Some(p.1))) {
            return Err(Error::malformed("arguments that are not the function's"));
        }
        if data.blocks.is_empty() && intel_builtins::is_supported(self.m, data.id) {
            let mut operands = vec![data.id.as_u32()];
            operands.extend(args.iter().map(|a| a.as_u32()));
            let id = inst.id.expand().map(|id| self.id(frame, id));
            let ty = Some(data.result).filter(|t| *self.m.types.kind(*t) != Type::Void);
            let new = self.body.inst(inst.op, (inst.at, line), ty, id, &operands);
            self.body.blocks[at].insts.push(new);
            return Ok(at);
        }
        if data.blocks.is_empty() {
            let name = intel_builtins::name(self.m, data.id).unwrap_or_default();
            return Err(Error::unsupported(format!(
                "a call of \"{name}\", which the module only declares,"
            )));
        }
        if let Some(conv) = self.plan.calling_convention(called) {
            self.pass(frame, (called, data, conv), inst, args, (at, line))?;
            return Ok(at);
        }
        let next = self.body.blocks.push(BlockData {
            phis: Vec::new(),
            insts: Vec::new(),
            term: Term::Unreachable,
            at: inst.at,
            line,
        });
        let base = self.body.fresh_ids(data.locals);
        let mut inner = InlinedFunction {
            func: called,
            args,
            base: Some(base),
            call: Some(self.body.begin_call(base, frame.call)),
            first: 0,
            ret: Some(next),
            returned: Vec::new(),
            slots: Vec::new(),
        };
        self.copy_values(data, &mut inner, (at, inst.at, line));
        let first = Block::new(self.body.blocks.len());
        self.function(&mut inner)?;
        let block = &mut self.body.blocks[at];
        (block.term, block.at, block.line) = (Term::Branch(first), inst.at, line);
        let ty: Ty = data.result;
        if let (Some(id), false) = (inst.id.expand(), *self.m.types.kind(ty) == Type::Void) {
            let id = self.id(frame, id);
            let phi = Phi {
                id,
                ty,
                at: inst.at,
                args: inner.returned,
            };
            self.body.blocks[next].phis.push(phi);
        }
        Ok(next)
    }

    /// Emits a call. Arguments in memory are stored before it, and such a result is loaded after
    /// it.
    fn pass(
        &mut self,
        frame: &InlinedFunction,
        (called, data, conv): (Func, &FuncData, &CallConv),
        inst: &Inst,
        mut args: Vec<Id>,
        (at, line): (Block, u32),
    ) -> Result<(), Error> {
        let place = (inst.at, line);
        let mut free = frame.slots.clone();
        let mut next = |ty: Ty| {
            let n = free.iter().position(|p| p.0 == ty);
            let none = || Error::internal("a call without a place for what it passes");
            n.map(|n| free.swap_remove(n).1).ok_or_else(none)
        };
        for (var, ty) in &conv.inputs {
            let (id, words) = (self.body.fresh(*ty), [var.as_u32()]);
            let load = self.body.inst(Op::Load, place, Some(*ty), Some(id), &words);
            self.body.blocks[at].insts.push(load);
            args.push(id);
        }
        for (arg, pointer) in args.iter_mut().zip(&conv.params) {
            let Some(pointer) = *pointer else {
                continue;
            };
            let to = next(pointer)?;
            let words = [to, *arg].map(|id| id.as_u32());
            let store = self.body.inst(Op::Store, place, None, None, &words);
            self.body.blocks[at].insts.push(store);
            *arg = to;
        }
        let to = conv.result.map(&mut next).transpose()?;
        args.extend(to);
        let words = [data.id].into_iter().chain(args).map(|id| id.as_u32());
        let words: Vec<u32> = words.collect();
        let void = *self.m.types.kind(data.result) == Type::Void;
        let id = inst.id.expand().filter(|_| !void);
        let id = id.map(|id| self.id(frame, id));
        let ty = id.map(|_| data.result);
        let (own_ty, own) = if to.is_some() { (None, None) } else { (ty, id) };
        let op = Op::FunctionCall;
        let call = self.body.inst(op, place, own_ty, own, &words);
        self.body.blocks[at].insts.push(call);
        if let Some(to) = to {
            let load = self.body.inst(Op::Load, place, ty, id, &[to.as_u32()]);
            self.body.blocks[at].insts.push(load);
        }
        self.body.calls.push(Call {
            func: called,
            within: frame.call,
        });
        Ok(())
    }

    /// Copies `ByVal` pointees that the function modifies.
    fn copy_values(
        &mut self,
        data: &FuncData,
        inner: &mut InlinedFunction,
        (at, word, line): (Block, u32, u32),
    ) {
        for (n, (param, ty)) in data.params.iter().enumerate() {
            if !inline_policy::is_by_value(self.m, *param)
                || !inline_policy::may_change(self.m, data, *param)
            {
                continue;
            }
            let Some(arg) = inner.args.get_mut(n) else {
                continue;
            };
            let own = self.body.fresh(*ty);
            let insts = own_copy(&mut self.body, *ty, [own, *arg], (word, line));
            self.body.blocks[at].insts.extend(insts);
            *arg = own;
        }
    }

    fn terminator(
        &mut self,
        frame: &mut InlinedFunction,
        inst: &Inst,
        words: &[u32],
        at: Block,
    ) -> Result<Term, Error> {
        let word = |n: usize| Id::of(words.get(n).copied().unwrap_or(0));
        Ok(match inst.op {
            Op::Branch => Term::Branch(self.target(frame, word(0))?),
            Op::BranchConditional => {
                let (t, e) = (self.target(frame, word(1))?, self.target(frame, word(2))?);
                if t == e {
                    Term::Branch(t)
                } else {
                    Term::Cond(self.id(frame, word(0)), t, e)
                }
            }
            Op::Switch => {
                let selector = self.id(frame, word(0));
                let ty = self.body.type_of(self.m, selector);
                let bits = match ty.map(|t| self.m.types.kind(t)) {
                    Some(Type::Int(n)) => *n,
                    _ => return Err(Error::malformed("a switch by what is no integer")),
                };
                let step = if bits == 64 { 3 } else { 2 };
                let mut cases = Vec::new();
                for case in words.get(2..).unwrap_or(&[]).chunks(step) {
                    let (value, label) = match *case {
                        [v, l] if step == 2 => (u64::from(v), l),
                        [low, high, l] => (u64::from(low) | u64::from(high) << 32, l),
                        _ => return Err(Error::malformed("an incomplete case")),
                    };
                    let value = crate::module::constants::low(bits, value);
                    cases.push((value, self.target(frame, Id::of(label))?));
                }
                let default = self.target(frame, word(1))?;
                if cases.iter().all(|c| c.1 == default) {
                    Term::Branch(default)
                } else {
                    Term::Switch(selector, default, cases)
                }
            }
            Op::Return | Op::ReturnValue => {
                if inst.op == Op::ReturnValue {
                    let value = self.id(frame, word(0));
                    frame.returned.push((at, value));
                }
                frame.ret.map_or(Term::Return, Term::Branch)
            }
            Op::Unreachable => Term::Unreachable,
            op => return Err(Error::unsupported(read::name(op))),
        })
    }
}

/// Removes branches to unreachable blocks, and blocks without predecessors.
pub(crate) fn prune(body: &mut Body) {
    let mut dead: SecondaryMap<Block, bool> = sized(body.blocks.len());
    for (b, data) in &body.blocks {
        // Instructions before it may not terminate.
        dead[b] = data.term == Term::Unreachable && data.insts.is_empty();
    }
    for data in body.blocks.values_mut() {
        let alive = |b: &Block| !dead[*b];
        let term = match &data.term {
            Term::Cond(_, t, e) if dead[*t] => Some(Term::Branch(*e)),
            Term::Cond(_, t, e) if dead[*e] => Some(Term::Branch(*t)),
            Term::Switch(id, d, cases) => {
                let mut cases: Vec<_> = cases.iter().filter(|c| alive(&c.1)).copied().collect();
                let default = match (dead[*d], cases.last()) {
                    (true, Some(last)) => last.1,
                    _ => *d,
                };
                cases.retain(|c| c.1 != default);
                Some(if cases.is_empty() {
                    Term::Branch(default)
                } else {
                    Term::Switch(*id, default, cases)
                })
            }
            _ => None,
        };
        if let Some(term) = term {
            data.term = term;
        }
    }
    let mut reached: SecondaryMap<Block, bool> = sized(body.blocks.len());
    let mut preds: SecondaryMap<Block, SmallVec<[Block; 2]>> = sized(body.blocks.len());
    let mut todo: Vec<Block> = body.entry.expand().into_iter().collect();
    todo.iter().for_each(|b| reached[*b] = true);
    while let Some(b) = todo.pop() {
        for s in body.blocks[b].term.successors() {
            preds[s].push(b);
            if !std::mem::replace(&mut reached[s], true) {
                todo.push(s);
            }
        }
    }
    let empty = |b: Block| !reached[b];
    for (b, data) in body.blocks.iter_mut() {
        if empty(b) {
            data.phis.clear();
            data.insts.clear();
            data.term = Term::Unreachable;
            continue;
        }
        let mut from = std::mem::take(&mut preds[b]);
        from.sort_unstable();
        for phi in &mut data.phis {
            phi.args.retain(|a| from.binary_search(&a.0).is_ok());
            phi.args.sort_unstable_by_key(|a| a.0);
            phi.args.dedup_by_key(|a| a.0);
        }
    }
}
