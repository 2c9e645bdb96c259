//! Source files, source locations and names of values.

use super::{Place, Verifier};
use crate::ir::{Module, SourceFile, SourceLoc};

/// The longest name of a source file or a value, in bytes.
const MOST: usize = 4096;

/// What is wrong with a name, if anything is.
fn wrong(name: &str) -> Option<String> {
    match name.len() {
        0 => Some("an empty name".to_owned()),
        n if n > MOST => Some(format!("a name of {n} bytes; {MOST} are the most")),
        _ if name.contains('\0') => Some("a name with a zero byte".to_owned()),
        _ => None,
    }
}

/// What is wrong with each source file of a module.
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
    /// Locations name files that the module has.
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
                    self.error(Place::Inst(inst), what);
                }
            }
        }
    }

    /// Names of values are names, and of values that the function has.
    pub(super) fn labels(&mut self) {
        let func = self.func;
        for (name, values) in func.labels.iter() {
            if let Some(what) = wrong(name) {
                self.error(Place::Function, format!("a label: {what}"));
            }
            for v in values {
                if !func.dfg.has_value(v) {
                    let what = format!("the label {name:?} is of {v}, which does not exist");
                    self.error(Place::Function, what);
                }
            }
        }
    }
}
