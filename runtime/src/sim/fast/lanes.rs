//! Operands to lanes of 32 or 64 bits, and lanes to destinations.

use super::super::program::{DstOp, MicroOp, SrcOp};
use super::super::regs::Regs;
use super::super::thread::Thread;
use gantry_isa_gen::Type;

/// A lane as its bits.
pub(super) trait Lane: Copy + Default {
    /// From an element's bits (zero-extended) of a type that the lane holds.
    fn of_element(bits: u64, ty: Type) -> Self;
    fn of_dword(b: u32, signed: bool) -> Self;
    fn of_word(b: u16, signed: bool) -> Self;
    fn bits(self) -> u64;
}

/// The element's value in 64 bits, by its type's sign.
#[inline(always)]
fn extend(v: u64, ty: Type) -> i64 {
    match ty {
        Type::B => i64::from(v as i8),
        Type::Ub => i64::from(v as u8),
        Type::W | Type::V => i64::from(v as i16),
        Type::Uw | Type::Uv => i64::from(v as u16),
        Type::D => i64::from(v as i32),
        Type::Q | Type::Uq => v as i64,
        _ => i64::from(v as u32),
    }
}

macro_rules! int_lane {
    ($t:ty) => {
        impl Lane for $t {
            #[inline(always)]
            #[allow(trivial_numeric_casts, reason = "i64 is one of the lanes")]
            fn of_element(bits: u64, ty: Type) -> $t {
                extend(bits, ty) as $t
            }
            #[inline(always)]
            #[allow(trivial_numeric_casts, reason = "u32 is one of the lanes")]
            fn of_dword(b: u32, signed: bool) -> $t {
                if signed { b as i32 as $t } else { b as $t }
            }
            #[inline(always)]
            fn of_word(b: u16, signed: bool) -> $t {
                if signed { b as i16 as $t } else { b as $t }
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
        }
    };
}
int_lane!(i32);
int_lane!(u32);
int_lane!(i64);

impl Lane for f32 {
    #[inline(always)]
    fn of_element(bits: u64, _: Type) -> f32 {
        f32::from_bits(bits as u32)
    }
    #[inline(always)]
    fn of_dword(b: u32, _: bool) -> f32 {
        f32::from_bits(b)
    }
    #[inline(always)]
    fn of_word(b: u16, _: bool) -> f32 {
        f32::from_bits(u32::from(b))
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

/// A source's lanes. Lanes beyond the instruction's channels are anything.
#[inline(always)]
pub(super) fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N] {
    let mut out = [L::default(); N];
    let (Some(s), Some(Some(ty))) = (op.srcs.get(k), op.alu.srcs.get(k)) else {
        return out;
    };
    let ty = *ty;
    match s {
        SrcOp::Packed { at } => packed(&t.regs, *at, ty, &mut out),
        SrcOp::Scalar { at } => {
            out = [L::of_element(t.regs.element(*at, ty.bytes()), ty); N];
        }
        SrcOp::Value(v) => out = [L::of_element(*v, ty); N],
        SrcOp::Imm(v) => {
            for (o, b) in out.iter_mut().zip(v.iter()) {
                *o = L::of_element(*b, ty);
            }
        }
        SrcOp::Rect {
            at,
            vs,
            width_log,
            hs,
        } => rect(&t.regs, *at, (*vs, *width_log, *hs), ty, &mut out),
        SrcOp::None | SrcOp::Indirect { .. } | SrcOp::MultiIndirect { .. } => {}
    }
    out
}

/// Consecutive elements.
#[inline(always)]
fn packed<L: Lane, const N: usize>(regs: &Regs, at: u32, ty: Type, out: &mut [L; N]) {
    let signed = ty.is_signed();
    match ty.bytes() {
        4 => {
            if let Some(b) = regs.dwords::<N>(at) {
                for i in 0..N {
                    out[i] = L::of_dword(u32::from_le_bytes(b[i]), signed);
                }
            }
        }
        2 => {
            if let Some(b) = regs.words::<N>(at) {
                for i in 0..N {
                    out[i] = L::of_word(u16::from_le_bytes(b[i]), signed);
                }
            }
        }
        8 => {
            if let Some(b) = regs.qwords::<N>(at) {
                for i in 0..N {
                    out[i] = L::of_element(u64::from_le_bytes(b[i]), ty);
                }
            }
        }
        _ => {
            for (o, b) in out.iter_mut().zip(regs.get(at, N)) {
                *o = L::of_element(u64::from(*b), ty);
            }
        }
    }
}

/// Rows of elements: their stride, log2 of their width and the elements' stride, in bytes.
#[inline(always)]
fn rect<L: Lane, const N: usize>(
    regs: &Regs,
    at: u32,
    (vs, width_log, hs): (u32, u32, u32),
    ty: Type,
    out: &mut [L; N],
) {
    let size = ty.bytes();
    // Every second dword: the halves of qwords.
    if size == 4
        && hs == 8
        && vs == hs << width_log
        && let Some(b) = regs.qwords::<N>(at)
    {
        for i in 0..N {
            out[i] = L::of_dword(u64::from_le_bytes(b[i]) as u32, ty.is_signed());
        }
        return;
    }
    // Every second word.
    if size == 2
        && hs == 4
        && vs == hs << width_log
        && let Some(b) = regs.dwords::<N>(at)
    {
        for i in 0..N {
            out[i] = L::of_word(u32::from_le_bytes(b[i]) as u16, ty.is_signed());
        }
        return;
    }
    for (i, o) in (0u32..).zip(out.iter_mut()) {
        let at = at + (i >> width_log) * vs + (i & ((1 << width_log) - 1)) * hs;
        *o = L::of_element(regs.element(at, size), ty);
    }
}

/// Writes the lanes of `mask` to the destination, as elements of its type.
#[inline(always)]
pub(super) fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32, v: &[L; N]) {
    let DstOp::Direct { at, step, .. } = op.dst else {
        return;
    };
    let size = op.alu.dst.bytes();
    let whole = usize::from(op.n) == N;
    if size == 4 && step == 4 && whole {
        if let Some(out) = t.regs.dwords_mut::<N>(at) {
            blend(out, mask, op.full, |i| (v[i].bits() as u32).to_le_bytes());
        }
    } else if size == 8 && step == 8 && whole {
        if let Some(out) = t.regs.qwords_mut::<N>(at) {
            blend(out, mask, op.full, |i| v[i].bits().to_le_bytes());
        }
    } else if size == 4 && step == 8 && whole && mask == op.full {
        // The lower halves of qwords; the last one's upper half may be another's.
        if let Some(out) = t.regs.qwords_mut::<N>(at) {
            for i in 0..N {
                let old = u64::from_le_bytes(out[i]);
                let new = old & !0xffff_ffff | v[i].bits() & 0xffff_ffff;
                out[i] = new.to_le_bytes();
            }
        }
    } else {
        let mut left = mask;
        while left != 0 {
            let i = left.trailing_zeros();
            left &= left - 1;
            if let Some(l) = v.get(i as usize) {
                t.regs.set_element(at + i * step, size, l.bits());
            }
        }
    }
}

/// New elements where the mask has ones.
#[inline(always)]
fn blend<const B: usize, const N: usize>(
    out: &mut [[u8; B]; N],
    mask: u32,
    full: u32,
    new: impl Fn(usize) -> [u8; B],
) {
    if mask == full {
        for i in 0..N {
            out[i] = new(i);
        }
    } else {
        for i in 0..N {
            out[i] = if mask >> i & 1 == 1 { new(i) } else { out[i] };
        }
    }
}
