//! Encoding of instructions to the native 128-bit form.

pub use crate::codec::error::EncodeError;
use crate::codec::{Ctx, codec};
use crate::inst::Inst;
use crate::platform::Platform;
use crate::reg::Reg;
use crate::table::PlatformTables;

/// Encodes an instruction to its native 16 bytes.
///
/// [`InstOpts::COMPACTED`](crate::InstOpts::COMPACTED) is ignored:
/// [`compact`](crate::compact::compact) turns the result into the 8-byte form if it has one.
///
/// ```
/// use gantry_isa_gen::{encode::encode, ExecSize, Inst, Op, Platform};
/// let nop = Inst::new(Op::Nop, ExecSize::S1);
/// assert_eq!(encode(Platform::Gen9, &nop)?, [0x7e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// # Ok::<(), gantry_isa_gen::encode::EncodeError>(())
/// ```
///
/// # Errors
/// Returns an error if the instruction has no encoding on the platform. Legality beyond that is not
/// checked: see [`legal`](crate::legal).
pub fn encode(platform: Platform, inst: &Inst<Reg>) -> Result<[u8; 16], EncodeError> {
    let tables = PlatformTables::of(platform);
    let missing = || EncodeError::NoSuchOp {
        op: inst.op,
        platform,
    };
    let info = inst.op.info(platform).ok_or_else(missing)?;
    let codec = codec(platform, info.format).ok_or_else(missing)?;
    let ctx = Ctx {
        platform,
        tables,
        info,
    };
    let word = (codec.lower)(&ctx, inst)?;
    Ok(word.to_le_bytes())
}
