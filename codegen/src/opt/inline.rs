//! Inlining of subroutines.
//!
//! A kernel and the subroutines that it calls, at any depth, are compiled together as a function
//! group. A call is inlined if the subroutine is small, or if it is the only call. Other
//! subroutines stay calls, and are part of the group.
//!
//! Input: verified functions, so calls do not recurse. Output: a kernel, and the subroutines that
//! it still calls.

use crate::error::CodegenError;
use crate::ir::instructions::ValueList;
use crate::ir::operands::{Import, Renaming};
use crate::ir::{
    Block, BlockCall, ControlFlow, FuncRef, Function, Inst, InstData, Module, Opcode, SourceLoc,
    Value,
};
use crate::target::abi::MAX_ROUTINES;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::borrow::Cow;
use std::rc::Rc;

/// Maximal instructions of a kernel after inlining, subroutines included.
pub const MAX_INSTRUCTIONS: usize = 500_000;

/// Maximal instructions of a subroutine that is always inlined.
const SMALL: usize = 24;

/// Maximal instructions that inlining a subroutine adds to a kernel.
const GROWTH: usize = 400;

gantry_isa_gen::named_enum! {
    /// Policy of inlining. Names are those that `--inline` takes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Inline {
        /// Inlines small subroutines, and those with a single call.
        #[default]
        Auto = "auto",
        /// Inlines all calls.
        All = "all",
        /// Inlines nothing.
        Never = "never",
    }
}

/// Function group: a kernel and the subroutines that are compiled with it.
#[derive(Clone, Debug)]
pub struct FunctionGroup<'f> {
    /// Kernel.
    pub kernel: Cow<'f, Function>,
    /// Called subroutines, each before its callers.
    pub subroutines: Vec<(FuncRef, Cow<'f, Function>)>,
}

impl<'f> FunctionGroup<'f> {
    /// Group of a kernel alone, before any inlining.
    pub fn of(kernel: &'f Function) -> FunctionGroup<'f> {
        FunctionGroup {
            kernel: Cow::Borrowed(kernel),
            subroutines: Vec::new(),
        }
    }

    /// Returns every function of the group, the kernel last.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        let subroutines = self.subroutines.iter().map(|(_, f)| f.as_ref());
        subroutines.chain([self.kernel.as_ref()])
    }

    /// Rewrites each function.
    pub(crate) fn map(
        self,
        mut f: impl FnMut(Cow<'f, Function>) -> Result<Cow<'f, Function>, CodegenError>,
    ) -> Result<FunctionGroup<'f>, CodegenError> {
        let subroutines = self.subroutines.into_iter();
        Ok(FunctionGroup {
            kernel: f(self.kernel)?,
            subroutines: subroutines
                .map(|(name, func)| Ok((name, f(func)?)))
                .collect::<Result<_, CodegenError>>()?,
        })
    }
}

impl std::fmt::Display for FunctionGroup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kernel.fmt(f)?;
        let called = self.subroutines.iter().rev();
        called.into_iter().try_for_each(|(_, func)| func.fmt(f))
    }
}

/// Returns the kernel's group after inlining.
///
/// # Errors
/// A call of a function that the module lacks, which verified IR does not have. A group of more
/// than [`MAX_INSTRUCTIONS`].
pub fn group<'f>(
    module: &'f Module,
    func: &'f Function,
    inline: Inline,
) -> Result<FunctionGroup<'f>, CodegenError> {
    let mut group = FunctionGroup {
        kernel: Cow::Borrowed(func),
        subroutines: Vec::new(),
    };
    if func.calls().next().is_none() {
        return Ok(group);
    }
    let plan = InlinePlan::new(module, func, inline);
    let mut orders = SecondaryMap::new();
    let mut count = 0;
    for &name in plan.order.iter().filter(|&&f| plan.called[f]) {
        let Some(callee) = module.functions.get(name) else {
            return Err(CodegenError::internal(
                &func.name,
                format!("inlining: no {name}"),
            ));
        };
        let callee = with_callees(module, callee, &plan, &mut orders, &mut count)?;
        group.subroutines.push((name, callee));
    }
    group.kernel = with_callees(module, func, &plan, &mut orders, &mut count)?;
    Ok(group)
}

/// Decision of which calls to inline.
struct InlinePlan {
    /// Subroutines that the kernel calls at any depth, each before its callers.
    order: Vec<FuncRef>,
    /// Subroutines that stay functions.
    called: SecondaryMap<FuncRef, bool>,
}

impl InlinePlan {
    fn new(module: &Module, kernel: &Function, inline: Inline) -> InlinePlan {
        let order = callees_first(module, kernel);
        let mut called: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
        if inline == Inline::All {
            return InlinePlan { order, called };
        }
        let mut sites: SecondaryMap<FuncRef, usize> = SecondaryMap::new();
        let functions = order.iter().filter_map(|&f| module.functions.get(f));
        for func in functions.chain([kernel]) {
            callees(func).for_each(|f| sites[f] += 1);
        }
        let mut sizes: SecondaryMap<FuncRef, usize> = SecondaryMap::new();
        let mut most = MAX_ROUTINES;
        for &name in &order {
            let Some(func) = module.functions.get(name) else {
                continue;
            };
            let own: usize = func
                .layout
                .blocks()
                .iter()
                .map(|&b| func.layout.insts(b).len())
                .sum();
            let replaced = callees(func).filter(|&f| !called[f]).map(|f| sizes[f]);
            let size = replaced.fold(own, usize::saturating_add);
            sizes[name] = size;
            let copies = sites[name].saturating_sub(1);
            let large = size > SMALL && size.saturating_mul(copies) > GROWTH;
            if (large || inline == Inline::Never) && most > 0 {
                called[name] = true;
                most -= 1;
            }
        }
        InlinePlan { order, called }
    }
}

/// Returns the callees of a function, once per reachable call.
fn callees(func: &Function) -> impl Iterator<Item = FuncRef> + '_ {
    // `ControlFlow` is avoided: its dominators are too expensive here.
    let mut reached: EntitySet<Block> = EntitySet::new();
    if func.calls().next().is_some() {
        let mut work: Vec<Block> = func.layout.entry().into_iter().collect();
        while let Some(b) = work.pop() {
            if reached.insert(b) {
                let last = func.layout.terminator(b).into_iter();
                work.extend(last.flat_map(|t| func.dfg.destinations(t)).map(|c| c.block));
            }
        }
    }
    let blocks = func.layout.blocks().iter();
    let insts = blocks
        .filter(move |b| reached.contains(**b))
        .flat_map(|&b| func.layout.insts(b));
    insts.filter_map(|&i| match *func.dfg.data(i) {
        InstData::Call { func, .. } => Some(func),
        _ => None,
    })
}

/// Returns the functions that a function calls at any depth, each before its callers.
fn callees_first(module: &Module, func: &Function) -> Vec<FuncRef> {
    let mut seen: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    let mut out = Vec::new();
    let mut stack: Vec<(Option<FuncRef>, Vec<FuncRef>)> = vec![(None, callees(func).collect())];
    while let Some((name, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !std::mem::replace(&mut seen[next], true) => {
                let called = module.functions.get(next);
                let called = called.map(|f| callees(f).collect()).unwrap_or_default();
                stack.push((Some(next), called));
            }
            Some(_) => {}
            None => {
                out.extend(*name);
                stack.pop();
            }
        }
    }
    out
}

/// Inlines calls as the plan says. Borrows the function if there are none.
fn with_callees<'f>(
    module: &'f Module,
    func: &'f Function,
    plan: &InlinePlan,
    orders: &mut SecondaryMap<FuncRef, Option<Rc<[Block]>>>,
    count: &mut usize,
) -> Result<Cow<'f, Function>, CodegenError> {
    if callees(func).all(|f| plan.called[f]) {
        return Ok(Cow::Borrowed(func));
    }
    let mut out = Function::new(func.name.clone(), func.kind, func.sig.clone());
    let entry = out.dfg.make_block();
    out.layout.append_block(entry);
    let mut inliner = Inliner {
        module,
        plan,
        orders,
        out,
        at: entry,
        count,
    };
    let params: Vec<Value> = match func.layout.entry() {
        Some(b) => func.dfg.block_params(b).to_vec(),
        None => Vec::new(),
    };
    let args: Vec<Value> = params
        .iter()
        .map(|&v| inliner.out.dfg.append_block_param(entry, func.dfg.ty(v)))
        .collect();
    inliner.bodies(func, &args)?;
    Ok(Cow::Owned(inliner.out))
}

/// Returns reachable blocks in layout order, except that dominators come first. So definitions are
/// copied before uses.
fn order(func: &Function) -> Vec<Block> {
    let cfg = ControlFlow::new(func);
    let mut placed: SecondaryMap<Block, bool> = SecondaryMap::new();
    // Blocks that wait for their dominator.
    let mut waiting: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut out = Vec::with_capacity(cfg.order().len());
    for &block in func.layout.blocks() {
        match cfg.idom(block) {
            _ if !cfg.is_reachable(block) => continue,
            Some(up) if !placed[up] => waiting[up].push(block),
            _ => {
                let mut ready = vec![block];
                while let Some(b) = ready.pop() {
                    placed[b] = true;
                    out.push(b);
                    ready.extend(std::mem::take(&mut waiting[b]).into_iter().rev());
                }
            }
        }
    }
    out
}

struct Inliner<'m, 'p> {
    module: &'m Module,
    plan: &'p InlinePlan,
    /// Copying order of the blocks of each callee.
    orders: &'p mut SecondaryMap<FuncRef, Option<Rc<[Block]>>>,
    out: Function,
    /// Block that instructions are appended to.
    at: Block,
    /// Instructions of the group so far.
    count: &'p mut usize,
}

/// Function that is being copied: the current position, and the copies so far.
struct InlinedBody<'m> {
    func: &'m Function,
    order: Rc<[Block]>,
    /// Position in the order.
    block: usize,
    /// Position in the block.
    inst: usize,
    copied: BodyMap,
    /// Location of the call, for instructions without a location.
    called_at: SourceLoc,
    /// Block that returns jump to; `None` in the outermost function.
    exit: Option<Block>,
}

/// Copies of values and blocks of a function.
struct BodyMap {
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
}

impl<'m> Inliner<'m, '_> {
    /// Appends a function's body after the current block. Nested calls use a stack of their own,
    /// since they may be deep.
    fn bodies(&mut self, func: &'m Function, args: &[Value]) -> Result<(), CodegenError> {
        let mut stack = vec![self.body(func, order(func).into(), args, None)];
        while let Some(body) = stack.last_mut() {
            let Some(&block) = body.order.get(body.block) else {
                body.copied.labels(body.func, &mut self.out);
                if let (Some(next), _) = (body.exit, stack.pop()) {
                    self.out.layout.append_block(next);
                    self.at = next;
                }
                continue;
            };
            if body.inst == 0
                && let Some(new) = body.copied.blocks[block].expand()
            {
                self.out.layout.append_block(new);
                self.at = new;
            }
            let Some(&inst) = body.func.layout.insts(block).get(body.inst) else {
                body.block += 1;
                body.inst = 0;
                continue;
            };
            body.inst += 1;
            *self.count += 1;
            if *self.count > MAX_INSTRUCTIONS {
                return Err(CodegenError::TooLarge {
                    kernel: self.out.name.clone(),
                    function: body.func.name.clone(),
                    limit: MAX_INSTRUCTIONS,
                });
            }
            let called = self.inst(inst, body)?;
            stack.extend(called);
        }
        Ok(())
    }

    /// Prepares a function for copying. `args` replace its entry's parameters.
    fn body(
        &mut self,
        func: &'m Function,
        order: Rc<[Block]>,
        args: &[Value],
        exit: Option<Block>,
    ) -> InlinedBody<'m> {
        let mut copied = BodyMap {
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
        };
        for (n, &b) in order.iter().enumerate() {
            if n == 0 {
                for (&p, &a) in func.dfg.block_params(b).iter().zip(args) {
                    copied.values[p] = a.into();
                }
                continue;
            }
            let new = self.out.dfg.make_block();
            for &p in func.dfg.block_params(b) {
                let v = self.out.dfg.append_block_param(new, func.dfg.ty(p));
                copied.values[p] = v.into();
            }
            copied.blocks[b] = new.into();
        }
        InlinedBody {
            func,
            order,
            block: 0,
            inst: 0,
            copied,
            called_at: SourceLoc::NONE,
            exit,
        }
    }

    /// Copies an instruction, or returns the body that replaces a call.
    fn inst(
        &mut self,
        inst: Inst,
        body: &mut InlinedBody<'m>,
    ) -> Result<Option<InlinedBody<'m>>, CodegenError> {
        let (func, copied, exit) = (body.func, &mut body.copied, body.exit);
        let loc = match func.srclocs[inst] {
            own if own.is_none() => body.called_at,
            own => own,
        };
        let missing = |what: &str| CodegenError::internal(&func.name, format!("inlining: {what}"));
        let mut data = *func.dfg.data(inst);
        let results: Vec<Value> = func.dfg.results(inst).to_vec();
        match (&mut data, exit) {
            (
                InstData::Call {
                    func: callee, args, ..
                },
                _,
            ) => {
                let name = *callee;
                if self.plan.called[name] {
                    let values = copied.all(args.as_slice(&func.dfg.pool));
                    *args = ValueList::from_slice(&values, &mut self.out.dfg.pool);
                    return Ok(self.copy(data, loc, &results, func, copied));
                }
                let Some(callee) = self.module.functions.get(name) else {
                    return Err(missing("a call of a function that does not exist"));
                };
                let order = self.orders[name].get_or_insert_with(|| order(callee).into());
                let order = Rc::clone(order);
                let args = copied.all(args.as_slice(&func.dfg.pool));
                let next = self.out.dfg.make_block();
                for &v in &results {
                    let new = self.out.dfg.append_block_param(next, func.dfg.ty(v));
                    copied.values[v] = new.into();
                }
                let callee = self.body(callee, order, &args, Some(next));
                return Ok(Some(InlinedBody {
                    called_at: loc,
                    ..callee
                }));
            }
            (InstData::Return { args, .. }, Some(block)) => {
                let values = copied.all(args.as_slice(&func.dfg.pool));
                let args = ValueList::from_slice(&values, &mut self.out.dfg.pool);
                data = InstData::Jump {
                    opcode: Opcode::Jump,
                    dest: BlockCall { block, args },
                };
            }
            (other, _) => {
                let mut import = Import {
                    from: &func.dfg,
                    to: &mut self.out.dfg,
                    names: &*copied,
                };
                let imported = other.import(&mut import);
                imported.ok_or_else(|| missing("a block"))?;
            }
        }
        Ok(self.copy(data, loc, &results, func, copied))
    }

    /// Appends an instruction and maps its results.
    fn copy(
        &mut self,
        data: InstData,
        loc: SourceLoc,
        results: &[Value],
        func: &Function,
        copied: &mut BodyMap,
    ) -> Option<InlinedBody<'m>> {
        let types: Vec<_> = results.iter().map(|&v| func.dfg.ty(v)).collect();
        let new = self.out.dfg.make_inst(data, &types);
        self.out.set_srcloc(new, loc);
        for (&old, &v) in results.iter().zip(self.out.dfg.results(new)) {
            copied.values[old] = v.into();
        }
        self.out.layout.append_inst(self.at, new);
        None
    }
}

impl Renaming for BodyMap {
    fn value(&self, v: Value) -> Value {
        self.one(v)
    }

    fn block(&self, b: Block) -> Option<Block> {
        self.blocks[b].expand()
    }
}

impl BodyMap {
    /// Returns a value's copy. Definitions are copied before uses.
    fn one(&self, v: Value) -> Value {
        self.values[v].expand().unwrap_or(v)
    }

    /// Adds labels of values to their copies.
    fn labels(&self, func: &Function, out: &mut Function) {
        for (name, values) in func.labels.iter() {
            let copies = values.filter_map(|v| self.values[v].expand());
            copies.for_each(|v| out.labels.add(name, v));
        }
    }

    fn all(&self, vs: &[Value]) -> Vec<Value> {
        vs.iter().map(|&v| self.one(v)).collect()
    }
}
