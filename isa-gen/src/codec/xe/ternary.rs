//! Three-source instructions, and `dpas`, whose operands are whole registers.

use super::operand::{place, put_reg, reg, sub_code, type_code};
use super::{XeCtx, field_error, operand_error};
use crate::codec::Operands;
use crate::codec::bits::Fields;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::parts::{mme, mme_code, stride, stride_code};
use crate::inst::{Dst, Inst, Src, SrcMods, Subfn};
use crate::op::Op;
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout, TypeCodes};
use crate::types::Type;

struct TernarySource {
    name: &'static str,
    /// Bit that marks an immediate, and the immediate.
    imm: Option<(Field, Field)>,
    file: Field,
    ty: Field,
    neg: Field,
    abs: Field,
    reg: Field,
    sub: Field,
    mme: Field,
    /// Vertical stride, which source 2 does not have.
    vs: Option<Field>,
    hs: Field,
    precision: Option<Field>,
}

impl TernarySource {
    /// Returns true if the source of `dpas` may be the register. Only the accumulator may be null,
    /// which counts as zero.
    fn takes(&self, r: Reg) -> bool {
        matches!(r, Reg::Grf(_)) || self.precision.is_none() && r.is_null()
    }
}

const SRCS: [TernarySource; 3] = [
    TernarySource {
        name: "src0",
        imm: Some((Field::Src0IsImm, Field::Src0Imm)),
        file: Field::Src0File,
        ty: Field::Src0Type,
        neg: Field::Src0Neg,
        abs: Field::Src0Abs,
        reg: Field::Src0Reg,
        sub: Field::Src0Sub,
        mme: Field::Src0Mme,
        vs: Some(Field::Src0Vs),
        hs: Field::Src0Hs,
        precision: None,
    },
    TernarySource {
        name: "src1",
        imm: None,
        file: Field::Src1File,
        ty: Field::Src1Type,
        neg: Field::Src1Neg,
        abs: Field::Src1Abs,
        reg: Field::Src1Reg,
        sub: Field::Src1Sub,
        mme: Field::Src1Mme,
        vs: Some(Field::Src1Vs),
        hs: Field::Src1Hs,
        precision: Some(Field::Src1Precision),
    },
    TernarySource {
        name: "src2",
        imm: Some((Field::Src2IsImm, Field::Src2Imm)),
        file: Field::Src2File,
        ty: Field::Src2Type,
        neg: Field::Src2Neg,
        abs: Field::Src2Abs,
        reg: Field::Src2Reg,
        sub: Field::Src2Sub,
        mme: Field::Src2Mme,
        vs: None,
        hs: Field::Src2Hs,
        precision: Some(Field::Src2Precision),
    },
];

/// Vertical strides, by code.
const STRIDES: [u8; 4] = [0, 1, 4, 8];
/// Codes of the region fields beside a special accumulator.
const MACRO_VS: u64 = 2;
const MACRO_HS: u64 = 1;
/// Bit of a type code for float types.
const FLOAT: u64 = 8;

const DST: (Field, Field) = (Field::DstFile, Field::DstReg);

/// Encodes a type: its own field, and the shared field for float types.
#[inline(always)]
fn put_type<L: NativeLayout>(
    cx: &XeCtx,
    operand: &'static str,
    types: &TypeCodes,
    field: Field,
    ty: Type,
    f: &mut Fields<L>,
) -> Result<u64, EncodeError> {
    let code = type_code(cx, operand, types, ty)?;
    f.put(field, code & 7);
    let float = u64::from(code & FLOAT != 0);
    if field == Field::DstType {
        f.put(Field::ExecType, float);
    } else if f.get(Field::ExecType) != float {
        return Err(operand_error(
            operand,
            "the types must be all floats or all integers",
        ));
    }
    Ok(code)
}

/// Decodes a type. `above` has the bits of its code above the float bit.
#[inline(always)]
fn get_type<L: NativeLayout>(
    types: &TypeCodes,
    field: Field,
    above: u64,
    f: &Fields<L>,
) -> Result<Type, DecodeError> {
    let float = if f.on(Field::ExecType) { FLOAT } else { 0 };
    types
        .ty(f.get(field) | float | above)
        .ok_or_else(|| field_error(field, f))
}

/// Extends the 16 bits of an immediate to its type.
fn widen(bits: u64, ty: Type) -> u64 {
    match ty {
        Type::Ub | Type::B => bits & 0xff,
        Type::D => u64::from(bits as u16 as i16 as u32),
        Type::Q => bits as u16 as i16 as u64,
        _ => bits,
    }
}

#[inline(always)]
fn put_src<L: NativeLayout>(
    cx: &XeCtx,
    s: &TernarySource,
    src: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let info = cx.c.info;
    let (ty, mods) = match *src {
        Src::Imm { bits, ty } if !info.mme => {
            let Some((is_imm, imm)) = s.imm else {
                return Err(operand_error(s.name, "source 1 cannot be an immediate"));
            };
            if widen(bits & 0xffff, ty) != bits {
                return Err(operand_error(s.name, "the immediate must fit 16 bits"));
            }
            f.put(is_imm, 1);
            f.put(imm, bits & 0xffff);
            (ty, SrcMods::default())
        }
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } if !info.mme => {
            put_reg(cx, s.name, (s.file, s.reg), at.reg, f)?;
            f.put(s.sub, sub_code(cx, s.name, at, cx.x.sub_shift)?);
            let hs = match (region, s.vs) {
                (Region::Ternary { vs, hs }, Some(field)) => {
                    let code = STRIDES
                        .iter()
                        .position(|s| *s == vs)
                        .ok_or(operand_error(s.name, "the stride is not possible"))?;
                    f.put(field, code as u64);
                    hs
                }
                (Region::Scalar3 { hs }, None) => hs,
                _ => {
                    return Err(operand_error(
                        s.name,
                        "the region must be <V;H>, for source 2 <H>",
                    ));
                }
            };
            f.put(s.hs, stride_code(s.name, hs, 4)?);
            (ty, mods)
        }
        Src::Macro {
            at,
            mme: m,
            ty,
            mods,
        } if info.mme => {
            put_reg(cx, s.name, (s.file, s.reg), at.reg, f)?;
            f.put(s.mme, mme_code(s.name, m)?);
            if let Some(vs) = s.vs {
                f.put(vs, MACRO_VS);
            }
            f.put(s.hs, MACRO_HS);
            (ty, mods)
        }
        _ => {
            return Err(operand_error(
                s.name,
                "must be a direct register or an immediate (of a math macro, have an mme)",
            ));
        }
    };
    put_type(cx, s.name, &cx.c.tables.align1_types, s.ty, ty, f)?;
    if (mods.neg || mods.abs) && !info.mods {
        return Err(operand_error(s.name, "the opcode has no source modifiers"));
    }
    f.put(s.neg, mods.neg.into());
    f.put(s.abs, mods.abs.into());
    Ok(())
}

#[inline(always)]
fn get_src<L: NativeLayout>(
    cx: &XeCtx,
    s: &TernarySource,
    f: &Fields<L>,
) -> Result<Src<Reg>, DecodeError> {
    let info = cx.c.info;
    let ty = get_type(&cx.c.tables.align1_types, s.ty, 0, f)?;
    if let Some((is_imm, imm)) = s.imm
        && f.on(is_imm)
    {
        if info.mme {
            return Err(field_error(is_imm, f));
        }
        let bits = widen(f.get(imm), ty);
        return Ok(Src::Imm { bits, ty });
    }
    let reg = reg(cx, s.file, s.reg, f)?;
    let mods = SrcMods {
        neg: info.mods && f.on(s.neg),
        abs: info.mods && f.on(s.abs),
    };
    if info.mme {
        return Ok(Src::Macro {
            at: RegRef::new(reg, 0),
            mme: mme(s.mme, f)?,
            ty,
            mods,
        });
    }
    let hs = stride(f.get(s.hs));
    let region = match s.vs {
        Some(vs) => Region::Ternary {
            vs: STRIDES.get(f.get(vs) as usize).copied().unwrap_or(0),
            hs,
        },
        None => Region::Scalar3 { hs },
    };
    Ok(Src::Direct {
        at: place(cx, reg, f.get(s.sub), cx.x.sub_shift),
        region,
        ty,
        mods,
    })
}

/// Three-source instructions.
pub(super) struct Ternary;

impl Operands<XeCtx> for Ternary {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        if i.op == Op::Bfn {
            let Subfn::Bfn(table) = i.subfn else {
                return Err(operand_error("function", "`bfn` needs a truth table"));
            };
            f.put(Field::TruthTable, table.into());
        }
        let info = cx.c.info;
        let ty = match i.dst {
            Dst::Direct { at, hs, ty } if !info.mme => {
                put_reg(cx, "dst", DST, at.reg, f)?;
                f.put(
                    Field::DstSub,
                    sub_code(cx, "dst", at, cx.x.ternary_dst_shift)?,
                );
                match hs {
                    1 | 2 => f.put(Field::DstHs, u64::from(hs) - 1),
                    _ => return Err(operand_error("dst", "the stride must be 1 or 2")),
                }
                ty
            }
            Dst::Macro { at, mme: m, ty } if info.mme => {
                put_reg(cx, "dst", DST, at.reg, f)?;
                f.put(Field::DstMme, mme_code("dst", m)?);
                ty
            }
            _ => {
                return Err(operand_error(
                    "dst",
                    "must be direct, or have an mme in a math macro",
                ));
            }
        };
        put_type(cx, "dst", &cx.c.tables.align1_types, Field::DstType, ty, f)?;
        let ([s0, s1, s2], [f0, f1, f2]) = (&i.srcs, &SRCS);
        put_src(cx, f0, s0, f)?;
        put_src(cx, f1, s1, f)?;
        put_src(cx, f2, s2, f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        if i.op == Op::Bfn {
            i.subfn = Subfn::Bfn(f.get(Field::TruthTable) as u8);
        }
        let ty = get_type(&cx.c.tables.align1_types, Field::DstType, 0, f)?;
        let reg = reg(cx, Field::DstFile, Field::DstReg, f)?;
        i.dst = if cx.c.info.mme {
            Dst::Macro {
                at: RegRef::new(reg, 0),
                mme: mme(Field::DstMme, f)?,
                ty,
            }
        } else {
            Dst::Direct {
                at: place(cx, reg, f.get(Field::DstSub), cx.x.ternary_dst_shift),
                hs: f.get(Field::DstHs) as u8 + 1,
                ty,
            }
        };
        let ([s0, s1, s2], [f0, f1, f2]) = (&mut i.srcs, &SRCS);
        *s0 = get_src(cx, f0, f)?;
        *s1 = get_src(cx, f1, f)?;
        *s2 = get_src(cx, f2, f)?;
        Ok(())
    }
}

/// Instructions of the systolic array, on whole registers.
pub(super) struct Dpas;

impl Operands<XeCtx> for Dpas {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let Subfn::Dpas { depth, repeat } = i.subfn else {
            return Err(operand_error(
                "function",
                "`dpas` needs a depth and a repeat count",
            ));
        };
        let found = cx.x.depths.iter().position(|d| *d == depth && depth != 0);
        let code = found.ok_or(operand_error("function", "the platform has no such depth"))?;
        f.put(Field::DpasDepth, code as u64);
        if !(1..=8).contains(&repeat) {
            return Err(operand_error("function", "the repeat count must be 1 to 8"));
        }
        f.put(Field::DpasRepeat, u64::from(repeat) - 1);
        let Dst::Direct { at, hs: 1, ty } = i.dst else {
            return Err(operand_error("dst", "must be a direct, packed register"));
        };
        put_reg(cx, "dst", DST, at.reg, f)?;
        f.put(Field::DstSub, sub_code(cx, "dst", at, cx.x.sub_shift)?);
        put_type(cx, "dst", &cx.x.dpas_acc_types, Field::DstType, ty, f)?;
        for (src, s) in i.srcs.iter().zip(&SRCS) {
            let Src::Direct {
                at,
                region: _,
                ty,
                mods:
                    SrcMods {
                        neg: false,
                        abs: false,
                    },
            } = *src
            else {
                return Err(operand_error(
                    s.name,
                    "must be a direct register without modifiers",
                ));
            };
            if !s.takes(at.reg) {
                return Err(operand_error(s.name, "must be a GRF (source 0: or null)"));
            }
            put_reg(cx, s.name, (s.file, s.reg), at.reg, f)?;
            f.put(s.sub, sub_code(cx, s.name, at, cx.x.sub_shift)?);
            match s.precision {
                None => {
                    put_type(cx, s.name, &cx.x.dpas_acc_types, s.ty, ty, f)?;
                }
                Some(precision) => {
                    let code = put_type(cx, s.name, &cx.x.dpas_types, s.ty, ty, f)?;
                    f.put(precision, code >> 4);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let depth = cx.x.depths.get(f.get(Field::DpasDepth) as usize);
        i.subfn = Subfn::Dpas {
            depth: *depth
                .filter(|d| **d != 0)
                .ok_or_else(|| field_error(Field::DpasDepth, f))?,
            repeat: f.get(Field::DpasRepeat) as u8 + 1,
        };
        let whole = |file, number, sub| {
            let r = reg(cx, file, number, f)?;
            Ok::<_, DecodeError>(place(cx, r, f.get(sub), cx.x.sub_shift))
        };
        i.dst = Dst::Direct {
            at: whole(Field::DstFile, Field::DstReg, Field::DstSub)?,
            hs: 1,
            ty: get_type(&cx.x.dpas_acc_types, Field::DstType, 0, f)?,
        };
        for (src, s) in i.srcs.iter_mut().zip(&SRCS) {
            if let Some((is_imm, _)) = s.imm
                && f.on(is_imm)
            {
                return Err(field_error(is_imm, f));
            }
            let at = whole(s.file, s.reg, s.sub)?;
            if !s.takes(at.reg) {
                return Err(field_error(s.file, f));
            }
            let ty = match s.precision {
                None => get_type(&cx.x.dpas_acc_types, s.ty, 0, f)?,
                Some(p) => get_type(&cx.x.dpas_types, s.ty, f.get(p) << 4, f)?,
            };
            *src = Src::Direct {
                at,
                region: Region::SCALAR,
                ty,
                mods: SrcMods::default(),
            };
        }
        Ok(())
    }
}
