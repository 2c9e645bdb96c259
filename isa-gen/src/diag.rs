//! Located messages about text input, shown as rustc shows them.

use std::fmt;

/// A place in a text: line and column from 1, and how many columns to mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Line, from 1; 0 where there is none.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Characters to mark, at least 1.
    pub len: u32,
}

/// One located message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// What is wrong, a sentence without a final stop.
    pub message: String,
}

impl Diagnostic {
    /// A message at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            span,
            message: message.into(),
        }
    }

    /// The message with its source line and a mark under the columns.
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
        // Tabs stay tabs under the source line, so that the mark stands below its text.
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

/// Several diagnostics about one text; never empty when it is an error.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// All of them rendered, one after the other.
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
