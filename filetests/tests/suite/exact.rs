//! Operations that are expanded into many steps, on many numbers. Division, roots and conversions
//! of the compiled code must equal the host's, bit for bit.
//!
//! `GANTRY_CASES` is the number of pairs for an operation and target (a few thousand by default),
//! from `GANTRY_SEED`, on the targets of `GANTRY_TARGETS` or all.

use gantry_codegen::fuzzing::Rng;
use gantry_codegen::ir::opcode::Out;
use gantry_codegen::ir::{FloatControls, Module, Opcode, Scalar};
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, Target, compile};
use gantry_filetests::runner::platforms;
use gantry_runtime::{Device, Grid, SimOptions};
use half::f16;

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

fn cases() -> usize {
    env("GANTRY_CASES").unwrap_or(6000) as usize
}

fn rng() -> Rng {
    let seed = env("GANTRY_SEED").unwrap_or(1);
    println!("GANTRY_SEED={seed}");
    Rng::new(seed)
}

/// Operation of one or two operands.
#[derive(Clone, Copy, Debug)]
struct Op {
    opcode: Opcode,
    from: Scalar,
    to: Scalar,
    sources: usize,
    float: FloatControls,
}

fn op(opcode: Opcode, from: Scalar, to: Scalar, sources: usize) -> Op {
    Op {
        opcode,
        from,
        to,
        sources,
        float: FloatControls::default(),
    }
}

/// Builds a kernel with a work-item for each element. The elements of a thread are adjacent.
fn module(op: Op) -> Module {
    let log = |t: Scalar| t.bytes().trailing_zeros();
    let (from, to, name) = (op.from, op.to, op.opcode);
    let ctrl = match op.opcode.info().out {
        Out::Ctrl => format!(".{to}x16"),
        _ => String::new(),
    };
    let args = match op.sources {
        1 => "v15",
        _ => "v15, v16",
    };
    let text = format!(
        "kernel %k(i64 ptr, i64 ptr, i64 ptr) simd16 group 256,1,1 {{
block0(v0: i64, v1: i64, v2: i64):
    v3 = group_id.i32 x
    v4 = iconst.i32 256
    v5 = imul v3, v4
    v6 = local_id.i16x16 x
    v7 = rdregion.i16 v6, <0;1,0>, 0
    v8 = uextend.i32 v7
    v9 = iadd v5, v8
    v10 = uextend.i64 v9
    v11 = iconst.i64 {}
    v12 = ishl v10, v11
    v13 = iadd v0, v12
    v14 = iadd v1, v12
    v15 = bload.{from}x16 v13
    v16 = bload.{from}x16 v14
    v17 = {name}{ctrl} {args}
    v18 = iconst.i64 {}
    v19 = ishl v10, v18
    v20 = iadd v2, v19
    bstore v17, v20
    return
}}
",
        log(from),
        log(to)
    );
    let mut m = parse(&text).unwrap().module;
    for f in m.functions.values_mut() {
        f.set_float_controls(op.float);
    }
    m
}

fn bytes(scalar: Scalar, lanes: &[u64]) -> Vec<u8> {
    let size = scalar.bytes() as usize;
    let lanes = lanes.iter().map(|v| v.to_le_bytes());
    lanes.flat_map(|b| b.into_iter().take(size)).collect()
}

fn lanes(scalar: Scalar, bytes: &[u8]) -> Vec<u64> {
    let word = |c: &[u8]| c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
    bytes.chunks(scalar.bytes() as usize).map(word).collect()
}

/// Runs the compiled operation on pairs.
fn run(op: Op, pairs: &[(u64, u64)], target: &Target) -> Vec<u64> {
    let options = CompileOptions::new(target.clone());
    let zebin = compile(&module(op), &options).unwrap().zebin;
    let device = Device::simulator(SimOptions::default());
    let (mut a, mut b): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    // Whole groups.
    let items = pairs.len().next_multiple_of(256);
    a.resize(items, 1);
    b.resize(items, 1);
    let x = device.buffer_from(&bytes(op.from, &a)).unwrap();
    let y = device.buffer_from(&bytes(op.from, &b)).unwrap();
    let size = op.to.bytes() as usize;
    let z = device.buffer_from(&vec![0u8; items * size]).unwrap();
    let grid = Grid::new([items as u32, 1, 1]).group([256, 1, 1]);
    let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
    kernel.launch(grid).arg(&x).arg(&y).arg(&z).run().unwrap();
    lanes(op.to, &z.read::<u8>().unwrap())
}

fn float(scalar: Scalar, v: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_bits(v as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(v as u32)),
        _ => f64::from_bits(v),
    }
}

/// Compares with the host's results; NaNs are equal.
fn agree(op: Op, pairs: &[(u64, u64)], want: impl Fn(u64, u64) -> u64) {
    for target in platforms() {
        let doubles = op.from == Scalar::F64 || op.to == Scalar::F64;
        if doubles && !target.features().native_f64 {
            continue;
        }
        let got = run(op, pairs, &target);
        for (&(a, b), got) in pairs.iter().zip(got) {
            let want = want(a, b);
            let nan = op.to.is_float() && float(op.to, got).is_nan() && float(op.to, want).is_nan();
            assert!(
                got == want || nan,
                "{}: {} of {} {a:#x} {b:#x}: {got:#x}, not {want:#x}",
                target.name(),
                op.opcode,
                op.from
            );
        }
    }
}

/// Generates integers of all magnitudes, and their neighbours.
fn integer(r: &mut Rng) -> u64 {
    let v = r.bits() >> r.below(64);
    match r.below(8) {
        0 => 1u64 << r.below(64),
        1 => (1u64 << r.below(64)).wrapping_sub(1),
        2 => v.wrapping_neg(),
        3 => [0, 1, u64::MAX, i64::MAX as u64, i64::MIN as u64][r.below(5) as usize],
        _ => v,
    }
}

fn integer_pairs(r: &mut Rng) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    while out.len() < cases() {
        let (a, b) = (integer(r), integer(r));
        out.push((a, b));
        // Dividends near multiples of the divisor.
        let near = b
            .wrapping_mul(a >> r.below(64))
            .wrapping_add(r.below(3).into());
        out.push((near.wrapping_sub(1), b));
    }
    out
}

#[test]
fn quotients_of_64_bits() {
    let pairs = integer_pairs(&mut rng());
    let of = |opcode| op(opcode, Scalar::I64, Scalar::I64, 2);
    agree(of(Opcode::Udiv), &pairs, |a, b| {
        a.checked_div(b).unwrap_or(u64::MAX)
    });
    agree(of(Opcode::Urem), &pairs, |a, b| {
        a.checked_rem(b).unwrap_or(a)
    });
    agree(of(Opcode::Sdiv), &pairs, |a, b| {
        let (a, b) = (a as i64, b as i64);
        match b {
            0 if a < 0 => 1,
            0 => u64::MAX,
            _ => a.wrapping_div(b) as u64,
        }
    });
    agree(of(Opcode::Srem), &pairs, |a, b| {
        let (a, b) = (a as i64, b as i64);
        (if b == 0 { a } else { a.wrapping_rem(b) }) as u64
    });
    // The rounding of the estimate does not matter.
    let cut = Op {
        float: FloatControls {
            toward_zero: true,
            flush_f32: true,
            ..FloatControls::default()
        },
        ..of(Opcode::Udiv)
    };
    agree(cut, &pairs, |a, b| a.checked_div(b).unwrap_or(u64::MAX));
}

#[test]
fn upper_halves_of_products() {
    let pairs = integer_pairs(&mut rng());
    let of = |opcode| op(opcode, Scalar::I64, Scalar::I64, 2);
    agree(of(Opcode::Umulh), &pairs, |a, b| {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    });
    agree(of(Opcode::Smulh), &pairs, |a, b| {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    });
}

/// Returns a float's bits of fraction and largest biased exponent.
fn format(t: Scalar) -> (u32, u64) {
    match t {
        Scalar::F16 => (10, 31),
        Scalar::F32 => (23, 255),
        _ => (52, 2047),
    }
}

/// Generates floats of all kinds: significands with few bits or all, any exponent, special values.
fn any_float(r: &mut Rng, t: Scalar) -> u64 {
    let (fraction, top) = format(t);
    let all = (1u64 << fraction) - 1;
    let significand = match r.below(4) {
        0 => all ^ (r.bits() & 7 & all),
        1 => r.bits() & 7,
        _ => r.bits() & all,
    };
    let exponent = match r.below(8) {
        0 => 0,
        1 => top,
        2 => 1 + u64::from(r.below(3)),
        3 => top - 1 - u64::from(r.below(3)),
        4..=6 => (top / 2).wrapping_add(u64::from(r.below(9))) - 4,
        _ => r.bits() % top,
    };
    let sign = u64::from(r.below(2)) << (t.bits() - 1);
    sign | exponent << fraction | significand
}

/// Returns the bits of the float of a type nearest to a double.
fn rounded(t: Scalar, v: f64) -> u64 {
    match t {
        Scalar::F16 => u64::from(f16::from_f64(v).to_bits()),
        Scalar::F32 => u64::from((v as f32).to_bits()),
        _ => v.to_bits(),
    }
}

fn float_pairs(r: &mut Rng, t: Scalar) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    while out.len() < cases() {
        let (a, b) = (any_float(r, t), any_float(r, t));
        out.push((a, b));
        // A dividend whose quotient is nearly halfway between two floats.
        let (x, y) = (float(t, a), float(t, b));
        let (fraction, _) = format(t);
        let halfway = 1.0 + f64::from(-(fraction as i32 + 1)).exp2();
        if t != Scalar::F64 {
            out.push((rounded(t, x * y * halfway), b));
        } else {
            let next = f64::from_bits(a.wrapping_add(1));
            let product = f64::mul_add(x, y, (next - x) / 2.0 * y);
            out.push((product.to_bits(), b));
        }
    }
    out
}

/// Computes the host's quotient, with denormals flushed or not.
fn quotient(t: Scalar, flush: bool, a: u64, b: u64) -> u64 {
    let (fraction, top) = format(t);
    let flushed = |v: u64| {
        if flush && v >> fraction & top == 0 {
            v & 1 << (t.bits() - 1)
        } else {
            v
        }
    };
    let (x, y) = (flushed(a), flushed(b));
    flushed(match t {
        Scalar::F32 => {
            let q = f32::from_bits(x as u32) / f32::from_bits(y as u32);
            u64::from(q.to_bits())
        }
        // A double's precision is enough to round twice, to even at a tie.
        Scalar::F16 => to_half_once(float(t, x) / float(t, y)),
        _ => (f64::from_bits(x) / f64::from_bits(y)).to_bits(),
    })
}

/// Converts a double to a half, rounded once.
fn to_half_once(v: f64) -> u64 {
    use gantry_isa_gen::sem::{Round, convert::to_half};
    u64::from(to_half(v, Round::Nearest))
}

const MODES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn controls(toward_zero: bool, flush: bool) -> FloatControls {
    FloatControls {
        flush_f16: flush,
        flush_f32: flush,
        flush_f64: flush,
        toward_zero,
        contract: false,
        reciprocal: false,
    }
}

#[test]
fn quotients_of_floats_are_the_nearest() {
    let mut r = rng();
    for t in [Scalar::F16, Scalar::F32, Scalar::F64] {
        let pairs = float_pairs(&mut r, t);
        for (zero, flush) in MODES {
            let div = Op {
                float: controls(zero, flush),
                ..op(Opcode::FdivRn, t, t, 2)
            };
            agree(div, &pairs, |a, b| quotient(t, flush, a, b));
            if t == Scalar::F64 {
                let box_div = Op {
                    opcode: Opcode::Fdiv,
                    ..div
                };
                agree(box_div, &pairs, |a, b| quotient(t, flush, a, b));
            }
        }
    }
    let doubles = float_pairs(&mut r, Scalar::F64);
    let one = 1f64.to_bits();
    agree(
        op(Opcode::Finv, Scalar::F64, Scalar::F64, 1),
        &doubles,
        |a, _| quotient(Scalar::F64, false, one, a),
    );
}

#[test]
fn roots_are_the_nearest() {
    let mut r = rng();
    for t in [Scalar::F16, Scalar::F32, Scalar::F64] {
        let mut pairs: Vec<(u64, u64)> = (0..cases()).map(|_| (any_float(&mut r, t), 0)).collect();
        if t == Scalar::F16 {
            pairs = (0..65536).map(|v| (v, 0)).collect();
        }
        // Squares, and numbers near the square of a number halfway between two floats.
        let near: Vec<u64> = pairs.iter().map(|p| p.0).take(cases()).collect();
        for v in near {
            let x = float(t, v);
            let y = x + (float(t, v ^ 1) - x) / 2.0;
            pairs.push((rounded(t, x * x), 0));
            pairs.push((rounded(t, y * y), 0));
        }
        for (zero, flush) in MODES {
            let root = Op {
                float: controls(zero, flush),
                ..op(Opcode::FsqrtRn, t, t, 1)
            };
            let (fraction, top) = format(t);
            let want = |a: u64, _| {
                let a = if flush && a >> fraction & top == 0 {
                    a & 1 << (t.bits() - 1)
                } else {
                    a
                };
                match t {
                    Scalar::F16 => to_half_once(float(t, a).sqrt()),
                    t => rounded(t, float(t, a).sqrt()),
                }
            };
            agree(root, &pairs, want);
        }
        if t == Scalar::F64 {
            let root = op(Opcode::Frsqrt, t, t, 1);
            let want = |a: u64, _| (1.0 / f64::from_bits(a).sqrt()).to_bits();
            agree(root, &pairs, want);
        }
    }
}

#[test]
fn doubles_are_rounded_to_integers() {
    let mut r = rng();
    let mut pairs = Vec::new();
    for _ in 0..cases() {
        let half = f64::from(r.below(4000)) / 4.0 - 500.0;
        pairs.extend([(any_float(&mut r, Scalar::F64), 0), (half.to_bits(), 0)]);
        let large = (r.bits() as i64 >> r.below(16)) as f64 / 2048.0;
        pairs.push((large.to_bits(), 0));
    }
    for zero in [false, true] {
        let with = |opcode| Op {
            float: controls(zero, false),
            ..op(opcode, Scalar::F64, Scalar::F64, 1)
        };
        let of = |f: fn(f64) -> f64| move |a: u64, _| f(f64::from_bits(a)).to_bits();
        agree(with(Opcode::Ffloor), &pairs, of(f64::floor));
        agree(with(Opcode::Fceil), &pairs, of(f64::ceil));
        agree(with(Opcode::Ftrunc), &pairs, of(f64::trunc));
        agree(with(Opcode::Fnearest), &pairs, of(f64::round_ties_even));
    }
}

#[test]
fn doubles_become_halves_in_one_rounding() {
    let mut r = rng();
    let mut pairs = Vec::new();
    for _ in 0..cases() {
        pairs.push((any_float(&mut r, Scalar::F64), 0));
        // A half, or the middle of two, and a little beside it.
        let half = f16::from_bits(r.bits() as u16);
        let next = f16::from_bits(half.to_bits() ^ 1);
        let middle = (half.to_f64() + next.to_f64()) / 2.0;
        for v in [half.to_f64(), middle] {
            let beside = v
                .to_bits()
                .wrapping_add(u64::from(r.below(3)))
                .wrapping_sub(1);
            pairs.push((beside, 0));
        }
    }
    use gantry_isa_gen::sem::{Round, convert::to_half};
    for (opcode, round) in [
        (Opcode::Fdemote, Round::Nearest),
        (Opcode::FdemoteRte, Round::Nearest),
        (Opcode::FdemoteRtz, Round::Zero),
        (Opcode::FdemoteRtp, Round::Up),
        (Opcode::FdemoteRtn, Round::Down),
    ] {
        for flush_f32 in [false, true] {
            let demote = Op {
                float: FloatControls {
                    flush_f32,
                    ..FloatControls::default()
                },
                ..op(opcode, Scalar::F64, Scalar::F16, 1)
            };
            agree(demote, &pairs, |a, _| {
                u64::from(to_half(f64::from_bits(a), round))
            });
        }
    }
}

#[test]
fn integers_become_floats_in_every_mode() {
    let mut r = rng();
    let pairs: Vec<(u64, u64)> = (0..cases()).map(|_| (integer(&mut r), 0)).collect();
    use gantry_isa_gen::Type as T;
    use gantry_isa_gen::sem::{FpMode, Round, convert::write_int};
    let modes = [Round::Nearest, Round::Zero, Round::Up, Round::Down];
    let signed = [
        Opcode::FcvtFromSintRte,
        Opcode::FcvtFromSintRtz,
        Opcode::FcvtFromSintRtp,
        Opcode::FcvtFromSintRtn,
    ];
    let unsigned = [
        Opcode::FcvtFromUintRte,
        Opcode::FcvtFromUintRtz,
        Opcode::FcvtFromUintRtp,
        Opcode::FcvtFromUintRtn,
    ];
    for (to, ty) in [
        (Scalar::F16, T::Hf),
        (Scalar::F32, T::F),
        (Scalar::F64, T::Df),
    ] {
        for from in [Scalar::I32, Scalar::I64] {
            let pairs: Vec<_> = pairs.iter().map(|p| (p.0 & from.mask(), 0)).collect();
            for (n, round) in modes.into_iter().enumerate() {
                let mode = FpMode {
                    round,
                    ..FpMode::IEEE
                };
                for zero in [false, true] {
                    let with = |opcode| Op {
                        float: controls(zero, false),
                        ..op(opcode, from, to, 1)
                    };
                    agree(with(signed[n]), &pairs, |a, _| {
                        let shift = 64 - from.bits();
                        let v = (a << shift) as i64 >> shift;
                        write_int(v.into(), ty, false, &mode)
                    });
                    agree(with(unsigned[n]), &pairs, |a, _| {
                        write_int(a.into(), ty, false, &mode)
                    });
                }
            }
        }
    }
}
