//! Symbols and relocations of a zebin: addresses that a loader must fill in, and their locations.

use super::{FunctionSymbol, ModulePart, Relocation, Zebin};
use gantry_zebin::ZebinError;
use gantry_zebin::elf::{File, FoundSymbol};
use gantry_zebin::names;
use std::collections::HashMap;

/// Reads symbols and relocations into a zebin whose sections are there.
pub(super) fn read(zebin: &mut Zebin, file: &mut File<'_>) -> Result<(), ZebinError> {
    let by_name = PartsByName::new(zebin);
    let parts = file.sections.iter().map(|s| by_name.section(&s.name));
    let parts: Vec<Option<ModulePart>> = parts.collect();
    let part_of = |s: &FoundSymbol| parts.get(s.section).copied().flatten();
    for s in file.symbols()? {
        let Some(part @ (ModulePart::Kernel(_) | ModulePart::Function(_))) = part_of(&s) else {
            continue;
        };
        let name = file.symbol_name(s.index)?;
        if s.function && !name.is_empty() && name != names::ENTRY {
            zebin.symbols.push(FunctionSymbol {
                name,
                part,
                offset: s.offset,
                size: s.size,
            });
        }
    }
    for i in 0..file.sections.len() {
        let Some(table) = file.relocations(i)? else {
            continue;
        };
        let section = file.sections.get(table.section);
        if section.is_some_and(|s| s.name == names::DEBUG_LINE) {
            for r in table.entries {
                // Intel's compiler gives the symbol the section's name, and the number of another
                // section.
                let Ok(symbol) = file.symbol(names::DEBUG_LINE, r.symbol) else {
                    continue;
                };
                let named = by_name.code(&file.symbol_name(r.symbol)?);
                if let Some(code) = named
                    .or_else(|| part_of(&symbol))
                    .and_then(|p| zebin.code_index(p))
                {
                    let value = symbol.offset.wrapping_add(r.addend as u64);
                    zebin.lines.relocate(r.offset, code, value);
                }
            }
            continue;
        }
        let part = parts.get(table.section).copied().flatten();
        let Some(out) = part.and_then(|p| relocations_of(zebin, p)) else {
            continue;
        };
        for r in table.entries {
            let symbol = file.symbol(&format!("relocation section {i}"), r.symbol)?;
            out.push(Relocation {
                offset: r.offset,
                ty: r.ty,
                addend: r.addend,
                symbol: file.symbol_name(r.symbol)?,
                target: part_of(&symbol).map(|p| (p, symbol.offset)),
            });
        }
    }
    Ok(())
}

/// Parts of a module by name.
struct PartsByName(HashMap<String, ModulePart>);

impl PartsByName {
    fn new(zebin: &Zebin) -> PartsByName {
        let kernels = zebin.kernels.iter().enumerate();
        let kernels = kernels.map(|(i, k)| (names::code_section(&k.name), ModulePart::Kernel(i)));
        let functions = zebin.functions.iter().enumerate();
        let functions = functions.map(|(i, f)| (f.name.clone(), ModulePart::Function(i)));
        let data = zebin.data.iter().enumerate();
        let data = data.map(|(i, d)| (d.name.clone(), ModulePart::Data(i)));
        // Of functions with one name the first counts. It is inserted last.
        PartsByName(kernels.chain(functions.rev()).chain(data).collect())
    }

    /// Returns the part of an ELF section.
    fn section(&self, name: &str) -> Option<ModulePart> {
        self.0.get(name).copied()
    }

    /// Returns the code that a section's name or a kernel's name refers to.
    fn code(&self, name: &str) -> Option<ModulePart> {
        let section = self.section(name);
        section
            .or_else(|| self.section(&names::code_section(name)))
            .filter(|p| !matches!(p, ModulePart::Data(_)))
    }
}

fn relocations_of(zebin: &mut Zebin, part: ModulePart) -> Option<&mut Vec<Relocation>> {
    Some(match part {
        ModulePart::Data(i) => &mut zebin.data.get_mut(i)?.relocations,
        ModulePart::Function(i) => &mut zebin.functions.get_mut(i)?.relocations,
        ModulePart::Kernel(i) => zebin.relocations.get_mut(i)?,
    })
}
