//! Values with methods and operators, and variables.

use super::KernelBuilder;
use crate::ir::builder::{FunctionBuilder, Variable};
use crate::ir::{FloatCC, IntCC, Region, Scalar, Type, Value};
use std::fmt;
use std::panic::Location;

/// Value with operators: of integers (signed where it matters), floats, or predicates.
///
/// An operand of one lane is splat to the lanes of the other. A Rust number is a constant of the
/// other operand's type. Unsigned forms are methods.
#[derive(Clone, Copy)]
pub struct Val<'k> {
    pub(super) k: &'k KernelBuilder,
    pub(super) v: Value,
}

impl fmt::Debug for Val<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.v.fmt(f)
    }
}

/// Variable, assigned in the enabled channels.
#[derive(Clone, Copy)]
pub struct Var<'k> {
    pub(super) k: &'k KernelBuilder,
    pub(super) var: Variable,
}

impl fmt::Debug for Var<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.var.fmt(f)
    }
}

/// Second operand of an operation: a value, or a number for all lanes.
pub trait Operand<'k> {
    /// Converts it to an operand with the type of `other`, splat if it has one lane.
    #[track_caller]
    fn beside(self, other: Val<'k>) -> Val<'k>;
}

impl<'k> Operand<'k> for Val<'k> {
    #[track_caller]
    fn beside(self, other: Val<'k>) -> Val<'k> {
        self.widened(other.ty().lanes())
    }
}

macro_rules! number {
    ($make:ident as $wide:ty: $($of:ty),+) => {$(
        impl<'k> Operand<'k> for $of {
            #[track_caller]
            fn beside(self, other: Val<'k>) -> Val<'k> {
                other.k.$make(other.ty(), <$wide>::from(self))
            }
        }
    )+};
}

number!(int as i64: i32, u32, i64);
number!(float as f64: f32, f64);

impl<'k> Var<'k> {
    /// Returns its current value.
    #[track_caller]
    pub fn get(self) -> Val<'k> {
        self.k.val(|b| b.use_var(self.var))
    }

    /// Assigns it; in the enabled channels only, if it has a lane for each.
    #[track_caller]
    pub fn set(self, value: Val<'k>) {
        self.k.say(|b| b.def_var(self.var, value.v));
    }
}

impl<'k> Val<'k> {
    /// Returns the value of the underlying [`FunctionBuilder`].
    pub fn value(self) -> Value {
        self.v
    }

    /// Returns its type.
    #[track_caller]
    pub fn ty(self) -> Type {
        let none = Type::scalar_of(Scalar::B1);
        self.k
            .run((Location::caller(), true), none, |b| b.ty(self.v))
    }

    pub(super) fn is_float(self) -> bool {
        self.ty().scalar().is_float()
    }

    /// Splats it to `lanes` lanes if it has one. The instruction that uses it reports errors.
    #[track_caller]
    pub(super) fn widened(self, lanes: u32) -> Val<'k> {
        if self.ty().lanes() == 1 && lanes > 1 {
            self.splat(lanes)
        } else {
            self
        }
    }

    /// Copies its one lane to every lane.
    #[track_caller]
    pub fn splat(self, lanes: u32) -> Val<'k> {
        self.k.val(|b| b.splat(self.v, lanes))
    }

    /// Makes a value from it by the underlying builder: `x.map(|b, v| b.ins().bfrev(v))`.
    pub fn map(self, make: impl FnOnce(&mut FunctionBuilder<'static>, Value) -> Value) -> Val<'k> {
        self.k.with(|b| make(b, self.v))
    }

    /// Makes a value from it by the underlying builder, on behalf of the caller.
    #[track_caller]
    fn by(self, make: impl FnOnce(&mut FunctionBuilder<'static>, Value) -> Value) -> Val<'k> {
        self.k.val(|b| make(b, self.v))
    }

    /// Makes a value from this, splat to the lanes of the other operand, and that operand.
    #[track_caller]
    pub(super) fn op(
        self,
        other: impl Operand<'k>,
        make: impl FnOnce(&mut FunctionBuilder<'static>, Value, Value) -> Value,
    ) -> Val<'k> {
        let other = other.beside(self);
        let this = self.widened(other.ty().lanes());
        self.k.val(|b| make(b, this.v, other.v))
    }

    #[track_caller]
    fn compare(self, other: impl Operand<'k>, int: IntCC, float: FloatCC) -> Val<'k> {
        let is_float = self.is_float();
        self.op(other, |b, x, y| {
            if is_float {
                b.ins().fcmp(float, x, y)
            } else {
                b.ins().icmp(int, x, y)
            }
        })
    }

    /// Selects lanes of `a` where this predicate is set, else of `b`.
    #[track_caller]
    pub fn select(self, a: impl Operand<'k>, b: Val<'k>) -> Val<'k> {
        let b = b.widened(self.ty().lanes());
        let a = a.beside(b);
        self.k.val(|x| x.ins().select(self.v, a.v, b.v))
    }

    /// Computes `self * b + c`, rounded once.
    #[track_caller]
    pub fn fma(self, b: impl Operand<'k>, c: Val<'k>) -> Val<'k> {
        let c = c.widened(self.ty().lanes());
        let a = self.widened(c.ty().lanes());
        let b = b.beside(a);
        self.k.val(|x| x.ins().fma(a.v, b.v, c.v))
    }

    /// Returns the absolute value.
    #[track_caller]
    pub fn abs(self) -> Val<'k> {
        let float = self.is_float();
        self.by(|b, x| {
            if float {
                b.ins().fabs(x)
            } else {
                b.ins().iabs(x)
            }
        })
    }

    /// Returns the minimum of signed integers or of floats.
    #[track_caller]
    pub fn min(self, other: impl Operand<'k>) -> Val<'k> {
        let float = self.is_float();
        self.op(other, |b, x, y| {
            if float {
                b.ins().fmin(x, y)
            } else {
                b.ins().smin(x, y)
            }
        })
    }

    /// Returns the maximum of signed integers or of floats.
    #[track_caller]
    pub fn max(self, other: impl Operand<'k>) -> Val<'k> {
        let float = self.is_float();
        self.op(other, |b, x, y| {
            if float {
                b.ins().fmax(x, y)
            } else {
                b.ins().smax(x, y)
            }
        })
    }

    /// Returns the square root, computed by the math unit.
    #[track_caller]
    pub fn sqrt(self) -> Val<'k> {
        self.by(|b, x| b.ins().fsqrt(x))
    }

    /// Returns the type with another scalar type.
    fn of(self, scalar: Scalar) -> Type {
        Type::clamped(scalar, self.ty().lanes())
    }

    /// Sign-extends integers.
    #[track_caller]
    pub fn sextend(self, to: Scalar) -> Val<'k> {
        let ty = self.of(to);
        self.by(|b, x| b.ins().sextend(ty, x))
    }

    /// Zero-extends integers.
    #[track_caller]
    pub fn uextend(self, to: Scalar) -> Val<'k> {
        let ty = self.of(to);
        self.by(|b, x| b.ins().uextend(ty, x))
    }

    /// Truncates integers to the low bits.
    #[track_caller]
    pub fn ireduce(self, to: Scalar) -> Val<'k> {
        let ty = self.of(to);
        self.by(|b, x| b.ins().ireduce(ty, x))
    }

    /// Converts signed integers to floats.
    #[track_caller]
    pub fn to_float(self, to: Scalar) -> Val<'k> {
        let ty = self.of(to);
        self.by(|b, x| b.ins().fcvt_from_sint(ty, x))
    }

    /// Converts floats to signed integers, rounding toward zero.
    #[track_caller]
    pub fn to_int(self, to: Scalar) -> Val<'k> {
        let ty = self.of(to);
        self.by(|b, x| b.ins().fcvt_to_sint(ty, x))
    }

    /// Reinterprets the bits as another type of the same size.
    #[track_caller]
    pub fn bitcast(self, ty: Type) -> Val<'k> {
        self.by(|b, x| b.ins().bitcast(ty, x))
    }

    /// Extracts one lane.
    #[track_caller]
    pub fn lane(self, lane: u32) -> Val<'k> {
        self.by(|b, x| b.lane(x, lane))
    }

    /// Extracts consecutive lanes from lane `first`.
    #[track_caller]
    pub fn slice(self, first: u32, lanes: u32) -> Val<'k> {
        self.by(|b, x| b.slice(x, first, lanes))
    }

    /// Reads a region of `lanes` lanes, optionally at an index in bytes (`i16`).
    #[track_caller]
    pub fn region(self, lanes: u32, region: Region, index: impl Into<Option<Val<'k>>>) -> Val<'k> {
        let ty = Type::clamped(self.ty().scalar(), lanes);
        let index = index.into().map(|i| i.v);
        self.by(|b, x| b.ins().rdregion_at(ty, x, region, index))
    }

    /// Replaces a region, optionally at an index in bytes (`i16`).
    #[track_caller]
    pub fn with_region(
        self,
        region: Region,
        index: impl Into<Option<Val<'k>>>,
        new: Val<'k>,
    ) -> Val<'k> {
        let index = index.into().map(|i| i.v);
        self.by(|b, x| b.ins().wrregion_at(x, region, index, new.v, None))
    }
}

macro_rules! compares {
    ($($(#[doc = $doc:literal])+ $name:ident $int:ident $float:ident;)+) => {
        impl<'k> Val<'k> {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $name(self, other: impl Operand<'k>) -> Val<'k> {
                    self.compare(other, IntCC::$int, FloatCC::$float)
                }
            )+
        }
    };
}

compares! {
    /// Compares for equality.
    eq Equal Equal;
    /// Compares for inequality.
    ne NotEqual NotEqual;
    /// Compares for less; integers are signed.
    lt SignedLessThan LessThan;
    /// Compares for less or equal; integers are signed.
    le SignedLessThanOrEqual LessThanOrEqual;
    /// Compares for greater; integers are signed.
    gt SignedGreaterThan GreaterThan;
    /// Compares for greater or equal; integers are signed.
    ge SignedGreaterThanOrEqual GreaterThanOrEqual;
    /// Compares for less; integers are unsigned.
    ult UnsignedLessThan LessThan;
    /// Compares for less or equal; integers are unsigned.
    ule UnsignedLessThanOrEqual LessThanOrEqual;
    /// Compares for greater; integers are unsigned.
    ugt UnsignedGreaterThan GreaterThan;
    /// Compares for greater or equal; integers are unsigned.
    uge UnsignedGreaterThanOrEqual GreaterThanOrEqual;
}

macro_rules! binary {
    ($($(#[doc = $doc:literal])+ $name:ident $op:ident;)+) => {
        impl<'k> Val<'k> {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $name(self, other: impl Operand<'k>) -> Val<'k> {
                    self.op(other, |b, x, y| b.ins().$op(x, y))
                }
            )+
        }
    };
}

binary! {
    /// Divides unsigned integers.
    udiv udiv;
    /// Returns the remainder of unsigned integers.
    urem urem;
    /// Shifts integers right, with zeros shifted in.
    ushr ushr;
    /// Rotates integers left.
    rotl rotl;
    /// Rotates integers right.
    rotr rotr;
    /// Returns the minimum of unsigned integers.
    umin umin;
    /// Returns the maximum of unsigned integers.
    umax umax;
}

macro_rules! math {
    ($($name:ident)+) => {
        impl<'k> Val<'k> {
            $(
                #[doc = concat!("[`Math::", stringify!($name), "`](crate::ir::builder::Math::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self) -> Val<'k> {
                    self.by(|b, x| b.math().$name(x))
                }
            )+
        }
    };
    ($($name:ident)+, $second:ident) => {
        impl<'k> Val<'k> {
            $(
                #[doc = concat!("[`Math::", stringify!($name), "`](crate::ir::builder::Math::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self, $second: impl Operand<'k>) -> Val<'k> {
                    self.op($second, |b, x, y| b.math().$name(x, y))
                }
            )+
        }
    };
}

math! {
    exp exp2 exp10 expm1 log log2 log10 log1p sinh cosh tanh asinh acosh atanh sin cos tan sinpi cospi tanpi asin acos atan asinpi acospi atanpi
    cbrt rsqrt erf erfc tgamma lgamma
}

math! { pow powr, exponent }
math! { hypot, other }
math! { atan2 atan2pi, x }

impl<'k> Val<'k> {
    /// Returns sine and cosine: [`Math::sincos`](crate::ir::builder::Math::sincos).
    #[track_caller]
    pub fn sincos(self) -> (Val<'k>, Val<'k>) {
        let mut cosine = self.v;
        let sine = self.by(|b, x| {
            let (s, c) = b.math().sincos(x);
            cosine = c;
            s
        });
        let k = self.k;
        (sine, Val { k, v: cosine })
    }

    /// Raises to a whole power: [`Math::pown`](crate::ir::builder::Math::pown).
    #[track_caller]
    pub fn pown(self, n: Val<'k>) -> Val<'k> {
        self.by(|b, x| b.math().pown(x, n.v))
    }
}
