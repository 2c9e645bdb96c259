//! Whole zebins of a description and code.

use crate::elf::{Image, Section};
use crate::error::WriteError;
use crate::note::{Compat, product};
use gantry_isa_gen::Platform;

/// Writes a zebin of sections, for a product family number, with no more around them than every
/// reader needs. `ze_info` is the text of its description.
///
/// # Errors
/// Sizes that ELF cannot represent.
pub fn write<'a>(
    product: u32,
    ze_info: &'a str,
    mut sections: Vec<Section<'a>>,
) -> Result<Vec<u8>, WriteError> {
    let compat = Compat {
        product: Some(product),
        ..Compat::default()
    };
    sections.push(Section::ze_info(ze_info));
    sections.push(Section::compat(compat.write()));
    let image = Image {
        sections,
        ..Image::default()
    };
    image.write()
}

/// Writes a zebin of kernels, each a name and its code. Its product is the first of the platform.
/// It is 0, which nothing loads, where the platform has no zebins.
///
/// # Errors
/// Sizes that ELF cannot represent.
pub fn write_kernels(
    platform: Platform,
    ze_info: &str,
    kernels: &[(&str, Vec<u8>)],
) -> Result<Vec<u8>, WriteError> {
    let code = kernels.iter().map(|(name, code)| Section::code(name, code));
    write(product(platform), ze_info, code.collect())
}
