//! `gantry disasm`.

use crate::{Failure, input, print};
use gantry::isa::text::disassemble;
use std::path::PathBuf;

/// Disassemble the kernels of a zebin, or bare instructions, into IGA syntax
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Zebin, or file of bare instructions
    file: PathBuf,
    /// Platform of bare instructions; a zebin states its own
    #[arg(long, default_value = "skl")]
    platform: String,
    /// Only kernel to disassemble
    #[arg(long)]
    kernel: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (platform, code) = input::code(&args.file, &args.platform)?;
    let shown: Vec<_> = code
        .iter()
        .filter(|k| args.kernel.is_none() || k.kernel == args.kernel)
        .collect();
    let mut out = String::new();
    for kernel in &shown {
        if let (Some(name), true) = (&kernel.kernel, shown.len() > 1) {
            out.push_str(&format!("// kernel {name}\n"));
        }
        out.push_str(&disassemble(platform, &kernel.bytes));
    }
    match (&args.kernel, shown.is_empty()) {
        (Some(name), true) => Err(Failure::file(
            &args.file,
            format!("there is no kernel `{name}`"),
        )),
        _ => print(&out),
    }
}
