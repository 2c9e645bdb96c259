//! Which subroutines become part of their callers, and which are called.
//!
//! A kernel and the subroutines that it calls, at any depth, are compiled together: a function
//! group. A call of a small subroutine, or the only call of one, is replaced by the callee's
//! blocks; the others stay, and the group has their functions behind the kernel.
//!
//! Needs: functions that verify (so calls do not recurse). Makes: a kernel, and the subroutines
//! that it still calls.

use crate::error::CodegenError;
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockCall, ControlFlow, FuncRef, Function, Inst, InstData, Module, Opcode, SourceLoc,
    Value,
};
use crate::target::abi::MAX_ROUTINES;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::borrow::Cow;
use std::rc::Rc;

/// The most instructions that a kernel may have once its calls are replaced, its subroutines
/// included.
pub const MAX_INSTRUCTIONS: usize = 500_000;

/// The most instructions of a subroutine that is made part of its callers however many they are.
const SMALL: usize = 24;

/// The most instructions that a subroutine's copies may add to a kernel.
const GROWTH: usize = 400;

/// Which calls are replaced by what they call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inline {
    /// Those of small subroutines, and those that are their subroutine's only one.
    #[default]
    Auto,
    /// All.
    All,
    /// None.
    Never,
}

impl Inline {
    /// Every choice.
    pub const ALL: [Inline; 3] = [Inline::Auto, Inline::All, Inline::Never];

    /// The name, as `--inline` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Inline::Auto => "auto",
            Inline::All => "all",
            Inline::Never => "never",
        }
    }

    /// The choice of a name.
    pub fn from_name(name: &str) -> Option<Inline> {
        Inline::ALL.into_iter().find(|i| i.name() == name)
    }
}

/// A kernel, and the subroutines that are compiled with it.
#[derive(Clone, Debug)]
pub struct Group<'f> {
    /// The kernel.
    pub kernel: Cow<'f, Function>,
    /// The subroutines that are called: each before those that call it.
    pub subroutines: Vec<(FuncRef, Cow<'f, Function>)>,
}

impl<'f> Group<'f> {
    /// Group of a kernel alone, before any inlining.
    pub fn of(kernel: &'f Function) -> Group<'f> {
        Group {
            kernel: Cow::Borrowed(kernel),
            subroutines: Vec::new(),
        }
    }

    /// Every function of the group, the kernel last.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        let subroutines = self.subroutines.iter().map(|(_, f)| f.as_ref());
        subroutines.chain([self.kernel.as_ref()])
    }

    /// The same with each function rewritten.
    pub(crate) fn map(
        self,
        mut f: impl FnMut(Cow<'f, Function>) -> Result<Cow<'f, Function>, CodegenError>,
    ) -> Result<Group<'f>, CodegenError> {
        let subroutines = self.subroutines.into_iter();
        Ok(Group {
            kernel: f(self.kernel)?,
            subroutines: subroutines
                .map(|(name, func)| Ok((name, f(func)?)))
                .collect::<Result<_, CodegenError>>()?,
        })
    }
}

impl std::fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kernel.fmt(f)?;
        let called = self.subroutines.iter().rev();
        called.into_iter().try_for_each(|(_, func)| func.fmt(f))
    }
}

/// The kernel's group.
///
/// # Errors
/// A call of a function that the module does not have: such IR does not verify. More than
/// [`MAX_INSTRUCTIONS`].
pub fn group<'f>(
    module: &'f Module,
    func: &'f Function,
    inline: Inline,
) -> Result<Group<'f>, CodegenError> {
    let mut group = Group {
        kernel: Cow::Borrowed(func),
        subroutines: Vec::new(),
    };
    if func.calls().next().is_none() {
        return Ok(group);
    }
    let plan = Plan::new(module, func, inline);
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

/// What is called and what is replaced.
struct Plan {
    /// The subroutines that the kernel calls at any depth: each before those that call it.
    order: Vec<FuncRef>,
    /// Those that stay functions.
    called: SecondaryMap<FuncRef, bool>,
}

impl Plan {
    fn new(module: &Module, kernel: &Function, inline: Inline) -> Plan {
        let order = callees_first(module, kernel);
        let mut called: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
        if inline == Inline::All {
            return Plan { order, called };
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
        Plan { order, called }
    }
}

/// The functions that a function calls, call by call, where control can come to.
fn callees(func: &Function) -> impl Iterator<Item = FuncRef> + '_ {
    // Not `ControlFlow`, whose dominators this is asked too often for.
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

/// What a function calls at any depth, each before those that call it.
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

/// A function with the calls replaced that the plan replaces, or the function itself where there
/// are none.
fn with_callees<'f>(
    module: &'f Module,
    func: &'f Function,
    plan: &Plan,
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

/// Reachable blocks in layout order, but each behind those that dominate it, so that definitions
/// are copied before uses.
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
    plan: &'p Plan,
    /// The order in which the blocks of each function called are copied.
    orders: &'p mut SecondaryMap<FuncRef, Option<Rc<[Block]>>>,
    out: Function,
    /// The block that instructions are appended to.
    at: Block,
    /// Instructions of the group so far.
    count: &'p mut usize,
}

/// A function being copied: how far it is, and what its parts have become.
struct Body<'m> {
    func: &'m Function,
    order: Rc<[Block]>,
    /// Place in the order.
    block: usize,
    /// Place in the block.
    inst: usize,
    copied: Copied,
    /// Where it is called: what has no location of its own is from there.
    called_at: SourceLoc,
    /// Where it returns to, or for good.
    exit: Option<Block>,
}

/// What the parts of the function being copied have become.
struct Copied {
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
}

impl<'m> Inliner<'m, '_> {
    /// Appends a function's body behind the current block. Calls are a stack here, not in the
    /// host's: they may be deep.
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

    /// A function to append. Its entry's parameters are `args`.
    fn body(
        &mut self,
        func: &'m Function,
        order: Rc<[Block]>,
        args: &[Value],
        exit: Option<Block>,
    ) -> Body<'m> {
        let mut copied = Copied {
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
        Body {
            func,
            order,
            block: 0,
            inst: 0,
            copied,
            called_at: SourceLoc::NONE,
            exit,
        }
    }

    /// Copies an instruction, or says which body stands in its place.
    fn inst(&mut self, inst: Inst, body: &mut Body<'m>) -> Result<Option<Body<'m>>, CodegenError> {
        let (func, copied, exit) = (body.func, &mut body.copied, body.exit);
        let loc = match func.srclocs[inst] {
            own if own.is_none() => body.called_at,
            own => own,
        };
        let missing = |what: &str| CodegenError::internal(&func.name, format!("inlining: {what}"));
        let mut data = *func.dfg.data(inst);
        let results: Vec<Value> = func.dfg.results(inst).to_vec();
        match &mut data {
            InstData::Call {
                func: callee, args, ..
            } => {
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
                return Ok(Some(Body {
                    called_at: loc,
                    ..callee
                }));
            }
            InstData::Printf { args, mask, .. } => {
                let values = copied.all(args.as_slice(&func.dfg.pool));
                *args = ValueList::from_slice(&values, &mut self.out.dfg.pool);
                *mask = mask.expand().map(|m| copied.one(m)).into();
            }
            InstData::Return { args, .. } => {
                let values = copied.all(args.as_slice(&func.dfg.pool));
                let args = ValueList::from_slice(&values, &mut self.out.dfg.pool);
                data = match exit {
                    Some(block) => InstData::Jump {
                        opcode: Opcode::Jump,
                        dest: BlockCall { block, args },
                    },
                    None => InstData::Return {
                        opcode: Opcode::Return,
                        args,
                    },
                };
            }
            InstData::Jump { dest, .. } => self
                .destination(func, dest, copied)
                .ok_or_else(|| missing("a block"))?,
            InstData::Brif { cond, dests, .. } => {
                *cond = copied.one(*cond);
                for d in dests {
                    self.destination(func, d, copied)
                        .ok_or_else(|| missing("a block"))?;
                }
            }
            InstData::Switch { arg, cases, .. } => {
                *arg = copied.one(*arg);
                let mut new = func.dfg.cases(*cases).clone();
                for d in &mut new.dests {
                    self.destination(func, d, copied)
                        .ok_or_else(|| missing("a block"))?;
                }
                *cases = self.out.dfg.make_cases(new);
            }
            InstData::ImmVec { constant, .. } => {
                *constant = self
                    .out
                    .dfg
                    .make_constant(func.dfg.constant(*constant).to_vec());
            }
            // No other instruction has a list.
            other => other.map_args(&mut self.out.dfg, |v| copied.one(v)),
        }
        Ok(self.copy(data, loc, &results, func, copied))
    }

    /// Appends an instruction with these results.
    fn copy(
        &mut self,
        data: InstData,
        loc: SourceLoc,
        results: &[Value],
        func: &Function,
        copied: &mut Copied,
    ) -> Option<Body<'m>> {
        let types: Vec<_> = results.iter().map(|&v| func.dfg.ty(v)).collect();
        let new = self.out.dfg.make_inst(data, &types);
        self.out.set_srcloc(new, loc);
        for (&old, &v) in results.iter().zip(self.out.dfg.results(new)) {
            copied.values[old] = v.into();
        }
        self.out.layout.append_inst(self.at, new);
        None
    }

    fn destination(&mut self, func: &Function, d: &mut BlockCall, copied: &Copied) -> Option<()> {
        let args = copied.all(d.args.as_slice(&func.dfg.pool));
        *d = BlockCall {
            block: copied.blocks[d.block].expand()?,
            args: ValueList::from_slice(&args, &mut self.out.dfg.pool),
        };
        Some(())
    }
}

impl Copied {
    /// A value's copy. Definitions were copied before.
    fn one(&self, v: Value) -> Value {
        self.values[v].expand().unwrap_or(v)
    }

    /// Names of values go on to their copies.
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
