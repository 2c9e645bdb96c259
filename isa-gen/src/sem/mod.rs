//! Semantics of each ALU operation on lane arrays, shared by the simulator, the IR's interpreter
//! and constant folding.
//!
//! An operation has three phases. *Read* converts element bits of each source's type, with its
//! modifiers, to lanes of the execution type. The *operation* is a loop over lanes ([`int`],
//! [`float`], [`math`]). *Write* converts lanes to element bits of the destination's type by
//! saturation, rounding and truncation ([`convert`]). Flags come from the result before saturation
//! (Skylake PRM, Vol. 7, "Assigning Conditional Modifiers").
//!
//! [`eval`] does all three for any operation and any types. Exceptions are operations whose
//! operands are not lanes of elements: math macros ([`macros`]) and the systolic array ([`dpas`]).
//! The phases are public for callers that know the types beforehand and keep lanes in their own
//! form.
//!
//! Some operations read beyond their own channel, as far as [`channels_read`] returns. Source 0 of
//! `line` and `pln` is four consecutive elements from its origin: `p`, `q`, one unused and `r`
//! (`line` has `p` and, in the last, `q`). Source 1 of `pln` is `u`; its source 2, which no
//! instruction names, is `v`. Source 1 of `smov` selects the channels that are written, which is
//! left to the caller.
//!
//! Integers of up to 32 bits are computed exactly in 64 bits, and 64-bit ones in 128 bits.
//! Saturation, overflow and mixed signedness therefore need no special cases, and the write phase
//! keeps the low bits.

mod bits;
pub mod convert;
mod dots;
pub mod dpas;
pub mod exact;
pub mod float;
pub mod int;
pub mod macros;
pub mod math;
#[cfg(test)]
mod tests;

use crate::inst::{Cond, SrcMods};
use crate::op::{MathFn, Op};
use crate::types::Type;

pub use dots::channels_read;

/// Maximum number of channels of an instruction.
pub const LANES: usize = 32;

/// Element bits of each channel, zero-extended from the element's size.
pub type Bits = [u64; LANES];

/// Rounding mode of floats, `cr0.0` bits 5:4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Round {
    /// Round to nearest, ties to even.
    #[default]
    Nearest,
    /// Round towards plus infinity.
    Up,
    /// Round towards minus infinity.
    Down,
    /// Round towards zero.
    Zero,
}

impl Round {
    /// Returns the bits of `cr0.0` for the mode.
    pub const fn cr0(self) -> u32 {
        (self as u32) << 4
    }
}

/// Floating-point mode: rounding, and the types whose denormals are kept. Others are flushed to
/// zero with their sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FpMode {
    /// Rounding mode.
    pub round: Round,
    /// True if half-precision denormals are kept.
    pub keep_hf: bool,
    /// True if single-precision denormals are kept.
    pub keep_f: bool,
    /// True if double-precision denormals are kept.
    pub keep_df: bool,
}

impl FpMode {
    /// IEEE mode: rounds to nearest and keeps all denormals.
    pub const IEEE: FpMode = FpMode {
        round: Round::Nearest,
        keep_hf: true,
        keep_f: true,
        keep_df: true,
    };

    /// Decodes the mode of a `cr0.0` value (Skylake PRM, Vol. 7, "Control Register": bits 5:4
    /// rounding, bits 6, 7 and 10 double, single and half precision denormals).
    pub const fn of_cr0(cr0: u32) -> FpMode {
        FpMode {
            round: match cr0 >> 4 & 3 {
                0 => Round::Nearest,
                1 => Round::Up,
                2 => Round::Down,
                _ => Round::Zero,
            },
            keep_df: cr0 >> 6 & 1 == 1,
            keep_f: cr0 >> 7 & 1 == 1,
            keep_hf: cr0 >> 10 & 1 == 1,
        }
    }
}

/// Type class that lanes are computed in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExecClass {
    /// Integers of at most 32 bits.
    Int,
    /// 64-bit integers.
    WideInt,
    /// Half-precision floats only.
    Half,
    /// Single-precision floats, also mixed with other or narrower types.
    Single,
    /// Double-precision floats.
    Double,
}

/// ALU operation, without the locations of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluOp {
    /// Opcode.
    pub op: Op,
    /// Function of `math`.
    pub math: Option<MathFn>,
    /// True if the result is saturated.
    pub sat: bool,
    /// Condition to evaluate, if any.
    pub cond: Option<Cond>,
    /// Type of the destination.
    pub dst: Type,
    /// Type of each source, or `None` if it does not exist.
    pub srcs: [Option<Type>; 3],
    /// Modifiers of each source.
    pub mods: [SrcMods; 3],
    /// Truth table of `bfn`. Bit `s0 + 2 * s1 + 4 * s2` is the result.
    pub table: u8,
}

/// Inputs of an operation besides its sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extra {
    /// Floating-point mode.
    pub mode: FpMode,
    /// Channels of a predicated `sel` that take source 0.
    pub pick: u32,
    /// Accumulator that `mac`, `mach`, `macl` and `sada2` read: integers, or element bits of
    /// floats.
    pub acc: [i64; LANES],
}

impl Default for Extra {
    fn default() -> Self {
        Extra {
            mode: FpMode::IEEE,
            pick: 0,
            acc: [0; LANES],
        }
    }
}

/// Results of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Element bits of the destination.
    pub bits: Bits,
    /// Condition by channel, 0 without a condition.
    pub flags: u32,
    /// Integer results before narrowing, which an accumulator destination keeps.
    pub wide: [i64; LANES],
    /// Accumulator that the operation writes implicitly (`addc`, `subb`, `mach`, `macl`).
    pub acc: Option<[i64; LANES]>,
}

/// Error for an operation that is not defined.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Undefined(pub String);

/// Returns true if source modifiers of an opcode are bitwise (`-` is "not").
pub const fn is_logic(op: Op) -> bool {
    matches!(op, Op::Not | Op::And | Op::Or | Op::Xor)
}

impl AluOp {
    /// Returns the class that lanes are computed in: the widest source type, floats before
    /// integers. Half precision is used if the result is half precision or an integer.
    /// Half-precision sources are converted to single precision if they are mixed with it, or the
    /// result has it.
    pub fn class(&self) -> ExecClass {
        let mut class = ExecClass::Int;
        for t in self.srcs.into_iter().flatten() {
            class = match (t, class) {
                (Type::Df | Type::Nf, _) | (_, ExecClass::Double) => ExecClass::Double,
                (Type::Hf, ExecClass::Int | ExecClass::WideInt | ExecClass::Half) => {
                    ExecClass::Half
                }
                (t, ExecClass::Half) if !t.is_float() => ExecClass::Half,
                (t, _) if t.is_float() => ExecClass::Single,
                (_, ExecClass::Single) => ExecClass::Single,
                (Type::Q | Type::Uq, _) | (_, ExecClass::WideInt) => ExecClass::WideInt,
                _ => ExecClass::Int,
            };
        }
        match (class, self.dst) {
            (ExecClass::Half | ExecClass::Single, Type::Nf) => ExecClass::Double,
            (ExecClass::Half, t) if t.is_float() && t != Type::Hf => ExecClass::Single,
            _ => class,
        }
    }

    /// Returns the type of the accumulator elements that the operation reads.
    pub fn acc_type(&self) -> Type {
        match self.class() {
            ExecClass::Half => Type::Hf,
            ExecClass::Single => Type::F,
            ExecClass::Double => Type::Df,
            ExecClass::Int | ExecClass::WideInt => self.dst,
        }
    }

    /// Returns the equivalent operation with the opcode and the types that determine the result.
    fn canonical(&self) -> AluOp {
        let mut a = *self;
        match a.op {
            // Their words are half-precision floats.
            Op::F16to32 => a.srcs[0] = Some(Type::Hf),
            Op::F32to16 => a.dst = Type::Hf,
            // The immediate's 64 bits are a double-precision float.
            Op::Dim => a.srcs[0] = Some(Type::Df),
            // Source 1 is not data.
            Op::Movi | Op::Smov => a.srcs[1] = None,
            _ => return a,
        }
        a.op = Op::Mov;
        a
    }
}

/// Computes the first `n` channels of an operation.
///
/// # Errors
/// Returns an error if the opcode is not an ALU operation, or is not defined for these types.
pub fn eval(alu: &AluOp, n: usize, srcs: [&Bits; 3], extra: &Extra) -> Result<Outcome, Undefined> {
    let n = n.min(LANES);
    let alu = &alu.canonical();
    let mut out = match alu.class() {
        // 32-bit products of unsigned numbers and shifts to 64-bit destinations do not fit signed
        // 64-bit lanes.
        ExecClass::Int if alu.op == Op::Mul || alu.op == Op::Mad || alu.dst.bytes() == 8 => {
            int::eval::<i128>(alu, n, srcs, extra)
        }
        ExecClass::Int => int::eval::<i64>(alu, n, srcs, extra),
        ExecClass::WideInt => int::eval::<i128>(alu, n, srcs, extra),
        ExecClass::Half => float::eval::<float::Half>(alu, n, srcs, extra),
        ExecClass::Single => float::eval::<f32>(alu, n, srcs, extra),
        ExecClass::Double => float::eval::<f64>(alu, n, srcs, extra),
    }?;
    out.flags &= mask(n);
    Ok(out)
}

/// Returns a mask of the lowest `n` bits.
pub const fn mask(n: usize) -> u32 {
    if n >= 32 { u32::MAX } else { (1 << n) - 1 }
}

/// Boolean of each lane: all ones for true, or zero.
pub type Truth<const N: usize> = [i32; N];

/// Evaluates a test of each pair of lanes.
#[inline(always)]
fn truth_of<T: Copy, const N: usize>(a: &[T; N], b: &[T; N], f: impl Fn(T, T) -> bool) -> Truth<N> {
    let mut out = [0; N];
    for i in 0..N {
        out[i] = -i32::from(f(a[i], b[i]));
    }
    out
}

/// Conversion of lane booleans to a channel mask on a host.
pub trait Pack: Copy {
    /// Returns the mask of true lanes, channel 0 lowest.
    fn mask_of<const N: usize>(self, yes: &Truth<N>) -> u32;
}

/// Portable implementation.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Pack for Plain {
    #[inline(always)]
    fn mask_of<const N: usize>(self, yes: &Truth<N>) -> u32 {
        let mut m = 0;
        for (i, y) in yes.iter().enumerate() {
            m |= *y as u32 & 1 << i;
        }
        m
    }
}

/// Compares lanes by a condition, as a channel mask. With a NaN, only `ne` is true.
#[inline(always)]
fn compare<T: Copy + PartialOrd, const N: usize>(
    pack: impl Pack,
    cond: Cond,
    a: &[T; N],
    b: &[T; N],
) -> u32 {
    match cond {
        Cond::Eq => pack.mask_of(&truth_of(a, b, |x, y| x == y)),
        Cond::Ne => pack.mask_of(&truth_of(a, b, |x, y| x != y)),
        Cond::Gt => pack.mask_of(&truth_of(a, b, |x, y| x > y)),
        Cond::Ge => pack.mask_of(&truth_of(a, b, |x, y| x >= y)),
        Cond::Lt => pack.mask_of(&truth_of(a, b, |x, y| x < y)),
        Cond::Le => pack.mask_of(&truth_of(a, b, |x, y| x <= y)),
        Cond::Ov | Cond::Un | Cond::Eo => 0,
    }
}

/// Expands a channel mask to lane booleans.
#[inline(always)]
pub fn truth_of_mask<const N: usize>(mask: u32) -> Truth<N> {
    let mut out = [0; N];
    for (i, o) in out.iter_mut().enumerate() {
        *o = -((mask >> i & 1) as i32);
    }
    out
}

/// Returns the element bits of one channel of a packed vector immediate (`uv`, `v`, `vf`). They
/// have the type that it is read as: unsigned word, word, or single-precision float.
pub const fn packed_imm(bits: u32, ty: Type, channel: usize) -> u64 {
    match ty {
        Type::Uv => (bits >> (channel % 8 * 4) & 0xf) as u64,
        Type::V => {
            let nibble = bits >> (channel % 8 * 4) & 0xf;
            ((nibble << 28) as i32 >> 28) as u16 as u64
        }
        _ => restricted_float((bits >> (channel % 4 * 8)) as u8) as u64,
    }
}

/// Converts an 8-bit restricted float to single precision. It has a sign, 3 bits of exponent (bias
/// 3) and 4 bits of fraction.
pub const fn restricted_float(b: u8) -> u32 {
    let sign = (b as u32 & 0x80) << 24;
    if b & 0x7f == 0 {
        return sign;
    }
    let exponent = (b as u32 >> 4 & 7) + 127 - 3;
    sign | exponent << 23 | (b as u32 & 0xf) << 19
}
