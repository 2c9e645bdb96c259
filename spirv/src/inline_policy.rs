//! Inlining decisions: functions of a kernel that stay functions.
//!
//! Needs a module whose functions are split into blocks. Afterwards there is no recursion. A kernel
//! that is small with all functions inlined has no calls. In a larger one, a function is called if
//! its copies would add too many instructions. Callees are decided before their callers, so that
//! the size of a function includes what is inlined in it.
//!
//! Some functions must be inlined:
//!
//! - those that must know more of their arguments than values (images, address spaces of generic
//!   pointers, constant strings);
//! - those that use what only the kernel has (operations of groups);
//! - those that never return.

use crate::builtins;
use crate::calling_convention::CallConv;
use crate::error::Error;
use crate::module::types::{Ty, Type};
use crate::module::{Def, ExtInstSet, Func, FuncData, Module, addresses};
use crate::op_info;
use crate::read::{self, Id, Inst};
use cranelift_entity::SecondaryMap;
use gantry_codegen::Inline;
use spirv::{
    BuiltIn, Decoration, FunctionParameterAttribute as Attribute, Op, OpenclStd100Op, StorageClass,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of instructions of a kernel that has no calls.
const MAX_INLINED: usize = 60_000;
/// Maximum number of instructions that the copies of a function may add to a larger kernel.
const GROWTH: usize = 1_500;
/// Maximum size of functions that are always inlined: a call takes no fewer instructions.
const SMALL: usize = 24;
/// Maximum number of called functions of a kernel, to bound the compile time.
const MAX_CALLED: usize = 200;

/// Inlining decisions of a kernel.
#[derive(Debug, Default)]
pub(crate) struct InlinePlan {
    /// Functions that are called, with their calling conventions.
    called: SecondaryMap<Func, Option<CallConv>>,
    /// Called functions, callers before callees.
    order: Vec<Func>,
}

impl InlinePlan {
    /// Returns true if a function is called and not inlined.
    pub fn is_called(&self, func: Func) -> bool {
        self.called[func].is_some()
    }

    /// Calling convention of a function that is called.
    pub fn calling_convention(&self, func: Func) -> Option<&CallConv> {
        self.called[func].as_ref()
    }

    /// Pointer types of the slots that a caller needs for values in memory. Calls share slots, so
    /// the count of each type is the maximum over the calls.
    pub fn memory_slots(&self, m: &Module<'_>, func: Func) -> Vec<Ty> {
        let mut most: BTreeMap<Ty, usize> = BTreeMap::new();
        if self.order.is_empty() {
            return Vec::new();
        }
        for (_, callee) in calls(m, func) {
            let mut here: BTreeMap<Ty, usize> = BTreeMap::new();
            for ty in self
                .calling_convention(callee)
                .iter()
                .flat_map(|p| p.memory_slots())
            {
                *here.entry(ty).or_default() += 1;
            }
            for (ty, n) in here {
                let all = most.entry(ty).or_default();
                *all = n.max(*all);
            }
        }
        let each = most.into_iter();
        each.flat_map(|(ty, n)| std::iter::repeat_n(ty, n))
            .collect()
    }

    /// Called functions, callers before callees.
    pub fn order(&self) -> &[Func] {
        &self.order
    }

    /// Decides which callees of a kernel are inlined.
    ///
    /// # Errors
    /// Recursion.
    pub fn new(m: &Module<'_>, kernel: Func, inline: Inline) -> Result<InlinePlan, Error> {
        let order = callees_first(m, kernel)?;
        let mut plan = InlinePlan::default();
        if inline == Inline::All || m.logical {
            return Ok(plan);
        }
        let mut sites: SecondaryMap<Func, usize> = SecondaryMap::new();
        for &f in &order {
            calls(m, f).for_each(|(_, callee)| sites[callee] += 1);
        }
        // With everything inlined.
        let whole = sizes(m, &order, |_| false);
        if inline == Inline::Auto && whole[kernel] <= MAX_INLINED {
            return Ok(plan);
        }
        let common = common(m, &order);
        let mut inputs: SecondaryMap<Func, BTreeSet<Id>> = SecondaryMap::new();
        let mut size: SecondaryMap<Func, usize> = SecondaryMap::new();
        let mut returns: SecondaryMap<Func, bool> = SecondaryMap::new();
        let mut own: SecondaryMap<Func, bool> = SecondaryMap::new();
        for &f in order.iter().filter(|f| **f != kernel) {
            size[f] = with_callees(m, f, &size, |g| plan.is_called(g));
            returns[f] = may_return(m, f, &returns);
            inputs[f] = inputs_of(m, f, &inputs);
            let added = size[f].saturating_mul(sites[f].saturating_sub(1));
            // Includes functions that are inlined in it.
            let mut inside = calls(m, f).filter(|(_, g)| !plan.is_called(*g));
            let has_body = m.funcs.get(f).is_some_and(|d| !d.blocks.is_empty());
            own[f] =
                has_body && inside.all(|(_, g)| own[g]) && insts(m, f).all(|i| is_of_its_own(m, i));
            let large = size[f] > SMALL && added > GROWTH;
            let asked = inline == Inline::Never || large;
            if asked
                && plan.order.len() < MAX_CALLED
                && returns[f]
                && own[f]
                && let Some(conv) = plain_convention(m, f, &common[f], &inputs[f])
            {
                plan.called[f] = Some(conv);
                plan.order.push(f);
            }
        }
        plan.order.reverse();
        Ok(plan)
    }
}

/// Instructions of a function.
fn insts<'m>(m: &'m Module<'_>, func: Func) -> impl Iterator<Item = &'m Inst> {
    let blocks = m.funcs.get(func).into_iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|b| m.stream.insts.get(b.insts.clone()));
    insts.flatten()
}

/// Call instructions of a function with their callees.
fn calls<'m>(m: &'m Module<'_>, func: Func) -> impl Iterator<Item = (&'m Inst, Func)> {
    let calls = insts(m, func).filter(|i| i.op == Op::FunctionCall);
    calls.filter_map(|i| {
        let id = Id::of(*m.stream.operands(i).first()?);
        match m.def(id) {
            Def::Func(f) => Some((i, f)),
            _ => None,
        }
    })
}

/// Functions reachable from a kernel, callees before callers. The kernel is last.
fn callees_first(m: &Module<'_>, kernel: Func) -> Result<Vec<Func>, Error> {
    #[derive(Clone, Copy, PartialEq, Default)]
    enum VisitState {
        #[default]
        New,
        Open,
        Done,
    }
    let callees = |f| calls(m, f).collect::<Vec<_>>();
    let mut state: SecondaryMap<Func, VisitState> = SecondaryMap::new();
    let mut out = Vec::new();
    let mut stack = vec![(kernel, callees(kernel))];
    state[kernel] = VisitState::Open;
    while let Some((func, rest)) = stack.last_mut() {
        match rest.pop() {
            Some((_, next)) if state[next] == VisitState::New => {
                state[next] = VisitState::Open;
                stack.push((next, callees(next)));
            }
            Some((inst, next)) if state[next] == VisitState::Open => {
                let id = m.funcs.get(next).map(|f| f.id);
                let name = id.and_then(|id| m.name(id)).unwrap_or_default();
                let e = Error::unsupported(format!("recursion (\"{name}\" calls itself)"));
                return Err(m.error(e, inst.at, id));
            }
            Some(_) => {}
            None => {
                state[*func] = VisitState::Done;
                out.push(*func);
                stack.pop();
            }
        }
    }
    Ok(out)
}

/// Finds parameters that are equal in the whole launch, by calls alone. All arguments must be
/// constants, variables of the module, or such parameters of the caller. `order` has callees before
/// callers.
fn common(m: &Module<'_>, order: &[Func]) -> SecondaryMap<Func, Vec<bool>> {
    let mut out: SecondaryMap<Func, Vec<bool>> = SecondaryMap::new();
    for &f in order {
        let params = m.funcs.get(f).map_or(&[][..], |d| &d.params);
        let private = |ty: Ty| {
            let kind = m.types.kind(ty);
            matches!(kind, Type::Pointer(StorageClass::Function, _))
        };
        out[f] = params.iter().map(|p| !private(p.1)).collect();
    }
    for &f in order.iter().rev() {
        let of = out[f].clone();
        for (inst, callee) in calls(m, f) {
            let args = m.stream.operands(inst).iter().skip(1);
            for (arg, slot) in args.zip(out[callee].iter_mut()) {
                let arg = Id::of(*arg);
                *slot &= match m.def(arg) {
                    Def::Const(_) | Def::Global(_) => true,
                    // Parameters are the first local ids of a function.
                    Def::Local(g) if g == f => of.get(m.local[arg] as usize) == Some(&true),
                    _ => false,
                };
            }
        }
    }
    out
}

/// Number of instructions of each function with what is inlined in it.
fn sizes(
    m: &Module<'_>,
    order: &[Func],
    called: impl Fn(Func) -> bool + Copy,
) -> SecondaryMap<Func, usize> {
    let mut size = SecondaryMap::new();
    for &f in order {
        size[f] = with_callees(m, f, &size, called);
    }
    size
}

fn with_callees(
    m: &Module<'_>,
    func: Func,
    size: &SecondaryMap<Func, usize>,
    called: impl Fn(Func) -> bool,
) -> usize {
    let copies = calls(m, func).filter(|(_, f)| !called(*f));
    copies.fold(insts(m, func).count(), |n, (_, f)| {
        n.saturating_add(size[f])
    })
}

/// Returns true if a path leads to a return of a function.
fn may_return(m: &Module<'_>, func: Func, returns: &SecondaryMap<Func, bool>) -> bool {
    let Some(data) = m.funcs.get(func) else {
        return false;
    };
    let mut seen = vec![false; data.blocks.len()];
    let mut todo = vec![0];
    while let Some(n) = todo.pop() {
        let Some(block) = data.blocks.get(n) else {
            continue;
        };
        if std::mem::replace(&mut seen[n], true) {
            continue;
        }
        let insts = &m.stream.insts[block.insts.clone()];
        let goes_on = |i: &Inst| match (i.op, callee(m, m.stream.operands(i))) {
            (Op::FunctionCall, Ok((f, _))) => returns[f],
            _ => true,
        };
        let Some(last) = insts.last().filter(|_| insts.iter().all(goes_on)) else {
            continue;
        };
        if matches!(last.op, Op::Return | Op::ReturnValue) {
            return true;
        }
        // The labels are among the ids of the terminator.
        let words = m.stream.operands(last).iter().map(|w| Id::of(*w));
        let labels = words.filter(|id| m.def(*id) == Def::Local(func));
        let blocks = labels.map(|id| (id, m.label[id] as usize));
        let is = |(id, n): &(Id, usize)| data.blocks.get(*n).is_some_and(|b| b.label == *id);
        todo.extend(blocks.filter(is).map(|b| b.1));
    }
    false
}

/// Returns true if a parameter is a pointer to a copy that the function owns (`ByVal`).
pub(crate) fn is_by_value(m: &Module<'_>, param: Id) -> bool {
    let by_value = Attribute::ByVal as u32;
    let mut all = m.decorations(param);
    all.any(|d| d.1 == Decoration::FuncParamAttr && d.2.first() == Some(&by_value))
}

/// Returns true if a parameter is declared not to alias (`NoAlias`, `Restrict`).
pub(crate) fn is_alone(m: &Module<'_>, param: Id) -> bool {
    let no_alias = Attribute::NoAlias as u32;
    m.decorations(param).any(|d| match d.1 {
        Decoration::FuncParamAttr => d.2.first() == Some(&no_alias),
        Decoration::Restrict | Decoration::RestrictPointer => true,
        _ => false,
    })
}

/// Returns true if the pointee of a `ByVal` parameter may change during the call. That is so if the
/// function does more than read it, or writes private memory through other pointers.
pub(crate) fn may_change(m: &Module<'_>, data: &FuncData, param: Id) -> bool {
    let own = data.params.iter().filter(|p| is_alone(m, p.0));
    let own = own.map(|p| p.0).filter(|p| *p != param);
    let mut reads = BTreeSet::from([param.as_u32()]);
    let mut own: BTreeSet<u32> = own.map(|p| p.as_u32()).collect();
    let insts = data
        .blocks
        .iter()
        .map(|b| m.stream.insts.get(b.insts.clone()));
    for inst in insts.flatten().flatten() {
        let words = m.stream.operands(inst);
        let id = inst.id.expand().map(|id| id.as_u32());
        // Index of the operand through which the instruction only reads.
        let quiet = match inst.op {
            Op::Load => Some(0),
            Op::CopyMemory | Op::CopyMemorySized => Some(1),
            op if is_part(op) => Some(0),
            _ => None,
        };
        let mut changes = false;
        let _ = read::for_each_id(inst.op, words, false, |n| {
            let word = words.get(n).copied().unwrap_or(0);
            let known = own.contains(&word);
            changes |= Some(n) != quiet
                && !known
                && (reads.contains(&word) || is_stored(m, inst.op, word));
        });
        if changes {
            return true;
        }
        if inst.op == Op::Variable {
            own.extend(id);
        }
        let from = words.first().filter(|_| is_part(inst.op));
        for set in [&mut reads, &mut own] {
            if from.is_some_and(|w| set.contains(w)) {
                set.extend(id);
            }
        }
    }
    false
}

/// Returns true if the result points into the same object as the first operand.
fn is_part(op: Op) -> bool {
    op_info::is_pointer_into(op) || matches!(op, Op::PtrCastToGeneric | Op::GenericCastToPtr)
}

/// Returns true if an instruction may write private memory through a pointer operand.
fn is_stored(m: &Module<'_>, op: Op, word: u32) -> bool {
    let ty = m.type_of(Id::of(word)).map(|t| m.types.kind(t));
    let private = matches!(
        ty,
        Some(Type::Pointer(
            StorageClass::Function | StorageClass::Private | StorageClass::Generic,
            _
        ))
    );
    let pure = matches!(
        op,
        Op::Phi | Op::Select | Op::PtrEqual | Op::PtrNotEqual | Op::ConvertPtrToU | Op::ReturnValue
    );
    private && !pure
}

/// Calling convention of a function, if parameters and result are plain values.
fn plain_convention(
    m: &Module<'_>,
    func: Func,
    common: &[bool],
    inputs: &BTreeSet<Id>,
) -> Option<CallConv> {
    let data = m.funcs.get(func).filter(|d| !d.blocks.is_empty())?;
    let plain = |ty: Ty| m.types.scalars(ty).iter().all(|(t, _)| is_plain(m, *t));
    let conv = CallConv::new(m, data, common, inputs)?;
    let params = data.params.iter().map(|p| p.1);
    let result = (*m.types.kind(data.result) != Type::Void).then_some(data.result);
    params.chain(result).all(plain).then_some(conv)
}

/// Built-in variables that a function and its callees read and only the kernel has.
fn inputs_of(
    m: &Module<'_>,
    func: Func,
    inputs: &SecondaryMap<Func, BTreeSet<Id>>,
) -> BTreeSet<Id> {
    let mut out = BTreeSet::new();
    for inst in insts(m, func) {
        let words = m.stream.operands(inst);
        // Grammar violations are reported elsewhere.
        let _ = read::for_each_id(inst.op, words, false, |n| {
            let id = words.get(n).map(|w| Id::of(*w));
            let base = id.map(|id| addresses::of(m, id).map_or(id, |a| a.0));
            let builtin = |id: &Id| builtins::builtin(m, *id).is_some_and(|b| !is_of_the_launch(b));
            out.extend(base.filter(builtin));
        });
    }
    for (_, callee) in calls(m, func) {
        out.extend(&inputs[callee]);
    }
    out
}

/// Returns true for scalars that are described by their value alone.
fn is_plain(m: &Module<'_>, ty: Ty) -> bool {
    match m.types.kind(ty) {
        Type::Bool | Type::Int(_) | Type::Float(_) => true,
        Type::Pointer(class, _) => matches!(
            class,
            StorageClass::CrossWorkgroup
                | StorageClass::UniformConstant
                | StorageClass::Workgroup
                | StorageClass::Function
        ),
        _ => false,
    }
}

/// Returns true if an instruction needs nothing that only the kernel has: an SLM area, or the
/// string that a pointer leads to.
fn is_of_its_own(m: &Module<'_>, inst: &Inst) -> bool {
    let words = m.stream.operands(inst);
    match inst.op {
        Op::ExtInst => {
            let set = words.first().map(|w| m.def(Id::of(*w)));
            let printf = OpenclStd100Op::printf as u32;
            set != Some(Def::Set(ExtInstSet::OpenCl)) || words.get(1) != Some(&printf)
        }
        Op::GroupAsyncCopy | Op::GroupWaitEvents => false,
        // 64-bit atomics on SLM take a lock that the kernel allocates.
        op if op_info::is_atomic(op) => {
            let pointer = words.first().and_then(|w| m.type_of(Id::of(*w)));
            let class = pointer.map(|t| m.types.kind(t));
            let size = pointer.and_then(|t| m.pointee(t)).map(|t| m.types.size(t));
            let global = matches!(class, Some(Type::Pointer(StorageClass::CrossWorkgroup, _)));
            global || size.is_some_and(|s| s < 8)
        }
        op => !op_info::is_group(op),
    }
}

/// Returns true for built-ins that subroutines can read as well.
fn is_of_the_launch(b: BuiltIn) -> bool {
    matches!(
        b,
        BuiltIn::WorkgroupId
            | BuiltIn::WorkgroupSize
            | BuiltIn::EnqueuedWorkgroupSize
            | BuiltIn::NumWorkgroups
            | BuiltIn::GlobalSize
            | BuiltIn::GlobalOffset
    )
}

/// Callee of a call instruction.
pub(crate) fn callee<'m>(m: &'m Module<'_>, words: &[u32]) -> Result<(Func, &'m FuncData), Error> {
    let callee = words.first().map(|w| Id::of(*w));
    let Some(Def::Func(called)) = callee.map(|id| m.def(id)) else {
        return Err(Error::malformed("a call of what is no function"));
    };
    let data = m.funcs.get(called);
    let data = data.ok_or_else(|| Error::internal("no such function"))?;
    Ok((called, data))
}
