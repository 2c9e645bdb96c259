//! Padded columns in the layout of IGA's printer: a column that overflows consumes the padding of
//! later ones.

use std::fmt::Write as _;

const BLANKS: &str = "                                                                ";

/// Line under construction at the end of a text.
pub(super) struct Line<'a> {
    out: &'a mut String,
    column: Option<usize>,
    used: usize,
    debt: usize,
}

impl<'a> Line<'a> {
    /// Starts a line at the end of the text.
    pub(super) fn new(out: &'a mut String) -> Self {
        Line {
            out,
            column: None,
            used: 0,
            debt: 0,
        }
    }

    /// Starts a column of this width.
    pub(super) fn start(&mut self, width: usize) {
        self.column = Some(width);
        self.used = 0;
    }

    /// Ends the column and pads it.
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

    /// Appends text that counts towards the column's width. Inlined, so that a constant becomes a
    /// store or two.
    #[inline(always)]
    pub(super) fn put(&mut self, s: &str) {
        self.out.push_str(s);
        self.used += s.len();
    }

    /// Appends a decimal number that counts towards the column's width.
    pub(super) fn number(&mut self, n: u32) {
        match n {
            0..10 => self.digit(n),
            10..100 => {
                self.digit(n / 10);
                self.digit(n % 10);
            }
            _ => {
                self.number(n / 100);
                self.digit(n / 10 % 10);
                self.digit(n % 10);
            }
        }
    }

    #[inline(always)]
    fn digit(&mut self, n: u32) {
        self.out.push(char::from(b'0' + (n % 10) as u8));
        self.used += 1;
    }

    /// Appends formatted text like [`Line::put`].
    pub(super) fn fmt(&mut self, args: std::fmt::Arguments<'_>) {
        let before = self.out.len();
        let _ = self.out.write_fmt(args);
        self.used += self.out.len() - before;
    }

    /// Appends text that does not count towards the column's width: immediates and labels, as in
    /// IGA.
    pub(super) fn uncounted(&mut self, s: &str) {
        self.out.push_str(s);
    }

    /// Appends formatted text like [`Line::uncounted`].
    pub(super) fn fmt_uncounted(&mut self, args: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(args);
    }

    /// Appends blanks.
    pub(super) fn spaces(&mut self, n: usize) {
        let mut rest = n;
        while rest > 0 {
            let some = rest.min(BLANKS.len());
            self.out.push_str(BLANKS.get(..some).unwrap_or_default());
            rest -= some;
        }
        self.used += n;
    }
}
