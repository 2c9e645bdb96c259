//! Codec of Xe, driven by [`XeTables`] and layouts per generation.

mod branch;
mod control;
mod operand;
mod send;
mod swsb;
mod ternary;

use super::bits::Fields;
use super::{Codec, Ctx, NoOperands, Operands};
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::parts::operand_error;
use crate::inst::Inst;
use crate::op::{Format, Op};
use crate::reg::Reg;
use crate::table::xe::XeTables;
use crate::table::{Field, NativeLayout};

/// Context of the codecs of all Xe formats.
struct XeCtx {
    c: Ctx,
    x: &'static XeTables,
}

fn field_error<L: NativeLayout>(field: Field, f: &Fields<L>) -> DecodeError {
    DecodeError::field(field, f.get(field))
}

impl Codec {
    /// Codec of a format of Xe. `L` is its layout, `B` that of `bfn`.
    pub(crate) const fn xe<L: NativeLayout, B: NativeLayout>(format: Format) -> Codec {
        match format {
            Format::Nullary => Codec::of_xe::<L, NoOperands>(),
            Format::Unary | Format::Binary => Codec::of_xe::<L, operand::Data>(),
            Format::Math => Codec::of_xe::<L, operand::Math>(),
            Format::Ternary => Codec {
                lower: lower_ternary::<L, B>,
                lift: lift_ternary::<L, B>,
            },
            Format::Dpas => Codec::of_xe::<L, ternary::Dpas>(),
            Format::XeSend => Codec::of_xe::<L, send::Send>(),
            Format::Sync => Codec::of_xe::<L, branch::Sync>(),
            Format::Jmpi
            | Format::BranchJip
            | Format::BranchJipUip
            | Format::BranchRegJip
            | Format::BranchRegJipUip
            | Format::Call
            | Format::Ret => Codec::of_xe::<L, branch::Branch>(),
            Format::Wait | Format::Send | Format::SplitSend => Codec::NONE,
        }
    }

    const fn of_xe<L: NativeLayout, F: Operands<XeCtx>>() -> Codec {
        Codec {
            lower: lower::<L, F>,
            lift: lift::<L, F>,
        }
    }
}

fn lower<L: NativeLayout, F: Operands<XeCtx>>(
    ctx: &Ctx,
    i: &Inst<Reg>,
) -> Result<u128, EncodeError> {
    let Some(x) = &ctx.tables.xe else {
        return (Codec::NONE.lower)(ctx, i);
    };
    let cx = XeCtx { c: *ctx, x };
    let mut f = Fields::<L>::new(ctx.tables.base(ctx.info.opcode));
    control::lower(&cx, i, &mut f)?;
    F::lower(&cx, i, &mut f)?;
    f.finish()
}

fn lift<L: NativeLayout, F: Operands<XeCtx>>(
    ctx: &Ctx,
    word: u128,
    len: usize,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let Some(x) = &ctx.tables.xe else {
        return (Codec::NONE.lift)(ctx, word, len, i);
    };
    let cx = XeCtx { c: *ctx, x };
    let f = Fields::<L>::new(word);
    control::lift(&cx, &f, i)?;
    F::lift(&cx, len, &f, i)
}

/// Encodes a three-source instruction. The truth table of `bfn` overlaps the source modifiers of
/// other three-source instructions.
fn lower_ternary<L: NativeLayout, B: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
) -> Result<u128, EncodeError> {
    match i.op {
        Op::Bfn => lower::<B, ternary::Ternary>(ctx, i),
        _ => lower::<L, ternary::Ternary>(ctx, i),
    }
}

fn lift_ternary<L: NativeLayout, B: NativeLayout>(
    ctx: &Ctx,
    word: u128,
    len: usize,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    match i.op {
        Op::Bfn => lift::<B, ternary::Ternary>(ctx, word, len, i),
        _ => lift::<L, ternary::Ternary>(ctx, word, len, i),
    }
}
