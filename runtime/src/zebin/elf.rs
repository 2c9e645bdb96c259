//! ELF container of a zebin: sections and notes.

use super::{DataSection, FunctionSection, LineInfo, Zebin, ZebinError, bindings, link, read};
use crate::limits::{Budget, Limits, within};
use gantry_isa_gen::{PRODUCTS, Platform};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// `e_machine` of Gen binaries.
const EM_INTELGT: u16 = 205;
/// Section type of `.ze_info`.
const SHT_ZEBIN_ZEINFO: u32 = 0xff00_0011;
/// Note types: product family, core family.
const NT_PRODUCT_FAMILY: u32 = 1;
const NT_CORE_FAMILY: u32 = 2;

pub(super) type Header = elf::FileHeader64<LE>;

pub(super) fn err(what: &str, e: impl std::fmt::Display) -> ZebinError {
    let e = e.to_string();
    let e = e.trim_end_matches('.');
    ZebinError::new(format!("{what}: {e}"))
}

struct Section<'a> {
    name: Cow<'a, str>,
    ty: u32,
    range: Range<usize>,
    content: &'a [u8],
    size: u64,
}

fn beyond_end(section: &str) -> ZebinError {
    ZebinError::new(format!("section {section} lies beyond the end of the file"))
}

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Zebin, ZebinError> {
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
    let mut names = Budget::new("bytes of names", limits.name_bytes);
    let mut sections = Vec::new();
    for (i, s) in table.iter().enumerate() {
        let name = table
            .section_name(le, s)
            .map_err(|e| err(&format!("name of ELF section {i}"), e))?;
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
        sections.push(Section {
            name,
            ty: s.sh_type(le).0,
            range,
            content,
            size: s.sh_size(le),
        });
    }
    // The first section of a name counts.
    let mut by_name = HashMap::new();
    for s in &sections {
        by_name.entry(&*s.name).or_insert(s);
    }

    let (product, platform) = product(by_name.get(".note.intelgt.compat").map(|s| s.content))?;
    let ze_info = sections
        .iter()
        .find(|s| s.ty == SHT_ZEBIN_ZEINFO || s.name == ".ze_info")
        .ok_or_else(|| ZebinError::new("no .ze_info section"))?;
    let text = std::str::from_utf8(ze_info.content).map_err(|e| err(".ze_info", e))?;
    // Writers may end the section with a NUL.
    let parsed = read::parse(text.trim_end_matches('\0'), platform, limits)?;

    let mut code_bytes = Budget::new("bytes of code", limits.code_bytes);
    let mut code = Vec::new();
    for k in &parsed.kernels {
        let name = format!(".text.{}", k.name);
        let s = by_name
            .get(name.as_str())
            .ok_or_else(|| ZebinError::new(format!("kernel `{}` has no {name} section", k.name)))?;
        if s.range.is_empty() {
            return Err(ZebinError::new(format!("section {name} is empty")));
        }
        code_bytes.take(s.range.len())?;
        code.push(s.range.clone());
    }

    let mut functions = Vec::new();
    for s in &sections {
        let of = s.name.strip_prefix(".text.");
        let is_kernel = of.is_some_and(|of| parsed.index.contains_key(of));
        let is_code = of.is_some() || s.name == ".text";
        if is_code && !is_kernel && !s.range.is_empty() {
            code_bytes.take(s.range.len())?;
            functions.push(FunctionSection {
                name: s.name.clone().into_owned(),
                range: s.range.clone(),
                relocations: Vec::new(),
            });
        }
    }
    let data = data_sections(&sections, limits)?;
    let debug = |name: &str| {
        let section = by_name.get(name);
        section.map_or(&[][..], |s| s.content).to_vec()
    };
    let lines = LineInfo::new(
        debug(".debug_line"),
        debug(".debug_str"),
        debug(".debug_line_str"),
        limits.name_bytes,
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
        index: parsed.index,
    };
    let section_names: Vec<&str> = sections.iter().map(|s| &*s.name).collect();
    link::read(
        &mut zebin,
        &table,
        &section_names,
        le,
        bytes,
        &mut names,
        limits,
    )?;

    if let Some(s) = by_name.get(bindings::SECTION) {
        bindings::read(s.content, &mut zebin, limits)?;
    }
    zebin.build_options = by_name.get(".misc.buildOptions").map(|s| {
        String::from_utf8_lossy(s.content)
            .trim_end_matches('\0')
            .to_owned()
    });
    Ok(zebin)
}

/// Entry of a note section.
pub(super) struct Note<'a> {
    /// Owner, up to its first zero.
    pub(super) owner: &'a [u8],
    pub(super) ty: u32,
    pub(super) desc: &'a [u8],
}

fn damaged(section: &str) -> ZebinError {
    ZebinError::new(format!("{section} is damaged"))
}

/// Iterates over the entries of a note section, up to the first that is damaged.
pub(super) fn notes<'a>(
    section: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = Result<Note<'a>, ZebinError>> {
    let mut rest = section;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let note = note(&mut rest).ok_or_else(|| damaged(name));
        if note.is_err() {
            rest = &[];
        }
        Some(note)
    })
}

/// Takes an entry off the front: three words, the owner and the description, each padded to words.
fn note<'a>(rest: &mut &'a [u8]) -> Option<Note<'a>> {
    let mut word = || {
        let (word, behind) = rest.split_first_chunk::<4>()?;
        *rest = behind;
        Some(u32::from_le_bytes(*word))
    };
    let (owner, desc, ty) = (word()?, word()?, word()?);
    let mut bytes = |len: u32| {
        let bytes = rest.get(..len as usize)?;
        // The last entry may lack its padding.
        let padded = (len as usize).checked_next_multiple_of(4)?;
        *rest = rest.get(padded..).unwrap_or(&[]);
        Some(bytes)
    };
    let owner = bytes(owner)?.split(|&b| b == 0).next().unwrap_or(&[]);
    let desc = bytes(desc)?;
    Some(Note { owner, ty, desc })
}

/// Returns the product of the compatibility note, and its platform. The notes of libraries for
/// several products have the core family alone. The product is then the first of that family.
fn product(section: Option<&[u8]>) -> Result<(u32, Platform), ZebinError> {
    const SECTION: &str = ".note.intelgt.compat";
    let section = section.ok_or_else(|| ZebinError::new(format!("no {SECTION} section")))?;
    let mut core = 0;
    for note in notes(section, SECTION) {
        let note = note?;
        let word = || {
            let word = note.desc.first_chunk::<4>();
            word.map(|w| u32::from_le_bytes(*w))
                .ok_or_else(|| damaged(SECTION))
        };
        if note.owner == b"IntelGT" && note.ty == NT_CORE_FAMILY {
            core = word()?;
        }
        if note.owner == b"IntelGT" && note.ty == NT_PRODUCT_FAMILY {
            let product = word()?;
            let platform = Platform::from_family(product).ok_or_else(|| {
                ZebinError::new(format!(
                    "product family {product} is of no platform known here"
                ))
            })?;
            return Ok((product, platform));
        }
    }
    // Compilers that know no core family write 0.
    if core == 0 {
        return Err(ZebinError::new(
            ".note.intelgt.compat names no product family and no core family",
        ));
    }
    let first = |platform: Platform| {
        let all = PRODUCTS.iter().filter(|p| p.platform == platform);
        let family = all.filter_map(|p| p.families.first()).next()?;
        Some((*family, platform))
    };
    Platform::from_core(core).and_then(first).ok_or_else(|| {
        ZebinError::new(format!(
            "core family {core:#x} is of no platform known here"
        ))
    })
}

/// Collects the data sections, whose names must be unique.
fn data_sections(
    sections: &[Section<'_>],
    limits: &Limits,
) -> Result<Vec<DataSection>, ZebinError> {
    let mut found: Vec<(&Section<'_>, bool)> = Vec::new();
    let mut total = 0usize;
    for s in sections {
        let constant = match &*s.name {
            ".data.const" | ".data.const.string" | ".bss.const" => true,
            ".data.global" | ".bss.global" => false,
            _ => continue,
        };
        if found.iter().any(|(f, _)| f.name == s.name) {
            return Err(ZebinError::new(format!("a second section {}", s.name)));
        }
        let size = if s.ty == elf::SHT_NOBITS.0 {
            usize::try_from(s.size).unwrap_or(usize::MAX)
        } else {
            s.range.len()
        };
        total = total.saturating_add(size);
        found.push((s, constant));
    }
    within("bytes of constants and globals", total, limits.data_bytes)?;
    let section = |(s, constant): (&Section<'_>, bool)| {
        let nothing = s.ty == elf::SHT_NOBITS.0;
        DataSection {
            name: s.name.clone().into_owned(),
            constant,
            bytes: if nothing {
                Vec::new()
            } else {
                s.content.to_vec()
            },
            zeros: if nothing { s.size as usize } else { 0 },
            relocations: Vec::new(),
        }
    };
    Ok(found.into_iter().map(section).collect())
}
