//! `gantry completions`.

use crate::{Cli, Failure, print};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a script that completes this command's options in a shell
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gantry", &mut script);
    print(&String::from_utf8_lossy(&script))
}
