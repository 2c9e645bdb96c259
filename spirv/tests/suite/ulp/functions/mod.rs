//! Float functions of OpenCL.std: arguments, error limits of OpenCL C's full profile, and reference
//! values.

mod elementary;
mod exact;

use crate::ulp::dd::Dd;
use crate::ulp::number::{Real, Type};
use spirv::OpenclStd100Op as Std;

/// Kind of an argument or a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Float,
    /// 32-bit integer.
    Int,
    /// Integer of the width of the floats.
    Bits,
    /// Pointer.
    OutFloat,
    OutInt,
}

impl Kind {
    /// True for a float, and width in bits.
    pub fn of(self, ty: Type) -> (bool, u32) {
        match self {
            Kind::Float | Kind::OutFloat => (true, ty.bits()),
            Kind::Int | Kind::OutInt => (false, 32),
            Kind::Bits => (false, ty.bits()),
        }
    }
}

/// Distribution of arguments besides random and special ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    Any,
    /// Between two numbers, in hundreds.
    Within(i32, i32),
    /// Powers in range.
    Power,
    /// Integer powers.
    WholePower,
    Root,
    /// Numbers with similar exponents.
    Near,
}

/// Reference values of a function: its result, and what it stores.
type Meant = fn(&[f64], Type) -> (Real, Real);

/// Function with its reference.
pub struct Function {
    pub name: &'static str,
    pub op: Std,
    pub arguments: &'static [Kind],
    pub result: Kind,
    /// Maximum error in ulp by type. `None` if unspecified.
    pub limits: [Option<f64>; 3],
    pub draw: Draw,
    /// Reference in doubles, for halves and singles.
    pub plain: Meant,
    /// Reference for doubles.
    pub fine: Meant,
}

const NONE: Real = Real {
    v: Dd(0.0, 0.0),
    e: 0,
};

fn alone(v: impl Into<Real>) -> (Real, Real) {
    (v.into(), NONE)
}

fn scaled((v, e): (Dd, i32)) -> Real {
    Real { v, e }
}

/// Double-double reference for ordinary results, else that in doubles.
fn fine(plain: f64, ordinary: bool, f: impl FnOnce() -> Real) -> (Real, Real) {
    if ordinary { alone(f()) } else { alone(plain) }
}

fn finite(a: &[f64]) -> bool {
    a.iter().all(|a| a.is_finite() && *a != 0.0)
}

/// Row of a function with one reference for all types.
macro_rules! row {
    ($op:ident($($kind:ident),*) -> $result:ident, $limit:expr, $draw:expr, $f:expr) => {
        Function {
            name: stringify!($op),
            op: Std::$op,
            arguments: &[$(Kind::$kind),*],
            result: Kind::$result,
            limits: $limit,
            draw: $draw,
            plain: $f,
            fine: $f,
        }
    };
}

const fn limits(half: f64, float: f64, double: f64) -> [Option<f64>; 3] {
    [Some(half), Some(float), Some(double)]
}

const EXACT: [Option<f64>; 3] = limits(0.0, 0.0, 0.0);
const ROUNDED: [Option<f64>; 3] = limits(0.5, 0.5, 0.5);
const UNSAID: [Option<f64>; 3] = [None, None, None];
const WIDE: Draw = Draw::Any;
const ROOM: Draw = Draw::Within(-80_000, 80_000);
const UNIT: Draw = Draw::Within(-100, 100);

pub fn all() -> Vec<Function> {
    let mut v = elementary::of_one();
    v.extend(elementary::of_two());
    v.extend(elementary::geometric());
    v.extend(exact::parts());
    v.extend(exact::others());
    v
}

use row;
