//! Writer of ISLE: the types, and extractors and constructors of instructions.

use crate::ir::format::{FormatRow, Kind};
use crate::ir::row::{Out, Row};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the name of a kind's type in ISLE.
fn ty(kind: &Kind) -> String {
    match kind {
        Kind::Value => "Value".to_owned(),
        Kind::OptValue => "OptValue".to_owned(),
        Kind::Values(n) => format!("ValueArray{n}"),
        Kind::OptValues(n) => format!("OptValueArray{n}"),
        Kind::List => "ValueList".to_owned(),
        Kind::BlockCall => "BlockCall".to_owned(),
        Kind::BlockCalls(n) => format!("BlockCall{n}"),
        Kind::Cases => "CaseTable".to_owned(),
        Kind::Constant => "Constant".to_owned(),
        Kind::Literal => "u64".to_owned(),
        Kind::Data => "DataRef".to_owned(),
        Kind::Func => "FuncRef".to_owned(),
        // Arrays: `[u32; 2]` is `u32_2`.
        Kind::Imm(ty) => ty.trim_matches(['[', ']']).replace("; ", "_"),
    }
}

/// Returns true for types that ISLE or `ir.isle` declares.
fn declared(ty: &str) -> bool {
    matches!(
        ty,
        "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "bool"
    ) || matches!(
        ty,
        "Value" | "OptValue" | "ValueArray2" | "ValueArray3" | "Dim"
    )
}

/// Generates the types of fields that `ir.isle` does not declare, `Opcode` and `InstData`.
fn types(formats: &[FormatRow], rows: &[Row]) -> String {
    let mut out = String::new();
    let fields = formats.iter().flat_map(|row| &row.fields);
    let names: BTreeSet<String> = fields.map(|f| ty(&f.kind)).collect();
    for name in names.iter().filter(|n| !declared(n)) {
        let _ = writeln!(out, "(type {name} (primitive {name}))");
    }
    out.push_str("(type Opcode extern (enum");
    for r in rows {
        let _ = write!(out, " {}", r.variant());
    }
    out.push_str("))\n(type InstData extern (enum\n");
    for row in formats {
        let _ = write!(out, "  ({} (opcode Opcode)", row.format.name());
        for f in &row.fields {
            let _ = write!(out, " ({} {})", f.name, ty(&f.kind));
        }
        out.push_str(")\n");
    }
    out.push_str("))\n");
    out
}

/// Term of an opcode: its parameters, the pattern that matches its data, and the expression that
/// constructs the data.
struct Term {
    types: Vec<String>,
    names: Vec<String>,
    pattern: String,
    built: String,
}

/// Returns the term of a format. Returns `None` if rules must not match it.
fn term(row: &FormatRow) -> Option<Term> {
    let barred = |k: &Kind| matches!(k, Kind::List | Kind::Func) || k.has_blocks();
    if row.fields.iter().any(|f| barred(&f.kind)) {
        return None;
    }
    if row.whole {
        return Some(Term {
            types: Vec::new(),
            names: Vec::new(),
            pattern: vec!["_"; row.fields.len()].join(" "),
            built: String::new(),
        });
    }
    let (mut types, mut names) = (Vec::new(), Vec::new());
    let (mut pattern, mut built) = (Vec::new(), Vec::new());
    for f in &row.fields {
        match f.kind {
            Kind::Values(n @ (2 | 3)) => {
                let all = ["a", "b", "c"].iter().take(n);
                names.extend(all.map(|n| (*n).to_owned()));
                types.extend(vec!["Value".to_owned(); n]);
                let (name, all) = [("pair", "a b"), ("triple", "a b c")][n - 2];
                pattern.push(format!("({name} {all})"));
                built.push(format!("(make_{name} {all})"));
            }
            _ => {
                types.push(ty(&f.kind));
                names.push(f.name.to_owned());
                pattern.push(f.name.to_owned());
                built.push(f.name.to_owned());
            }
        }
    }
    Some(Term {
        types,
        names,
        pattern: pattern.join(" "),
        built: built.join(" "),
    })
}

fn format_of<'f>(formats: &'f [FormatRow], row: &Row) -> Option<&'f FormatRow> {
    formats.iter().find(|f| f.format == row.format)
}

/// Generates the types of the data of instructions, and an extractor per opcode: `(fadd a b)`
/// matches an instruction. The term `whole` lowers an instruction of a format that rules match as a
/// whole.
pub fn isle(formats: &[FormatRow], rows: &[Row]) -> String {
    let mut out = types(formats, rows);
    for r in rows {
        let Some(format) = format_of(formats, r) else {
            continue;
        };
        let Some(t) = term(format) else {
            continue;
        };
        if format.whole {
            let _ = writeln!(out, "(rule 1 (lower i @ ({})) (whole i))", r.name);
        }
        let _ = writeln!(out, "(decl {} ({}) Inst)", r.name, t.types.join(" "));
        let _ = writeln!(
            out,
            "(extractor ({} {}) (inst_data (InstData.{} (Opcode.{}) {})))",
            r.name,
            t.names.join(" "),
            r.format.name(),
            r.variant(),
            t.pattern
        );
    }
    out
}

/// Generates the types of the data of instructions, and a term for each pure opcode with one
/// result. The term is both an extractor of a value of an e-graph and its constructor:
/// `(fadd ty a b)`, with the result's type first.
pub fn values(formats: &[FormatRow], rows: &[Row]) -> String {
    let mut out = types(formats, rows);
    for r in rows {
        let one = match r.out {
            Out::None | Out::Two => false,
            Out::Special => matches!(r.name, "select" | "shuffle"),
            Out::Same | Out::Ctrl | Out::Lane | Out::Lanes | Out::One => true,
        };
        let pure = format_of(formats, r).filter(|f| f.pure && !f.whole && one && !r.effect);
        let Some(t) = pure.and_then(term) else {
            continue;
        };
        let (name, types, names) = (r.name, t.types.join(" "), t.names.join(" "));
        let (pattern, built) = (t.pattern, t.built);
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
