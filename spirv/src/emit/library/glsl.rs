//! GLSL.std.450: functions of OpenCL.std where they are equal or more exact, others here.

use super::{Call, Method, wrong};
use crate::body::BInst;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::read::{self, Id};
use gantry_codegen::ir::{FloatCC, IntCC, Scalar, Value};
use spirv::{GlslStd450Op as Glsl, OpenclStd100Op as Std};

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

/// Equivalent function of OpenCL.std.
fn same(which: Glsl) -> Option<Std> {
    use Glsl as G;
    Some(match which {
        // `Round` allows ties to even.
        G::Round | G::RoundEven => Std::rint,
        G::Trunc => Std::trunc,
        G::FAbs => Std::fabs,
        G::SAbs => Std::s_abs,
        G::FSign => Std::sign,
        G::Floor => Std::floor,
        G::Ceil => Std::ceil,
        G::Radians => Std::radians,
        G::Degrees => Std::degrees,
        G::Sin => Std::sin,
        G::Cos => Std::cos,
        G::Tan => Std::tan,
        G::Asin => Std::asin,
        G::Acos => Std::acos,
        G::Atan => Std::atan,
        G::Sinh => Std::sinh,
        G::Cosh => Std::cosh,
        G::Tanh => Std::tanh,
        G::Asinh => Std::asinh,
        G::Acosh => Std::acosh,
        G::Atanh => Std::atanh,
        G::Atan2 => Std::atan2,
        G::Pow => Std::pow,
        G::Exp => Std::exp,
        G::Log => Std::log,
        G::Exp2 => Std::exp2,
        G::Log2 => Std::log2,
        G::Sqrt => Std::sqrt,
        G::FMin | G::NMin => Std::fmin,
        G::FMax | G::NMax => Std::fmax,
        G::UMin => Std::u_min,
        G::SMin => Std::s_min,
        G::UMax => Std::u_max,
        G::SMax => Std::s_max,
        G::FClamp | G::NClamp => Std::fclamp,
        G::UClamp => Std::u_clamp,
        G::SClamp => Std::s_clamp,
        G::FMix => Std::mix,
        G::Step => Std::step,
        G::SmoothStep => Std::smoothstep,
        G::Fma => Std::fma,
        G::Ldexp => Std::ldexp,
        G::Length => Std::length,
        G::Distance => Std::distance,
        G::Cross => Std::cross,
        G::Normalize => Std::normalize,
        G::Modf => Std::modf,
        G::Frexp => Std::frexp,
        _ => return None,
    })
}

/// Functions without equivalent.
fn own(which: Glsl) -> Option<Method> {
    use Glsl as G;
    use Method::{All, One};
    Some(match which {
        G::SSign => One(|e, a| {
            e.want_int(a)?;
            let (one, minus) = (e.same(a, 1), e.same(a, u64::MAX));
            let v = e.b.ins().smax(a, minus);
            Ok(e.b.ins().smin(v, one))
        }),
        G::Fract => One(|e, a| {
            e.want_float(a)?;
            let whole = e.b.ins().ffloor(a);
            Ok(e.b.ins().fsub(a, whole))
        }),
        G::InverseSqrt => One(|e, a| {
            e.want_float(a)?;
            let root = e.root(a);
            let one = e.float(a, 1.0);
            Ok(e.quotient(one, root))
        }),
        G::FindILsb => One(|e, a| {
            e.want_int(a)?;
            let v = e.b.ins().ctz(a);
            none_if_zero(e, a, v)
        }),
        G::FindUMsb => One(|e, a| {
            e.want_int(a)?;
            top(e, a)
        }),
        G::FindSMsb => One(|e, a| {
            // For negative numbers, the highest zero bit.
            let bits = e.want_int(a)?.bits();
            let by = e.same(a, u64::from(bits - 1));
            let sign = e.b.ins().sshr(a, by);
            let a = e.b.ins().bxor(a, sign);
            top(e, a)
        }),
        G::Determinant => All(|e, call| {
            let m = e.matrix_of(*call.args.first().ok_or_else(wrong)?)?;
            Ok(Leaves::from_slice(&[e.determinant(&m)?]))
        }),
        G::MatrixInverse => All(|e, call| {
            let m = e.matrix_of(*call.args.first().ok_or_else(wrong)?)?;
            e.inverse(&m)
        }),
        G::ModfStruct => All(modf_struct),
        G::FrexpStruct => All(frexp_struct),
        G::PackSnorm4x8 => All(|e, call| pack(e, call, 4, true)),
        G::PackUnorm4x8 => All(|e, call| pack(e, call, 4, false)),
        G::PackSnorm2x16 => All(|e, call| pack(e, call, 2, true)),
        G::PackUnorm2x16 => All(|e, call| pack(e, call, 2, false)),
        G::UnpackSnorm4x8 => All(|e, call| unpack(e, call, 4, true)),
        G::UnpackUnorm4x8 => All(|e, call| unpack(e, call, 4, false)),
        G::UnpackSnorm2x16 => All(|e, call| unpack(e, call, 2, true)),
        G::UnpackUnorm2x16 => All(|e, call| unpack(e, call, 2, false)),
        G::PackHalf2x16 => All(pack_half),
        G::UnpackHalf2x16 => All(unpack_half),
        G::PackDouble2x32 => All(|e, call| {
            let v = arg(e, call, 0)?;
            e.bitcast(&v, Scalar::F64, 1)
        }),
        G::UnpackDouble2x32 => All(|e, call| {
            let v = arg(e, call, 0)?;
            e.bitcast(&v, Scalar::I32, 2)
        }),
        G::FaceForward => All(face_forward),
        G::Reflect => All(reflect),
        G::Refract => All(refract),
        _ => return None,
    })
}

/// Returns true if a function of GLSL.std.450 is supported.
pub(crate) fn is_supported(number: u32) -> bool {
    Glsl::from_u32(number).is_some_and(|g| same(g).is_some() || own(g).is_some())
}

/// Emits a function of GLSL.std.450.
pub(crate) fn call(
    e: &mut E<'_, '_, '_>,
    inst: &BInst,
    number: u32,
    args: &[Id],
) -> Result<Leaves, Error> {
    let unsupported = || Error::unsupported(read::glsl_name(number));
    let which = Glsl::from_u32(number).ok_or_else(unsupported)?;
    if let Some(std) = same(which) {
        return super::opencl(e, inst, std as u32, args);
    }
    let method = own(which).ok_or_else(unsupported)?;
    if let Method::All(f) = method {
        let words: Vec<u32> = args.iter().map(|a| a.as_u32()).collect();
        let call = Call {
            // Not used by these methods.
            which: Std::nan,
            inst,
            args,
            words: &words,
        };
        return f(e, &call);
    }
    super::scalars(e, inst, method, args)
}

fn arg(e: &mut E<'_, '_, '_>, call: &Call<'_>, n: usize) -> Result<Leaves, Error> {
    let mut v = e.get(*call.args.get(n).ok_or_else(wrong)?)?;
    e.even(&mut v);
    Ok(v)
}

/// Float argument.
fn floats(e: &mut E<'_, '_, '_>, call: &Call<'_>, n: usize) -> Result<Leaves, Error> {
    let v = arg(e, call, n)?;
    for x in &v {
        e.want_float(*x)?;
    }
    if v.is_empty() { Err(wrong()) } else { Ok(v) }
}

fn none_if_zero(e: &mut E<'_, '_, '_>, a: Value, v: Value) -> R {
    let (zero, none) = (e.same(a, 0), e.same(v, u64::MAX));
    let is = e.b.ins().icmp(IntCC::Equal, a, zero);
    e.choose(is, none, v)
}

/// Index of the highest set bit, or -1.
fn top(e: &mut E<'_, '_, '_>, a: Value) -> R {
    let bits = e.want_int(a)?.bits();
    let zeros = e.b.ins().clz(a);
    let last = e.same(zeros, u64::from(bits - 1));
    // `clz` of zero is the width, which gives -1.
    Ok(e.b.ins().isub(last, zeros))
}

fn modf_struct(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut rests, mut wholes) = (Leaves::new(), Leaves::new());
    for a in floats(e, call, 0)? {
        let (rest, whole) = super::float_parts::parts_of(e, a)?;
        rests.push(rest);
        wholes.push(whole);
    }
    rests.extend(wholes);
    Ok(rests)
}

fn frexp_struct(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut out, mut exponents) = (Leaves::new(), Leaves::new());
    for a in floats(e, call, 0)? {
        let (m, n) = super::float_parts::halves(e, a)?;
        out.push(m);
        exponents.push(n);
    }
    // Exponents may have another width than 32 bits.
    let ty = call.inst.ty.expand().ok_or_else(wrong)?;
    let want = match e.m.types.member(ty, 1) {
        Some((of, _)) => e.scalar(of)?,
        None => return Err(wrong()),
    };
    for n in exponents {
        if !want.is_int() {
            return Err(wrong());
        }
        out.push(e.resize(n, want, true));
    }
    Ok(out)
}

/// Packs normalized floats into a word.
fn pack(
    e: &mut E<'_, '_, '_>,
    call: &Call<'_>,
    parts: usize,
    signed: bool,
) -> Result<Leaves, Error> {
    let v = floats(e, call, 0)?;
    if v.len() != parts || v.iter().any(|x| e.scalar_of(*x) != Scalar::F32) {
        return Err(wrong());
    }
    let bits = 32 / parts as u32;
    let most = f64::from((1u32 << (bits - u32::from(signed))) - 1);
    let mut out: Option<Value> = None;
    for (n, x) in v.iter().enumerate() {
        let (low, high) = (
            e.float(*x, if signed { -1.0 } else { 0.0 }),
            e.float(*x, 1.0),
        );
        let x = e.b.ins().fmax(*x, low);
        let x = e.b.ins().fmin(x, high);
        let by = e.float(x, most);
        let x = e.b.ins().fmul(x, by);
        let x = e.b.ins().fnearest(x);
        let whole = e.lanes(Scalar::I32, e.b.ty(x).lanes());
        let x = e.b.ins().fcvt_to_sint(whole, x);
        let mask = e.same(x, u64::from(u32::MAX >> (32 - bits)));
        let x = e.b.ins().band(x, mask);
        let shift = e.same(x, n as u64 * u64::from(bits));
        let x = e.b.ins().ishl(x, shift);
        out = Some(match out {
            None => x,
            Some(o) => e.b.ins().bor(o, x),
        });
    }
    Ok(out.into_iter().collect())
}

fn unpack(
    e: &mut E<'_, '_, '_>,
    call: &Call<'_>,
    parts: usize,
    signed: bool,
) -> Result<Leaves, Error> {
    let v = arg(e, call, 0)?;
    let [word] = *v.as_slice() else {
        return Err(wrong());
    };
    if e.want_int(word)? != Scalar::I32 {
        return Err(wrong());
    }
    let bits = 32 / parts as u32;
    let most = f64::from((1u32 << (bits - u32::from(signed))) - 1);
    let mut out = Leaves::new();
    for n in 0..parts as u32 {
        let up = e.same(word, u64::from(32 - bits - n * bits));
        let down = e.same(word, u64::from(32 - bits));
        let x = e.b.ins().ishl(word, up);
        let float = e.lanes(Scalar::F32, e.b.ty(word).lanes());
        let x = if signed {
            let x = e.b.ins().sshr(x, down);
            e.b.ins().fcvt_from_sint(float, x)
        } else {
            let x = e.b.ins().ushr(x, down);
            e.b.ins().fcvt_from_uint(float, x)
        };
        let by = e.float(x, most);
        let x = e.quotient(x, by);
        out.push(if signed {
            let least = e.float(x, -1.0);
            e.b.ins().fmax(x, least)
        } else {
            x
        });
    }
    Ok(out)
}

fn pack_half(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let v = floats(e, call, 0)?;
    if v.len() != 2 || v.iter().any(|x| e.scalar_of(*x) != Scalar::F32) {
        return Err(wrong());
    }
    let mut words = Leaves::new();
    for x in v {
        let half = e.lanes(Scalar::F16, e.b.ty(x).lanes());
        let x = e.b.ins().fdemote(half, x);
        let x = e.bits(x)?;
        words.push(e.resize(x, Scalar::I32, false));
    }
    let by = e.same(words[1], 16);
    let high = e.b.ins().ishl(words[1], by);
    Ok(Leaves::from_slice(&[e.b.ins().bor(words[0], high)]))
}

fn unpack_half(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let v = arg(e, call, 0)?;
    let [word] = *v.as_slice() else {
        return Err(wrong());
    };
    if e.want_int(word)? != Scalar::I32 {
        return Err(wrong());
    }
    let by = e.same(word, 16);
    let high = e.b.ins().ushr(word, by);
    let lanes = e.b.ty(word).lanes();
    let (half, float) = (e.lanes(Scalar::F16, lanes), e.lanes(Scalar::F32, lanes));
    let mut out = Leaves::new();
    for x in [word, high] {
        let x = e.resize(x, Scalar::I16, false);
        let x = e.b.ins().bitcast(half, x);
        out.push(e.b.ins().fpromote(float, x));
    }
    Ok(out)
}

/// Vector arguments of equal length and type.
fn vectors(e: &mut E<'_, '_, '_>, call: &Call<'_>, count: usize) -> Result<Vec<Leaves>, Error> {
    let mut all = Leaves::new();
    let mut each = None;
    for n in 0..count {
        let v = floats(e, call, n)?;
        if each.is_some_and(|len| len != v.len()) {
            return Err(wrong());
        }
        each = Some(v.len());
        all.extend(v);
    }
    e.even(&mut all);
    let first = *all.first().ok_or_else(wrong)?;
    if all.iter().any(|v| e.b.ty(*v) != e.b.ty(first)) {
        return Err(wrong());
    }
    Ok(all
        .chunks(each.unwrap_or(1).max(1))
        .map(Leaves::from_slice)
        .collect())
}

fn dot(e: &mut E<'_, '_, '_>, a: &[Value], b: &[Value]) -> R {
    let mut sum: Option<Value> = None;
    for (a, b) in a.iter().zip(b) {
        sum = Some(match sum {
            None => e.b.ins().fmul(*a, *b),
            Some(s) => e.b.ins().fma(*a, *b, s),
        });
    }
    sum.ok_or_else(wrong)
}

/// `N` if `dot(Nref, I)` is negative, else `-N`.
fn face_forward(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let all = vectors(e, call, 3)?;
    let [n, i, reference] = all.as_slice() else {
        return Err(wrong());
    };
    let d = dot(e, reference, i)?;
    let zero = e.float(d, 0.0);
    let facing = e.b.ins().fcmp(FloatCC::LessThan, d, zero);
    let mut out = Leaves::new();
    for v in n {
        let minus = e.b.ins().fneg(*v);
        out.push(e.choose(facing, *v, minus)?);
    }
    Ok(out)
}

/// `I - 2 * dot(N, I) * N`.
fn reflect(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let all = vectors(e, call, 2)?;
    let [i, n] = all.as_slice() else {
        return Err(wrong());
    };
    let d = dot(e, n, i)?;
    let by = e.float(d, -2.0);
    let by = e.b.ins().fmul(by, d);
    let both = i.iter().zip(n);
    Ok(both.map(|(i, n)| e.b.ins().fma(by, *n, *i)).collect())
}

/// `eta * I - (eta * dot(N, I) + sqrt(k)) * N`, or zero if `k` is negative.
fn refract(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let all = vectors(e, call, 2)?;
    let [i, n] = all.as_slice() else {
        return Err(wrong());
    };
    let eta = floats(e, call, 2)?;
    let d = dot(e, n, i)?;
    let mut v = [d, *eta.first().ok_or_else(wrong)?];
    e.even(&mut v);
    let [d, mut eta] = v;
    if e.b.ty(eta) != e.b.ty(d) {
        // The index may be a single with vectors of another type.
        let ty = e.b.ty(d);
        eta = match (e.scalar_of(eta), e.scalar_of(d)) {
            (Scalar::F32, Scalar::F64) => e.b.ins().fpromote(ty, eta),
            (Scalar::F32, Scalar::F16) => e.b.ins().fdemote(ty, eta),
            _ => return Err(wrong()),
        };
    }
    let (one, zero) = (e.float(d, 1.0), e.float(d, 0.0));
    let minus = e.b.ins().fneg(d);
    let rest = e.b.ins().fma(minus, d, one);
    let square = e.b.ins().fmul(eta, eta);
    let square = e.b.ins().fneg(square);
    let k = e.b.ins().fma(square, rest, one);
    let none = e.b.ins().fcmp(FloatCC::LessThan, k, zero);
    let k = e.b.ins().fmax(k, zero);
    let root = e.root(k);
    let by = e.b.ins().fma(eta, d, root);
    let by = e.b.ins().fneg(by);
    let mut out = Leaves::new();
    for (i, n) in i.iter().zip(n) {
        let mut v = [eta, *i, by, *n, zero, none];
        e.even(&mut v);
        let [eta, i, by, n, zero, none] = v;
        let v = e.b.ins().fmul(eta, i);
        let v = e.b.ins().fma(by, n, v);
        out.push(e.choose(none, zero, v)?);
    }
    Ok(out)
}
