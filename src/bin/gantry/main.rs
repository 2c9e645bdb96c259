//! The `gantry` command.

mod args;
mod asm;
mod bindings;
mod compare;
mod compile;
mod devices;
mod disasm;
mod images;
mod input;
mod regalloc_map;
mod run;
mod seen;
mod test;
mod validate;

use clap::{Parser, Subcommand};
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

/// Compilers ask for much memory in small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A just-in-time code generator for Intel Gen GPUs
#[derive(Parser)]
#[command(name = "gantry", version)]
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
    Test(test::Args),
}

/// Why a subcommand failed, as standard error shows it.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A sentence.
    Message(String),
    /// Errors about a text, already shown with their lines.
    Rendered(String),
}

impl Failure {
    /// A sentence, of an error or of one's own.
    pub(crate) fn new(message: impl fmt::Display) -> Failure {
        Failure::Message(message.to_string())
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &std::path::Path, error: impl fmt::Display) -> Failure {
        Failure::Message(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message(m) => write!(f, "error: {}", m.trim_end()),
            Failure::Rendered(r) => f.write_str(r.trim_end()),
        }
    }
}

/// Writes to standard output. A reader that went away is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Has panics of naga print nothing of their own: each is told as an error.
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
            // Clap's own status for a wrong command line is 2; this command has 0 and 1.
            let _ = e.print();
            return ExitCode::from(u8::from(e.use_stderr()));
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
        Command::Test(a) => test::run(&a),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{failure}");
            ExitCode::FAILURE
        }
    }
}
