//! Source locations of instructions, and names of values for debuggers.

use super::entities::{SourceFile, Value};
use super::function::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Location in a source text: a file of the module, a line and a column. Kept small, since most
/// instructions have one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceLoc {
    /// Line, from 1; 0 for no location.
    line: u32,
    column: u16,
    file: u16,
}

impl SourceLoc {
    /// No location.
    pub const NONE: SourceLoc = SourceLoc {
        line: 0,
        column: 0,
        file: 0,
    };

    /// Maximum number of source files of a module.
    pub const MOST_FILES: usize = u16::MAX as usize;

    /// Makes a location from a line and a column, both from 1. Column 0 means the line alone, and
    /// line 0 means no location.
    pub fn new(file: SourceFile, line: u32, column: u16) -> SourceLoc {
        if line == 0 {
            return SourceLoc::NONE;
        }
        // Saturates, so that a file number that is too high names no file of any module.
        let file = u16::try_from(file.as_u32()).unwrap_or(u16::MAX);
        SourceLoc { line, column, file }
    }

    /// Returns true if there is no location.
    pub const fn is_none(self) -> bool {
        self.line == 0
    }

    /// Returns the file.
    pub fn file(self) -> SourceFile {
        SourceFile::from_u32(self.file.into())
    }

    /// Line, from 1.
    pub const fn line(self) -> u32 {
        self.line
    }

    /// Column, from 1; 0 if it is not known.
    pub const fn column(self) -> u16 {
        self.column
    }
}

/// Writes the text format: `@file0:12:5`, `@file0:12` without a column, nothing without a location.
impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return Ok(());
        }
        write!(f, "@{}:{}", self.file(), self.line)?;
        match self.column {
            0 => Ok(()),
            n => write!(f, ":{n}"),
        }
    }
}

impl fmt::Debug for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceLoc({self})")
    }
}

/// Location with the name of its file, as in messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// File name in the module.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u16,
}

/// Writes `saxpy.cl:12:5`, as compilers do.
impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.file.chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?
            } else {
                write!(f, "{c}")?
            }
        }
        write!(f, ":{}", self.line)?;
        match self.column {
            0 => Ok(()),
            n => write!(f, ":{n}"),
        }
    }
}

/// Names of values for a debugger. Several values may share a name, since a variable takes one
/// value after another. A value may have several names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueLabels(BTreeMap<String, BTreeSet<Value>>);

impl ValueLabels {
    /// Adds a name to a value.
    pub fn add(&mut self, name: &str, value: Value) {
        match self.0.get_mut(name) {
            Some(values) => {
                values.insert(value);
            }
            None => {
                self.0.insert(name.to_owned(), BTreeSet::from([value]));
            }
        }
    }

    /// Returns true if no value has a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the names in alphabetical order, each with its values in numeric order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Value> + Clone + '_)> {
        let all = self.0.iter();
        all.map(|(name, values)| (name.as_str(), values.iter().copied()))
    }

    /// Iterates over the names of a value.
    pub fn of(&self, value: Value) -> impl Iterator<Item = &str> {
        let all = self.0.iter();
        all.filter_map(move |(name, values)| values.contains(&value).then_some(name.as_str()))
    }

    /// Replaces every value by the result of `f`. Values without one lose their names.
    pub(crate) fn map_values(&mut self, mut f: impl FnMut(Value) -> Option<Value>) {
        for values in self.0.values_mut() {
            *values = values.iter().filter_map(|&v| f(v)).collect();
        }
        self.0.retain(|_, values| !values.is_empty());
    }
}

/// Source location that an error is about, as far as it is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Source location.
    pub loc: SourceLoc,
    /// Source location with the name of its file, once that is known.
    pub line: Option<Box<SourceLine>>,
}

impl Origin {
    /// Resolves a source location of a module.
    pub(crate) fn of(loc: SourceLoc, module: &Module) -> Origin {
        Origin {
            loc,
            line: module.source_line(loc).map(Box::new),
        }
    }
}

impl From<SourceLoc> for Origin {
    fn from(loc: SourceLoc) -> Origin {
        Origin { loc, line: None }
    }
}

/// Writes the suffix of an error message: ` (saxpy.cl:12:5)`, or nothing.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some(line) => write!(f, " ({line})"),
            None if self.loc.is_none() => Ok(()),
            None => write!(f, " ({})", self.loc),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_small_and_whole() {
        assert_eq!(size_of::<SourceLoc>(), 8);
        let file = SourceFile::from_u32;
        let loc = SourceLoc::new(file(3), u32::MAX, u16::MAX);
        let parts = (loc.file(), loc.line(), loc.column());
        assert_eq!(parts, (file(3), u32::MAX, u16::MAX));
        assert_eq!(SourceLoc::new(file(1), 12, 5).to_string(), "@file1:12:5");
        assert_eq!(SourceLoc::new(file(1), 12, 0).to_string(), "@file1:12");
        assert_eq!(SourceLoc::new(file(1), 0, 5), SourceLoc::NONE);
        assert_eq!(SourceLoc::new(file(70_000), 1, 0).file(), file(65_535));
    }

    #[test]
    fn names_follow_their_values() {
        let v = Value::from_u32;
        let mut labels = ValueLabels::default();
        for (name, n) in [("x", 1), ("x", 2), ("y", 2), ("z", 3)] {
            labels.add(name, v(n));
        }
        labels.map_values(|x| match x.as_u32() {
            3 => None,
            n => Some(v(n * 10)),
        });
        let all: Vec<(&str, Vec<Value>)> = labels.iter().map(|(n, x)| (n, x.collect())).collect();
        assert_eq!(all, [("x", vec![v(10), v(20)]), ("y", vec![v(20)])]);
        assert_eq!(labels.of(v(20)).collect::<Vec<_>>(), ["x", "y"]);
    }
}
