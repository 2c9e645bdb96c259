//! Padded columns as IGA's printer lays them out: a column that overflows takes the padding of later ones.

use std::fmt::Write as _;

/// One line being laid out.
#[derive(Default)]
pub(super) struct Line {
    out: String,
    column: Option<usize>,
    used: usize,
    debt: usize,
}

impl Line {
    /// Starts a column of this width.
    pub(super) fn start(&mut self, width: usize) {
        self.column = Some(width);
        self.used = 0;
    }

    /// Ends the column, padding it.
    pub(super) fn finish(&mut self) {
        let width = self.column.take().unwrap_or(self.used);
        if self.used <= width {
            let pad = width - self.used;
            let paid = pad.min(self.debt);
            self.debt -= paid;
            self.spaces(pad - paid);
        } else {
            self.debt += self.used - width;
        }
        self.used = 0;
    }

    /// Text that counts towards the column's width.
    pub(super) fn put(&mut self, s: &str) {
        self.out.push_str(s);
        self.used += s.len();
    }

    /// As [`Line::put`], formatted.
    pub(super) fn fmt(&mut self, args: std::fmt::Arguments<'_>) {
        let before = self.out.len();
        let _ = self.out.write_fmt(args);
        self.used += self.out.len() - before;
    }

    /// Text that takes no part in the column's width: immediates and labels, as IGA has it.
    pub(super) fn uncounted(&mut self, s: &str) {
        self.out.push_str(s);
    }

    /// Blanks.
    pub(super) fn spaces(&mut self, n: usize) {
        let _ = write!(self.out, "{:n$}", "");
        self.used += n;
    }

    /// The line, without its end.
    pub(super) fn done(self) -> String {
        self.out
    }
}
