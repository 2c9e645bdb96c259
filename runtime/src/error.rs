//! Errors of the runtime, as sentences that say whose fault it is.

use crate::limits::Excess;
use crate::zebin::{SourceLine, ZebinError};
use gantry_isa_gen::diag::Count;
use std::any::Any;
use std::fmt;

/// Error of the runtime.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes that are not a zebin, or not one that can be used.
    #[error(transparent)]
    Zebin(#[from] ZebinError),
    /// Module compiled for a platform that the device does not run.
    #[error("the module is compiled for {module}, which {device} does not run")]
    Platform {
        /// Platform of the module.
        module: String,
        /// Name of the device.
        device: String,
    },
    /// Kernel that needs something the device does not provide.
    #[error("kernel `{kernel}` needs {what}, which {device} does not provide")]
    Unsupported {
        /// Name of the kernel.
        kernel: String,
        /// Feature that it needs.
        what: String,
        /// Name of the device.
        device: String,
    },
    /// No kernel of that name in the module.
    #[error("no kernel named `{name}`; the module has {}", list(.have))]
    NoKernel {
        /// Name asked for.
        name: String,
        /// Names of the module's kernels.
        have: Vec<String>,
    },
    /// Launch with too few or too many arguments.
    #[error(
        "kernel `{kernel}` takes {}, {given} {} given",
        Count(*.expected, "argument"),
        if *.given == 1 { "was" } else { "were" }
    )]
    ArgCount {
        /// Name of the kernel.
        kernel: String,
        /// Number of arguments that the kernel takes.
        expected: usize,
        /// Number of arguments given.
        given: usize,
    },
    /// Argument of the wrong kind or size.
    #[error("kernel `{kernel}`, argument {index}{}: expected {expected}, got {given}", named(.name))]
    Arg {
        /// Name of the kernel.
        kernel: String,
        /// Index of the argument, from 0.
        index: usize,
        /// Name of the argument in the source, where known.
        name: Option<String>,
        /// Description of what the kernel takes.
        expected: String,
        /// Description of what was given.
        given: String,
    },
    /// Bindings that do not match the shader's.
    #[error("kernel `{kernel}`: {message}")]
    Binding {
        /// Name of the kernel.
        kernel: String,
        /// Reason.
        message: String,
    },
    /// Grid that cannot be launched.
    #[error("kernel `{kernel}`: {message}")]
    Grid {
        /// Name of the kernel.
        kernel: String,
        /// Reason.
        message: String,
    },
    /// Launch that needs more of something than the device's limits allow.
    #[error("kernel `{kernel}`: {excess}")]
    Limit {
        /// Name of the kernel.
        kernel: String,
        /// Quantity, amount asked for, and limit.
        excess: Excess,
    },
    /// Failure to create, read or write a buffer.
    #[error("{0}")]
    Buffer(String),
    /// Failure to create, read or write an image.
    #[error("{0}")]
    Image(String),
    /// Fault that ended a launch.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// Launch that was stopped before its end.
    #[error(
        "kernel `{kernel}` {why} after {ended} of {}, {}",
        Count(*.groups, "group"),
        Count(*.instructions, "instruction")
    )]
    Stopped {
        /// Name of the kernel.
        kernel: String,
        /// Reason for stopping.
        why: Stopped,
        /// Groups that had ended.
        ended: u64,
        /// Groups of the launch.
        groups: u64,
        /// Instructions executed, per hardware thread, summed.
        instructions: u64,
    },
    /// Assertion of the kernel that failed.
    #[error("kernel `{kernel}`: an assertion failed{}", said(.message))]
    Assertion {
        /// Name of the kernel.
        kernel: String,
        /// Text that the assertion printed.
        message: String,
    },
    /// Command that did not run, since one that it depends on failed.
    #[error("the {what} did not run, since the {failed} failed: {cause}")]
    Dependency {
        /// Command.
        what: String,
        /// Command that failed first.
        failed: String,
        /// Error of the command that failed.
        cause: Box<Error>,
    },
    /// Command that was cancelled before it began.
    #[error("the {what} was cancelled before it began")]
    Cancelled {
        /// Command.
        what: String,
    },
    /// Callback that panicked.
    #[error("the {what} panicked: {message}")]
    Callback {
        /// Command that called it.
        what: String,
        /// Message of the panic.
        message: String,
    },
    /// Failure to submit a command, or an event that was never set.
    #[error("{0}")]
    Queue(String),
    /// No such device.
    #[error("no device: {0}")]
    NoDevice(String),
    /// Call of Level Zero that failed.
    #[error("Level Zero: {call} failed with {code}{}", log_text(.log))]
    Driver {
        /// Name of the call.
        call: &'static str,
        /// Result code, by name where known.
        code: String,
        /// Build log of the driver.
        log: String,
    },
    /// File that cannot be read.
    #[error("{path}: {message}")]
    File {
        /// Path of the file.
        path: String,
        /// Reason.
        message: String,
    },
}

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text")
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}

fn named(name: &Option<String>) -> String {
    match name {
        Some(n) if !n.is_empty() => format!(" (`{n}`)"),
        _ => String::new(),
    }
}

fn said(message: &str) -> String {
    match message.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

fn log_text(log: &str) -> String {
    let log = log.trim();
    if log.is_empty() {
        String::new()
    } else {
        format!("; the driver says:\n{log}")
    }
}

/// Reason why a launch was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// Request through its [`Cancel`](crate::Cancel).
    Cancelled,
    /// Passing of its deadline.
    Deadline,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Cancelled => "was cancelled",
            Stopped::Deadline => "passed its deadline",
        })
    }
}

/// Error that ended a launch on the simulator: the thread, the instruction and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Name of the kernel.
    pub kernel: String,
    /// Group id of the thread.
    pub group: [u32; 3],
    /// Number of the thread in its group.
    pub thread: u32,
    /// Function that the instruction is in, where that is not the kernel's own code.
    pub function: Option<String>,
    /// Byte offset of the instruction in its section: the kernel's, or that of functions called by
    /// address.
    pub ip: u32,
    /// Instruction, disassembled; empty where there is none.
    pub instruction: String,
    /// Description of the error.
    pub what: String,
    /// Source line of the instruction, where there is debug information.
    pub source: Option<SourceLine>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        write!(
            f,
            "kernel `{}`, group ({x}, {y}, {z}), thread {}, ",
            self.kernel, self.thread
        )?;
        if let Some(function) = &self.function {
            write!(f, "in `{function}`, ")?;
        }
        write!(f, "at {:#x}: {}", self.ip, self.what)?;
        if !self.instruction.is_empty() {
            write!(f, "\n  {}", self.instruction)?;
        }
        if let Some(line) = &self.source {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Error {
    fn from(f: Fault) -> Self {
        Error::Fault(Box::new(f))
    }
}
