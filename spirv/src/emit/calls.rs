//! Calls of functions that are not inlined, with their entries and returns.
//!
//! The first parameter is the mask of active channels. Leaves of SPIR-V parameters follow. A
//! parameter has a lane for each channel if any call passes it so, else one lane. Results have a
//! lane for each channel.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::inline_policy;
use crate::module::{Func, Module};
use crate::prepared::PreparedFunction;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::{self, FuncRef, Scalar};

/// Functions that can be called, with their divergent parameters.
#[derive(Default)]
pub(super) struct Callees(SecondaryMap<Func, Option<(FuncRef, Vec<u32>)>>);

impl Callees {
    pub fn insert(&mut self, prepared: &PreparedFunction, function: FuncRef) {
        self.0[prepared.func] = Some((function, prepared.divergent.clone()));
    }
}

/// Creates an empty IR function for a called function.
pub(super) fn subroutine(
    m: &Module<'_>,
    function: &PreparedFunction,
    kernel: &str,
    simd: u32,
) -> ir::Function {
    let data = m.funcs.get(function.func);
    let id = data.map_or(0, |d| d.id.as_u32());
    let name = data.and_then(|d| m.name(d.id)).unwrap_or_default();
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        _ => '_',
    };
    let name: String = name.chars().map(plain).collect();
    let mut name = format!("{kernel}.{name}.{id}");
    while m.entries.iter().any(|e| e.name == name) {
        name.push('_');
    }
    let result = function.body.result.map(|(_, ty)| m.types.scalars(ty));
    let scalars = result.iter().flatten().map(|(ty, _)| m.types.scalar(*ty));
    let types = scalars.map(|s| ir::Type::clamped(s.unwrap_or(Scalar::I32), simd));
    ir::Function::subroutine(name, &types.collect::<Vec<_>>())
}

impl Emit<'_, '_, '_> {
    /// Receives the parameters of a called function.
    pub(super) fn parameters(&mut self, divergent: &[u32]) {
        let mask = self.lanes(Scalar::B1, self.simd);
        let mask = self.b.param(mask);
        self.b.set_exec_mask(mask);
        self.begin_constant_data();
        for (n, (id, ty)) in (0u32..).zip(&self.body.params) {
            let lanes = match divergent.binary_search(&n) {
                Ok(_) => self.simd,
                Err(_) => 1,
            };
            let mut leaves = Leaves::new();
            for (ty, _) in self.m.types.scalars(*ty) {
                match self.scalar(ty) {
                    Ok(scalar) => {
                        let ty = self.lanes(scalar, lanes);
                        leaves.push(self.b.param(ty));
                    }
                    Err(e) => self.error(e, 0, 0, Some(*id)),
                }
            }
            self.set(*id, &leaves);
        }
        self.begin_private();
    }

    /// Returns true for calls of functions with a body, as opposed to library functions.
    pub(super) fn is_of_the_kernel(&self, inst: &BInst) -> bool {
        let callee = inline_policy::callee(self.m, self.body.operands(inst));
        callee.is_ok_and(|(_, data)| !data.blocks.is_empty())
    }

    /// Emits a call.
    pub(super) fn call(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let words = self.body.operands(inst);
        let (func, _) = inline_policy::callee(self.m, words)?;
        let callees = self.callees;
        let Some((function, divergent)) = &callees.0[func] else {
            return Err(Error::internal(
                "a call of what is no function of the kernel",
            ));
        };
        let mut args = vec![self.b.exec_mask()];
        for n in 0..words.len().saturating_sub(1) {
            let leaves = self.get(self.operand(inst, n + 1)?)?;
            for leaf in leaves {
                let has_lanes = divergent.binary_search(&(n as u32)).is_ok();
                match (has_lanes, self.b.ty(leaf).lanes()) {
                    (true, _) => args.push(self.b.splat(leaf, self.simd)),
                    (false, 1) => args.push(leaf),
                    (false, _) => {
                        let what = "a uniform parameter of what is not uniform";
                        return Err(Error::internal(what));
                    }
                }
            }
        }
        let mut types = Vec::new();
        if let Some(result) = inst.ty.expand() {
            for (ty, _) in self.m.types.scalars(result) {
                types.push(self.lanes(self.scalar(ty)?, self.simd));
            }
        }
        let results = self.b.ins().call(*function, &types, &args);
        Ok(Leaves::from_slice(&results))
    }

    /// Returns from the kernel or function. The result is undefined if the return is not `reached`.
    pub(super) fn leave_function(&mut self, reached: bool) -> Result<(), Error> {
        let mut out = Leaves::new();
        if let Some((id, ty)) = self.body.result {
            if reached {
                for leaf in self.get(id)? {
                    out.push(self.b.splat(leaf, self.simd));
                }
            } else {
                for (ty, _) in self.m.types.scalars(ty) {
                    let ty = self.lanes(self.scalar(ty)?, self.simd);
                    out.push(self.b.ins().undef(ty));
                }
            }
        }
        self.b.ins().return_(&out);
        Ok(())
    }
}
