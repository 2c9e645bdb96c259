//! Rules on data of the module.

use super::structure::is_name;
use crate::ir::data::ADDRESS_BYTES;
use crate::ir::printf::MAX_STRING;
use crate::ir::{Data, DataRef, Module, Scalar};
use std::collections::HashSet;

/// Maximum alignment, in bytes.
const MAX_ALIGN: u32 = 4096;
/// Maximum bytes of all data of a module.
const MAX_MODULE_BYTES: usize = 1 << 28;

/// Returns the errors of each data.
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
        if !d.align.is_power_of_two() || d.align > MAX_ALIGN {
            error(format!(
                "an alignment of {} bytes: it is a power of two up to {MAX_ALIGN}",
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
            if d.written {
                error("a string is constant".to_owned());
            }
        }
        relocs(module, d, &mut error);
        // The sum includes padding.
        bytes = bytes.saturating_add(d.bytes.len() + MAX_ALIGN as usize);
        if bytes > MAX_MODULE_BYTES {
            error(format!(
                "more than {MAX_MODULE_BYTES} bytes of data in a module"
            ));
            break;
        }
    }
    out
}

/// Reports errors of the relocated addresses of data.
fn relocs(module: &Module, d: &Data, error: &mut impl FnMut(String)) {
    if d.string && !d.relocs.is_empty() {
        error("a string holds no addresses".to_owned());
    }
    let mut free = 0;
    for r in &d.relocs {
        let at = r.offset as usize;
        let to = module.data.get(r.data);
        let name = to.map_or("?", |d| d.name.as_str());
        match to {
            None => error(format!("an address of {}, which is not there", r.data)),
            Some(to) if to.string => error(format!(
                "an address of %{name}, a string for `printf`, which may be in memory of the host"
            )),
            Some(_) => {}
        }
        if at < free {
            error(format!(
                "the address of %{name} at {at}: it is behind the one before, which ends at {free}"
            ));
        }
        free = at + ADDRESS_BYTES;
        match d.bytes.get(at..free) {
            None => error(format!(
                "the address of %{name} at {at}: it has {ADDRESS_BYTES} bytes, and the data {}",
                d.bytes.len()
            )),
            Some(place) if place.iter().any(|b| *b != 0) => error(format!(
                "the address of %{name} at {at}, where there are no zeros"
            )),
            Some(_) => {}
        }
    }
}
