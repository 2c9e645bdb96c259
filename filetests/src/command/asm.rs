//! `test asm`: IGA syntax to bytes.

use super::{Command, Outcome, match_errors, platform};
use crate::Options;
use crate::expect;
use crate::file::{Test, TestFile};
use gantry_isa_gen::diag::Diagnostics;
use gantry_isa_gen::text::assemble;
use std::collections::BTreeMap;

/// Assembles the file as one program; `// HEX` after an instruction is its bytes. With
/// `// error: text` comments it must be refused with exactly those errors. Blessable.
pub(super) struct Asm;

impl Command for Asm {
    fn name(&self) -> &'static str {
        "asm"
    }

    fn directives(&self) -> &'static [&'static str] {
        &["error"]
    }

    fn run(&self, file: &TestFile, _test: &Test, options: &Options) -> Result<Outcome, String> {
        let program = match assemble(platform(file)?, &file.body) {
            Ok(p) => p,
            Err(errors) => return match_errors(file, &errors).map(|()| Outcome::Pass),
        };
        match_errors(file, &Diagnostics::default())?;
        let ends = program
            .insts
            .iter()
            .skip(1)
            .map(|i| i.offset)
            .chain([program.bytes.len()]);
        let made: BTreeMap<u32, String> = program
            .insts
            .iter()
            .zip(ends)
            .map(|(i, end)| {
                (
                    i.span.line,
                    program.bytes.get(i.offset..end).unwrap_or_default(),
                )
            })
            .map(|(line, bytes)| (line, to_hex(bytes)))
            .collect();
        expect::lines(file, options, |line, _| Ok(made.get(&line).cloned()))
    }
}

/// Formats bytes as dwords, as `iga64` prints instruction bits, but in memory order.
fn to_hex(bytes: &[u8]) -> String {
    let words: Vec<String> = bytes
        .chunks(4)
        .map(|w| w.iter().map(|b| format!("{b:02x}")).collect())
        .collect();
    words.join(" ")
}
