//! Three-source instructions, in Align16 (up to Gen9, and math macros on Gen10) and in Align1.

mod align1;
mod align16;

use super::bits::Fields;
use super::parts::operand_error;
use super::{Ctx, control};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::Inst;
use crate::reg::Reg;
use crate::table::{Field, NativeLayout};

struct TernaryFields {
    name: &'static str,
    file: Field,
    ty: Field,
    neg: Field,
    abs: Field,
    vs: Field,
    hs: Field,
    reg: Field,
    sub: Field,
    mme: Field,
    imm: Field,
    rep: Field,
    swizzle: Field,
}

/// Fields of the sources. A field that a source lacks is replaced by one that no layout of the
/// format has.
const SRCS: [TernaryFields; 3] = [
    TernaryFields {
        name: "src0",
        file: Field::Src0File,
        ty: Field::Src0Type,
        neg: Field::Src0Neg,
        abs: Field::Src0Abs,
        vs: Field::Src0Vs,
        hs: Field::Src0Hs,
        reg: Field::Src0Reg,
        sub: Field::Src0Sub,
        mme: Field::Src0Mme,
        imm: Field::Src0Imm,
        rep: Field::Src0Rep,
        swizzle: Field::Src0Swizzle,
    },
    TernaryFields {
        name: "src1",
        file: Field::Src1File,
        ty: Field::Src1Type,
        neg: Field::Src1Neg,
        abs: Field::Src1Abs,
        vs: Field::Src1Vs,
        hs: Field::Src1Hs,
        reg: Field::Src1Reg,
        sub: Field::Src1Sub,
        mme: Field::Src1Mme,
        imm: Field::Imm64,
        rep: Field::Src1Rep,
        swizzle: Field::Src1Swizzle,
    },
    TernaryFields {
        name: "src2",
        file: Field::Src2File,
        ty: Field::Src2Type,
        neg: Field::Src2Neg,
        abs: Field::Src2Abs,
        vs: Field::Imm64,
        hs: Field::Src2Hs,
        reg: Field::Src2Reg,
        sub: Field::Src2Sub,
        mme: Field::Src2Mme,
        imm: Field::Src2Imm,
        rep: Field::Src2Rep,
        swizzle: Field::Src2Swizzle,
    },
];

/// Encodes a three-source instruction. `L` is the layout of the format, `A` that of Align16.
pub(super) fn lower<L: NativeLayout, A: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
) -> Result<u128, EncodeError> {
    let features = ctx.platform.features();
    let base = ctx.tables.base(ctx.info.opcode);
    if features.ternary_align16 || (ctx.info.mme && features.align16) {
        if !A::EXISTS {
            return Err(operand_error("opcode", "has no Align16 form"));
        }
        let mut f = Fields::<A>::new(base);
        f.put(Field::AccessMode, 1);
        control::lower(ctx, i, &mut f)?;
        align16::lower(ctx, i, &mut f)?;
        return f.finish();
    }
    let mut f = Fields::<L>::new(base);
    control::lower(ctx, i, &mut f)?;
    align1::lower(ctx, i, &mut f)?;
    f.finish()
}

pub(super) fn lift<L: NativeLayout, A: NativeLayout>(
    ctx: &Ctx,
    word: u128,
    _: usize,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let f = Fields::<L>::new(word);
    if f.on(Field::AccessMode) {
        if !A::EXISTS {
            return Err(DecodeError::Align16);
        }
        let f = Fields::<A>::new(word);
        control::lift(ctx, &f, i)?;
        return align16::lift(ctx, &f, i);
    }
    if ctx.platform.features().ternary_align16 {
        return Err(DecodeError::Align1Ternary);
    }
    control::lift(ctx, &f, i)?;
    align1::lift(ctx, &f, i)
}
