//! The latency table.

use super::Writer;
use super::isa::{WriteError, plain_enum};
use crate::generation::Generation;
use crate::timing::{Class, row};

/// Writes the classes, and what each takes by platform.
pub(super) fn write(w: &mut Writer) -> Result<(), WriteError> {
    let classes: Vec<_> = Class::ALL
        .iter()
        .map(|c| (format!("{c:?}"), c.doc().to_owned()))
        .collect();
    plain_enum(w, "What takes equally long.", "Class", "pub", &classes);
    w.line("/// How long each class takes, by platform.");
    w.line(format!(
        "pub(crate) static TIMES: [[ClassTimes; {}]; {}] = [",
        Class::ALL.len(),
        Generation::ALL.len()
    ));
    for generation in Generation::ALL {
        w.line("[");
        for class in Class::ALL {
            let r = row(class, generation)
                .ok_or_else(|| format!("no times of {class:?} on {generation}"))?;
            w.line(format!(
                "ClassTimes {{ unit: Unit::{:?}, issue: {:?}, busy: {:?}, read: {}, result: {}, acc: {}, flag: {} }},",
                r.unit, r.issue, r.busy, r.read, r.result, r.acc, r.flag
            ));
        }
        w.line("],");
    }
    w.line("];");
    Ok(())
}
