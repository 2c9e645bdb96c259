//! The codec of Xe: one walker, with [`XeTables`] and layouts per generation.

mod branch;
mod control;
mod operand;
mod send;
mod swsb;
pub(crate) mod table;
mod ternary;

use super::Ctx;
use super::bits::Fields;
use crate::decode::DecodeError;
use crate::encode::EncodeError;
use crate::inst::{Inst, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::reg::Reg;
use crate::region::ExecSize;
use crate::table::{Field, TypeCodes};
use crate::types::Type;
use table::XeTables;

/// What the codecs of every format need to know.
struct Cx<'a> {
    c: &'a Ctx<'a>,
    x: &'static XeTables,
}

/// The code of a type.
#[inline]
fn code(operand: &'static str, types: &TypeCodes, t: Type) -> Result<u64, EncodeError> {
    types
        .code(t)
        .ok_or(bad(operand, "the type is not possible here"))
}

/// The type of a code.
#[inline]
fn type_at(types: &TypeCodes, code: u64, field: Field) -> Result<Type, DecodeError> {
    types
        .ty(code)
        .ok_or_else(|| DecodeError::field(field, code))
}

fn bad(operand: &'static str, why: &'static str) -> EncodeError {
    EncodeError::Operand { operand, why }
}

fn wrong(field: Field, f: &Fields) -> DecodeError {
    DecodeError::field(field, f.get(field))
}

/// The layout, where an opcode has not that of its format.
fn own_layout<'a>(ctx: &'a Ctx<'a>, x: &XeTables, op: Op) -> Ctx<'a> {
    let bfn = (op == Op::Bfn).then(|| ctx.tables.layouts.get(x.bfn));
    Ctx {
        platform: ctx.platform,
        tables: ctx.tables,
        info: ctx.info,
        layout: bfn.flatten().unwrap_or(ctx.layout),
    }
}

/// Turns an instruction into the fields of its format.
pub(super) fn lower(
    ctx: &Ctx<'_>,
    x: &'static XeTables,
    i: &Inst<Reg>,
) -> Result<Fields, EncodeError> {
    let ctx = own_layout(ctx, x, i.op);
    let cx = Cx { c: &ctx, x };
    let mut f = Fields::new(ctx.layout, ctx.tables.base(ctx.info.opcode));
    control::lower(&cx, i, &mut f)?;
    let function = match i.subfn {
        Subfn::Math(m) => Some(m),
        _ => None,
    };
    match ctx.info.format {
        Format::Nullary => {}
        Format::Unary | Format::Binary => operand::lower(&cx, i, None, &mut f)?,
        Format::Math => {
            let function = function.ok_or(bad("function", "`math` needs one"))?;
            let code = function.code(ctx.platform).ok_or(EncodeError::NotAllowed {
                op: i.op,
                what: "this function on the platform",
            })?;
            f.put(Field::MathFn, code.into());
            operand::lower(&cx, i, Some(function), &mut f)?;
        }
        Format::Ternary => ternary::lower(&cx, i, &mut f)?,
        Format::Dpas => ternary::lower_dpas(&cx, i, &mut f)?,
        Format::XeSend => send::lower(&cx, i, &mut f)?,
        Format::Sync => branch::lower_sync(&cx, i, &mut f)?,
        Format::Jmpi
        | Format::BranchJip
        | Format::BranchJipUip
        | Format::BranchRegJip
        | Format::BranchRegJipUip
        | Format::Call
        | Format::Ret => branch::lower(&cx, i, &mut f)?,
        Format::Wait | Format::Send | Format::SplitSend => {
            return Err(EncodeError::NoSuchOp {
                op: i.op,
                platform: ctx.platform,
            });
        }
    }
    Ok(f)
}

/// Turns the bits of a native instruction into the instruction.
pub(super) fn lift(
    ctx: &Ctx<'_>,
    x: &'static XeTables,
    op: Op,
    word: u128,
) -> Result<Inst<Reg>, DecodeError> {
    let ctx = own_layout(ctx, x, op);
    let cx = Cx { c: &ctx, x };
    let f = Fields::new(ctx.layout, word);
    let mut i = Inst::new(op, ExecSize::S1);
    control::lift(&cx, &f, &mut i)?;
    match ctx.info.format {
        Format::Nullary => {}
        Format::Unary | Format::Binary => operand::lift(&cx, None, &f, &mut i)?,
        Format::Math => {
            let code = f.get(Field::MathFn) as u8;
            let function =
                MathFn::from_code(ctx.platform, code).ok_or(DecodeError::MathFunction(code))?;
            i.subfn = Subfn::Math(function);
            operand::lift(&cx, Some(function), &f, &mut i)?;
        }
        Format::Ternary => ternary::lift(&cx, &f, &mut i)?,
        Format::Dpas => ternary::lift_dpas(&cx, &f, &mut i)?,
        Format::XeSend => send::lift(&cx, &f, &mut i)?,
        Format::Sync => branch::lift_sync(&cx, &f, &mut i)?,
        Format::Jmpi
        | Format::BranchJip
        | Format::BranchJipUip
        | Format::BranchRegJip
        | Format::BranchRegJipUip
        | Format::Call
        | Format::Ret => branch::lift(&cx, &f, &mut i)?,
        Format::Wait | Format::Send | Format::SplitSend => {
            return Err(DecodeError::Opcode(ctx.info.opcode));
        }
    }
    Ok(i)
}
