//! The paths that most instructions take: single floats, and integers of at most 32 bits, in lanes of 32 bits.

use super::alu::element_at;
use super::program::{DstOp, MicroOp, Pred, SrcOp};
use super::thread::Thread;
use gantry_isa_gen::sem::float::{self, FloatLane, float_mods};
use gantry_isa_gen::sem::int::{self, IntLane};
use gantry_isa_gen::sem::{Round, convert, is_logic};
use gantry_isa_gen::{Op, SrcMods, Type};

/// A 32-bit lane.
trait Lane32: Copy + Default {
    fn from_bits(b: u32) -> Self;
    fn bits(self) -> u32;
}

impl Lane32 for f32 {
    #[inline(always)]
    fn from_bits(b: u32) -> f32 {
        f32::from_bits(b)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Lane32 for i32 {
    #[inline(always)]
    fn from_bits(b: u32) -> i32 {
        b as i32
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }
}

impl Lane32 for u32 {
    #[inline(always)]
    fn from_bits(b: u32) -> u32 {
        b
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self
    }
}

/// Extends an element's low bits to 32.
#[inline(always)]
fn extend(v: u32, ty: Type) -> u32 {
    match ty {
        Type::B => v as u8 as i8 as i32 as u32,
        Type::Ub => v & 0xff,
        Type::W | Type::V => v as u16 as i16 as i32 as u32,
        Type::Uw | Type::Uv => v & 0xffff,
        _ => v,
    }
}

/// A source's lanes. Lanes beyond the instruction's channels, and lanes of channels that are off in indirect regions,
/// are anything.
#[inline(always)]
fn load<L: Lane32, const N: usize>(
    t: &Thread,
    op: &MicroOp,
    k: usize,
    mask: u32,
) -> Result<[L; N], String> {
    let mut out = [L::default(); N];
    let (s, ty) = match (op.srcs.get(k), op.alu.srcs.get(k)) {
        (Some(s), Some(Some(ty))) => (s, *ty),
        _ => return Ok(out),
    };
    match s {
        SrcOp::None => {}
        SrcOp::Imm(v) => {
            for (o, b) in out.iter_mut().zip(v.iter()) {
                *o = L::from_bits(extend(*b as u32, ty));
            }
        }
        SrcOp::Scalar { at } => {
            let v = L::from_bits(extend(t.regs.element(*at, ty.bytes()) as u32, ty));
            out = [v; N];
        }
        SrcOp::Packed { at } => match ty.bytes() {
            4 => {
                if let Some(b) = t.regs.dwords::<N>(*at) {
                    for i in 0..N {
                        out[i] = L::from_bits(u32::from_le_bytes(b[i]));
                    }
                }
            }
            2 => {
                if let Some(b) = t.regs.words::<N>(*at) {
                    let signed = ty.is_signed();
                    for i in 0..N {
                        let v = u16::from_le_bytes(b[i]);
                        out[i] = L::from_bits(if signed {
                            v as i16 as i32 as u32
                        } else {
                            u32::from(v)
                        });
                    }
                }
            }
            _ => {
                for (o, b) in out.iter_mut().zip(t.regs.get(*at, N)) {
                    *o = L::from_bits(extend(u32::from(*b), ty));
                }
            }
        },
        _ => {
            let size = ty.bytes();
            for (i, o) in out.iter_mut().enumerate() {
                if mask >> i & 1 == 1 {
                    let at = element_at(t, s, i as u32, size)?;
                    *o = L::from_bits(extend(t.regs.element(at, size) as u32, ty));
                }
            }
        }
    }
    Ok(out)
}

/// Writes the lanes of `mask` to the destination, as elements of its type.
#[inline(always)]
fn store<L: Lane32, const N: usize>(
    t: &mut Thread,
    op: &MicroOp,
    mask: u32,
    v: &[L; N],
) -> Result<(), String> {
    let size = op.alu.dst.bytes();
    let (base, step) = match op.dst {
        DstOp::Null => return Ok(()),
        DstOp::Direct { at, step, .. } => (at, step),
        DstOp::Indirect { addr, imm, step } => {
            let at = i32::from(t.regs.u16(addr)) + imm;
            let span = (u32::from(op.n) - 1) * step + size;
            match u32::try_from(at) {
                Ok(at) if at + span <= t.regs.grf_end() => (at, step),
                _ => {
                    return Err(format!(
                        "an indirect destination is at byte {at} of the registers"
                    ));
                }
            }
        }
    };
    if size == 4 && step == 4 && usize::from(op.n) == N {
        if let Some(out) = t.regs.dwords_mut::<N>(base) {
            if mask == op.full {
                for i in 0..N {
                    out[i] = v[i].bits().to_le_bytes();
                }
            } else {
                for i in 0..N {
                    let old = u32::from_le_bytes(out[i]);
                    let new = v[i].bits();
                    let keep = if mask >> i & 1 == 1 { new } else { old };
                    out[i] = keep.to_le_bytes();
                }
            }
        }
        return Ok(());
    }
    for (i, l) in v.iter().enumerate() {
        if mask >> i & 1 == 1 {
            let at = base + i as u32 * step;
            t.regs.set_element(at, size, u64::from(l.bits()));
        }
    }
    Ok(())
}

#[inline(always)]
fn with_float_mods<const N: usize>(mut v: [f32; N], m: SrcMods) -> [f32; N] {
    if m != SrcMods::default() {
        for x in &mut v {
            *x = float_mods(*x, m);
        }
    }
    v
}

/// Operations on single floats, in IEEE mode.
#[inline(never)]
pub(super) fn single<const N: usize>(
    t: &mut Thread,
    op: &MicroOp,
    mask: u32,
) -> Result<(), String> {
    let mods = &op.alu.mods;
    let a = with_float_mods(load::<f32, N>(t, op, 0, mask)?, mods[0]);
    let b = with_float_mods(load::<f32, N>(t, op, 1, mask)?, mods[1]);
    let mut r = match op.alu.op {
        Op::Cmp => {
            let flags = op.alu.cond.map_or(0, |c| float::compare(c, &a, &b));
            if let Some(bit) = op.flag {
                t.regs.set_flags(bit, mask, flags);
            }
            if !matches!(op.dst, DstOp::Null) {
                let mut ones = [f32::ZERO; N];
                for (i, o) in ones.iter_mut().enumerate() {
                    *o = f32::from_bits(if flags >> i & 1 == 1 { u32::MAX } else { 0 });
                }
                store(t, op, mask, &ones)?;
            }
            return Ok(());
        }
        Op::Sel => {
            let pick = match op.alu.cond {
                Some(c) => float::sel_pick(c, &a, &b),
                None if matches!(op.pick, Pred::None) => 0,
                None => t.predicate(op.pick),
            };
            int::select(pick, &a, &b)
        }
        Op::Mad | Op::Lrp => {
            let c = with_float_mods(load::<f32, N>(t, op, 2, mask)?, mods[2]);
            float::apply(op.alu.op, &a, &b, &c, Round::Nearest).unwrap_or(a)
        }
        other => float::apply(other, &a, &b, &[0.0; N], Round::Nearest).unwrap_or(a),
    };
    if let (Some(bit), Some(cond)) = (op.flag, op.alu.cond) {
        t.regs
            .set_flags(bit, mask, float::compare(cond, &r, &[0.0; N]));
    }
    if op.alu.sat {
        for v in &mut r {
            // Also turns a NaN into 0.
            *v = if *v >= 1.0 {
                1.0
            } else if *v > 0.0 {
                *v
            } else {
                0.0
            };
        }
    }
    store(t, op, mask, &r)
}

#[inline(always)]
fn with_int_mods<T: IntLane, const N: usize>(mut v: [T; N], m: SrcMods, logic: bool) -> [T; N] {
    if m != SrcMods::default() {
        for x in &mut v {
            *x = convert::int_mods(*x, m, logic);
        }
    }
    v
}

/// Operations on integers of at most 32 bits: decoding made sure that `T` is wide enough for the result's meaning.
#[inline(never)]
#[allow(private_bounds, reason = "the lanes are this file's own")]
pub(super) fn int<T: IntLane + Lane32, const N: usize>(
    t: &mut Thread,
    op: &MicroOp,
    mask: u32,
) -> Result<(), String> {
    let mods = &op.alu.mods;
    let logic = is_logic(op.alu.op);
    let a = with_int_mods(load::<T, N>(t, op, 0, mask)?, mods[0], logic);
    let b = with_int_mods(load::<T, N>(t, op, 1, mask)?, mods[1], logic);
    let r = match op.alu.op {
        Op::Cmp => {
            let flags = op.alu.cond.map_or(0, |c| int::compare(c, &a, &b));
            if let Some(bit) = op.flag {
                t.regs.set_flags(bit, mask, flags);
            }
            if !matches!(op.dst, DstOp::Null) {
                let mut ones = [T::ZERO; N];
                for (i, o) in ones.iter_mut().enumerate() {
                    *o = T::of(if flags >> i & 1 == 1 { -1 } else { 0 });
                }
                store(t, op, mask, &ones)?;
            }
            return Ok(());
        }
        Op::Sel => {
            let pick = match op.alu.cond {
                Some(c) => int::compare(c, &a, &b),
                None if matches!(op.pick, Pred::None) => 0,
                None => t.predicate(op.pick),
            };
            int::select(pick, &a, &b)
        }
        Op::Mad | Op::Bfi2 => {
            let c = with_int_mods(load::<T, N>(t, op, 2, mask)?, mods[2], logic);
            int::apply(op.alu.op, &a, &b, &c, 31).unwrap_or(a)
        }
        other => int::apply(other, &a, &b, &[T::ZERO; N], 31).unwrap_or(a),
    };
    if let (Some(bit), Some(cond)) = (op.flag, op.alu.cond) {
        // Flags look at the result as the destination has it.
        let mut seen = r;
        if op.alu.dst.bytes() < 4 {
            for v in &mut seen {
                *v = T::from_bits(extend(v.bits(), op.alu.dst));
            }
        }
        t.regs
            .set_flags(bit, mask, int::compare(cond, &seen, &[T::ZERO; N]));
    }
    store(t, op, mask, &r)
}
