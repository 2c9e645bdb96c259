//! The fast path of 64-bit integers: address arithmetic, mostly.

use super::alu::element_at;
use super::program::{DstOp, MicroOp, Pred, SrcOp};
use super::thread::Thread;
use gantry_isa_gen::sem::int;
use gantry_isa_gen::sem::{convert, is_logic};
use gantry_isa_gen::{Op, SrcMods, Type};

/// Extends an element's bits to 64.
#[inline(always)]
fn extend(v: u64, ty: Type) -> i64 {
    match ty {
        Type::B => v as u8 as i8 as i64,
        Type::Ub => i64::from(v as u8),
        Type::W | Type::V => v as u16 as i16 as i64,
        Type::Uw | Type::Uv => i64::from(v as u16),
        Type::D => v as u32 as i32 as i64,
        Type::Ud => i64::from(v as u32),
        _ => v as i64,
    }
}

#[inline(always)]
fn load<const N: usize>(t: &Thread, op: &MicroOp, k: usize, mask: u32) -> Result<[i64; N], String> {
    let mut out = [0; N];
    let (s, ty) = match (op.srcs.get(k), op.alu.srcs.get(k)) {
        (Some(s), Some(Some(ty))) => (s, *ty),
        _ => return Ok(out),
    };
    let size = ty.bytes();
    match s {
        SrcOp::None => {}
        SrcOp::Imm(v) => {
            for (o, b) in out.iter_mut().zip(v.iter()) {
                *o = extend(*b, ty);
            }
        }
        SrcOp::Scalar { at } => out = [extend(t.regs.element(*at, size), ty); N],
        SrcOp::Packed { at } if size == 8 => {
            if let Some(b) = t.regs.qwords::<N>(*at) {
                for i in 0..N {
                    out[i] = i64::from_le_bytes(b[i]);
                }
            }
        }
        SrcOp::Packed { at } if size == 4 => {
            let signed = ty.is_signed();
            if let Some(b) = t.regs.dwords::<N>(*at) {
                for i in 0..N {
                    let v = u32::from_le_bytes(b[i]);
                    out[i] = if signed {
                        v as i32 as i64
                    } else {
                        i64::from(v)
                    };
                }
            }
        }
        _ => {
            for (i, o) in out.iter_mut().enumerate() {
                if mask >> i & 1 == 1 {
                    let at = element_at(t, s, i as u32, size)?;
                    *o = extend(t.regs.element(at, size), ty);
                }
            }
        }
    }
    let m = op.alu.mods.get(k).copied().unwrap_or_default();
    if m != SrcMods::default() {
        let logic = is_logic(op.alu.op);
        for x in &mut out {
            *x = convert::int_mods(*x, m, logic);
        }
    }
    Ok(out)
}

#[inline(always)]
fn store<const N: usize>(
    t: &mut Thread,
    op: &MicroOp,
    mask: u32,
    v: &[i64; N],
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
    if size == 8
        && step == 8
        && mask == op.full
        && usize::from(op.n) == N
        && let Some(out) = t.regs.qwords_mut::<N>(base)
    {
        for i in 0..N {
            out[i] = v[i].to_le_bytes();
        }
        return Ok(());
    }
    for (i, l) in v.iter().enumerate() {
        if mask >> i & 1 == 1 {
            t.regs.set_element(base + i as u32 * step, size, *l as u64);
        }
    }
    Ok(())
}

/// Operations with a 64-bit integer among their operands: decoding made sure that 64 signed bits are enough.
#[inline(never)]
pub(super) fn int<const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) -> Result<(), String> {
    let a = load::<N>(t, op, 0, mask)?;
    let b = load::<N>(t, op, 1, mask)?;
    let r = match op.alu.op {
        Op::Cmp => {
            let flags = op.alu.cond.map_or(0, |c| int::compare(c, &a, &b));
            if let Some(bit) = op.flag {
                t.regs.set_flags(bit, mask, flags);
            }
            let mut ones = [0; N];
            for (i, o) in ones.iter_mut().enumerate() {
                *o = if flags >> i & 1 == 1 { -1 } else { 0 };
            }
            ones
        }
        Op::Sel => {
            let pick = match op.pick {
                Pred::None => 0,
                p => t.predicate(p),
            };
            int::select(pick, &a, &b)
        }
        other => int::apply(other, &a, &b, &[0; N], 63).unwrap_or(a),
    };
    store(t, op, mask, &r)
}
