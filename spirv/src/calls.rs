//! Which functions of a kernel stay functions, and which stand where they are called.
//!
//! Needs a module whose functions are cut into blocks. Afterwards calls are known not to come back to themselves. A kernel that is small with all that
//! it calls has no calls. In a larger one a function stays one if its copies would add too much: callees are decided before their callers, so
//! that a function's size is that with what stands in it. What a function must know of its caller (images, memories of generic pointers,
//! constant strings), or has of the kernel alone (work-items' ids, operations of groups), keeps it from being called; so does that it never returns.

use crate::emit::groups;
use crate::error::Error;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Func, FuncData, Module, Set};
use crate::place;
use crate::read::{self, Id, Inst};
use cranelift_entity::SecondaryMap;
use gantry_codegen::Inline;
use spirv::{
    BuiltIn, Decoration, FunctionParameterAttribute as Attribute, Op, OpenclStd100Op, StorageClass,
};
use std::collections::BTreeSet;

/// The most instructions of a kernel that has no calls.
const MOST_INLINED: usize = 60_000;
/// The most instructions that a function's copies may add to a kernel that is larger.
const GROWTH: usize = 1_500;
/// The most instructions of a function that always stands where it is called: a call takes no fewer.
const SMALL: usize = 24;
/// The most functions of a kernel that stay functions: compiling takes no more.
const MOST_CALLED: usize = 200;
/// The most bytes a work-item that a function that is called takes and gives.
const MOST_BYTES: u64 = 96;

/// What becomes of a kernel's functions.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Those that stay functions.
    called: SecondaryMap<Func, bool>,
    /// Them, each behind all that call it.
    order: Vec<Func>,
}

impl Plan {
    /// Whether a function stays one.
    pub fn is_called(&self, func: Func) -> bool {
        self.called[func]
    }

    /// The functions that stay such, each behind all that call it.
    pub fn order(&self) -> &[Func] {
        &self.order
    }

    /// What becomes of the functions that a kernel calls.
    ///
    /// # Errors
    /// Recursion.
    pub fn new(m: &Module<'_>, kernel: Func, inline: Inline) -> Result<Plan, Error> {
        let order = callees_first(m, kernel)?;
        let mut plan = Plan::default();
        if inline == Inline::All || m.logical {
            return Ok(plan);
        }
        let mut sites: SecondaryMap<Func, usize> = SecondaryMap::new();
        for &f in &order {
            calls(m, f).for_each(|(_, callee)| sites[callee] += 1);
        }
        // With all copies.
        let whole = sizes(m, &order, |_| false);
        if inline == Inline::Auto && whole[kernel] <= MOST_INLINED {
            return Ok(plan);
        }
        let mut size: SecondaryMap<Func, usize> = SecondaryMap::new();
        let mut returns: SecondaryMap<Func, bool> = SecondaryMap::new();
        let mut own: SecondaryMap<Func, bool> = SecondaryMap::new();
        for &f in order.iter().filter(|f| **f != kernel) {
            size[f] = with_callees(m, f, &size, |g| plan.called[g]);
            returns[f] = may_return(m, f, &returns);
            let added = size[f].saturating_mul(sites[f].saturating_sub(1));
            // With what stands in it.
            let mut inside = calls(m, f).filter(|(_, g)| !plan.called[*g]);
            let has_body = m.funcs.get(f).is_some_and(|d| !d.blocks.is_empty());
            own[f] =
                has_body && inside.all(|(_, g)| own[g]) && insts(m, f).all(|i| is_of_its_own(m, i));
            let large = size[f] > SMALL && added > GROWTH;
            let asked = inline == Inline::Never || large;
            if asked
                && plan.order.len() < MOST_CALLED
                && returns[f]
                && own[f]
                && may_be_called(m, f)
            {
                plan.called[f] = true;
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

/// Whether a function may do more than read through a parameter: what only loads, copies from there, and pointers for them are made of it, it does not.
pub(crate) fn may_write(m: &Module<'_>, data: &FuncData, param: Id) -> bool {
    let mut pointers = BTreeSet::from([param.as_u32()]);
    let insts = data
        .blocks
        .iter()
        .map(|b| m.stream.insts.get(b.insts.clone()));
    for inst in insts.flatten().flatten() {
        let words = m.stream.operands(inst);
        let used = |n: usize| words.get(n).is_some_and(|w| pointers.contains(w));
        let reads = match inst.op {
            Op::Load => used(0).then_some(0),
            Op::CopyMemory | Op::CopyMemorySized => used(1).then_some(1),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::Bitcast
            | Op::CopyObject => used(0).then_some(0),
            _ => None,
        };
        let mut others = false;
        let _ = read::for_each_id(inst.op, words, false, |n| {
            others |= Some(n) != reads && used(n);
        });
        if others {
            return true;
        }
        let follows = !matches!(inst.op, Op::Load | Op::CopyMemory | Op::CopyMemorySized);
        if let (Some(_), true, Some(id)) = (reads, follows, inst.id.expand()) {
            pointers.insert(id.as_u32());
        }
    }
    false
}

/// Whether what a function takes and gives says all that must be known of it.
fn may_be_called(m: &Module<'_>, func: Func) -> bool {
    let Some(data) = m.funcs.get(func) else {
        return false;
    };
    let plain = |ty: Ty| m.types.scalars(ty).iter().all(|(t, _)| is_plain(m, *t));
    let types = data.params.iter().map(|p| p.1);
    let types = types.chain((*m.types.kind(data.result) != Type::Void).then_some(data.result));
    let types: Vec<Ty> = types.collect();
    let few = |ty: &Ty| m.types.leaves(*ty) <= MOST_BYTES as u32;
    // A leaf takes four bytes at least: predicates and what is shorter go as doublewords.
    let leaf = |ty: Ty| {
        let all = m.types.scalars(ty);
        all.iter()
            .map(|(t, _)| m.types.size(*t).max(4))
            .sum::<u64>()
    };
    !data.blocks.is_empty()
        && types.iter().all(few)
        && types.iter().all(|t| plain(*t))
        && types.iter().map(|t| leaf(*t)).sum::<u64>() <= MOST_BYTES
        && !data.params.iter().any(|p| is_by_value(m, p.0))
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

/// Whether an instruction needs nothing that only the kernel has: a place in local memory, work-items' ids, the string that a pointer is to.
fn is_of_its_own(m: &Module<'_>, inst: &Inst) -> bool {
    let words = m.stream.operands(inst);
    let mut own = match inst.op {
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
    };
    // What is not as the grammar says is told elsewhere.
    let _ = read::for_each_id(inst.op, words, false, |n| {
        let id = words.get(n).map(|w| Id::of(*w));
        let builtin = id.and_then(|id| place::builtin(m, id));
        own &= builtin.is_none_or(is_of_the_launch);
    });
    own
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
