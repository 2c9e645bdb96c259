//! Source lines of code, from DWARF's line tables (`.debug_line`). The tables are read when first
//! asked for. Damaged tables have no lines, and cause no error.

use crate::limits::Budget;
use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, LittleEndian,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// Source location of an instruction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceLine {
    /// File name as the compiler was given it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
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

/// Line tables of a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LineInfo {
    /// `.debug_line`. An address in it is 1 + the index of a code section in bits 63:32, and an
    /// offset in that section in bits 31:0.
    line: Vec<u8>,
    /// `.debug_str` and `.debug_line_str`, which hold the file names of DWARF 5.
    strings: [Vec<u8>; 2],
    /// Limit on the bytes of all file names.
    name_bytes: usize,
    rows: OnceLock<LineRows>,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct LineRows {
    files: Vec<String>,
    /// LineRows sorted by code section and offset.
    rows: Vec<LineRow>,
}

/// Range of code that is of one line.
#[derive(Clone, PartialEq, Debug)]
struct LineRow {
    /// First address, in the form that [`LineInfo`] has.
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

    /// Fills in an address that a relocation of `.rela.debug_line` asks for.
    pub(super) fn relocate(&mut self, at: u64, code: usize, offset: u64) {
        let address = (code as u64 + 1) << 32 | offset & 0xffff_ffff;
        let place = usize::try_from(at)
            .ok()
            .and_then(|at| self.line.get_mut(at..)?.first_chunk_mut::<8>());
        if let Some(p) = place {
            *p = address.to_le_bytes();
        }
    }

    /// Returns the source line of the instruction at a byte offset in a code section. Code sections
    /// are numbered with kernels first, then the sections of functions.
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

    fn read(&self) -> LineRows {
        let mut out = LineRows::default();
        let section = DebugLine::new(&self.line, LittleEndian);
        let mut names = Budget::new("bytes of file names", self.name_bytes);
        let mut at = 0usize;
        while at < self.line.len() {
            let Ok(program) = section.program(DebugLineOffset(at), 8, None, None) else {
                break;
            };
            let header = program.header();
            // The length does not include its own field.
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

    /// Reads the rows of one table.
    fn table<'a>(
        &'a self,
        program: gimli::IncompleteLineProgram<Slice<'a>>,
        out: &mut LineRows,
        names: &mut Budget,
    ) {
        let mut files: HashMap<u64, usize> = HashMap::new();
        let mut last: Option<LineRow> = None;
        let mut rows = program.rows();
        while let Ok(Some((header, row))) = rows.next_row() {
            // An address without a relocation is in the first kernel.
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
            last = Some(LineRow {
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

    /// Returns a file's name, or an empty one if the names pass their limit.
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

    /// Builds a line table of DWARF 2 with two files of four bytes. Offsets 0 and 10 of the first
    /// code section have a line of each.
    fn table() -> Vec<u8> {
        let files = b"\0a.cl\0\0\0\0b.cl\0\0\0\0\0";
        // Steps are of one byte. Special opcodes begin at 10; DW_LNS_set_file is 4.
        let mut header = vec![1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1];
        header.extend(files);
        let mut program = vec![0, 9, 2];
        program.extend((1u64 << 32).to_le_bytes());
        // A row, then 10 bytes later one of file 2, then the end 10 bytes later.
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
