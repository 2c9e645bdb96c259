//! Symbols and relocations of a zebin: which addresses a loader must fill in, and where.

use super::elf::{Header, err};
use super::{FunctionSymbol, Part, Relocation, Zebin, ZebinError};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym};

/// Reads symbols and relocations into a zebin whose sections are there. `names`: of the ELF's sections.
pub(super) fn read(
    zebin: &mut Zebin,
    table: &SectionTable<'_, Header>,
    names: &[&str],
    le: LE,
    bytes: &[u8],
) -> Result<(), ZebinError> {
    let parts: Vec<Option<Part>> = names.iter().map(|n| part(zebin, n)).collect();
    let symbols = table
        .symbols(le, bytes, elf::SHT_SYMTAB)
        .map_err(|e| err("ELF symbol table", e))?;
    let name_of = |s: &<Header as FileHeader>::Sym| {
        s.name(le, symbols.strings())
            .map(|n| String::from_utf8_lossy(n).into_owned())
            .map_err(|e| err("ELF symbol name", e))
    };
    let part_of = |s: &<Header as FileHeader>::Sym| {
        parts.get(usize::from(s.st_shndx(le).0)).copied().flatten()
    };
    for s in symbols.iter() {
        let Some(part @ (Part::Kernel(_) | Part::Function(_))) = part_of(s) else {
            continue;
        };
        let name = name_of(s)?;
        // Where a kernel starts after its prologue is no function.
        if s.st_type() == elf::STT_FUNC && !name.is_empty() && name != "_entry" {
            zebin.symbols.push(FunctionSymbol {
                name,
                part,
                offset: s.st_value(le),
                size: s.st_size(le),
            });
        }
    }
    for (i, s) in table.iter().enumerate() {
        let rels: Vec<(u64, u32, i64, usize)> =
            if let Some((list, _)) = s.rel(le, bytes).map_err(|e| err("relocations", e))? {
                list.iter()
                    .map(|r| (r.r_offset(le), r.r_type(le).0, 0, r.r_sym(le) as usize))
                    .collect()
            } else if let Some((list, _)) = s.rela(le, bytes).map_err(|e| err("relocations", e))? {
                list.iter()
                    .map(|r| {
                        (
                            r.r_offset(le),
                            r.r_type(le, false).0,
                            r.r_addend(le),
                            r.r_sym(le, false) as usize,
                        )
                    })
                    .collect()
            } else {
                continue;
            };
        if names.get(s.sh_info(le) as usize) == Some(&".debug_line") {
            for (offset, _, addend, index) in rels {
                // Intel's compiler names the section as the symbol, with the number of another.
                let Ok(symbol) = symbols.symbol(object::SymbolIndex(index)) else {
                    continue;
                };
                let named = name_of(symbol).ok().and_then(|n| code_part(zebin, &n));
                if let Some(code) = named
                    .or_else(|| part_of(symbol))
                    .and_then(|p| zebin.code_index(p))
                {
                    let value = symbol.st_value(le).wrapping_add(addend as u64);
                    zebin.lines.relocate(offset, code, value);
                }
            }
            continue;
        }
        let Some(out) = parts
            .get(s.sh_info(le) as usize)
            .copied()
            .flatten()
            .and_then(|p| relocations_of(zebin, p))
        else {
            continue;
        };
        for (offset, ty, addend, index) in rels {
            let symbol = symbols
                .symbol(object::SymbolIndex(index))
                .map_err(|e| err(&format!("relocation section {i}"), e))?;
            out.push(Relocation {
                offset,
                ty,
                addend,
                symbol: name_of(symbol)?,
                target: part_of(symbol).map(|p| (p, symbol.st_value(le))),
            });
        }
    }
    Ok(())
}

/// Which part of the module an ELF section is.
fn part(zebin: &Zebin, section: &str) -> Option<Part> {
    if let Some(i) = zebin.data.iter().position(|d| d.name == section) {
        return Some(Part::Data(i));
    }
    section
        .starts_with(".text")
        .then(|| code_part(zebin, section))?
}

/// The part that a code section or a kernel's name names.
fn code_part(zebin: &Zebin, name: &str) -> Option<Part> {
    if let Some(i) = zebin.functions.iter().position(|f| f.name == name) {
        return Some(Part::Function(i));
    }
    let kernel = name.strip_prefix(".text.").unwrap_or(name);
    let i = zebin.kernels.iter().position(|k| k.name == kernel)?;
    Some(Part::Kernel(i))
}

fn relocations_of(zebin: &mut Zebin, part: Part) -> Option<&mut Vec<Relocation>> {
    Some(match part {
        Part::Data(i) => &mut zebin.data.get_mut(i)?.relocations,
        Part::Function(i) => &mut zebin.functions.get_mut(i)?.relocations,
        Part::Kernel(i) => zebin.relocations.get_mut(i)?,
    })
}
