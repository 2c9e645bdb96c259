//! `gantry disasm`.

use crate::code::{self, Code, Instructions, Origin};
use crate::{Failure, print};
use gantry::isa::Platform;
use gantry::isa::diag::Count;
use gantry::isa::text::disassemble;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Disassemble the kernels of a zebin, or bare instructions, into IGA syntax
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Zebin, or file of bare instructions
    file: PathBuf,
    /// Platform of bare instructions, which must be given; a zebin states its own
    #[arg(long, visible_alias = "target", value_name = "NAME")]
    platform: Option<String>,
    /// Only kernel to disassemble
    #[arg(long)]
    kernel: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let file = code::read(&args.file, args.platform.as_deref())?;
    let mut out = String::new();
    let mut found = args.kernel.is_none();
    for code in &file.sections {
        if args.kernel.is_some() && args.kernel.as_deref() != code.name() {
            continue;
        }
        found = true;
        section(&mut out, code, file.platform);
    }
    match &args.kernel {
        Some(name) if !found => {
            let names: Vec<&str> = file.sections.iter().filter_map(Code::name).collect();
            Err(Failure::file(
                &args.file,
                format!("there is no kernel `{name}`: {}", names.join(", ")),
            ))
        }
        _ => print(&out),
    }
}

/// Writes the instructions of a section, under a line that says what it is.
fn section(out: &mut String, code: &Code, platform: Platform) {
    let name = platform.name();
    let _ = match &code.of {
        Origin::Kernel(kernel) => writeln!(out, "// kernel {kernel}, {name}"),
        Origin::Functions(section) => writeln!(out, "// functions in {section}, {name}"),
        Origin::Bare => Ok(()),
    };
    let Instructions {
        len, padding, left, ..
    } = code.instructions(platform);
    let code = code.bytes.get(..len).unwrap_or(&code.bytes);
    out.push_str(&disassemble(platform, code));
    let _ = match (padding, left) {
        (0, 0) => Ok(()),
        (0, left) => writeln!(
            out,
            "// {} at the end: no whole instruction",
            Count(left, "byte")
        ),
        (n, _) => writeln!(out, "// {} of padding", Count(n, "byte")),
    };
}
