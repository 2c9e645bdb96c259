//! Check that a module is supported, which collects all errors at once.
//!
//! Needs a module. It checks capabilities, and the instructions of every function that the
//! requested kernels reach. Afterwards [`crate::emit`] has each instruction, OpenCL.std function
//! and built-in. Types are checked there.

use crate::capabilities::{self, Support};
use crate::emit;
use crate::emit::library;
use crate::error::{Error, Errors};
use crate::module::{Def, ExtInstSet, Func, Module};
use crate::read::{self, Id, OpClass, for_each_id};
use cranelift_entity::SecondaryMap;
use spirv::Op;

/// Checks everything that the kernels reach.
///
/// # Errors
/// All unsupported capabilities and instructions.
pub(crate) fn check(m: &Module<'_>, kernels: impl Iterator<Item = Func>) -> Result<(), Errors> {
    let mut errors = Errors(Vec::new());
    for (c, at) in &m.capabilities {
        if let Support::Refused(why) = capabilities::capability(*c) {
            errors.push(Error::unsupported(format!("the capability {c:?} ({why})")).at(*at));
        }
    }
    let mut reached: SecondaryMap<Func, bool> = SecondaryMap::new();
    let mut todo: Vec<Func> = kernels.collect();
    while let Some(f) = todo.pop() {
        if std::mem::replace(&mut reached[f], true) {
            continue;
        }
        let Some(data) = m.funcs.get(f) else { continue };
        for inst in data
            .blocks
            .iter()
            .flat_map(|b| m.stream.insts.get(b.insts.clone()))
            .flatten()
        {
            let operands = m.stream.operands(inst);
            let first = operands.first().map(|w| Id::of(*w));
            if inst.op == Op::FunctionCall
                && let Some(Def::Func(f)) = first.map(|id| m.def(id))
            {
                todo.push(f);
            }
            if let Some(what) = unsupported(m, inst.op, operands) {
                let e = Error::unsupported(what);
                errors.push(m.error(e, inst.at, inst.id.expand()));
            }
            // Switch cases are checked once the type of the selector is known.
            if inst.op != Op::Switch && !m.is_foreign(inst) {
                let shifted = m.is_glsl(inst).then(|| read::shifted(operands));
                let words = shifted.as_deref().unwrap_or(operands);
                let _ = for_each_id(inst.op, words, false, |n| {
                    let id = operands.get(n).map(|w| Id::of(*w));
                    if let Some(id) = id
                        && m.def(id) == Def::None
                    {
                        let e = Error::malformed(format!(
                            "{} uses {id}, which nothing defines",
                            read::name(inst.op)
                        ));
                        errors.push(m.error(e, inst.at, inst.id.expand()));
                    }
                });
            }
        }
    }
    if errors.0.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Name of an instruction that is not supported.
fn unsupported(m: &Module<'_>, op: Op, operands: &[u32]) -> Option<String> {
    let is_flow = read::kind(op) == OpClass::Terminator
        || matches!(
            op,
            Op::Label | Op::Phi | Op::FunctionCall | Op::LoopMerge | Op::SelectionMerge
        );
    if op == Op::ExtInst {
        let (set, number) = (*operands.first()?, *operands.get(1)?);
        return match m.def(Id::of(set)) {
            Def::Set(ExtInstSet::OpenCl) if !library::is_opencl_supported(number) => {
                Some(read::opencl_name(number))
            }
            Def::Set(ExtInstSet::Glsl) if !library::is_glsl_supported(number) => {
                Some(read::glsl_name(number))
            }
            Def::Set(ExtInstSet::Unknown) => {
                Some(format!("instruction {number} of this imported set"))
            }
            _ => None,
        };
    }
    (!is_flow && !emit::is_supported(op)).then(|| read::name(op))
}
