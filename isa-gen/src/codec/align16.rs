//! One- and two-source instructions in Align16.
//!
//! Encoding needs it only to name the special accumulators `mme1` to `mme7` of math macros on Gen8
//! and Gen9. Their numbers are in the write mask and the swizzle (PRM of Skylake, Vol. 7, "Context
//! save and restore"). Decoding also accepts instructions whose channels keep their positions,
//! which have an equivalent in Align1. The others have no [`Inst`].

use super::Ctx;
use super::bits::Fields;
use super::operand::{SRC0, SRC1, SrcFields, get_src, reg, reg_code};
use super::parts::{operand_error, type_code, type_of};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Dst, Inst, Src, SrcMods};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout};

/// Identity swizzle.
const XYZW: u64 = 0xE4;
const ALL: u64 = 0xF;
/// Code of a vertical stride of four elements.
const ROW: u64 = 3;
/// First special accumulator of math macros, `mme0`, which stands for all of them.
const FIRST: u8 = 2;
/// Region of every operand.
const REGION: Region = Region::rect(1, 1, 0);

const fn mme(r: Reg) -> Option<u8> {
    match r {
        Reg::Arf(Arf::Acc, n) if n > FIRST && n < FIRST + 8 => Some(n - FIRST),
        _ => None,
    }
}

/// Returns true if the instruction has an encoding in Align16 only.
#[inline]
pub(super) fn needs_align16(i: &Inst<Reg>) -> bool {
    matches!(i.dst, Dst::Direct { at, .. } if mme(at.reg).is_some())
        || matches!(i.srcs[0], Src::Direct { at, .. } if mme(at.reg).is_some())
}

fn put_reg<L: NativeLayout>(
    name: &'static str,
    (file, number, sub): (Field, Field, Field),
    at: RegRef<Reg>,
    f: &mut Fields<L>,
) -> Result<Option<u8>, EncodeError> {
    if at.reg == Reg::Arf(Arf::Acc, FIRST) {
        return Err(operand_error(
            name,
            "`mme0` cannot be combined with other special accumulators",
        ));
    }
    if !matches!(at.sub, 0 | 16) {
        return Err(operand_error(
            name,
            "an Align16 operand must start at byte 0 or 16",
        ));
    }
    let which = mme(at.reg);
    let r = which.map_or(at.reg, |_| Reg::Arf(Arf::Acc, FIRST));
    let (code, n) = reg_code(name, r)?;
    f.put(file, code);
    f.put(number, n);
    f.put(sub, at.sub.into());
    Ok(which)
}

fn swizzle<L: NativeLayout>(f: &Fields<L>, s: &SrcFields) -> u64 {
    f.get(swizzle_field(s))
}

fn swizzle_field(s: &SrcFields) -> Field {
    if s.file == Field::Src0File {
        Field::Src0Swizzle
    } else {
        Field::Src1Swizzle
    }
}

fn put_src<L: NativeLayout>(
    ctx: &Ctx,
    s: &SrcFields,
    src: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let Src::Direct {
        at,
        region: REGION,
        ty,
        mods,
    } = *src
    else {
        return Err(operand_error(
            s.name,
            "beside `mme1` to `mme7` an operand is a register with the region <1;1,0>",
        ));
    };
    if (mods.neg || mods.abs) && !ctx.info.mods || mods.abs && ctx.info.bitwise {
        return Err(operand_error(
            s.name,
            "the opcode has no such source modifier",
        ));
    }
    let which = put_reg(s.name, (s.file, s.reg, s.sub), at, f)?;
    let channels = which.map_or(XYZW, |n| {
        let (low, high) = (u64::from(n), u64::from(n >> 2));
        low | high << 4 | high << 6
    });
    f.put(swizzle_field(s), channels);
    f.put(s.vs, ROW);
    f.put(s.ty, type_code(s.name, &ctx.tables.reg_types, ty)?);
    f.put(s.neg, mods.neg.into());
    f.put(s.abs, mods.abs.into());
    Ok(())
}

/// Encodes the operands and the access mode.
#[inline(never)]
pub(super) fn lower<L: NativeLayout>(ctx: &Ctx, i: &Inst<Reg>) -> Result<Fields<L>, EncodeError> {
    let mut f = Fields::<L>::new(0);
    f.put(Field::AccessMode, 1);
    let Dst::Direct { at, hs: 1, ty } = i.dst else {
        return Err(operand_error(
            "dst",
            "beside `mme1` to `mme7` it is direct and packed",
        ));
    };
    let place = (Field::DstFile, Field::DstReg, Field::DstSub);
    let which = put_reg("dst", place, at, &mut f)?;
    let mask = match which {
        // The number 7 would be the mask without the last channel.
        None | Some(7) => ALL,
        Some(n) => n.into(),
    };
    f.put(Field::DstMask, mask);
    f.put(Field::DstType, type_code("dst", &ctx.tables.reg_types, ty)?);
    put_src(ctx, &SRC0, &i.srcs[0], &mut f)?;
    if ctx.info.format.sources() == 2 {
        put_src(ctx, &SRC1, &i.srcs[1], &mut f)?;
    }
    Ok(f)
}

fn get_reg<L: NativeLayout>(
    ctx: &Ctx,
    (file, number, sub): (Field, Field, Field),
    (channels, all, which): (u64, u64, u64),
    f: &Fields<L>,
) -> Result<RegRef<Reg>, DecodeError> {
    let r = reg(f.get(file), f.get(number), number)?;
    if r == Reg::Arf(Arf::Acc, FIRST) && ctx.platform.features().mme_align16 {
        return match which {
            n @ 1..=7 => Ok(RegRef::new(Reg::Arf(Arf::Acc, FIRST + n as u8), 0)),
            _ => Err(DecodeError::Align16),
        };
    }
    if channels != all {
        return Err(DecodeError::Align16);
    }
    Ok(RegRef::new(r, f.get(sub) as u16 & 16))
}

fn get<L: NativeLayout>(ctx: &Ctx, s: &SrcFields, f: &Fields<L>) -> Result<Src<Reg>, DecodeError> {
    if f.get(s.file) == super::operand::IMM {
        return get_src(ctx, s, false, f);
    }
    if f.on(s.addr_mode) || f.get(s.vs) != ROW {
        return Err(DecodeError::Align16);
    }
    let channels = swizzle(f, s);
    let place = (s.file, s.reg, s.sub);
    Ok(Src::Direct {
        at: get_reg(ctx, place, (channels, XYZW, channels & 0xF), f)?,
        region: REGION,
        ty: type_of(&ctx.tables.reg_types, f.get(s.ty), s.ty)?,
        mods: SrcMods {
            neg: ctx.info.mods && f.on(s.neg),
            abs: ctx.info.mods && f.on(s.abs),
        },
    })
}

pub(super) fn lift<L: NativeLayout>(
    ctx: &Ctx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    if f.on(Field::DstAddrMode) || !ctx.info.format.has_dst() {
        return Err(DecodeError::Align16);
    }
    let mask = f.get(Field::DstMask);
    let which = if mask == ALL { 7 } else { mask };
    let place = (Field::DstFile, Field::DstReg, Field::DstSub);
    i.dst = Dst::Direct {
        at: get_reg(ctx, place, (mask, ALL, which), f)?,
        hs: 1,
        ty: type_of(&ctx.tables.reg_types, f.get(Field::DstType), Field::DstType)?,
    };
    i.srcs[0] = get(ctx, &SRC0, f)?;
    if ctx.info.format.sources() == 2 {
        i.srcs[1] = get(ctx, &SRC1, f)?;
    }
    Ok(())
}
