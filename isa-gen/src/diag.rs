//! Diagnostics about text input, rendered as rustc renders them.

use std::fmt;

/// Number of things, as messages have it: `1 byte`, `2 bytes`.
///
/// ```
/// use gantry_isa_gen::diag::{Are, Count};
/// let said = [0, 1, 2].map(|n| Count(n, "byte").to_string());
/// assert_eq!(said, ["0 bytes", "1 byte", "2 bytes"]);
/// assert_eq!([1, 2].map(|n| Are(n).to_string()), ["1 is", "2 are"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count<N>(
    /// Number.
    pub N,
    /// Word for one of them, whose plural ends in `s`.
    pub &'static str,
);

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == N::from(1) { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// Number of things as the subject of a sentence: `1 is`, `2 are`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Are<N>(
    /// Number.
    pub N,
);

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Are<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.0 == N::from(1) { "is" } else { "are" };
        write!(f, "{} {verb}", self.0)
    }
}

/// Span of text: line, column and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Line, from 1, or 0 for a diagnostic without a line.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Number of characters to mark, at least 1.
    pub len: u32,
}

/// Diagnostic: a message about a span of the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Span that the message is about.
    pub span: Span,
    /// Description of the error: a sentence without a full stop.
    pub message: String,
}

impl Diagnostic {
    /// Creates a diagnostic about a span.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            span,
            message: message.into(),
        }
    }

    /// Renders the message with its source line and a mark under the span.
    ///
    /// ```
    /// use gantry_isa_gen::diag::{Diagnostic, Span};
    /// let d = Diagnostic::new(Span { line: 2, col: 3, len: 4 }, "unknown opcode `fooo`");
    /// assert_eq!(
    ///     d.render("k.asm", "nop\n  fooo (8|M0)\n"),
    ///     "error: unknown opcode `fooo`\n --> k.asm:2:3\n  |\n2 |   fooo (8|M0)\n  |   ^^^^\n",
    /// );
    /// ```
    pub fn render(&self, path: &str, source: &str) -> String {
        let Span { line, col, len } = self.span;
        if line == 0 {
            return format!("error: {}\n --> {path}\n", self.message);
        }
        let text = source.lines().nth(line as usize - 1).unwrap_or("");
        let gutter = line.to_string().len();
        // Tabs are kept as tabs, so that the mark lines up with the source line.
        let lead: String = text
            .chars()
            .chain(std::iter::repeat(' '))
            .take(col.saturating_sub(1) as usize)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!(
            "error: {}\n{:gutter$}--> {path}:{line}:{col}\n{:gutter$} |\n{line} | {text}\n{:gutter$} | {lead}{}\n",
            self.message,
            "",
            "",
            "",
            "^".repeat(len.max(1) as usize),
        )
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.span.line, self.span.col, self.message)
    }
}

/// Diagnostics about one text, never empty when returned as an error.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Renders all diagnostics, one after the other.
    pub fn render(&self, path: &str, source: &str) -> String {
        self.0.iter().map(|d| d.render(path, source)).collect()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            d.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
