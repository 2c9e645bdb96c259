//! Functions of OpenCL.std and GLSL.std.450, by the builder.
//!
//! A function is a [`Method`]: on scalars, uniform or with a lane for each channel, or on whole
//! arguments. Each file has a family of functions and a table of them. [`find`] searches the
//! tables.

mod common;
mod dpas;
mod float_parts;
mod floats;
mod geometric;
pub(crate) mod glsl;
mod integer;
pub(crate) mod intel_builtins;
mod math;
mod memory;
mod native;
mod print;
mod relational;

use crate::body::BInst;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::read::{self, Id};
use gantry_codegen::ir::{Scalar, Value};
use spirv::OpenclStd100Op as Std;

type One = fn(&mut Emit<'_, '_, '_>, Value) -> Result<Value, Error>;
type Two = fn(&mut Emit<'_, '_, '_>, Value, Value) -> Result<Value, Error>;
type Three = fn(&mut Emit<'_, '_, '_>, Value, Value, Value) -> Result<Value, Error>;
type All = fn(&mut Emit<'_, '_, '_>, &Call<'_>) -> Result<Leaves, Error>;

/// Implementation of a function.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    /// For each scalar of an argument.
    One(One),
    /// For each scalar of two arguments. A scalar argument applies to all.
    Two(Two),
    /// For each scalar of three arguments.
    Three(Three),
    /// For whole arguments.
    All(All),
}

/// Call of a function.
pub(crate) struct Call<'a> {
    pub which: Std,
    pub inst: &'a BInst,
    pub args: &'a [Id],
    /// Operand words, some of which are literals.
    pub words: &'a [u32],
}

/// Implementation of a function of OpenCL.std, if supported.
fn find(which: Std) -> Option<Method> {
    integer::find(which)
        .or_else(|| common::find(which))
        .or_else(|| floats::find(which))
        .or_else(|| geometric::find(which))
        .or_else(|| relational::find(which))
        .or_else(|| memory::find(which))
        .or_else(|| native::find(which))
        .or_else(|| math::find(which))
        .or_else(|| print::find(which))
}

/// Returns true if a function of OpenCL.std is supported.
pub(crate) fn is_opencl_supported(number: u32) -> bool {
    Std::from_u32(number).and_then(find).is_some()
}

/// Returns true if a function of GLSL.std.450 is supported.
pub(crate) fn is_glsl_supported(number: u32) -> bool {
    glsl::is_supported(number)
}

/// Emits a function of OpenCL.std.
pub(crate) fn opencl(
    e: &mut Emit<'_, '_, '_>,
    inst: &BInst,
    number: u32,
    args: &[Id],
) -> Result<Leaves, Error> {
    let unsupported = || Error::unsupported(read::opencl_name(number));
    let which = Std::from_u32(number).ok_or_else(unsupported)?;
    let method = find(which).ok_or_else(unsupported)?;
    if let Method::All(f) = method {
        let words: Vec<u32> = args.iter().map(|a| a.as_u32()).collect();
        let call = Call {
            which,
            inst,
            args,
            words: &words,
        };
        return f(e, &call);
    }
    scalars(e, inst, method, args)
}

/// Emits a function for each scalar.
fn scalars(
    e: &mut Emit<'_, '_, '_>,
    inst: &BInst,
    method: Method,
    args: &[Id],
) -> Result<Leaves, Error> {
    let mut leaves = Vec::new();
    for a in args {
        leaves.push(e.get(*a)?);
    }
    let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
    let mut out = Leaves::new();
    for n in 0..e.m.types.leaves(ty) as usize {
        let leaf = |l: &Leaves| match l.as_slice() {
            [one] => Some(*one),
            many => many.get(n).copied(),
        };
        let mut part: Leaves = leaves
            .iter()
            .map(leaf)
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        e.even(&mut part);
        out.push(match (method, part.as_slice()) {
            (Method::One(f), &[a]) => f(e, a)?,
            (Method::Two(f), &[a, b]) => f(e, a, b)?,
            (Method::Three(f), &[a, b, c]) => f(e, a, b, c)?,
            _ => return Err(wrong()),
        });
    }
    Ok(out)
}

/// Error for arguments of a wrong type.
pub(crate) fn wrong() -> Error {
    Error::malformed("a function of OpenCL.std of what it does not take")
}

impl Emit<'_, '_, '_> {
    pub(crate) fn scalar_of(&self, v: Value) -> Scalar {
        self.b.ty(v).scalar()
    }

    /// Float constant in the type of a value.
    pub(crate) fn float(&mut self, like: Value, number: f64) -> Value {
        let ty = self.b.ty(like);
        self.b.ins().fconst(ty, number)
    }

    pub(crate) fn want_int(&self, v: Value) -> Result<Scalar, Error> {
        Some(self.scalar_of(v))
            .filter(|s| s.is_int())
            .ok_or_else(wrong)
    }

    pub(crate) fn want_float(&self, v: Value) -> Result<Scalar, Error> {
        Some(self.scalar_of(v))
            .filter(|s| s.is_float())
            .ok_or_else(wrong)
    }
}
