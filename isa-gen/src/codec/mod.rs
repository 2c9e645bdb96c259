//! Instructions as fields and fields as instructions: each format's two directions stand side by side.

mod align16;
pub(crate) mod bits;
mod branch;
mod control;
mod operand;
mod send;
mod ternary;
pub(crate) mod xe;

use crate::decode::DecodeError;
use crate::encode::EncodeError;
use crate::inst::{Inst, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::region::ExecSize;
use crate::table::{Field, Layout, OpInfo, PlatformTables};
use bits::Fields;

/// What the codecs of every format need to know.
pub(crate) struct Ctx<'a> {
    pub platform: Platform,
    pub tables: &'static PlatformTables,
    pub info: &'a OpInfo,
    pub layout: &'static Layout,
}

impl Ctx<'_> {
    /// The same in Align16, where three-source instructions have a layout of their own there.
    fn in_align16(&self) -> Option<Self> {
        let layout = self.tables.align16()?;
        Some(Ctx { layout, ..*self })
    }
}

/// Turns an instruction into the fields of its format.
pub(crate) fn lower(ctx: &Ctx<'_>, i: &Inst<Reg>) -> Result<Fields, EncodeError> {
    if let Some(x) = &ctx.tables.xe {
        return xe::lower(ctx, x, i);
    }
    let mut f = Fields::new(ctx.layout, ctx.tables.base(ctx.info.opcode));
    if ctx.info.format == Format::Ternary {
        return ternary::lower(ctx, i, f);
    }
    control::lower(ctx, i, &mut f)?;
    match ctx.info.format {
        Format::Nullary => {}
        Format::Unary | Format::Binary | Format::Wait => operand::lower(ctx, i, None, &mut f)?,
        Format::Math => {
            let Subfn::Math(function) = i.subfn else {
                return Err(EncodeError::Operand {
                    operand: "function",
                    why: "`math` needs one",
                });
            };
            let Some(code) = function.code(ctx.platform) else {
                return Err(EncodeError::NotAllowed {
                    op: i.op,
                    what: "this function on the platform",
                });
            };
            f.put(Field::MathFn, code.into());
            operand::lower(ctx, i, Some(function), &mut f)?;
        }
        Format::Ternary | Format::Sync | Format::XeSend | Format::Dpas => {
            return Err(EncodeError::NoSuchOp {
                op: i.op,
                platform: ctx.platform,
            });
        }
        Format::Send => send::lower(ctx, i, &mut f)?,
        Format::SplitSend => send::lower_split(ctx, i, &mut f)?,
        Format::Jmpi
        | Format::BranchJip
        | Format::BranchJipUip
        | Format::BranchRegJip
        | Format::BranchRegJipUip
        | Format::Call
        | Format::Ret => branch::lower(ctx, i, &mut f)?,
    }
    Ok(f)
}

/// Turns the bits of a native instruction into the instruction. `len` is what it takes in the program: 8 or 16 bytes.
pub(crate) fn lift(
    ctx: &Ctx<'_>,
    op: Op,
    word: u128,
    len: usize,
) -> Result<Inst<Reg>, DecodeError> {
    if let Some(x) = &ctx.tables.xe {
        return xe::lift(ctx, x, op, word);
    }
    let f = Fields::new(ctx.layout, word);
    let mut i = Inst::new(op, ExecSize::S1);
    if ctx.info.format == Format::Ternary {
        ternary::lift(ctx, f, &mut i)?;
        return Ok(i);
    }
    control::lift(ctx, &f, &mut i)?;
    match ctx.info.format {
        Format::Nullary => {}
        Format::Unary | Format::Binary | Format::Wait => {
            operand::lift(ctx, None, &f, &mut i)?;
        }
        Format::Math => {
            let code = f.get(Field::MathFn) as u8;
            let function =
                MathFn::from_code(ctx.platform, code).ok_or(DecodeError::MathFunction(code))?;
            i.subfn = Subfn::Math(function);
            operand::lift(ctx, Some(function), &f, &mut i)?;
        }
        Format::Ternary | Format::Sync | Format::XeSend | Format::Dpas => {
            return Err(DecodeError::Opcode(ctx.info.opcode));
        }
        Format::Send => send::lift(ctx, &f, &mut i)?,
        Format::SplitSend => send::lift_split(ctx, &f, &mut i)?,
        Format::Jmpi
        | Format::BranchJip
        | Format::BranchJipUip
        | Format::BranchRegJip
        | Format::BranchRegJipUip
        | Format::Call
        | Format::Ret => branch::lift(ctx, len, &f, &mut i)?,
    }
    Ok(i)
}
