//! Simplifications that `FPFastMathMode` allows.
//!
//! | flag | what follows from it |
//! |---|---|
//! | `AllowRecip` | `x / y` is `x * (1 / y)`, see below |
//! | `NSZ` | `x + 0` and `x - 0` are `x`, and `0 - x` is `-x` |
//! | `NotNaN` | `x - x` is 0, `x / x` is 1; with `NSZ`, `x * 0`, `0 / x` are 0; no NaN compares |
//! | `Fast` | all of these |
//!
//! With `AllowRecip`, the reciprocal of a constant is a constant. For other divisors of singles it
//! is the math unit's, and quotients by one divisor share it. A quotient of halves is the math
//! box's. Intel's compiler does the same.
//!
//! The assumptions of an operation about its result (no NaN, no infinity) are used by tests of the
//! result. With any flag, `x * 1` and `x / 1` are `x` too. These are exact but for signaling NaNs
//! and flushed denormals.

use super::{Emit, Leaves};
use crate::body::BInst;
use gantry_codegen::ir::{InstData, Region, Scalar, Value};
use spirv::{Decoration, FPFastMathMode as Mode, Op};

/// Value of a float constant, as far as the rules need it: of halves only 0 and 1.
fn number(scalar: Scalar, bits: u64) -> Option<f64> {
    match scalar {
        Scalar::F16 if bits & 0x7fff == 0 => Some(0.0),
        Scalar::F16 if bits == HALF_ONE => Some(1.0),
        Scalar::F32 => Some(f32::from_bits(bits as u32).into()),
        Scalar::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// 1 as a half.
const HALF_ONE: u64 = 0x3c00;

/// Bits of a reciprocal, rounded to nearest even. `None` unless both it and the number are normal.
fn reciprocal(scalar: Scalar, v: f64) -> Option<u64> {
    let r = 1.0 / v;
    match scalar {
        Scalar::F32 => {
            // Double rounding gives the correct result for all 24-bit significands.
            let (of, r) = (v as f32, r as f32);
            (of.is_normal() && r.is_normal()).then(|| r.to_bits().into())
        }
        Scalar::F64 => (v.is_normal() && r.is_normal()).then(|| r.to_bits()),
        _ => None,
    }
}

impl Emit<'_, '_, '_> {
    /// Fast-math flags of an instruction.
    pub(super) fn fast_mode(&self, inst: &BInst) -> Mode {
        let Some(id) = inst.id.expand() else {
            return Mode::NONE;
        };
        let mut all = self.m.decorations(self.body.origin(id));
        let words = all.find_map(|(member, d, words)| {
            let this = member.is_none() && d == Decoration::FPFastMathMode;
            words.first().copied().filter(|_| this)
        });
        let mode = Mode::from_bits_truncate(words.unwrap_or(0));
        if mode.contains(Mode::FAST) {
            mode | Mode::NOT_NAN | Mode::NOT_INF | Mode::NSZ | Mode::ALLOW_RECIP
        } else {
            mode
        }
    }

    /// Value of a float constant that is equal in all lanes.
    fn known_number(&self, v: Value) -> Option<f64> {
        let dfg = &self.b.func().dfg;
        let scalar = self.b.ty(v).scalar();
        let mut def = dfg.def_inst(v)?;
        if let InstData::RdRegion { arg, region, .. } = *dfg.data(def)
            && region == Region::scalar(0)
        {
            def = dfg.def_inst(arg)?;
        }
        let InstData::ImmVec { constant, .. } = *dfg.data(def) else {
            return None;
        };
        let (first, rest) = dfg.constant(constant).split_first()?;
        let alike = rest.iter().all(|l| l == first);
        number(scalar, *first).filter(|_| alike)
    }

    /// Simplifies an operation, if its flags allow it.
    pub(super) fn simpler(&mut self, op: Op, mode: Mode, a: Value, b: Value) -> Option<Value> {
        let scalar = self.b.ty(a).scalar();
        if mode.is_empty() || !scalar.is_float() || self.b.ty(b).scalar() != scalar {
            return None;
        }
        let same = a == b;
        let (ka, kb) = (self.known_number(a), self.known_number(b));
        let mut v = [a, b];
        self.even(&mut v);
        let [a, b] = v;
        let has = |m: Mode| mode.contains(m);
        let (zero, one) = (Some(0.0), Some(1.0));
        let gone = has(Mode::NOT_NAN | Mode::NSZ);
        match op {
            Op::FAdd if has(Mode::NSZ) && kb == zero => Some(a),
            Op::FAdd if has(Mode::NSZ) && ka == zero => Some(b),
            Op::FSub if has(Mode::NSZ) && kb == zero => Some(a),
            Op::FSub if has(Mode::NSZ) && ka == zero => Some(self.b.ins().fneg(b)),
            Op::FSub if has(Mode::NOT_NAN) && same => Some(self.same(a, 0)),
            Op::FMul | Op::VectorTimesScalar if kb == one => Some(a),
            Op::FMul | Op::VectorTimesScalar if ka == one => Some(b),
            Op::FMul | Op::VectorTimesScalar if gone && (ka == zero || kb == zero) => {
                Some(self.same(a, 0))
            }
            Op::FDiv if kb == one => Some(a),
            Op::FDiv if has(Mode::NOT_NAN) && same => {
                let bits = match scalar {
                    Scalar::F16 => HALF_ONE,
                    _ => reciprocal(scalar, 1.0)?,
                };
                Some(self.same(a, bits))
            }
            Op::FDiv if gone && ka == zero => Some(self.same(a, 0)),
            Op::FDiv if has(Mode::ALLOW_RECIP) => {
                if let Some(bits) = kb.and_then(|b| reciprocal(scalar, b)) {
                    let r = self.same(a, bits);
                    return Some(self.b.ins().fmul(a, r));
                }
                match scalar {
                    Scalar::F32 => {
                        let r = self.b.ins().finv(b);
                        Some(if ka == one {
                            r
                        } else {
                            self.b.ins().fmul(a, r)
                        })
                    }
                    // Reciprocals of halves may not be representable.
                    Scalar::F16 => Some(self.b.ins().fdiv(a, b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Flags of an instruction, with those that hold for all of its operands.
    fn assumed(&self, inst: &BInst, mode: Mode) -> Mode {
        let known = |n: usize| self.operand(inst, n).map_or(0, |id| self.assumed[id]);
        let count = self.body.operands(inst).len();
        let all = (0..count).map(known).fold(u32::MAX, |all, m| all & m);
        mode | Mode::from_bits_truncate(all)
    }

    /// Comparison that is equivalent if no operand is NaN, and cheaper.
    pub(super) fn compare(&self, inst: &BInst, mode: Mode) -> Op {
        let ordered = match inst.op {
            Op::FUnordEqual => Op::FOrdEqual,
            Op::FOrdNotEqual | Op::LessOrGreater => Op::FUnordNotEqual,
            Op::FUnordLessThan => Op::FOrdLessThan,
            Op::FUnordLessThanEqual => Op::FOrdLessThanEqual,
            Op::FUnordGreaterThan => Op::FOrdGreaterThan,
            Op::FUnordGreaterThanEqual => Op::FOrdGreaterThanEqual,
            op => return op,
        };
        if self.assumed(inst, mode).contains(Mode::NOT_NAN) {
            ordered
        } else {
            inst.op
        }
    }

    /// Result of a test for NaN or infinity that the flags decide.
    pub(super) fn decided(&mut self, inst: &BInst, mode: Mode, all: &[Leaves]) -> Option<Leaves> {
        let (want, gives) = match inst.op {
            Op::IsNan | Op::Unordered => (Mode::NOT_NAN, 0),
            Op::Ordered => (Mode::NOT_NAN, 1),
            Op::IsInf => (Mode::NOT_INF, 0),
            Op::IsFinite => (Mode::NOT_NAN | Mode::NOT_INF, 1),
            _ => return None,
        };
        if !self.assumed(inst, mode).contains(want) {
            return None;
        }
        let first = all.first()?;
        let mut out = Leaves::new();
        for n in 0..first.len() {
            let leaves = all.iter().filter_map(|l| l.get(n));
            let lanes = leaves.map(|v| self.b.ty(*v).lanes()).max().unwrap_or(1);
            let ones = u64::MAX >> (64 - lanes.clamp(1, 64));
            out.push(self.b.ins().bconst(lanes, ones * gives));
        }
        Some(out)
    }

    /// Records the flags that hold for a result.
    pub(super) fn assume(&mut self, inst: &BInst, mode: Mode) {
        if let Some(id) = inst.id.expand() {
            let bits = (mode & (Mode::NOT_NAN | Mode::NOT_INF)).bits();
            if bits != self.assumed[id] {
                self.assumed[id] = bits;
            }
        }
    }
}
