//! Operands of one- and two-source instructions, and helpers that other formats share.

use super::bits::Fields;
use super::parts::{
    self, get_region, imm32, mme, mme_code, operand_error, put_region, stride, stride_code,
    type_code, type_of,
};
use super::{Ctx, Operands, align16};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Dst, Inst, Src, SrcMods, Subfn};
use crate::op::{Format, MathFn};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ExecSize, Region};
use crate::table::{Field, NativeLayout};
use crate::types::Type;

/// Codes of the register files.
pub(super) const ARF: u64 = 0;
pub(super) const GRF: u64 = 1;
pub(super) const IMM: u64 = 3;

/// Fields of source 0 or 1.
pub(super) struct SrcFields {
    pub name: &'static str,
    pub file: Field,
    pub ty: Field,
    pub addr_mode: Field,
    pub neg: Field,
    pub abs: Field,
    pub vs: Field,
    pub width: Field,
    pub hs: Field,
    pub reg: Field,
    pub sub: Field,
    pub addr_sub: Field,
    pub addr_imm: Field,
    pub mme: Field,
}

pub(super) const SRC0: SrcFields = SrcFields {
    name: "src0",
    file: Field::Src0File,
    ty: Field::Src0Type,
    addr_mode: Field::Src0AddrMode,
    neg: Field::Src0Neg,
    abs: Field::Src0Abs,
    vs: Field::Src0Vs,
    width: Field::Src0Width,
    hs: Field::Src0Hs,
    reg: Field::Src0Reg,
    sub: Field::Src0Sub,
    addr_sub: Field::Src0AddrSub,
    addr_imm: Field::Src0AddrImm,
    mme: Field::Src0Mme,
};

pub(super) const SRC1: SrcFields = SrcFields {
    name: "src1",
    file: Field::Src1File,
    ty: Field::Src1Type,
    addr_mode: Field::Src1AddrMode,
    neg: Field::Src1Neg,
    abs: Field::Src1Abs,
    vs: Field::Src1Vs,
    width: Field::Src1Width,
    hs: Field::Src1Hs,
    reg: Field::Src1Reg,
    sub: Field::Src1Sub,
    addr_sub: Field::Src1AddrSub,
    addr_imm: Field::Src1AddrImm,
    mme: Field::Src1Mme,
};

/// Returns the codes of the GRF file and number of a register.
#[inline(always)]
pub(super) fn reg_code(operand: &'static str, r: Reg) -> Result<(u64, u64), EncodeError> {
    match r {
        Reg::Grf(n @ 0..=127) => Ok((GRF, n.into())),
        Reg::Arf(kind, n @ 0..=15) => Ok((ARF, u64::from(kind.code()) << 4 | u64::from(n))),
        _ => Err(operand_error(operand, "there is no such register")),
    }
}

/// Decodes a register from file and number.
#[inline(always)]
pub(super) fn reg(file: u64, number: u64, field: Field) -> Result<Reg, DecodeError> {
    let n = number as u8;
    match file {
        GRF if number < 128 => Ok(Reg::Grf(n)),
        ARF => Arf::from_code(n >> 4)
            .map(|kind| Reg::Arf(kind, n & 15))
            .ok_or_else(|| DecodeError::field(field, number)),
        _ => Err(DecodeError::field(field, number)),
    }
}

/// Vertical stride code of the VxH and Vx1 regions.
const VXH: u64 = 0xF;

/// Returns the number of an address sub-register. a0 has 16 words.
#[inline(always)]
pub(super) fn addr_sub(operand: &'static str, r: RegRef<Reg>) -> Result<u64, EncodeError> {
    match r.reg {
        Reg::Arf(Arf::Address, 0) if r.sub < 32 && r.sub.is_multiple_of(2) => {
            Ok(u64::from(r.sub / 2))
        }
        _ => Err(operand_error(operand, "the address must be a word of a0")),
    }
}

pub(super) fn addr_ref(sub: u64) -> RegRef<Reg> {
    RegRef::new(Reg::Arf(Arf::Address, 0), (sub * 2) as u16)
}

/// Encodes an address offset in ten bits.
#[inline(always)]
pub(super) fn addr_imm(operand: &'static str, imm: i16) -> Result<u64, EncodeError> {
    if (-512..512).contains(&imm) {
        Ok((imm as u64) & 0x3ff)
    } else {
        Err(operand_error(
            operand,
            "the address offset must be -512 to 511",
        ))
    }
}

/// Decodes an address offset from ten bits.
pub(super) fn addr_offset(bits: u64) -> i16 {
    (((bits as i16) << 6) >> 6).clamp(-512, 511)
}

#[inline(always)]
pub(super) fn put_sub<L: NativeLayout>(
    operand: &'static str,
    field: Field,
    at: RegRef<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    if at.sub >= 32 {
        return Err(operand_error(
            operand,
            "the sub-register is beyond the register",
        ));
    }
    f.put(field, at.sub.into());
    Ok(())
}

/// Encodes a destination.
#[inline(always)]
pub(super) fn put_dst<L: NativeLayout>(
    ctx: &Ctx,
    d: &Dst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let name = "dst";
    let types = &ctx.tables.reg_types;
    match *d {
        Dst::None => return Err(operand_error(name, "missing")),
        Dst::Direct { at, hs, ty } => {
            let (file, number) = reg_code(name, at.reg)?;
            f.put(Field::DstFile, file);
            f.put(Field::DstReg, number);
            put_sub(name, Field::DstSub, at, f)?;
            f.put(Field::DstHs, stride_code(name, hs, 4)?);
            f.put(Field::DstType, type_code(name, types, ty)?);
        }
        Dst::Indirect { addr, imm, hs, ty } => {
            f.put(Field::DstFile, GRF);
            f.put(Field::DstAddrMode, 1);
            f.put(Field::DstAddrSub, addr_sub(name, addr)?);
            f.put(Field::DstAddrImm, addr_imm(name, imm)?);
            f.put(Field::DstHs, stride_code(name, hs, 4)?);
            f.put(Field::DstType, type_code(name, types, ty)?);
        }
        Dst::Macro { at, mme, ty } => {
            let (file, number) = reg_code(name, at.reg)?;
            f.put(Field::DstFile, file);
            f.put(Field::DstReg, number);
            f.put(Field::DstMme, mme_code(name, mme)?);
            f.put(Field::DstType, type_code(name, types, ty)?);
            if !ctx.platform.features().align16 {
                f.put(Field::DstHs, 1);
            }
        }
    }
    Ok(())
}

/// Decodes a destination, after selecting its form.
#[inline(always)]
pub(super) fn get_dst<L: NativeLayout>(
    ctx: &Ctx,
    is_macro: bool,
    f: &Fields<L>,
) -> Result<Dst<Reg>, DecodeError> {
    let indirect = f.on(Field::DstAddrMode);
    let ty = type_of(&ctx.tables.reg_types, f.get(Field::DstType), Field::DstType)?;
    let hs = stride(f.get(Field::DstHs));
    if indirect && !is_macro {
        return Ok(Dst::Indirect {
            addr: addr_ref(f.get(Field::DstAddrSub)),
            imm: addr_offset(f.get(Field::DstAddrImm)),
            hs,
            ty,
        });
    }
    let reg = reg(f.get(Field::DstFile), f.get(Field::DstReg), Field::DstReg)?;
    if is_macro {
        return Ok(Dst::Macro {
            at: RegRef::new(reg, 0),
            mme: mme(Field::DstMme, f)?,
            ty,
        });
    }
    Ok(Dst::Direct {
        at: RegRef::new(reg, f.get(Field::DstSub) as u16),
        hs,
        ty,
    })
}

#[inline(always)]
fn put_mods<L: NativeLayout>(
    ctx: &Ctx,
    s: &SrcFields,
    mods: SrcMods,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    if (mods.neg || mods.abs) && !ctx.info.mods {
        return Err(operand_error(s.name, "the opcode has no source modifiers"));
    }
    if mods.abs && ctx.info.bitwise {
        return Err(operand_error(
            s.name,
            "a bitwise operation has no absolute value",
        ));
    }
    f.put(s.neg, mods.neg.into());
    f.put(s.abs, mods.abs.into());
    Ok(())
}

/// Properties of an instruction that the encoding of a source depends on.
#[derive(Clone, Copy)]
pub(super) struct SrcContext {
    /// True if there is no other source, so that a 64-bit immediate fits.
    pub lone: bool,
    /// True if the execution size is 1.
    pub scalar: bool,
}

/// Returns the vertical stride code of a math macro in Align16: four elements a row, or two of
/// eight bytes.
fn macro_rows(ty: Type) -> u64 {
    if ty.bytes() == 8 { 2 } else { 3 }
}

/// Encodes a source.
#[inline(always)]
pub(super) fn put_src<L: NativeLayout>(
    ctx: &Ctx,
    s: &SrcFields,
    src: &Src<Reg>,
    SrcContext { lone, scalar }: SrcContext,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let name = s.name;
    let reg_type = |ty| type_code(name, &ctx.tables.reg_types, ty);
    match *src {
        Src::None => return Err(operand_error(name, "missing")),
        Src::Target(_) => return Err(operand_error(name, "a branch target is not data")),
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } => {
            let (file, number) = reg_code(name, at.reg)?;
            f.put(s.file, file);
            f.put(s.ty, reg_type(ty)?);
            f.put(s.reg, number);
            put_sub(name, s.sub, at, f)?;
            put_region(s, region, VXH, f)?;
            put_mods(ctx, s, mods, f)?;
        }
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            mods,
        } => {
            f.put(s.file, GRF);
            f.put(s.addr_mode, 1);
            f.put(s.ty, reg_type(ty)?);
            f.put(s.addr_sub, addr_sub(name, addr)?);
            f.put(s.addr_imm, addr_imm(name, imm)?);
            put_region(s, region, VXH, f)?;
            put_mods(ctx, s, mods, f)?;
        }
        Src::Macro { at, mme, ty, mods } => {
            let (file, number) = reg_code(name, at.reg)?;
            f.put(s.file, file);
            f.put(s.ty, reg_type(ty)?);
            f.put(s.reg, number);
            f.put(s.mme, mme_code(name, mme)?);
            if ctx.platform.features().align16 {
                f.put(s.vs, macro_rows(ty));
            } else if scalar {
                put_region(s, Region::SCALAR, VXH, f)?;
            } else {
                put_region(s, Region::rect(2, 2, 1), VXH, f)?;
            }
            put_mods(ctx, s, mods, f)?;
        }
        Src::Imm { bits, ty } => {
            f.put(s.file, IMM);
            f.put(s.ty, type_code(name, &ctx.tables.imm_types, ty)?);
            match ty {
                Type::Uq | Type::Q | Type::Df => {
                    if !lone {
                        return Err(operand_error(
                            name,
                            "a 64-bit immediate needs a one-source opcode",
                        ));
                    }
                    f.put(Field::Imm64, bits);
                }
                _ => {
                    f.put(Field::Imm32, imm32(name, bits, ty)?);
                }
            }
        }
    }
    Ok(())
}

/// Decodes a source, after selecting its form.
#[inline(always)]
pub(super) fn get_src<L: NativeLayout>(
    ctx: &Ctx,
    s: &SrcFields,
    is_macro: bool,
    f: &Fields<L>,
) -> Result<Src<Reg>, DecodeError> {
    if f.get(s.file) == IMM {
        let ty = type_of(&ctx.tables.imm_types, f.get(s.ty), s.ty)?;
        let wide = matches!(ty, Type::Uq | Type::Q | Type::Df);
        if wide && s.file != Field::Src0File {
            return Err(DecodeError::field(s.ty, f.get(s.ty)));
        }
        let bits = match ty {
            Type::Uq | Type::Q | Type::Df => f.get(Field::Imm64),
            Type::Uw | Type::W | Type::Hf => f.get(Field::Imm32) & 0xffff,
            _ => f.get(Field::Imm32),
        };
        return Ok(Src::Imm { bits, ty });
    }
    let indirect = f.get(s.addr_mode) == 1;
    let ty = type_of(&ctx.tables.reg_types, f.get(s.ty), s.ty)?;
    let mods = SrcMods {
        neg: ctx.info.mods && f.on(s.neg),
        abs: ctx.info.mods && f.on(s.abs),
    };
    if is_macro {
        if indirect || (ctx.platform.features().align16 && f.get(s.vs) != macro_rows(ty)) {
            return Err(DecodeError::field(s.vs, f.get(s.vs)));
        }
        return Ok(Src::Macro {
            at: RegRef::new(reg(f.get(s.file), f.get(s.reg), s.reg)?, 0),
            mme: mme(s.mme, f)?,
            ty,
            mods,
        });
    }
    let region = get_region(s, VXH, f)?;
    if indirect {
        return Ok(Src::Indirect {
            addr: addr_ref(f.get(s.addr_sub)),
            imm: addr_offset(f.get(s.addr_imm)),
            region,
            ty,
            mods,
        });
    }
    Ok(Src::Direct {
        at: RegRef::new(
            reg(f.get(s.file), f.get(s.reg), s.reg)?,
            f.get(s.sub) as u16,
        ),
        region,
        ty,
        mods,
    })
}

/// Operands of `mov`, `add`, `wait` and their like.
pub(super) struct Data;

impl Operands<Ctx> for Data {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        ctx: &Ctx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        lower(ctx, i, None, f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        ctx: &Ctx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        lift(ctx, None, f, i)
    }
}

/// Function of `math` and its operands.
pub(super) struct Math;

impl Operands<Ctx> for Math {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        ctx: &Ctx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let function = put_function(ctx, i, f)?;
        lower(ctx, i, Some(function), f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        ctx: &Ctx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let function = get_function(ctx, f, i)?;
        lift(ctx, Some(function), f, i)
    }
}

/// Encodes the function of `math`.
pub(super) fn put_function<L: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
    f: &mut Fields<L>,
) -> Result<MathFn, EncodeError> {
    let Subfn::Math(function) = i.subfn else {
        return Err(operand_error("function", "`math` needs one"));
    };
    let Some(code) = function.code(ctx.platform) else {
        return Err(EncodeError::NotAllowed {
            op: i.op,
            what: "this function on the platform",
        });
    };
    f.put(Field::MathFn, code.into());
    Ok(function)
}

/// Decodes the function of `math`.
pub(super) fn get_function<L: NativeLayout>(
    ctx: &Ctx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<MathFn, DecodeError> {
    let code = f.get(Field::MathFn) as u8;
    let function = MathFn::from_code(ctx.platform, code).ok_or(DecodeError::MathFunction(code))?;
    i.subfn = Subfn::Math(function);
    Ok(function)
}

#[inline(always)]
fn lower<L: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
    function: Option<MathFn>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let is_macro = function.is_some_and(MathFn::is_macro);
    let sources = function.map_or(ctx.info.format.sources(), MathFn::sources);
    let [s0, s1, _] = &i.srcs;
    if is_macro && ctx.platform.features().align16 {
        f.put(Field::AccessMode, 1);
    }
    if function.is_none() && ctx.platform.features().mme_align16 && align16::needs_align16(i) {
        f.join(&align16::lower(ctx, i)?);
        return Ok(());
    }
    let with_mme = |s: &Src<Reg>| matches!(s, Src::Macro { .. });
    if with_mme(s0) != is_macro || (sources == 2 && with_mme(s1) != is_macro) {
        return Err(operand_error(
            "src0",
            "math macros, and only they, take mme operands",
        ));
    }
    parts::check(i, is_macro, sources)?;
    if sources == 2 && matches!(s0, Src::Imm { .. }) {
        return Err(operand_error(
            "src0",
            "only the last source may be an immediate",
        ));
    }
    let among = |lone| SrcContext {
        lone,
        scalar: i.exec == ExecSize::S1,
    };
    put_src(ctx, &SRC0, s0, among(sources == 1), f)?;
    if sources == 2 {
        put_src(ctx, &SRC1, s1, among(false), f)?;
    }
    if ctx.info.format == Format::Wait {
        // The notification register is also the destination.
        let Src::Direct { at, ty, .. } = *s0 else {
            return Err(operand_error(
                "src0",
                "`wait` takes a notification register",
            ));
        };
        return put_dst(ctx, &Dst::Direct { at, hs: 1, ty }, f);
    }
    put_dst(ctx, &i.dst, f)
}

#[inline(always)]
fn lift<L: NativeLayout>(
    ctx: &Ctx,
    function: Option<MathFn>,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let is_macro = function.is_some_and(MathFn::is_macro);
    if f.on(Field::AccessMode) != (is_macro && ctx.platform.features().align16) {
        if function.is_none() && ctx.platform.features().align16 {
            return align16::lift(ctx, f, i);
        }
        return Err(DecodeError::Align16);
    }
    let sources = function.map_or(ctx.info.format.sources(), MathFn::sources);
    let dst = get_dst(ctx, is_macro, f)?;
    if ctx.info.format.has_dst() {
        i.dst = dst;
    }
    let [s0, s1, _] = &mut i.srcs;
    *s0 = get_src(ctx, &SRC0, is_macro, f)?;
    if sources == 2 {
        if matches!(s0, Src::Imm { .. }) {
            return Err(DecodeError::field(Field::Src0File, IMM));
        }
        *s1 = get_src(ctx, &SRC1, is_macro, f)?;
    }
    Ok(())
}
