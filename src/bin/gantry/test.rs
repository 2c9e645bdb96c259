//! `gantry test`.

use crate::{Failure, print};
use gantry::filetests::{Options, run_path};
use std::path::PathBuf;

/// Run filetests
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Filetests, or directories of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write what came out into the files where a blessable expectation differs; as GANTRY_BLESS=1 does
    #[arg(long)]
    bless: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let options = Options {
        bless: args.bless || Options::from_env().bless,
    };
    let mut failures = 0;
    for path in &args.paths {
        let summary = run_path(path, options);
        failures += summary.failures.len();
        print(&format!("{summary}\n"))?;
    }
    match failures {
        0 => Ok(()),
        n => Err(Failure::new(format!("{n} filetest commands failed"))),
    }
}
