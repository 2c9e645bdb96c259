//! Tests that results are exact ones rounded once, in every mode, with denormals kept or flushed.

use super::*;
use crate::sem::exact::{Format, Real};

const MODES: [Round; 4] = [Round::Nearest, Round::Up, Round::Down, Round::Zero];
const TYPES: [(Type, Format); 3] = [
    (Type::Hf, Format::HALF),
    (Type::F, Format::SINGLE),
    (Type::Df, Format::DOUBLE),
];

/// Returns a random element, often close to others so that sums cancel.
fn element(r: &mut Rng, f: Format) -> u64 {
    let all = (1u64 << f.exponent) - 1;
    let exponent = match r.u64() % 5 {
        0 => r.u64() % all,
        1 => r.u64() % 3,
        2 => all - 1 - r.u64() % 3,
        _ => all / 2 + r.u64() % 8,
    };
    let fraction = match r.u64() % 3 {
        0 => 0,
        1 => r.u64() % 4,
        _ => r.u64(),
    } & ((1 << f.fraction) - 1);
    (r.u64() & 1) << (f.exponent + f.fraction) | exponent << f.fraction | fraction
}

fn lanes(r: &mut Rng, f: Format) -> Bits {
    let mut out = [0; LANES];
    out.iter_mut().for_each(|o| *o = element(r, f));
    out
}

#[test]
fn sums_products_and_fused_steps() {
    let seed = 501;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for (ty, f) in TYPES {
        for _ in 0..2_000 {
            let v = [lanes(&mut r, f), lanes(&mut r, f), lanes(&mut r, f)];
            for round in MODES {
                let extra = Extra {
                    mode: FpMode {
                        round,
                        ..FpMode::IEEE
                    },
                    acc: v[2].map(|b| b as i64),
                    ..Extra::default()
                };
                for op in [Op::Add, Op::Mul, Op::Mad, Op::Mac] {
                    let sources = if op == Op::Mad { 3 } else { 2 };
                    let o = alu(op, ty, &[ty; 3][..sources]);
                    let got = eval(&o, LANES, [&v[0], &v[1], &v[2]], &extra).unwrap();
                    for (i, got) in got.bits.iter().enumerate() {
                        let [a, b, c] = v.map(|v| Real::of(f.value(v[i])));
                        let exact = match op {
                            Op::Add => a.plus(b, round),
                            Op::Mul => a.times(b),
                            Op::Mac => a.times(b).plus(c, round),
                            _ => b.times(c).plus(a, round),
                        };
                        let want = exact.pack(f, round);
                        let v = v.map(|v| f.value(v[i]));
                        assert!(*got == want, "{op} {ty} {round:?} {v:?}: {got:x} {want:x}");
                    }
                }
            }
        }
    }
}

#[test]
fn conversions() {
    let seed = 502;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for round in MODES {
        let extra = Extra {
            mode: FpMode {
                round,
                ..FpMode::IEEE
            },
            ..Extra::default()
        };
        for (from, f) in TYPES {
            for (to, t) in TYPES.into_iter().chain([
                (Type::Bf, Format::BFLOAT),
                (Type::Bf8, Format::BF8),
                (Type::Hf8, Format::HF8),
            ]) {
                let v = lanes(&mut r, f);
                let o = alu(Op::Mov, to, &[from]);
                let got = eval(&o, LANES, [&v, &v, &v], &extra).unwrap();
                for (v, got) in v.iter().zip(got.bits) {
                    let want = t.round(f.value(*v), round);
                    assert_eq!(got, want, "{from} {to} {round:?} {:e}", f.value(*v));
                }
            }
        }
        for from in INTS {
            for (to, t) in TYPES {
                let mut v = [0; LANES];
                v.iter_mut().for_each(|v| *v = r.bits(from));
                let o = alu(Op::Mov, to, &[from]);
                let got = eval(&o, LANES, [&v, &v, &v], &extra).unwrap();
                for (v, got) in v.iter().zip(got.bits) {
                    let exact = convert::int_value(*v, from);
                    let want = Real::of_int(exact).pack(t, round);
                    assert_eq!(got, want, "{from} {to} {round:?} {exact}");
                }
            }
        }
    }
}

/// Denormals of each type are flushed in sources and results, unless the type's bit of `cr0` keeps
/// them.
#[test]
fn denormals_by_type() {
    let seed = 503;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for (ty, f) in TYPES {
        let flush = |bits: u64| {
            let exponent = bits >> f.fraction & ((1 << f.exponent) - 1);
            let sign = bits & 1 << (f.exponent + f.fraction);
            if exponent == 0 { sign } else { bits }
        };
        let others = match ty {
            Type::Hf => FpMode {
                keep_hf: false,
                ..FpMode::IEEE
            },
            Type::F => FpMode {
                keep_f: false,
                ..FpMode::IEEE
            },
            _ => FpMode {
                keep_df: false,
                ..FpMode::IEEE
            },
        };
        for _ in 0..2_000 {
            let (a, b) = (lanes(&mut r, f), lanes(&mut r, f));
            let extra = Extra {
                mode: others,
                ..Extra::default()
            };
            let got = eval(&alu(Op::Mul, ty, &[ty, ty]), LANES, [&a, &b, &b], &extra).unwrap();
            for (i, got) in got.bits.iter().enumerate() {
                let [x, y] = [a[i], b[i]].map(|v| Real::of(f.value(flush(v))));
                let want = flush(x.times(y).pack(f, Round::Nearest));
                assert_eq!(*got, want, "{ty} {:x} {:x}", a[i], b[i]);
            }
        }
    }
}

#[test]
fn random_rounding_is_between_the_neighbours() {
    let seed = 504;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for (from, to, f, t, bits) in [
        (Type::F, Type::Hf, Format::SINGLE, Format::HALF, 13),
        (Type::Hf, Type::Bf8, Format::HALF, Format::BF8, 8),
    ] {
        let o = alu(Op::Srnd, to, &[from, Type::Ud]);
        for _ in 0..2_000 {
            let (v, random) = (lanes(&mut r, f), lanes(&mut r, f));
            let got = eval(&o, LANES, [&v, &random, &v], &Extra::default()).unwrap();
            for (i, got) in got.bits.iter().enumerate() {
                let x = f.value(v[i]);
                let (low, high) = (t.round(x, Round::Down), t.round(x, Round::Up));
                assert!(*got == low || *got == high, "{x:e}: {got:x}");
                // Zero random bits truncate; all ones round up anything between two neighbours.
                let with = |random| {
                    let random = [random; LANES];
                    let v = [v[i]; LANES];
                    one_lane(&o, &v, &random)
                };
                if x.abs() < f64::from(t.largest() + 1).exp2() {
                    assert_eq!(with(0), t.round(x, Round::Zero), "{x:e}");
                } else {
                    assert_eq!(with(0), t.infinity(x < 0.0), "{x:e}");
                }
                let normal = x.abs() >= f64::from(t.smallest()).exp2();
                if normal && x.abs() < f64::from(t.largest()).exp2() {
                    let away = if x > 0.0 { high } else { low };
                    assert_eq!(with((1 << bits) - 1), away, "{x:e}");
                }
            }
        }
    }
}

fn one_lane(o: &AluOp, a: &Bits, b: &Bits) -> u64 {
    eval(o, 1, [a, b, b], &Extra::default()).unwrap().bits[0]
}
