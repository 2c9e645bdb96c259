//! Sections of a zebin that a module is made of.

use super::{DataSection, FunctionSection, LineInfo, Zebin, bindings, kernel, link};
use crate::limits::{Budget, Limits, within};
use gantry_zebin::elf::{File, FoundSection};
use gantry_zebin::names::{self, DataKind, SectionType};
use gantry_zebin::{Bindings, ZeInfo, ZebinError};

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Zebin, ZebinError> {
    let mut file = File::read(bytes, &limits.zebin())?;
    let (product, platform) = file.compat()?.platform()?;
    let info = ZeInfo::read(file.ze_info()?, &limits.zebin())?;
    let (kernels, index) = kernel::kernels(&info, platform, limits)?;
    let by_name = file.by_name();

    let mut code_bytes = Budget::new("bytes of code", limits.code_bytes);
    let mut code = Vec::new();
    for k in &kernels {
        let name = names::code_section(&k.name);
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
    for s in &file.sections {
        let of = names::kernel_of(&s.name);
        let is_kernel = of.is_some_and(|of| index.contains_key(of));
        let is_code = of.is_some() || s.name == names::TEXT;
        if is_code && !is_kernel && !s.range.is_empty() {
            code_bytes.take(s.range.len())?;
            functions.push(FunctionSection {
                name: s.name.clone().into_owned(),
                range: s.range.clone(),
                relocations: Vec::new(),
            });
        }
    }
    let data = data_sections(&file.sections, limits)?;
    let debug = |name: &str| {
        let section = by_name.get(name);
        section.map_or(&[][..], |s| s.content).to_vec()
    };
    let lines = LineInfo::new(
        debug(names::DEBUG_LINE),
        debug(names::DEBUG_STR),
        debug(names::DEBUG_LINE_STR),
        limits.name_bytes,
    );
    let mut zebin = Zebin {
        platform,
        product,
        relocations: vec![Vec::new(); code.len()],
        kernels,
        code,
        functions,
        symbols: Vec::new(),
        data,
        build_options: None,
        lines,
        version: info.version,
        index,
    };
    let bindings = by_name.get(names::BINDINGS).map(|s| s.content);
    let options = by_name.get(names::BUILD_OPTIONS).map(|s| s.content);
    link::read(&mut zebin, &mut file)?;
    if let Some(section) = bindings {
        bindings::assign(&Bindings::read(section, &limits.zebin())?, &mut zebin)?;
    }
    zebin.build_options = options.map(|content| {
        String::from_utf8_lossy(content)
            .trim_end_matches('\0')
            .to_owned()
    });
    Ok(zebin)
}

/// Collects the data sections, whose names must be unique.
fn data_sections(
    sections: &[FoundSection<'_>],
    limits: &Limits,
) -> Result<Vec<DataSection>, ZebinError> {
    let mut found: Vec<(&FoundSection<'_>, DataKind)> = Vec::new();
    let mut total = 0usize;
    for s in sections {
        let Some(kind) = DataKind::from_name(&s.name) else {
            continue;
        };
        if found.iter().any(|(f, _)| f.name == s.name) {
            return Err(ZebinError::new(format!("a second section {}", s.name)));
        }
        let size = if s.is(SectionType::NoBits) {
            usize::try_from(s.size).unwrap_or(usize::MAX)
        } else {
            s.range.len()
        };
        total = total.saturating_add(size);
        found.push((s, kind));
    }
    within("bytes of constants and globals", total, limits.data_bytes)?;
    let section = |(s, kind): (&FoundSection<'_>, DataKind)| {
        let nothing = s.is(SectionType::NoBits);
        DataSection {
            name: s.name.clone().into_owned(),
            constant: kind.is_constant(),
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
