//! Writer of the text format: the printer and the parser of the operands of each format.

use super::data::pattern;
use crate::ir::format::{Field, FormatRow, Kind};
use crate::ir::row::Row;
use crate::ir::text::{self, Piece, Token};
use std::fmt::Write as _;

/// Text, and the opcode that it is of; `None` for the rest of the format's.
type Text = (Option<String>, Vec<Piece>);

/// Returns the texts of a format: those of opcodes with a text of their own, then that of the rest.
fn texts(row: &FormatRow, rows: &[Row]) -> Result<Vec<Text>, String> {
    let mut out = Vec::new();
    for r in rows.iter().filter(|r| r.format == row.format) {
        if let Some(own) = r.text {
            let pieces = text::parse(row, own).map_err(|e| format!("{}: {e}", r.name))?;
            out.push((Some(r.variant()), pieces));
        }
    }
    out.push((None, row.text.clone()));
    Ok(out)
}

/// Generates a function that prints the operands of an instruction.
///
/// # Errors
/// Returns an error if the text of a row is malformed.
pub fn printer(formats: &[FormatRow], rows: &[Row]) -> Result<String, String> {
    let mut out = String::from(
        "impl Printer<'_> {\n    /// Prints the operands of an instruction.\n    fn operands(&mut self, data: &InstData) {\n        match data {\n",
    );
    for row in formats {
        let texts = texts(row, rows)?;
        for (opcode, pieces) in &texts {
            let mut code = String::new();
            for piece in pieces {
                print(&mut code, row, piece)?;
            }
            let used = row.fields.iter().filter(|f| mentions(pieces, f.name));
            let mut of = pattern(row, used);
            if let Some(opcode) = opcode {
                of = of.replacen("{ ", &format!("{{ opcode: Opcode::{opcode}, "), 1);
            }
            let _ = writeln!(out, "            {of} => {{ {code} }}");
        }
    }
    out.push_str("        }\n    }\n}\n");
    Ok(out)
}

fn mentions(pieces: &[Piece], name: &str) -> bool {
    pieces.iter().any(|p| match p {
        Piece::Literal(_) => false,
        Piece::Field { field, .. } => field == name,
        Piece::Counted { field, .. } => field == name,
        Piece::Hook { fields, .. } => fields.iter().any(|(f, _)| f == name),
        Piece::Optional(inside) => mentions(inside, name),
    })
}

/// Returns an expression of a field or an element of one, behind a reference.
fn place(row: &FormatRow, field: &str, part: Option<&str>) -> Result<String, String> {
    let f = row.field(field)?;
    Ok(match (part, &f.kind) {
        (None, _) => field.to_owned(),
        (Some(n), Kind::Values(_) | Kind::OptValues(_) | Kind::BlockCalls(_)) => {
            format!("&{field}[{n}]")
        }
        (Some(part), _) => format!("&{field}.{part}"),
    })
}

/// Returns the method of the printer and the parser for a field.
fn method(f: &Field, part: bool) -> &'static str {
    match f.kind {
        Kind::Values(_) if part => "value",
        Kind::BlockCalls(_) if part => "destination",
        Kind::Value => "value",
        Kind::OptValue => "optional",
        Kind::Values(_) => "values",
        Kind::OptValues(_) => "present",
        Kind::List => "list",
        Kind::BlockCall => "destination",
        Kind::BlockCalls(_) => "destinations",
        Kind::Cases => "cases",
        Kind::Constant => "constant",
        Kind::Literal => "literal",
        Kind::Data => "data_name",
        Kind::Func => "function_name",
        Kind::Imm(_) => "immediate",
    }
}

fn print(out: &mut String, row: &FormatRow, piece: &Piece) -> Result<(), String> {
    match piece {
        Piece::Literal(l) => {
            let _ = write!(out, "self.text(&{l:?}); ");
        }
        Piece::Field { field, part, .. } => {
            let f = row.field(field)?;
            let place = place(row, field, part.as_deref())?;
            let _ = write!(out, "self.{}({place}); ", method(f, part.is_some()));
        }
        Piece::Counted { field, .. } => {
            let _ = write!(out, "self.each_after_comma({field}); ");
        }
        Piece::Hook { name, fields } => {
            let mut args = Vec::new();
            for (field, n) in fields {
                args.push(place(row, field, n.map(|n| n.to_string()).as_deref())?);
            }
            let _ = write!(out, "self.{name}({}); ", args.join(", "));
        }
        Piece::Optional(inside) => {
            // A field is printed after the literal before it.
            let mut literal = "";
            for piece in inside {
                match piece {
                    Piece::Literal(l) => literal = l,
                    Piece::Field { field, .. } => {
                        let _ = write!(out, "self.after({literal:?}, {field}); ");
                    }
                    _ => return Err("an optional part has literals and values".to_owned()),
                }
            }
        }
    }
    Ok(())
}

/// Generates a function that parses the operands of an instruction.
///
/// # Errors
/// Returns an error if the text of a row is malformed.
pub fn parser(formats: &[FormatRow], rows: &[Row]) -> Result<String, String> {
    let mut out = String::from(
        "impl Parser<'_> {\n    /// Parses the operands of an instruction. `scalar` is the type of a lane of the result.\n    pub(super) fn operands(&mut self, body: &mut Body, info: &Info, scalar: Scalar) -> Res<InstData> {\n        let opcode = info.opcode;\n        match (info.format, opcode) {\n",
    );
    for row in formats {
        for (opcode, pieces) in texts(row, rows)? {
            let of = opcode.map_or("_".to_owned(), |o| format!("Opcode::{o}"));
            let code = Statements::of(row, &pieces)?;
            let _ = writeln!(
                out,
                "            (Format::{}, {of}) => {{\n{code}            }}",
                row.format.name()
            );
        }
    }
    out.push_str("        }\n    }\n}\n");
    Ok(out)
}

/// Statements that parse a text.
struct Statements<'f> {
    row: &'f FormatRow,
    out: String,
    /// Positions of the parsed value operands among those of the format.
    order: Vec<usize>,
    /// True in an optional part.
    inside: bool,
}

impl<'f> Statements<'f> {
    fn of(row: &'f FormatRow, pieces: &[Piece]) -> Result<String, String> {
        let mut s = Statements {
            row,
            out: String::new(),
            order: Vec::new(),
            inside: false,
        };
        for f in &row.fields {
            let name = f.name;
            let alone = |p: &&Piece| !matches!(p, Piece::Optional(_));
            let always = pieces.iter().filter(alone);
            let always: Vec<Piece> = always.cloned().collect();
            let parts = pieces
                .iter()
                .any(|p| matches!(p, Piece::Field { field, part: Some(_), .. } if field == name));
            if f.kind == Kind::OptValue && !mentions(&always, name) {
                let mutable = if mentions(pieces, name) { "mut " } else { "" };
                s.line(&format!(
                    "let {mutable}{name}: PackedOption<Value> = None.into();"
                ));
            } else if let (true, Kind::Imm(_)) = (parts, &f.kind) {
                let ty = f.kind.rust();
                s.line(&format!("let mut {name}: {ty} = Default::default();"));
            }
        }
        s.positions(pieces)?;
        let ordered = s.order.is_sorted();
        if !ordered {
            s.line("let mut marks = Vec::new();");
        }
        let mut at = 0;
        let mut closed = false;
        for (n, piece) in pieces.iter().enumerate() {
            let rest = pieces.get(n + 1..).unwrap_or_default();
            let values = s.values_of(piece)?.len();
            if values > 0 && !ordered {
                let place = s.order.get(at).copied().unwrap_or_default();
                s.line(&format!("marks.push(({place}, body.map.spans.len()));"));
            }
            at += values;
            s.piece(piece, rest, std::mem::take(&mut closed))?;
            let list =
                matches!(piece, Piece::Field { field, .. } if row.field(field)?.kind == Kind::List);
            closed = list && matches!(rest.first(), Some(Piece::Literal(l)) if l.starts_with(')'));
        }
        if !ordered {
            s.line("body.map.reorder(&marks);");
        }
        let mut fields = vec!["opcode".to_owned()];
        for f in &row.fields {
            let by_element = |p: &Piece| match p {
                Piece::Field { field, part, .. } => field == f.name && part.is_some(),
                Piece::Hook { fields, .. } => {
                    fields.iter().any(|(name, n)| name == f.name && n.is_some())
                }
                _ => false,
            };
            let name = f.name;
            fields.push(match f.kind {
                Kind::Values(n) | Kind::BlockCalls(n) if pieces.iter().any(by_element) => {
                    let all: Vec<String> = (0..n).map(|i| format!("{name}_{i}")).collect();
                    format!("{name}: [{}]", all.join(", "))
                }
                _ => name.to_owned(),
            });
        }
        let name = row.format.name();
        s.line(&format!("Ok(InstData::{name} {{ {} }})", fields.join(", ")));
        Ok(s.out)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "                {text}");
    }

    /// Returns the positions of the value operands of a piece.
    fn values_of(&self, piece: &Piece) -> Result<Vec<usize>, String> {
        let mut out = Vec::new();
        let mut add = |name: &str, part: Option<usize>| -> Result<(), String> {
            let index = self.row.fields.iter().position(|f| f.name == name);
            if self.row.field(name)?.kind.has_values() {
                // Elements of a field are next to each other.
                out.push(index.unwrap_or_default() * 16 + part.unwrap_or_default());
            }
            Ok(())
        };
        match piece {
            Piece::Literal(_) => {}
            Piece::Field { field, part, .. } => {
                add(field, part.as_deref().and_then(|p| p.parse().ok()))?;
            }
            Piece::Counted { field, .. } => add(field, None)?,
            Piece::Hook { fields, .. } => {
                for (field, n) in fields {
                    add(field, *n)?;
                }
            }
            Piece::Optional(inside) => {
                for piece in inside {
                    out.append(&mut self.values_of(piece)?);
                }
            }
        }
        if !out.is_sorted() {
            return Err("the values of a part are not in the order of the fields".to_owned());
        }
        Ok(out)
    }

    fn positions(&mut self, pieces: &[Piece]) -> Result<(), String> {
        for piece in pieces {
            let mut more = self.values_of(piece)?;
            self.order.append(&mut more);
        }
        Ok(())
    }

    /// Writes the statements of one piece. `closed`: the list before it has consumed a `)`.
    fn piece(&mut self, piece: &Piece, rest: &[Piece], closed: bool) -> Result<(), String> {
        match piece {
            Piece::Literal(l) => {
                for token in text::tokens(l).iter().skip(usize::from(closed)) {
                    match token {
                        Token::Word(w) => self.line(&format!("self.keyword({w:?})?;")),
                        Token::Punct(c) => self.line(&format!("self.expect({c:?})?;")),
                    }
                }
            }
            Piece::Field { field, part, what } => {
                let f = self.row.field(field)?;
                if f.kind == Kind::OptValue {
                    let declare = if self.inside { "" } else { "let " };
                    self.line(&format!("{declare}{field} = self.value(body)?.into();"));
                } else {
                    self.field(f, part.as_deref(), what, rest)?;
                }
            }
            Piece::Counted { field, by } => {
                self.line(&format!(
                    "let {field} = self.each_after_comma(body, {by}.operands())?;"
                ));
            }
            Piece::Hook { name, fields } => {
                let names: Vec<String> = fields
                    .iter()
                    .map(|(f, n)| n.map_or(f.clone(), |n| format!("{f}_{n}")))
                    .collect();
                let names = names.join(", ");
                self.line(&format!("let ({names}) = self.{name}(body)?;"));
            }
            Piece::Optional(inside) => {
                let mut test =
                    format!("self.ahead(&[{}])", first_token(inside).unwrap_or_default());
                // The next part may begin with the same token.
                for other in rest.iter().map_while(optional) {
                    if first_token(other) == first_token(inside) {
                        let _ = write!(test, " && !self.ahead(&[{}])", all_tokens(other));
                    }
                }
                self.line(&format!("if {test} {{"));
                self.inside = true;
                for (n, piece) in inside.iter().enumerate() {
                    self.piece(piece, inside.get(n + 1..).unwrap_or_default(), false)?;
                }
                self.inside = false;
                self.line("}");
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        f: &Field,
        part: Option<&str>,
        what: &str,
        rest: &[Piece],
    ) -> Result<(), String> {
        let name = f.name;
        let method = method(f, part.is_some());
        let line = match (&f.kind, part) {
            (Kind::Imm(_), Some(part)) => {
                format!("{name}.{part} = Immediate::parse(self, opcode, {what:?})?;")
            }
            (Kind::Imm(_), None) => {
                let ty = f.kind.rust();
                format!("let {name}: {ty} = Immediate::parse(self, opcode, {what:?})?;")
            }
            (Kind::Constant, _) => format!("let {name} = self.constant(body, scalar)?;"),
            (Kind::Literal, _) => format!("let {name} = self.literal(scalar)?;"),
            (Kind::Data | Kind::Func, _) => format!("let {name} = self.{method}({what:?})?;"),
            (Kind::List, _) => {
                let close = match rest.first() {
                    Some(Piece::Literal(l)) if l.starts_with(')') => "Some(')')",
                    None => "None",
                    _ => return Err(format!("`{name}` is not in `()`, nor the last")),
                };
                format!("let {name} = self.value_list(body, {close})?;")
            }
            (_, Some(n)) => format!("let {name}_{n} = self.{method}(body)?;"),
            (_, None) => format!("let {name} = self.{method}(body)?;"),
        };
        self.line(&line);
        Ok(())
    }
}

fn optional(piece: &Piece) -> Option<&[Piece]> {
    match piece {
        Piece::Optional(inside) => Some(inside),
        _ => None,
    }
}

/// Returns the tokens of the literal at the start of a part, as Rust.
fn tokens_of(part: &[Piece]) -> Vec<String> {
    let Some(Piece::Literal(l)) = part.first() else {
        return Vec::new();
    };
    let rust = |t: &Token| match t {
        Token::Word(w) => format!("Token::Word({w:?})"),
        Token::Punct(c) => format!("Token::Punct({c:?})"),
    };
    text::tokens(l).iter().map(rust).collect()
}

fn first_token(part: &[Piece]) -> Option<String> {
    tokens_of(part).into_iter().next()
}

fn all_tokens(part: &[Piece]) -> String {
    tokens_of(part).join(", ")
}
