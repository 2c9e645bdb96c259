//! Errors of encoding and decoding.

use crate::op::Op;
use crate::platform::Platform;
use crate::table::Field;

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

/// Error for bytes that are not an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The input is shorter than the instruction.
    #[error("an instruction of {need} bytes is cut off after {have}")]
    Truncated {
        /// Bytes of the instruction.
        need: usize,
        /// Bytes of the input.
        have: usize,
    },
    /// The platform has no opcode with this number.
    #[error("opcode {0:#04x} does not exist")]
    Opcode(u8),
    /// The math function's number is not defined.
    #[error("math function {0} does not exist")]
    MathFunction(u8),
    /// The instruction is in Align16 mode, which is supported for three-source instructions and
    /// math macros only.
    #[error("the instruction is in Align16 mode")]
    Align16,
    /// A three-source instruction is not in Align16 mode.
    #[error("a three-source instruction must be in Align16 mode")]
    Align1Ternary,
    /// An immediate of the compact form is not valid for its type.
    #[error("the instruction has no compacted form")]
    Compact,
    /// A field has a reserved value.
    #[error("field {field} has the meaningless value {value:#x}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// Value of the field.
        value: u64,
    },
}

impl DecodeError {
    pub(crate) fn field(field: Field, value: u64) -> Self {
        DecodeError::Field {
            field: field.name(),
            value,
        }
    }
}
