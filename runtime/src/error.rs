//! Everything that can go wrong, as sentences that say whose fault it is.

use crate::limits::Excess;
use crate::zebin::{SourceLine, ZebinError};
use std::fmt;

/// An error of the runtime.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes given are not a zebin that can be used.
    #[error(transparent)]
    Zebin(#[from] ZebinError),
    /// The module was compiled for something else.
    #[error("the module is compiled for {module}, which {device} does not run")]
    Platform {
        /// The module's platform.
        module: String,
        /// The device's.
        device: String,
    },
    /// The module needs something that the device does not provide.
    #[error("kernel `{kernel}` needs {what}, which {device} does not provide")]
    Unsupported {
        /// The kernel.
        kernel: String,
        /// What it needs.
        what: String,
        /// The device.
        device: String,
    },
    /// No kernel has that name.
    #[error("no kernel named `{name}`; the module has {}", list(.have))]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The names there are.
        have: Vec<String>,
    },
    /// A launch gave too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, {given} were given")]
    ArgCount {
        /// The kernel.
        kernel: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An argument is of the wrong kind or size.
    #[error("kernel `{kernel}`, argument {index}{}: expected {expected}, got {given}", named(.name))]
    Arg {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
        /// Its source name, where known.
        name: Option<String>,
        /// What it must be.
        expected: String,
        /// What it is.
        given: String,
    },
    /// What is bound is not what the shader has.
    #[error("kernel `{kernel}`: {message}")]
    Binding {
        /// The kernel.
        kernel: String,
        /// Why.
        message: String,
    },
    /// The grid cannot be launched.
    #[error("kernel `{kernel}`: {message}")]
    Grid {
        /// The kernel.
        kernel: String,
        /// Why.
        message: String,
    },
    /// A launch needs more of something than the device's limits allow.
    #[error("kernel `{kernel}`: {excess}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// What, how much, and the limit.
        excess: Excess,
    },
    /// A buffer cannot be made, read or written as asked.
    #[error("{0}")]
    Buffer(String),
    /// An image cannot be made, read or written as asked.
    #[error("{0}")]
    Image(String),
    /// Execution ended with a fault.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// A launch was stopped before its end.
    #[error(
        "kernel `{kernel}` {why} after {ended} of {groups} groups, {instructions} instructions"
    )]
    Stopped {
        /// The kernel.
        kernel: String,
        /// What stopped it.
        why: Stopped,
        /// Groups that had ended.
        ended: u64,
        /// Groups of the launch.
        groups: u64,
        /// Instructions executed, per hardware thread, summed.
        instructions: u64,
    },
    /// An assertion of the kernel failed.
    #[error("kernel `{kernel}`: an assertion failed{}", said(.message))]
    Assertion {
        /// The kernel.
        kernel: String,
        /// What it printed.
        message: String,
    },
    /// No such device.
    #[error("no device: {0}")]
    NoDevice(String),
    /// The driver refused something.
    #[error("Level Zero: {call} failed with {code}{}", log_text(.log))]
    Driver {
        /// The call.
        call: &'static str,
        /// Its result code, by name where known.
        code: String,
        /// The driver's own words: the build log.
        log: String,
    },
    /// A file cannot be read.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// Why.
        message: String,
    },
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

/// What stopped a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// Its [`Cancel`](crate::Cancel).
    Cancelled,
    /// Its deadline.
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

/// Where and why a simulated thread ended a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The thread's group.
    pub group: [u32; 3],
    /// The thread's number in its group.
    pub thread: u32,
    /// The function the instruction is in, where that is not the kernel's own code.
    pub function: Option<String>,
    /// The instruction's offset in its section (the kernel's, or that of functions called by address), in bytes.
    pub ip: u32,
    /// The instruction, disassembled; empty where there is none.
    pub instruction: String,
    /// What went wrong.
    pub what: String,
    /// The source line that the instruction is of, where debug information says so.
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
