//! Instructions as fields and fields as instructions: each format's two directions stand side by side.
//!
//! Both are compiled for each layout, a type that the tables name. What they call is `#[inline(always)]`, so that
//! every field is a constant where [`Fields`] looks for its place, and the bits stay in two machine registers. What is
//! rare is a call that returns fields of its own.

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
use crate::inst::Inst;
use crate::op::{Format, OpInfo};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::table::{NativeLayout, PlatformTables};
use bits::Fields;

/// What the codecs of every format need to know.
#[derive(Clone, Copy)]
pub(crate) struct Ctx {
    pub platform: Platform,
    pub tables: &'static PlatformTables,
    pub info: &'static OpInfo,
}

/// The two directions of a format, compiled for the layout that it has on a platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    /// The bits of an instruction.
    pub lower: fn(&Ctx, &Inst<Reg>) -> Result<u128, EncodeError>,
    /// Reads the bits into an instruction of the opcode. The number is what it takes in the program: 8 or 16 bytes.
    pub lift: fn(&Ctx, u128, usize, &mut Inst<Reg>) -> Result<(), DecodeError>,
}

/// What a format has after the control fields. `C` is [`Ctx`] or, for Xe, more.
trait Operands<C> {
    /// Puts the operands into fields that are still 0.
    fn lower<L: NativeLayout>(ctx: &C, i: &Inst<Reg>, f: &mut Fields<L>)
    -> Result<(), EncodeError>;

    /// Reads the operands of an instruction that takes `len` bytes in the program.
    fn lift<L: NativeLayout>(
        ctx: &C,
        len: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError>;
}

/// The format of `nop` and `illegal`.
struct NoOperands;

impl<C> Operands<C> for NoOperands {
    fn lower<L: NativeLayout>(_: &C, _: &Inst<Reg>, _: &mut Fields<L>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn lift<L: NativeLayout>(
        _: &C,
        _: usize,
        _: &Fields<L>,
        _: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Codec {
    /// Of a format before Xe. `L` is its layout, `A` that of three-source instructions in Align16.
    pub(crate) const fn before_xe<L: NativeLayout, A: NativeLayout>(format: Format) -> Codec {
        match format {
            Format::Nullary => Codec::of::<L, NoOperands>(),
            Format::Unary | Format::Binary | Format::Wait => Codec::of::<L, operand::Data>(),
            Format::Math => Codec::of::<L, operand::Math>(),
            Format::Ternary => Codec {
                lower: ternary::lower::<L, A>,
                lift: ternary::lift::<L, A>,
            },
            Format::Send => Codec::of::<L, send::Send>(),
            Format::SplitSend => Codec::of::<L, send::SplitSend>(),
            Format::Jmpi
            | Format::BranchJip
            | Format::BranchJipUip
            | Format::BranchRegJip
            | Format::BranchRegJipUip
            | Format::Call
            | Format::Ret => Codec::of::<L, branch::Branch>(),
            Format::Sync | Format::XeSend | Format::Dpas => Codec::NONE,
        }
    }

    const fn of<L: NativeLayout, F: Operands<Ctx>>() -> Codec {
        Codec {
            lower: lower::<L, F>,
            lift: lift::<L, F>,
        }
    }

    /// Of a format that the tables do not give to the generation.
    const NONE: Codec = Codec {
        lower: |ctx, i| {
            Err(EncodeError::NoSuchOp {
                op: i.op,
                platform: ctx.platform,
            })
        },
        lift: |ctx, _, _, _| Err(DecodeError::Opcode(ctx.info.opcode)),
    };
}

fn lower<L: NativeLayout, F: Operands<Ctx>>(ctx: &Ctx, i: &Inst<Reg>) -> Result<u128, EncodeError> {
    let mut f = Fields::<L>::new(ctx.tables.base(ctx.info.opcode));
    control::lower(ctx, i, &mut f)?;
    F::lower(ctx, i, &mut f)?;
    f.finish()
}

fn lift<L: NativeLayout, F: Operands<Ctx>>(
    ctx: &Ctx,
    word: u128,
    len: usize,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let f = Fields::<L>::new(word);
    control::lift(ctx, &f, i)?;
    F::lift(ctx, len, &f, i)
}
