//! The source lines of code: DWARF's line tables (`.debug_line`). They are read when first asked for, and damage in them
//! means no lines, not an error.

use crate::limits::Budget;
use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, LittleEndian,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// Where in a source text an instruction is from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            n => write!(f, ":{n}"),
        }
    }
}

/// The line tables of a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LineInfo {
    /// `.debug_line`, in which an address is 1 + the index of a code section in bits 63:32 and an offset in it below them.
    line: Vec<u8>,
    /// `.debug_str` and `.debug_line_str`, which DWARF 5 names files in.
    strings: [Vec<u8>; 2],
    /// What file names may take together, in bytes.
    name_bytes: usize,
    rows: OnceLock<Rows>,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct Rows {
    files: Vec<String>,
    /// By code section and offset.
    rows: Vec<Row>,
}

/// A run of code of one line.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    /// As an address of [`LineInfo`].
    begin: u64,
    end: u64,
    file: usize,
    line: u32,
    column: u32,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

impl LineInfo {
    pub(super) fn new(
        line: Vec<u8>,
        str: Vec<u8>,
        line_str: Vec<u8>,
        name_bytes: usize,
    ) -> LineInfo {
        LineInfo {
            line,
            strings: [str, line_str],
            name_bytes,
            rows: OnceLock::new(),
        }
    }

    /// Fills in an address: what `.rela.debug_line` asks for.
    pub(super) fn relocate(&mut self, at: u64, code: usize, offset: u64) {
        let address = (code as u64 + 1) << 32 | offset & 0xffff_ffff;
        let place = usize::try_from(at)
            .ok()
            .and_then(|at| self.line.get_mut(at..)?.first_chunk_mut::<8>());
        if let Some(p) = place {
            *p = address.to_le_bytes();
        }
    }

    /// The source line of the instruction at a byte offset in a code section, by its index: kernels first, then the sections
    /// of functions.
    pub fn find(&self, code: usize, offset: u32) -> Option<SourceLine> {
        let rows = self.rows.get_or_init(|| self.read());
        let address = (code as u64 + 1) << 32 | u64::from(offset);
        let after = rows.rows.partition_point(|r| r.begin <= address);
        let row = rows.rows.get(after.checked_sub(1)?)?;
        (address < row.end && row.line != 0).then(|| SourceLine {
            file: rows.files.get(row.file).cloned().unwrap_or_default(),
            line: row.line,
            column: row.column,
        })
    }

    fn read(&self) -> Rows {
        let mut out = Rows::default();
        let section = DebugLine::new(&self.line, LittleEndian);
        let mut names = Budget::new("bytes of file names", self.name_bytes);
        let mut at = 0usize;
        while at < self.line.len() {
            let Ok(program) = section.program(DebugLineOffset(at), 8, None, None) else {
                break;
            };
            let header = program.header();
            // The length, before which is its own field.
            let field = match header.format() {
                gimli::Format::Dwarf32 => 4,
                gimli::Format::Dwarf64 => 12,
            };
            let Some(next) = at.checked_add(header.unit_length() + field) else {
                break;
            };
            at = next;
            self.table(program, &mut out, &mut names);
        }
        out.rows.sort_by_key(|r| r.begin);
        out
    }

    /// The rows of one table.
    fn table<'a>(
        &'a self,
        program: gimli::IncompleteLineProgram<Slice<'a>>,
        out: &mut Rows,
        names: &mut Budget,
    ) {
        let mut files: HashMap<u64, usize> = HashMap::new();
        let mut last: Option<Row> = None;
        let mut rows = program.rows();
        while let Ok(Some((header, row))) = rows.next_row() {
            // Where no relocation said otherwise it is the first kernel's.
            let address = match row.address() {
                a if a >> 32 == 0 => a | 1 << 32,
                a => a,
            };
            if let Some(mut r) = last.take() {
                r.end = address;
                if r.begin < r.end {
                    out.rows.push(r);
                }
            }
            if row.end_sequence() {
                continue;
            }
            let index = row.file_index();
            let file = *files.entry(index).or_insert_with(|| {
                out.files.push(self.file_name(header, index, names));
                out.files.len() - 1
            });
            last = Some(Row {
                begin: address,
                end: address,
                file,
                line: row
                    .line()
                    .map_or(0, |l| u32::try_from(l.get()).unwrap_or(0)),
                column: match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(c) => u32::try_from(c.get()).unwrap_or(0),
                },
            });
        }
    }

    /// A file's name; empty where names take too much already.
    fn file_name<'a>(
        &'a self,
        header: &LineProgramHeader<Slice<'a>>,
        index: u64,
        names: &mut Budget,
    ) -> String {
        let mut text = |v: AttributeValue<Slice<'a>>| -> String {
            let [str, line_str] = &self.strings;
            let from = |s: &'a [u8], at: usize| {
                let rest = s.get(at..).unwrap_or_default();
                rest.split(|b| *b == 0).next().unwrap_or_default()
            };
            let bytes = match v {
                AttributeValue::String(s) => s.slice(),
                AttributeValue::DebugStrRef(at) => from(str, at.0),
                AttributeValue::DebugLineStrRef(at) => from(line_str, at.0),
                _ => &[],
            };
            if names.take(bytes.len()).is_err() {
                return String::new();
            }
            String::from_utf8_lossy(bytes).into_owned()
        };
        let Some(file) = header.file(index) else {
            return String::new();
        };
        let name = text(file.path_name());
        match file.directory(header).map(&mut text) {
            Some(dir) if !dir.is_empty() && !name.starts_with('/') => format!("{dir}/{name}"),
            _ => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line table of DWARF 2 with two files of four bytes, a line of each at offsets 0 and 10 of the first code section.
    fn table() -> Vec<u8> {
        let files = b"\0a.cl\0\0\0\0b.cl\0\0\0\0\0";
        // Steps of one byte; special opcodes from 10 on: DW_LNS_set_file is 4.
        let mut header = vec![1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1];
        header.extend(files);
        let mut program = vec![0, 9, 2];
        program.extend((1u64 << 32).to_le_bytes());
        // A row, then 10 bytes on another of file 2, then 10 bytes on the end.
        let on = 10 + 14 * 10 + 5;
        program.extend([10 + 5, 4, 2, on, 2, 10, 0, 1, 1]);
        let mut out = Vec::new();
        let length = 2 + 4 + header.len() + program.len();
        out.extend((length as u32).to_le_bytes());
        out.extend(2u16.to_le_bytes());
        out.extend((header.len() as u32).to_le_bytes());
        out.extend(header);
        out.extend(program);
        out
    }

    #[test]
    fn file_names_are_bounded() {
        let names = |name_bytes| {
            let lines = LineInfo::new(table(), Vec::new(), Vec::new(), name_bytes);
            [0, 9, 10, 20].map(|at| lines.find(0, at).map(|l| l.file))
        };
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(names(8), [some("a.cl"), some("a.cl"), some("b.cl"), None]);
        assert_eq!(names(7), [some("a.cl"), some("a.cl"), some(""), None]);
    }
}
