//! Writer of the compact forms. Constants that generations share are written once.

use super::{WriteError, Writer};
use crate::compact::{self, FlatShape, FlatTable, GenCompact, ImmKind};
use crate::generation::Generation;
use crate::instructions;
use crate::layout::Bits;
use crate::row::Row;

/// Opcode of `math`, whose class depends on its function number.
const MATH: usize = 0x38;

/// Constants that have been written. Each distinct one is named by its index.
#[derive(Default)]
pub(super) struct Compact {
    tables: Vec<FlatTable>,
    shapes: Vec<FlatShape>,
}

impl Compact {
    /// Writes the tables and shapes of all generations.
    pub(super) fn write(w: &mut Writer) -> Result<Compact, WriteError> {
        let mut all = Compact::default();
        for g in Generation::ALL {
            for shape in shapes(&compact::tables(g)?).into_iter().flatten().flatten() {
                if !all.shapes.contains(&shape) {
                    all.shape(w, &shape);
                    all.shapes.push(shape);
                }
            }
        }
        Ok(all)
    }

    fn shape(&mut self, w: &mut Writer, shape: &FlatShape) {
        let mut names = Vec::new();
        for t in &shape.tables {
            let i = match self.tables.iter().position(|x| x == t) {
                Some(i) => i,
                None => {
                    table(w, self.tables.len(), t);
                    self.tables.push(t.clone());
                    self.tables.len() - 1
                }
            };
            names.push(format!("&COMPACT_TABLE_{i}"));
        }
        w.line(format!(
            "static COMPACT_SHAPE_{}: CompactShape = CompactShape {{",
            self.shapes.len()
        ));
        w.line(format!("tables: &[{}],", names.join(", ")));
        w.line("copies: &[");
        for c in &shape.copies {
            w.line(format!(
                "CompactCopy {{ from: {}, to: {}, width: {} }},",
                c.from.lo,
                c.to.lo,
                c.from.hi - c.from.lo + 1
            ));
        }
        w.line("],");
        match &shape.imm {
            None => w.line("imm: None,"),
            Some(i) => {
                let kinds: Vec<String> = i.kinds.iter().map(|k| kind(*k)).collect();
                w.line("imm: Some(CompactImm {");
                w.line(format!("from: {},", runs(&i.from)));
                w.line(format!("kinds: &[{}],", kinds.join(", ")));
                w.line(format!("type_at: {},", run(i.type_at)));
                w.line("}),");
            }
        }
        w.line(format!("covered: {:#x},", shape.covered));
        w.line("};");
    }

    /// Writes the classes of a generation, as the `compact` field of its tables.
    pub(super) fn column(
        &self,
        w: &mut Writer,
        g: Generation,
        rows: &[Row],
    ) -> Result<(), WriteError> {
        let c = compact::tables(g)?;
        w.line("compact: CompactColumn {");
        w.line("classes: &[");
        for (class, shapes) in c.classes.iter().zip(shapes(&c)) {
            let names: Vec<String> = shapes
                .iter()
                .map(|s| {
                    let i = self.shapes.iter().position(|x| Some(x) == s.as_ref());
                    i.map_or("None".into(), |i| format!("Some(&COMPACT_SHAPE_{i})"))
                })
                .collect();
            w.line(format!(
                "CompactClass {{ test: {}, shapes: [{}], only_expand: {} }},",
                run(class.test.at),
                names.join(", "),
                class.only_expand
            ));
        }
        w.line("],");
        let mut opcodes = [compact::NO_CLASS; 128];
        let mut math = [compact::NO_CLASS; 16];
        for (n, class) in (0..).zip(&c.classes) {
            for r in rows.iter().filter(|r| !class.but.contains(&r.mnemonic)) {
                if let Some(column) = r.column(g)
                    && class.formats.contains(&column.format)
                    && let Some(o) = opcodes.get_mut(usize::from(column.opcode))
                {
                    *o = n;
                }
            }
            for f in instructions::math_functions()? {
                let code = f.codes.get(g.index()).copied().flatten();
                if let Some(m) = math.get_mut(usize::from(code.unwrap_or(0)))
                    && class.math == Some(f.sources)
                {
                    *m = n;
                }
            }
        }
        if let Some(o) = opcodes.get_mut(MATH)
            && c.classes.iter().any(|c| c.math.is_some())
        {
            *o = compact::MATH_CLASS;
        }
        w.line(format!("opcodes: {opcodes:?},"));
        w.line(format!("math: {math:?},"));
        w.line("},");
        Ok(())
    }
}

/// Returns the shapes that each class can have, by the value of its test.
fn shapes(c: &GenCompact) -> Vec<Vec<Option<FlatShape>>> {
    c.classes
        .iter()
        .map(|class| {
            let form = c.forms.get(class.form);
            let flat = |s: Option<_>| Some(form?.flat(s?));
            class.test.shapes.into_iter().map(flat).collect()
        })
        .collect()
}

fn table(w: &mut Writer, n: usize, t: &FlatTable) {
    w.line(format!(
        "static COMPACT_TABLE_{n}: CompactTable = CompactTable {{"
    ));
    w.line(format!("index: {},", runs(&t.index)));
    w.line(format!("mask: {:#x},", t.mask));
    let entries: Vec<String> = t.entries.iter().map(|e| format!("{e:#x}")).collect();
    w.line(format!("entries: &[{}],", entries.join(", ")));
    w.line(format!("multiplier: {:#x},", t.find.multiplier));
    w.line(format!("shift: {},", t.find.shift));
    w.line(format!("slots: &{:?},", t.find.slots));
    w.line("};");
}

/// Formats a bit range as lowest bit and width.
fn run(b: Bits) -> String {
    format!("({}, {})", b.lo, b.hi - b.lo + 1)
}

fn runs(b: &[Bits]) -> String {
    let runs: Vec<String> = b.iter().map(|b| run(*b)).collect();
    format!("&[{}]", runs.join(", "))
}

fn kind(k: Option<ImmKind>) -> String {
    match k {
        None => "None".into(),
        Some(ImmKind { place, halves }) => {
            format!("Some(ImmKind {{ place: ImmPlace::{place:?}, halves: {halves} }})")
        }
    }
}
