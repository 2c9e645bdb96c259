//! Sub-group matrix products (`cl_intel_subgroup_matrix_multiply_accumulate`), and the 19-bit TF32
//! format of some operands.
//!
//! A work-item holds a column of the second matrix, and a slice of each row of the first. The slice
//! has the bytes of the row divided by the sub-group size. So the lanes of a component of either
//! matrix are consecutive registers, as the systolic array reads them.

use super::wrong;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::intel_builtins::MatrixProduct;
use crate::read::Id;
use gantry_codegen::ir::{DpasShape, DpasTypes, FloatCC, Scalar, Value};

/// Emits a product. Arguments are rows, columns and accumulator.
pub(super) fn call(
    e: &mut Emit<'_, '_, '_>,
    p: MatrixProduct,
    args: &[Id],
) -> Result<Leaves, Error> {
    let [rows, columns, acc] = *args else {
        return Err(wrong());
    };
    let repeat = e.get(acc)?.len();
    let rows = run(e, rows)?;
    let columns = run(e, columns)?;
    let acc = run(e, acc)?;
    let whole = |e: &mut Emit<'_, '_, '_>, v: Value| -> Result<Value, Error> {
        let bytes = e.b.ty(v).bytes();
        if !bytes.is_multiple_of(Scalar::I32.bytes()) {
            return Err(wrong());
        }
        let ty = e.lanes(Scalar::I32, bytes / Scalar::I32.bytes());
        Ok(if e.b.ty(v) == ty {
            v
        } else {
            e.b.ins().bitcast(ty, v)
        })
    };
    let (rows, columns) = (whole(e, rows)?, whole(e, columns)?);
    let shape = DpasShape {
        columns: p.columns,
        rows: p.rows,
        repeat: u8::try_from(repeat).map_err(|_| wrong())?,
    };
    let result = e.b.ty(acc);
    let types = DpasTypes {
        acc: result,
        columns: e.b.ty(columns),
        rows: e.b.ty(rows),
        result,
    };
    let unsupported = |what: String| {
        let simd = e.simd;
        Error::unsupported(format!(
            "in sub-groups of {simd} a product of matrices ({what})"
        ))
    };
    let op = shape.operation(&types).map_err(unsupported)?;
    if u32::from(op.depth) * op.factors() != p.summed {
        return Err(wrong());
    }
    let all = e.b.ins().dpas(result, shape, acc, columns, rows);
    let simd = e.simd;
    let sums = (0..repeat as u32).map(|n| e.b.slice(all, n * simd, simd));
    Ok(sums.collect())
}

/// Concatenates the components of a value, with a lane for each work-item.
fn run(e: &mut Emit<'_, '_, '_>, id: Id) -> Result<Value, Error> {
    let simd = e.simd;
    let mut values = e.get(id)?;
    for v in &mut values {
        *v = e.b.splat(*v, simd);
    }
    let first = *values.first().ok_or_else(wrong)?;
    let scalar = e.b.ty(first).scalar();
    let alike = values.iter().all(|v| e.b.ty(*v).scalar() == scalar);
    if scalar == Scalar::B1 || !alike {
        return Err(wrong());
    }
    Ok(e.join(scalar, &values, simd))
}

/// Low bits of a single that TF32 lacks.
const LOST: u64 = 0x1fff;

/// Rounds a single to TF32, to nearest even, as a dword whose low bits are zero.
pub(super) fn round_to_tf32(e: &mut Emit<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    let ty = e.b.ty(v);
    if ty.scalar() != Scalar::F32 {
        return Err(wrong());
    }
    let ints = e.lanes(Scalar::I32, ty.lanes());
    let bits = e.b.ins().bitcast(ints, v);
    // Carries if the dropped bits exceed half, or equal it and the last kept bit is set.
    let by = e.same(bits, 13);
    let odd = e.b.ins().ushr(bits, by);
    let one = e.same(bits, 1);
    let odd = e.b.ins().band(odd, one);
    let half = e.same(bits, LOST >> 1);
    let up = e.b.ins().iadd(bits, half);
    let up = e.b.ins().iadd(up, odd);
    // Keeps NaN.
    let quiet = e.same(bits, 0x0040_0000);
    let nan = e.b.ins().bor(bits, quiet);
    let is_nan = e.b.ins().fcmp(FloatCC::NotEqual, v, v);
    let all = e.b.ins().select(is_nan, nan, up);
    let kept = e.same(bits, !LOST);
    Ok(e.b.ins().band(all, kept))
}

/// Converts TF32 in a dword to a single.
pub(super) fn of_tf32(e: &mut Emit<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    let ty = e.b.ty(v);
    if ty.scalar() != Scalar::I32 {
        return Err(wrong());
    }
    let single = e.lanes(Scalar::F32, ty.lanes());
    Ok(e.b.ins().bitcast(single, v))
}
