//! Rules on branches, returns and calls.

use super::{ErrorLocation, Verifier};
use crate::ir::text::literal;
use crate::ir::{
    BlockCall, CaseTable, FuncKind, Inst, InstData, MAX_CASES, Scalar, Type, Types, Value,
};
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
                        ErrorLocation::Operand(inst, 0),
                        format!("type clash: `brif` takes a b1, and {cond} is {ty}; `any` or `all` makes one"),
                    );
                }
                self.branch(inst, 1, &dests[0]);
                self.branch(inst, 1 + dests[0].args.len(pool), &dests[1]);
            }
            InstData::Switch { arg, cases, .. } => self.switch(inst, arg, cases),
            InstData::Return { args, .. } => {
                let args = args.as_slice(pool);
                let results = &self.func.sig.results;
                match self.func.kind {
                    FuncKind::Kernel { .. } if !args.is_empty() => {
                        self.error(ErrorLocation::Operand(inst, 0), "a kernel returns nothing");
                    }
                    _ => {
                        self.arguments(inst, 0, args, results, format_args!("the function returns"))
                    }
                }
            }
            InstData::Call { func, args, .. } => {
                let Some(callee) = self.callee(func) else {
                    self.error(
                        ErrorLocation::Inst(inst),
                        "call of a function that does not exist",
                    );
                    return;
                };
                if matches!(callee.kind, FuncKind::Kernel { .. }) {
                    self.error(
                        ErrorLocation::Inst(inst),
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

    fn switch(&mut self, inst: Inst, arg: Value, cases: CaseTable) {
        let func = self.func;
        let cases = func.dfg.cases(cases);
        let ty = self.ty(arg);
        let int = ty.lanes() == 1 && ty.scalar().is_int();
        if !int {
            self.error(
                ErrorLocation::Operand(inst, 0),
                format!("type clash: `switch` takes an i8, i16, i32 or i64, and {arg} is {ty}"),
            );
        }
        let count = cases.values.len();
        if count > MAX_CASES {
            self.error(
                ErrorLocation::Inst(inst),
                format!("{count} cases: a `switch` has {MAX_CASES} at most"),
            );
        }
        let wide = |v: &&u64| int && **v & !ty.scalar().mask() != 0;
        if let Some(v) = cases.values.iter().find(wide) {
            self.error(
                ErrorLocation::Inst(inst),
                format!("the case {} does not fit in {ty}", *v as i64),
            );
        }
        let mut sorted = cases.values.clone();
        sorted.sort_unstable();
        if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
            let value = literal::print(ty.scalar(), two[0]);
            self.error(ErrorLocation::Inst(inst), format!("two cases of {value}"));
        }
        let mut first = 1;
        for dest in &cases.dests {
            self.branch(inst, first, dest);
            first += dest.args.len(&func.dfg.pool);
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
                ErrorLocation::Inst(inst),
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
                    ErrorLocation::Operand(inst, first + n),
                    format!("type clash: {v} is {ty}, and {who} {want} here"),
                );
            }
        }
    }
}
