//! Rules on classes and types of operands, types of results, and conversions.

use super::{ErrorLocation, Verifier};
use crate::ir::opcode::{Class, Info, Out};
use crate::ir::{Inst, InstData, Opcode, Scalar, Type, Types, Value, result_types};

/// Returns true if a type is in a class.
fn is_of(class: Class, ty: Type) -> bool {
    match class {
        Class::None | Class::Any => true,
        Class::Int => ty.scalar().is_int(),
        Class::I32 => ty.scalar() == Scalar::I32,
        Class::Float => ty.scalar().is_float(),
        Class::Pred => ty.is_pred(),
        Class::Bits => ty.scalar().is_int() || ty.is_pred(),
        Class::Data => !ty.is_pred(),
    }
}

/// Returns the name of a class in messages.
fn name_of(class: Class) -> &'static str {
    match class {
        Class::None | Class::Any => "anything",
        Class::Int => "integers",
        Class::I32 => "32-bit integers",
        Class::Float => "floats",
        Class::Pred => "a predicate",
        Class::Bits => "integers or a predicate",
        Class::Data => "integers or floats",
    }
}

impl Verifier<'_> {
    pub(super) fn types(&mut self, inst: Inst, data: &InstData) {
        let opcode = data.opcode();
        let Info { class, out, .. } = *opcode.info();
        self.result_types(inst, data, out);
        match *data {
            InstData::Unary { arg, .. } => {
                self.class(inst, 0, arg, class);
                if out == Out::Ctrl {
                    self.conversion(inst, opcode, arg);
                }
            }
            InstData::Binary {
                opcode: Opcode::Shuffle,
                args,
            } => {
                self.class(inst, 0, args[0], class);
                self.class(inst, 1, args[1], Class::Int);
                self.fits(inst, args);
            }
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. } => {
                self.class(inst, 0, args[0], class);
                self.same(inst, &args, 0);
                if opcode == Opcode::FdemoteStochastic {
                    self.conversion(inst, opcode, args[0]);
                }
                if out == Out::Lanes {
                    self.compare_lanes(inst, args[0]);
                }
            }
            InstData::Ternary {
                opcode: Opcode::Select,
                args,
            } => {
                self.class(inst, 0, args[0], Class::Pred);
                self.same(inst, &args, 1);
            }
            InstData::Ternary { args, .. } => {
                self.class(inst, 0, args[0], class);
                self.same(inst, &args, 0);
            }
            InstData::RdPred { arg, .. } => self.class(inst, 0, arg, class),
            InstData::WrPred { args, .. } => {
                self.class(inst, 0, args[0], class);
                self.class(inst, 1, args[1], class);
            }
            _ => {}
        }
        self.widths(inst, data);
    }

    fn class(&mut self, inst: Inst, n: usize, v: Value, class: Class) {
        let ty = self.ty(v);
        if !is_of(class, ty) {
            let (opcode, name) = (self.data(inst).opcode(), name_of(class));
            self.error(
                ErrorLocation::Operand(inst, n),
                format!("type clash: `{opcode}` takes {name}, and {v} is {ty}"),
            );
        }
    }

    /// Checks that the operands from the `first` on have one type.
    fn same(&mut self, inst: Inst, args: &[Value], first: usize) {
        let mut rest = args.iter().enumerate().skip(first);
        let Some((_, &lead)) = rest.next() else {
            return;
        };
        let want = self.ty(lead);
        for (n, &v) in rest {
            let ty = self.ty(v);
            if ty != want {
                self.error(
                    ErrorLocation::Operand(inst, n),
                    format!("type clash: {v} is {ty}, and {lead} is {want}"),
                );
            }
        }
    }

    /// Checks that a vector of the requested number of lanes exists.
    fn fits(&mut self, inst: Inst, [v, by]: [Value; 2]) {
        let (of, lanes) = (self.ty(v), self.ty(by).lanes());
        if Type::new(of.scalar(), lanes).is_none() {
            self.error(
                ErrorLocation::Operand(inst, 1),
                format!(
                    "{lanes} lanes of {} are more than the register file holds",
                    of.scalar()
                ),
            );
        }
    }

    fn compare_lanes(&mut self, inst: Inst, v: Value) {
        let ty = self.ty(v);
        if ty.with_scalar(Scalar::B1).is_none() {
            self.error(
                ErrorLocation::Operand(inst, 0),
                format!(
                    "a predicate has at most {} lanes, and {v} is {ty}",
                    Type::MAX_PRED_LANES
                ),
            );
        }
    }

    /// Rejects scalar types that an operation does not support.
    fn widths(&mut self, inst: Inst, data: &InstData) {
        let (opcode, ty) = match *data {
            InstData::Unary { opcode, arg } => (opcode, self.ty(arg)),
            InstData::Binary { opcode, args } => (opcode, self.ty(args[0])),
            InstData::Ternary { opcode, args } => (opcode, self.ty(args[0])),
            _ => return,
        };
        let wrong = match opcode {
            Opcode::SmulWide | Opcode::UmulWide => ty.scalar() == Scalar::I64,
            Opcode::Flrp => ty.scalar() != Scalar::F32,
            // Library functions compute these in double precision.
            Opcode::Fexp2 | Opcode::Flog2 | Opcode::Fsin | Opcode::Fcos | Opcode::Fpow => {
                ty.scalar() == Scalar::F64
            }
            _ => false,
        };
        if wrong {
            self.error(
                ErrorLocation::Operand(inst, 0),
                format!("type clash: there is no `{opcode}` of {ty}"),
            );
        }
        let twice = matches!(opcode, Opcode::SmulWide | Opcode::UmulWide);
        if let (true, false, Some(to)) = (twice, wrong, self.result(inst)) {
            let wide = to.scalar().is_int() && to.scalar().bits() == 2 * ty.scalar().bits();
            if !wide || to.lanes() != ty.lanes() {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!(
                        "type clash: `{opcode}` of {ty} gives integers twice as wide, of as many lanes, not {to}"
                    ),
                );
            }
        }
    }

    /// Checks number and types of results.
    fn result_types(&mut self, inst: Inst, data: &InstData, out: Out) {
        let dfg = &self.func.dfg;
        let have = dfg.results(inst);
        // Other result types depend on at most the first two operands.
        let (mut args, mut count) = ([None; 2], 0);
        if !matches!(out, Out::None | Out::Ctrl | Out::One) {
            data.for_each_arg(dfg, |v| {
                if let Some(arg) = args.get_mut(count) {
                    *arg = Some(dfg.ty(v));
                }
                count += 1;
            });
        }
        let want = result_types(
            data.opcode(),
            have.first().map(|&v| dfg.ty(v)),
            |n| args.get(n).copied().flatten(),
            |f| {
                let callee = self.callee(f);
                callee.map_or(Types::new(), |f| Types::from_slice(&f.sig.results))
            },
            data,
        );
        if have.len() != want.len() {
            self.error(
                ErrorLocation::Inst(inst),
                format!(
                    "`{}` has {} results, not {}",
                    data.opcode(),
                    want.len(),
                    have.len()
                ),
            );
            return;
        }
        for (&v, &w) in have.iter().zip(&want) {
            let h = dfg.ty(v);
            if h != w {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("type clash: {v} is {h}, and `{}` gives {w}", data.opcode()),
                );
            }
        }
    }

    /// Checks that a result type matches the operand's.
    fn conversion(&mut self, inst: Inst, opcode: Opcode, arg: Value) {
        let (from, Some(to)) = (self.ty(arg), self.result(inst)) else {
            return;
        };
        let (f, t) = (from.scalar(), to.scalar());
        let (wider, narrower) = (t.bits() > f.bits(), t.bits() < f.bits());
        let lanes = from.lanes() == to.lanes();
        let (ok, what) = match opcode {
            Opcode::Sextend | Opcode::Uextend => (
                lanes && t.is_int() && wider,
                "wider integers of as many lanes",
            ),
            Opcode::Ireduce => (
                lanes && t.is_int() && narrower,
                "narrower integers of as many lanes",
            ),
            Opcode::SstruncSat | Opcode::SutruncSat | Opcode::UstruncSat | Opcode::UutruncSat => (
                lanes && t.is_int() && narrower,
                "narrower integers of as many lanes",
            ),
            op if op.name().starts_with("fcvt_from_") => {
                (lanes && t.is_float(), "floats of as many lanes")
            }
            op if op.name().starts_with("fcvt_to_") => {
                (lanes && t.is_int(), "integers of as many lanes")
            }
            Opcode::Fpromote => (
                lanes && t.is_float() && wider,
                "wider floats of as many lanes",
            ),
            Opcode::FdemoteBf16Rte => (
                lanes && f == Scalar::F32 && t == Scalar::I16,
                "i16 of as many lanes, of singles",
            ),
            Opcode::FdemoteTf32Rte => (
                lanes && f == Scalar::F32 && t == Scalar::I32,
                "i32 of as many lanes, of singles",
            ),
            Opcode::FdemoteBf8Rte => (
                lanes && f == Scalar::F16 && t == Scalar::I8,
                "i8 of as many lanes, of halves",
            ),
            Opcode::FpromoteBf8 => (
                lanes && f == Scalar::I8 && t == Scalar::F16,
                "f16 of as many lanes, of bytes",
            ),
            Opcode::FdemoteStochastic => (
                lanes
                    && matches!(
                        (f, t),
                        (Scalar::F32, Scalar::F16) | (Scalar::F16, Scalar::I8)
                    ),
                "f16 of singles or i8 of halves, of as many lanes",
            ),
            Opcode::Fdemote
            | Opcode::FdemoteRte
            | Opcode::FdemoteRtz
            | Opcode::FdemoteRtp
            | Opcode::FdemoteRtn => (
                lanes && t.is_float() && narrower,
                "narrower floats of as many lanes",
            ),
            Opcode::Bitcast => (
                from.bytes() == to.bytes() && !to.is_pred(),
                "integers or floats of as many bytes",
            ),
            Opcode::PredToBits => (
                to == Type::scalar_of(Scalar::I32) && from.lanes() <= Type::FLAG_LANES,
                if from.lanes() <= Type::FLAG_LANES {
                    "i32"
                } else {
                    "i32, from up to 32 lanes"
                },
            ),
            Opcode::BitsToPred => (
                from.lanes() == 1 && to.is_pred() && to.lanes() <= Type::FLAG_LANES,
                "a predicate of up to 32 lanes, from one i32",
            ),
            _ => (true, ""),
        };
        if !ok {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` of {from} gives {what}, not {to}"),
            );
        }
    }
}
