//! Codecs of instruction formats, with encoding and decoding side by side.
//!
//! Both are compiled per layout, which is a type that the tables name. Functions that they call are
//! `#[inline(always)]`, so that [`Fields`] looks up the positions of constant fields, and the bits
//! stay in two machine registers. Rare cases are calls that return their own fields.

mod align16;
pub(crate) mod bits;
mod branch;
mod control;
pub(crate) mod error;
mod operand;
mod parts;
mod send;
mod ternary;
pub(crate) mod xe;

use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::Inst;
use crate::op::{Format, OpInfo};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::table::{NativeLayout, PlatformTables};
use bits::Fields;

/// Context of the codecs of all formats.
#[derive(Clone, Copy)]
pub(crate) struct Ctx {
    pub platform: Platform,
    pub tables: &'static PlatformTables,
    pub info: &'static OpInfo,
}

/// Encoder and decoder of a format, compiled for its layout on a platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    /// Encodes an instruction.
    pub lower: fn(&Ctx, &Inst<Reg>) -> Result<u128, EncodeError>,
    /// Decodes the bits into an instruction of the opcode. The `usize` is the size of the
    /// instruction in the program: 8 or 16 bytes.
    pub lift: fn(&Ctx, u128, usize, &mut Inst<Reg>) -> Result<(), DecodeError>,
}

/// Operands of a format, after the control fields. `C` is [`Ctx`], or more on Xe.
trait Operands<C> {
    /// Encodes the operands into fields that are still 0.
    fn lower<L: NativeLayout>(ctx: &C, i: &Inst<Reg>, f: &mut Fields<L>)
    -> Result<(), EncodeError>;

    /// Decodes the operands of an instruction of `len` bytes.
    fn lift<L: NativeLayout>(
        ctx: &C,
        len: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError>;
}

/// Format of `nop` and `illegal`.
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
    /// Codec of a format before Xe. `L` is its layout, `A` that of three-source instructions in
    /// Align16.
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

    /// Codec of a format that the generation does not have.
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

// The generated table names layouts by their types.
use crate::table::*;

include!(concat!(env!("OUT_DIR"), "/codecs.rs"));

/// Returns the encoder and decoder of a format, or `None` if the platform does not have it.
#[inline]
pub(crate) fn codec(platform: Platform, f: Format) -> Option<&'static Codec> {
    CODECS.get(platform.column())?.get(f as usize)?.as_ref()
}
