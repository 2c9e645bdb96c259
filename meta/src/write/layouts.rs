//! Writer of layouts, each as a type, and of the codecs of a platform's formats that are compiled
//! for them.

use super::Writer;
use super::isa::WriteError;
use crate::format::Format;
use crate::generation::Generation;
use crate::layout::{self, Bits, Field, FieldBits, GenLayouts, Layout};

/// Type that stands for no layout.
const ABSENT: &str = "Absent";

/// Types that have been written, with their layouts. Generations with equal layouts share a type.
pub(super) struct Layouts(Vec<(Layout, i32, String)>);

impl Layouts {
    /// Writes the layouts of every generation.
    pub(super) fn write(w: &mut Writer) -> Result<Layouts, WriteError> {
        let mut all = Layouts(Vec::new());
        for g in Generation::ALL {
            let l = layout::layouts(g)?;
            let used =
                |n: &usize| l.ternary_other == Some(*n) || l.formats.iter().any(|f| f.layout == *n);
            for (n, layout) in l.layouts.iter().enumerate().filter(|(n, _)| used(n)) {
                let unit = target_unit(&l, n);
                if all.name(layout, unit).is_none() {
                    let name = format!("{g:?}{}", camel(layout.name));
                    one(w, g, &name, layout, unit);
                    all.0.push((layout.clone(), unit, name));
                }
            }
        }
        Ok(all)
    }

    fn name(&self, layout: &Layout, unit: i32) -> Option<&str> {
        let same = |l: &Layout| l.name == layout.name && l.fields == layout.fields;
        let found = self.0.iter().find(|(l, u, _)| same(l) && *u == unit);
        found.map(|(.., name)| name.as_str())
    }

    /// Writes the codecs of a generation's formats, as an array.
    pub(super) fn codecs(&self, w: &mut Writer, g: Generation, l: &GenLayouts) {
        let name = |n: usize| {
            let layout = l.layouts.get(n)?;
            self.name(layout, target_unit(l, n))
        };
        let other = l.ternary_other.and_then(name).unwrap_or(ABSENT);
        let maker = if g >= Generation::XeLp {
            "xe"
        } else {
            "before_xe"
        };
        w.line("[");
        for format in Format::ALL {
            let found = l.formats.iter().find(|f| f.format == format);
            match found.and_then(|f| name(f.layout)) {
                None => w.line("None,"),
                Some(own) => w.line(format!(
                    "Some(Codec::{maker}::<{own}, {other}>(Format::{format:?})),"
                )),
            }
        }
        w.line("],");
    }
}

/// Returns the unit of branch targets in bytes.
fn target_unit(l: &GenLayouts, n: usize) -> i32 {
    if l.qword_targets.contains(&n) { 8 } else { 1 }
}

/// Converts `ternary, Align1` to `TernaryAlign1`.
fn camel(name: &str) -> String {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .map(|word| {
            let (head, tail) = word.split_at(word.len().min(1));
            head.to_uppercase() + tail
        })
        .collect()
}

/// Writes a layout as the positions of its fields: the first bit range, and the indices of further
/// ranges in a list.
fn one(w: &mut Writer, g: Generation, name: &str, layout: &Layout, unit: i32) {
    let mut more = Vec::new();
    let positions: Vec<String> = Field::ALL
        .iter()
        .map(|field| {
            let found = layout.fields.iter().find(|f| f.field == *field);
            found.map_or("NO_POSITION".into(), |f| position(f, &mut more))
        })
        .collect();
    w.line(format!("/// Layout `{}` of {g}.", layout.name));
    w.line(format!("pub(crate) enum {name} {{}}"));
    w.line(format!("impl NativeLayout for {name} {{"));
    w.line("const LAYOUT: &'static Layout = &Layout {");
    w.line(format!("name: {:?},", layout.name));
    w.line(format!("positions: [{}],", positions.join(", ")));
    w.line(format!("more: &[{}],", more.join(", ")));
    w.line(format!("target_unit: {unit},"));
    w.line("};");
    w.line("}");
}

fn position(f: &FieldBits, more: &mut Vec<String>) -> String {
    // A bit range is in one half of the word.
    let halves = |b: &Bits| match (b.lo < 64, b.hi >= 64) {
        (true, true) => vec![(b.lo, 64 - b.lo), (64, b.hi - 63)],
        _ => vec![(b.lo, b.hi - b.lo + 1)],
    };
    let runs: Vec<String> = f
        .parts
        .iter()
        .flat_map(halves)
        .map(|(lo, bits)| format!("({lo}, {bits})"))
        .collect();
    let (first, rest) = runs
        .split_first()
        .map_or(("(0, 0)", &[][..]), |(f, r)| (f, r));
    let start = more.len();
    more.extend_from_slice(rest);
    format!(
        "FieldPosition {{ first: {first}, more: ({start}, {}) }}",
        rest.len()
    )
}
