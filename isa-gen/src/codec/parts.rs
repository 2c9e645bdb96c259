//! Parts of operands and controls that the layouts before Xe and those of Xe code alike.

use super::bits::Fields;
use super::operand::{SrcFields, addr_sub};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Cond, Dst, Inst, Src};
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout, TypeCodes};
use crate::types::Type;

/// Returns the error of an operand.
pub(super) fn operand_error(operand: &'static str, why: &'static str) -> EncodeError {
    EncodeError::Operand { operand, why }
}

/// Returns the code of a type.
#[inline(always)]
pub(super) fn type_code(
    operand: &'static str,
    codes: &TypeCodes,
    t: Type,
) -> Result<u64, EncodeError> {
    match codes.code(t) {
        Some(c) => Ok(c),
        None => Err(operand_error(operand, "the type is not possible here")),
    }
}

/// Returns the type of a code.
#[inline(always)]
pub(super) fn type_of(codes: &TypeCodes, code: u64, field: Field) -> Result<Type, DecodeError> {
    codes
        .ty(code)
        .ok_or_else(|| DecodeError::field(field, code))
}

/// Returns the code of a stride: 0, or one more than its log2.
#[inline(always)]
pub(super) fn stride_code(operand: &'static str, stride: u8, most: u8) -> Result<u64, EncodeError> {
    match stride {
        0 => Ok(0),
        s if s.is_power_of_two() && s <= most => Ok(u64::from(s.trailing_zeros()) + 1),
        _ => Err(operand_error(operand, "the stride is not possible")),
    }
}

/// Returns the stride of a code.
#[inline(always)]
pub(super) fn stride(code: u64) -> u8 {
    match code {
        0 => 0,
        c => 1u8.checked_shl(c as u32 - 1).unwrap_or(0),
    }
}

/// Encodes the region of a source. `vxh` is the vertical stride code of VxH and Vx1 regions.
#[inline(always)]
pub(super) fn put_region<L: NativeLayout>(
    s: &SrcFields,
    region: Region,
    vxh: u64,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (vs, w, hs) = match region {
        Region::Rect { vs, w, hs } => (stride_code(s.name, vs, 32)?, w, hs),
        Region::VxH { w, hs } => (vxh, w, hs),
        _ => {
            return Err(operand_error(
                s.name,
                "only three-source instructions have this region",
            ));
        }
    };
    if !w.is_power_of_two() || w > 16 {
        return Err(operand_error(s.name, "the region's width is not possible"));
    }
    f.put(s.vs, vs);
    f.put(s.width, w.trailing_zeros().into());
    f.put(s.hs, stride_code(s.name, hs, 4)?);
    Ok(())
}

/// Decodes the region of a source.
#[inline(always)]
pub(super) fn get_region<L: NativeLayout>(
    s: &SrcFields,
    vxh: u64,
    f: &Fields<L>,
) -> Result<Region, DecodeError> {
    let w = 1u8.checked_shl(f.get(s.width) as u32).unwrap_or(0);
    if f.get(s.width) > 4 {
        return Err(DecodeError::field(s.width, f.get(s.width)));
    }
    let hs = stride(f.get(s.hs));
    match f.get(s.vs) {
        c if c == vxh => Ok(Region::VxH { w, hs }),
        c @ 0..=6 => Ok(Region::Rect {
            vs: stride(c),
            w,
            hs,
        }),
        c => Err(DecodeError::field(s.vs, c)),
    }
}

/// Returns the code of a special accumulator.
#[inline(always)]
pub(super) fn mme_code(operand: &'static str, mme: u8) -> Result<u64, EncodeError> {
    if mme <= 8 {
        Ok(mme.into())
    } else {
        Err(operand_error(
            operand,
            "the special accumulator must be 0 to 8",
        ))
    }
}

/// Decodes a special accumulator.
#[inline(always)]
pub(super) fn mme<L: NativeLayout>(field: Field, f: &Fields<L>) -> Result<u8, DecodeError> {
    match f.get(field) {
        m @ 0..=8 => Ok(m as u8),
        m => Err(DecodeError::field(field, m)),
    }
}

/// Returns the field of an immediate of 32 bits or fewer. A word is replicated in both halves.
#[inline(always)]
pub(super) fn imm32(operand: &'static str, bits: u64, ty: Type) -> Result<u64, EncodeError> {
    let wide = match ty {
        Type::Uw | Type::W | Type::Hf if bits < 1 << 16 => bits * 0x1_0001,
        _ => bits,
    };
    if wide >= 1 << 32 {
        return Err(operand_error(
            operand,
            "the immediate's bits are wider than its type",
        ));
    }
    Ok(wide)
}

/// Checks that the destination fits a math macro or another instruction, and that no more than
/// `sources` sources exist, 1 or 2.
#[inline(always)]
pub(super) fn check(i: &Inst<Reg>, is_macro: bool, sources: u8) -> Result<(), EncodeError> {
    if matches!(i.dst, Dst::Macro { .. }) != is_macro {
        return Err(operand_error(
            "dst",
            "math macros, and only they, take mme operands",
        ));
    }
    let [_, s1, s2] = &i.srcs;
    if !matches!(s2, Src::None) || (sources < 2 && !matches!(s1, Src::None)) {
        return Err(operand_error("src1", "the opcode has fewer sources"));
    }
    Ok(())
}

/// Returns the code of a condition (PRM Vol. 2a, "CondModifier"), or `None` for `eo`,
/// which has none.
#[inline(always)]
pub(super) const fn cond_code(c: Cond) -> Option<u64> {
    match c {
        Cond::Eq => Some(1),
        Cond::Ne => Some(2),
        Cond::Gt => Some(3),
        Cond::Ge => Some(4),
        Cond::Lt => Some(5),
        Cond::Le => Some(6),
        Cond::Ov => Some(8),
        Cond::Un => Some(9),
        Cond::Eo => None,
    }
}

/// Returns the condition with a code.
pub(super) const fn cond_of(code: u64) -> Option<Cond> {
    match code {
        1 => Some(Cond::Eq),
        2 => Some(Cond::Ne),
        3 => Some(Cond::Gt),
        4 => Some(Cond::Ge),
        5 => Some(Cond::Lt),
        6 => Some(Cond::Le),
        8 => Some(Cond::Ov),
        9 => Some(Cond::Un),
        _ => None,
    }
}

/// Encodes an extended descriptor in a register.
pub(super) fn put_ex_reg<L: NativeLayout>(
    r: RegRef<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let operand = "extended descriptor";
    let sub = addr_sub(operand, r)?;
    if sub % 2 != 0 {
        return Err(operand_error(operand, "must be a dword of a0"));
    }
    f.put(Field::ExReg, 1);
    f.put(Field::ExAddrSub, sub / 2);
    Ok(())
}
