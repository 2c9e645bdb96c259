//! `gantry disasm`.

use crate::{Failure, input, print};
use gantry::isa::text::disassemble;
use std::path::PathBuf;

/// Disassemble the kernels of a zebin, or bare instructions, into IGA syntax
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A zebin, or a file of bare instructions
    file: PathBuf,
    /// The platform of bare instructions; a zebin says its own
    #[arg(long, default_value = "skl")]
    platform: String,
    /// Only this kernel
    #[arg(long)]
    kernel: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (platform, code) = input::code(&args.file, &args.platform)?;
    let wanted = |name: &Option<String>| args.kernel.is_none() || name == &args.kernel;
    let many = code.len() > 1;
    let mut out = String::new();
    let mut found = false;
    for kernel in code.iter().filter(|k| wanted(&k.kernel)) {
        found = true;
        if let Some(name) = kernel.kernel.as_ref().filter(|_| many) {
            out.push_str(&format!("// kernel {name}\n"));
        }
        out.push_str(&disassemble(platform, &kernel.bytes));
    }
    match (&args.kernel, found) {
        (Some(name), false) => Err(Failure::file(
            &args.file,
            format!("there is no kernel `{name}`"),
        )),
        _ => print(&out),
    }
}
