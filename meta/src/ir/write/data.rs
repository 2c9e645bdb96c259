//! Writer of the instruction data: the enum, visitors and mappings.

use crate::ir::format::{Field, FormatRow, Kind};
use std::fmt::Write as _;

/// Returns a pattern of a format's variant that binds fields.
pub(super) fn pattern<'f>(row: &FormatRow, fields: impl Iterator<Item = &'f Field>) -> String {
    let mut names: Vec<&str> = fields.map(|f| f.name).collect();
    if names.len() < row.fields.len() + 1 {
        names.push("..");
    }
    format!("InstData::{} {{ {} }}", row.format.name(), names.join(", "))
}

/// Generates the `Format` enum, the `InstData` enum and its functions.
pub fn data(formats: &[FormatRow]) -> String {
    let mut out = String::new();
    definition(&mut out, formats);
    out.push_str("impl InstData {\n");
    let mut arms = |head: &str, arm: &dyn Fn(&FormatRow) -> String, tail: &str| {
        let _ = writeln!(out, "{head}");
        for row in formats {
            let _ = writeln!(out, "            {}", arm(row));
        }
        let _ = writeln!(out, "{tail}");
    };
    arms(
        "    /// Returns the opcode.\n    pub fn opcode(&self) -> Opcode {\n        match *self {",
        &|row| {
            format!(
                "InstData::{} {{ opcode, .. }} => opcode,",
                row.format.name()
            )
        },
        "        }\n    }\n",
    );
    arms(
        "    /// Returns the format.\n    pub fn format(&self) -> Format {\n        match self {",
        &|row| format!("InstData::{0} {{ .. }} => Format::{0},", row.format.name()),
        "        }\n    }\n",
    );
    out.push_str(&visitors(formats));
    out.push_str(
        "    /// Returns the flags of an access by addresses.\n    pub(crate) fn mem(&self) -> Option<crate::ir::MemFlags> {\n        match *self {\n",
    );
    for row in formats {
        let flags = |f: &&Field| f.kind == Kind::Imm("MemFlags".to_owned());
        if let Some(f) = row.fields.iter().find(flags) {
            let of = pattern(row, std::iter::once(f));
            let _ = writeln!(out, "            {of} => Some({}),", f.name);
        }
    }
    out.push_str("            _ => None,\n        }\n    }\n\n");
    out.push_str(&pools(formats));
    out.push_str("}\n");
    out
}

fn definition(out: &mut String, formats: &[FormatRow]) {
    out.push_str(
        "/// An instruction's opcode, operands and immediates.\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\n#[allow(\n    missing_docs,\n    reason = \"fields are named by their format; each variant says what is in it\"\n)]\npub enum InstData {\n",
    );
    for row in formats {
        for line in row.doc.lines() {
            let _ = writeln!(out, "    ///{line}");
        }
        let _ = write!(out, "    {} {{ opcode: Opcode", row.format.name());
        for f in &row.fields {
            let _ = write!(out, ", {}: {}", f.name, f.kind.rust());
        }
        out.push_str(" },\n");
    }
    out.push_str("}\n\n");
}

/// Returns statements of a call per field, for the fields that `wanted` selects.
fn arm(row: &FormatRow, wanted: impl Fn(&Kind) -> bool, call: impl Fn(&Field) -> String) -> String {
    let fields = || row.fields.iter().filter(|f| wanted(&f.kind));
    let calls: Vec<String> = fields().map(call).collect();
    format!(
        "            {} => {{ {} }}\n",
        pattern(row, fields()),
        calls.join(" ")
    )
}

/// Generates the functions that visit and map value operands.
fn visitors(formats: &[FormatRow]) -> String {
    let visit = |row: &FormatRow| {
        arm(row, Kind::has_values, |f| {
            let name = f.name;
            if f.kind.pooled() {
                format!("{name}.visit_in(dfg, &mut f);")
            } else {
                format!("{name}.visit(&mut f);")
            }
        })
    };
    let map = |row: &FormatRow, f_name: &str| {
        arm(row, Kind::has_values, |f| {
            let name = f.name;
            if f.kind.pooled() {
                format!("{name}.map_in(dfg, {f_name});")
            } else {
                format!("{name}.map({f_name});")
            }
        })
    };
    let mut out = String::new();
    let common = || formats.iter().filter(|row| row.common);
    let others = || formats.iter().filter(|row| !row.common);
    out.push_str(
        "    /// Calls `f` on every value operand in text order, block arguments last.\n    #[inline]\n    pub fn for_each_arg(&self, dfg: &DataFlowGraph, mut f: impl FnMut(Value)) {\n        // Common formats are inlined into callers. The rest are shared code.\n        match self {\n",
    );
    common().for_each(|row| out.push_str(&visit(row)));
    out.push_str(
        "            _ => self.for_each_arg_of_others(dfg, &mut f),\n        }\n    }\n\n    fn for_each_arg_of_others(&self, dfg: &DataFlowGraph, mut f: &mut dyn FnMut(Value)) {\n        match self {\n",
    );
    others().for_each(|row| out.push_str(&visit(row)));
    out.push_str(
        "            // Common formats.\n            _ => {}\n        }\n    }\n\n    /// Replaces every value operand `v` by `f(v)`, in the order of [`InstData::for_each_arg`].\n    #[inline]\n    pub fn map_args(&mut self, dfg: &mut DataFlowGraph, mut f: impl FnMut(Value) -> Value) {\n        if !self.map_own_args(&mut f) {\n            self.map_args_of_others(dfg, &mut f);\n        }\n    }\n\n    /// Does the same for common formats, which store all operands inline. Returns false for\n    /// others.\n    #[inline]\n    pub(super) fn map_own_args(&mut self, f: &mut impl FnMut(Value) -> Value) -> bool {\n        match self {\n",
    );
    common().for_each(|row| out.push_str(&map(row, "f")));
    out.push_str(
        "            _ => return false,\n        }\n        true\n    }\n\n    fn map_args_of_others(&mut self, dfg: &mut DataFlowGraph, mut f: &mut dyn FnMut(Value) -> Value) {\n        match self {\n",
    );
    others().for_each(|row| out.push_str(&map(row, "&mut f")));
    out.push_str("            // Common formats.\n            _ => {}\n        }\n    }\n\n");
    out
}

/// Generates the functions on data in pools, and on destinations.
fn pools(formats: &[FormatRow]) -> String {
    let pooled = || {
        formats
            .iter()
            .filter(|row| row.fields.iter().any(|f| f.kind.pooled()))
    };
    let mut out = String::from(
        "    /// Gives the instruction lists and tables of its own, so that changes do not affect the\n    /// original.\n    pub(crate) fn own_pools(&mut self, dfg: &mut DataFlowGraph) {\n        match self {\n",
    );
    for row in pooled() {
        out.push_str(&arm(row, Kind::pooled, |f| format!("{}.own(dfg);", f.name)));
    }
    out.push_str(
        "            _ => {}\n        }\n    }\n\n    /// Moves the data to another function, and renames values and blocks. Returns `None` if a\n    /// block has no name there.\n    pub(crate) fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {\n        match self {\n",
    );
    for row in pooled() {
        out.push_str(&arm(
            row,
            |k| k.has_values() || k.pooled(),
            |f| {
                let name = f.name;
                if f.kind.pooled() {
                    format!("{name}.import(import)?;")
                } else {
                    format!("{name}.map(&mut |v| import.names.value(v));")
                }
            },
        ));
    }
    out.push_str(
        "            // No other instruction has data in a pool.\n            other => other.map_args(import.to, |v| import.names.value(v)),\n        }\n        Some(())\n    }\n\n    /// Returns true if the data are the same as those of another function's instruction. Data in\n    /// pools are compared by content.\n    pub(super) fn same(&self, dfg: &DataFlowGraph, other: &InstData, other_dfg: &DataFlowGraph) -> bool {\n        match (self, other) {\n",
    );
    for row in pooled() {
        let name = row.format.name();
        let (mut left, mut right, mut tests) = (String::new(), String::new(), String::new());
        for f in &row.fields {
            let f_name = f.name;
            let _ = write!(left, ", {f_name}: {f_name}_a");
            let _ = write!(right, ", {f_name}: {f_name}_b");
            let _ = if f.kind.pooled() {
                write!(tests, " && {f_name}_a.same(dfg, {f_name}_b, other_dfg)")
            } else {
                write!(tests, " && {f_name}_a == {f_name}_b")
            };
        }
        let _ = writeln!(
            out,
            "            (InstData::{name} {{ opcode: a{left} }}, InstData::{name} {{ opcode: b{right} }}) => a == b{tests},"
        );
    }
    out.push_str("            (a, b) => a == b,\n        }\n    }\n\n");
    for (head, from, cases, tail) in [
        (
            "    /// Returns the blocks that this may branch to.\n    pub fn destinations<'a>(&'a self, dfg: &'a DataFlowGraph) -> &'a [BlockCall] {\n        match self {\n",
            "std::slice::from_ref",
            "&dfg.cases(*NAME).dests",
            "            _ => &[],\n        }\n    }\n\n",
        ),
        (
            "    /// Returns the blocks that this may branch to, to change.\n    pub(super) fn destinations_mut<'a>(&'a mut self, tables: &'a mut PrimaryMap<CaseTable, Cases>) -> &'a mut [BlockCall] {\n        match self {\n",
            "std::slice::from_mut",
            "tables.get_mut(*NAME).map_or(&mut [], |c| &mut c.dests)",
            "            _ => &mut [],\n        }\n    }\n\n",
        ),
    ] {
        out.push_str(head);
        for row in formats {
            for f in row.fields.iter().filter(|f| f.kind.has_blocks()) {
                let name = f.name;
                let body = match f.kind {
                    Kind::BlockCall => format!("{from}({name})"),
                    Kind::BlockCalls(_) => name.to_owned(),
                    _ => cases.replace("NAME", name),
                };
                let of = pattern(row, std::iter::once(f));
                let _ = writeln!(out, "            {of} => {body},");
            }
        }
        out.push_str(tail);
    }
    out
}

/// Generates a function of the writer of cache keys: it writes the format's number, then all
/// fields.
pub fn cache_key(formats: &[FormatRow]) -> String {
    let mut out = String::from(
        "impl FunctionWriter<'_> {\n    /// Writes the format's number, then all operands.\n    fn operands(&mut self, data: &InstData) {\n        self.w.u8(data.format() as u8);\n        match data {\n",
    );
    for row in formats {
        out.push_str(&arm(
            row,
            |_| true,
            |f| {
                let name = f.name;
                let method = match f.kind {
                    Kind::Value | Kind::OptValue | Kind::Values(_) | Kind::OptValues(_) => {
                        "operand"
                    }
                    Kind::List | Kind::BlockCall | Kind::BlockCalls(_) | Kind::Cases => "operand",
                    Kind::Constant | Kind::Data | Kind::Func => "operand",
                    Kind::Literal | Kind::Imm(_) => "immediate",
                };
                format!("self.{method}({name});")
            },
        ));
    }
    out.push_str("        }\n    }\n}\n");
    out
}
