mod coverage;
mod macros;
mod rounding;

use super::*;
use half::f16;

pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn u64(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let x = self.0 ^ self.0 >> 33;
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ x >> 29
    }

    /// Returns random element bits, with special values among them.
    fn bits(&mut self, ty: Type) -> u64 {
        let raw = self.u64() >> (self.u64() % 64);
        let special = [
            0,
            1,
            u64::MAX,
            1 << 31,
            1 << 63,
            0x7fff_ffff,
            0x7f80_0000,
            0x7fc0_0001,
        ];
        let v = match self.u64() % 4 {
            0 => special[(self.u64() % 8) as usize],
            1 if ty == Type::F => u64::from(((self.u64() % 2000) as f32 / 8.0 - 100.0).to_bits()),
            _ => raw,
        };
        v & convert::element_mask(ty)
    }
}

fn alu(op: Op, dst: Type, srcs: &[Type]) -> AluOp {
    let mut s = [None; 3];
    for (o, t) in s.iter_mut().zip(srcs) {
        *o = Some(*t);
    }
    AluOp {
        op,
        math: None,
        sat: false,
        cond: None,
        dst,
        srcs: s,
        mods: [SrcMods::default(); 3],
        table: 0,
    }
}

fn one(a: &AluOp, v: [u64; 3]) -> u64 {
    run(a, v).bits[0]
}

fn run(a: &AluOp, v: [u64; 3]) -> Outcome {
    let lanes = v.map(|b| [b; LANES]);
    eval(a, 1, [&lanes[0], &lanes[1], &lanes[2]], &Extra::default()).unwrap()
}

fn f(v: f32) -> u64 {
    u64::from(v.to_bits())
}

fn d(v: i32) -> u64 {
    u64::from(v as u32)
}

const INTS: [Type; 8] = [
    Type::Ub,
    Type::B,
    Type::Uw,
    Type::W,
    Type::Ud,
    Type::D,
    Type::Uq,
    Type::Q,
];

#[test]
fn integer_arithmetic_of_any_types_is_exact_then_narrowed() {
    let seed = 11;
    println!("seed {seed}");
    let mut r = Rng(seed);
    for _ in 0..40_000 {
        let pick = |r: &mut Rng| INTS[(r.u64() % 8) as usize];
        let (t0, t1, dst) = (pick(&mut r), pick(&mut r), pick(&mut r));
        let (a, b) = (r.bits(t0), r.bits(t1));
        let (x, y) = (convert::int_value(a, t0), convert::int_value(b, t1));
        for (op, want) in [
            (Op::Add, x + y),
            (Op::Mul, x.wrapping_mul(y)),
            (Op::And, x & y),
            (Op::Or, x | y),
            (Op::Xor, x ^ y),
            (Op::Avg, (x + y + 1) >> 1),
        ] {
            let mut o = alu(op, dst, &[t0, t1]);
            let low = want as u64 & convert::element_mask(dst);
            assert_eq!(
                one(&o, [a, b, 0]),
                low,
                "{op:?} {t0} {t1} {dst} {a:x} {b:x}"
            );
            o.sat = true;
            let (lo, hi) = convert::int_range(dst);
            let sat = want.clamp(lo, hi) as u64 & convert::element_mask(dst);
            assert_eq!(
                one(&o, [a, b, 0]),
                sat,
                "{op:?}.sat {t0} {t1} {dst} {a:x} {b:x}"
            );
        }
        // Subtraction is addition of a negated source.
        let mut o = alu(Op::Add, dst, &[t0, t1]);
        o.mods[1].neg = true;
        let low = (x - y) as u64 & convert::element_mask(dst);
        assert_eq!(one(&o, [a, b, 0]), low);
        for (cond, want) in [
            (Cond::Eq, x == y),
            (Cond::Ne, x != y),
            (Cond::Lt, x < y),
            (Cond::Le, x <= y),
            (Cond::Gt, x > y),
            (Cond::Ge, x >= y),
        ] {
            let mut o = alu(Op::Cmp, dst, &[t0, t1]);
            o.cond = Some(cond);
            let out = run(&o, [a, b, 0]);
            assert_eq!(out.flags == 1, want, "{cond} {x} {y}");
            let ones = if want { convert::element_mask(dst) } else { 0 };
            assert_eq!(out.bits[0], ones);
        }
    }
}

#[test]
fn shifts_take_counts_modulo_the_operand_width() {
    let s = |op, t, a, n: u64| one(&alu(op, t, &[t, Type::Ud]), [a, n, 0]);
    assert_eq!(s(Op::Shl, Type::Ud, 1, 33), 2);
    assert_eq!(s(Op::Shl, Type::Uq, 1, 33), 1 << 33);
    assert_eq!(s(Op::Shr, Type::Ud, 0x8000_0000, 31), 1);
    assert_eq!(s(Op::Asr, Type::D, 0x8000_0000, 31), 0xffff_ffff);
    assert_eq!(s(Op::Asr, Type::Ud, 0x8000_0000, 31), 1);
    assert_eq!(s(Op::Shr, Type::Uq, u64::MAX, 60), 15);
    assert_eq!(s(Op::Asr, Type::Q, u64::MAX << 63, 63), u64::MAX);
    // A signed source of a logical shift counts as its bits.
    assert_eq!(s(Op::Shr, Type::D, 0xffff_ffff, 28), 15);
}

#[test]
fn bit_operations() {
    let u = |op, a| one(&alu(op, Type::Ud, &[Type::Ud]), [a, 0, 0]);
    assert_eq!(u(Op::Bfrev, 1), 0x8000_0000);
    assert_eq!(u(Op::Cbit, 0xff00_ff01), 17);
    assert_eq!((u(Op::Lzd, 0), u(Op::Lzd, 1)), (32, 31));
    assert_eq!((u(Op::Fbl, 0), u(Op::Fbl, 0x50)), (0xffff_ffff, 4));
    assert_eq!((u(Op::Fbh, 0), u(Op::Fbh, 0x50)), (0xffff_ffff, 25));
    let s = |a| one(&alu(Op::Fbh, Type::Ud, &[Type::D]), [a, 0, 0]);
    assert_eq!((s(d(-1)), s(d(-2)), s(d(1)), s(0)), (d(-1), 31, 31, d(-1)));
    let t3 = |op, ty, a, b, c| one(&alu(op, ty, &[ty, ty, ty]), [a, b, c]);
    // Width 8 from bit 4.
    assert_eq!(t3(Op::Bfe, Type::Ud, 8, 4, 0x0000_0ab5), 0xab);
    assert_eq!(t3(Op::Bfe, Type::D, 8, 4, 0x0000_0ab5), d(-0x55));
    assert_eq!(t3(Op::Bfe, Type::Ud, 0, 4, 0xffff), 0);
    assert_eq!(t3(Op::Bfe, Type::D, 16, 24, 0x8000_0000), d(-128));
    let mask = one(&alu(Op::Bfi1, Type::Ud, &[Type::Ud, Type::Ud]), [8, 4, 0]);
    assert_eq!(mask, 0xff0);
    // The inserted bits begin at bit 0.
    assert_eq!(
        t3(Op::Bfi2, Type::Ud, mask, 0xffff_ffab, 0x5555_5555),
        0x5555_5ab5
    );
    assert_eq!(t3(Op::Bfi2, Type::Ud, 0, 0xab, 0x5555_5555), 0x5555_5555);
}

#[test]
fn carries_and_high_products() {
    let mut r = Rng(5);
    for _ in 0..10_000 {
        let (a, b) = (r.bits(Type::Ud), r.bits(Type::Ud));
        let o = run(&alu(Op::Addc, Type::Ud, &[Type::Ud, Type::Ud]), [a, b, 0]);
        assert_eq!(o.bits[0] | (o.acc.unwrap()[0] as u64) << 32, a + b);
        let o = run(&alu(Op::Subb, Type::Ud, &[Type::Ud, Type::Ud]), [a, b, 0]);
        assert_eq!(o.bits[0], a.wrapping_sub(b) & 0xffff_ffff);
        assert_eq!(o.acc.unwrap()[0], i64::from(a < b));
        for (ty, low, want) in [
            (Type::Ud, Type::Uw, (a * b) >> 32),
            (
                Type::D,
                Type::Uw,
                ((a as i32 as i64 * b as i32 as i64) >> 32) as u32 as u64,
            ),
        ] {
            // As compilers write it: the low word's product to the accumulator, then `mach`.
            let first = run(&alu(Op::Mul, ty, &[ty, low]), [a, b & 0xffff, 0]);
            let extra = Extra {
                acc: first.wide,
                ..Extra::default()
            };
            let (x, y) = ([a; LANES], [b; LANES]);
            let o = eval(&alu(Op::Mach, ty, &[ty, ty]), 1, [&x, &y, &y], &extra).unwrap();
            assert_eq!(o.bits[0], want, "{ty} {a:x} {b:x}");
            assert_eq!(o.acc.unwrap()[0] as u32, (a as u32).wrapping_mul(b as u32));
        }
    }
}

#[test]
fn integer_division_follows_the_math_unit() {
    let div = |f, ty, a, b| {
        let mut o = alu(Op::Math, ty, &[ty, ty]);
        o.math = Some(f);
        one(&o, [a, b, 0])
    };
    assert_eq!(div(MathFn::Iqot, Type::D, d(-7), d(2)), d(-3));
    assert_eq!(div(MathFn::Irem, Type::D, d(-7), d(2)), d(-1));
    assert_eq!(div(MathFn::Iqot, Type::Ud, d(-7), d(2)), 0x7fff_fffc);
    assert_eq!(div(MathFn::Iqot, Type::D, d(5), 0), d(i32::MAX));
    assert_eq!(div(MathFn::Iqot, Type::D, d(-5), 0), d(i32::MIN));
    assert_eq!(div(MathFn::Irem, Type::Ud, d(5), 0), 0xffff_ffff);
    assert_eq!(div(MathFn::Iqot, Type::D, d(i32::MIN), d(-1)), d(i32::MIN));
}

#[test]
fn single_float_fma_is_rounded_once() {
    let seed = 77;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let o = alu(Op::Mad, Type::F, &[Type::F, Type::F, Type::F]);
    for _ in 0..200_000 {
        let v = [r.bits(Type::F), r.bits(Type::F), r.bits(Type::F)];
        let [c, a, b] = v.map(|b| f32::from_bits(b as u32));
        let want = f32::mul_add(a, b, c);
        let got = f32::from_bits(one(&o, v) as u32);
        assert!(
            got == want || got.is_nan() && want.is_nan(),
            "{a:e} * {b:e} + {c:e}: {got:e} {want:e}"
        );
    }
    // Cases where rounding twice is wrong: the product's low bits decide a tie.
    let (a, b) = (1.0 + f32::EPSILON, 1.0 + f32::EPSILON);
    for c in [
        -1.0f32,
        1e-10,
        -1e-30,
        f32::MAX,
        2.0f32.powi(24),
        -2.0f32.powi(25),
    ] {
        let got = f32::from_bits(one(&o, [f(c), f(a), f(b)]) as u32);
        assert_eq!(got, f32::mul_add(a, b, c));
    }
}

#[test]
fn nan_rules() {
    let nan = f(f32::NAN);
    let cmp = |cond, a, b| {
        let mut o = alu(Op::Cmp, Type::F, &[Type::F, Type::F]);
        o.cond = Some(cond);
        run(&o, [a, b, 0]).flags
    };
    for c in [Cond::Eq, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge] {
        assert_eq!((cmp(c, nan, f(1.0)), cmp(c, f(1.0), nan)), (0, 0), "{c}");
    }
    assert_eq!(
        (cmp(Cond::Ne, nan, nan), cmp(Cond::Un, f(1.0), nan)),
        (1, 1)
    );
    assert_eq!(cmp(Cond::Eq, f(0.0), f(-0.0)), 1);
    // Minimum and maximum take the number.
    for c in [Cond::Lt, Cond::Ge] {
        let mut o = alu(Op::Sel, Type::F, &[Type::F, Type::F]);
        o.cond = Some(c);
        assert_eq!(one(&o, [nan, f(3.0), 0]), f(3.0));
        assert_eq!(one(&o, [f(3.0), nan, 0]), f(3.0));
        assert!(f32::from_bits(one(&o, [nan, nan, 0]) as u32).is_nan());
    }
    // Saturation converts a NaN to zero.
    let mut o = alu(Op::Add, Type::F, &[Type::F, Type::F]);
    o.sat = true;
    assert_eq!(one(&o, [nan, f(1.0), 0]), f(0.0));
    assert_eq!(one(&o, [f(0.75), f(1.0), 0]), f(1.0));
    assert_eq!(one(&o, [f(-0.75), f(0.5), 0]), f(0.0));
    // A move keeps a NaN's payload.
    let payload = 0x7fa0_1234;
    assert_eq!(
        one(&alu(Op::Mov, Type::F, &[Type::F]), [payload, 0, 0]),
        payload
    );
    let mut o = alu(Op::Mov, Type::F, &[Type::F]);
    o.mods[0].neg = true;
    assert_eq!(one(&o, [payload, 0, 0]), payload | 0x8000_0000);
}

#[test]
fn conversions() {
    let mov = |from, to, v| one(&alu(Op::Mov, to, &[from]), [v, 0, 0]);
    // Floats to integers: towards zero, clamped, a NaN is 0.
    for (v, want) in [
        (1.9f32, 1),
        (-1.9, -1),
        (3e9, i32::MAX),
        (-3e9, i32::MIN),
        (f32::NAN, 0),
        (f32::INFINITY, i32::MAX),
    ] {
        assert_eq!(mov(Type::F, Type::D, f(v)), d(want), "{v}");
    }
    assert_eq!(mov(Type::F, Type::Ud, f(-5.0)), 0);
    assert_eq!(mov(Type::F, Type::Ud, f(3e9)), 3_000_000_000);
    assert_eq!(mov(Type::F, Type::Ub, f(300.0)), 255);
    // Integers to floats: to nearest even.
    assert_eq!(mov(Type::D, Type::F, d(16_777_217)), f(16_777_216.0));
    assert_eq!(mov(Type::Ud, Type::F, 0xffff_ffff), f(4_294_967_296.0));
    assert_eq!(
        mov(Type::Uq, Type::Df, u64::MAX),
        (u64::MAX as f64).to_bits()
    );
    assert_eq!(
        mov(Type::W, Type::Hf, 2049),
        u64::from(f16::from_f32(2048.0).to_bits())
    );
    let mut r = Rng(3);
    for _ in 0..20_000 {
        let b = r.bits(Type::F);
        let v = f32::from_bits(b as u32);
        assert_eq!(mov(Type::F, Type::Df, b), f64::from(v).to_bits());
        let h = f16::from_f32(v);
        if !h.is_nan() {
            assert_eq!(mov(Type::F, Type::Hf, b), u64::from(h.to_bits()));
            assert_eq!(
                mov(Type::Hf, Type::F, u64::from(h.to_bits())),
                f(h.to_f32())
            );
        }
    }
}

#[test]
fn directed_rounding_brackets_the_exact_value() {
    let mut r = Rng(9);
    let mode = |round| FpMode {
        round,
        ..FpMode::IEEE
    };
    for _ in 0..50_000 {
        let (a, b) = (r.bits(Type::F), r.bits(Type::F));
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        if !x.is_finite() || !y.is_finite() {
            continue;
        }
        // The product is exact in double.
        let exact = f64::from(x) * f64::from(y);
        let (la, lb) = ([a; LANES], [b; LANES]);
        let with = |round| {
            let extra = Extra {
                mode: mode(round),
                ..Extra::default()
            };
            let o = eval(
                &alu(Op::Mul, Type::F, &[Type::F, Type::F]),
                1,
                [&la, &lb, &lb],
                &extra,
            )
            .unwrap();
            f64::from(f32::from_bits(o.bits[0] as u32))
        };
        let (down, up, zero) = (with(Round::Down), with(Round::Up), with(Round::Zero));
        assert!(down <= exact && exact <= up, "{x:e} {y:e}");
        assert_eq!(zero, if exact < 0.0 { up } else { down });
        assert!(down == up || (down as f32).next_up() == up as f32);
    }
    for (v, round, want) in [
        (1.0 + 1e-9, Round::Up, 0x3c01u16),
        (1.0 + 1e-9, Round::Zero, 0x3c00),
        (-1.0 - 1e-9, Round::Down, 0xbc01),
        (1e-12, Round::Up, 1),
        (-1e-12, Round::Down, 0x8001),
        (1e6, Round::Zero, 0x7bff),
        (1e6, Round::Up, 0x7c00),
    ] {
        assert_eq!(convert::to_half(v, round), want, "{v} {round:?}");
    }
}

#[test]
fn denormals_are_flushed_unless_kept() {
    let tiny = f(1e-40);
    let lanes = [tiny; LANES];
    let zero = [f(0.0); LANES];
    let add = alu(Op::Add, Type::F, &[Type::F, Type::F]);
    let with = |cr0| {
        let extra = Extra {
            mode: FpMode::of_cr0(cr0),
            ..Extra::default()
        };
        eval(&add, 1, [&lanes, &zero, &zero], &extra).unwrap().bits[0]
    };
    assert_eq!((with(0), with(0x80), with(0x4c0)), (0, tiny, tiny));
}

#[test]
fn packed_immediates() {
    let uv: Vec<u64> = (0..8)
        .map(|i| packed_imm(0x7654_3210, Type::Uv, i))
        .collect();
    assert_eq!(uv, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(packed_imm(0xf000_0000, Type::V, 7), 0xffff);
    let vf = [0x30, 0x00, 0x80, 0xc8].map(|b| f32::from_bits(restricted_float(b)));
    assert_eq!(vf, [1.0, 0.0, -0.0, -3.0]);
    assert_eq!(packed_imm(0x2030_4840, Type::Vf, 1), f(3.0));
}

#[test]
fn math_functions_are_within_an_ulp() {
    let mut r = Rng(21);
    type Pair = (MathFn, fn(f64, f64) -> f64);
    let table: [Pair; 9] = [
        (MathFn::Inv, |a, _| 1.0 / a),
        (MathFn::Log, |a, _| a.log2()),
        (MathFn::Exp, |a, _| a.exp2()),
        (MathFn::Sqt, |a, _| a.sqrt()),
        (MathFn::Rsqt, |a, _| 1.0 / a.sqrt()),
        (MathFn::Sin, |a, _| a.sin()),
        (MathFn::Cos, |a, _| a.cos()),
        (MathFn::Fdiv, |a, b| a / b),
        (MathFn::Pow, |a, b| a.powf(b)),
    ];
    for _ in 0..5_000 {
        let a = (r.u64() % 100_000) as f32 / 1000.0 + 0.001;
        let b = (r.u64() % 1000) as f32 / 100.0 + 0.01;
        for (function, exact) in table {
            let mut o = alu(Op::Math, Type::F, &[Type::F, Type::F]);
            o.math = Some(function);
            let got = f32::from_bits(one(&o, [f(a), f(b), 0]) as u32);
            let want = exact(f64::from(a), f64::from(b));
            let ulp = f64::from((want as f32).next_up() - want as f32);
            assert!((f64::from(got) - want).abs() <= ulp, "{function:?} {a} {b}");
        }
    }
}

#[test]
fn other_operations_are_errors() {
    let zero = [0; LANES];
    for op in [Op::Send, Op::Nop, Op::If, Op::Illegal] {
        for ty in [Type::D, Type::F] {
            let o = alu(op, ty, &[ty, ty]);
            assert!(eval(&o, 8, [&zero, &zero, &zero], &Extra::default()).is_err());
        }
    }
}

#[test]
fn every_boolean_function_follows_its_table() {
    // All eight combinations of bits, side by side.
    let (a, b, c) = ([0xaau32; 2], [0xcc; 2], [0xf0; 2]);
    for table in 0..=u8::MAX {
        let r = int::boolean(table, &a, &b, &c);
        assert_eq!(r.map(|v| v & 0xff), [u32::from(table); 2]);
    }
}
