//! Writers of Rust and ISLE from the rows.

use super::row::{Class, Format, Out, Row};
use std::fmt::Write as _;

/// Generates the `Opcode` enum, its constant table, and the enums that the table's rows name.
pub fn rust(rows: &[Row]) -> String {
    let mut out = String::new();
    for definition in [Format::SOURCE, Class::SOURCE, Out::SOURCE] {
        let _ = writeln!(out, "{definition}\n");
    }
    out.push_str(
        "/// IR opcode.\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]\npub enum Opcode {\n",
    );
    for r in rows {
        let _ = writeln!(out, "    /// `{}`: {}\n    {},", r.name, r.doc, r.variant());
    }
    out.push_str("}\n\n/// Row per opcode, in the order of the enum.\nconst ROWS: &[Info] = &[\n");
    for r in rows {
        let _ = writeln!(
            out,
            "    Info {{ opcode: Opcode::{}, name: {:?}, format: Format::{:?}, class: Class::{:?}, out: Out::{:?}, effect: {}, terminator: {}, doc: {:?} }},",
            r.variant(),
            r.name,
            r.format,
            r.class,
            r.out,
            r.effect,
            r.terminator,
            r.doc
        );
    }
    out.push_str("];\n");
    out
}

/// Returns the parameters (name, type) of an opcode's extractor and the pattern that matches its
/// data. Returns `None` if rules must not match the opcode.
fn fields(format: Format) -> Option<(&'static [(&'static str, &'static str)], &'static str)> {
    let pair: &[_] = &[("a", "Value"), ("b", "Value")];
    Some(match format {
        Format::Nullary => (&[], ""),
        Format::Imm => (&[("bits", "u64")], "bits"),
        Format::ImmVec => (&[("constant", "Constant")], "constant"),
        Format::Launch => (&[("dim", "Dim")], "dim"),
        Format::Unary => (&[("arg", "Value")], "arg"),
        Format::Binary => (pair, "(pair a b)"),
        Format::Ternary => (
            &[("a", "Value"), ("b", "Value"), ("c", "Value")],
            "(triple a b c)",
        ),
        Format::IntCompare => (
            &[("cond", "IntCC"), ("a", "Value"), ("b", "Value")],
            "cond (pair a b)",
        ),
        Format::FloatCompare => (
            &[("cond", "FloatCC"), ("a", "Value"), ("b", "Value")],
            "cond (pair a b)",
        ),
        Format::RdRegion => (
            &[
                ("arg", "Value"),
                ("region", "Region"),
                ("index", "OptValue"),
            ],
            "arg region index",
        ),
        Format::WrRegion => (
            &[
                ("a", "Value"),
                ("b", "Value"),
                ("region", "Region"),
                ("index", "OptValue"),
                ("mask", "OptValue"),
            ],
            "(pair a b) region index mask",
        ),
        Format::RdPred => (&[("arg", "Value"), ("offset", "u8")], "arg offset"),
        Format::WrPred => (
            &[("a", "Value"), ("b", "Value"), ("offset", "u8")],
            "(pair a b) offset",
        ),
        Format::Load => (
            &[
                ("mem", "MemFlags"),
                ("addr", "Value"),
                ("offset", "i32"),
                ("mask", "OptValue"),
                ("old", "OptValue"),
            ],
            "mem addr offset mask old",
        ),
        Format::Store => (
            &[
                ("mem", "MemFlags"),
                ("a", "Value"),
                ("b", "Value"),
                ("offset", "i32"),
                ("mask", "OptValue"),
            ],
            "mem (pair a b) offset mask",
        ),
        Format::Fence => (
            &[("spaces", "FenceSpaces"), ("scope", "Scope")],
            "spaces scope",
        ),
        Format::Image => (&[], "_ _ _ _ _ _"),
        Format::Media => (&[], "_ _ _ _"),
        Format::Send => (&[], "_ _ _ _ _"),
        Format::Dpas => (&[], "_ _"),
        Format::Block2d => (&[], "_ _ _"),
        Format::NamedBarrier => (&[], "_ _"),
        Format::ArgQuery => (&[], "_ _"),
        Format::Symbol => (&[("data", "DataRef")], "data"),
        // Rules pass the whole instruction on.
        Format::Atomic => (&[], "_ _ _ _ _ _ _"),
        Format::Printf
        | Format::Call
        | Format::Jump
        | Format::Brif
        | Format::Switch
        | Format::Return => {
            return None;
        }
    })
}

/// Generates the ISLE `Opcode` type and an extractor per opcode: `(fadd a b)` matches an
/// instruction.
pub fn isle(rows: &[Row]) -> String {
    let mut out = String::from("(type Opcode extern (enum");
    for r in rows {
        let _ = write!(out, " {}", r.variant());
    }
    out.push_str("))\n");
    for r in rows {
        let Some((params, pattern)) = fields(r.format) else {
            continue;
        };
        let types: Vec<_> = params.iter().map(|(_, t)| *t).collect();
        let names: Vec<_> = params.iter().map(|(n, _)| *n).collect();
        let _ = writeln!(out, "(decl {} ({}) Inst)", r.name, types.join(" "));
        let _ = writeln!(
            out,
            "(extractor ({} {}) (inst_data (InstData.{} (Opcode.{}) {pattern})))",
            r.name,
            names.join(" "),
            r.format.name(),
            r.variant()
        );
    }
    out
}

/// Returns the constructor expression of a pure format's data from the variables of its pattern.
fn built(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Binary => "(make_pair a b)",
        Format::Ternary => "(make_triple a b c)",
        Format::IntCompare | Format::FloatCompare => "cond (make_pair a b)",
        Format::WrRegion => "(make_pair a b) region index mask",
        Format::WrPred => "(make_pair a b) offset",
        Format::Nullary | Format::Imm | Format::ImmVec | Format::Launch => fields(format)?.1,
        Format::Unary | Format::RdRegion | Format::RdPred => fields(format)?.1,
        _ => return None,
    })
}

/// Generates the ISLE `Opcode` type, and a term for each pure opcode with one result. The term is
/// both an extractor of a value of an e-graph and its constructor: `(fadd ty a b)`, with the
/// result's type first.
pub fn values(rows: &[Row]) -> String {
    let mut out = String::from("(type Opcode extern (enum");
    for r in rows {
        let _ = write!(out, " {}", r.variant());
    }
    out.push_str("))\n");
    for r in rows {
        let one = match r.out {
            Out::None | Out::Two => false,
            Out::Special => matches!(r.name, "select" | "shuffle"),
            Out::Same | Out::Ctrl | Out::Lane | Out::Lanes | Out::One => true,
        };
        let (Some((params, pattern)), Some(built), true, false) =
            (fields(r.format), built(r.format), one, r.effect)
        else {
            continue;
        };
        let types: Vec<_> = params.iter().map(|(_, t)| *t).collect();
        let names: Vec<_> = params.iter().map(|(n, _)| *n).collect();
        let (name, types, names) = (r.name, types.join(" "), names.join(" "));
        let data = format!("InstData.{} (Opcode.{})", r.format.name(), r.variant());
        let _ = writeln!(out, "(decl {name} (Type {types}) Value)");
        let _ = writeln!(
            out,
            "(extractor ({name} ty {names}) (node ty ({data} {pattern})))"
        );
        let _ = writeln!(out, "(rule ({name} ty {names}) (make ty ({data} {built})))");
    }
    out
}

/// Generates methods of the instruction builder for opcodes whose operands are plain values:
/// `fadd(a, b)`. Methods of opcodes with a type in text take it first: `sextend(ty, a)`.
pub fn builder(rows: &[Row]) -> String {
    let mut out = String::from("impl Ins<'_, '_> {\n");
    for r in rows {
        let args: &[&str] = match r.format {
            Format::Nullary => &[],
            Format::Unary => &["a"],
            Format::Binary => &["a", "b"],
            Format::Ternary => &["a", "b", "c"],
            _ => continue,
        };
        // `goto` and `join` have results of several types, and their methods are written by hand.
        if r.out == Out::Special && !matches!(r.name, "select" | "shuffle") {
            continue;
        }
        let ctrl = r.out == Out::Ctrl;
        let mut params = String::new();
        if ctrl {
            params.push_str(", ty: Type");
        }
        for a in args {
            let _ = write!(params, ", {a}: Value");
        }
        let operands = match args {
            [] => String::new(),
            [a] => format!(", arg: {a}"),
            many => format!(", args: [{}]", many.join(", ")),
        };
        let data = format!(
            "InstData::{} {{ opcode: Opcode::{}{operands} }}",
            r.format.name(),
            r.variant()
        );
        let (result, body) = match r.out {
            Out::None => (String::new(), format!("self.none({data})")),
            Out::Two => (
                " -> (Value, Value)".to_string(),
                format!("self.two({data})"),
            ),
            _ => {
                let ty = if ctrl { "Some(ty)" } else { "None" };
                (" -> Value".to_string(), format!("self.one({data}, {ty})"))
            }
        };
        let _ = writeln!(
            out,
            "    /// `{}`: {}\n    #[track_caller]\n    pub fn {}(self{params}){result} {{\n        {body}\n    }}",
            r.name, r.doc, r.name
        );
    }
    out.push_str("}\n");
    out
}
