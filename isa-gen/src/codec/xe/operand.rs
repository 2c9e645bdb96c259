//! Operands of one- and two-source instructions, and registers, which all formats share.

use super::{XeCtx, field_error};
use crate::codec::Operands;
use crate::codec::bits::Fields;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::operand::{
    SRC0, SRC1, SrcFields, addr_ref, addr_sub, get_function, put_function,
};
use crate::codec::parts::{
    self, get_region, imm32, mme, mme_code, operand_error, put_region, stride, stride_code,
};
use crate::inst::{Dst, Inst, Src, SrcMods};
use crate::op::MathFn;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout, TypeCodes};
use crate::types::Type;

/// Codes of the register files. Immediates have a bit of their own.
const ARF: u64 = 0;
const GRF: u64 = 1;

/// Kinds of architecture registers, by code.
const KINDS: [Option<Arf>; 16] = {
    let mut kinds = [None; 16];
    let mut n = 0;
    while n < Arf::ALL.len() {
        kinds[Arf::ALL[n].code() as usize] = Some(Arf::ALL[n]);
        n += 1;
    }
    kinds
};

/// Returns the codes of the GRF file and number of a register.
#[inline(always)]
pub(super) fn reg_code(
    cx: &XeCtx,
    operand: &'static str,
    r: Reg,
) -> Result<(u64, u64), EncodeError> {
    match r {
        Reg::Grf(n) => Ok((GRF, n.into())),
        Reg::Arf(kind, n)
            if cx
                .x
                .arfs
                .get(usize::from(kind.code()))
                .is_some_and(|most| n < *most) =>
        {
            Ok((ARF, u64::from(kind.code()) << 4 | u64::from(n)))
        }
        Reg::Arf(..) => Err(operand_error(operand, "the platform has no such register")),
    }
}

/// Decodes the register in two fields.
#[inline(always)]
pub(super) fn reg<L: NativeLayout>(
    cx: &XeCtx,
    file: Field,
    number: Field,
    f: &Fields<L>,
) -> Result<Reg, DecodeError> {
    let n = f.get(number) as u8;
    if f.get(file) == GRF {
        return Ok(Reg::Grf(n));
    }
    let code = usize::from(n >> 4);
    match (KINDS.get(code), cx.x.arfs.get(code)) {
        (Some(Some(kind)), Some(most)) if n & 15 < *most => Ok(Reg::Arf(*kind, n & 15)),
        _ => Err(field_error(number, f)),
    }
}

/// Encodes the GRF file and number of a register.
#[inline(always)]
pub(super) fn put_reg<L: NativeLayout>(
    cx: &XeCtx,
    operand: &'static str,
    (file, number): (Field, Field),
    r: Reg,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (is, n) = reg_code(cx, operand, r)?;
    f.put(file, is);
    f.put(number, n);
    Ok(())
}

/// Returns true if sub-registers are numbered independently of the type, instead of by byte offset.
#[inline]
fn is_numbered(r: Reg) -> bool {
    matches!(
        r,
        Reg::Arf(
            Arf::Msg | Arf::FlowControl | Arf::Ip | Arf::ChannelEnable,
            _
        )
    )
}

/// Encodes a sub-register in the units of its field, `1 << shift` bytes. A sub-register number
/// counts words on platforms with 64-byte GRFs, bytes elsewhere.
#[inline(always)]
pub(super) fn sub_code(
    cx: &XeCtx,
    operand: &'static str,
    RegRef { reg, sub }: RegRef<Reg>,
    shift: u8,
) -> Result<u64, EncodeError> {
    let beyond = u32::from(sub) >= cx.c.platform.features().grf_bytes;
    let bytes = if is_numbered(reg) {
        u32::from(sub) << cx.x.sub_shift
    } else {
        sub.into()
    };
    if beyond || bytes >= cx.c.platform.features().grf_bytes {
        return Err(operand_error(
            operand,
            "the sub-register is beyond the register",
        ));
    }
    if bytes & ((1 << shift) - 1) != 0 {
        return Err(operand_error(
            operand,
            "the sub-register cannot begin at this byte here",
        ));
    }
    Ok((bytes >> shift).into())
}

/// Decodes a register operand from a register and the code of its sub-register.
#[inline(always)]
pub(super) fn place(cx: &XeCtx, reg: Reg, code: u64, shift: u8) -> RegRef<Reg> {
    let bytes = (code as u16) << shift;
    RegRef::new(
        reg,
        if is_numbered(reg) {
            bytes >> cx.x.sub_shift
        } else {
            bytes
        },
    )
}

/// Returns true if the opcode has the type. Types that all opcodes share always pass.
#[inline(always)]
fn has_type(cx: &XeCtx, t: Type) -> bool {
    !matches!(t, Type::Bf | Type::Bf8 | Type::Hf8 | Type::Tf32)
        || cx
            .c
            .info
            .types
            .iter()
            .any(|(d, s)| d.contains(t) || s.contains(t))
}

#[inline(always)]
pub(super) fn type_code(
    cx: &XeCtx,
    operand: &'static str,
    types: &TypeCodes,
    t: Type,
) -> Result<u64, EncodeError> {
    if !has_type(cx, t) {
        return Err(operand_error(operand, "the opcode does not have the type"));
    }
    parts::type_code(operand, types, t)
}

#[inline(always)]
pub(super) fn type_of<L: NativeLayout>(
    cx: &XeCtx,
    types: &TypeCodes,
    field: Field,
    f: &Fields<L>,
) -> Result<Type, DecodeError> {
    let t = parts::type_of(types, f.get(field), field)?;
    if has_type(cx, t) {
        Ok(t)
    } else {
        Err(field_error(field, f))
    }
}

/// Returns the width of an address offset in bits. It spans 16 GRFs in both directions.
#[inline(always)]
fn offset_bits(cx: &XeCtx) -> u32 {
    (cx.c.platform.features().grf_bytes * 32).ilog2()
}

/// Encodes an address offset in units of `1 << shift` bytes.
#[inline(always)]
fn offset_code(cx: &XeCtx, operand: &'static str, imm: i16, shift: u8) -> Result<u64, EncodeError> {
    let bits = offset_bits(cx);
    let half = 1i32 << (bits - 1);
    if !(-half..half).contains(&imm.into()) {
        return Err(operand_error(operand, "the address offset is out of range"));
    }
    if imm & ((1 << shift) - 1) != 0 {
        return Err(operand_error(
            operand,
            "the address offset must be even here",
        ));
    }
    Ok((imm as u64 & ((1 << bits) - 1)) >> shift)
}

#[inline(always)]
fn offset(cx: &XeCtx, code: u64, shift: u8) -> i16 {
    let up = 16u32.saturating_sub(offset_bits(cx));
    ((code << shift << up) as i16) >> up
}

#[inline(always)]
fn put_dst<L: NativeLayout>(
    cx: &XeCtx,
    d: &Dst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let name = "dst";
    let file = (Field::DstFile, Field::DstReg);
    let (hs, ty) = match *d {
        Dst::None => return Err(operand_error(name, "missing")),
        Dst::Direct { at, hs, ty } => {
            put_reg(cx, name, file, at.reg, f)?;
            f.put(Field::DstSub, sub_code(cx, name, at, 0)?);
            (hs, ty)
        }
        Dst::Indirect { addr, imm, hs, ty } => {
            f.put(Field::DstAddrMode, 1);
            f.put(Field::DstAddrSub, addr_sub(name, addr)?);
            f.put(Field::DstAddrImm, offset_code(cx, name, imm, 0)?);
            (hs, ty)
        }
        Dst::Macro { at, mme, ty } => {
            put_reg(cx, name, file, at.reg, f)?;
            f.put(Field::DstMme, mme_code(name, mme)?);
            (1, ty)
        }
    };
    f.put(Field::DstHs, stride_code(name, hs, 4)?);
    f.put(
        Field::DstType,
        type_code(cx, name, &cx.c.tables.reg_types, ty)?,
    );
    Ok(())
}

#[inline(always)]
fn get_dst<L: NativeLayout>(
    cx: &XeCtx,
    is_macro: bool,
    f: &Fields<L>,
) -> Result<Dst<Reg>, DecodeError> {
    let ty = type_of(cx, &cx.c.tables.reg_types, Field::DstType, f)?;
    let hs = stride(f.get(Field::DstHs));
    let indirect = f.on(Field::DstAddrMode);
    if is_macro && (indirect || hs != 1) {
        return Err(field_error(Field::DstHs, f));
    }
    if indirect {
        return Ok(Dst::Indirect {
            addr: addr_ref(f.get(Field::DstAddrSub)),
            imm: offset(cx, f.get(Field::DstAddrImm), 0),
            hs,
            ty,
        });
    }
    let reg = reg(cx, Field::DstFile, Field::DstReg, f)?;
    if is_macro {
        return Ok(Dst::Macro {
            at: RegRef::new(reg, 0),
            mme: mme(Field::DstMme, f)?,
            ty,
        });
    }
    Ok(Dst::Direct {
        at: place(cx, reg, f.get(Field::DstSub), 0),
        hs,
        ty,
    })
}

/// Source of one- and two-source instructions.
struct SourceFields {
    fields: &'static SrcFields,
    is_imm: Field,
    /// True if sub-register and address offset are in larger units on platforms with 64-byte GRFs.
    coarse: bool,
}

const FIRST: SourceFields = SourceFields {
    fields: &SRC0,
    is_imm: Field::Src0IsImm,
    coarse: false,
};

const SECOND: SourceFields = SourceFields {
    fields: &SRC1,
    is_imm: Field::Src1IsImm,
    coarse: true,
};

impl SourceFields {
    fn shift(&self, cx: &XeCtx) -> u8 {
        if self.coarse { cx.x.sub_shift } else { 0 }
    }

    #[inline(always)]
    fn put_mods<L: NativeLayout>(
        &self,
        cx: &XeCtx,
        mods: SrcMods,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let s = self.fields;
        if (mods.neg || mods.abs) && !cx.c.info.mods {
            return Err(operand_error(s.name, "the opcode has no source modifiers"));
        }
        f.put(s.neg, mods.neg.into());
        f.put(s.abs, mods.abs.into());
        Ok(())
    }

    /// Encodes a source. `last` allows an immediate, `lone` one of 64 bits.
    #[inline(always)]
    fn put<L: NativeLayout>(
        &self,
        cx: &XeCtx,
        src: &Src<Reg>,
        last: bool,
        lone: bool,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let s = self.fields;
        let file = (s.file, s.reg);
        let (ty, mods) = match *src {
            Src::None => return Err(operand_error(s.name, "missing")),
            Src::Target(_) => return Err(operand_error(s.name, "a branch target is not data")),
            Src::Imm { bits, ty } => {
                if !last {
                    return Err(operand_error(
                        s.name,
                        "only the last source may be an immediate",
                    ));
                }
                return self.put_imm(cx, bits, ty, lone, f);
            }
            Src::Direct {
                at,
                region,
                ty,
                mods,
            } => {
                put_reg(cx, s.name, file, at.reg, f)?;
                f.put(s.sub, sub_code(cx, s.name, at, self.shift(cx))?);
                put_region(s, region, cx.x.vxh.into(), f)?;
                (ty, mods)
            }
            Src::Indirect {
                addr,
                imm,
                region,
                ty,
                mods,
            } => {
                f.put(s.addr_mode, 1);
                f.put(s.addr_sub, addr_sub(s.name, addr)?);
                f.put(s.addr_imm, offset_code(cx, s.name, imm, self.shift(cx))?);
                put_region(s, region, cx.x.vxh.into(), f)?;
                (ty, mods)
            }
            Src::Macro { at, mme, ty, mods } => {
                put_reg(cx, s.name, file, at.reg, f)?;
                f.put(s.mme, mme_code(s.name, mme)?);
                // A single channel reads a scalar.
                let stride = u8::from(f.get(Field::ExecSize) != 0);
                put_region(s, Region::rect(stride, 1, 0), cx.x.vxh.into(), f)?;
                (ty, mods)
            }
        };
        f.put(s.ty, type_code(cx, s.name, &cx.c.tables.reg_types, ty)?);
        self.put_mods(cx, mods, f)
    }

    #[inline(always)]
    fn put_imm<L: NativeLayout>(
        &self,
        cx: &XeCtx,
        bits: u64,
        ty: Type,
        lone: bool,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let s = self.fields;
        f.put(self.is_imm, 1);
        f.put(s.ty, parts::type_code(s.name, &cx.c.tables.imm_types, ty)?);
        if ty.bytes() == 8 {
            if !lone {
                return Err(operand_error(
                    s.name,
                    "a 64-bit immediate needs a one-source opcode",
                ));
            }
            if f.on(Field::CondMod) {
                return Err(operand_error(
                    s.name,
                    "a 64-bit immediate leaves no room for a condition modifier",
                ));
            }
            f.put(Field::Imm64, bits);
            return Ok(());
        }
        f.put(Field::Imm32, imm32(s.name, bits, ty)?);
        Ok(())
    }

    #[inline(always)]
    fn get<L: NativeLayout>(
        &self,
        cx: &XeCtx,
        is_macro: bool,
        last: bool,
        lone: bool,
        f: &Fields<L>,
    ) -> Result<Src<Reg>, DecodeError> {
        let s = self.fields;
        if f.on(self.is_imm) {
            if !last {
                return Err(field_error(self.is_imm, f));
            }
            let ty = parts::type_of(&cx.c.tables.imm_types, f.get(s.ty), s.ty)?;
            let bits = match ty.bytes() {
                8 if !lone => return Err(field_error(s.ty, f)),
                8 => f.get(Field::Imm64),
                2 if !ty.is_packed_imm() => f.get(Field::Imm32) & 0xffff,
                _ => f.get(Field::Imm32),
            };
            return Ok(Src::Imm { bits, ty });
        }
        let ty = type_of(cx, &cx.c.tables.reg_types, s.ty, f)?;
        let mods = SrcMods {
            neg: cx.c.info.mods && f.on(s.neg),
            abs: cx.c.info.mods && f.on(s.abs),
        };
        let indirect = f.on(s.addr_mode);
        if is_macro {
            if indirect {
                return Err(field_error(s.addr_mode, f));
            }
            return Ok(Src::Macro {
                at: RegRef::new(reg(cx, s.file, s.reg, f)?, 0),
                mme: mme(s.mme, f)?,
                ty,
                mods,
            });
        }
        let region = get_region(s, cx.x.vxh.into(), f)?;
        let shift = self.shift(cx);
        if indirect {
            return Ok(Src::Indirect {
                addr: addr_ref(f.get(s.addr_sub)),
                imm: offset(cx, f.get(s.addr_imm), shift),
                region,
                ty,
                mods,
            });
        }
        Ok(Src::Direct {
            at: place(cx, reg(cx, s.file, s.reg, f)?, f.get(s.sub), shift),
            region,
            ty,
            mods,
        })
    }
}

/// Operands of `mov`, `add` and their like.
pub(super) struct Data;

impl Operands<XeCtx> for Data {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        lower(cx, i, None, f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        lift(cx, None, f, i)
    }
}

/// Function of `math` and its operands.
pub(super) struct Math;

impl Operands<XeCtx> for Math {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let function = put_function(&cx.c, i, f)?;
        lower(cx, i, Some(function), f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let function = get_function(&cx.c, f, i)?;
        lift(cx, Some(function), f, i)
    }
}

#[inline(always)]
fn lower<L: NativeLayout>(
    cx: &XeCtx,
    i: &Inst<Reg>,
    function: Option<MathFn>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let is_macro = function.is_some_and(MathFn::is_macro);
    let sources = function.map_or(cx.c.info.format.sources(), MathFn::sources);
    let [s0, s1, _] = &i.srcs;
    let fits = |s: &Src<Reg>| match s {
        Src::Macro { .. } => is_macro,
        Src::Direct { .. } | Src::Indirect { .. } => !is_macro,
        _ => true,
    };
    if !fits(s0) || !fits(s1) {
        return Err(operand_error(
            "src0",
            "math macros, and only they, take mme operands",
        ));
    }
    parts::check(i, is_macro, sources)?;
    FIRST.put(cx, s0, sources == 1, function.is_none(), f)?;
    if sources == 2 {
        SECOND.put(cx, s1, true, false, f)?;
    }
    put_dst(cx, &i.dst, f)
}

#[inline(always)]
fn lift<L: NativeLayout>(
    cx: &XeCtx,
    function: Option<MathFn>,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let is_macro = function.is_some_and(MathFn::is_macro);
    let sources = function.map_or(cx.c.info.format.sources(), MathFn::sources);
    i.dst = get_dst(cx, is_macro, f)?;
    let [s0, s1, _] = &mut i.srcs;
    *s0 = FIRST.get(cx, is_macro, sources == 1, function.is_none(), f)?;
    if sources == 2 {
        *s1 = SECOND.get(cx, is_macro, true, false, f)?;
    }
    Ok(())
}
