//! Symbols and relocations of a zebin: addresses that a loader must fill in, and their locations.

use super::elf::{Header, err};
use super::{FunctionSymbol, Part, Relocation, Zebin, ZebinError};
use crate::limits::{Budget, Limits};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym};
use std::collections::HashMap;

/// Reads symbols and relocations into a zebin whose sections are there. `names` are those of the
/// ELF's sections, and `name_bytes` is the budget of other names.
pub(super) fn read(
    zebin: &mut Zebin,
    table: &SectionTable<'_, Header>,
    names: &[&str],
    le: LE,
    bytes: &[u8],
    name_bytes: &mut Budget,
    limits: &Limits,
) -> Result<(), ZebinError> {
    let by_name = PartsByName::new(zebin);
    let parts: Vec<Option<Part>> = names.iter().map(|n| by_name.section(n)).collect();
    let mut entries = Budget::new("symbols and relocations", limits.symbols);
    let symbols = table
        .symbols(le, bytes, elf::SHT_SYMTAB)
        .map_err(|e| err("ELF symbol table", e))?;
    entries.take(symbols.len())?;
    let mut name_of = |s: &<Header as FileHeader>::Sym| {
        let name = s
            .name(le, symbols.strings())
            .map_err(|e| err("ELF symbol name", e))?;
        name_bytes.take(name.len())?;
        Ok::<_, ZebinError>(String::from_utf8_lossy(name).into_owned())
    };
    let part_of = |s: &<Header as FileHeader>::Sym| {
        parts.get(usize::from(s.st_shndx(le).0)).copied().flatten()
    };
    for s in symbols.iter() {
        let Some(part @ (Part::Kernel(_) | Part::Function(_))) = part_of(s) else {
            continue;
        };
        let name = name_of(s)?;
        // `_entry` marks where a kernel starts after its prologue, which is no function.
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
                entries.take(list.len())?;
                list.iter()
                    .map(|r| (r.r_offset(le), r.r_type(le).0, 0, r.r_sym(le) as usize))
                    .collect()
            } else if let Some((list, _)) = s.rela(le, bytes).map_err(|e| err("relocations", e))? {
                entries.take(list.len())?;
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
                // Intel's compiler gives the symbol the section's name, and the number of another
                // section.
                let Ok(symbol) = symbols.symbol(object::SymbolIndex(index)) else {
                    continue;
                };
                let named = by_name.code(&name_of(symbol)?);
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

/// PartsByName of a module by name.
struct PartsByName(HashMap<String, Part>);

impl PartsByName {
    fn new(zebin: &Zebin) -> PartsByName {
        let kernels = zebin.kernels.iter().enumerate();
        let kernels = kernels.map(|(i, k)| (format!(".text.{}", k.name), Part::Kernel(i)));
        let functions = zebin.functions.iter().enumerate();
        let functions = functions.map(|(i, f)| (f.name.clone(), Part::Function(i)));
        let data = zebin.data.iter().enumerate();
        let data = data.map(|(i, d)| (d.name.clone(), Part::Data(i)));
        // Of functions with one name the first counts. It is inserted last.
        PartsByName(kernels.chain(functions.rev()).chain(data).collect())
    }

    /// Returns the part of an ELF section.
    fn section(&self, name: &str) -> Option<Part> {
        self.0.get(name).copied()
    }

    /// Returns the code that a section's name or a kernel's name refers to.
    fn code(&self, name: &str) -> Option<Part> {
        let section = self.section(name);
        section
            .or_else(|| self.section(&format!(".text.{name}")))
            .filter(|p| !matches!(p, Part::Data(_)))
    }
}

fn relocations_of(zebin: &mut Zebin, part: Part) -> Option<&mut Vec<Relocation>> {
    Some(match part {
        Part::Data(i) => &mut zebin.data.get_mut(i)?.relocations,
        Part::Function(i) => &mut zebin.functions.get_mut(i)?.relocations,
        Part::Kernel(i) => zebin.relocations.get_mut(i)?,
    })
}
