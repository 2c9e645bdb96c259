//! Writer of the container.

use crate::error::WriteError;
use crate::names::{
    BINDINGS, COMPAT, DataKind, MACHINE, RelocationType, SectionType, ZE_INFO, code_section,
};
use object::write::elf::{FileHeader, Rel, SectionHeader, SectionIndex, Sym, Writer};
use object::{Endianness, elf};
use std::borrow::Cow;

/// ELF file to write. Its parts follow each other in the file as they do here.
#[derive(Clone, Debug, Default)]
pub struct Image<'a> {
    /// Sections.
    pub sections: Vec<Section<'a>>,
    /// Symbols, local ones first. Without them there is no symbol table, and no relocation.
    pub symbols: Option<Vec<Symbol<'a>>>,
    /// Relocations, a table for each section that has some.
    pub relocations: Vec<Relocations>,
}

/// Section to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section<'a> {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: SectionType,
    /// Flags of ELF.
    flags: elf::SectionFlags,
    /// Alignment in bytes.
    pub align: u64,
    /// Contents.
    pub bytes: Cow<'a, [u8]>,
    /// Size in bytes in the section's header.
    pub size: u64,
}

impl<'a> Section<'a> {
    /// Creates a section with contents.
    pub fn new(name: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Section<'a> {
        let bytes = bytes.into();
        Section {
            name: name.into(),
            ty: SectionType::ProgBits,
            flags: elf::SectionFlags(0),
            align: 1,
            size: bytes.len() as u64,
            bytes,
        }
    }

    /// Creates a section of zeros that are not in the file, of a size in bytes.
    pub fn zeros(name: impl Into<String>, size: u64) -> Section<'a> {
        Section {
            ty: SectionType::NoBits,
            size,
            ..Section::new(name, Vec::new())
        }
    }

    /// Creates the section of a kernel's code.
    pub fn code(kernel: &str, code: impl Into<Cow<'a, [u8]>>) -> Section<'a> {
        Section {
            flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
            align: 64,
            ..Section::new(code_section(kernel), code)
        }
    }

    /// Creates a section of data, which kernels may write or not.
    pub fn data(
        kind: DataKind,
        align: u64,
        written: bool,
        bytes: impl Into<Cow<'a, [u8]>>,
    ) -> Section<'a> {
        Section {
            flags: if written {
                elf::SHF_ALLOC | elf::SHF_WRITE
            } else {
                elf::SHF_ALLOC
            },
            align,
            ..Section::new(kind.name(), bytes)
        }
    }

    /// Creates `.ze_info`.
    pub fn ze_info(text: &'a str) -> Section<'a> {
        Section {
            ty: SectionType::ZeInfo,
            ..Section::new(ZE_INFO, text.as_bytes())
        }
    }

    /// Creates the section of the notes of compatibility.
    pub fn compat(notes: impl Into<Cow<'a, [u8]>>) -> Section<'a> {
        Section::note(COMPAT, notes)
    }

    /// Creates the section of the note of bindings.
    pub fn bindings(notes: impl Into<Cow<'a, [u8]>>) -> Section<'a> {
        Section::note(BINDINGS, notes)
    }

    fn note(name: &str, notes: impl Into<Cow<'a, [u8]>>) -> Section<'a> {
        Section {
            ty: SectionType::Note,
            align: 4,
            ..Section::new(name, notes)
        }
    }
}

/// Symbol to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// Name.
    pub name: &'a str,
    /// Index of its section in [`Image::sections`]; `None` where it is in another module.
    pub section: Option<usize>,
    /// True for a function, false for data.
    pub function: bool,
    /// True if other modules may link to it. Intel's driver takes global functions for functions
    /// that others call, and aborts if several kernels have them.
    pub global: bool,
    /// Bytes from the section's start.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// Relocations of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocations {
    /// Index of the section in [`Image::sections`].
    pub section: usize,
    /// True if addends are in the table (`SHT_RELA`), false if they are at their places
    /// (`SHT_REL`).
    pub addends: bool,
    /// Relocations.
    pub entries: Vec<Relocation>,
}

/// Relocation to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Bytes from the section's start.
    pub offset: u64,
    /// Index of the symbol in [`Image::symbols`].
    pub symbol: usize,
    /// Type.
    pub ty: RelocationType,
    /// Number added to the symbol's address, if the table has addends.
    pub addend: i64,
}

impl Image<'_> {
    /// Writes the file.
    ///
    /// # Errors
    /// Sizes that ELF cannot represent.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        let fail = |e: object::write::Error| WriteError(e.to_string());
        let relocation_names: Vec<Vec<u8>> =
            self.relocations.iter().map(|r| self.name(r)).collect();
        let mut buffer = Vec::new();
        let mut w = Writer::new(Endianness::Little, true, &mut buffer);
        w.reserve_file_header();
        w.reserve_null_section_index();
        let placed: Vec<_> = self
            .sections
            .iter()
            .map(|s| {
                let name = w.add_section_name(s.name.as_bytes());
                let index = w.reserve_section_index();
                (name, index, w.reserve(s.bytes.len() as u64, s.align))
            })
            .collect();
        let tables: Vec<_> = self
            .relocations
            .iter()
            .zip(&relocation_names)
            .map(|(r, name)| {
                let name = w.add_section_name(name);
                w.reserve_section_index();
                (name, w.reserve_relocations(r.entries.len(), r.addends))
            })
            .collect();
        let index_of = |section: Option<usize>| placed.get(section?).map(|p| p.1);
        let symbols = self.symbols.as_deref().unwrap_or(&[]);
        let mut placed_symbols = Vec::new();
        if self.symbols.is_some() {
            w.reserve_null_symbol_index();
            placed_symbols.extend(symbols.iter().map(|s| {
                let name = w.add_string(s.name.as_bytes());
                (name, w.reserve_symbol_index(index_of(s.section)))
            }));
            w.reserve_symtab_section_index();
            w.reserve_symtab();
            w.reserve_strtab_section_index();
            w.reserve_strtab().map_err(fail)?;
        }
        w.reserve_shstrtab_section_index();
        w.reserve_shstrtab().map_err(fail)?;
        w.reserve_section_headers();
        w.write_file_header(&FileHeader {
            os_abi: elf::OsAbi(0),
            abi_version: 0,
            e_type: elf::ET_REL,
            e_machine: elf::Machine(MACHINE),
            e_entry: 0,
            e_flags: elf::FileFlags(0),
        })
        .map_err(fail)?;
        for s in &self.sections {
            w.write_align(s.align);
            w.write(&s.bytes);
        }
        for r in &self.relocations {
            w.write_align_relocation();
            for e in &r.entries {
                let symbol = placed_symbols.get(e.symbol);
                w.write_relocation(
                    r.addends,
                    &Rel {
                        r_offset: e.offset,
                        r_sym: symbol.map_or(0, |s| s.1.0),
                        r_type: elf::RelocationType(e.ty.number()),
                        r_addend: e.addend,
                    },
                );
            }
        }
        if self.symbols.is_some() {
            w.write_null_symbol();
            for (s, (name, _)) in symbols.iter().zip(&placed_symbols) {
                let binding = if s.global {
                    elf::STB_GLOBAL
                } else {
                    elf::STB_LOCAL
                };
                let ty = if s.function {
                    elf::STT_FUNC
                } else {
                    elf::STT_OBJECT
                };
                let st_name = w.string_offset(Some(*name));
                w.write_symbol(&Sym {
                    section: index_of(s.section).map(|i| i.0),
                    st_name,
                    st_info: elf::SymbolInfo::new(binding, ty),
                    st_other: elf::SymbolOther(0),
                    st_shndx: elf::SymbolSection(0),
                    st_value: s.offset,
                    st_size: s.size,
                });
            }
            w.write_strtab();
        }
        w.write_shstrtab();
        w.write_null_section_header();
        for (s, (name, _, offset)) in self.sections.iter().zip(&placed) {
            let sh_name = w.section_name_offset(Some(*name));
            w.write_section_header(&SectionHeader {
                sh_name,
                sh_type: elf::SectionType(s.ty.number()),
                sh_flags: s.flags,
                sh_addr: 0,
                sh_offset: *offset,
                sh_size: s.size,
                sh_link: 0,
                sh_info: 0,
                sh_addralign: s.align,
                sh_entsize: 0,
            });
        }
        let symtab = w.symtab_index();
        for (r, (name, offset)) in self.relocations.iter().zip(&tables) {
            let section = index_of(Some(r.section)).unwrap_or(SectionIndex(0));
            let count = r.entries.len();
            w.write_relocation_section_header(*name, section, symtab, *offset, count, r.addends);
        }
        if self.symbols.is_some() {
            let locals = symbols.iter().take_while(|s| !s.global).count();
            w.write_symtab_section_header(1 + locals as u32);
            w.write_strtab_section_header();
        }
        w.write_shstrtab_section_header();
        drop(w);
        Ok(buffer)
    }

    /// Returns the name of a table of relocations.
    fn name(&self, r: &Relocations) -> Vec<u8> {
        let of = self.sections.get(r.section).map_or("", |s| &s.name);
        let prefix = if r.addends { ".rela" } else { ".rel" };
        [prefix, of].concat().into_bytes()
    }
}
