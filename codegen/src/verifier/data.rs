//! Rules about constant data.

use super::structure::is_name;
use crate::ir::{DataRef, Module, Scalar};
use crate::printf::MAX_STRING;
use std::collections::HashSet;

/// The largest alignment, in bytes.
const ALIGN: u32 = 4096;
/// The most bytes of all data of a module.
const MOST: usize = 1 << 28;

/// What is wrong with each piece of data.
pub(super) fn errors(module: &Module) -> Vec<(DataRef, String)> {
    let mut out = Vec::new();
    let functions = module.functions.values().map(|f| f.name.as_str());
    let mut names: HashSet<&str> = functions.collect();
    let mut bytes = 0usize;
    for (r, d) in &module.data {
        let mut error = |what: String| out.push((r, what));
        if !is_name(&d.name) {
            error(format!(
                "`{}` is not a name of letters, digits, `_` and `.`",
                d.name
            ));
        }
        if !names.insert(&d.name) {
            error(format!("a second `%{}`", d.name));
        }
        if !d.align.is_power_of_two() || d.align > ALIGN {
            error(format!(
                "an alignment of {} bytes: it is a power of two up to {ALIGN}",
                d.align
            ));
        }
        let size = d.scalar.bytes() as usize;
        if d.scalar == Scalar::B1 || d.bytes.is_empty() || !d.bytes.len().is_multiple_of(size) {
            error(format!(
                "{} bytes are not one or more of {}",
                d.bytes.len(),
                d.scalar
            ));
        }
        if d.string {
            let text = d.bytes.split_last().map(|(last, text)| (*last, text));
            let zero = text.is_some_and(|(last, text)| last == 0 && !text.contains(&0));
            if !zero || d.scalar != Scalar::I8 || d.align != 1 {
                error("a string is bytes without zeros and one zero behind them".to_owned());
            } else if d.bytes.len() > MAX_STRING + 1 {
                let have = d.bytes.len() - 1;
                error(format!(
                    "a string of {have} bytes; {MAX_STRING} are the most"
                ));
            }
        }
        // Padding too.
        bytes = bytes.saturating_add(d.bytes.len() + ALIGN as usize);
        if bytes > MOST {
            error(format!("more than {MOST} bytes of data in a module"));
            break;
        }
    }
    out
}
