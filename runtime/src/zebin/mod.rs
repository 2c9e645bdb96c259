//! Zebins as launches need them. `gantry-zebin` reads the format; this room reads from it what a
//! module has, and derives the arguments that a caller gives.
//!
//! [`Zebin::parse`] reads everything a launch needs, once, and never panics whatever the bytes are.

mod bindings;
mod images;
mod info;
mod kernel;
mod lines;
mod link;
mod load;
#[cfg(test)]
mod tests;

pub use gantry_zebin::container;
pub use gantry_zebin::{
    AddrMode, AddrSpace, ArgRole, BindingPlace, BufferFact, ExecutionEnv, ImageFact, LaunchFact,
    MemoryBuffer, PayloadArg, PayloadKind, PerThreadArg, PerThreadIds, Pointer, Resource,
    SamplerFact, Slot, ZebinError,
};
pub use info::{ArgInfo, ArgKind, ArgNames, KernelInfo, SamplerEntry, SamplerSource};
pub use lines::{LineInfo, SourceLine};

use crate::limits::Limits;
use gantry_isa_gen::Platform;
use std::collections::HashMap;
use std::ops::Range;

/// Zebin that was read. Code stays in the bytes it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct Zebin {
    /// Platform, from the product note.
    pub platform: Platform,
    /// Product family number of the note.
    pub product: u32,
    /// Kernels, in `.ze_info` order.
    pub kernels: Vec<KernelInfo>,
    /// Byte range of each kernel's code in the file, in the order of `kernels`.
    pub code: Vec<Range<usize>>,
    /// Relocations of each kernel's code, in the order of `kernels`.
    pub relocations: Vec<Vec<Relocation>>,
    /// Code that belongs to no kernel: functions that kernels call by address.
    pub functions: Vec<FunctionSection>,
    /// Functions that symbols name, kernels included.
    pub symbols: Vec<FunctionSymbol>,
    /// Initial contents of constant and global data (`.data.const`, `.data.global`), and their
    /// zero-initialised tails (`.bss.const`, `.bss.global`).
    pub data: Vec<DataSection>,
    /// Options that the module was compiled with, where it has them (`.misc.buildOptions`).
    pub build_options: Option<String>,
    /// Source lines of the code, where there is debug information.
    pub lines: LineInfo,
    /// `version` of `.ze_info`, where there is one.
    pub version: Option<String>,
    /// Index of each kernel by its name.
    index: HashMap<String, usize>,
}

/// Part of a module that a symbol may lie in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ModulePart {
    /// Data section: an index into [`Zebin::data`].
    Data(usize),
    /// Code of functions: an index into [`Zebin::functions`].
    Function(usize),
    /// Code of a kernel: an index into [`Zebin::kernels`].
    Kernel(usize),
}

/// Location whose bytes depend on where a symbol is loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Byte offset in its section.
    pub offset: u64,
    /// Relocation type, which need not be one of
    /// [`RelocationType`](gantry_zebin::names::RelocationType).
    pub ty: u32,
    /// Number added to the address. Data sections hold a further addend in place.
    pub addend: i64,
    /// Name of the symbol.
    pub symbol: String,
    /// Part that the symbol is in and its byte offset there; `None` for symbols that the loader
    /// knows.
    pub target: Option<(ModulePart, u64)>,
}

/// Code of functions that kernels call by address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSection {
    /// Name of the section.
    pub name: String,
    /// Byte range of its code in the file.
    pub range: Range<usize>,
    /// Locations that a loader must fill in.
    pub relocations: Vec<Relocation>,
}

/// Function or kernel that a symbol names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSymbol {
    /// Name.
    pub name: String,
    /// Part that it is in.
    pub part: ModulePart,
    /// Byte offset of its start in the part.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// Data section of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataSection {
    /// Name of the section.
    pub name: String,
    /// True for constant data.
    pub constant: bool,
    /// Initial contents.
    pub bytes: Vec<u8>,
    /// Number of zero bytes that follow them.
    pub zeros: usize,
    /// Locations that a loader must add addresses to.
    pub relocations: Vec<Relocation>,
}

impl DataSection {
    /// Returns the length in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len().saturating_add(self.zeros)
    }
}

impl Zebin {
    /// Reads a zebin, within the default limits.
    ///
    /// # Errors
    /// The bytes are not an ELF for Gen, or a part is missing or out of bounds. `.ze_info`
    /// does not say what it must, the product is of no known platform, or a limit is passed.
    pub fn parse(bytes: &[u8]) -> Result<Zebin, ZebinError> {
        Zebin::parse_within(bytes, &Limits::default())
    }

    /// Reads a zebin within the limits of modules.
    ///
    /// # Errors
    /// Errors are those of [`Self::parse`].
    pub fn parse_within(bytes: &[u8], limits: &Limits) -> Result<Zebin, ZebinError> {
        load::parse(bytes, limits)
    }

    /// Returns a kernel's index and description, by its name.
    pub fn kernel(&self, name: &str) -> Option<(usize, &KernelInfo)> {
        let index = *self.index.get(name)?;
        Some((index, self.kernels.get(index)?))
    }

    /// Returns the index of a part's code section: kernels first, then sections of functions.
    /// `None` for data.
    pub(crate) fn code_index(&self, part: ModulePart) -> Option<usize> {
        match part {
            ModulePart::Kernel(k) => Some(k),
            ModulePart::Function(f) => Some(self.kernels.len() + f),
            ModulePart::Data(_) => None,
        }
    }

    /// Returns a kernel's code.
    pub fn code<'a>(&self, bytes: &'a [u8], kernel: usize) -> Option<&'a [u8]> {
        bytes.get(self.code.get(kernel)?.clone())
    }

    /// Returns true if the build options forbid groups smaller than the enqueued group size. These
    /// are an explicit OpenCL C 1.x, or a request for uniform work-groups.
    pub fn requires_uniform_groups(&self) -> bool {
        self.build_options.as_deref().is_some_and(|o| {
            o.split_ascii_whitespace()
                .any(|w| w == "-cl-uniform-work-group-size" || w.starts_with("-cl-std=CL1"))
        })
    }
}
