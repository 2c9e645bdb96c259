//! Conversion of operands to lanes of 32 or 64 bits, and of lanes to destinations.

use super::super::program::{DstOp, MicroOp, SrcOp};
use super::super::regs::Regs;
use super::super::thread::Thread;
use gantry_isa_gen::sem::float::float_mods;
use gantry_isa_gen::sem::{convert, is_logic, truth_of_mask};
use gantry_isa_gen::{SrcMods, Type};
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// Type of a lane.
pub(super) trait Lane: Copy + Default {
    /// Bytes of a lane in a register.
    type Bytes: Copy;
    /// Number of bytes.
    const SIZE: u32;
    fn of_bytes(b: Self::Bytes) -> Self;
    fn bytes(self) -> Self::Bytes;
    /// True if modifiers are so cheap that every handler has them: they only change the sign.
    const CHEAP_MODS: bool;
    /// Returns the lane with source modifiers. On bitwise operations negation is "not".
    fn modified(self, m: SrcMods, logic: bool) -> Self;
    /// Returns adjacent lanes in the registers.
    fn row<const N: usize>(regs: &Regs, at: u32) -> Option<&[Self::Bytes; N]>;
    /// Returns adjacent lanes in the registers for writing.
    fn row_mut<const N: usize>(regs: &mut Regs, at: u32) -> Option<&mut [Self::Bytes; N]>;
    /// Converts an element's bits (zero-extended) of a type that the lane holds.
    fn of_element(bits: u64, ty: Type) -> Self;
    fn of_dword(b: u32, signed: bool) -> Self;
    fn of_word(b: u16, signed: bool) -> Self;
    /// Converts elements of two bytes.
    #[inline(always)]
    fn of_words<const N: usize>(row: &[[u8; 2]; N], signed: bool) -> [Self; N] {
        let mut out = [Self::default(); N];
        for i in 0..N {
            out[i] = Self::of_word(u16::from_le_bytes(row[i]), signed);
        }
        out
    }
    fn bits(self) -> u64;
    /// Returns the bits of an element of a type.
    #[inline(always)]
    fn element(self, _: Type) -> u64 {
        self.bits()
    }
    /// Returns elements of a type of two bytes.
    #[inline(always)]
    fn words<const N: usize>(v: &[Self; N], _: Type) -> [u16; N] {
        let mut out = [0; N];
        for i in 0..N {
            out[i] = v[i].bits() as u16;
        }
        out
    }
}

/// Returns the element's value in 64 bits, extended by its type's sign.
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

macro_rules! raw {
    ($t:ty, $bytes:literal) => {
        type Bytes = [u8; $bytes];
        const SIZE: u32 = $bytes;
        #[inline(always)]
        fn of_bytes(b: [u8; $bytes]) -> $t {
            <$t>::from_le_bytes(b)
        }
        #[inline(always)]
        fn bytes(self) -> [u8; $bytes] {
            self.to_le_bytes()
        }
        #[inline(always)]
        fn row<const N: usize>(regs: &Regs, at: u32) -> Option<&[[u8; $bytes]; N]> {
            regs.elements(at)
        }
        #[inline(always)]
        fn row_mut<const N: usize>(regs: &mut Regs, at: u32) -> Option<&mut [[u8; $bytes]; N]> {
            regs.elements_mut(at)
        }
    };
}

macro_rules! int_lane {
    ($t:ty, $bytes:literal) => {
        impl Lane for $t {
            raw!($t, $bytes);
            const CHEAP_MODS: bool = false;
            #[inline(always)]
            fn modified(self, m: SrcMods, logic: bool) -> $t {
                convert::int_mods(self, m, logic)
            }
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
            #[allow(trivial_numeric_casts, reason = "u64 is one of the lanes")]
            fn bits(self) -> u64 {
                self as u64
            }
        }
    };
}
int_lane!(i32, 4);
int_lane!(u32, 4);
int_lane!(i64, 8);
int_lane!(u64, 8);

impl Lane for f64 {
    raw!(f64, 8);
    const CHEAP_MODS: bool = true;
    #[inline(always)]
    fn modified(self, m: SrcMods, _: bool) -> f64 {
        float_mods(self, m)
    }
    #[inline(always)]
    fn of_element(bits: u64, _: Type) -> f64 {
        f64::from_bits(bits)
    }
    // Doubles have no narrower elements.
    #[inline(always)]
    fn of_dword(b: u32, _: bool) -> f64 {
        f64::from_bits(u64::from(b))
    }
    #[inline(always)]
    fn of_word(b: u16, _: bool) -> f64 {
        f64::from_bits(u64::from(b))
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Lane for f32 {
    raw!(f32, 4);
    const CHEAP_MODS: bool = true;
    #[inline(always)]
    fn modified(self, m: SrcMods, _: bool) -> f32 {
        float_mods(self, m)
    }
    #[inline(always)]
    fn of_element(bits: u64, ty: Type) -> f32 {
        match ty {
            Type::Hf => f16::from_bits(bits as u16).to_f32(),
            _ => f32::from_bits(bits as u32),
        }
    }
    #[inline(always)]
    fn of_dword(b: u32, _: bool) -> f32 {
        f32::from_bits(b)
    }
    // Words are halves.
    #[inline(always)]
    fn of_word(b: u16, _: bool) -> f32 {
        f16::from_bits(b).to_f32()
    }
    fn of_words<const N: usize>(row: &[[u8; 2]; N], _: bool) -> [f32; N] {
        let halves = row.map(u16::from_le_bytes);
        let mut out = [0.0; N];
        halves
            .reinterpret_cast::<f16>()
            .convert_to_f32_slice(&mut out);
        out
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline(always)]
    fn element(self, ty: Type) -> u64 {
        match ty {
            Type::Hf => u64::from(f16::from_f32(self).to_bits()),
            _ => self.bits(),
        }
    }
    fn words<const N: usize>(v: &[f32; N], _: Type) -> [u16; N] {
        let mut out = [0; N];
        out.reinterpret_cast_mut::<f16>().convert_from_f32_slice(v);
        out
    }
}

/// Loads a source's lanes, with its modifiers. Lanes beyond the instruction's channels are
/// undefined.
///
/// The most frequent sources are read here, and inlined in every handler: registers of the lanes'
/// own size, and one element for all channels. All others are read by [`gather`].
#[inline(always)]
pub(super) fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N] {
    let mut out = [L::default(); N];
    let (Some(s), Some(Some(ty)), Some(mods)) =
        (op.srcs.get(k), op.alu.srcs.get(k), op.alu.mods.get(k))
    else {
        return out;
    };
    let plain = *mods == SrcMods::default();
    match *s {
        SrcOp::Packed { at } if ty.bytes() == L::SIZE && (plain || L::CHEAP_MODS) => {
            if let Some(b) = L::row::<N>(&t.regs, at) {
                for i in 0..N {
                    out[i] = L::of_bytes(b[i]);
                }
            }
        }
        SrcOp::Scalar { at } if plain || L::CHEAP_MODS => {
            out = [L::of_element(t.regs.element(at, ty.bytes()), *ty); N];
        }
        SrcOp::Value(v) => return [L::of_element(v, *ty); N],
        _ => return gather(&t.regs, s, *ty, (*mods, is_logic(op.alu.op))),
    }
    if L::CHEAP_MODS && !plain {
        for v in &mut out {
            *v = v.modified(*mods, false);
        }
    }
    out
}

/// Loads the lanes of all other sources: narrower than a lane, strided, in rows, a packed vector,
/// or integers with modifiers.
#[inline(never)]
fn gather<L: Lane, const N: usize>(
    regs: &Regs,
    s: &SrcOp,
    ty: Type,
    (mods, logic): (SrcMods, bool),
) -> [L; N] {
    let mut out = [L::default(); N];
    match s {
        SrcOp::Packed { at } => packed(regs, *at, ty, &mut out),
        SrcOp::Scalar { at } => out = [L::of_element(regs.element(*at, ty.bytes()), ty); N],
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
        } => rect(regs, *at, (*vs, *width_log, *hs), ty, &mut out),
        _ => {}
    }
    if mods != SrcMods::default() {
        for v in &mut out {
            *v = v.modified(mods, logic);
        }
    }
    out
}

/// Reads consecutive elements.
fn packed<L: Lane, const N: usize>(regs: &Regs, at: u32, ty: Type, out: &mut [L; N]) {
    let signed = ty.is_signed();
    match ty.bytes() {
        4 => {
            if let Some(b) = regs.elements::<4, N>(at) {
                for i in 0..N {
                    out[i] = L::of_dword(u32::from_le_bytes(b[i]), signed);
                }
            }
        }
        2 => {
            if let Some(b) = regs.elements::<2, N>(at) {
                *out = L::of_words(b, signed);
            }
        }
        8 => {
            if let Some(b) = regs.elements::<8, N>(at) {
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

/// Reads rows of elements, by their stride, log2 of their width, and the elements' stride. Strides
/// are in bytes.
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
        && let Some(b) = regs.elements::<8, N>(at)
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
        && let Some(b) = regs.elements::<4, N>(at)
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
///
/// Consecutive elements of a lane's size are written here, and inlined in every handler. All others
/// are written by [`store_other`].
#[inline(always)]
pub(super) fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32, v: &[L; N]) {
    let DstOp::Direct { at, step, .. } = op.dst else {
        return;
    };
    let size = op.alu.dst.bytes();
    if size != L::SIZE || step != L::SIZE || usize::from(op.n) != N {
        store_other(&mut t.regs, op, at, step, mask, v);
    } else if let Some(out) = L::row_mut::<N>(&mut t.regs, at) {
        if mask == op.full {
            for i in 0..N {
                out[i] = v[i].bytes();
            }
        } else {
            for i in 0..N {
                out[i] = if mask >> i & 1 == 1 {
                    v[i].bytes()
                } else {
                    out[i]
                };
            }
        }
    }
}

#[inline(never)]
fn store_other<L: Lane, const N: usize>(
    regs: &mut Regs,
    op: &MicroOp,
    at: u32,
    step: u32,
    mask: u32,
    v: &[L; N],
) {
    let size = op.alu.dst.bytes();
    if size == 4
        && step == 8
        && usize::from(op.n) == N
        && mask == op.full
        && let Some(out) = regs.elements_mut::<8, N>(at)
    {
        // The low halves of qwords. The last high half may belong to another register.
        for i in 0..N {
            let old = u64::from_le_bytes(out[i]);
            let new = old & !0xffff_ffff | v[i].bits() & 0xffff_ffff;
            out[i] = new.to_le_bytes();
        }
        return;
    }
    if size == 2 && step == 2 && usize::from(op.n) == N {
        let words = L::words(v, op.alu.dst);
        let on = truth_of_mask::<N>(mask);
        if let Some(out) = regs.elements_mut::<2, N>(at) {
            for i in 0..N {
                let old = u16::from_le_bytes(out[i]);
                out[i] = (if on[i] != 0 { words[i] } else { old }).to_le_bytes();
            }
        }
        return;
    }
    let mut left = mask;
    while left != 0 {
        let i = left.trailing_zeros();
        left &= left - 1;
        if let Some(l) = v.get(i as usize) {
            regs.set_element(at + i * step, size, l.element(op.alu.dst));
        }
    }
}
