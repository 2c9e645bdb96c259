//! Shapes of the matrix products of the systolic array (`dpas`).

use super::immediate::{Immediate, Keyed};
use super::opcode::Opcode;
use super::text::{Parser, Res};
use super::types::{Scalar, Type};
use gantry_isa_gen::Type as GenType;
use gantry_isa_gen::diag::Diagnostic;
use gantry_isa_gen::sem::dpas::Dpas;

/// Systolic depth. Each step multiplies a dword of a column, or a part of one.
const DEPTH: u8 = 8;

/// Maximum number of rows of a product (repeat count).
pub const MOST_ROWS: u8 = 8;

gantry_isa_gen::named_enum! {
    /// Element type of the factors.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Factor {
        /// Unsigned integers of 2 bits.
        U2 = "u2",
        /// Signed integers of 2 bits.
        S2 = "s2",
        /// Unsigned integers of 4 bits.
        U4 = "u4",
        /// Signed integers of 4 bits.
        S4 = "s4",
        /// Unsigned bytes.
        U8 = "u8",
        /// Signed bytes.
        S8 = "s8",
        /// Halves.
        F16 = "f16",
        /// bfloat16: upper halves of singles.
        Bf16 = "bf16",
        /// TF32: singles of which the upper 19 bits count.
        Tf32 = "tf32",
    }
}

impl Factor {
    /// Returns true for floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Factor::F16 | Factor::Bf16 | Factor::Tf32)
    }

    /// Returns the type of the instruction's operand.
    pub const fn gen_type(self) -> GenType {
        match self {
            Factor::U2 => GenType::U2,
            Factor::S2 => GenType::S2,
            Factor::U4 => GenType::U4,
            Factor::S4 => GenType::S4,
            Factor::U8 => GenType::Ub,
            Factor::S8 => GenType::B,
            Factor::F16 => GenType::Hf,
            Factor::Bf16 => GenType::Bf,
            Factor::Tf32 => GenType::Tf32,
        }
    }

    /// Returns the type of an accumulator with lanes of a scalar type; `None` if none such exists.
    /// `i16` lanes hold bfloat16.
    fn sum(self, scalar: Scalar) -> Option<GenType> {
        match (self, scalar) {
            (Factor::F16 | Factor::Bf16 | Factor::Tf32, Scalar::F32) => Some(GenType::F),
            (Factor::F16, Scalar::F16) => Some(GenType::Hf),
            (Factor::Bf16, Scalar::I16) => Some(GenType::Bf),
            (f, Scalar::I32) if !f.is_float() => Some(GenType::D),
            _ => None,
        }
    }
}

/// Shape of a `dpas`: a matrix of rows times one with a column per channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DpasShape {
    /// Element type of columns.
    pub columns: Factor,
    /// Element type of rows.
    pub rows: Factor,
    /// Number of rows (repeat count): 1 to 8.
    pub repeat: u8,
}

/// Text: `s8 u8 rows 4`.
impl Immediate for DpasShape {
    fn print(&self, out: &mut String) {
        let (columns, rows) = (self.columns.name(), self.rows.name());
        out.push_str(&format!("{columns} {rows} rows {}", self.repeat));
    }

    fn parse(p: &mut Parser<'_>, _: Opcode, _: &str) -> Res<DpasShape> {
        let what = "the kind of a factor";
        let columns = p.choice(&Factor::ALL, Factor::name, what)?;
        let rows = p.choice(&Factor::ALL, Factor::name, what)?;
        let span = p.span();
        let Ok(repeat) = u8::try_from(p.number_after("rows")?) else {
            let what = format!("a product has {MOST_ROWS} rows at most");
            return Err(Diagnostic::new(span, what));
        };
        Ok(DpasShape {
            columns,
            rows,
            repeat,
        })
    }
}

impl Keyed for DpasShape {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        let DpasShape {
            columns,
            rows,
            repeat,
        } = *self;
        w(&[columns as u8, rows as u8, repeat]);
    }
}

/// Types of the values of a `dpas`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DpasTypes {
    /// Accumulator.
    pub acc: Type,
    /// Columns.
    pub columns: Type,
    /// Rows.
    pub rows: Type,
    /// Result.
    pub result: Type,
}

impl DpasShape {
    /// Returns the hardware operation for values of these types.
    ///
    /// # Errors
    /// Returns a sentence that says why there is none.
    pub fn operation(&self, types: &DpasTypes) -> Result<Dpas, String> {
        let DpasShape {
            columns,
            rows,
            repeat,
        } = *self;
        if !(1..=MOST_ROWS).contains(&repeat) {
            return Err(format!("{repeat} rows: there are 1 to {MOST_ROWS}"));
        }
        if columns.is_float() != rows.is_float() || columns.is_float() && columns != rows {
            let (a, b) = (columns.name(), rows.name());
            return Err(format!(
                "`{a}` and `{b}` are not multiplied with each other"
            ));
        }
        let lanes = types.result.lanes();
        let channels = if lanes.is_multiple_of(repeat.into()) {
            lanes / u32::from(repeat)
        } else {
            0
        };
        if !matches!(channels, 8 | 16) {
            let ty = types.result;
            return Err(format!("{ty} is not {repeat} rows of 8 or 16 lanes"));
        }
        let sum = |ty: Type| {
            let of = columns.sum(ty.scalar()).filter(|_| ty.lanes() == lanes);
            of.ok_or_else(|| {
                let name = columns.name();
                format!("type clash: {lanes} sums of products of `{name}` are not {ty}")
            })
        };
        let d = Dpas {
            depth: DEPTH,
            repeat,
            channels: channels as u8,
            dst: sum(types.result)?,
            src0: Some(sum(types.acc)?),
            src1: columns.gen_type(),
            src2: rows.gen_type(),
        };
        for (what, have, bytes) in [
            ("columns", types.columns, d.src1_bytes()),
            ("rows", types.rows, d.src2_bytes()),
        ] {
            if have.scalar() != Scalar::I32 || have.bytes() != bytes {
                let want = bytes / Scalar::I32.bytes();
                return Err(format!("type clash: the {what} are i32x{want}, not {have}"));
            }
        }
        Ok(d)
    }

    /// Returns the dwords of the columns and of the rows, for `channels` channels.
    pub const fn operand_lanes(&self, channels: u8) -> [u32; 2] {
        let d = Dpas {
            depth: DEPTH,
            repeat: self.repeat,
            channels,
            dst: GenType::D,
            src0: None,
            src1: self.columns.gen_type(),
            src2: self.rows.gen_type(),
        };
        [d.src1_bytes() / 4, d.src2_bytes() / 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(scalar: Scalar, lanes: u32) -> Type {
        Type::new(scalar, lanes).unwrap()
    }

    fn shape(columns: Factor, rows: Factor, repeat: u8) -> DpasShape {
        DpasShape {
            columns,
            rows,
            repeat,
        }
    }

    /// Rows have as many elements as columns, so operands are as long as matrices of that size.
    #[test]
    fn operands_hold_the_matrices() {
        // Columns, rows, elements that are summed, bits of each in a column and a row.
        for (a, b, k, [x, y]) in [
            (Factor::S8, Factor::U8, 32, [8, 8]),
            (Factor::F16, Factor::F16, 16, [16, 16]),
            (Factor::Bf16, Factor::Bf16, 16, [16, 16]),
            (Factor::Tf32, Factor::Tf32, 8, [32, 32]),
            (Factor::S4, Factor::U4, 64, [4, 4]),
            (Factor::S2, Factor::U2, 64, [2, 2]),
            (Factor::S4, Factor::S2, 64, [4, 2]),
            (Factor::S8, Factor::U4, 32, [8, 4]),
            (Factor::U2, Factor::S8, 32, [2, 8]),
        ] {
            for repeat in 1..=MOST_ROWS {
                for channels in [8u8, 16] {
                    let n = u32::from(channels);
                    let want = [n * k * x / 32, u32::from(repeat) * k * y / 32];
                    let s = shape(a, b, repeat);
                    assert_eq!(s.operand_lanes(channels), want, "{s:?} {channels}");
                    let sums = if a.is_float() {
                        Scalar::F32
                    } else {
                        Scalar::I32
                    };
                    let sums = ty(sums, u32::from(repeat) * n);
                    let types = DpasTypes {
                        acc: sums,
                        columns: ty(Scalar::I32, want[0]),
                        rows: ty(Scalar::I32, want[1]),
                        result: sums,
                    };
                    assert!(s.operation(&types).is_ok());
                }
            }
        }
    }

    #[test]
    fn rejects_operands_that_do_not_fit() {
        let good = DpasTypes {
            acc: ty(Scalar::F32, 16),
            columns: ty(Scalar::I32, 64),
            rows: ty(Scalar::I32, 16),
            result: ty(Scalar::F16, 16),
        };
        let half = shape(Factor::F16, Factor::F16, 2);
        let said = |s: DpasShape, t: &DpasTypes| s.operation(t).map(|_| ());
        assert_eq!(said(half, &good), Ok(()));
        let cases = [
            (shape(Factor::F16, Factor::F16, 9), good, "9 rows"),
            (shape(Factor::F16, Factor::F16, 0), good, "0 rows"),
            (shape(Factor::F16, Factor::Bf16, 2), good, "not multiplied"),
            (shape(Factor::F16, Factor::S8, 2), good, "not multiplied"),
            (shape(Factor::F16, Factor::F16, 3), good, "is not 3 rows"),
            (shape(Factor::F16, Factor::F16, 8), good, "is not 8 rows"),
            (shape(Factor::S8, Factor::S8, 2), good, "not f16x16"),
            (shape(Factor::Bf16, Factor::Bf16, 2), good, "not f16x16"),
            (
                half,
                DpasTypes {
                    acc: ty(Scalar::F32, 8),
                    ..good
                },
                "not f32x8",
            ),
            (
                half,
                DpasTypes {
                    rows: ty(Scalar::I32, 8),
                    ..good
                },
                "rows are i32x16",
            ),
            (
                half,
                DpasTypes {
                    columns: ty(Scalar::F32, 64),
                    ..good
                },
                "columns are i32x64",
            ),
        ];
        for (s, t, what) in cases {
            let e = said(s, &t).unwrap_err();
            assert!(e.contains(what), "{e}: {what}");
        }
    }
}
