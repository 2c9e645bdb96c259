//! Writing zebins: nothing but what every reader needs, around code that is there already.

use gantry_isa_gen::{PRODUCTS, Platform};

/// A zebin of kernels: each a name and its code, described by the text of `.ze_info`. Its product is one of the platform;
/// 0, which nothing loads, where none has zebins.
pub fn write(platform: Platform, ze_info: &str, kernels: &[(&str, Vec<u8>)]) -> Vec<u8> {
    write_with_data(platform, ze_info, kernels, &[])
}

/// As [`write()`], with sections of data: each a name (`.data.const`, `.data.global`) and its contents.
pub fn write_with_data(
    platform: Platform,
    ze_info: &str,
    kernels: &[(&str, Vec<u8>)],
    data: &[(&str, Vec<u8>)],
) -> Vec<u8> {
    let product = PRODUCTS
        .iter()
        .filter(|p| p.platform == platform)
        .find_map(|p| p.families.first())
        .copied()
        .unwrap_or(0);
    sections(product, ze_info, kernels, data)
}

/// As [`write()`], for a product family number.
pub fn write_for(product: u32, ze_info: &str, kernels: &[(&str, Vec<u8>)]) -> Vec<u8> {
    sections(product, ze_info, kernels, &[])
}

fn sections(
    product: u32,
    ze_info: &str,
    kernels: &[(&str, Vec<u8>)],
    data: &[(&str, Vec<u8>)],
) -> Vec<u8> {
    let mut note = Vec::new();
    for v in [8u32, 4, 1] {
        note.extend(v.to_le_bytes());
    }
    note.extend(b"IntelGT\0");
    note.extend(product.to_le_bytes());
    let mut sections: Vec<(String, u32, Vec<u8>)> = vec![(String::new(), 0, Vec::new())];
    for (name, code) in kernels {
        sections.push((format!(".text.{name}"), 1, code.clone()));
    }
    for (name, bytes) in data {
        sections.push(((*name).to_owned(), 1, bytes.clone()));
    }
    sections.push((".ze_info".into(), 0xff00_0011, ze_info.into()));
    sections.push((".note.intelgt.compat".into(), 7, note));
    let mut names = vec![0u8];
    let mut at = Vec::new();
    for (n, ..) in &sections {
        at.push(if n.is_empty() { 0 } else { names.len() });
        if !n.is_empty() {
            names.extend(n.as_bytes());
            names.push(0);
        }
    }
    at.push(names.len());
    names.extend(b".shstrtab\0");
    sections.push((".shstrtab".into(), 3, names));
    let mut body = vec![0u8; 64];
    let mut headers = Vec::new();
    for ((_, ty, data), name) in sections.iter().zip(at) {
        let offset = body.len();
        body.extend(data);
        headers.extend((name as u32).to_le_bytes());
        headers.extend(ty.to_le_bytes());
        for v in [0u64, 0, offset as u64, data.len() as u64] {
            headers.extend(v.to_le_bytes());
        }
        headers.extend([0u8; 8]);
        headers.extend([0u8; 16]);
    }
    let table = body.len() as u64;
    body.extend(headers);
    body[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    body[16..18].copy_from_slice(&1u16.to_le_bytes());
    body[18..20].copy_from_slice(&205u16.to_le_bytes());
    body[20..24].copy_from_slice(&1u32.to_le_bytes());
    body[40..48].copy_from_slice(&table.to_le_bytes());
    body[52..54].copy_from_slice(&64u16.to_le_bytes());
    body[58..60].copy_from_slice(&64u16.to_le_bytes());
    body[60..62].copy_from_slice(&(sections.len() as u16).to_le_bytes());
    body[62..64].copy_from_slice(&(sections.len() as u16 - 1).to_le_bytes());
    body
}
