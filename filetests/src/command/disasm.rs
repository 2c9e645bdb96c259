//! `test disasm`: bytes to IGA syntax.

use super::{Command, Outcome, platform};
use crate::Options;
use crate::expect;
use crate::file::{Test, TestFile};
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::text::print_inst;
use gantry_isa_gen::{Platform, Target};

/// Disassembles each line, which has the bytes of one native (16) or compact (8) instruction. They
/// are hexadecimal in memory order, with optional blanks. `// TEXT` after them is the expected
/// text; `// error: TEXT` expects that they do not decode. Blessable.
pub(super) struct Disasm;

impl Command for Disasm {
    fn name(&self) -> &'static str {
        "disasm"
    }

    fn directives(&self) -> &'static [&'static str] {
        &["error"]
    }

    fn run(&self, file: &TestFile, _test: &Test, options: &Options) -> Result<Outcome, String> {
        let platform = platform(file)?;
        expect::lines(file, options, |_, code| {
            if code.is_empty() {
                Ok(None)
            } else {
                line(platform, code).map(Some)
            }
        })
    }
}

fn line(platform: Platform, code: &str) -> Result<String, String> {
    let bytes = from_hex(code).ok_or_else(|| format!("`{code}` is not hexadecimal bytes"))?;
    let decoded = decode(platform, &bytes).map_err(|e| e.to_string())?;
    if decoded.len != bytes.len() {
        return Err(format!(
            "{} given, the instruction has {}",
            Count(bytes.len(), "byte"),
            decoded.len
        ));
    }
    // A single line has no labels: a target is a distance in bytes.
    let label = |t| match t {
        Target::Rel(r) => format!("{r:+}"),
        Target::Label(n) => format!("label{n}"),
    };
    Ok(print_inst(platform, &decoded.inst, &label)
        .trim()
        .to_owned())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    match digits.len() % 2 {
        0 => Some(
            digits
                .chunks(2)
                .map(|d| d.iter().fold(0, |v, d| v << 4 | d))
                .collect(),
        ),
        _ => None,
    }
}
