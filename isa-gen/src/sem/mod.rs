//! What each ALU operation computes, on lane arrays: one meaning for the simulator, the IR's
//! interpreter and constant folding.
//!
//! An operation runs in three phases. *Read* turns element bits of each source's type, with its
//! modifiers, into lanes of the execution type. The *operation* is a loop over lanes ([`int`],
//! [`float`], [`math`]). *Write* turns lanes into element bits of the destination's type:
//! saturation, rounding, truncation ([`convert`]). Flags come from the result before saturation
//! (Skylake PRM, Vol. 7, "Assigning Conditional Modifiers").
//!
//! [`eval`] does all three for any operation and any types, but for those whose operands are no
//! lanes of elements: the math macros ([`macros`]) and the systolic array ([`dpas`]). The parts are
//! public for callers that know the types beforehand and keep lanes in their own form.
//!
//! Some operations look beyond their own channel: [`channels_read`] says how far. Of `line` and
//! `pln`, source 0 is four consecutive elements from its origin (`p`, `q`, then one unused and `r`;
//! `line` has `p` and, in the last, `q`); source 1 of `pln` is `u` and its source 2, which no
//! instruction names, is `v`. Of `smov`, source 1 says which channels are written: that is the
//! caller's business.
//!
//! Integers of up to 32 bits are computed exactly in 64 bits, and 64-bit ones in 128, so that
//! saturation, overflow and mixed signedness need no special cases; the write phase keeps the low
//! bits.

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

/// The most channels of an instruction.
pub const LANES: usize = 32;

/// Element bits of each channel, zero-extended from the element's size.
pub type Bits = [u64; LANES];

/// Rounding of floats, `cr0.0` bits 5:4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Round {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Round {
    /// The mode's bits of `cr0.0`.
    pub const fn cr0(self) -> u32 {
        (self as u32) << 4
    }
}

/// Floating-point mode: rounding, and which denormals are kept (others are flushed to zero with
/// their sign).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FpMode {
    /// Rounding.
    pub round: Round,
    /// Half denormals are kept.
    pub keep_hf: bool,
    /// Single denormals are kept.
    pub keep_f: bool,
    /// Double denormals are kept.
    pub keep_df: bool,
}

impl FpMode {
    /// IEEE: round to nearest, all denormals kept.
    pub const IEEE: FpMode = FpMode {
        round: Round::Nearest,
        keep_hf: true,
        keep_f: true,
        keep_df: true,
    };

    /// The mode of a `cr0.0` value (Skylake PRM, Vol. 7, "Control Register": 5:4 rounding, 6 double
    /// denormals, 7 single denormals, 10 half denormals).
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

/// What the lanes of an operation are computed in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExecClass {
    /// Integers of at most 32 bits.
    Int,
    /// 64-bit integers.
    WideInt,
    /// Halves alone.
    Half,
    /// Singles, and what is mixed with them or narrower.
    Single,
    /// Doubles.
    Double,
}

/// One operation, without its operands' places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluOp {
    /// The opcode.
    pub op: Op,
    /// The function of `math`.
    pub math: Option<MathFn>,
    /// Saturation.
    pub sat: bool,
    /// The condition evaluated, where there is one.
    pub cond: Option<Cond>,
    /// The destination's type.
    pub dst: Type,
    /// Each source's type; `None` where there is no such source.
    pub srcs: [Option<Type>; 3],
    /// Each source's modifiers.
    pub mods: [SrcMods; 3],
    /// `bfn`: the truth table. The bit at `s0 + 2 * s1 + 4 * s2` is the result's.
    pub table: u8,
}

/// What an operation reads besides its sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extra {
    /// Floating-point mode.
    pub mode: FpMode,
    /// `sel` with a predicate: the channels that take source 0.
    pub pick: u32,
    /// `mac`, `mach`, `macl`, `sada2`: the accumulator's integers, or element bits of its floats.
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

/// What an operation computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The destination's element bits.
    pub bits: Bits,
    /// The condition by channel (0 without one).
    pub flags: u32,
    /// Integer results before narrowing: what an accumulator destination keeps.
    pub wide: [i64; LANES],
    /// What the operation itself writes to the accumulator (`addc`, `subb`, `mach`, `macl`).
    pub acc: Option<[i64; LANES]>,
}

/// The operation has no meaning here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Undefined(pub String);

/// Returns true if source modifiers are bitwise on an opcode (`-` is "not").
pub const fn is_logic(op: Op) -> bool {
    matches!(op, Op::Not | Op::And | Op::Or | Op::Xor)
}

impl AluOp {
    /// What lanes are computed in: the widest source type, floats before integers. Halves are
    /// computed as such where the result is one, or an integer; mixed with singles, or going to
    /// one, they are singles first.
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

    /// The type of the accumulator's elements that the operation reads.
    pub fn acc_type(&self) -> Type {
        match self.class() {
            ExecClass::Half => Type::Hf,
            ExecClass::Single => Type::F,
            ExecClass::Double => Type::Df,
            ExecClass::Int | ExecClass::WideInt => self.dst,
        }
    }

    /// The same operation by the name and the types that say what is computed.
    fn canonical(&self) -> AluOp {
        let mut a = *self;
        match a.op {
            // Their words are halves.
            Op::F16to32 => a.srcs[0] = Some(Type::Hf),
            Op::F32to16 => a.dst = Type::Hf,
            // The immediate's 64 bits are the double.
            Op::Dim => a.srcs[0] = Some(Type::Df),
            // Source 1 is no number.
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
/// The opcode is no ALU operation, or has no meaning for these types.
pub fn eval(alu: &AluOp, n: usize, srcs: [&Bits; 3], extra: &Extra) -> Result<Outcome, Undefined> {
    let n = n.min(LANES);
    let alu = &alu.canonical();
    let mut out = match alu.class() {
        // 32-bit products of unsigned numbers and shifts to 64-bit destinations do not fit 64 bits
        // with a sign.
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

/// The lowest `n` bits.
pub const fn mask(n: usize) -> u32 {
    if n >= 32 { u32::MAX } else { (1 << n) - 1 }
}

/// What is true of each lane: all ones, or zero.
pub type Truth<const N: usize> = [i32; N];

/// What is true of each pair of lanes.
#[inline(always)]
fn truth_of<T: Copy, const N: usize>(a: &[T; N], b: &[T; N], f: impl Fn(T, T) -> bool) -> Truth<N> {
    let mut out = [0; N];
    for i in 0..N {
        out[i] = -i32::from(f(a[i], b[i]));
    }
    out
}

/// How a host turns truths of lanes into a channel mask.
pub trait Pack: Copy {
    /// The lanes where it is true, channel 0 lowest.
    fn mask_of<const N: usize>(self, yes: &Truth<N>) -> u32;
}

/// What any host can do.
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

/// A condition between two lanes, as a channel mask. Between a NaN and anything only `ne` is true.
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

/// The channels of a mask: true where the bit is set.
#[inline(always)]
pub fn truth_of_mask<const N: usize>(mask: u32) -> Truth<N> {
    let mut out = [0; N];
    for (i, o) in out.iter_mut().enumerate() {
        *o = -((mask >> i & 1) as i32);
    }
    out
}

/// One channel of a packed vector immediate (`uv`, `v`, `vf`): its element bits in the type that it
/// is read as (unsigned word, word, single).
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

/// The single float of an 8-bit restricted float: sign, 3 bits of exponent (bias 3), 4 bits of
/// fraction.
pub const fn restricted_float(b: u8) -> u32 {
    let sign = (b as u32 & 0x80) << 24;
    if b & 0x7f == 0 {
        return sign;
    }
    let exponent = (b as u32 >> 4 & 7) + 127 - 3;
    sign | exponent << 23 | (b as u32 & 0xf) << 19
}
