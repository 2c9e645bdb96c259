//! Rules on source files, source locations and names of values.

use super::{ErrorLocation, Verifier};
use crate::ir::{Module, SourceFile, SourceLoc};

/// Maximum length of a name of a source file or a value, in bytes.
const MAX_NAME_BYTES: usize = 4096;

/// Returns a message if a name is invalid.
fn wrong(name: &str) -> Option<String> {
    match name.len() {
        0 => Some("an empty name".to_owned()),
        n if n > MAX_NAME_BYTES => Some(format!(
            "a name of {n} bytes; {MAX_NAME_BYTES} are the most"
        )),
        _ if name.contains('\0') => Some("a name with a zero byte".to_owned()),
        _ => None,
    }
}

/// Returns the errors of each source file of a module.
pub(super) fn errors(module: &Module) -> Vec<(SourceFile, String)> {
    let mut out = Vec::new();
    for (file, name) in &module.files {
        if file.as_u32() as usize >= SourceLoc::MOST_FILES {
            let what = format!("{} source files are the most", SourceLoc::MOST_FILES);
            out.push((file, what));
            break;
        }
        out.extend(wrong(name).map(|what| (file, what)));
    }
    out
}

impl Verifier<'_> {
    /// Checks that locations refer to files of the module.
    pub(super) fn locations(&mut self) {
        let func = self.func;
        if !func.has_srclocs() {
            return;
        }
        for &block in func.layout.blocks() {
            for &inst in func.layout.insts(block) {
                let loc = func.srclocs[inst];
                if !loc.is_none() && !self.module.files.is_valid(loc.file()) {
                    let what = format!("there is no {}", loc.file());
                    self.error(ErrorLocation::Inst(inst), what);
                }
            }
        }
    }

    /// Checks that names are valid, and that their values exist.
    pub(super) fn labels(&mut self) {
        let func = self.func;
        for (name, values) in func.labels.iter() {
            if let Some(what) = wrong(name) {
                self.error(ErrorLocation::Function, format!("a label: {what}"));
            }
            for v in values {
                if !func.dfg.has_value(v) {
                    let what = format!("the label {name:?} is of {v}, which does not exist");
                    self.error(ErrorLocation::Function, what);
                }
            }
        }
    }
}
