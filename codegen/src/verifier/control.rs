//! Branches, returns, calls.

use super::{Place, Verifier};
use crate::ir::{BlockCall, FuncKind, Inst, InstData, Scalar, Type, Types, Value};
use std::fmt::Arguments;

impl Verifier<'_> {
    pub(super) fn control(&mut self, inst: Inst) {
        let pool = &self.func.dfg.pool;
        match *self.data(inst) {
            InstData::Jump { ref dest, .. } => self.branch(inst, 0, dest),
            InstData::Brif {
                cond, ref dests, ..
            } => {
                let ty = self.ty(cond);
                if ty != Type::scalar_of(Scalar::B1) {
                    self.error(
                        Place::Operand(inst, 0),
                        format!("type clash: `brif` takes a b1, and {cond} is {ty}; `any` or `all` makes one"),
                    );
                }
                self.branch(inst, 1, &dests[0]);
                self.branch(inst, 1 + dests[0].args.len(pool), &dests[1]);
            }
            InstData::Return { args, .. } => {
                let args = args.as_slice(pool);
                let results = &self.func.sig.results;
                match self.func.kind {
                    FuncKind::Kernel { .. } if !args.is_empty() => {
                        self.error(Place::Operand(inst, 0), "a kernel returns nothing");
                    }
                    _ => {
                        self.arguments(inst, 0, args, results, format_args!("the function returns"))
                    }
                }
            }
            InstData::Call { func, args, .. } => {
                let Some(callee) = self.callee(func) else {
                    self.error(Place::Inst(inst), "call of a function that does not exist");
                    return;
                };
                if matches!(callee.kind, FuncKind::Kernel { .. }) {
                    self.error(
                        Place::Inst(inst),
                        format!("%{} is a kernel: it cannot be called", callee.name),
                    );
                    return;
                }
                let params: Types = callee.sig.params.iter().map(|p| p.ty).collect();
                let args = args.as_slice(pool);
                let who = format_args!("%{} takes", callee.name);
                self.arguments(inst, 0, args, &params, who);
            }
            _ => {}
        }
    }

    fn branch(&mut self, inst: Inst, first: usize, dest: &BlockCall) {
        let dfg = &self.func.dfg;
        let params: Types = dfg
            .block_params(dest.block)
            .iter()
            .map(|&v| dfg.ty(v))
            .collect();
        let args = dest.args.as_slice(&dfg.pool);
        self.arguments(
            inst,
            first,
            args,
            &params,
            format_args!("{} takes", dest.block),
        );
    }

    fn arguments(
        &mut self,
        inst: Inst,
        first: usize,
        args: &[Value],
        params: &[Type],
        who: Arguments<'_>,
    ) {
        if args.len() != params.len() {
            self.error(
                Place::Inst(inst),
                format!(
                    "{who} {} value{}, and {} {} given",
                    params.len(),
                    if params.len() == 1 { "" } else { "s" },
                    args.len(),
                    if args.len() == 1 { "is" } else { "are" },
                ),
            );
            return;
        }
        for (n, (&v, &want)) in args.iter().zip(params).enumerate() {
            let ty = self.ty(v);
            if ty != want {
                self.error(
                    Place::Operand(inst, first + n),
                    format!("type clash: {v} is {ty}, and {who} {want} here"),
                );
            }
        }
    }
}
