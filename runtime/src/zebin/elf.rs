//! The ELF side of a zebin: sections and notes.

use super::{DataSection, FunctionSection, LineInfo, Zebin, ZebinError, link, read};
use gantry_isa_gen::Platform;
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use std::ops::Range;

/// `e_machine` of Gen binaries.
const EM_INTELGT: u16 = 205;
/// Section type of `.ze_info`.
const SHT_ZEBIN_ZEINFO: u32 = 0xff00_0011;
/// Note type: product family.
const NT_PRODUCT_FAMILY: u32 = 1;
/// Bounds the memory that a lying section header can ask for.
const MAX_BSS: u64 = 1 << 30;

pub(super) type Header = elf::FileHeader64<LE>;

pub(super) fn err(what: &str, e: impl std::fmt::Display) -> ZebinError {
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

    let mut functions = Vec::new();
    for s in &sections {
        let of = s.name.strip_prefix(".text.");
        let is_kernel = parsed.kernels.iter().any(|k| of == Some(k.name.as_str()));
        let is_code = of.is_some() || s.name == ".text";
        if is_code && !is_kernel && !s.range.is_empty() {
            functions.push(FunctionSection {
                name: s.name.clone(),
                range: s.range.clone(),
                relocations: Vec::new(),
            });
        }
    }
    let data = data_sections(&sections, content)?;
    let debug = |name: &str| {
        let section = sections.iter().find(|s| s.name == name);
        section.map_or(&[][..], &content).to_vec()
    };
    let lines = LineInfo::new(
        debug(".debug_line"),
        debug(".debug_str"),
        debug(".debug_line_str"),
    );
    let mut zebin = Zebin {
        platform,
        product,
        relocations: vec![Vec::new(); code.len()],
        kernels: parsed.kernels,
        code,
        functions,
        symbols: Vec::new(),
        data,
        build_options: None,
        lines,
        version: parsed.version,
    };
    let names: Vec<&str> = sections.iter().map(|s| s.name.as_str()).collect();
    link::read(&mut zebin, &table, &names, le, bytes)?;

    zebin.build_options = sections
        .iter()
        .find(|s| s.name == ".misc.buildOptions")
        .map(|s| {
            String::from_utf8_lossy(content(s))
                .trim_end_matches('\0')
                .to_owned()
        });
    Ok(zebin)
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

/// The data sections.
fn data_sections<'a>(
    sections: &[Section],
    content: impl Fn(&Section) -> &'a [u8],
) -> Result<Vec<DataSection>, ZebinError> {
    let mut data = Vec::new();
    for s in sections {
        let constant = match s.name.as_str() {
            ".data.const" | ".data.const.string" | ".bss.const" => true,
            ".data.global" | ".bss.global" => false,
            _ => continue,
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
        data.push(DataSection {
            name: s.name.clone(),
            constant,
            bytes,
            relocations: Vec::new(),
        });
    }
    Ok(data)
}
