//! Three-source instructions in Align16.
//!
//! Text and [`Inst`] use channels as in Align1. The encoding has swizzles and a write mask, and a
//! single channel is a masked row of four (of two for `df`).

use super::super::Ctx;
use super::super::bits::Fields;
use super::super::operand::reg_code;
use super::super::parts::{mme, mme_code, operand_error, type_code, type_of};
use super::{SRCS, TernaryFields};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Dst, Inst, Src, SrcMods};
use crate::reg::{Reg, RegRef};
use crate::region::{ExecSize, Region};
use crate::table::{Field, NativeLayout};
use crate::types::Type;

/// Swizzles: identity, and the first or second of two `df` elements for all channels.
const XYZW: u64 = 0xE4;
const XYXY: u64 = 0x44;
const ZWZW: u64 = 0xEE;

/// Returns the packed region of source `n`.
fn packed(n: usize) -> Region {
    if n == 2 {
        Region::Scalar3 { hs: 1 }
    } else {
        Region::Ternary { vs: 2, hs: 1 }
    }
}

/// Returns the scalar region of source `n`.
fn scalar(n: usize) -> Region {
    if n == 2 {
        Region::Scalar3 { hs: 0 }
    } else {
        Region::Ternary { vs: 0, hs: 0 }
    }
}

#[inline(always)]
fn put_dst_mask<L: NativeLayout>(
    i: &Inst<Reg>,
    at: RegRef<Reg>,
    ty: Type,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let bytes = ty.bytes() as u16;
    let mut sub = at.sub;
    if sub >= 32 || !sub.is_multiple_of(bytes) {
        return Err(operand_error(
            "dst",
            "the sub-register is not one of the type",
        ));
    }
    if i.exec == ExecSize::S1 {
        let (channels, exec, mask) = if bytes == 8 {
            (2, ExecSize::S2, 0b11 << ((sub / bytes) % 2 * 2))
        } else {
            (4, ExecSize::S4, 1 << ((sub / bytes) % 4))
        };
        sub -= sub % (bytes * channels);
        f.put(Field::ExecSize, exec.log2().into());
        f.put(Field::DstMask, mask);
    } else {
        f.put(Field::DstMask, 0b1111);
    }
    if !sub.is_multiple_of(4) {
        return Err(operand_error("dst", "the sub-register must start a dword"));
    }
    f.put(Field::DstSub, (sub / 4).into());
    Ok(())
}

/// Encodes the region and sub-register of a source as replication, swizzle and aligned
/// sub-register.
#[inline(always)]
fn put_region<L: NativeLayout>(
    ctx: &Ctx,
    (n, s): (usize, &TernaryFields),
    at: RegRef<Reg>,
    region: Region,
    ty: Type,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let bytes = ty.bytes() as u16;
    if at.sub >= 32 || !at.sub.is_multiple_of(bytes) {
        return Err(operand_error(
            s.name,
            "the sub-register is not one of the type",
        ));
    }
    let mut sub = at.sub;
    let mut swizzle = XYZW;
    if region == scalar(n) {
        if bytes == 8 {
            swizzle = if sub % 16 == 8 { ZWZW } else { XYXY };
            sub -= sub % 16;
        } else {
            f.put(s.rep, 1);
        }
    } else if region != packed(n) {
        return Err(operand_error(
            s.name,
            "the region must be <2;1> or <0;0>, for source 2 <1> or <0>",
        ));
    }
    f.put(s.swizzle, swizzle);
    let unit = u16::from(ctx.tables.ternary_unit.max(1));
    if !sub.is_multiple_of(unit) {
        return Err(operand_error(s.name, "the sub-register is not aligned"));
    }
    f.put(s.sub, (sub / unit).into());
    Ok(())
}

#[inline(always)]
pub(super) fn lower<L: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (at, ty) = match i.dst {
        Dst::Direct { at, hs: 1, ty } if !ctx.info.mme => {
            put_dst_mask(i, at, ty, f)?;
            (at, ty)
        }
        Dst::Macro { at, mme: m, ty } if ctx.info.mme => {
            f.put(Field::DstMask, mme_code("dst", m)?);
            (at, ty)
        }
        _ => {
            return Err(operand_error(
                "dst",
                "must be direct and packed (of a math macro, have an mme)",
            ));
        }
    };
    let (1, number) = reg_code("dst", at.reg)? else {
        return Err(operand_error("dst", "must be a GRF"));
    };
    f.put(Field::DstReg, number);
    f.put(
        Field::DstType,
        type_code("dst", &ctx.tables.ternary_types, ty)?,
    );

    let first = i.srcs[0].ty();
    let ([s0, s1, s2], [f0, f1, f2]) = (&i.srcs, &SRCS);
    put_src(ctx, (0, f0), s0, first, f)?;
    put_src(ctx, (1, f1), s1, first, f)?;
    put_src(ctx, (2, f2), s2, first, f)
}

/// Encodes a source. `first` is the type of source 0.
#[inline(always)]
fn put_src<L: NativeLayout>(
    ctx: &Ctx,
    (n, s): (usize, &TernaryFields),
    src: &Src<Reg>,
    first: Option<Type>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (at, ty, mods) = match *src {
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } if !ctx.info.mme => {
            put_region(ctx, (n, s), at, region, ty, f)?;
            (at, ty, mods)
        }
        Src::Macro {
            at,
            mme: m,
            ty,
            mods,
        } if ctx.info.mme => {
            f.put(s.swizzle, mme_code(s.name, m)?);
            (at, ty, mods)
        }
        _ => {
            return Err(operand_error(
                s.name,
                "must be a direct register (of a math macro, with an mme)",
            ));
        }
    };
    let (1, number) = reg_code(s.name, at.reg)? else {
        return Err(operand_error(s.name, "must be a GRF"));
    };
    match half_field(n) {
        None => f.put(
            Field::SrcType,
            type_code(s.name, &ctx.tables.ternary_types, ty)?,
        ),
        Some(half) => match (first, ty) {
            (Some(Type::F | Type::Hf), Type::F | Type::Hf) if f.width(half) != 0 => {
                f.put(half, (ty == Type::Hf).into());
            }
            (Some(t), _) if t == ty => {}
            _ => {
                return Err(operand_error(
                    s.name,
                    "the sources' types cannot be combined",
                ));
            }
        },
    }
    if (mods.neg || mods.abs) && !ctx.info.mods {
        return Err(operand_error(s.name, "the opcode has no source modifiers"));
    }
    f.put(s.neg, mods.neg.into());
    f.put(s.abs, mods.abs.into());
    f.put(s.reg, number);
    Ok(())
}

/// Returns the field that makes source `n` an `hf`. Source 0 has a type field instead.
#[inline(always)]
fn half_field(n: usize) -> Option<Field> {
    match n {
        0 => None,
        1 => Some(Field::Src1Half),
        _ => Some(Field::Src2Half),
    }
}

/// Returns the execution size in text and the destination's offset in bytes.
#[inline(always)]
fn dst_place<L: NativeLayout>(
    exec: ExecSize,
    f: &Fields<L>,
    bytes: u32,
) -> Result<(ExecSize, u16), DecodeError> {
    let field = |field| DecodeError::field(field, f.get(field));
    let sub = f.get(Field::DstSub) as u16 * 4;
    let (exec, sub) = match (exec, f.get(Field::DstMask), bytes) {
        (ExecSize::S1, ..) => return Err(field(Field::ExecSize)),
        (_, 0b1111, _) => (exec, sub),
        (ExecSize::S4, mask @ (1 | 2 | 4 | 8), 2 | 4) => {
            (ExecSize::S1, sub + (mask.trailing_zeros() * bytes) as u16)
        }
        (ExecSize::S2, 0b0011, 8) => (ExecSize::S1, sub),
        (ExecSize::S2, 0b1100, 8) => (ExecSize::S1, sub + 8),
        _ => return Err(field(Field::DstMask)),
    };
    if sub >= 32 || u32::from(sub) % bytes != 0 {
        return Err(field(Field::DstSub));
    }
    Ok((exec, sub))
}

#[inline(always)]
pub(super) fn lift<L: NativeLayout>(
    ctx: &Ctx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let types = &ctx.tables.ternary_types;
    let ty = type_of(types, f.get(Field::DstType), Field::DstType)?;
    let reg = grf(Field::DstReg, f)?;
    i.dst = if ctx.info.mme {
        Dst::Macro {
            at: RegRef::new(reg, 0),
            mme: mme(Field::DstMask, f)?,
            ty,
        }
    } else {
        let (exec, sub) = dst_place(i.exec, f, ty.bytes())?;
        i.exec = exec;
        Dst::Direct {
            at: RegRef::new(reg, sub),
            hs: 1,
            ty,
        }
    };
    let first = type_of(types, f.get(Field::SrcType), Field::SrcType)?;
    let ([s0, s1, s2], [f0, f1, f2]) = (&mut i.srcs, &SRCS);
    *s0 = get_src(ctx, (0, f0), first, f)?;
    *s1 = get_src(ctx, (1, f1), first, f)?;
    *s2 = get_src(ctx, (2, f2), first, f)?;
    Ok(())
}

/// Decodes a source. `first` is the type of source 0.
#[inline(always)]
fn get_src<L: NativeLayout>(
    ctx: &Ctx,
    (n, s): (usize, &TernaryFields),
    first: Type,
    f: &Fields<L>,
) -> Result<Src<Reg>, DecodeError> {
    let half = match half_field(n) {
        Some(half) if f.width(half) != 0 => f.on(half),
        _ => first == Type::Hf,
    };
    let ty = match (first, half) {
        (Type::F | Type::Hf, true) => Type::Hf,
        (Type::F | Type::Hf, false) => Type::F,
        (t, _) => t,
    };
    let mods = SrcMods {
        neg: ctx.info.mods && f.on(s.neg),
        abs: ctx.info.mods && f.on(s.abs),
    };
    let reg = grf(s.reg, f)?;
    if ctx.info.mme {
        return Ok(Src::Macro {
            at: RegRef::new(reg, 0),
            mme: mme(s.swizzle, f)?,
            ty,
            mods,
        });
    }
    let mut sub = f.get(s.sub) as u16 * u16::from(ctx.tables.ternary_unit);
    let region = if f.on(s.rep) {
        scalar(n)
    } else {
        match f.get(s.swizzle) {
            XYZW => packed(n),
            XYXY if ty == Type::Df => scalar(n),
            ZWZW if ty == Type::Df => {
                sub += 8;
                scalar(n)
            }
            _ => return Err(DecodeError::field(s.swizzle, f.get(s.swizzle))),
        }
    };
    if sub >= 32 || u32::from(sub) % ty.bytes() != 0 {
        return Err(DecodeError::field(s.sub, f.get(s.sub)));
    }
    Ok(Src::Direct {
        at: RegRef::new(reg, sub),
        region,
        ty,
        mods,
    })
}

/// Decodes the register number in a field.
#[inline(always)]
fn grf<L: NativeLayout>(field: Field, f: &Fields<L>) -> Result<Reg, DecodeError> {
    match f.get(field) {
        n @ 0..=127 => Ok(Reg::Grf(n as u8)),
        n => Err(DecodeError::field(field, n)),
    }
}
