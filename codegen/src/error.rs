//! Errors of compilation.

use crate::ir::{Module, Origin, Value};
use gantry_isa_gen::diag::Diagnostics;
use gantry_isa_gen::message::MessageError;

/// Behind an instruction, the IR value that it is about: `, v12`, or nothing.
fn of(value: &Option<Value>) -> String {
    value.map_or_else(String::new, |v| format!(", {v}"))
}

/// Behind an instruction that takes more than there is by itself.
fn by_itself(alone: &bool) -> &'static str {
    if *alone { " alone" } else { "" }
}

/// Why a function was not compiled. Each variant says whose matter it is.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The IR breaks a rule: the caller's to mend.
    #[error("the IR does not verify:\n{0}")]
    Verifier(Diagnostics),
    /// Valid IR that this version or this platform has no lowering for.
    #[error("in %{function}: {what} is not supported{}", .at.as_ref().map(|a| format!(", at `{a}`")).unwrap_or_default() + &.origin.to_string())]
    Unsupported {
        /// The function.
        function: String,
        /// What has no lowering.
        what: String,
        /// The instruction, as text.
        at: Option<String>,
        /// Where that is from.
        origin: Origin,
    },
    /// Options that the target has not.
    #[error("{what}")]
    Options {
        /// What is wrong with them.
        what: String,
    },
    /// What one instruction reads and writes, with what must stay in registers, takes more of them
    /// than there are. Everything else is spilled.
    #[error(
        "in %{function}: out of registers: {needed} bytes of registers are needed at once at instruction {at}{} (`{text}`{}){origin}, and {available} there are for values",
        by_itself(alone),
        of(value)
    )]
    OutOfRegisters {
        /// The kernel.
        function: String,
        /// Bytes that are live at once there, whatever is spilled.
        needed: u32,
        /// Bytes of the registers that values may be in.
        available: u32,
        /// Whether that instruction takes them by itself: what it names, what is never in scratch,
        /// and two registers for the messages that bring the rest there and back.
        alone: bool,
        /// Where demand is highest: index of the machine instruction.
        at: usize,
        /// That instruction.
        text: String,
        /// The IR value that it writes, or else the largest that it reads, as numbered after
        /// inlining and expansion, if it is of any.
        value: Option<Value>,
        /// Where it is from.
        origin: Origin,
    },
    /// Subroutines become part of the kernel, and there are too many calls of them.
    #[error(
        "in %{kernel}: the calls are too large to inline: with %{function} in it the kernel has more than {limit} instructions"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// The function that was being made part of it.
        function: String,
        /// The most instructions that a kernel may have with its calls in it.
        limit: usize,
    },
    /// A product there is no code generator for.
    #[error("no code generator for `{name}`; there is one for {known}")]
    Target {
        /// What was asked for.
        name: String,
        /// Names that would be taken.
        known: String,
    },
    /// The compiler broke its own rules: a bug in Gantry, with what to report.
    #[error("internal error in %{function}: {what} (a bug in Gantry, please report it)")]
    Internal {
        /// The function.
        function: String,
        /// What went wrong.
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

    /// The same with the name of the source file, which only the module knows.
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
