//! A place in one line of assembly, and the small words it is read by.

use crate::diag::{Diagnostic, Span};

/// Reads one line from left to right.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Bytes read.
    at: usize,
    line: u32,
    /// Whether a byte is a character.
    ascii: bool,
}

/// What a line is read into, or what is wrong with it.
pub(super) type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Cursor<'a> {
    /// The start of a line; `line` counts from 1.
    pub(super) fn new(text: &'a str, line: u32) -> Self {
        Cursor {
            text,
            at: 0,
            line,
            ascii: text.is_ascii(),
        }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Bytes read so far.
    pub(super) fn pos(&self) -> usize {
        self.at
    }

    /// The span from byte `from` to here; one character where that is nothing.
    pub(super) fn span_from(&self, from: usize) -> Span {
        let count = |s: &str| {
            if self.ascii {
                s.len()
            } else {
                s.chars().count()
            }
        };
        let chars = |s: Option<&str>| s.map_or(0, count) as u32;
        Span {
            line: self.line,
            col: chars(self.text.get(..from)) + 1,
            len: chars(self.text.get(from..self.at).map(str::trim_end)).max(1),
        }
    }

    /// An error at what comes next.
    pub(super) fn error<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        self.skip_blanks();
        let start = self.at;
        let mut ahead = self.clone();
        ahead.word();
        if ahead.at == start {
            ahead.bump(1);
        }
        Err(Diagnostic::new(ahead.span_from(start), message))
    }

    /// An error from byte `from` to here.
    pub(super) fn error_from<T>(&self, from: usize, message: impl Into<String>) -> Parsed<T> {
        Err(Diagnostic::new(self.span_from(from), message))
    }

    pub(super) fn bump(&mut self, bytes: usize) {
        let mut to = (self.at + bytes).min(self.text.len());
        while !self.text.is_char_boundary(to) {
            to += 1;
        }
        self.at = to;
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        let spaces = rest.bytes().take_while(|b| *b == b' ').count();
        self.at += spaces;
        // Whatever other blanks there are.
        if rest
            .as_bytes()
            .get(spaces)
            .is_some_and(|b| !b.is_ascii_graphic())
        {
            self.at += self.rest().len() - self.rest().trim_start().len();
        }
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    /// Whether `s` comes next, after blanks.
    pub(super) fn sees(&mut self, s: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(s)
    }

    /// Reads `s` if it comes next, after blanks.
    pub(super) fn eat(&mut self, s: &str) -> bool {
        let seen = self.sees(s);
        if seen {
            self.bump(s.len());
        }
        seen
    }

    /// Reads `s` if it comes next without blanks before it.
    pub(super) fn eat_close(&mut self, s: &str) -> bool {
        let seen = self.rest().starts_with(s);
        if seen {
            self.bump(s.len());
        }
        seen
    }

    pub(super) fn expect(&mut self, s: &str) -> Parsed<()> {
        if self.eat(s) {
            Ok(())
        } else {
            self.error(format!("expected `{s}`"))
        }
    }

    /// Reads letters, digits and underscores; maybe nothing.
    pub(super) fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let n = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        self.bump(n);
        rest.get(..n).unwrap_or("")
    }

    /// Reads a word after blanks.
    pub(super) fn ident(&mut self) -> &'a str {
        self.skip_blanks();
        self.word()
    }

    /// Reads a decimal number up to `most`.
    pub(super) fn number(&mut self, what: &str, most: u32) -> Parsed<u32> {
        self.skip_blanks();
        let start = self.at;
        let word = self.word();
        match word.parse() {
            Ok(n) if n <= most => Ok(n),
            Ok(n) => self.error_from(start, format!("{what} {n} is above {most}")),
            Err(_) => self.error_from(start, format!("expected {what}")),
        }
    }
}
