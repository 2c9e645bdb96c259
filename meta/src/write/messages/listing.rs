//! Writer of the rows of listings: fields, checks and words of each message.

use super::super::Writer;
use super::super::isa::WriteError;
use crate::messages;
use crate::messages::field::{Check, Codec, Meaning, Step};
use crate::messages::row::{Coordinates, Form, Message, Port};
use std::collections::HashMap;
use std::panic::Location;

/// Fields and checks of all messages: many have the same.
#[derive(Default)]
struct Steps {
    /// Source of each, and the row that it was first seen in.
    rows: Vec<(String, &'static Location<'static>)>,
    /// Index of each by its source.
    index: HashMap<String, usize>,
}

impl Steps {
    /// Returns the index of a step.
    fn index_of(&mut self, source: String, at: &'static Location<'static>) -> usize {
        let next = self.rows.len();
        *self.index.entry(source).or_insert_with_key(|source| {
            self.rows.push((source.clone(), at));
            next
        })
    }
}

/// Generates the source of the rows that describe descriptors.
///
/// # Errors
/// Returns an error if a row breaks a rule.
pub fn message_listing() -> Result<String, WriteError> {
    let mut w = Writer::default();
    let all = messages::all()?;
    let others = messages::others();
    let mut steps = Steps::default();
    w.line("/// Messages by port.");
    w.line("pub(super) static PORTS: &[PortRows] = &[");
    for p in Port::ALL {
        let (rest, found): (Vec<&Form>, Vec<&Form>) = all
            .iter()
            .flat_map(|m| &m.forms)
            .chain(&others)
            .filter(|f| f.port == p && f.described.is_some())
            .partition(|f| f.number.is_none() && f.selects().next().is_none());
        let Some(name) = p.sfid().filter(|_| !rest.is_empty()) else {
            continue;
        };
        let (lo, len) = p.number();
        w.line("PortRows {");
        w.line(format!("sfid: Sfid::{name},"));
        w.line(format!("gens: {:#x},", p.gens().bits()));
        w.line(format!("number: ({lo}, {len}),"));
        w.line("rows: &[");
        for f in found.iter().chain(&rest) {
            form(&mut w, &mut steps, f)?;
        }
        w.line("],");
        w.line("},");
    }
    w.line("];");
    w.line("/// Fields and checks, by their indices in the rows.");
    w.line(format!(
        "static STEPS: [DescStep; {}] = [",
        steps.rows.len()
    ));
    for (source, at) in &steps.rows {
        w.line_at(source, at);
    }
    w.line("];");
    lsc_fields(&mut w, &all)?;
    Ok(w.finish())
}

/// Writes each listed field of the load/store cache under its name. Its summaries are assembly
/// syntax, which is composed by hand.
fn lsc_fields(w: &mut Writer, all: &[Message]) -> Result<(), WriteError> {
    w.line("/// Fields of the load/store cache.");
    w.line("pub(super) mod lsc_fields {");
    w.line("use super::{DescCheck, DescStep, Meaning};");
    let mut seen = vec![];
    let forms = all.iter().flat_map(|m| &m.forms);
    for f in forms.filter(|f| f.port == Port::Lsc) {
        for (field, s) in f
            .fields
            .iter()
            .flat_map(|x| x.steps.iter().map(move |s| (x, s)))
        {
            let Some(name) = s.name.filter(|n| !seen.contains(n)) else {
                continue;
            };
            seen.push(name);
            // Other parts are in the extended descriptor, which may be in a register.
            let of = field.parts.get(..1).unwrap_or_default();
            let source = step(of, s)?;
            w.line_at(
                format!(
                    "pub(in super::super) static {}: DescStep = {};",
                    constant(name),
                    source.trim_end_matches(',')
                ),
                f.at,
            );
        }
    }
    w.line("}");
    Ok(())
}

/// Returns the name of a constant for a field's name: `FLUSH_OP` for `FlushOp`.
fn constant(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

fn form(w: &mut Writer, steps: &mut Steps, f: &Form) -> Result<(), WriteError> {
    let gens = f.described.map_or(0, |g| g.bits());
    w.line_at("DescRow {", f.at);
    w.line(format!("gens: {gens:#x},"));
    w.line(format!("number: {:?},", f.number));
    let selects: Result<Vec<String>, WriteError> = f
        .selects()
        .map(|(p, v)| Ok(format!("({}, {v})", bits(p)?)))
        .collect();
    w.line(format!("selects: &[{}],", selects?.join(", ")));
    let mut own = vec![];
    for field in &f.fields {
        for s in &field.steps {
            own.push(steps.index_of(step(&field.parts, s)?, f.at));
        }
    }
    w.line(format!("steps: &{own:?},"));
    w.line(format!("text: &[{}],", text(f)?));
    w.line(format!(
        "coordinates: Coordinates::{},",
        match f.coordinates {
            Coordinates::None => "None".into(),
            Coordinates::Half => "Half".into(),
            Coordinates::HalfIf(bit) => format!("HalfIf({bit})"),
        }
    ));
    w.line("},");
    Ok(())
}

/// Formats the parts of a field, the most significant first. Fields have at most two.
fn bits(parts: &[(u8, u8)]) -> Result<String, WriteError> {
    match *parts {
        [] => Ok("[(0, 0), (0, 0)]".into()),
        [one] => Ok(format!("[(0, 0), {one:?}]")),
        [high, low] => Ok(format!("[{high:?}, {low:?}]")),
        _ => Err(format!("a listed field of {} parts", parts.len()).into()),
    }
}

fn step(of: &[(u8, u8)], s: &Step) -> Result<String, WriteError> {
    let (lo, len) = of.last().copied().unwrap_or((0, 0));
    let len = s.len.unwrap_or(len);
    // A name that does not depend on the value is one name.
    let names = match &s.meaning {
        Meaning::Plain => "Meaning::Plain".into(),
        Meaning::Names(n) => match &n[..] {
            [first, rest @ ..] if rest.iter().all(|x| x == first) => {
                format!("Meaning::Always({first:?})")
            }
            _ => format!("Meaning::Names(&{n:?})"),
        },
        Meaning::Number(before, after) => format!("Meaning::Number({before:?}, {after:?})"),
        Meaning::Surface => "Meaning::Surface".into(),
    };
    let checks: Vec<String> = s.checks.iter().map(check).collect();
    Ok(format!(
        "DescStep {{ gens: {:#x}, name: {:?}, of: {}, at: ({lo}, {len}), meaning: {names}, checks: &[{}] }},",
        s.gens.bits(),
        s.name,
        bits(of)?,
        checks.join(", ")
    ))
}

fn check(c: &Check) -> String {
    format!(
        "DescCheck {{ gens: {:#x}, values: &{:?}, not: {}, at: {:?}, error: {}, text: {:?} }}",
        c.gens.bits(),
        c.values,
        c.not,
        c.at,
        c.error,
        c.text
    )
}

/// Formats the parts of a form's text.
fn text(f: &Form) -> Result<String, WriteError> {
    let mut out = vec![];
    let mut rest = f.text;
    while !rest.is_empty() {
        let (before, after) = rest.split_once('{').unwrap_or((rest, ""));
        if !before.is_empty() {
            out.push(format!("Part::Text({before:?})"));
        }
        rest = after;
        if let Some((key, after)) = rest.split_once('}') {
            out.push(placeholder(f, key)?);
            rest = after;
        }
    }
    Ok(out.join(", "))
}

fn placeholder(f: &Form, key: &str) -> Result<String, WriteError> {
    let words = f.fields.iter().find_map(|x| match &x.words {
        Some((k, words)) if *k == key => Some((x, words)),
        _ => None,
    });
    if let Some((x, words)) = words {
        return Ok(format!("Part::Words({}, &{words:?})", bits(&x.parts)?));
    }
    let number = f
        .fields
        .iter()
        .find(|x| x.args.contains(&key) && !matches!(x.codec, Codec::None));
    match number {
        Some(x) => Ok(format!("Part::Number({})", bits(&x.parts)?)),
        None => Err(format!("{}: no field has the words of `{key}`", f.text).into()),
    }
}
