//! Writer of the latency table.

use super::Writer;
use super::isa::{WriteError, plain_enum};
use crate::generation::Generation;
use crate::timing::{Class, row};

/// Writes the classes, and the timing of each by platform.
pub(super) fn write(w: &mut Writer) -> Result<(), WriteError> {
    let classes: Vec<_> = Class::ALL
        .iter()
        .map(|c| (format!("{c:?}"), c.doc().to_owned()))
        .collect();
    plain_enum(
        w,
        "Class of instructions with equal timing.",
        "Class",
        "pub",
        &classes,
    );
    w.line("/// Timing of each class, by platform.");
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
