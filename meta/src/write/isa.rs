//! Writer of the tables of `gantry-isa-gen`: opcode enums, and constants that drive one encoder and
//! decoder.

use super::compact::Compact;
use super::layouts::Layouts;
use super::{Writer, timing, xe};
use crate::format::Format;
use crate::generation::Generation;
use crate::instructions;
use crate::layout::{self, Field};
use crate::row::{self, Row};
use crate::types::{Ty, TypeSet};
use std::error::Error;

/// Error for a table that violates a rule.
pub type WriteError = Box<dyn Error + Send + Sync>;

/// Generates the source of the constant tables, which the crate's `table` module includes.
pub fn isa_tables() -> Result<String, WriteError> {
    let mut w = Writer::default();
    let rows = instructions::all()?;
    enums(&mut w, &rows)?;
    ops(&mut w, &rows);
    names(&mut w, &rows);
    math(&mut w)?;
    timing::write(&mut w)?;
    Layouts::write(&mut w)?;
    let compact = Compact::write(&mut w)?;
    w.line("/// Native layouts and compact forms, by platform.");
    w.line(format!(
        "pub(crate) static PLATFORMS: [PlatformTables; {}] = [",
        Generation::ALL.len()
    ));
    for g in Generation::ALL {
        platform(&mut w, g, &rows, &compact)?;
    }
    w.line("];");
    Ok(w.finish())
}

/// Returns the Rust source of the codecs: for each platform, the encoder and decoder of each
/// format, compiled for the layouts that [`isa_tables`] has.
pub fn isa_codecs() -> Result<String, WriteError> {
    let layouts = Layouts::write(&mut Writer::default())?;
    let mut w = Writer::default();
    w.line("/// Codecs of the formats, by platform.");
    w.line(format!(
        "static CODECS: [[Option<Codec>; Format::ALL.len()]; {}] = [",
        Generation::ALL.len()
    ));
    for g in Generation::ALL {
        layouts.codecs(&mut w, g, &layout::layouts(g)?);
    }
    w.line("];");
    Ok(w.finish())
}

pub(super) fn plain_enum(
    w: &mut Writer,
    doc: &str,
    name: &str,
    vis: &str,
    items: &[(String, String)],
) {
    w.line(format!("/// {doc}"));
    w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]");
    w.line(format!("{vis} enum {name} {{"));
    for (variant, doc) in items {
        w.line(format!("/// {doc}"));
        w.line(format!("{variant},"));
    }
    w.line("}");
    w.line(format!("impl {name} {{"));
    w.line("/// Every variant, in declaration order.");
    w.line(format!("{vis} const ALL: [{name}; {}] = [", items.len()));
    for (variant, _) in items {
        w.line(format!("{name}::{variant},"));
    }
    w.line("];");
    w.line("}");
}

fn enums(w: &mut Writer, rows: &[Row]) -> Result<(), WriteError> {
    let ops: Vec<_> = rows
        .iter()
        .map(|r| (r.variant(), format!("`{}`: {}", r.mnemonic, r.doc)))
        .collect();
    plain_enum(
        w,
        "Opcode, of any generation; [`Op::info`] returns `None` on platforms without it.",
        "Op",
        "pub",
        &ops,
    );
    let fns: Vec<_> = instructions::math_functions()?
        .iter()
        .map(|r| (r.variant(), format!("`math.{}`: {}", r.name, r.doc)))
        .collect();
    plain_enum(w, "Function of `math`.", "MathFn", "pub", &fns);
    let formats: Vec<_> = Format::ALL
        .iter()
        .map(|f| (format!("{f:?}"), f.doc().to_string()))
        .collect();
    plain_enum(
        w,
        "Layout of an instruction's operands in encoding and text.",
        "Format",
        "pub",
        &formats,
    );
    format_methods(w);
    let fields = Field::ALL.map(|f| (format!("{f:?}"), f.doc().to_string()));
    plain_enum(
        w,
        "Field of an instruction.",
        "Field",
        "pub(crate)",
        &fields,
    );
    let names: Vec<String> = Field::ALL
        .iter()
        .map(|f| format!("{:?}", format!("{f:?}")))
        .collect();
    w.line("impl Field {");
    w.line("/// Names, in declaration order.");
    w.line(format!(
        "pub(crate) const NAMES: [&'static str; {}] = [{}];",
        names.len(),
        names.join(", ")
    ));
    w.line("}");
    Ok(())
}

fn format_methods(w: &mut Writer) {
    let which = |f: &dyn Fn(Format) -> bool| {
        let names: Vec<String> = Format::ALL
            .iter()
            .filter(|x| f(**x))
            .map(|f| format!("Format::{f:?}"))
            .collect();
        names.join(" | ")
    };
    w.line("impl Format {");
    for (doc, name, names) in [
        (
            "Returns true if the text form has a destination.",
            "has_dst",
            which(&|f| f.has_dst()),
        ),
        (
            "Returns true if this is a branch of any kind.",
            "is_branch",
            which(&|f| f.is_branch()),
        ),
        (
            "Returns true if this is a send of any kind.",
            "is_send",
            which(&|f| f.is_send()),
        ),
        (
            "Returns true if operands are typed data.",
            "has_types",
            which(&|f| f.has_types()),
        ),
    ] {
        w.line(format!("/// {doc}"));
        w.line(format!("pub const fn {name}(self) -> bool {{"));
        w.line(format!("matches!(self, {names})"));
        w.line("}");
    }
    w.line("/// Returns the number of sources in the text form, the maximum for `math`.");
    w.line("pub const fn sources(self) -> u8 {");
    w.line("match self {");
    for f in Format::ALL {
        w.line(format!("Format::{f:?} => {},", f.sources()));
    }
    w.line("}");
    w.line("}");
    w.line("}");
}

fn type_set(s: TypeSet) -> String {
    let names: Vec<String> = s.iter().map(|t| format!("Type::{t:?}")).collect();
    format!("TypeSet::of(&[{}])", names.join(", "))
}

fn combos(types: &[(TypeSet, TypeSet)]) -> String {
    let c: Vec<String> = types
        .iter()
        .map(|(d, s)| format!("({}, {})", type_set(*d), type_set(*s)))
        .collect();
    format!("&[{}]", c.join(", "))
}

fn ops(w: &mut Writer, rows: &[Row]) {
    w.line("/// Rows of the opcodes, in the order of [`Op`].");
    w.line(format!(
        "pub(crate) static OPS: [OpRow; {}] = [",
        rows.len()
    ));
    for r in rows {
        w.line_at("OpRow {", r.at);
        w.line(format!("mnemonic: {:?},", r.mnemonic));
        w.line(format!("doc: {:?},", r.doc));
        w.line(format!("format: Format::{:?},", r.format));
        w.line("columns: [");
        for c in &r.columns {
            let Some(c) = c else {
                w.line("None,");
                continue;
            };
            let controls: Vec<String> = [
                ("pred", row::PRED),
                ("cond", row::COND),
                ("sat", row::SAT),
                ("mods", row::MODS),
                ("acc", row::ACC),
                ("branch_ctrl", row::BRANCH_CTRL),
                ("bitwise", row::BITWISE),
                ("mme", row::MME),
            ]
            .map(|(name, control)| format!("{name}: {}", c.controls.has(control)))
            .into();
            w.line(format!(
                "Some(OpInfo {{ mnemonic: {:?}, format: Format::{:?}, opcode: {:#04x}, {}, types: {} }}),",
                r.mnemonic,
                c.format,
                c.opcode,
                controls.join(", "),
                combos(&c.types)
            ));
        }
        w.line("],");
        w.line("},");
    }
    w.line("];");
}

/// Writes the opcodes sorted by name, for binary search.
fn names(w: &mut Writer, rows: &[Row]) {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|r| r.mnemonic);
    let ops: Vec<String> = sorted
        .iter()
        .map(|r| format!("Op::{}", r.variant()))
        .collect();
    w.line("/// Opcodes, sorted by name.");
    w.line(format!(
        "pub(crate) static OPS_BY_NAME: [Op; {}] = [{}];",
        ops.len(),
        ops.join(", ")
    ));
}

fn math(w: &mut Writer) -> Result<(), WriteError> {
    let rows = instructions::math_functions()?;
    w.line("/// Rows of the math functions, in the order of [`MathFn`].");
    w.line(format!(
        "pub(crate) static MATH: [MathInfo; {}] = [",
        rows.len()
    ));
    for r in &rows {
        w.line_at("MathInfo {", r.at);
        w.line(format!("name: {:?},", r.name));
        w.line(format!("sources: {},", r.sources));
        w.line(format!("is_macro: {},", r.is_macro));
        w.line(format!("types: {},", combos(&r.types)));
        w.line(format!("codes: {:?},", r.codes));
        w.line("},");
    }
    w.line("];");
    Ok(())
}

fn platform(
    w: &mut Writer,
    g: Generation,
    rows: &[Row],
    compact: &Compact,
) -> Result<(), WriteError> {
    let l = layout::layouts(g)?;
    w.line("PlatformTables {");
    opcode_map(w, g, rows);
    w.line("bases: [");
    for n in 0..128u8 {
        let of = |r: &&Row| r.column(g).is_some_and(|c| c.opcode == n);
        let base = match rows.iter().find(of) {
            Some(r) => l.base(r, g)?,
            None => 0,
        };
        w.line(format!("{base:#x},"));
    }
    w.line("],");
    for (name, codes) in [
        ("reg_types", &l.reg_types),
        ("imm_types", &l.imm_types),
        ("ternary_types", &l.ternary_types),
        ("align1_types", &l.align1_types),
    ] {
        w.line(format!("{name}: {},", type_codes(codes)));
    }
    w.line(format!("ternary_unit: {},", l.ternary_unit));
    xe::tables(w, g);
    compact.column(w, g, rows)?;
    w.line("},");
    Ok(())
}

fn opcode_map(w: &mut Writer, g: Generation, rows: &[Row]) {
    w.line("ops: [");
    for n in 0..128u8 {
        let row = rows.iter().find(|r| {
            r.columns
                .get(g.index())
                .and_then(Option::as_ref)
                .is_some_and(|c| c.opcode == n)
        });
        match row {
            Some(r) => w.line(format!("Some(Op::{}),", r.variant())),
            None => w.line("None,"),
        }
    }
    w.line("],");
}

/// Formats the code of each type and the type of each code.
pub(super) fn type_codes(codes: &[(Ty, u8)]) -> String {
    let of: Vec<String> = Ty::ALL
        .iter()
        .map(|t| {
            let code = codes.iter().find(|(x, _)| x == t);
            code.map_or("NO_CODE".into(), |(_, n)| n.to_string())
        })
        .collect();
    let most = codes.iter().map(|(_, c)| *c + 1).max().unwrap_or(0);
    let back: Vec<String> = (0..most)
        .map(|n| {
            let ty = codes.iter().find(|(_, c)| *c == n);
            ty.map_or("None".into(), |(t, _)| format!("Some(Type::{t:?})"))
        })
        .collect();
    format!(
        "TypeCodes {{ of: [{}], back: &[{}] }}",
        of.join(", "),
        back.join(", ")
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_but_documentation_names_its_writer() {
        let s = super::isa_tables().expect("tables keep their rules");
        for l in s.lines().filter(|l| !l.trim_start().starts_with("///")) {
            assert!(l.contains(".rs:"), "{l}");
        }
    }
}
