//! Semantics of operations that correspond to one Gen operation. `isa-gen` defines each once, for
//! this interpreter and for the simulator.
//!
//! Lanes are bits, zero-extended from the width of the scalar type, both as operands and as
//! results.

use super::{Lanes, host};
use crate::ir::{FloatCC, IntCC, Opcode, Scalar};
use gantry_isa_gen::sem::{self, AluOp, Extra, FpMode, LANES, Outcome, Round};
use gantry_isa_gen::{Cond, MathFn, Op, SrcMods, Type};
use half::f16;

/// Returns the lane as a signed number.
pub(super) fn signed(scalar: Scalar, bits: u64) -> i64 {
    let shift = 64 - scalar.bits();
    ((bits << shift) as i64) >> shift
}

/// Returns the lane as a float.
pub(super) fn float(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        _ => bits as f64,
    }
}

/// Returns the Gen type of a lane: a signed or unsigned integer, or a float.
fn element(scalar: Scalar, sign: bool) -> Type {
    match (scalar, sign) {
        (Scalar::I8, true) => Type::B,
        // Lanes of a predicate are 0 and 1.
        (Scalar::I8 | Scalar::B1, _) => Type::Ub,
        (Scalar::I16, true) => Type::W,
        (Scalar::I16, false) => Type::Uw,
        (Scalar::I32, true) => Type::D,
        (Scalar::I32, false) => Type::Ud,
        (Scalar::I64, true) => Type::Q,
        (Scalar::I64, false) => Type::Uq,
        (Scalar::F16, _) => Type::Hf,
        (Scalar::F32, _) => Type::F,
        (Scalar::F64, _) => Type::Df,
    }
}

/// Makes a Gen operation on operands of one type.
fn machine(op: Op, sources: usize, ty: Type) -> AluOp {
    let mut srcs = [None; 3];
    for s in srcs.iter_mut().take(sources) {
        *s = Some(ty);
    }
    AluOp {
        op,
        math: None,
        sat: false,
        cond: None,
        dst: ty,
        srcs,
        mods: [SrcMods::default(); 3],
        table: 0,
    }
}

fn math(function: MathFn, sources: usize, ty: Type) -> AluOp {
    AluOp {
        math: Some(function),
        ..machine(Op::Math, sources, ty)
    }
}

/// Makes a move from one type to another.
fn convert(from: Type, to: Type, sat: bool) -> AluOp {
    AluOp {
        dst: to,
        sat,
        ..machine(Op::Mov, 1, from)
    }
}

/// Makes a minimum (`lt`) or maximum (`ge`).
fn select(cond: Cond, ty: Type) -> AluOp {
    AluOp {
        cond: Some(cond),
        ..machine(Op::Sel, 2, ty)
    }
}

/// Negates source 1.
fn minus(mut a: AluOp) -> AluOp {
    a.mods[1].neg = true;
    a
}

/// Runs an operation on lanes, and collects `each(outcome, lane)` for every group of channels.
/// Returns `None` if the operation is undefined, or an operand has too few lanes.
fn run(
    alu: &AluOp,
    args: &[&[u64]],
    mode: &FpMode,
    each: impl Fn(&Outcome, usize) -> u64,
) -> Option<Lanes> {
    let extra = Extra {
        mode: *mode,
        ..Extra::default()
    };
    let count = args.first()?.len();
    let mut out = Lanes::with_capacity(count);
    for first in (0..count).step_by(LANES) {
        let n = LANES.min(count - first);
        let mut lanes = [[0; LANES]; 3];
        for (to, from) in lanes.iter_mut().zip(args) {
            to.get_mut(..n)?
                .copy_from_slice(from.get(first..first + n)?);
        }
        let [a, b, c] = &lanes;
        let outcome = sem::eval(alu, n, [a, b, c], &extra).ok()?;
        out.extend((0..n).map(|i| each(&outcome, i)));
    }
    Some(out)
}

/// Returns the lanes of the destination.
fn results(alu: &AluOp, args: &[&[u64]], to: Scalar, mode: &FpMode) -> Option<Lanes> {
    let mask = to.mask();
    run(alu, args, mode, |o, i| o.bits[i] & mask)
}

/// Returns the rounding mode that an opcode names, and the opcode of the operation itself.
fn explicit(opcode: Opcode) -> Option<(Opcode, Round)> {
    use Opcode::*;
    Some(match opcode {
        FcvtFromSintRte => (FcvtFromSint, Round::Nearest),
        FcvtFromSintRtz => (FcvtFromSint, Round::Zero),
        FcvtFromSintRtp => (FcvtFromSint, Round::Up),
        FcvtFromSintRtn => (FcvtFromSint, Round::Down),
        FcvtFromUintRte => (FcvtFromUint, Round::Nearest),
        FcvtFromUintRtz => (FcvtFromUint, Round::Zero),
        FcvtFromUintRtp => (FcvtFromUint, Round::Up),
        FcvtFromUintRtn => (FcvtFromUint, Round::Down),
        FdemoteRte => (Fdemote, Round::Nearest),
        FdemoteRtz => (Fdemote, Round::Zero),
        FdemoteRtp => (Fdemote, Round::Up),
        FdemoteRtn => (Fdemote, Round::Down),
        _ => return None,
    })
}

/// Splits a conversion to integers that does not round toward zero. Returns the rounding to an
/// integral float, and the conversion.
fn rounded(opcode: Opcode) -> Option<(Opcode, Opcode)> {
    use Opcode::*;
    Some(match opcode {
        FcvtToSintRte => (Fnearest, FcvtToSint),
        FcvtToSintRtp => (Fceil, FcvtToSint),
        FcvtToSintRtn => (Ffloor, FcvtToSint),
        FcvtToUintRte => (Fnearest, FcvtToUint),
        FcvtToUintRtp => (Fceil, FcvtToUint),
        FcvtToUintRtn => (Ffloor, FcvtToUint),
        _ => return None,
    })
}

/// Executes an operation of one operand; `None` for other opcodes.
pub(super) fn unary(
    opcode: Opcode,
    from: Scalar,
    to: Scalar,
    x: &[u64],
    mode: &FpMode,
) -> Option<Lanes> {
    let by_host = x.iter().map(|&x| host::unary(opcode, from, x, mode));
    if let Some(lanes) = by_host.collect() {
        return Some(lanes);
    }
    let small = match opcode {
        Opcode::FdemoteBf16Rte => Some((Type::F, Type::Bf)),
        Opcode::FdemoteTf32Rte => Some((Type::F, Type::Tf32)),
        Opcode::FdemoteBf8Rte => Some((Type::Hf, Type::Bf8)),
        Opcode::FpromoteBf8 => Some((Type::Bf8, Type::Hf)),
        _ => None,
    };
    if let Some((from, into)) = small {
        let alu = convert(from, into, false);
        let round = Round::Nearest;
        return results(&alu, &[x], to, &FpMode { round, ..*mode });
    }
    if let Some((plain, round)) = explicit(opcode) {
        return unary(plain, from, to, x, &FpMode { round, ..*mode });
    }
    if let Some((round, convert)) = rounded(opcode) {
        let whole = unary(round, from, from, x, mode)?;
        return unary(convert, from, to, &whole, mode);
    }
    let (s, u) = (element(from, true), element(from, false));
    let same = |op| machine(op, 1, u);
    let alu = match opcode {
        Opcode::Ineg | Opcode::Fneg => {
            let mut a = machine(Op::Mov, 1, s);
            a.mods[0].neg = true;
            a
        }
        Opcode::Iabs | Opcode::Fabs => {
            let mut a = machine(Op::Mov, 1, s);
            a.mods[0].abs = true;
            a
        }
        Opcode::Bnot => same(Op::Not),
        Opcode::Bfrev => same(Op::Bfrev),
        Opcode::Popcnt => same(Op::Cbit),
        Opcode::Clz => same(Op::Lzd),
        Opcode::FbhU => same(Op::Fbh),
        Opcode::FbhS => AluOp {
            dst: u,
            ..machine(Op::Fbh, 1, s)
        },
        Opcode::Fbl => same(Op::Fbl),
        Opcode::Sextend | Opcode::FcvtFromSint => convert(s, element(to, true), false),
        Opcode::Uextend | Opcode::Ireduce | Opcode::FcvtFromUint => {
            convert(u, element(to, false), false)
        }
        Opcode::SstruncSat => convert(s, element(to, true), true),
        Opcode::SutruncSat => convert(s, element(to, false), true),
        Opcode::UstruncSat => convert(u, element(to, true), true),
        Opcode::UutruncSat => convert(u, element(to, false), true),
        Opcode::FcvtToSint => convert(u, element(to, true), false),
        Opcode::FcvtToUint | Opcode::Fpromote | Opcode::Fdemote => {
            convert(u, element(to, false), false)
        }
        Opcode::Fsat => convert(u, u, true),
        Opcode::Ffloor => same(Op::Rndd),
        Opcode::Fceil => same(Op::Rndu),
        Opcode::Ftrunc => same(Op::Rndz),
        Opcode::Fnearest => same(Op::Rnde),
        Opcode::Ffrac => same(Op::Frc),
        Opcode::Finv => math(MathFn::Inv, 1, u),
        Opcode::Fsqrt => math(MathFn::Sqt, 1, u),
        Opcode::Frsqrt => math(MathFn::Rsqt, 1, u),
        Opcode::Fexp2 => math(MathFn::Exp, 1, u),
        Opcode::Flog2 => math(MathFn::Log, 1, u),
        Opcode::Fsin => math(MathFn::Sin, 1, u),
        Opcode::Fcos => math(MathFn::Cos, 1, u),
        _ => return None,
    };
    results(&alu, &[x], to, mode)
}

/// Executes an operation of two operands of one type; `None` for other opcodes.
pub(super) fn binary(
    opcode: Opcode,
    t: Scalar,
    to: Scalar,
    a: &[u64],
    b: &[u64],
    mode: &FpMode,
) -> Option<Lanes> {
    let by_host = a.iter().zip(b);
    let by_host = by_host.map(|(&a, &b)| host::binary(opcode, t, to, a, b, mode));
    if let Some(lanes) = by_host.collect() {
        return Some(lanes);
    }
    let quotient = matches!(
        opcode,
        Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem
    );
    if quotient && t.bits() < 32 {
        // Narrower numbers are divided as 32-bit numbers, and the result is truncated.
        let sign = matches!(opcode, Opcode::Sdiv | Opcode::Srem);
        let i32 = |x: &[u64]| -> Lanes {
            let wide = |&v: &u64| if sign { signed(t, v) as u32 } else { v as u32 };
            x.iter().map(wide).map(u64::from).collect()
        };
        let whole = binary(opcode, Scalar::I32, Scalar::I32, &i32(a), &i32(b), mode)?;
        return Some(whole.iter().map(|v| v & t.mask()).collect());
    }
    let (s, u) = (element(t, true), element(t, false));
    let two = |op, ty| machine(op, 2, ty);
    let alu = match opcode {
        Opcode::Iadd | Opcode::Iaddc | Opcode::Fadd => two(Op::Add, u),
        Opcode::Isub | Opcode::Isubb | Opcode::Fsub => minus(two(Op::Add, u)),
        Opcode::Imul | Opcode::Fmul => two(Op::Mul, u),
        Opcode::Smin | Opcode::Fmin => select(Cond::Lt, s),
        Opcode::Smax | Opcode::Fmax => select(Cond::Ge, s),
        Opcode::Umin => select(Cond::Lt, u),
        Opcode::Umax => select(Cond::Ge, u),
        Opcode::FdemoteStochastic => AluOp {
            dst: match to {
                Scalar::I8 => Type::Bf8,
                _ => Type::Hf,
            },
            ..two(Op::Srnd, u)
        },
        Opcode::Savg => two(Op::Avg, s),
        Opcode::Uavg => two(Op::Avg, u),
        Opcode::Band => two(Op::And, u),
        Opcode::Bor => two(Op::Or, u),
        Opcode::Bxor => two(Op::Xor, u),
        Opcode::Ishl | Opcode::Ushr | Opcode::Sshr => {
            let alu = match opcode {
                Opcode::Ishl => two(Op::Shl, u),
                Opcode::Ushr => two(Op::Shr, u),
                _ => two(Op::Asr, s),
            };
            // Gen takes counts modulo 32 or 64, regardless of the lane's width.
            let bits = u64::from(t.bits());
            let counts: Lanes = b.iter().map(|c| c % bits).collect();
            return results(&alu, &[a, &counts], t, mode);
        }
        Opcode::Sdiv => math(MathFn::Iqot, 2, s),
        Opcode::Srem => math(MathFn::Irem, 2, s),
        Opcode::Udiv => math(MathFn::Iqot, 2, u),
        Opcode::Urem => math(MathFn::Irem, 2, u),
        Opcode::Fdiv => math(MathFn::Fdiv, 2, u),
        Opcode::Fpow => math(MathFn::Pow, 2, u),
        _ => return None,
    };
    results(&alu, &[a, b], t, mode)
}

/// Returns the second result of `iaddc` and `isubb`: carry, borrow.
pub(super) fn carry(opcode: Opcode, t: Scalar, a: &[u64], b: &[u64]) -> Lanes {
    let lanes = a.iter().zip(b);
    lanes.map(|(&a, &b)| host::carry(opcode, t, a, b)).collect()
}

/// Executes an operation of three operands of one type; `None` for other opcodes.
pub(super) fn ternary(
    opcode: Opcode,
    t: Scalar,
    [a, b, c]: [&[u64]; 3],
    mode: &FpMode,
) -> Option<Lanes> {
    let by_host = a.iter().zip(b).zip(c);
    let by_host = by_host.map(|((&a, &b), &c)| host::ternary(opcode, t, a, b, c));
    if let Some(lanes) = by_host.collect() {
        return Some(lanes);
    }
    let (s, u) = (element(t, true), element(t, false));
    let three = |op, ty| machine(op, 3, ty);
    let (alu, args) = match opcode {
        // In Gen the addend is the first source.
        Opcode::Imad | Opcode::Fma => (three(Op::Mad, u), [c, a, b]),
        Opcode::Ubfe => (three(Op::Bfe, u), [a, b, c]),
        Opcode::Sbfe => (three(Op::Bfe, s), [a, b, c]),
        Opcode::Flrp => (three(Op::Lrp, u), [a, b, c]),
        _ => return None,
    };
    results(&alu, &args, t, mode)
}

/// Executes `cmp`: 1 where the condition holds.
fn compare(cond: Cond, ty: Type, a: &[u64], b: &[u64], mode: &FpMode) -> Option<Lanes> {
    let alu = AluOp {
        cond: Some(cond),
        ..machine(Op::Cmp, 2, ty)
    };
    run(&alu, &[a, b], mode, |o, i| u64::from(o.flags >> i & 1))
}

/// Executes `icmp`.
pub(super) fn int_compare(cond: IntCC, t: Scalar, a: &[u64], b: &[u64]) -> Option<Lanes> {
    let (cond, sign) = match cond {
        IntCC::Equal => (Cond::Eq, false),
        IntCC::NotEqual => (Cond::Ne, false),
        IntCC::SignedLessThan => (Cond::Lt, true),
        IntCC::SignedLessThanOrEqual => (Cond::Le, true),
        IntCC::SignedGreaterThan => (Cond::Gt, true),
        IntCC::SignedGreaterThanOrEqual => (Cond::Ge, true),
        IntCC::UnsignedLessThan => (Cond::Lt, false),
        IntCC::UnsignedLessThanOrEqual => (Cond::Le, false),
        IntCC::UnsignedGreaterThan => (Cond::Gt, false),
        IntCC::UnsignedGreaterThanOrEqual => (Cond::Ge, false),
    };
    compare(cond, element(t, sign), a, b, &FpMode::IEEE)
}

/// Executes `fcmp`.
pub(super) fn float_compare(
    cond: FloatCC,
    t: Scalar,
    a: &[u64],
    b: &[u64],
    mode: &FpMode,
) -> Option<Lanes> {
    let cond = match cond {
        FloatCC::Equal => Cond::Eq,
        FloatCC::NotEqual => Cond::Ne,
        FloatCC::LessThan => Cond::Lt,
        FloatCC::LessThanOrEqual => Cond::Le,
        FloatCC::GreaterThan => Cond::Gt,
        FloatCC::GreaterThanOrEqual => Cond::Ge,
    };
    compare(cond, element(t, false), a, b, mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir;
    use crate::ir::interp::reference;

    const IEEE: &FpMode = &FpMode::IEEE;

    struct Rng(u64);

    impl Rng {
        fn u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        }

        /// Returns random lanes, with special values among them.
        fn lanes(&mut self, t: Scalar) -> Lanes {
            let special = [0, 1, u64::MAX, 1 << (t.bits() - 1), t.mask() >> 1, 5];
            (0..70)
                .map(|_| match (self.u64() % 4, t) {
                    (0, _) => special[(self.u64() % 6) as usize],
                    (1, Scalar::F32) => u64::from(((self.u64() % 999) as f32 / 8.0).to_bits()),
                    (1, Scalar::F64) => ((self.u64() % 999) as f64 / 8.0).to_bits(),
                    _ => self.u64() >> (self.u64() % 64),
                })
                .map(|v| v & t.mask())
                .collect()
        }
    }

    const INTS: [Scalar; 4] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
    const FLOATS: [Scalar; 3] = [Scalar::F16, Scalar::F32, Scalar::F64];

    /// Compares bits. Two NaNs are equal, and so are zeros of either sign where the operation
    /// leaves the sign open.
    fn same(t: Scalar, got: u64, want: u64) -> bool {
        let (x, y) = (float(t, got), float(t, want));
        got == want || t.is_float() && (x.is_nan() && y.is_nan() || x == 0.0 && y == 0.0)
    }

    #[test]
    fn unary_operations_match_the_host() {
        let seed = 51;
        println!("seed {seed}");
        let mut r = Rng(seed);
        let all = INTS.iter().chain(&FLOATS);
        for (from, to) in all.clone().flat_map(|f| all.clone().map(move |t| (*f, *t))) {
            let (wider, ints) = (to.bits() > from.bits(), from.is_int() && to.is_int());
            for opcode in [
                Opcode::Ineg,
                Opcode::Iabs,
                Opcode::Bnot,
                Opcode::Bfrev,
                Opcode::Popcnt,
                Opcode::Clz,
                Opcode::FbhU,
                Opcode::FbhS,
                Opcode::Fbl,
                Opcode::Sextend,
                Opcode::Uextend,
                Opcode::Ireduce,
                Opcode::SstruncSat,
                Opcode::SutruncSat,
                Opcode::UstruncSat,
                Opcode::UutruncSat,
                Opcode::FcvtFromSint,
                Opcode::FcvtFromUint,
                Opcode::FcvtToSint,
                Opcode::FcvtToUint,
                Opcode::Fpromote,
                Opcode::Fdemote,
                Opcode::Fneg,
                Opcode::Fabs,
                Opcode::Fsat,
                Opcode::Ffloor,
                Opcode::Fceil,
                Opcode::Ftrunc,
                Opcode::Fnearest,
                Opcode::Ffrac,
                Opcode::Finv,
                Opcode::Fsqrt,
            ] {
                let fits = match opcode {
                    Opcode::Ineg | Opcode::Iabs | Opcode::Bnot => ints && from == to,
                    Opcode::Sextend | Opcode::Uextend => ints && wider,
                    Opcode::Ireduce
                    | Opcode::SstruncSat
                    | Opcode::SutruncSat
                    | Opcode::UstruncSat
                    | Opcode::UutruncSat => ints && to.bits() < from.bits(),
                    Opcode::FcvtFromSint | Opcode::FcvtFromUint => from.is_int() && to.is_float(),
                    Opcode::FcvtToSint | Opcode::FcvtToUint => from.is_float() && to.is_int(),
                    Opcode::Fpromote => from.is_float() && to.is_float() && wider,
                    // The host's conversion to half goes through a single, which would round twice.
                    Opcode::Fdemote => from == Scalar::F32 && to == Scalar::F16,
                    Opcode::Finv | Opcode::Fsqrt => from == to && from == Scalar::F32,
                    o if o.name().starts_with('f') && !o.name().starts_with("fb") => {
                        from.is_float() && from == to
                    }
                    _ => from == Scalar::I32 && from == to,
                };
                if !fits {
                    continue;
                }
                let x = r.lanes(from);
                let got = unary(opcode, from, to, &x, IEEE).unwrap();
                for (x, got) in x.iter().zip(got) {
                    let types = (ir::Type::scalar_of(from), ir::Type::scalar_of(to));
                    let want = reference::unary(opcode, types.0, types.1, *x).unwrap();
                    let what = opcode.name();
                    assert!(
                        same(to, got, want),
                        "{what} {from} {to} {x:#x}: {got:#x} {want:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn binary_operations_match_the_host() {
        let seed = 52;
        println!("seed {seed}");
        let mut r = Rng(seed);
        let any = [
            Opcode::Iadd,
            Opcode::Isub,
            Opcode::Imul,
            Opcode::Smin,
            Opcode::Smax,
            Opcode::Umin,
            Opcode::Umax,
            Opcode::Band,
            Opcode::Bor,
            Opcode::Bxor,
            Opcode::Ishl,
            Opcode::Ushr,
            Opcode::Sshr,
            Opcode::Savg,
            Opcode::Uavg,
        ];
        let dword = [
            Opcode::Smulh,
            Opcode::Umulh,
            Opcode::Sdiv,
            Opcode::Udiv,
            Opcode::Srem,
            Opcode::Urem,
        ];
        let floats = [
            Opcode::Fadd,
            Opcode::Fsub,
            Opcode::Fmul,
            Opcode::Fmin,
            Opcode::Fmax,
        ];
        for _ in 0..40 {
            for t in INTS.into_iter().chain(FLOATS) {
                let (a, b) = (r.lanes(t), r.lanes(t));
                let opcodes: Vec<Opcode> = match t {
                    t if t.is_float() => floats.to_vec(),
                    Scalar::I64 => any.to_vec(),
                    Scalar::I32 => [&any[..], &dword].concat(),
                    _ => [&any[..]].concat(),
                };
                for opcode in opcodes {
                    let got = binary(opcode, t, t, &a, &b, IEEE).unwrap();
                    for ((a, b), got) in a.iter().zip(&b).zip(got) {
                        let want = reference::binary(opcode, t, *a, *b).unwrap();
                        let what = opcode.name();
                        assert!(
                            same(t, got, want),
                            "{what} {t} {a:#x} {b:#x}: {got:#x} {want:#x}"
                        );
                    }
                }
                if t == Scalar::I32 {
                    for opcode in [Opcode::Iaddc, Opcode::Isubb] {
                        let got = carry(opcode, t, &a, &b);
                        for ((a, b), got) in a.iter().zip(&b).zip(got) {
                            assert_eq!(got, reference::carry(opcode, t, *a, *b));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn compares_and_ternary_operations_match_the_host() {
        let seed = 53;
        println!("seed {seed}");
        let mut r = Rng(seed);
        for _ in 0..40 {
            for t in INTS {
                let (a, b, c) = (r.lanes(t), r.lanes(t), r.lanes(t));
                let mut opcodes = vec![Opcode::Imad];
                if t == Scalar::I32 {
                    opcodes.extend([Opcode::Ubfe, Opcode::Sbfe]);
                }
                for opcode in opcodes {
                    let got = ternary(opcode, t, [&a, &b, &c], IEEE).unwrap();
                    for (i, got) in got.iter().enumerate() {
                        let want = reference::ternary(opcode, t, a[i], b[i], c[i]).unwrap();
                        assert_eq!(*got, want, "{} {t}", opcode.name());
                    }
                }
                for cond in IntCC::ALL {
                    let got = int_compare(cond, t, &a, &b).unwrap();
                    for (i, got) in got.iter().enumerate() {
                        let want = reference::int_compare(cond, t, a[i], b[i]);
                        assert_eq!(*got == 1, want, "{cond} {t} {:#x} {:#x}", a[i], b[i]);
                    }
                }
            }
            for t in FLOATS {
                let (a, b, c) = (r.lanes(t), r.lanes(t), r.lanes(t));
                for cond in FloatCC::ALL {
                    let got = float_compare(cond, t, &a, &b, IEEE).unwrap();
                    for (i, got) in got.iter().enumerate() {
                        let want = reference::float_compare(cond, t, a[i], b[i]);
                        assert_eq!(*got == 1, want, "{cond} {t}");
                    }
                }
                if t != Scalar::F16 {
                    let got = ternary(Opcode::Fma, t, [&a, &b, &c], IEEE).unwrap();
                    for (i, got) in got.iter().enumerate() {
                        let want = reference::ternary(Opcode::Fma, t, a[i], b[i], c[i]).unwrap();
                        assert!(same(t, *got, want), "fma {t}");
                    }
                }
            }
        }
    }

    fn i32s(opcode: Opcode, a: i32, b: i32) -> Option<i32> {
        let (a, b) = (u64::from(a as u32), u64::from(b as u32));
        Some(binary(opcode, Scalar::I32, Scalar::I32, &[a], &[b], IEEE)?[0] as i32)
    }

    fn un(opcode: Opcode, from: Scalar, to: Scalar, x: u64) -> Option<u64> {
        Some(unary(opcode, from, to, &[x], IEEE)?[0])
    }

    #[test]
    fn integers() {
        assert_eq!(i32s(Opcode::Iadd, i32::MAX, 1), Some(i32::MIN));
        assert_eq!(i32s(Opcode::Smulh, -1, 1), Some(-1));
        assert_eq!(i32s(Opcode::Umulh, -1, -1), Some(-2));
        assert_eq!(i32s(Opcode::Savg, -1, -2), Some(-1));
        assert_eq!(i32s(Opcode::Sshr, -8, 33), Some(-4));
        assert_eq!(i32s(Opcode::Ushr, -8, 60), Some(15));
        assert_eq!(i32s(Opcode::Sdiv, -7, 2), Some(-3));
        assert_eq!(i32s(Opcode::Srem, -7, 2), Some(-1));
        assert_eq!(i32s(Opcode::Sdiv, i32::MIN, -1), Some(i32::MIN));
        assert_eq!(i32s(Opcode::Udiv, 7, 0), Some(-1));
        assert_eq!(i32s(Opcode::Sdiv, -7, 0), Some(i32::MIN));
        assert_eq!(
            binary(Opcode::Ishl, Scalar::I8, Scalar::I8, &[0x81], &[9], IEEE),
            Some(vec![0x02])
        );
        assert_eq!(
            carry(Opcode::Iaddc, Scalar::I32, &[0xffff_ffff], &[1]),
            vec![1]
        );
        assert_eq!(carry(Opcode::Isubb, Scalar::I32, &[0], &[1]), vec![1]);
        assert_eq!(
            ternary(Opcode::Sbfe, Scalar::I32, [&[4], &[4], &[0xf0]], IEEE),
            Some(vec![0xffff_ffff])
        );
        assert_eq!(
            ternary(
                Opcode::Ubfe,
                Scalar::I32,
                [&[8], &[28], &[0xa000_0000]],
                IEEE
            ),
            Some(vec![0xa])
        );
        assert_eq!(
            ternary(Opcode::Ubfe, Scalar::I32, [&[32], &[0], &[0xa]], IEEE),
            Some(vec![0])
        );
    }

    #[test]
    fn bits() {
        let (i8, i32) = (Scalar::I8, Scalar::I32);
        assert_eq!(un(Opcode::FbhS, i32, i32, 0xffff_fffe), Some(31));
        assert_eq!(un(Opcode::FbhS, i32, i32, 0xffff_ffff), Some(0xffff_ffff));
        assert_eq!(un(Opcode::FbhU, i32, i32, 1), Some(31));
        assert_eq!(un(Opcode::Fbl, i32, i32, 8), Some(3));
        assert_eq!(un(Opcode::Sextend, i8, i32, 0x80), Some(0xffff_ff80));
        assert_eq!(un(Opcode::SutruncSat, i32, i8, 0xffff_ffff), Some(0));
        assert_eq!(un(Opcode::UstruncSat, i32, i8, 0xffff_ffff), Some(0x7f));
        assert_eq!(un(Opcode::SstruncSat, i32, i8, 0xffff_ff00), Some(0x80));
    }

    #[test]
    fn floats() {
        let f = |v: f32| u64::from(v.to_bits());
        let (f32s, i8, i32) = (Scalar::F32, Scalar::I8, Scalar::I32);
        assert_eq!(un(Opcode::FcvtToSint, f32s, i8, f(-1000.5)), Some(0x80));
        assert_eq!(un(Opcode::FcvtToUint, f32s, i32, f(-1.0)), Some(0));
        assert_eq!(
            un(Opcode::FcvtToUint, f32s, i32, f(1e20)),
            Some(0xffff_ffff)
        );
        assert_eq!(un(Opcode::FcvtToSint, f32s, i32, f(f32::NAN)), Some(0));
        assert_eq!(un(Opcode::Fsat, f32s, f32s, f(f32::NAN)), Some(0));
        assert_eq!(un(Opcode::Fnearest, f32s, f32s, f(2.5)), Some(f(2.0)));
        assert_eq!(un(Opcode::Fneg, f32s, f32s, f(0.0)), Some(f(-0.0)));
        assert_eq!(
            binary(Opcode::Fmin, f32s, f32s, &[f(f32::NAN)], &[f(2.0)], IEEE),
            Some(vec![f(2.0)])
        );
        let fcmp = |c, a, b| float_compare(c, f32s, &[f(a)], &[f(b)], IEEE).unwrap()[0];
        assert_eq!(fcmp(FloatCC::NotEqual, f32::NAN, f32::NAN), 1);
        assert_eq!(fcmp(FloatCC::GreaterThanOrEqual, f32::NAN, 1.0), 0);
        let icmp = |c, a, b| int_compare(c, i8, &[a], &[b]).unwrap()[0];
        assert_eq!(icmp(IntCC::UnsignedGreaterThan, 0x80, 0x7f), 1);
        assert_eq!(icmp(IntCC::SignedLessThan, 0x80, 0x7f), 1);
    }

    /// Identities of reductions and scans leave every value of their types unchanged.
    #[test]
    fn identities() {
        let all = Opcode::all().iter().filter_map(|i| i.opcode.among_lanes());
        let mut seen = 0;
        for op in all.map(|a| a.opcode) {
            let float = matches!(
                op,
                Opcode::Fadd | Opcode::Fmul | Opcode::Fmin | Opcode::Fmax
            );
            for t in Scalar::ALL {
                if t == Scalar::B1 || t.is_float() != float {
                    continue;
                }
                let first = op.identity(t).unwrap();
                let (one, infinity, most) = match t {
                    Scalar::F16 => (0x3c00, 0x7c00, 0x7bff),
                    Scalar::F32 => (0x3f80_0000, 0x7f80_0000, 0x7f7f_ffff),
                    _ => (0x3ff << 52, 0x7ff << 52, (0x7ff << 52) - 1),
                };
                let sign = t.mask() ^ (t.mask() >> 1);
                let numbers = if float {
                    let above = [one, most, infinity];
                    let below = above.map(|x| sign | x);
                    [&[0], &above[..], &below[..]].concat()
                } else {
                    vec![0, 1, sign - 1, sign, t.mask(), 0x55 & t.mask()]
                };
                for x in numbers {
                    for (a, b) in [(first, x), (x, first)] {
                        let got = binary(op, t, t, &[a], &[b], &FpMode::IEEE);
                        assert_eq!(got, Some(vec![x]), "{op} of {a:#x} and {b:#x}, {t:?}");
                    }
                }
                seen += 1;
            }
        }
        // Both a reduction and a scan: 9 operations for four integer types, 4 for three float
        // types.
        assert_eq!(seen, 2 * (9 * 4 + 4 * 3));
        assert_eq!(Opcode::Isub.identity(Scalar::I32), None);
    }
}
