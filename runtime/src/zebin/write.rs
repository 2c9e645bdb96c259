//! Writer of zebins for tests. It wraps existing code in no more than what every reader needs.

use gantry_isa_gen::{PRODUCTS, Platform};

/// Section of a zebin.
#[derive(Clone, Debug)]
pub struct Section {
    /// Name.
    pub name: String,
    /// ELF type: 1 for contents, 8 for zeros that are not in the file.
    pub ty: u32,
    /// Contents.
    pub bytes: Vec<u8>,
    /// Size in bytes in the section's header.
    pub size: u64,
}

impl Section {
    /// Creates a section with contents.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Section {
        Section {
            name: name.into(),
            ty: 1,
            size: bytes.len() as u64,
            bytes,
        }
    }

    /// Creates a section of zeros, of a size in bytes.
    pub fn zeros(name: impl Into<String>, size: u64) -> Section {
        Section {
            ty: 8,
            size,
            ..Section::new(name, Vec::new())
        }
    }
}

/// Builds a zebin of kernels, each a name and its code, described by the text of `.ze_info`. Its
/// product is one of the platform. It is 0, which nothing loads, where the platform has no zebins.
pub fn write(platform: Platform, ze_info: &str, kernels: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let code = |(name, code): &(&str, Vec<u8>)| Section::new(format!(".text.{name}"), code.clone());
    write_sections(
        product(platform),
        ze_info,
        kernels.iter().map(code).collect(),
    )
}

/// Returns a product family number of a platform; 0 where there is none.
pub fn product(platform: Platform) -> u32 {
    PRODUCTS
        .iter()
        .filter(|p| p.platform == platform)
        .find_map(|p| p.families.first())
        .copied()
        .unwrap_or(0)
}

/// Builds a zebin of sections, for a product family number.
pub fn write_sections(product: u32, ze_info: &str, mut sections: Vec<Section>) -> Vec<u8> {
    let mut note = Vec::new();
    for v in [8u32, 4, 1] {
        note.extend(v.to_le_bytes());
    }
    note.extend(b"IntelGT\0");
    note.extend(product.to_le_bytes());
    let none = Section {
        ty: 0,
        ..Section::new("", Vec::new())
    };
    sections.insert(0, none);
    sections.push(Section {
        ty: 0xff00_0011,
        ..Section::new(".ze_info", ze_info.into())
    });
    sections.push(Section {
        ty: 7,
        ..Section::new(".note.intelgt.compat", note)
    });
    let mut names = vec![0u8];
    let mut at = Vec::new();
    for s in &sections {
        at.push(if s.name.is_empty() { 0 } else { names.len() });
        if !s.name.is_empty() {
            names.extend(s.name.as_bytes());
            names.push(0);
        }
    }
    at.push(names.len());
    names.extend(b".shstrtab\0");
    sections.push(Section {
        ty: 3,
        ..Section::new(".shstrtab", names)
    });
    let mut body = vec![0u8; 64];
    let mut headers = Vec::new();
    for (s, name) in sections.iter().zip(at) {
        let offset = body.len();
        body.extend(&s.bytes);
        headers.extend((name as u32).to_le_bytes());
        headers.extend(s.ty.to_le_bytes());
        for v in [0u64, 0, offset as u64, s.size] {
            headers.extend(v.to_le_bytes());
        }
        headers.extend([0u8; 8]);
        headers.extend([0u8; 16]);
    }
    let table = body.len() as u64;
    body.extend(headers);
    // With more sections than the header's field holds, the first section has their number and the
    // index of the names.
    let count = sections.len() as u32;
    let (short_count, short_names) = if count < 0xff00 {
        (count as u16, count as u16 - 1)
    } else {
        let first = table as usize;
        body[first + 32..first + 40].copy_from_slice(&u64::from(count).to_le_bytes());
        body[first + 40..first + 44].copy_from_slice(&(count - 1).to_le_bytes());
        (0, 0xffff)
    };
    body[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    body[16..18].copy_from_slice(&1u16.to_le_bytes());
    body[18..20].copy_from_slice(&205u16.to_le_bytes());
    body[20..24].copy_from_slice(&1u32.to_le_bytes());
    body[40..48].copy_from_slice(&table.to_le_bytes());
    body[52..54].copy_from_slice(&64u16.to_le_bytes());
    body[58..60].copy_from_slice(&64u16.to_le_bytes());
    body[60..62].copy_from_slice(&short_count.to_le_bytes());
    body[62..64].copy_from_slice(&short_names.to_le_bytes());
    body
}
