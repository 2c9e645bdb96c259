//! Encoding of instructions to the native 128-bit form.

use crate::codec::Ctx;
use crate::inst::Inst;
use crate::op::Op;
use crate::platform::Platform;
use crate::reg::Reg;
use crate::table::PlatformTables;

/// Error for an instruction that has no encoding. The instruction of the caller is at fault, except
/// where noted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    /// The platform does not have the opcode.
    #[error("`{op}` does not exist on {platform}")]
    NoSuchOp {
        /// The opcode.
        op: Op,
        /// The platform.
        platform: Platform,
    },
    /// The opcode does not take this control.
    #[error("`{op}` may not have {what}")]
    NotAllowed {
        /// The opcode.
        op: Op,
        /// Name of the control.
        what: &'static str,
    },
    /// An operand cannot be encoded.
    #[error("{operand}: {why}")]
    Operand {
        /// Name of the operand.
        operand: &'static str,
        /// Reason.
        why: &'static str,
    },
    /// A branch target is an unresolved label.
    #[error("label {0} is not resolved")]
    UnresolvedLabel(u32),
    /// A value is too wide for its field, or the field does not exist: the tables disagree with the
    /// encoder.
    #[error("internal error: field {field} of layout `{layout}` cannot hold {value:#x}")]
    Field {
        /// The field.
        field: &'static str,
        /// The layout.
        layout: &'static str,
        /// The value.
        value: u64,
    },
}

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
    let codec = tables.codec(info.format).ok_or_else(missing)?;
    let ctx = Ctx {
        platform,
        tables,
        info,
    };
    let word = (codec.lower)(&ctx, inst)?;
    Ok(word.to_le_bytes())
}
