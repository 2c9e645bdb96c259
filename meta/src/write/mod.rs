//! Writers of Rust source. Each generated line ends in a comment with the line of the generator
//! that wrote it.

use std::fmt::Write as _;
use std::panic::Location;

mod compact;
mod isa;
mod layouts;
mod messages;
mod timing;
mod types;
mod xe;

pub use isa::{WriteError, isa_codecs, isa_tables};
pub use messages::{message_codec, message_listing, message_ops};
pub use types::isa_types;

/// Writer that builds source line by line.
#[derive(Default)]
pub struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    /// Adds a line, with the caller's location as its comment.
    #[track_caller]
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.line_at(text, Location::caller());
    }

    /// Adds a line, with the given location as its comment.
    pub fn line_at(&mut self, text: impl AsRef<str>, at: &Location<'_>) {
        let text = text.as_ref();
        if text.starts_with(['}', ']', ')']) {
            self.depth = self.depth.saturating_sub(1);
        }
        let indent = self.depth * 4;
        // The location would become part of a doc comment.
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

    /// Returns the source written so far.
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
