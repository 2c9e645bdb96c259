//! Three-source instructions in Align1. Each source has a type and a region, sources 0 and 2 may be
//! 16-bit immediates, and destination and source 1 may be accumulators.

use super::super::Ctx;
use super::super::bits::Fields;
use super::super::operand::{reg, reg_code};
use super::super::parts::{mme, mme_code, operand_error, stride, stride_code, type_code, type_of};
use super::{SRCS, TernaryFields};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Dst, Inst, Src, SrcMods};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout};
use crate::types::Type;

/// Bit of a type code for float types. The instruction has it once.
const FLOAT: u64 = 8;
/// Unit of the destination's sub-register in bytes.
const DST_UNIT: u16 = 8;
/// Vertical strides, by code.
const VS: [u8; 4] = [0, 2, 4, 8];

#[inline(always)]
fn put_type<L: NativeLayout>(
    ctx: &Ctx,
    name: &'static str,
    field: Field,
    ty: Type,
    f: &mut Fields<L>,
) -> Result<u64, EncodeError> {
    let code = type_code(name, &ctx.tables.align1_types, ty)?;
    f.put(field, code & !FLOAT);
    Ok(code & FLOAT)
}

#[inline(always)]
fn get_type<L: NativeLayout>(ctx: &Ctx, field: Field, f: &Fields<L>) -> Result<Type, DecodeError> {
    let float = if f.on(Field::ExecType) { FLOAT } else { 0 };
    type_of(&ctx.tables.align1_types, f.get(field) | float, field)
}

#[inline(always)]
fn put_sub<L: NativeLayout>(
    name: &'static str,
    field: Field,
    at: RegRef<Reg>,
    unit: u16,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    if at.sub >= 32 || !at.sub.is_multiple_of(unit) {
        return Err(operand_error(
            name,
            "the sub-register is beyond the register or not aligned",
        ));
    }
    f.put(field, (at.sub / unit).into());
    Ok(())
}

#[inline(always)]
fn put_file<L: NativeLayout>(
    name: &'static str,
    (file, number): (Field, Field),
    r: Reg,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (code, n) = match r {
        Reg::Grf(_) | Reg::Arf(Arf::Acc, _) => reg_code(name, r)?,
        Reg::Arf(..) => return Err(operand_error(name, "must be a GRF or an accumulator")),
    };
    f.put(file, 1 - code);
    f.put(number, n);
    Ok(())
}

#[inline(always)]
fn get_file<L: NativeLayout>(
    (file, number): (Field, Field),
    f: &Fields<L>,
) -> Result<Reg, DecodeError> {
    reg(1 - f.get(file).min(1), f.get(number), number)
}

#[inline(always)]
fn put_dst<L: NativeLayout>(
    ctx: &Ctx,
    d: &Dst<Reg>,
    f: &mut Fields<L>,
) -> Result<u64, EncodeError> {
    let name = "dst";
    let place = (Field::DstFile, Field::DstReg);
    match *d {
        Dst::Direct { at, hs, ty } if !ctx.info.mme => {
            put_file(name, place, at.reg, f)?;
            put_sub(name, Field::DstSub, at, DST_UNIT, f)?;
            match hs {
                1 => {}
                2 => f.put(Field::DstHs, 1),
                _ => return Err(operand_error(name, "the stride must be 1 or 2")),
            }
            put_type(ctx, name, Field::DstType, ty, f)
        }
        Dst::Macro { at, mme, ty } if ctx.info.mme => {
            put_file(name, place, at.reg, f)?;
            f.put(Field::DstMme, mme_code(name, mme)?);
            put_type(ctx, name, Field::DstType, ty, f)
        }
        _ => Err(operand_error(
            name,
            "must be direct, or have an mme in a math macro",
        )),
    }
}

#[inline(always)]
fn put_region<L: NativeLayout>(
    n: usize,
    s: &TernaryFields,
    region: Region,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (vs, hs) = match region {
        Region::Ternary { vs, hs } if n < 2 => (Some(vs), hs),
        Region::Scalar3 { hs } if n == 2 => (None, hs),
        _ => {
            return Err(operand_error(
                s.name,
                "the region must be <vs;hs>, for source 2 <hs>",
            ));
        }
    };
    if let Some(vs) = vs {
        let Some(code) = VS.iter().position(|v| *v == vs) else {
            return Err(operand_error(
                s.name,
                "the vertical stride must be 0, 2, 4 or 8",
            ));
        };
        f.put(s.vs, code as u64);
    }
    f.put(s.hs, stride_code(s.name, hs, 4)?);
    Ok(())
}

#[inline(always)]
fn put_src<L: NativeLayout>(
    ctx: &Ctx,
    (n, s): (usize, &TernaryFields),
    src: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<u64, EncodeError> {
    let mods = match *src {
        Src::Direct { mods, .. } | Src::Macro { mods, .. } => mods,
        _ => SrcMods::default(),
    };
    if (mods.neg || mods.abs) && !ctx.info.mods {
        return Err(operand_error(s.name, "the opcode has no source modifiers"));
    }
    f.put(s.neg, mods.neg.into());
    f.put(s.abs, mods.abs.into());
    match *src {
        Src::Direct { at, region, ty, .. } if !ctx.info.mme => {
            if n != 1 && !matches!(at.reg, Reg::Grf(_)) {
                return Err(operand_error(s.name, "must be a GRF or an immediate"));
            }
            put_file(s.name, (s.file, s.reg), at.reg, f)?;
            put_sub(s.name, s.sub, at, 1, f)?;
            put_region(n, s, region, f)?;
            put_type(ctx, s.name, s.ty, ty, f)
        }
        Src::Macro { at, mme, ty, .. } if ctx.info.mme => {
            put_file(s.name, (s.file, s.reg), at.reg, f)?;
            f.put(s.mme, mme_code(s.name, mme)?);
            if n < 2 {
                f.put(s.vs, MACRO_VS);
            }
            f.put(s.hs, 1);
            put_type(ctx, s.name, s.ty, ty, f)
        }
        Src::Imm { bits, ty } if n != 1 && !ctx.info.mme && ty.bytes() <= 2 => {
            if bits >> 16 != 0 {
                return Err(operand_error(s.name, "an immediate of 16 bits"));
            }
            f.put(s.file, 1);
            f.put(s.imm, bits);
            put_type(ctx, s.name, s.ty, ty, f)
        }
        _ => Err(operand_error(
            s.name,
            "must be a direct register or, as source 0 or 2, an immediate of 16 bits",
        )),
    }
}

#[inline(always)]
fn get_src<L: NativeLayout>(
    ctx: &Ctx,
    (n, s): (usize, &TernaryFields),
    f: &Fields<L>,
) -> Result<Src<Reg>, DecodeError> {
    let ty = get_type(ctx, s.ty, f)?;
    if n != 1 && f.on(s.file) {
        if ctx.info.mme {
            return Err(DecodeError::field(s.file, 1));
        }
        return Ok(Src::Imm {
            bits: f.get(s.imm),
            ty,
        });
    }
    let mods = SrcMods {
        neg: ctx.info.mods && f.on(s.neg),
        abs: ctx.info.mods && f.on(s.abs),
    };
    let r = get_file((s.file, s.reg), f)?;
    if ctx.info.mme {
        return Ok(Src::Macro {
            at: RegRef::new(r, 0),
            mme: mme(s.mme, f)?,
            ty,
            mods,
        });
    }
    let hs = stride(f.get(s.hs));
    let vs = VS.get(f.get(s.vs) as usize).copied().unwrap_or(0);
    Ok(Src::Direct {
        at: RegRef::new(r, f.get(s.sub) as u16),
        region: if n == 2 {
            Region::Scalar3 { hs }
        } else {
            Region::Ternary { vs, hs }
        },
        ty,
        mods,
    })
}

/// Code of the vertical stride in a math macro: four elements.
const MACRO_VS: u64 = 2;

#[inline(always)]
pub(super) fn lower<L: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let float = put_dst(ctx, &i.dst, f)?;
    f.put(Field::ExecType, (float != 0).into());
    let ([s0, s1, s2], [f0, f1, f2]) = (&i.srcs, &SRCS);
    let all = [
        put_src(ctx, (0, f0), s0, f)?,
        put_src(ctx, (1, f1), s1, f)?,
        put_src(ctx, (2, f2), s2, f)?,
    ];
    match all.iter().zip(&SRCS).find(|(code, _)| **code != float) {
        None => Ok(()),
        Some((_, s)) => Err(operand_error(s.name, "floats and integers cannot be mixed")),
    }
}

#[inline(always)]
pub(super) fn lift<L: NativeLayout>(
    ctx: &Ctx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let ty = get_type(ctx, Field::DstType, f)?;
    let r = get_file((Field::DstFile, Field::DstReg), f)?;
    i.dst = if ctx.info.mme {
        Dst::Macro {
            at: RegRef::new(r, 0),
            mme: mme(Field::DstMme, f)?,
            ty,
        }
    } else {
        Dst::Direct {
            at: RegRef::new(r, f.get(Field::DstSub) as u16 * DST_UNIT),
            hs: f.get(Field::DstHs) as u8 + 1,
            ty,
        }
    };
    let ([s0, s1, s2], [f0, f1, f2]) = (&mut i.srcs, &SRCS);
    *s0 = get_src(ctx, (0, f0), f)?;
    *s1 = get_src(ctx, (1, f1), f)?;
    *s2 = get_src(ctx, (2, f2), f)?;
    Ok(())
}
