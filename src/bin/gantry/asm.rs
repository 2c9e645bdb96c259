//! `gantry asm`.

use crate::{Failure, input};
use gantry::isa::text::assemble;
use std::path::PathBuf;

/// Assemble instructions in IGA syntax
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Assembly text
    file: PathBuf,
    /// Platform
    #[arg(long, default_value = "skl")]
    platform: String,
    /// File for the bytes; FILE's name with `.krn` by default
    #[arg(short)]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let platform = input::platform(&args.platform)?;
    let source = input::read_text(&args.file)?;
    let program = assemble(platform, &source)
        .map_err(|d| Failure::Rendered(d.render(&args.file.display().to_string(), &source)))?;
    let output = args.output.clone();
    input::write(
        &output.unwrap_or_else(|| input::beside(&args.file, "krn")),
        &program.bytes,
    )
}
