//! The functions of OpenCL.std with floats: their arguments, their limits in OpenCL C's table of the full profile, and what they are.

mod elementary;
mod exact;

use crate::ulp::dd::Dd;
use crate::ulp::number::{Real, Type};
use spirv::OpenclStd100Op as Std;

/// What an argument or a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Float,
    /// Of 32 bits.
    Int,
    /// Of as many bits as the floats have.
    Bits,
    /// A pointer.
    OutFloat,
    OutInt,
}

impl Kind {
    /// Whether it is a float, and its bits.
    pub fn of(self, ty: Type) -> (bool, u32) {
        match self {
            Kind::Float | Kind::OutFloat => (true, ty.bits()),
            Kind::Int | Kind::OutInt => (false, 32),
            Kind::Bits => (false, ty.bits()),
        }
    }
}

/// Numbers to ask for beside any and special ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    Any,
    /// Between two numbers, in hundreds.
    Within(i32, i32),
    /// Powers that are in range.
    Power,
    /// Powers by whole numbers.
    WholePower,
    Root,
    /// Several numbers of about the same exponent.
    Near,
}

/// What a function is of numbers, and what it stores.
type Meant = fn(&[f64], Type) -> (Real, Real);

/// A function.
pub struct Function {
    pub name: &'static str,
    pub op: Std,
    pub arguments: &'static [Kind],
    pub result: Kind,
    /// The largest error in ulp, by type: none where it is not said.
    pub limits: [Option<f64>; 3],
    pub draw: Draw,
    /// By doubles, for halves and singles.
    pub plain: Meant,
    /// For doubles.
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

/// A function of finer numbers where it has an ordinary value; else what doubles say.
fn fine(plain: f64, ordinary: bool, f: impl FnOnce() -> Real) -> (Real, Real) {
    if ordinary { alone(f()) } else { alone(plain) }
}

fn finite(a: &[f64]) -> bool {
    a.iter().all(|a| a.is_finite() && *a != 0.0)
}

/// A row with what it is for any type.
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
