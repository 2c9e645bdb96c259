//! `gantry` command.

mod args;
mod asm;
mod bindings;
mod code;
mod compare;
mod compile;
mod completions;
mod devices;
mod disasm;
mod figures;
mod images;
mod input;
mod progress;
mod regalloc_map;
mod run;
mod seen;
mod targets;
mod test;
mod validate;

use clap::{Parser, Subcommand};
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::LazyLock;

/// Allocator for many small pieces, as compilers ask for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Version of the command, and the host that it was built for.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} ({})", env!("CARGO_PKG_VERSION"), target_lexicon::HOST));

/// A just-in-time code generator for Intel Gen GPUs
#[derive(Parser)]
#[command(name = "gantry", version = VERSION.as_str())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compile(compile::Args),
    Compare(compare::Args),
    Asm(asm::Args),
    Disasm(disasm::Args),
    Validate(validate::Args),
    Run(run::Args),
    Devices(devices::Args),
    Targets(targets::Args),
    Test(test::Args),
    Completions(completions::Args),
}

/// Error of a subcommand, as standard error shows it.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Message.
    Message(String),
    /// Message about the command line itself.
    Usage(String),
    /// Errors about a text, already formatted with their lines.
    Rendered(String),
}

impl Failure {
    /// Creates a failure with a message or another error.
    pub(crate) fn new(message: impl fmt::Display) -> Failure {
        Failure::Message(message.to_string())
    }

    /// Creates a failure of the command line.
    pub(crate) fn usage(message: impl fmt::Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    /// Returns the exit status: 2 for a wrong command line, else 1.
    fn status(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Failure::Usage(_)) {
            2
        } else {
            1
        })
    }

    /// Creates a failure to read or write a file.
    pub(crate) fn file(path: &std::path::Path, error: impl fmt::Display) -> Failure {
        Failure::Message(format!("{}: {error}", path.display()))
    }
}

/// Formats with `error:` in colour; [`anstream`] removes that where no terminal shows it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let text = match self {
            Failure::Message(m) | Failure::Usage(m) => {
                return write!(f, "{red}error:{red:#} {}", m.trim_end());
            }
            Failure::Rendered(r) => r.trim_end(),
        };
        match text.strip_prefix("error:") {
            Some(rest) => write!(f, "{red}error:{red:#}{rest}"),
            None => f.write_str(text),
        }
    }
}

/// Writes to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Keeps panics of naga from printing a message: each is reported as an error.
fn quiet_naga() {
    #[cfg(feature = "wgsl")]
    {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !gantry::spirv::wgsl::is_in_naga() {
                print(info);
            }
        }));
    }
}

fn main() -> ExitCode {
    quiet_naga();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    let result = match cli.command {
        Command::Compile(a) => compile::run(&a),
        Command::Compare(a) => compare::run(&a),
        Command::Asm(a) => asm::run(&a),
        Command::Disasm(a) => disasm::run(&a),
        Command::Validate(a) => validate::run(&a),
        Command::Run(a) => run::run(&a),
        Command::Devices(a) => devices::run(&a),
        Command::Targets(a) => targets::run(&a),
        Command::Completions(a) => completions::run(&a),
        Command::Test(a) => test::run(&a),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(anstream::stderr(), "{failure}");
            failure.status()
        }
    }
}
