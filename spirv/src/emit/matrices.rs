//! Matrix operations: products, transpose, determinant and inverse. A matrix is its columns in
//! order.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::types::{Ty, Type};
use crate::read;
use gantry_codegen::ir::Value;
use spirv::Op;

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        MatrixTimesScalar
            | VectorTimesMatrix
            | MatrixTimesVector
            | MatrixTimesMatrix
            | OuterProduct
            | Transpose
    )
}

fn wrong(op: Op) -> Error {
    Error::malformed(format!("{} of what it does not take", read::name(op)))
}

/// Value of a matrix.
pub(crate) struct Matrix {
    pub leaves: Leaves,
    pub columns: usize,
    pub rows: usize,
}

impl Matrix {
    fn at(&self, column: usize, row: usize) -> Option<Value> {
        self.leaves.get(column * self.rows + row).copied()
    }
}

impl Emit<'_, '_, '_> {
    /// Number of columns and rows of a matrix type.
    fn shape(&self, ty: Ty) -> Option<(usize, usize)> {
        match self.m.types.kind(ty) {
            Type::Matrix(column, n) => Some((*n as usize, self.components(*column) as usize)),
            _ => None,
        }
    }

    /// Operand that is a matrix.
    pub(crate) fn matrix_of(&mut self, id: crate::read::Id) -> Result<Matrix, Error> {
        let ty = self.type_of(id)?;
        let none = || Error::malformed("what is no matrix is used as one");
        let (columns, rows) = self.shape(ty).ok_or_else(none)?;
        let mut leaves = self.get(id)?;
        self.even(&mut leaves);
        Ok(Matrix {
            leaves,
            columns,
            rows,
        })
    }

    /// Dot product of two lists of values.
    fn products(&mut self, a: &[Value], b: &[Value]) -> Result<Value, Error> {
        let mut sum: Option<Value> = None;
        for (a, b) in a.iter().zip(b) {
            let mut v = [*a, *b, sum.unwrap_or(*a)];
            self.even(&mut v);
            let [a, b, s] = v;
            if !self.b.ty(a).scalar().is_float() || self.b.ty(a) != self.b.ty(b) {
                return Err(Error::malformed(
                    "a product of what are no floats of one type",
                ));
            }
            sum = Some(match sum {
                None => self.b.ins().fmul(a, b),
                Some(_) => self.b.ins().fma(a, b, s),
            });
        }
        sum.ok_or_else(|| Error::malformed("a product of nothing"))
    }

    pub(super) fn matrix(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let op = inst.op;
        let none = || wrong(op);
        let first = self.operand(inst, 0)?;
        let mut out = Leaves::new();
        match op {
            Op::Transpose => {
                let m = self.matrix_of(first)?;
                for row in 0..m.rows {
                    for column in 0..m.columns {
                        out.push(m.at(column, row).ok_or_else(none)?);
                    }
                }
            }
            Op::MatrixTimesScalar => {
                let m = self.matrix_of(first)?;
                let by = self.operand(inst, 1)?;
                let by = self.one(by)?;
                for v in m.leaves {
                    out.push(self.products(&[v], &[by])?);
                }
            }
            Op::OuterProduct => {
                let second = self.operand(inst, 1)?;
                let (column, row) = (self.get(first)?, self.get(second)?);
                for r in &row {
                    for c in &column {
                        out.push(self.products(&[*c], &[*r])?);
                    }
                }
            }
            Op::MatrixTimesVector | Op::MatrixTimesMatrix => {
                let m = self.matrix_of(first)?;
                let second = self.operand(inst, 1)?;
                let v = self.get(second)?;
                if m.columns == 0 || v.len() % m.columns != 0 {
                    return Err(none());
                }
                for column in v.chunks(m.columns) {
                    for row in 0..m.rows {
                        let of_row: Option<Vec<Value>> =
                            (0..m.columns).map(|c| m.at(c, row)).collect();
                        out.push(self.products(&of_row.ok_or_else(none)?, column)?);
                    }
                }
            }
            Op::VectorTimesMatrix => {
                let second = self.operand(inst, 1)?;
                let (v, m) = (self.get(first)?, self.matrix_of(second)?);
                if m.rows == 0 || v.len() != m.rows {
                    return Err(none());
                }
                for column in m.leaves.chunks(m.rows) {
                    out.push(self.products(&v, column)?);
                }
            }
            _ => return Err(Error::internal("no matrix")),
        }
        Ok(out)
    }

    fn difference(&mut self, a: Value, b: Value, c: Value, d: Value) -> Value {
        let cd = self.b.ins().fmul(c, d);
        let minus = self.b.ins().fneg(cd);
        self.b.ins().fma(a, b, minus)
    }

    /// Determinant of the given columns and rows, by Laplace expansion along the first column.
    fn minor(&mut self, m: &Matrix, columns: &[usize], rows: &[usize]) -> Result<Value, Error> {
        let none = || Error::malformed("a matrix that is not square");
        let at = |c: usize, r: usize| m.at(c, r).ok_or_else(none);
        match (columns, rows) {
            (&[c], &[r]) => at(c, r),
            (&[c, d], &[r, s]) => {
                let (a, b, x, y) = (at(c, r)?, at(d, s)?, at(d, r)?, at(c, s)?);
                Ok(self.difference(a, b, x, y))
            }
            (&[first, ref others @ ..], rows) if rows.len() == columns.len() => {
                let mut sum: Option<Value> = None;
                for (n, r) in rows.iter().enumerate() {
                    let rest: Vec<usize> = rows.iter().copied().filter(|x| x != r).collect();
                    let part = self.minor(m, others, &rest)?;
                    let mut by = at(first, *r)?;
                    if n % 2 == 1 {
                        by = self.b.ins().fneg(by);
                    }
                    sum = Some(match sum {
                        None => self.b.ins().fmul(by, part),
                        Some(s) => self.b.ins().fma(by, part, s),
                    });
                }
                sum.ok_or_else(none)
            }
            _ => Err(none()),
        }
    }

    fn square(m: &Matrix) -> Result<Vec<usize>, Error> {
        if m.columns == m.rows {
            Ok((0..m.rows).collect())
        } else {
            Err(Error::malformed("a matrix that is not square"))
        }
    }

    /// Determinant of a matrix.
    pub(crate) fn determinant(&mut self, m: &Matrix) -> Result<Value, Error> {
        let all = Self::square(m)?;
        self.minor(m, &all, &all)
    }

    /// Inverse of a matrix: its adjugate over the determinant.
    pub(crate) fn inverse(&mut self, m: &Matrix) -> Result<Leaves, Error> {
        let all = Self::square(m)?;
        let determinant = self.minor(m, &all, &all)?;
        let one = self.float(determinant, 1.0);
        let over = self.quotient(one, determinant);
        let mut out = Leaves::new();
        for column in &all {
            for row in &all {
                let columns: Vec<usize> = all.iter().copied().filter(|c| c != row).collect();
                let rows: Vec<usize> = all.iter().copied().filter(|r| r != column).collect();
                let mut v = self.minor(m, &columns, &rows)?;
                if (column + row) % 2 == 1 {
                    v = self.b.ins().fneg(v);
                }
                out.push(self.b.ins().fmul(v, over));
            }
        }
        Ok(out)
    }
}
