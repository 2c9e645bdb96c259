//! Errors of compilation.

use crate::ir::{Module, Origin, Value};
use gantry_isa_gen::diag::Diagnostics;
use gantry_isa_gen::message::MessageError;

/// Returns the part of a message about the IR value of an instruction: `, v12`, or nothing.
fn of(value: &Option<Value>) -> String {
    value.map_or_else(String::new, |v| format!(", {v}"))
}

/// Returns the part of a message about an instruction that exceeds the registers by itself.
fn by_itself(alone: &bool) -> &'static str {
    if *alone { " alone" } else { "" }
}

/// Error of a lookup: there is no such target in this build.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// Name of no product.
    #[error("no product is named `{name}`; targets of this build: {targets}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of the targets of this build, separated by commas.
        targets: String,
    },
    /// Known product or device whose platform has no code generator.
    #[error("no code generator for `{name}` ({platform}); targets of this build: {targets}")]
    NoCodeGenerator {
        /// Name of the product or device.
        name: String,
        /// Name of its platform.
        platform: String,
        /// Names of the targets of this build, separated by commas.
        targets: String,
    },
}

/// Reason that a function was not compiled. Each variant says who is responsible.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// Invalid IR, which the caller must fix.
    #[error("the IR does not verify:\n{0}")]
    Verifier(Diagnostics),
    /// Valid IR without a lowering in this version or on this platform.
    #[error("in %{function}: {what} is not supported{}", .at.as_ref().map(|a| format!(", at `{a}`")).unwrap_or_default() + &.origin.to_string())]
    Unsupported {
        /// Name of the function.
        function: String,
        /// Operation without a lowering.
        what: String,
        /// Instruction, as text.
        at: Option<String>,
        /// Source location of the instruction.
        origin: Origin,
    },
    /// Options that the target does not support.
    #[error("{what}")]
    Options {
        /// Error message.
        what: String,
    },
    /// Register demand at one instruction that exceeds the available registers, although everything
    /// that can be spilled is spilled.
    #[error(
        "in %{function}: out of registers: {needed} bytes of registers are needed at once at instruction {at}{} (`{text}`{}){origin}, and {available} there are for values",
        by_itself(alone),
        of(value)
    )]
    OutOfRegisters {
        /// Name of the kernel.
        function: String,
        /// Bytes that are live there, after spilling.
        needed: u32,
        /// Bytes of registers available for values.
        available: u32,
        /// True if the instruction exceeds the registers by itself: its operands, values that are
        /// never spilled, and two GRFs for spill and fill messages.
        alone: bool,
        /// Index of the machine instruction with the highest demand.
        at: usize,
        /// Text of that instruction.
        text: String,
        /// IR value that it writes, else the largest that it reads, if any. Values are numbered
        /// after inlining and expansion.
        value: Option<Value>,
        /// Source location of the instruction.
        origin: Origin,
    },
    /// Kernel that is too large after inlining of its subroutines.
    #[error(
        "in %{kernel}: the calls are too large to inline: with %{function} in it the kernel has more than {limit} instructions"
    )]
    TooLarge {
        /// Name of the kernel.
        kernel: String,
        /// Function that was being inlined.
        function: String,
        /// Maximum number of instructions of a kernel after inlining.
        limit: usize,
    },
    /// Product that is no target of this build.
    #[error(transparent)]
    Target(#[from] LookupError),
    /// Broken invariant of the compiler: a bug in Gantry, with details to report.
    #[error("internal error in %{function}: {what} (a bug in Gantry, please report it)")]
    Internal {
        /// Name of the function.
        function: String,
        /// Error message.
        what: String,
    },
}

impl CodegenError {
    pub(crate) fn internal(function: &str, what: impl ToString) -> Self {
        CodegenError::Internal {
            function: function.to_string(),
            what: what.to_string(),
        }
    }

    /// Adds the name of the source file, which only the module has.
    pub(crate) fn in_module(mut self, module: &Module) -> Self {
        if let CodegenError::Unsupported { origin, .. }
        | CodegenError::OutOfRegisters { origin, .. } = &mut self
        {
            *origin = Origin::of(origin.loc, module);
        }
        self
    }
}

impl From<MessageError> for CodegenError {
    fn from(e: MessageError) -> Self {
        CodegenError::internal("?", e)
    }
}
