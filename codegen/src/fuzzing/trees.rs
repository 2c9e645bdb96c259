//! Expression trees of which only the root has other uses, as lowering folds into one instruction.

use super::generate::Gen;
use crate::ir::{FloatCC, InstData, IntCC, Opcode, Region, Scalar, Type, Value};

/// Maximum depth of an expression.
const DEPTH: u32 = 3;
/// Maximum bytes of a subexpression that is wider than its result.
const MAX_BYTES: u32 = 256;

/// Operations whose operands and result have one type.
const INT_OPS: [Opcode; 14] = [
    Opcode::Iadd,
    Opcode::Isub,
    Opcode::Imul,
    Opcode::Imad,
    Opcode::Ineg,
    Opcode::Iabs,
    Opcode::Band,
    Opcode::Bor,
    Opcode::Bxor,
    Opcode::Bnot,
    Opcode::Ishl,
    Opcode::Smax,
    Opcode::SaddSat,
    Opcode::UaddSat,
];

/// Operations on numbers that may fit words.
const SHORT_OPS: [Opcode; 15] = [
    Opcode::Iadd,
    Opcode::Isub,
    Opcode::Imul,
    Opcode::Band,
    Opcode::Bor,
    Opcode::Bxor,
    Opcode::Ishl,
    Opcode::Sshr,
    Opcode::Ushr,
    Opcode::Smin,
    Opcode::Smax,
    Opcode::Umin,
    Opcode::Umax,
    Opcode::Ineg,
    Opcode::Iabs,
];

/// Operations on extended numbers.
const EXACT_OPS: [Opcode; 8] = [
    Opcode::Iadd,
    Opcode::Isub,
    Opcode::Imul,
    Opcode::Ishl,
    Opcode::Sshr,
    Opcode::Ushr,
    Opcode::Savg,
    Opcode::Uavg,
];
const FLOAT_OPS: [Opcode; 12] = [
    Opcode::Fadd,
    Opcode::Fsub,
    Opcode::Fmul,
    Opcode::Fma,
    Opcode::Fneg,
    Opcode::Fneg,
    Opcode::Fabs,
    Opcode::Fsat,
    Opcode::Fmax,
    Opcode::Ffloor,
    Opcode::Finv,
    Opcode::Fsqrt,
];
const PRED_OPS: [Opcode; 5] = [
    Opcode::Band,
    Opcode::Bor,
    Opcode::Bxor,
    Opcode::Bnot,
    Opcode::Bnot,
];

impl Gen<'_, '_, '_> {
    /// Returns a value of a type from a new expression with single uses, or `None` if none is to be
    /// made here.
    pub(super) fn tree(&mut self, ty: Type) -> Option<Value> {
        if self.depth >= DEPTH || !self.rng.one_in(4) {
            return None;
        }
        self.operation_of(ty)
    }

    /// Returns an operation on expressions whose result is of a type.
    pub(super) fn operation_of(&mut self, ty: Type) -> Option<Value> {
        self.depth += 1;
        let v = match ty.scalar() {
            Scalar::B1 => self.pred_tree(ty),
            s if s.is_float() => self.float_tree(ty),
            _ => self.int_tree(ty),
        };
        self.depth -= 1;
        v
    }

    /// Returns an operation whose operands have the result's type.
    fn same(&mut self, ty: Type, ops: &[Opcode]) -> Option<Value> {
        use crate::ir::opcode::Format;
        let opcode = self.rng.pick(ops)?;
        if self.options.without.contains(&opcode) {
            return None;
        }
        let data = match opcode.info().format {
            Format::Unary => InstData::Unary {
                opcode,
                arg: self.value(ty),
            },
            Format::Binary => InstData::Binary {
                opcode,
                args: [self.value(ty), self.value(ty)],
            },
            _ => InstData::Ternary {
                opcode,
                args: [self.value(ty), self.value(ty), self.value(ty)],
            },
        };
        self.one(data, None)
    }

    fn one(&mut self, data: InstData, ctrl: Option<Type>) -> Option<Value> {
        self.b.ins().raw(data, ctrl).first().copied()
    }

    fn int_tree(&mut self, ty: Type) -> Option<Value> {
        match self.rng.below(8) {
            0 | 1 => self.resized(ty),
            2 => self.part(ty),
            3 => self.chosen(ty),
            4 => self.written(ty),
            5 => self.of_extended(ty),
            _ => self.same(ty, &INT_OPS),
        }
    }

    fn float_tree(&mut self, ty: Type) -> Option<Value> {
        match self.rng.below(8) {
            0 => self.part(ty),
            1 => self.chosen(ty),
            2 => self.written(ty),
            3 if ty.scalar() == Scalar::F32 => {
                let arg = self.value(of(ty, Scalar::F16)?);
                let opcode = Opcode::Fpromote;
                self.one(InstData::Unary { opcode, arg }, Some(ty))
            }
            _ => self.same(ty, &FLOAT_OPS),
        }
    }

    fn pred_tree(&mut self, ty: Type) -> Option<Value> {
        match self.rng.below(4) {
            0 | 1 => self.same(ty, &PRED_OPS),
            2 if self.options.floats => {
                let of = of(ty, self.float())?;
                let args = [self.value(of), self.value(of)];
                let cond = self.rng.pick(&FloatCC::ALL)?;
                let opcode = Opcode::Fcmp;
                self.one(InstData::FloatCompare { opcode, cond, args }, None)
            }
            _ => {
                let of = of(ty, self.int())?;
                let args = [self.value(of), self.value(of)];
                let cond = self.rng.pick(&IntCC::ALL)?;
                let opcode = Opcode::Icmp;
                self.one(InstData::IntCompare { opcode, cond, args }, None)
            }
        }
    }

    /// Returns an extended or truncated number.
    fn resized(&mut self, ty: Type) -> Option<Value> {
        let from = of(ty, self.int())?;
        let opcode = match from.scalar().bytes().cmp(&ty.scalar().bytes()) {
            std::cmp::Ordering::Less => self.rng.pick(&[Opcode::Sextend, Opcode::Uextend])?,
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => self.rng.pick(&[
                Opcode::Ireduce,
                Opcode::SstruncSat,
                Opcode::SutruncSat,
                Opcode::UstruncSat,
                Opcode::UutruncSat,
            ])?,
        };
        let narrows = !matches!(opcode, Opcode::Sextend | Opcode::Uextend);
        let exact = if narrows && self.rng.one_in(2) {
            self.of_extended(from)
        } else {
            None
        };
        let arg = exact.unwrap_or_else(|| self.value(from));
        self.one(InstData::Unary { opcode, arg }, Some(ty))
    }

    /// Returns an operation on extended numbers and small constants, which often has the exact
    /// result.
    fn of_extended(&mut self, ty: Type) -> Option<Value> {
        let opcode = self.rng.pick(&EXACT_OPS)?;
        if self.options.without.contains(&opcode) {
            return None;
        }
        let shifts = matches!(opcode, Opcode::Ishl | Opcode::Sshr | Opcode::Ushr);
        let first = self.extended(ty)?;
        let second = match self.rng.below(3) {
            0 if !shifts => {
                let small = i64::from(self.rng.below(1 << 12)) - (1 << 10);
                self.b.ins().iconst(ty, small)
            }
            1 if opcode == Opcode::Iadd || opcode == Opcode::Isub => {
                let args = [self.extended(ty)?, self.extended(ty)?];
                let opcode = Opcode::Imul;
                self.one(InstData::Binary { opcode, args }, None)?
            }
            _ if shifts => {
                let by = self.rng.below(ty.scalar().bits());
                self.b.ins().iconst(ty, i64::from(by))
            }
            _ => self.extended(ty)?,
        };
        let args = if self.rng.one_in(4) && !shifts {
            [second, first]
        } else {
            [first, second]
        };
        self.one(InstData::Binary { opcode, args }, None)
    }

    /// Generates sums, products, shifts and minima of extended numbers in long vectors. Their
    /// ranges often fit words. The result is compared, truncated, added to others, or stored.
    pub(super) fn short_numbers(&mut self) {
        let lanes = self.rng.pick(&[17, 24, 32, 48, 64]).unwrap_or(32);
        let ty = Type::clamped(Scalar::I32, lanes);
        let Some(mut v) = self.extended(ty) else {
            return;
        };
        for _ in 0..2 + self.rng.below(3) {
            let Some(opcode) = self.rng.pick(&SHORT_OPS) else {
                return;
            };
            if self.options.without.contains(&opcode) {
                continue;
            }
            let shifts = matches!(opcode, Opcode::Ishl | Opcode::Sshr | Opcode::Ushr);
            let other = if shifts || self.rng.one_in(3) {
                let small = self.rng.below(if shifts { 9 } else { 300 });
                Some(self.b.ins().iconst(ty, i64::from(small)))
            } else {
                self.extended(ty)
            };
            let made = match opcode {
                Opcode::Ineg | Opcode::Iabs => self.one(InstData::Unary { opcode, arg: v }, None),
                _ => other.and_then(|w| {
                    let args = [v, w];
                    self.one(InstData::Binary { opcode, args }, None)
                }),
            };
            v = made.unwrap_or(v);
        }
        let out = match self.rng.below(4) {
            0 => self.b.ins().ireduce(Type::clamped(Scalar::I8, lanes), v),
            1 => {
                let other = self.value(ty);
                self.b.ins().iadd(v, other)
            }
            2 if lanes <= Type::FLAG_LANES => {
                let cond = self.rng.pick(&IntCC::ALL).unwrap_or(IntCC::Equal);
                let other = self.extended(ty).unwrap_or(v);
                self.b.ins().icmp(cond, v, other)
            }
            _ => v,
        };
        self.keep(&[out]);
    }

    /// Returns an extended number, or a number of the type if there is none narrower.
    fn extended(&mut self, ty: Type) -> Option<Value> {
        let short = self.rng.pick(&[Scalar::I8, Scalar::I16]);
        let from = match short.filter(|_| !self.rng.one_in(8)) {
            Some(scalar) => of(ty, scalar)?,
            None => of(ty, self.int())?,
        };
        if from.scalar().bytes() >= ty.scalar().bytes() {
            return Some(self.value(ty));
        }
        let opcode = self.rng.pick(&[Opcode::Sextend, Opcode::Uextend])?;
        let arg = self.value(from);
        self.one(InstData::Unary { opcode, arg }, Some(ty))
    }

    /// Reads a strided, scalar or overlapping region of a wider vector.
    pub(super) fn part(&mut self, ty: Type) -> Option<Value> {
        let lanes = ty.lanes();
        let whole = lanes_of(ty, 2 * lanes)?;
        let arg = self.value(whole);
        let size = ty.scalar().bytes() as u16;
        let mut index = None;
        let region = match self.rng.below(5) {
            4 => self.region(whole, lanes, 0, false),
            0 => Region::scalar(size * (lanes as u16 - 1)),
            1 => Region::new(2, 1, 0, size),
            2 => Region::contiguous(lanes as u16, 0),
            _ => {
                index = Some(self.one_element(ty));
                Region::contiguous(lanes as u16, 0)
            }
        };
        let v = self.b.ins().rdregion_at(ty, arg, region, index);
        Some(v)
    }

    /// Selects between two values per lane.
    fn chosen(&mut self, ty: Type) -> Option<Value> {
        let mask = of(ty, Scalar::B1)?;
        let args = [self.value(mask), self.value(ty), self.value(ty)];
        let opcode = Opcode::Select;
        self.one(InstData::Ternary { opcode, args }, None)
    }

    /// Returns a vector with some lanes written, by index or under a mask.
    fn written(&mut self, ty: Type) -> Option<Value> {
        let lanes = ty.lanes();
        let (old, new) = (self.value(ty), self.value(ty));
        if lanes == 1 || self.rng.one_in(2) {
            let mask = self.value(of(ty, Scalar::B1)?);
            let region = Region::contiguous(lanes as u16, 0);
            let v = self.b.ins().wrregion_at(old, region, None, new, Some(mask));
            return Some(v);
        }
        let half = lanes_of(ty, lanes / 2)?;
        let new = self.value(half);
        let index = self.one_element(ty);
        let region = Region::contiguous(half.lanes() as u16, 0);
        let at = Some(index);
        let v = self.b.ins().wrregion_at(old, region, at, new, None);
        Some(v)
    }

    /// Returns an index of zero or one element of a type.
    fn one_element(&mut self, ty: Type) -> Value {
        let i16 = Type::scalar_of(Scalar::I16);
        let any = self.value(i16);
        let size = i64::from(ty.scalar().bytes());
        let bit = self.b.ins().iconst(i16, size);
        self.b.ins().band(any, bit)
    }
}

/// Returns the type with another scalar type, if there is one.
fn of(ty: Type, scalar: Scalar) -> Option<Type> {
    Type::new(scalar, ty.lanes())
}

/// Returns the type with another lane count, if there is one of at most [`MAX_BYTES`] bytes.
fn lanes_of(ty: Type, lanes: u32) -> Option<Type> {
    Type::new(ty.scalar(), lanes).filter(|t| t.bytes() <= MAX_BYTES)
}
