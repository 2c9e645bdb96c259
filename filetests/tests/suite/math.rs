//! Math functions of the builder in code for every platform, compared with the host's. The
//! arguments are a sample, and the limits are those of OpenCL C.

use gantry_codegen::builder::{KernelBuilder, Val};
use gantry_codegen::fuzzing::Rng;
use gantry_codegen::ir::{Dim, Module, Scalar, Type};
use gantry_codegen::{CompileOptions, Target, compile};
use gantry_filetests::runner::platforms;
use gantry_runtime::{Device, Grid, SimOptions};
use half::f16;

/// Function of the builder with its expected value, and its allowed error in ulps of a single.
struct Function {
    name: &'static str,
    make: for<'k> fn(Val<'k>, Val<'k>) -> Val<'k>,
    exact: fn(f64, f64) -> f64,
    ulps: f64,
}

macro_rules! functions {
    ($($name:ident $ulps:literal $exact:expr;)+) => {
        [$(Function {
            name: stringify!($name),
            make: |x, _| x.$name(),
            exact: |x, _| $exact(x),
            ulps: $ulps,
        }),+]
    };
}

macro_rules! pairs {
    ($($name:ident $ulps:literal $exact:expr;)+) => {
        [$(Function {
            name: stringify!($name),
            make: |x, y| x.$name(y),
            exact: $exact,
            ulps: $ulps,
        }),+]
    };
}

/// Computes `sin(pi x)` from the remainder of a multiple of a half, which is exact.
fn sinpi(x: f64) -> f64 {
    let halves = (2.0 * x).round();
    let rest = (x - halves / 2.0) * std::f64::consts::PI;
    match (halves as i64).rem_euclid(4) {
        0 => rest.sin(),
        1 => rest.cos(),
        2 => -rest.sin(),
        _ => -rest.cos(),
    }
}

fn functions() -> Vec<Function> {
    use std::f64::consts::FRAC_1_PI;
    let mut all = Vec::from(functions! {
        exp 3.0 libm::exp;
        exp2 3.0 libm::exp2;
        exp10 3.0 libm::exp10;
        expm1 3.0 libm::expm1;
        log 3.0 libm::log;
        log2 3.0 libm::log2;
        log10 3.0 libm::log10;
        log1p 2.0 libm::log1p;
        sin 4.0 libm::sin;
        cos 4.0 libm::cos;
        tan 5.0 libm::tan;
        asin 4.0 libm::asin;
        acos 4.0 libm::acos;
        atan 5.0 libm::atan;
        atanpi 5.0 |x| libm::atan(x) * FRAC_1_PI;
        sinh 4.0 libm::sinh;
        cosh 4.0 libm::cosh;
        tanh 5.0 libm::tanh;
        asinh 4.0 libm::asinh;
        acosh 4.0 |x: f64| x.acosh();
        atanh 5.0 libm::atanh;
        cbrt 2.0 libm::cbrt;
        rsqrt 2.0 |x: f64| 1.0 / x.sqrt();
        erf 16.0 libm::erf;
        erfc 16.0 libm::erfc;
        tgamma 16.0 libm::tgamma;
    });
    all.extend(pairs! {
        pow 16.0 libm::pow;
        hypot 4.0 libm::hypot;
        atan2 6.0 libm::atan2;
    });
    all.push(Function {
        name: "sinpi",
        make: |x, _| x.sinpi(),
        exact: |x, _| sinpi(x),
        ulps: 4.0,
    });
    all
}

/// Generates arguments of a type: near 1, and of any size.
fn arguments(scalar: Scalar) -> Vec<(f64, f64)> {
    let mut rng = Rng::new(5);
    let round = |x: f64| match scalar {
        Scalar::F16 => f16::from_f64(x).to_f64(),
        Scalar::F32 => f64::from(x as f32),
        _ => x,
    };
    let mut number = |n: usize| {
        let part = rng.below(1 << 24) as f64 / f64::from(1 << 24);
        let sign = if rng.below(4) == 0 { -1.0 } else { 1.0 };
        let size = match n % 3 {
            0 => 1.0,
            1 => 10.0,
            // Large arguments of sines.
            _ => 2f64.powi(rng.below(if scalar == Scalar::F16 { 14 } else { 60 }) as i32),
        };
        round(sign * part * size)
    };
    (0..160).map(|n| (number(n), number(n / 3))).collect()
}

/// Returns the error of a result in ulps of a type. It is 0 if both are NaNs, or both overflow.
fn off(scalar: Scalar, got: f64, want: f64) -> f64 {
    let (bits, least, most) = match scalar {
        Scalar::F16 => (10, -14, 65_520.0),
        Scalar::F32 => (23, -126, 3.402_823_567e38),
        _ => (52, -1022, f64::INFINITY),
    };
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() == got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if want.abs() >= most {
        return if got == want.signum() * f64::INFINITY {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = libm::ilogb(want).max(least);
    (got - want).abs() / libm::scalbn(1.0, exponent - bits)
}

/// Builds a kernel of two arguments a work-item. It stores the results of each function in an
/// array; the arrays follow each other.
fn kernel(all: &[Function], scalar: Scalar, count: usize) -> Module {
    let ty = Type::new(scalar, 1).unwrap();
    let k = KernelBuilder::new("k", 16);
    let (x, y, to) = (k.buffer(), k.buffer(), k.buffer());
    let i = k.global_id(Dim::X);
    let (x, y) = (k.load(ty, x, i), k.load(ty, y, i));
    for (n, f) in all.iter().enumerate() {
        k.store((f.make)(x, y), to, i + (n * count) as i32);
    }
    let mut module = Module::default();
    module.functions.push(k.finish().unwrap());
    module
}

fn check(target: &Target, scalar: Scalar) {
    let (all, arguments) = (functions(), arguments(scalar));
    let module = kernel(&all, scalar, arguments.len());
    let zebin = compile(&module, &CompileOptions::new(target.clone()))
        .unwrap()
        .zebin;
    let device = Device::simulator(SimOptions {
        platform: target.platform(),
        ..SimOptions::default()
    });
    let bytes = |v: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        v.flat_map(|x| match scalar {
            Scalar::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
            Scalar::F32 => (x as f32).to_le_bytes().to_vec(),
            _ => x.to_le_bytes().to_vec(),
        })
        .collect()
    };
    let x = device
        .buffer_from(&bytes(&mut arguments.iter().map(|a| a.0)))
        .unwrap();
    let y = device
        .buffer_from(&bytes(&mut arguments.iter().map(|a| a.1)))
        .unwrap();
    let size = scalar.bytes() as usize;
    let out = vec![0u8; all.len() * arguments.len() * size];
    let out = device.buffer_from(&out).unwrap();
    let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
    let grid = Grid::new([arguments.len() as u32, 1, 1]);
    kernel.launch(grid).arg(&x).arg(&y).arg(&out).run().unwrap();
    let out = out.read::<u8>().unwrap();
    let number = |b: &[u8]| match scalar {
        Scalar::F16 => f16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        Scalar::F32 => f64::from(f32::from_le_bytes(b.try_into().unwrap())),
        _ => f64::from_le_bytes(b.try_into().unwrap()),
    };
    let results = out.chunks(size * arguments.len());
    for (f, results) in all.iter().zip(results) {
        for (&(x, y), got) in arguments.iter().zip(results.chunks(size)) {
            let (got, want) = (number(got), (f.exact)(x, y));
            let error = off(scalar, got, want);
            assert!(
                error <= f.ulps,
                "{}: {} of {scalar}, of {x:e} and {y:e}: {got:e}, not {want:e}: {error} ulps",
                target.name(),
                f.name
            );
        }
    }
}

#[test]
fn the_builders_functions_are_within_their_limits() {
    for target in platforms() {
        check(&target, Scalar::F16);
        check(&target, Scalar::F32);
        if target.features().native_f64 {
            check(&target, Scalar::F64);
        }
    }
}
