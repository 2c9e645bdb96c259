//! Writers of Rust source. Each line they write ends in a comment that names the line of the
//! generator behind it.

use std::fmt::Write as _;
use std::panic::Location;

mod compact;
mod isa;
mod layouts;
mod timing;
mod xe;

pub use isa::{WriteError, isa_tables};

/// Builds generated source, line by line.
#[derive(Default)]
pub struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    /// Adds a line, with the caller's place as its comment.
    #[track_caller]
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.line_at(text, Location::caller());
    }

    /// Adds a line, with the given place as its comment.
    pub fn line_at(&mut self, text: impl AsRef<str>, at: &Location<'_>) {
        let text = text.as_ref();
        if text.starts_with(['}', ']', ')']) {
            self.depth = self.depth.saturating_sub(1);
        }
        let indent = self.depth * 4;
        // A doc comment would take the place into the documentation.
        if text.starts_with("///") {
            let _ = writeln!(self.out, "{:indent$}{text}", "");
        } else {
            let _ = writeln!(
                self.out,
                "{:indent$}{text} // {}:{}",
                "",
                at.file(),
                at.line()
            );
        }
        if text.ends_with(['{', '[', '(']) {
            self.depth += 1;
        }
    }

    /// The source written so far.
    pub fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_names_its_writer() {
        let mut w = super::Writer::default();
        w.line("fn f() {");
        w.line("}");
        let s = w.finish();
        assert!(s.starts_with("fn f() { // "), "{s}");
        assert!(s.contains("mod.rs:"), "{s}");
    }
}
