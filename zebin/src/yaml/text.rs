//! Writer of YAML. The driver's own reader requires lists indented under their key, and no flow
//! maps.

use std::fmt::{Display, Write as _};

/// Document that is being written.
pub(crate) struct Text {
    out: String,
    indent: usize,
    /// True if the next line begins an element of a list.
    dash: bool,
}

impl Text {
    /// Begins a document.
    pub(crate) fn new() -> Text {
        Text {
            out: "---\n".to_owned(),
            indent: 0,
            dash: false,
        }
    }

    /// Ends the document.
    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("...\n");
        self.out
    }

    /// Writes what a line begins with.
    fn begin(&mut self) {
        let dash = std::mem::take(&mut self.dash);
        let spaces = self.indent - if dash { 2 } else { 0 };
        self.out.extend(std::iter::repeat_n(' ', spaces));
        if dash {
            self.out.push_str("- ");
        }
    }

    /// Writes a key and its scalar.
    pub(crate) fn entry(&mut self, key: &str, value: impl Display) {
        self.begin();
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{key}: {value}");
    }

    /// Writes a key and its map.
    pub(crate) fn map(&mut self, key: &str, write: impl FnOnce(&mut Text)) {
        self.begin();
        let _ = writeln!(self.out, "{key}:");
        self.indent += 2;
        write(self);
        self.indent -= 2;
    }

    /// Writes a key and its list.
    pub(crate) fn list<T>(&mut self, key: &str, list: &[T], write: impl Fn(&T, &mut Text)) {
        self.begin();
        let _ = writeln!(self.out, "{key}:");
        self.indent += 4;
        for element in list {
            self.dash = true;
            write(element, self);
            self.dash = false;
        }
        self.indent -= 4;
    }

    /// Writes an element that is a scalar.
    pub(crate) fn element(&mut self, value: impl Display) {
        self.begin();
        let _ = writeln!(self.out, "{value}");
    }
}

/// Returns the name of a symbol as a scalar: unchanged if it is read back so, else in quotes.
pub(crate) fn plain(name: &str) -> String {
    let bare = |b: u8| b.is_ascii_alphanumeric() || b"_.$".contains(&b);
    // Readers take these for other values, or for numbers whose text is another.
    let value = ["null", "true", "false"].contains(&name.to_ascii_lowercase().as_str());
    let number = name.len() > 1 && name.starts_with('0');
    if !name.is_empty() && name.bytes().all(bare) && !value && !number {
        return name.to_owned();
    }
    escaped(name)
}

/// Returns a text in single quotes.
pub(crate) fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) {
        return escaped(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns a text as a scalar: unchanged if it has no special characters and is no keyword, else in
/// quotes.
pub(crate) fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    if plain {
        return text.to_owned();
    }
    escaped(text)
}

/// Returns a text in double quotes.
fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if c.is_control() || c > '~' => match u32::from(c) {
                n @ 0..=0xffff => write!(out, "\\u{n:04x}"),
                n => write!(out, "\\U{n:08x}"),
            },
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars() {
        assert_eq!(scalar("a_1.x"), "a_1.x");
        assert_eq!(scalar("No"), "\"No\"");
        assert_eq!(scalar("a\"\u{e4}"), "\"a\\\"\\u00e4\"");
        assert_eq!(quoted("it's"), "'it''s'");
        assert_eq!(plain("n"), "n");
        assert_eq!(plain("null"), "\"null\"");
        assert_eq!(plain("a: b"), "\"a: b\"");
    }
}
