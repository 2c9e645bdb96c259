//! Cursor over one line of assembly, and its tokens.

use crate::diag::{Diagnostic, Span};

/// Cursor that reads one line from left to right.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Number of bytes read.
    at: usize,
    line: u32,
    /// True if all characters are single bytes.
    ascii: bool,
}

/// Bytes of words: letters, digits and the underscore.
static IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = (b as u8).is_ascii_alphanumeric() || b as u8 == b'_';
        b += 1;
    }
    table
};

/// Result of parsing.
pub(super) type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a line. `line` counts from 1.
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

    /// Returns the number of bytes read.
    pub(super) fn pos(&self) -> usize {
        self.at
    }

    /// Returns the span from byte `from` to the cursor, at least one character.
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

    /// Returns an error at the next token.
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

    /// Returns an error from byte `from` to the cursor.
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
        let bytes = self.text.as_bytes();
        // Columns are padded with many blanks.
        while bytes.get(self.at..self.at + 8) == Some(b"        ") {
            self.at += 8;
        }
        while bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        if bytes.get(self.at).is_some_and(|b| !b.is_ascii_graphic()) {
            self.skip_other_blanks();
        }
    }

    #[cold]
    fn skip_other_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.text.len()
    }

    /// Returns true if `s` comes next, after blanks.
    #[inline(always)]
    pub(super) fn sees(&mut self, s: &str) -> bool {
        self.skip_blanks();
        self.is_at(s)
    }

    /// Returns true if `s` comes next. Inlined, like all functions that match constants, so that it
    /// becomes a comparison of a few bytes.
    #[inline(always)]
    fn is_at(&self, s: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        rest.starts_with(s.as_bytes())
    }

    /// Reads `s` if it comes next, after blanks.
    #[inline(always)]
    pub(super) fn eat(&mut self, s: &str) -> bool {
        self.skip_blanks();
        self.eat_close(s)
    }

    /// Reads `s` if it comes next without blanks before it.
    #[inline(always)]
    pub(super) fn eat_close(&mut self, s: &str) -> bool {
        let seen = self.is_at(s);
        if seen {
            self.at += s.len();
        }
        seen
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, s: &str) -> Parsed<()> {
        if self.eat(s) { Ok(()) } else { self.missing(s) }
    }

    #[cold]
    fn missing(&mut self, s: &str) -> Parsed<()> {
        self.error(format!("expected `{s}`"))
    }

    /// Reads letters, digits and underscores, possibly none.
    pub(super) fn word(&mut self) -> &'a str {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let in_word = |b: &&u8| IN_WORD.get(usize::from(**b)).is_some_and(|w| *w);
        let n = rest.iter().take_while(in_word).count();
        let start = self.at;
        self.at += n;
        self.text.get(start..self.at).unwrap_or("")
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
        match decimal(self.word()) {
            Some(n) if n <= most => Ok(n),
            Some(n) => self.error_from(start, format!("{what} {n} is above {most}")),
            None => self.error_from(start, format!("expected {what}")),
        }
    }
}

/// Parses a decimal number of at least one digit that fits 32 bits.
#[inline]
pub(super) fn decimal(digits: &str) -> Option<u32> {
    let digit = |b: &u8| Some(u32::from(*b)).filter(|_| b.is_ascii_digit());
    let add = |n: u32, b: &u8| n.checked_mul(10)?.checked_add(digit(b)? - u32::from(b'0'));
    match digits.as_bytes() {
        [] => None,
        bytes => bytes.iter().try_fold(0, add),
    }
}
