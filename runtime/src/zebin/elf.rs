//! The ELF side of a zebin: sections, notes, symbols and relocations.

use super::{DataSection, LineInfo, Relocation, Zebin, ZebinError, read};
use gantry_isa_gen::Platform;
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, Sym};
use std::ops::Range;

/// `e_machine` of Gen binaries.
const EM_INTELGT: u16 = 205;
/// Section type of `.ze_info`.
const SHT_ZEBIN_ZEINFO: u32 = 0xff00_0011;
/// Note type: product family.
const NT_PRODUCT_FAMILY: u32 = 1;
/// Bounds the memory that a lying section header can ask for.
const MAX_BSS: u64 = 1 << 30;

type Header = elf::FileHeader64<LE>;

fn err(what: &str, e: impl std::fmt::Display) -> ZebinError {
    let e = e.to_string();
    let e = e.trim_end_matches('.');
    ZebinError::new(format!("{what}: {e}"))
}

struct Section {
    name: String,
    ty: u32,
    range: Range<usize>,
    size: u64,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Zebin, ZebinError> {
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(ZebinError::new("no ELF header"));
    }
    let header = Header::parse(bytes).map_err(|e| err("ELF header", e))?;
    let le = header.endian().map_err(|e| err("ELF header", e))?;
    let machine = header.e_machine(le);
    if machine.0 != EM_INTELGT {
        return Err(ZebinError::new(format!(
            "ELF machine is {}, not {EM_INTELGT} (Intel GT)",
            machine.0
        )));
    }
    let table = header
        .sections(le, bytes)
        .map_err(|e| err("ELF section table", e))?;
    let mut sections = Vec::new();
    for (i, s) in table.iter().enumerate() {
        let name = table
            .section_name(le, s)
            .map_err(|e| err(&format!("name of ELF section {i}"), e))?;
        let name = String::from_utf8_lossy(name).into_owned();
        let range = match s.file_range(le) {
            None => 0..0,
            Some((offset, size)) => offset
                .checked_add(size)
                .filter(|&end| end <= bytes.len() as u64)
                .map(|end| offset as usize..end as usize)
                .ok_or_else(|| {
                    ZebinError::new(format!("section {name} lies beyond the end of the file"))
                })?,
        };
        sections.push(Section {
            name,
            ty: s.sh_type(le).0,
            range,
            size: s.sh_size(le),
        });
    }
    let content = |s: &Section| bytes.get(s.range.clone()).unwrap_or(&[]);

    let (product, platform) = product(&sections, content)?;
    let ze_info = sections
        .iter()
        .find(|s| s.ty == SHT_ZEBIN_ZEINFO || s.name == ".ze_info")
        .ok_or_else(|| ZebinError::new("no .ze_info section"))?;
    let text = std::str::from_utf8(content(ze_info)).map_err(|e| err(".ze_info", e))?;
    // Writers may end the section with a NUL.
    let parsed = read::parse(text.trim_end_matches('\0'), platform)?;

    let mut code = Vec::new();
    for k in &parsed.kernels {
        let name = format!(".text.{}", k.name);
        let s = sections
            .iter()
            .find(|s| s.name == name)
            .ok_or_else(|| ZebinError::new(format!("kernel `{}` has no {name} section", k.name)))?;
        if s.range.is_empty() {
            return Err(ZebinError::new(format!("section {name} is empty")));
        }
        code.push(s.range.clone());
    }

    let (data, data_index) = data_sections(&sections, content)?;
    let debug = |name: &str| {
        let section = sections.iter().find(|s| s.name == name);
        section.map_or(&[][..], &content).to_vec()
    };
    let mut lines = LineInfo::new(
        debug(".debug_line"),
        debug(".debug_str"),
        debug(".debug_line_str"),
    );
    // The kernel that code or a symbol belongs to.
    let kernel_of = |name: &str| {
        let name = name.strip_prefix(".text.").unwrap_or(name);
        parsed.kernels.iter().position(|k| name == k.name)
    };
    let mut relocations = vec![Vec::new(); code.len()];
    let mut data = data;
    let symbols = table
        .symbols(le, bytes, elf::SHT_SYMTAB)
        .map_err(|e| err("ELF symbol table", e))?;
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
        let target = s.sh_info(le) as usize;
        let target_name = sections.get(target).map_or("", |t| t.name.as_str());
        if let Some(&Some(d)) = data_index.get(target) {
            if let Some(d) = data.get_mut(d) {
                d.relocated = !rels.is_empty();
            }
            continue;
        }
        if target_name == ".debug_line" {
            for (offset, _, addend, sym) in rels {
                // Intel's compiler names the section as the symbol, with the number of another.
                let Ok(symbol) = symbols.symbol(object::SymbolIndex(sym)) else {
                    continue;
                };
                let name = symbol.name(le, symbols.strings()).unwrap_or_default();
                let section = sections.get(usize::from(symbol.st_shndx(le).0));
                let kernel =
                    kernel_of(&String::from_utf8_lossy(name)).or_else(|| kernel_of(&section?.name));
                if let Some(k) = kernel {
                    let value = symbol.st_value(le).wrapping_add(addend as u64);
                    lines.relocate(offset, k, value);
                }
            }
            continue;
        }
        let kernel = target_name.strip_prefix(".text.").and_then(kernel_of);
        let Some(out) = kernel.and_then(|k| relocations.get_mut(k)) else {
            continue;
        };
        for (offset, ty, addend, sym) in rels {
            let symbol = symbols
                .symbol(object::SymbolIndex(sym))
                .map_err(|e| err(&format!("relocation section {i}"), e))?;
            let name = symbol
                .name(le, symbols.strings())
                .map_err(|e| err("ELF symbol name", e))?;
            let section = usize::from(symbol.st_shndx(le).0);
            out.push(Relocation {
                offset,
                ty,
                addend,
                symbol: String::from_utf8_lossy(name).into_owned(),
                target: data_index
                    .get(section)
                    .copied()
                    .flatten()
                    .map(|d| (d, symbol.st_value(le))),
            });
        }
    }

    let build_options = sections
        .iter()
        .find(|s| s.name == ".misc.buildOptions")
        .map(|s| {
            String::from_utf8_lossy(content(s))
                .trim_end_matches('\0')
                .to_owned()
        });
    Ok(Zebin {
        platform,
        product,
        kernels: parsed.kernels,
        code,
        relocations,
        data,
        build_options,
        lines,
        version: parsed.version,
    })
}

/// The product of the compatibility note, and its platform.
fn product<'a>(
    sections: &[Section],
    content: impl Fn(&Section) -> &'a [u8],
) -> Result<(u32, gantry_isa_gen::Platform), ZebinError> {
    let notes = sections
        .iter()
        .find(|s| s.name == ".note.intelgt.compat")
        .ok_or_else(|| ZebinError::new("no .note.intelgt.compat section"))?;
    let mut rest = content(notes);
    let word = |b: &[u8], at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(
            b.get(at..at.checked_add(4)?)?.try_into().ok()?,
        ))
    };
    let damaged = || ZebinError::new(".note.intelgt.compat is damaged");
    while !rest.is_empty() {
        let (Some(name_len), Some(desc_len), Some(ty)) =
            (word(rest, 0), word(rest, 4), word(rest, 8))
        else {
            return Err(damaged());
        };
        let padded = |n: u32| (n as usize).checked_add(3).map(|n| n & !3);
        let (Some(name_pad), Some(desc_pad)) = (padded(name_len), padded(desc_len)) else {
            return Err(damaged());
        };
        let desc_at = 12usize.checked_add(name_pad).ok_or_else(damaged)?;
        let end = desc_at.checked_add(desc_pad).ok_or_else(damaged)?;
        let name = rest
            .get(12..12 + (name_len as usize).min(rest.len()))
            .ok_or_else(damaged)?;
        let owner = name.split(|&b| b == 0).next().unwrap_or(&[]);
        if owner == b"IntelGT" && ty == NT_PRODUCT_FAMILY {
            let product = word(rest, desc_at).ok_or_else(damaged)?;
            let platform = Platform::from_family(product).ok_or_else(|| {
                ZebinError::new(format!(
                    "product family {product} is of no platform known here"
                ))
            })?;
            return Ok((product, platform));
        }
        rest = rest.get(end..).unwrap_or(&[]);
    }
    Err(ZebinError::new(
        ".note.intelgt.compat names no product family",
    ))
}

/// The data sections, and for each ELF section which of them it is.
fn data_sections<'a>(
    sections: &[Section],
    content: impl Fn(&Section) -> &'a [u8],
) -> Result<(Vec<DataSection>, Vec<Option<usize>>), ZebinError> {
    let mut data = Vec::new();
    let mut index = Vec::new();
    for s in sections {
        let constant = match s.name.as_str() {
            ".data.const" | ".data.const.string" | ".bss.const" => true,
            ".data.global" | ".bss.global" => false,
            _ => {
                index.push(None);
                continue;
            }
        };
        let bytes = if s.ty == elf::SHT_NOBITS.0 {
            if s.size > MAX_BSS {
                return Err(ZebinError::new(format!(
                    "section {} claims {} bytes",
                    s.name, s.size
                )));
            }
            vec![0; s.size as usize]
        } else {
            content(s).to_vec()
        };
        index.push(Some(data.len()));
        data.push(DataSection {
            name: s.name.clone(),
            constant,
            bytes,
            relocated: false,
        });
    }
    Ok((data, index))
}
