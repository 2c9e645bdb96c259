//! Text of operands: a template of literals and fields.

use super::format::{FormatRow, Kind};

/// Part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Literal text. Spaces matter to the printer alone.
    Literal(String),
    /// Field, or a part of one.
    Field {
        /// Name of the field.
        field: String,
        /// Element of an array, or part of an immediate.
        part: Option<String>,
        /// Phrase for the parser's errors.
        what: String,
    },
    /// Values after a comma each. `by.operands()` is their number.
    Counted {
        /// Name of the field.
        field: String,
        /// Name of the field that has their number.
        by: String,
    },
    /// Fields whose text a function knows.
    Hook {
        /// Name of the function.
        name: String,
        /// Names of the fields, with the number of the element of an array.
        fields: Vec<(String, Option<usize>)>,
    },
    /// Part that may be absent.
    Optional(Vec<Piece>),
}

/// Token of a literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// Keyword.
    Word(String),
    /// Punctuation.
    Punct(char),
}

/// Returns the tokens of a literal.
pub fn tokens(literal: &str) -> Vec<Token> {
    let mut out = Vec::new();
    for c in literal.chars() {
        match out.last_mut() {
            Some(Token::Word(w)) if c.is_ascii_alphanumeric() || c == '_' => w.push(c),
            _ if c.is_ascii_alphanumeric() || c == '_' => out.push(Token::Word(c.to_string())),
            // Ends a word.
            _ => out.push(Token::Punct(c)),
        }
    }
    out.retain(|t| *t != Token::Punct(' '));
    out
}

/// Parses a template, and checks it against the format's fields.
///
/// # Errors
/// Returns an error if brackets are not closed, if a field does not exist or is there twice, or if
/// one that must be present is missing.
pub fn parse(row: &FormatRow, text: &str) -> Result<Vec<Piece>, String> {
    let pieces = pieces(text)?;
    let mut seen: Vec<Mention> = Vec::new();
    check(row, &pieces, false, &mut seen)?;
    for f in &row.fields {
        let there = seen.iter().any(|(name, _)| name == f.name);
        if !there && f.kind != Kind::OptValue {
            return Err(format!("its text lacks the field `{}`", f.name));
        }
        if let Kind::Values(n) = f.kind {
            let parts = seen.iter().filter(|(name, _)| name == f.name).count();
            let whole = seen.contains(&(f.name.to_owned(), None));
            if parts != n && !whole {
                return Err(format!(
                    "its text has {parts} of {n} values of `{}`",
                    f.name
                ));
            }
        }
    }
    Ok(pieces)
}

fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['{', '[']).unwrap_or(rest.len());
        let (literal, next) = rest.split_at(end);
        if literal.contains(['}', ']']) {
            return Err(format!("`{text}`: a bracket too many"));
        }
        if !literal.is_empty() {
            out.push(Piece::Literal(literal.to_owned()));
        }
        let close = match next.chars().next() {
            Some('{') => '}',
            Some(_) => ']',
            None => return Ok(out),
        };
        let Some((inside, after)) = next.get(1..).and_then(|n| n.split_once(close)) else {
            return Err(format!("`{text}`: no `{close}`"));
        };
        out.push(if close == '}' {
            reference(inside)?
        } else {
            Piece::Optional(pieces(inside)?)
        });
        rest = after;
    }
    Ok(out)
}

fn reference(inside: &str) -> Result<Piece, String> {
    if let Some((name, fields)) = inside.strip_suffix(')').and_then(|i| i.split_once('(')) {
        let field = |f: &str| match f.trim().split_once('.') {
            Some((name, n)) => {
                let n: usize = n
                    .parse()
                    .map_err(|_| format!("`{inside}`: not an element"))?;
                Ok((name.to_owned(), Some(n)))
            }
            None => Ok((f.trim().to_owned(), None)),
        };
        let fields: Result<Vec<_>, String> = fields.split(',').map(field).collect();
        return Ok(Piece::Hook {
            name: name.to_owned(),
            fields: fields?,
        });
    }
    let (path, what) = inside.split_once(": ").unwrap_or((inside, ""));
    if let Some((field, by)) = path.split_once(" * ") {
        return Ok(Piece::Counted {
            field: field.to_owned(),
            by: by.to_owned(),
        });
    }
    let (field, part) = match path.split_once('.') {
        Some((field, part)) => (field, Some(part.to_owned())),
        None => (path, None),
    };
    Ok(Piece::Field {
        field: field.to_owned(),
        part,
        what: what.to_owned(),
    })
}

/// Field of a text, or part of one.
type Mention = (String, Option<String>);

/// Notes that a text has a field or a part of one. Returns the field's kind.
fn add<'r>(
    row: &'r FormatRow,
    seen: &mut Vec<Mention>,
    field: &str,
    part: Option<String>,
) -> Result<&'r Kind, String> {
    let kind = &row.field(field)?.kind;
    let new = (field.to_owned(), part);
    if seen.contains(&new) {
        return Err(format!("its text has `{field}` twice"));
    }
    seen.push(new);
    Ok(kind)
}

fn check(
    row: &FormatRow,
    pieces: &[Piece],
    optional: bool,
    seen: &mut Vec<Mention>,
) -> Result<(), String> {
    for piece in pieces {
        match piece {
            Piece::Literal(_) => {}
            Piece::Counted { .. } | Piece::Hook { .. } if optional => {
                return Err("an optional part has literals and optional values".into());
            }
            Piece::Field { field, part, .. } => {
                let kind = add(row, seen, field, part.clone())?;
                if optional && *kind != Kind::OptValue {
                    return Err(format!("`{field}` is not an optional value"));
                }
            }
            Piece::Counted { field, by } => {
                row.field(by)?;
                if !matches!(add(row, seen, field, None)?, Kind::OptValues(_)) {
                    return Err(format!("`{field}` is not an array of optional values"));
                }
            }
            Piece::Hook { fields, .. } => {
                for (field, part) in fields {
                    add(row, seen, field, part.map(|n| n.to_string()))?;
                }
            }
            Piece::Optional(inside) => {
                let first =
                    matches!(inside.first(), Some(Piece::Literal(l)) if !tokens(l).is_empty());
                if optional || !first {
                    return Err("an optional part starts with a literal, outside of others".into());
                }
                check(row, inside, true, seen)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::format::formats;
    use super::*;

    /// Returns what is wrong with a text of loads.
    fn wrong(text: &str) -> String {
        let rows = formats().unwrap();
        let load = rows.iter().find(|r| r.format.name() == "Load").unwrap();
        parse(load, text).err().unwrap_or_default()
    }

    #[test]
    fn malformed_texts_are_named() {
        let good = "{place(mem, addr, offset)}[, mask {mask}, {old}]";
        assert_eq!(wrong(good), "");
        assert!(wrong("{place(mem, addr, offset)").contains("no `}`"));
        assert!(wrong("{place(mem, addr, offset)}]").contains("a bracket too many"));
        assert!(wrong("{mem} {addr}").contains("lacks the field `offset`"));
        assert!(wrong("{place(mem, addr, offset)} {addr}").contains("`addr` twice"));
        assert!(wrong("{place(mem, addr, size)}").contains("no field `size`"));
        assert!(wrong("{mem} {offset}[, {addr}]").contains("not an optional value"));
        assert!(wrong("{place(mem, addr, offset)}[{mask}]").contains("starts with a literal"));
    }

    #[test]
    fn literals_are_tokens() {
        let word = |w: &str| Token::Word(w.to_owned());
        assert_eq!(tokens(", mask "), [Token::Punct(','), word("mask")]);
        assert_eq!(
            tokens(") (a1 b"),
            [Token::Punct(')'), Token::Punct('('), word("a1"), word("b")]
        );
    }
}
