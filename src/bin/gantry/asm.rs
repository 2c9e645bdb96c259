//! `gantry asm`.

use crate::{Failure, input};
use gantry::filetests::file::without_header;
use gantry::isa::text::assemble;
use std::path::PathBuf;

/// Assemble instructions in IGA syntax
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Assembly text; a filetest's header counts as blank
    file: PathBuf,
    /// Platform
    #[arg(long, visible_alias = "target", value_name = "NAME", default_value = input::TEXT_PLATFORM)]
    platform: String,
    /// File for the bytes; FILE's name with `.krn` by default
    #[arg(short)]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let platform = input::platform(&args.platform)?;
    let source = input::read_text(&args.file)?;
    let program = assemble(platform, &without_header(&source))
        .map_err(|d| Failure::Rendered(d.render(&args.file.display().to_string(), &source)))?;
    let output = args.output.clone();
    input::write(
        &output.unwrap_or_else(|| input::beside(&args.file, "krn")),
        &program.bytes,
    )
}
