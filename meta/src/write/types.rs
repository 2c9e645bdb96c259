//! Writer of the element types.

use super::Writer;
use super::isa::plain_enum;
use crate::types::{Form, Kind, Ty};

/// Generates the source of the element types, which the crate's `types` module includes.
pub fn isa_types() -> String {
    let mut w = Writer::default();
    let types: Vec<_> = Ty::ALL
        .iter()
        .map(|t| (format!("{t:?}"), t.doc().to_owned()))
        .collect();
    plain_enum(
        &mut w,
        "Element type of an operand, from the PRM's \"Numeric Data Types\" (Vol. 7, EU Data Types).",
        "Type",
        "pub",
        &types,
    );
    w.line("impl Type {");
    column(
        &mut w,
        &[
            "Returns the size of one element in bytes.",
            "",
            "A packed vector immediate counts as the element that an instruction reads: 2 for `uv`",
            "and `v`, 4 for `vf`. Types below a byte are packed into bytes and count as 1. `nf`",
            "counts as 4, as in IGA.",
        ],
        "bytes",
        "u32",
        |t| t.bits().div_ceil(8).to_string(),
    );
    column(
        &mut w,
        &["Returns the size of one element in bits, also for types below a byte."],
        "bits",
        "u32",
        |t| t.bits().to_string(),
    );
    column(
        &mut w,
        &["Returns the suffix in IGA syntax, without the colon."],
        "suffix",
        "&'static str",
        |t| format!("{:?}", t.suffix()),
    );
    for (doc, name, of) in predicates() {
        let names: Vec<String> = Ty::ALL
            .iter()
            .filter(|t| of(**t))
            .map(|t| format!("Type::{t:?}"))
            .collect();
        w.line(format!("/// {doc}"));
        w.line(format!("pub const fn {name}(self) -> bool {{"));
        w.line(format!("matches!(self, {})", names.join(" | ")));
        w.line("}");
    }
    w.line("}");
    w.finish()
}

/// Predicate of element types: its documentation, its name and the types for which it is true.
type Predicate = (&'static str, &'static str, fn(Ty) -> bool);

fn predicates() -> [Predicate; 5] {
    [
        (
            "Returns true if elements are floating-point numbers.",
            "is_float",
            |t| t.kind() == Kind::Float,
        ),
        ("Returns true if elements are integers.", "is_int", |t| {
            t.kind() != Kind::Float
        }),
        (
            "Returns true if elements are signed integers or floats.",
            "is_signed",
            |t| t.kind() != Kind::Unsigned,
        ),
        (
            "Returns true if elements are smaller than a byte (only in `dpas`).",
            "is_sub_byte",
            |t| t.bits() < 8,
        ),
        (
            "Returns true if this is one of the packed vector immediates (`uv`, `v`, `vf`).",
            "is_packed_imm",
            |t| t.form() == Form::Vector,
        ),
    ]
}

/// Writes a function that returns a property of the types.
fn column(w: &mut Writer, doc: &[&str], name: &str, ty: &str, of: impl Fn(Ty) -> String) {
    for line in doc {
        w.line(format!("/// {line}").trim_end());
    }
    w.line("#[inline]");
    w.line(format!("pub const fn {name}(self) -> {ty} {{"));
    w.line("match self {");
    for t in Ty::ALL {
        w.line(format!("Type::{t:?} => {},", of(t)));
    }
    w.line("}");
    w.line("}");
}
