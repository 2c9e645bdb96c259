//! Random matrix products.

use super::generate::Gen;
use crate::ir::systolic::MOST_ROWS;
use crate::ir::{DpasShape, Factor, Scalar, Type};

impl Gen<'_, '_, '_> {
    pub(super) fn dpas(&mut self) {
        let Some(channels) = self.options.systolic else {
            return;
        };
        let floats = self.options.floats && self.rng.one_in(2);
        let mut kinds = Factor::ALL.to_vec();
        // Not every platform with a systolic array has TF32.
        kinds.retain(|k| k.is_float() == floats && (*k != Factor::Tf32 || channels == 16));
        let columns = self.rng.pick(&kinds).unwrap_or(Factor::S8);
        let rows = if floats {
            columns
        } else {
            self.rng.pick(&kinds).unwrap_or(Factor::S8)
        };
        let most = if self.rng.one_in(4) { MOST_ROWS } else { 2 };
        let shape = DpasShape {
            columns,
            rows,
            repeat: 1 + self.rng.below(most.into()) as u8,
        };
        let lanes = u32::from(shape.repeat) * u32::from(channels);
        let [mut acc, result] = [(); 2].map(|()| Type::clamped(self.sum(columns), lanes));
        if self.options.runnable && result.scalar().is_int() {
            // Avoids the accumulator: the unspecified sign of a NaN would be visible in the bits of
            // the sum.
            acc = result;
        }
        let [columns, rows] = shape.operand_lanes(channels);
        let [acc, columns, rows] = [
            acc,
            Type::clamped(Scalar::I32, columns),
            Type::clamped(Scalar::I32, rows),
        ]
        .map(|ty| self.value(ty));
        let v = self.b.ins().dpas(result, shape, acc, columns, rows);
        self.keep(&[v]);
    }

    /// Returns the scalar type of the accumulator for a factor type.
    fn sum(&mut self, kind: Factor) -> Scalar {
        let narrow = self.rng.one_in(3);
        match kind {
            Factor::F16 if narrow => Scalar::F16,
            Factor::Bf16 if narrow => Scalar::I16,
            _ if kind.is_float() => Scalar::F32,
            _ => Scalar::I32,
        }
    }
}
