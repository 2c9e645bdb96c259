//! Elementary functions of singles and doubles, built from IR operations.
//!
//! They have the accuracy that OpenCL C requires, where the math unit is too coarse. Halves are
//! computed as singles. Each function describes its method; `docs/spirv-math.md` lists the errors.

mod exponential;
mod gamma;
mod kit;
mod power;
mod reduction;
mod trigonometric;
mod vector;

use super::FunctionBuilder;
use crate::ir::{Module, Scalar, Type, Value};
use kit::Kit;
use std::f64::consts::FRAC_1_PI;

/// Builder of float functions: `b.math().exp(x)`. Arguments of one lane are splat to the lanes of
/// others.
#[derive(Debug)]
pub struct Math<'a, 'f> {
    b: &'a mut FunctionBuilder<'f>,
    module: Option<&'a mut Module>,
}

impl<'f> FunctionBuilder<'f> {
    /// Returns a builder of float functions.
    pub fn math(&mut self) -> Math<'_, 'f> {
        Math {
            b: self,
            module: None,
        }
    }

    /// Returns a builder of float functions for a function of this module. Tables may go to the
    /// module's data, which code with large double arguments reads faster than registers.
    pub fn math_in<'a>(&'a mut self, module: &'a mut Module) -> Math<'a, 'f> {
        Math {
            b: self,
            module: Some(module),
        }
    }
}

type K<'k, 'f> = Kit<'k, 'f>;

impl<'f> Math<'_, 'f> {
    /// Returns the scalar type of a float argument. Reports other types.
    #[track_caller]
    fn float(&mut self, name: &str, v: Value) -> Option<Scalar> {
        let ty = self.b.ty(v);
        if ty.scalar().is_float() {
            return Some(ty.scalar());
        }
        self.b
            .error(format!("`{name}` takes floats, and {v} is {ty}"));
        None
    }

    /// Returns an argument as singles or doubles.
    fn wide(&mut self, v: Value) -> Value {
        let ty = self.b.ty(v);
        match ty.scalar() {
            Scalar::F16 => {
                let ty = Type::clamped(Scalar::F32, ty.lanes());
                self.b.ins().fpromote(ty, v)
            }
            _ => v,
        }
    }

    /// Converts a result to the scalar type of the argument.
    fn back(&mut self, v: Value, scalar: Scalar) -> Value {
        match scalar {
            Scalar::F16 => {
                let ty = Type::clamped(Scalar::F16, self.b.ty(v).lanes());
                self.b.ins().fdemote(ty, v)
            }
            _ => v,
        }
    }

    /// Makes the kit of a function, for an argument and its scalar type.
    fn kit(&mut self, like: Value, scalar: Scalar) -> Kit<'_, 'f> {
        let module = self.module.as_deref_mut();
        Kit::new(self.b, module, like, scalar == Scalar::F16)
    }

    #[track_caller]
    fn one(&mut self, name: &str, x: Value, f: fn(&mut K<'_, '_>, Value) -> Value) -> Value {
        let Some(scalar) = self.float(name, x) else {
            return x;
        };
        let x = self.wide(x);
        let v = f(&mut self.kit(x, scalar), x);
        self.back(v, scalar)
    }

    #[track_caller]
    fn two(
        &mut self,
        name: &str,
        (x, y): (Value, Value),
        f: fn(&mut K<'_, '_>, Value, Value) -> Value,
    ) -> Value {
        let (Some(scalar), Some(second)) = (self.float(name, x), self.float(name, y)) else {
            return x;
        };
        if scalar != second {
            let types = (self.b.ty(x), self.b.ty(y));
            self.b.error(format!(
                "`{name}` takes floats of one kind: {x} is {}, and {y} is {}",
                types.0, types.1
            ));
            return x;
        }
        let (x, y) = (self.wide(x), self.wide(y));
        let (x, y) = self.even(x, y);
        let v = f(&mut self.kit(x, scalar), x, y);
        self.back(v, scalar)
    }

    #[track_caller]
    fn whole(
        &mut self,
        name: &str,
        (x, n): (Value, Value),
        f: fn(&mut K<'_, '_>, Value, Value) -> Value,
    ) -> Value {
        let Some(scalar) = self.float(name, x) else {
            return x;
        };
        let ty = self.b.ty(n);
        if ty.scalar() != Scalar::I32 {
            self.b.error(format!(
                "`{name}` takes an exponent of i32, and {n} is {ty}"
            ));
            return x;
        }
        let x = self.wide(x);
        let (x, n) = self.even(x, n);
        let v = f(&mut self.kit(x, scalar), x, n);
        self.back(v, scalar)
    }

    /// Splats the narrower of two values to the lanes of the other.
    #[track_caller]
    fn even(&mut self, x: Value, y: Value) -> (Value, Value) {
        let lanes = self.b.ty(x).lanes().max(self.b.ty(y).lanes());
        (self.b.splat(x, lanes), self.b.splat(y, lanes))
    }

    /// Sine and cosine.
    #[track_caller]
    pub fn sincos(&mut self, x: Value) -> (Value, Value) {
        let Some(scalar) = self.float("sincos", x) else {
            return (x, x);
        };
        let x = self.wide(x);
        let (s, c) = trigonometric::sin_cos(&mut self.kit(x, scalar), x);
        (self.back(s, scalar), self.back(c, scalar))
    }

    /// Returns the logarithm of the gamma function's magnitude, and its sign as `i32`: 1, -1, or 0
    /// if there is none.
    #[track_caller]
    pub fn lgamma_r(&mut self, x: Value) -> (Value, Value) {
        let Some(scalar) = self.float("lgamma_r", x) else {
            return (x, x);
        };
        let x = self.wide(x);
        let (v, sign) = gamma::lgamma(&mut self.kit(x, scalar), x);
        (self.back(v, scalar), sign)
    }

    /// Checks that components have one float type and lane count. Returns them as singles or
    /// doubles.
    #[track_caller]
    fn components(&mut self, name: &str, v: &[Value]) -> Option<(Vec<Value>, Scalar)> {
        let Some(&first) = v.first() else {
            self.b.error(format!("`{name}` of no components"));
            return None;
        };
        let scalar = self.float(name, first)?;
        let lanes = v.iter().map(|c| self.b.ty(*c).lanes()).max().unwrap_or(1);
        let mut out = Vec::with_capacity(v.len());
        for &c in v {
            let ty = self.b.ty(c);
            if ty.scalar() != scalar {
                self.b.error(format!(
                    "`{name}` takes floats of one kind: {first} is of {scalar}, and {c} is {ty}"
                ));
                return None;
            }
            let c = self.b.splat(c, lanes);
            out.push(self.wide(c));
        }
        Some((out, scalar))
    }

    /// Returns the length of a vector of these components, whose squares may overflow or underflow.
    #[track_caller]
    pub fn length(&mut self, v: &[Value]) -> Value {
        let Some((all, scalar)) = self.components("length", v) else {
            return self.b.placeholder(Type::scalar_of(Scalar::F32));
        };
        let Some(&first) = all.first() else {
            return self.b.placeholder(Type::scalar_of(Scalar::F32));
        };
        let r = vector::length(&mut self.kit(first, scalar), first, &all);
        self.back(r, scalar)
    }

    /// Returns the components of the unit vector of the same direction. A zero vector is unchanged.
    #[track_caller]
    pub fn normalize(&mut self, v: &[Value]) -> Vec<Value> {
        let Some((all, scalar)) = self.components("normalize", v) else {
            return v.to_vec();
        };
        let Some(&first) = all.first() else {
            return v.to_vec();
        };
        let all = vector::normalize(&mut self.kit(first, scalar), first, all);
        all.into_iter().map(|c| self.back(c, scalar)).collect()
    }
}

macro_rules! functions {
    ($form:ident $this:ident $params:tt $args:expr; $($(#[doc = $doc:literal])+ $name:ident = $f:expr;)+) => {
        impl Math<'_, '_> {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $name $params -> Value {
                    $this.$form(stringify!($name), $args, $f)
                }
            )+
        }
    };
}

functions! { one self (&mut self, x: Value) x;
    /// `e^x`.
    exp = exponential::exp;
    /// `2^x`; of singles and halves by the math unit.
    exp2 = exponential::exp2;
    /// `10^x`.
    exp10 = exponential::exp10;
    /// `e^x - 1`.
    expm1 = exponential::expm1;
    /// The natural logarithm.
    log = exponential::log;
    /// The logarithm to base 2.
    log2 = exponential::log2;
    /// The logarithm to base 10.
    log10 = exponential::log10;
    /// `log(1 + x)`.
    log1p = exponential::log1p;
    /// Hyperbolic sine.
    sinh = exponential::sinh;
    /// Hyperbolic cosine.
    cosh = exponential::cosh;
    /// Hyperbolic tangent.
    tanh = exponential::tanh;
    /// Inverse hyperbolic sine.
    asinh = exponential::asinh;
    /// Inverse hyperbolic cosine.
    acosh = exponential::acosh;
    /// Inverse hyperbolic tangent.
    atanh = exponential::atanh;
    /// Sine of radians.
    sin = |k, x| trigonometric::sin_cos(k, x).0;
    /// Cosine of radians.
    cos = |k, x| trigonometric::sin_cos(k, x).1;
    /// Tangent of radians.
    tan = trigonometric::tan;
    /// `sin(pi x)`.
    sinpi = |k, x| trigonometric::in_turns(k, x).0;
    /// `cos(pi x)`.
    cospi = |k, x| trigonometric::in_turns(k, x).1;
    /// `tan(pi x)`.
    tanpi = trigonometric::tanpi;
    /// Arcsine, in radians.
    asin = trigonometric::asin;
    /// Arccosine, in radians.
    acos = trigonometric::acos;
    /// Arctangent, in radians.
    atan = trigonometric::atan;
    /// `asin(x) / pi`.
    asinpi = |k, x| in_turns(k, x, trigonometric::asin);
    /// `acos(x) / pi`.
    acospi = |k, x| in_turns(k, x, trigonometric::acos);
    /// `atan(x) / pi`.
    atanpi = |k, x| in_turns(k, x, trigonometric::atan);
    /// The cube root.
    cbrt = power::cbrt;
    /// `1 / sqrt(x)`; of singles and halves by the math unit.
    rsqrt = power::rsqrt;
    /// The error function.
    erf = gamma::erf;
    /// `1 - erf(x)`.
    erfc = gamma::erfc;
    /// The gamma function.
    tgamma = gamma::tgamma;
    /// The logarithm of the gamma function's magnitude.
    lgamma = |k, x| gamma::lgamma(k, x).0;
}

functions! { two self (&mut self, x: Value, y: Value) (x, y);
    /// `x^y`.
    pow = power::pow;
    /// `x^y` for non-negative `x`.
    powr = power::powr;
    /// `sqrt(x^2 + y^2)`.
    hypot = power::hypot;
}

functions! { two self (&mut self, y: Value, x: Value) (y, x);
    /// The angle of the point `(x, y)`, in radians.
    atan2 = trigonometric::atan2;
    /// `atan2(y, x) / pi`.
    atan2pi = |k, y, x| {
        let v = trigonometric::atan2(k, y, x);
        k.times(v, FRAC_1_PI)
    };
}

functions! { whole self (&mut self, x: Value, n: Value) (x, n);
    /// `x^n` for `n` of `i32`.
    pown = power::pown;
    /// `x^(1/n)` for `n` of `i32`.
    rootn = power::rootn;
}

/// Converts the angle of an inverse function to half turns.
fn in_turns(k: &mut K<'_, '_>, x: Value, f: fn(&mut K<'_, '_>, Value) -> Value) -> Value {
    let v = f(k, x);
    k.times(v, FRAC_1_PI)
}
