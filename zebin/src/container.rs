//! Containers of zebins: archives for several devices, and program binaries of OpenCL.
//!
//! | container | recognized by |
//! |---|---|
//! | archive, which `ocloc` writes for several products | `!<arch>` |
//! | program binary of OpenCL, of `ocloc` and `clGetProgramInfo` | ELF type `0xff01` to `0xff05` |
//! | patch tokens, the format before zebin | `CTNI` or `ICBE`, in either order of bytes |
//!
//! A device binary of an archive is named after the bits of its pointers and its product, as
//! `64.12.55.8`, `64.dg2` or `64.skl.9` (with a stepping). `pad_` files align it. `generic_ir`
//! holds SPIR-V for other devices. That of a program is a section of type `0xff000005`. Patch
//! tokens are not read here.
//!
//! Source: compute-runtime, `ocloc_fatbinary.cpp`, `device_binary_format_ar.cpp`, `ocl_elf.h`.

use crate::elf::File;
use crate::error::ZebinError;
pub use crate::limits::Limits;
use gantry_isa_gen::{PRODUCTS, Platform, Product};
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, SectionHeader};

/// Types of ELF files that OpenCL programs are: source, objects, library, executable, debug.
const OPENCL_TYPES: std::ops::RangeInclusive<u16> = 0xff01..=0xff05;
/// Type of the section that has a program's device binary.
const DEVICE_BINARY: u32 = 0xff00_0005;
/// Starts of device binaries of patch tokens.
const PATCH_TOKENS: [&[u8; 4]; 4] = [b"CTNI", b"INTC", b"ICBE", b"EBCI"];
/// Containers that may lie in each other: a program in an archive in an archive.
const DEPTH: u32 = 3;
/// Files of an archive. `ocloc -device "*"` writes some 50.
const MOST_FILES: usize = 4096;

/// Device that a part is picked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Any, if there is only one.
    Only,
    /// Devices of a platform.
    Platform(Platform),
    /// Devices of a product, else of its generation.
    Product(&'static Product),
}

/// Zebin of an archive.
struct Part<'a> {
    /// Name of its file.
    name: String,
    /// Zebin with its product family and platform, or the reason why it is none that runs.
    zebin: Result<(&'a [u8], u32, Platform), ZebinError>,
}

/// Returns true if bytes are a container: anything but a zebin that [`pick`] knows.
pub fn is_container(bytes: &[u8]) -> bool {
    is_archive(bytes) || is_patch_tokens(bytes) || opencl_type(bytes).is_some()
}

/// Returns the zebin for a device: bytes that are none of the containers are returned as they are.
///
/// In an archive, zebins of the device's product come before those of its generation. The highest
/// revision is taken of equal ones.
///
/// # Errors
/// The container is damaged, has nothing for the device, or holds patch tokens. The error lists
/// what there is.
pub fn pick<'a>(bytes: &'a [u8], wanted: Wanted, limits: &Limits) -> Result<&'a [u8], ZebinError> {
    let bytes = unwrap(bytes, DEPTH)?;
    if !is_archive(bytes) {
        return Ok(bytes);
    }
    let mut parts = Vec::new();
    add_parts(bytes, DEPTH, limits, &mut parts)?;
    let usable = parts.iter().filter_map(|p| {
        let (zebin, family, platform) = p.zebin.as_ref().ok()?;
        let fits = fitness(wanted, *family, *platform)?;
        Some((fits, revision(&p.name), *zebin))
    });
    let usable: Vec<_> = usable.collect();
    let best = match wanted {
        Wanted::Only if usable.len() > 1 => None,
        _ => usable
            .iter()
            .max_by_key(|(fits, revision, _)| (*fits, revision)),
    };
    best.map(|b| b.2).ok_or_else(|| none_fits(wanted, &parts))
}

/// Returns how well a zebin fits a device, or `None` if the device does not run it.
fn fitness(wanted: Wanted, family: u32, platform: Platform) -> Option<u32> {
    match wanted {
        Wanted::Only => Some(0),
        Wanted::Platform(p) => match () {
            () if p == platform => Some(1),
            () if p.same_generation(platform) => Some(0),
            () => None,
        },
        Wanted::Product(p) if p.families.contains(&family) => Some(2),
        Wanted::Product(p) => fitness(Wanted::Platform(p.platform), family, platform),
    }
}

/// Returns the numbers of a version in a file's name.
fn revision(name: &str) -> Vec<u32> {
    let numbers = name.split('.').skip(1);
    numbers.filter_map(|n| n.parse().ok()).collect()
}

fn none_fits(wanted: Wanted, parts: &[Part<'_>]) -> ZebinError {
    let list = parts.iter().map(|p| match &p.zebin {
        Ok((_, family, platform)) => {
            let product = PRODUCTS.iter().find(|p| p.families.contains(family));
            let of = product.map_or(platform.name(), Product::name);
            format!("\n  {} for {of}", p.name)
        }
        Err(e) => format!("\n  {}: {}", p.name, e.reason()),
    });
    let list: String = list.collect();
    let (what, for_whom) = match wanted {
        Wanted::Only if parts.iter().any(|p| p.zebin.is_ok()) => {
            ("holds zebins for several devices", String::new())
        }
        Wanted::Only => ("holds no zebin", String::new()),
        Wanted::Platform(p) => ("holds no zebin for ", p.name().to_owned()),
        Wanted::Product(p) => ("holds no zebin for ", p.name().to_owned()),
    };
    let list = if list.is_empty() {
        "\n  nothing"
    } else {
        &list
    };
    ZebinError::new(format!("the archive {what}{for_whom}; there are{list}"))
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n")
}

fn is_patch_tokens(bytes: &[u8]) -> bool {
    PATCH_TOKENS.iter().any(|magic| bytes.starts_with(*magic))
}

/// Returns the ELF type of a program binary of OpenCL.
fn opencl_type(bytes: &[u8]) -> Option<u16> {
    let header = FileHeader64::<LE>::parse(bytes).ok()?;
    let ty = header.e_type(header.endian().ok()?).0;
    OPENCL_TYPES.contains(&ty).then_some(ty)
}

/// Takes device binaries out of programs, down to a zebin or an archive.
fn unwrap(bytes: &[u8], depth: u32) -> Result<&[u8], ZebinError> {
    if is_patch_tokens(bytes) {
        return Err(ZebinError::new(
            "these are patch tokens, the format of Intel's compilers before zebin; `ocloc` of that \
             time writes zebins with `-internal_options \"-cl-allow-zebin -ze-allow-zebin \
             -cl-enable-zebin\"`, `ocloc` of 2023 and later always",
        ));
    }
    if opencl_type(bytes).is_none() {
        return Ok(bytes);
    }
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    unwrap(device_binary(bytes)?, depth)
}

fn too_deep() -> ZebinError {
    ZebinError::new("containers lie too deep in each other")
}

/// Returns the device binary of a program binary of OpenCL.
fn device_binary(bytes: &[u8]) -> Result<&[u8], ZebinError> {
    let of = |e| ZebinError::of("program binary of OpenCL", e);
    let header = FileHeader64::<LE>::parse(bytes).map_err(of)?;
    let le = header.endian().map_err(of)?;
    for section in header.sections(le, bytes).map_err(of)?.iter() {
        if section.sh_type(le).0 == DEVICE_BINARY {
            return section.data(le, bytes).map_err(of);
        }
    }
    Err(ZebinError::new(
        "this program binary of OpenCL has no device binary: it was compiled and not linked, or is \
         SPIR-V alone",
    ))
}

/// Adds the parts of an archive, and of archives in it.
fn add_parts<'a>(
    bytes: &'a [u8],
    depth: u32,
    limits: &Limits,
    parts: &mut Vec<Part<'a>>,
) -> Result<(), ZebinError> {
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    let archive = ArchiveFile::parse(bytes).map_err(|e| ZebinError::of("archive", e))?;
    for member in archive.members() {
        let member = member.map_err(|e| ZebinError::of("archive", e))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        // The decoder of Intel's driver skips these too.
        if name.starts_with("pad_") {
            continue;
        }
        crate::within("files of an archive", parts.len() + 1, MOST_FILES)?;
        let content = member
            .data(bytes)
            .map_err(|e| ZebinError::of(&format!("archive, file {name}"), e))?;
        let zebin = unwrap(content, depth);
        if let Ok(inner) = zebin
            && is_archive(inner)
        {
            add_parts(inner, depth, limits, parts)?;
            continue;
        }
        let zebin = zebin.and_then(|zebin| {
            let (family, platform) = File::read(zebin, limits)?.compat()?.platform()?;
            Ok((zebin, family, platform))
        });
        parts.push(Part { name, zebin });
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;
    use crate::write;

    /// Returns a zebin of a product.
    fn zebin(name: &str) -> Vec<u8> {
        let family = Product::from_name(name).unwrap().families[0];
        write(family, "kernels: []\n", Vec::new()).unwrap()
    }

    /// Returns an archive of files.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = b"!<arch>\n".to_vec();
        for (name, content) in files {
            let header = format!(
                "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                format!("{name}/"),
                0,
                0,
                0,
                644,
                content.len()
            );
            out.extend(header.bytes());
            out.extend_from_slice(content);
            if content.len() % 2 == 1 {
                out.push(b'\n');
            }
        }
        out
    }

    fn picked<'a>(bytes: &'a [u8], name: &str) -> Result<&'a [u8], String> {
        let wanted = match Product::from_name(name) {
            Some(product) => Wanted::Product(product),
            None => Wanted::Only,
        };
        pick(bytes, wanted, &Limits::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_best_part_is_picked() {
        let [skl, kbl, tgl, bxt] = ["skl", "kbl", "tgllp", "bxt"].map(zebin);
        let all = archive(&[
            ("pad_0", b"        "),
            ("64.9.0.9", &skl),
            ("64.9.1.9", &kbl),
            ("64.12.0.0", &tgl),
            ("generic_ir", b"\x7fELF"),
        ]);
        assert_eq!(picked(&all, "kbl").unwrap(), kbl);
        assert_eq!(picked(&all, "skl").unwrap(), skl);
        // A product that is not there runs the code of its generation, of the highest revision.
        assert_eq!(picked(&all, "cfl").unwrap(), kbl);
        assert_eq!(picked(&all, "rkl").unwrap(), tgl);
        let error = picked(&all, "dg2").unwrap_err();
        assert!(error.contains("no zebin for dg2"), "{error}");
        assert!(error.contains("64.12.0.0 for tgllp"), "{error}");
        let error = picked(&all, "").unwrap_err();
        assert!(error.contains("several devices"), "{error}");
        // The platform itself comes before others of its generation.
        let two = archive(&[("64.9.4.0", &bxt), ("64.9.0.9", &skl)]);
        assert_eq!(picked(&two, "glk").unwrap(), bxt);
        let nested = archive(&[("64", &two)]);
        assert_eq!(picked(&nested, "skl").unwrap(), skl);
        assert_eq!(picked(&archive(&[("64.skl", &skl)]), "").unwrap(), skl);
        assert_eq!(picked(&skl, "dg2").unwrap(), skl);
        assert!(
            picked(&archive(&[]), "skl")
                .unwrap_err()
                .contains("nothing")
        );
    }

    #[test]
    fn other_formats_are_named() {
        for magic in PATCH_TOKENS {
            let error = picked(magic, "skl").unwrap_err();
            assert!(error.contains("patch tokens"), "{error}");
            let error = picked(&archive(&[("64.9.0.9", magic)]), "skl").unwrap_err();
            assert!(
                error.contains("64.9.0.9: ") && error.contains("patch"),
                "{error}"
            );
        }
        let mut deep = zebin("skl");
        for _ in 0..5 {
            deep = archive(&[("64", &deep)]);
        }
        assert!(picked(&deep, "skl").unwrap_err().contains("too deep"));
    }

    /// Every byte of an archive set to other values, and every length: no panic.
    #[test]
    fn damaged_archives_are_refused() {
        let skl = zebin("skl");
        let whole = archive(&[("64.9.0.9", &skl), ("64.skl", &skl)]);
        for n in 0..whole.len() {
            let _ = picked(&whole[..n], "skl");
            for value in [0, b'9', 0xff] {
                let mut bytes = whole.clone();
                bytes[n] = value;
                let _ = picked(&bytes, "skl");
            }
        }
    }
}
