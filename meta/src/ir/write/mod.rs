//! Writers of Rust and ISLE from the rows.

mod builder;
mod data;
mod isle;
mod text;

use super::format::FormatRow;
use super::row::{Class, Out, Row};
pub use builder::builder;
pub use data::{cache_key, data};
pub use isle::{isle, values};
use std::fmt::Write as _;
pub use text::{parser, printer};

/// Generates the `Opcode` enum, its constant table, and the enums that the table's rows name.
pub fn rust(formats: &[FormatRow], rows: &[Row]) -> String {
    let mut out = String::from(
        "/// Format of an instruction: a variant of `ir::InstData`.\n#[derive(Clone, Copy, PartialEq, Eq, Debug)]\n#[allow(missing_docs, reason = \"the variants of `InstData` have docs\")]\npub enum Format {\n",
    );
    for f in formats {
        let _ = writeln!(out, "    {},", f.format.name());
    }
    out.push_str("}\n\nimpl Format {\n    /// Returns true for formats whose opcodes, without an effect, have one result that depends on the\n    /// operands alone.\n    pub const fn is_pure(self) -> bool {\n        match self {\n");
    for f in formats {
        let _ = writeln!(
            out,
            "            Format::{} => {},",
            f.format.name(),
            f.pure
        );
    }
    out.push_str("        }\n    }\n}\n\n");
    for definition in [Class::SOURCE, Out::SOURCE] {
        let _ = writeln!(out, "{definition}\n");
    }
    out.push_str(
        "/// IR opcode.\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]\npub enum Opcode {\n",
    );
    for r in rows {
        let _ = writeln!(out, "    /// `{}`: {}\n    {},", r.name, r.doc, r.variant());
    }
    out.push_str("}\n\n/// Row per opcode, in the order of the enum.\nstatic ROWS: &[Info] = &[\n");
    for r in rows {
        let _ = writeln!(
            out,
            "    Info {{ opcode: Opcode::{}, name: {:?}, format: Format::{:?}, class: Class::{:?}, out: Out::{:?}, effect: {}, hint: {}, terminator: {}, doc: {:?} }},",
            r.variant(),
            r.name,
            r.format,
            r.class,
            r.out,
            r.effect,
            r.hint,
            r.terminator,
            r.doc
        );
    }
    out.push_str("];\n");
    out
}
