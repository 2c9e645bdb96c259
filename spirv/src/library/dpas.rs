//! Products of matrices of a sub-group (`cl_intel_subgroup_matrix_multiply_accumulate`), and singles of 19 bits, of which some are.
//!
//! A work-item has a column of the second matrix, and a part of each row of the first one: as many bytes of it as the row has for each work-item. So the lanes
//! of a component of either are a run of registers as the systolic array reads them.

use super::wrong;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::read::Id;
use gantry_codegen::ir::{DpasShape, DpasTypes, Factor, FloatCC, Scalar, Value};

/// A product: the kinds of the factors of rows and columns, and how many of them are summed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Product {
    rows: Factor,
    columns: Factor,
    summed: u32,
}

/// The kind of a factor by its name.
fn factor(name: &str) -> Option<Factor> {
    Some(match name {
        "u2" => Factor::U2,
        "i2" => Factor::S2,
        "u4" => Factor::U4,
        "i4" => Factor::S4,
        "u8" => Factor::U8,
        "i8" => Factor::S8,
        "f16" => Factor::F16,
        "bf16" => Factor::Bf16,
        "tf32" => Factor::Tf32,
        _ => return None,
    })
}

/// A product by the function's name: `intel_sub_group_i8_u8_matrix_mad_k32`, `intel_sub_group_tf32_tf32_matrix_mad_k8_f32`.
pub(super) fn find(name: &str) -> Option<Product> {
    let rest = name.strip_prefix("intel_sub_group_")?;
    let (kinds, summed) = rest.split_once("_matrix_mad_k")?;
    let (rows, columns) = kinds.split_once('_')?;
    let (rows, columns) = (factor(rows)?, factor(columns)?);
    let summed = match columns {
        Factor::Tf32 => summed.strip_suffix("_f32").unwrap_or(summed),
        _ => summed,
    };
    Some(Product {
        rows,
        columns,
        summed: summed.parse().ok()?,
    })
}

/// Emits a product: rows, columns, what is added to.
pub(super) fn call(e: &mut Emit<'_, '_, '_>, p: Product, args: &[Id]) -> Result<Leaves, Error> {
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

/// The components of a value one after the other, a lane for each work-item.
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

/// Bits of a single that one of 19 bits lacks.
const LOST: u64 = 0x1fff;

/// The single of 19 bits that is nearest to a single, as a doubleword whose other bits are zeros; of two the even one.
pub(super) fn round_to_tf32(e: &mut Emit<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    let ty = e.b.ty(v);
    if ty.scalar() != Scalar::F32 {
        return Err(wrong());
    }
    let ints = e.lanes(Scalar::I32, ty.lanes());
    let bits = e.b.ins().bitcast(ints, v);
    // More than half of what is lost carries, and half if the last bit that is kept is set.
    let by = e.same(bits, 13);
    let odd = e.b.ins().ushr(bits, by);
    let one = e.same(bits, 1);
    let odd = e.b.ins().band(odd, one);
    let half = e.same(bits, LOST >> 1);
    let up = e.b.ins().iadd(bits, half);
    let up = e.b.ins().iadd(up, odd);
    // A NaN stays one.
    let quiet = e.same(bits, 0x0040_0000);
    let nan = e.b.ins().bor(bits, quiet);
    let is_nan = e.b.ins().fcmp(FloatCC::NotEqual, v, v);
    let all = e.b.ins().select(is_nan, nan, up);
    let kept = e.same(bits, !LOST);
    Ok(e.b.ins().band(all, kept))
}

/// The single that a doubleword with one of 19 bits is.
pub(super) fn of_tf32(e: &mut Emit<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    let ty = e.b.ty(v);
    if ty.scalar() != Scalar::I32 {
        return Err(wrong());
    }
    let single = e.lanes(Scalar::F32, ty.lanes());
    Ok(e.b.ins().bitcast(single, v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_multiplied() {
        let product = |rows, columns, summed| {
            Some(Product {
                rows,
                columns,
                summed,
            })
        };
        let found = [
            ("i8_u8_matrix_mad_k32", product(Factor::S8, Factor::U8, 32)),
            ("u4_i8_matrix_mad_k32", product(Factor::U4, Factor::S8, 32)),
            (
                "bf16_bf16_matrix_mad_k16",
                product(Factor::Bf16, Factor::Bf16, 16),
            ),
            (
                "tf32_tf32_matrix_mad_k8_f32",
                product(Factor::Tf32, Factor::Tf32, 8),
            ),
            ("i8_i8_split_matrix_mad_k32", None),
            ("f16_f16_matrix_mad_k16_f32", None),
            ("i8_matrix_mad_k32", None),
            ("i8_i8_matrix_mad_k", None),
        ];
        for (name, want) in found {
            assert_eq!(find(&format!("intel_sub_group_{name}")), want, "{name}");
        }
        assert_eq!(find("i8_i8_matrix_mad_k32"), None);
    }
}
