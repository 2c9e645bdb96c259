//! Reader of the container.

use crate::error::ZebinError;
use crate::limits::{Budget, Limits};
use crate::names::{COMPAT, MACHINE, SectionType, ZE_INFO};
use crate::note::Compat;
use gantry_isa_gen::Platform;
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

type Header = elf::FileHeader64<LE>;
type RawSymbol = <Header as FileHeader>::Sym;

/// ELF file that was read. Its symbols are read as they are asked for.
#[derive(Debug)]
pub struct File<'a> {
    /// Sections in their order.
    pub sections: Vec<FoundSection<'a>>,
    bytes: &'a [u8],
    table: SectionTable<'a, Header>,
    le: LE,
    /// Budget of the bytes of names.
    names: Budget,
    /// Budget of symbols and relocations.
    entries: Budget,
    symbols: Option<SymbolTable<'a, Header>>,
}

/// Section of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundSection<'a> {
    /// Name. What is not UTF-8 is replaced.
    pub name: Cow<'a, str>,
    /// Type, which need not be one of [`SectionType`].
    pub ty: u32,
    /// Byte range in the file. It is empty for sections that are not there.
    pub range: Range<usize>,
    /// Contents.
    pub content: &'a [u8],
    /// Size in the section's header.
    pub size: u64,
}

impl FoundSection<'_> {
    /// Returns true if the section's type is this one.
    pub fn is(&self, ty: SectionType) -> bool {
        self.ty == ty.number()
    }
}

/// Symbol of a file, without its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundSymbol {
    /// Index in the symbol table.
    pub index: usize,
    /// Index of its section. Special numbers of ELF are kept.
    pub section: usize,
    /// True for a function.
    pub function: bool,
    /// Bytes from the section's start.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// Table of relocations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundRelocations {
    /// Index of the section that they are in, where there is one.
    pub section: usize,
    /// Relocations.
    pub entries: Vec<FoundRelocation>,
}

/// Relocation of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundRelocation {
    /// Bytes from the section's start.
    pub offset: u64,
    /// Type, which need not be one of [`RelocationType`](crate::names::RelocationType).
    pub ty: u32,
    /// Addend in the table; 0 in tables without.
    pub addend: i64,
    /// Index of the symbol.
    pub symbol: usize,
}

fn beyond_end(section: &str) -> ZebinError {
    ZebinError::new(format!("section {section} lies beyond the end of the file"))
}

impl<'a> File<'a> {
    /// Reads the header and the sections.
    ///
    /// # Errors
    /// The bytes are no ELF file for Gen, or a section is out of bounds. A limit is passed.
    pub fn read(bytes: &'a [u8], limits: &Limits) -> Result<File<'a>, ZebinError> {
        if !bytes.starts_with(&elf::ELFMAG) {
            return Err(ZebinError::new("no ELF header"));
        }
        let header = Header::parse(bytes).map_err(|e| ZebinError::of("ELF header", e))?;
        let le = header
            .endian()
            .map_err(|e| ZebinError::of("ELF header", e))?;
        let machine = header.e_machine(le);
        if machine.0 != MACHINE {
            return Err(ZebinError::new(format!(
                "ELF machine is {}, not {MACHINE} (Intel GT)",
                machine.0
            )));
        }
        let table = header
            .sections(le, bytes)
            .map_err(|e| ZebinError::of("ELF section table", e))?;
        let mut names = Budget::new("bytes of names", limits.name_bytes);
        let mut sections = Vec::new();
        for (i, s) in table.iter().enumerate() {
            let name = table
                .section_name(le, s)
                .map_err(|e| ZebinError::of(&format!("name of ELF section {i}"), e))?;
            names.take(name.len())?;
            let name = String::from_utf8_lossy(name);
            let range = match s.file_range(le) {
                None => 0..0,
                Some((offset, size)) => offset
                    .checked_add(size)
                    .filter(|&end| end <= bytes.len() as u64)
                    .map(|end| offset as usize..end as usize)
                    .ok_or_else(|| beyond_end(&name))?,
            };
            let content = bytes.get(range.clone());
            let content = content.ok_or_else(|| beyond_end(&name))?;
            sections.push(FoundSection {
                name,
                ty: s.sh_type(le).0,
                range,
                content,
                size: s.sh_size(le),
            });
        }
        Ok(File {
            sections,
            bytes,
            table,
            le,
            names,
            entries: Budget::new("symbols and relocations", limits.symbols),
            symbols: None,
        })
    }

    /// Returns the sections by name. Of those with one name the first counts.
    pub fn by_name(&self) -> HashMap<&str, &FoundSection<'a>> {
        let mut by_name = HashMap::new();
        for s in &self.sections {
            by_name.entry(&*s.name).or_insert(s);
        }
        by_name
    }

    /// Reads the notes of compatibility.
    ///
    /// # Errors
    /// The notes are missing or damaged.
    pub fn compat(&self) -> Result<Compat, ZebinError> {
        let section = self.sections.iter().find(|s| s.name == COMPAT);
        let section = section.ok_or_else(|| ZebinError::new(format!("no {COMPAT} section")))?;
        Compat::read(section.content)
    }

    /// Returns the platform that the zebin is for.
    ///
    /// # Errors
    /// The notes of compatibility are missing or damaged, or name no platform known here.
    pub fn platform(&self) -> Result<Platform, ZebinError> {
        Ok(self.compat()?.platform()?.1)
    }

    /// Returns the text of `.ze_info`.
    ///
    /// # Errors
    /// There is no such section, or its text is not UTF-8.
    pub fn ze_info(&self) -> Result<&'a str, ZebinError> {
        let mut sections = self.sections.iter();
        let section = sections
            .find(|s| s.is(SectionType::ZeInfo) || s.name == ZE_INFO)
            .ok_or_else(|| ZebinError::new(format!("no {ZE_INFO} section")))?;
        let text = std::str::from_utf8(section.content).map_err(|e| ZebinError::of(ZE_INFO, e))?;
        // Writers may end the section with a NUL.
        Ok(text.trim_end_matches('\0'))
    }

    /// Reads the symbols.
    ///
    /// # Errors
    /// The symbol table is damaged, or a limit is passed.
    pub fn symbols(&mut self) -> Result<Vec<FoundSymbol>, ZebinError> {
        let symbols = self
            .table
            .symbols(self.le, self.bytes, elf::SHT_SYMTAB)
            .map_err(|e| ZebinError::of("ELF symbol table", e))?;
        self.entries.take(symbols.len())?;
        let all = symbols.iter().enumerate();
        let all = all.map(|(i, s)| self.found(i, s)).collect();
        self.symbols = Some(symbols);
        Ok(all)
    }

    fn found(&self, index: usize, s: &RawSymbol) -> FoundSymbol {
        FoundSymbol {
            index,
            section: usize::from(s.st_shndx(self.le).0),
            function: s.st_type() == elf::STT_FUNC,
            offset: s.st_value(self.le),
            size: s.st_size(self.le),
        }
    }

    /// Returns a symbol by its index. `part` is what names it, for messages.
    ///
    /// # Errors
    /// There is no such symbol.
    pub fn symbol(&self, part: &str, index: usize) -> Result<FoundSymbol, ZebinError> {
        let Some(symbols) = &self.symbols else {
            return Err(ZebinError::new("no symbols were read"));
        };
        let raw = symbols.symbol(object::SymbolIndex(index));
        let raw = raw.map_err(|e| ZebinError::of(part, e))?;
        Ok(self.found(index, raw))
    }

    /// Returns the name of a symbol. What is not UTF-8 is replaced.
    ///
    /// # Errors
    /// The name is out of bounds, or a limit is passed.
    pub fn symbol_name(&mut self, symbol: usize) -> Result<String, ZebinError> {
        let Some(symbols) = &self.symbols else {
            return Err(ZebinError::new("no symbols were read"));
        };
        let fail = |e| ZebinError::of("ELF symbol name", e);
        let raw = symbols.symbol(object::SymbolIndex(symbol)).map_err(fail)?;
        let name = raw.name(self.le, symbols.strings()).map_err(fail)?;
        self.names.take(name.len())?;
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    /// Reads the relocations that a section holds, if it holds some.
    ///
    /// # Errors
    /// The table is damaged, or a limit is passed.
    pub fn relocations(&mut self, section: usize) -> Result<Option<FoundRelocations>, ZebinError> {
        let (le, fail) = (self.le, |e| ZebinError::of("relocations", e));
        let Ok(s) = self.table.section(object::SectionIndex(section)) else {
            return Ok(None);
        };
        let entries: Vec<FoundRelocation> =
            if let Some((list, _)) = s.rel(le, self.bytes).map_err(fail)? {
                self.entries.take(list.len())?;
                let all = list.iter().map(|r| FoundRelocation {
                    offset: r.r_offset(le),
                    ty: r.r_type(le).0,
                    addend: 0,
                    symbol: r.r_sym(le) as usize,
                });
                all.collect()
            } else if let Some((list, _)) = s.rela(le, self.bytes).map_err(fail)? {
                self.entries.take(list.len())?;
                let all = list.iter().map(|r| FoundRelocation {
                    offset: r.r_offset(le),
                    ty: r.r_type(le, false).0,
                    addend: r.r_addend(le),
                    symbol: r.r_sym(le, false) as usize,
                });
                all.collect()
            } else {
                return Ok(None);
            };
        Ok(Some(FoundRelocations {
            section: s.sh_info(le) as usize,
            entries,
        }))
    }
}
