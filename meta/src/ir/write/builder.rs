//! Writer of the instruction builder's methods.

use crate::ir::format::{FormatRow, Kind};
use crate::ir::row::{Out, Row};
use std::fmt::Write as _;

/// Generates methods of the instruction builder, with a parameter for each field: `fadd(a, b)`.
/// Methods of opcodes with a type in text take it first: `sextend(ty, a)`.
pub fn builder(formats: &[FormatRow], rows: &[Row]) -> String {
    let mut out = String::from("impl Ins<'_, '_> {\n");
    for r in rows {
        let Some(format) = formats.iter().find(|f| f.format == r.format && !f.by_hand) else {
            continue;
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
        let mut operands = String::new();
        for f in &format.fields {
            let name = f.name;
            let _ = match f.kind {
                Kind::Values(n) => {
                    let names: Vec<String> = ('a'..='z').take(n).map(String::from).collect();
                    for v in &names {
                        let _ = write!(params, ", {v}: Value");
                    }
                    write!(operands, ", {name}: [{}]", names.join(", "))
                }
                Kind::OptValue => {
                    let _ = write!(params, ", {name}: Option<Value>");
                    write!(operands, ", {name}: {name}.into()")
                }
                _ => {
                    let _ = write!(params, ", {name}: {}", f.kind.rust());
                    write!(operands, ", {name}")
                }
            };
        }
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
