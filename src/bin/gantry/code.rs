//! Code in zebins and in files of bare instructions.

use crate::Failure;
use crate::input::{self, Language};
use gantry::isa::text::{Listing, list};
use gantry::isa::{Op, Platform};
use gantry::runtime::zebin::{self, container};
use std::path::Path;

/// Code of a file, for one platform.
pub(crate) struct CodeFile {
    /// Platform.
    pub(crate) platform: Platform,
    /// Code, section by section.
    pub(crate) sections: Vec<Code>,
}

/// Code of a kernel, of functions, or of a file of bare instructions.
pub(crate) struct Code {
    /// Origin.
    pub(crate) of: Origin,
    /// Instructions, and what follows them.
    pub(crate) bytes: Vec<u8>,
}

/// Origin of code.
pub(crate) enum Origin {
    /// Kernel of this name.
    Kernel(String),
    /// Section of this name, with functions that kernels call by address.
    Functions(String),
    /// File of bare instructions.
    Bare,
}

/// Code, instruction by instruction.
pub(crate) struct Instructions {
    /// Instructions up to the padding.
    pub(crate) list: Vec<Listing>,
    /// Length of the instructions in bytes.
    pub(crate) len: usize,
    /// Number of zero bytes behind them, which are there for the prefetcher.
    pub(crate) padding: usize,
    /// Number of bytes behind them that are no whole instruction.
    pub(crate) left: usize,
}

impl Code {
    /// Returns the name of the kernel, or of the section of functions.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.of {
            Origin::Kernel(name) | Origin::Functions(name) => Some(name),
            Origin::Bare => None,
        }
    }

    /// Decodes the instructions.
    pub(crate) fn instructions(&self, platform: Platform) -> Instructions {
        let bytes = &self.bytes;
        let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
        let mut list = list(platform, bytes);
        list.truncate(list.partition_point(|l| l.offset < end));
        let len = list.last().map_or(0, |l| l.offset + l.len);
        let rest = bytes.len() - len;
        let (padding, left) = if len < end { (0, rest) } else { (rest, 0) };
        Instructions {
            list,
            len,
            padding,
            left,
        }
    }
}

/// Reads the code of a zebin, of the zebin of a container that a name of a platform or product
/// picks, or of a file of bare instructions, which need the name of their
/// platform.
///
/// # Errors
/// The file is neither, its platform is not the given one, or a name is needed and missing.
pub(crate) fn read(path: &Path, platform: Option<&str>) -> Result<CodeFile, Failure> {
    let name = platform;
    let platform = name.map(input::platform).transpose()?;
    let bytes = input::read(path)?;
    if input::is_elf(&bytes) || container::is_container(&bytes) {
        return of_zebin(path, input::part(path, &bytes, name)?, platform);
    }
    if let Some(other) = other_language(&bytes) {
        return Err(Failure::file(
            path,
            format!("neither a zebin nor instructions: {other}"),
        ));
    }
    let platform = platform.ok_or_else(|| {
        Failure::usage(format!(
            "{}: no zebin; bare instructions need --platform",
            path.display()
        ))
    })?;
    let code = Code {
        of: Origin::Bare,
        bytes,
    };
    plausible(&code.instructions(platform), platform).map_err(|what| Failure::file(path, what))?;
    Ok(CodeFile {
        platform,
        sections: vec![code],
    })
}

fn of_zebin(path: &Path, bytes: &[u8], named: Option<Platform>) -> Result<CodeFile, Failure> {
    let zebin = zebin::Zebin::parse(bytes).map_err(|e| Failure::file(path, e))?;
    if let Some(named) = named {
        input::same_platform(path, zebin.platform, named)?;
    }
    let mut sections = Vec::new();
    for (i, k) in zebin.kernels.iter().enumerate() {
        let none = || Failure::file(path, format!("kernel `{}` has no code", k.name));
        sections.push(Code {
            of: Origin::Kernel(k.name.clone()),
            bytes: zebin.code(bytes, i).ok_or_else(none)?.to_vec(),
        });
    }
    for f in &zebin.functions {
        let none = || Failure::file(path, format!("section `{}` has no code", f.name));
        sections.push(Code {
            of: Origin::Functions(f.name.clone()),
            bytes: bytes.get(f.range.clone()).ok_or_else(none)?.to_vec(),
        });
    }
    Ok(CodeFile {
        platform: zebin.platform,
        sections,
    })
}

/// Describes contents that are another language, and the command that takes them.
fn other_language(bytes: &[u8]) -> Option<&'static str> {
    let is_text = || {
        let control = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
        std::str::from_utf8(bytes).is_ok() && !bytes.iter().any(control)
    };
    match input::of_contents(bytes) {
        _ if bytes.is_empty() => Some("it is empty"),
        Language::Spirv => Some("it is SPIR-V, for `gantry compile`"),
        Language::Gir => Some("it is IR text, for `gantry compile`"),
        Language::Wgsl => Some("it is WGSL, for `gantry compile`"),
        Language::Asm if is_text() => Some("it is text; `gantry asm` assembles instructions"),
        Language::Asm | Language::Binary => None,
    }
}

/// Checks that bytes are instructions: that most of them decode.
fn plausible(found: &Instructions, platform: Platform) -> Result<(), String> {
    let is_known = |l: &&Listing| matches!(&l.inst, Ok(i) if i.op != Op::Illegal);
    let (all, known) = (found.list.len(), found.list.iter().filter(is_known).count());
    let name = platform.name();
    if all == 0 {
        Err(format!("neither a zebin nor instructions of {name}"))
    } else if 2 * known < all {
        Err(format!(
            "neither a zebin nor instructions of {name}: {} of {all} do not decode",
            all - known
        ))
    } else {
        Ok(())
    }
}
