//! Source locations beside code, by runs: code without locations takes no space for them and code
//! with them takes little.

use crate::ir::SourceLoc;

/// Source locations of a sequence of items, as runs of items with the same location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SrcLocs {
    /// First item of each run and its location, which differs from that of the run before. Items
    /// before the first run have no location.
    runs: Vec<(u32, SourceLoc)>,
}

impl SrcLocs {
    /// Sets the location of the items from `at` on. Forgets locations of later items.
    pub(crate) fn push(&mut self, at: usize, loc: SourceLoc) {
        let at = at as u32;
        while self.runs.last().is_some_and(|r| r.0 >= at) {
            self.runs.pop();
        }
        if self.runs.last().map_or(SourceLoc::NONE, |r| r.1) != loc {
            self.runs.push((at, loc));
        }
    }

    /// Returns the location of an item.
    pub fn get(&self, at: usize) -> SourceLoc {
        let after = self.runs.partition_point(|r| r.0 as usize <= at);
        let run = after.checked_sub(1).and_then(|n| self.runs.get(n));
        run.map_or(SourceLoc::NONE, |r| r.1)
    }

    /// Returns the first item of each run, and the location of the run.
    pub fn runs(&self) -> impl Iterator<Item = (usize, SourceLoc)> + '_ {
        self.runs.iter().map(|&(at, loc)| (at as usize, loc))
    }

    /// Returns a cursor, for reading in order.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            runs: &self.runs,
            loc: SourceLoc::NONE,
        }
    }
}

/// Reads locations of items in order.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    /// Runs that begin later.
    runs: &'a [(u32, SourceLoc)],
    loc: SourceLoc,
}

impl Cursor<'_> {
    /// Returns the location of an item, which must not be before the last one read.
    pub(crate) fn at(&mut self, at: usize) -> SourceLoc {
        while let Some(((first, loc), rest)) = self.runs.split_first()
            && *first as usize <= at
        {
            (self.loc, self.runs) = (*loc, rest);
        }
        self.loc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::SourceFile;

    #[test]
    fn runs_are_merged_and_replaced() {
        let line = |n| SourceLoc::new(SourceFile::from_u32(0), n, 0);
        let mut s = SrcLocs::default();
        s.push(0, SourceLoc::NONE);
        s.push(5, SourceLoc::NONE);
        assert!(s.runs.is_empty());
        for (at, n) in [(6, 1), (7, 1), (8, 2), (8, 1), (9, 3), (9, 4), (12, 0)] {
            s.push(at, line(n));
        }
        let want = [(6, line(1)), (9, line(4)), (12, SourceLoc::NONE)];
        assert_eq!(s.runs().collect::<Vec<_>>(), want);
        let mut cursor = s.cursor();
        for at in 0..15 {
            let n = match at {
                6..9 => 1,
                9..12 => 4,
                _ => 0,
            };
            assert_eq!(s.get(at), line(n), "{at}");
            assert_eq!(cursor.at(at), line(n), "{at}");
        }
        // An item was taken back.
        s.push(8, line(1));
        assert_eq!(s.runs().collect::<Vec<_>>(), [(6, line(1))]);
    }
}
