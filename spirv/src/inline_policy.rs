//! Which functions of a kernel stay functions, and which stand where they are called.
//!
//! Needs a module whose functions are cut into blocks. Afterwards calls are known not to come back to themselves. A kernel that is small with all that
//! it calls has no calls. In a larger one a function stays one if its copies would add too much: callees are decided before their callers, so
//! that a function's size is that with what stands in it. What a function must know of its caller (images, memories of generic pointers,
//! constant strings), or has of the kernel alone (operations of groups), keeps it from being called; so does that it never returns.

use crate::builtins;
use crate::calling_convention::CallConv;
use crate::emit::groups;
use crate::error::Error;
use crate::module::addresses;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Func, FuncData, Module, Set};
use crate::read::{self, Id, Inst};
use cranelift_entity::SecondaryMap;
use gantry_codegen::Inline;
use spirv::{
    BuiltIn, Decoration, FunctionParameterAttribute as Attribute, Op, OpenclStd100Op, StorageClass,
};
use std::collections::{BTreeMap, BTreeSet};

/// The most instructions of a kernel that has no calls.
const MAX_INLINED: usize = 60_000;
/// The most instructions that a function's copies may add to a kernel that is larger.
const GROWTH: usize = 1_500;
/// The most instructions of a function that always stands where it is called: a call takes no fewer.
const SMALL: usize = 24;
/// The most functions of a kernel that stay functions: compiling takes no more.
const MAX_CALLED: usize = 200;

/// What becomes of a kernel's functions.
#[derive(Debug, Default)]
pub(crate) struct InlinePlan {
    /// Those that stay functions, and how they take and give values.
    called: SecondaryMap<Func, Option<CallConv>>,
    /// Them, each behind all that call it.
    order: Vec<Func>,
}

impl InlinePlan {
    /// Whether a function stays one.
    pub fn is_called(&self, func: Func) -> bool {
        self.called[func].is_some()
    }

    /// How a function that stays one takes and gives values.
    pub fn passing(&self, func: Func) -> Option<&CallConv> {
        self.called[func].as_ref()
    }

    /// The types of the addresses that a function needs for values that it passes in memory: of each as many as one call passes.
    pub fn places(&self, m: &Module<'_>, func: Func) -> Vec<Ty> {
        let mut most: BTreeMap<Ty, usize> = BTreeMap::new();
        if self.order.is_empty() {
            return Vec::new();
        }
        for (_, callee) in calls(m, func) {
            let mut here: BTreeMap<Ty, usize> = BTreeMap::new();
            for ty in self.passing(callee).iter().flat_map(|p| p.places()) {
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

    /// The functions that stay such, each behind all that call it.
    pub fn order(&self) -> &[Func] {
        &self.order
    }

    /// What becomes of the functions that a kernel calls.
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
        // With all copies.
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
            // With what stands in it.
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
                && let Some(passing) = passing(m, f, &common[f], &inputs[f])
            {
                plan.called[f] = Some(passing);
                plan.order.push(f);
            }
        }
        plan.order.reverse();
        Ok(plan)
    }
}

/// The instructions of a function.
fn insts<'m>(m: &'m Module<'_>, func: Func) -> impl Iterator<Item = &'m Inst> {
    let blocks = m.funcs.get(func).into_iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|b| m.stream.insts.get(b.insts.clone()));
    insts.flatten()
}

/// The calls of a function, call by call.
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

/// What a kernel calls at any depth, and it, each behind what it calls.
fn callees_first(m: &Module<'_>, kernel: Func) -> Result<Vec<Func>, Error> {
    #[derive(Clone, Copy, PartialEq, Default)]
    enum State {
        #[default]
        New,
        Open,
        Done,
    }
    let callees = |f| calls(m, f).collect::<Vec<_>>();
    let mut state: SecondaryMap<Func, State> = SecondaryMap::new();
    let mut out = Vec::new();
    let mut stack = vec![(kernel, callees(kernel))];
    state[kernel] = State::Open;
    while let Some((func, rest)) = stack.last_mut() {
        match rest.pop() {
            Some((_, next)) if state[next] == State::New => {
                state[next] = State::Open;
                stack.push((next, callees(next)));
            }
            Some((inst, next)) if state[next] == State::Open => {
                let id = m.funcs.get(next).map(|f| f.id);
                let name = id.and_then(|id| m.name(id)).unwrap_or_default();
                let e = Error::unsupported(format!("recursion (\"{name}\" calls itself)"));
                return Err(m.error(e, inst.at, id));
            }
            Some(_) => {}
            None => {
                state[*func] = State::Done;
                out.push(*func);
                stack.pop();
            }
        }
    }
    Ok(out)
}

/// The parameters of functions that are the same in a whole launch, as far as calls alone say it: in all of them they are constants, variables of the
/// module, or such parameters of the caller's. `order`: functions behind what they call.
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
                    // Parameters are the first that a function defines.
                    Def::Local(g) if g == f => of.get(m.local[arg] as usize) == Some(&true),
                    _ => false,
                };
            }
        }
    }
    out
}

/// The instructions of each function with what stands in it.
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

/// Whether there is a way to a function's end.
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
        let insts = m.stream.insts.get(block.insts.clone()).unwrap_or(&[]);
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
        // Its labels are among its ids.
        let words = m.stream.operands(last).iter().map(|w| Id::of(*w));
        let labels = words.filter(|id| m.def(*id) == Def::Local(func));
        let blocks = labels.map(|id| (id, m.label[id] as usize));
        let is = |(id, n): &(Id, usize)| data.blocks.get(*n).is_some_and(|b| b.label == *id);
        todo.extend(blocks.filter(is).map(|b| b.1));
    }
    false
}

/// Whether a parameter is a pointer to a copy that is the function's own.
pub(crate) fn is_by_value(m: &Module<'_>, param: Id) -> bool {
    let by_value = Attribute::ByVal as u32;
    let mut all = m.decorations(param);
    all.any(|d| d.1 == Decoration::FuncParamAttr && d.2.first() == Some(&by_value))
}

/// Whether a parameter is a pointer to what nothing else leads to, as far as that is written (`restrict`).
pub(crate) fn is_alone(m: &Module<'_>, param: Id) -> bool {
    let no_alias = Attribute::NoAlias as u32;
    m.decorations(param).any(|d| match d.1 {
        Decoration::FuncParamAttr => d.2.first() == Some(&no_alias),
        Decoration::Restrict | Decoration::RestrictPointer => true,
        _ => false,
    })
}

/// Whether what a parameter by value is to may become another while a function runs: it does more than read there, or it writes private memory that it
/// knows by other pointers.
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
        // The operand through which nothing is written.
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

/// Whether an instruction makes a pointer that is into the same as its first operand.
fn is_part(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AccessChain
            | InBoundsAccessChain
            | PtrAccessChain
            | InBoundsPtrAccessChain
            | Bitcast
            | CopyObject
            | PtrCastToGeneric
            | GenericCastToPtr
    )
}

/// Whether an instruction may write through an operand that is a pointer which may be to private memory.
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

/// How a function takes and gives values, if they say all that must be known of it.
fn passing(m: &Module<'_>, func: Func, common: &[bool], inputs: &BTreeSet<Id>) -> Option<CallConv> {
    let data = m.funcs.get(func).filter(|d| !d.blocks.is_empty())?;
    let plain = |ty: Ty| m.types.scalars(ty).iter().all(|(t, _)| is_plain(m, *t));
    let passing = CallConv::new(m, data, common, inputs)?;
    let params = data.params.iter().map(|p| p.1);
    let result = (*m.types.kind(data.result) != Type::Void).then_some(data.result);
    params.chain(result).all(plain).then_some(passing)
}

/// The built-in variables that only the kernel can read, and that a function or one that it calls does.
fn inputs_of(
    m: &Module<'_>,
    func: Func,
    inputs: &SecondaryMap<Func, BTreeSet<Id>>,
) -> BTreeSet<Id> {
    let mut out = BTreeSet::new();
    for inst in insts(m, func) {
        let words = m.stream.operands(inst);
        // What is not as the grammar says is told elsewhere.
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

/// Whether a scalar is a value that says all that is known of it.
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

/// Whether an instruction needs nothing that only the kernel has: a place in local memory, the string that a pointer is to.
fn is_of_its_own(m: &Module<'_>, inst: &Inst) -> bool {
    let words = m.stream.operands(inst);
    match inst.op {
        Op::ExtInst => {
            let set = words.first().map(|w| m.def(Id::of(*w)));
            let printf = OpenclStd100Op::printf as u32;
            set != Some(Def::Set(Set::OpenCl)) || words.get(1) != Some(&printf)
        }
        Op::GroupAsyncCopy | Op::GroupWaitEvents => false,
        // Of 64 bits in local memory they take a lock that the kernel makes.
        op if crate::emit::is_lane_dependent(op) => {
            let pointer = words.first().and_then(|w| m.type_of(Id::of(*w)));
            let class = pointer.map(|t| m.types.kind(t));
            let size = pointer.and_then(|t| m.pointee(t)).map(|t| m.types.size(t));
            let global = matches!(class, Some(Type::Pointer(StorageClass::CrossWorkgroup, _)));
            global || size.is_some_and(|s| s < 8)
        }
        op => !groups::is_supported(op),
    }
}

/// Whether a built-in variable is one that functions know, too.
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

/// The function of a call.
pub(crate) fn callee<'m>(m: &'m Module<'_>, words: &[u32]) -> Result<(Func, &'m FuncData), Error> {
    let callee = words.first().map(|w| Id::of(*w));
    let Some(Def::Func(called)) = callee.map(|id| m.def(id)) else {
        return Err(Error::malformed("a call of what is no function"));
    };
    let data = m.funcs.get(called);
    let data = data.ok_or_else(|| Error::internal("no such function"))?;
    Ok((called, data))
}
