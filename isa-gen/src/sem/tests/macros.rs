//! Tests that the sequences of `math.invm`, `math.rsqtm` and `madm` of Intel's compiler are
//! correctly rounded. They are written as `ocloc` 1.0.12504 emits them for Skylake and Ponte
//! Vecchio.

use super::*;
use crate::sem::exact::{Format, Real};
use crate::sem::macros::{self, Special};

/// Register of 32 channels with its special accumulator.
#[derive(Clone, Copy)]
struct Value(Bits, Special);

struct Machine {
    ty: Type,
    round: Round,
}

impl Machine {
    fn run(
        &self,
        op: Op,
        math: Option<MathFn>,
        wide: bool,
        s: &[Value],
        neg: usize,
    ) -> (Value, u32) {
        let zero = Value([0; LANES], [0; LANES]);
        let of = |i: usize| *s.get(i).unwrap_or(&zero);
        let mut a = alu(op, self.ty, &vec![self.ty; s.len()]);
        a.math = math;
        a.cond = math.map(|_| Cond::Eo);
        if let Some(m) = a.mods.get_mut(neg) {
            m.neg = true;
        }
        let (x, y, z) = (of(0), of(1), of(2));
        let extra = Extra {
            mode: FpMode {
                round: self.round,
                ..FpMode::IEEE
            },
            ..Extra::default()
        };
        let (o, e) = macros::eval(
            &a,
            LANES,
            [&x.0, &y.0, &z.0],
            [&x.1, &y.1, &z.1],
            wide,
            &extra,
        )
        .unwrap();
        if !wide {
            assert_eq!(e, [0; LANES]);
        }
        (Value(o.bits, e), o.flags)
    }

    /// Runs `madm dst.mmeN, a, b, c`.
    fn m(&self, a: Value, b: Value, c: Value) -> Value {
        self.run(Op::Madm, None, true, &[a, b, c], 3).0
    }

    /// Runs it with source 1 negated.
    fn n(&self, a: Value, b: Value, c: Value) -> Value {
        self.run(Op::Madm, None, true, &[a, b, c], 1).0
    }

    /// Runs the last step in the given rounding mode.
    fn last(&self, round: Round, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty;
        Machine { ty, round }
            .run(Op::Madm, None, false, &[a, b, c], 3)
            .0
    }

    fn constant(&self, v: f64) -> Value {
        let bits = convert::write_float(v, self.ty, false, &FpMode::IEEE);
        Value([bits; LANES], [0; LANES])
    }

    fn of(&self, bits: Bits) -> Value {
        Value(bits, [0; LANES])
    }

    fn divide(&self, a: Bits, b: Bits, round: Round) -> Bits {
        let (a, b) = (self.of(a), self.of(b));
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let (y0, early) = self.run(Op::Math, Some(MathFn::Invm), true, &[a, b], 3);
        let q = if self.ty == Type::F {
            let q0 = self.m(zero, a, y0);
            let e0 = self.n(one, b, y0);
            let y1 = self.m(y0, e0, y0);
            let r0 = self.n(a, b, q0);
            let q1 = self.m(q0, r0, y1);
            let r1 = self.n(a, b, q1);
            self.last(round, q1, r1, y1)
        } else {
            let q0 = self.m(zero, a, y0);
            let e0 = self.n(one, b, y0);
            let r0 = self.n(a, b, q0);
            let y1 = self.m(y0, e0, y0);
            let e1 = self.n(one, b, y1);
            let y2 = self.m(y0, e0, y1);
            let q1 = self.m(q0, r0, y1);
            let y3 = self.m(y1, y2, e1);
            let r1 = self.n(a, b, q1);
            self.last(round, q1, r1, y3)
        };
        Self::select(early, y0, q)
    }

    fn square_root(&self, a: Bits, round: Round) -> Bits {
        let a = self.of(a);
        let (zero, half) = (self.constant(0.0), self.constant(0.5));
        let (y0, early) = self.run(Op::Math, Some(MathFn::Rsqtm), true, &[a], 3);
        let h0 = self.m(zero, half, y0);
        let s0 = self.m(zero, a, y0);
        let d = self.n(half, s0, h0);
        let s = if self.ty == Type::F {
            let h1 = self.m(h0, d, h0);
            let s1 = self.m(s0, d, s0);
            let r = self.n(a, s1, s1);
            self.last(round, s1, h1, r)
        } else {
            let (one, three_halves) = (self.constant(1.0), self.constant(1.5));
            let e = self.m(one, three_halves, d);
            let t0 = self.m(zero, d, s0);
            let t1 = self.m(zero, d, h0);
            let s1 = self.m(s0, e, t0);
            let h1 = self.m(h0, e, t1);
            let r = self.n(a, s1, s1);
            self.last(round, s1, r, h1)
        };
        Self::select(early, y0, s)
    }

    /// Channels of the flag skip the sequence.
    fn select(early: u32, done: Value, then: Value) -> Bits {
        let mut out = then.0;
        for (i, o) in out.iter_mut().enumerate() {
            if early >> i & 1 == 1 {
                *o = done.0[i];
            }
        }
        out
    }
}

/// Returns an operand of any class, often a hard one: near powers of two, denormal, huge or
/// special.
fn operand(r: &mut Rng, ty: Type) -> u64 {
    let (fraction, exponents) = if ty == Type::F { (23, 255) } else { (52, 2047) };
    let sign = (r.u64() & 1) << (ty.bits() - 1);
    let full = (1u64 << fraction) - 1;
    let f = match r.u64() % 4 {
        0 => r.u64() % 8,
        1 => full - r.u64() % 8,
        2 => (r.u64() & full) >> (r.u64() % u64::from(fraction as u32)),
        _ => r.u64(),
    } & full;
    let e = match r.u64() % 8 {
        0 => r.u64() % 3,
        1 => exponents - r.u64() % 3,
        2 | 3 => exponents / 2 + r.u64() % 3,
        _ => r.u64() % exponents,
    };
    sign | e << fraction | f
}

fn lanes(r: &mut Rng, ty: Type) -> Bits {
    let mut out = [0; LANES];
    out.iter_mut().for_each(|o| *o = operand(r, ty));
    out
}

fn same(ty: Type, got: u64, want: u64) -> bool {
    let nan = |b| convert::float_value(b, ty, &FpMode::IEEE).is_nan();
    got == want || nan(got) && nan(want)
}

#[test]
fn single_quotients_and_roots_are_correctly_rounded() {
    let seed = 401;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let ty = Type::F;
    let m = Machine {
        ty,
        round: Round::Nearest,
    };
    let single = |b: u64| f32::from_bits(b as u32);
    for _ in 0..30_000 {
        let (a, b) = (lanes(&mut r, ty), lanes(&mut r, ty));
        let q = m.divide(a, b, Round::Nearest);
        let s = m.square_root(a, Round::Nearest);
        for i in 0..LANES {
            let (x, y) = (single(a[i]), single(b[i]));
            let want = f(x / y);
            assert!(same(ty, q[i], want), "{x:e} / {y:e}: {:x} {want:x}", q[i]);
            let want = f(x.sqrt());
            assert!(same(ty, s[i], want), "sqrt {x:e}: {:x} {want:x}", s[i]);
        }
    }
}

#[test]
fn double_quotients_and_roots_are_correctly_rounded() {
    let seed = 402;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let ty = Type::Df;
    let m = Machine {
        ty,
        round: Round::Nearest,
    };
    for _ in 0..20_000 {
        let (a, b) = (lanes(&mut r, ty), lanes(&mut r, ty));
        let q = m.divide(a, b, Round::Nearest);
        let s = m.square_root(a, Round::Nearest);
        for i in 0..LANES {
            let (x, y) = (f64::from_bits(a[i]), f64::from_bits(b[i]));
            let want = (x / y).to_bits();
            assert!(same(ty, q[i], want), "{x:e} / {y:e}: {:x} {want:x}", q[i]);
            let want = x.sqrt().to_bits();
            assert!(same(ty, s[i], want), "sqrt {x:e}: {:x} {want:x}", s[i]);
        }
    }
}

/// Steps before the last one round to nearest, and the last one in the mode of the program.
#[test]
fn quotients_and_roots_round_in_every_mode() {
    let seed = 403;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for (ty, format) in [(Type::F, Format::SINGLE), (Type::Df, Format::DOUBLE)] {
        let m = Machine {
            ty,
            round: Round::Nearest,
        };
        for _ in 0..2_000 {
            let (a, b) = (lanes(&mut r, ty), lanes(&mut r, ty));
            for round in [Round::Up, Round::Down, Round::Zero] {
                let q = m.divide(a, b, round);
                let s = m.square_root(a, round);
                for i in 0..LANES {
                    let (x, y) = (format.value(a[i]), format.value(b[i]));
                    if x.is_finite() && y.is_finite() && x != 0.0 && y != 0.0 {
                        let want = quotient(x, y).pack(format, round);
                        assert!(q[i] == want, "{x:e} / {y:e} {round:?}: {:x} {want:x}", q[i]);
                    }
                    if x.is_finite() && x > 0.0 {
                        let want = root(x).pack(format, round);
                        assert!(s[i] == want, "sqrt {x:e} {round:?}: {:x} {want:x}", s[i]);
                    }
                }
            }
        }
    }
}

/// Returns the exact quotient to 64 bits and a sticky one, by integer division.
fn quotient(x: f64, y: f64) -> Real {
    let (a, b) = (Real::of(x), Real::of(y));
    let (up, down) = (a.mant.leading_zeros() - 1, b.mant.trailing_zeros());
    let (n, d) = (a.mant << up, b.mant >> down);
    Real {
        negative: a.negative != b.negative,
        mant: (n / d) << 1 | u128::from(n % d != 0),
        exp: a.exp - up as i32 - b.exp - down as i32 - 1,
    }
}

/// Returns the exact square root to 60 bits and a sticky one, by integer square root.
fn root(x: f64) -> Real {
    let a = Real::of(x);
    let mut up = a.mant.leading_zeros() - 2;
    if (a.exp - up as i32) % 2 != 0 {
        up -= 1;
    }
    let n = a.mant << up;
    let s = n.isqrt();
    Real {
        negative: false,
        mant: s << 1 | u128::from(s * s != n),
        exp: (a.exp - up as i32) / 2 - 1,
    }
}

#[test]
fn special_operands_exit_early() {
    let m = Machine {
        ty: Type::F,
        round: Round::Nearest,
    };
    let of = |v: f32| Value([f(v); LANES], [0; LANES]);
    for (a, b, done) in [
        (1.0, 3.0, false),
        (1.0, 0.0, true),
        (0.0, -3.0, true),
        (f32::NAN, 1.0, true),
        (1.0, f32::INFINITY, true),
        (f32::INFINITY, 2.0, true),
    ] {
        let (v, flag) = m.run(Op::Math, Some(MathFn::Invm), true, &[of(a), of(b)], 3);
        assert_eq!(flag & 1 == 1, done, "{a} / {b}");
        if done {
            assert!(same(Type::F, v.0[0], f(a / b)), "{a} / {b}");
        }
    }
}
