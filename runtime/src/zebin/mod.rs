//! Reading zebins: the ELF container of Gen kernels that Gantry and Intel's compilers write.
//!
//! [`Zebin::parse`] looks at everything a launch needs, once, and never panics whatever the bytes are. What the format
//! is: intel-graphics-compiler, `IGC/ZEBinWriter/zebin/spec`.

mod bindings;
mod elf;
mod images;
mod info;
mod lines;
mod link;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

pub use info::{
    AddrMode, AddrSpace, ArgInfo, ArgKind, ArgNames, ArgRole, BindingPlace, ExecutionEnv,
    ImageFact, KernelInfo, MemoryBuffer, PayloadArg, PayloadKind, PerThreadArg, Resource,
    SamplerEntry, SamplerFact, SamplerSource,
};
pub use lines::{LineInfo, SourceLine};
#[doc(hidden)]
pub use write::{Section, product, write, write_sections};

use crate::limits::{Excess, Limits};
use gantry_isa_gen::Platform;
use std::collections::HashMap;
use std::ops::Range;

/// What is wrong with a zebin: a sentence that says where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a usable zebin: {0}")]
pub struct ZebinError(pub(crate) String);

impl ZebinError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ZebinError(message.into())
    }
}

impl From<Excess> for ZebinError {
    fn from(e: Excess) -> Self {
        ZebinError::new(e.to_string())
    }
}

/// A zebin, read. Code stays in the bytes it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct Zebin {
    /// The platform, from the product note.
    pub platform: Platform,
    /// The product family number of the note.
    pub product: u32,
    /// The kernels, in `.ze_info` order.
    pub kernels: Vec<KernelInfo>,
    /// Where each kernel's code is in the file, in bytes; in the order of `kernels`.
    pub code: Vec<Range<usize>>,
    /// Relocations of each kernel's code; in the order of `kernels`.
    pub relocations: Vec<Vec<Relocation>>,
    /// Code that belongs to no kernel: functions that kernels call by address.
    pub functions: Vec<FunctionSection>,
    /// The functions, kernels among them, that symbols name.
    pub symbols: Vec<FunctionSymbol>,
    /// Initial contents of constant and global data (`.data.const`, `.data.global`), and their zero-initialised tails
    /// (`.bss.const`, `.bss.global`).
    pub data: Vec<DataSection>,
    /// The options the module was compiled with, where it says so (`.misc.buildOptions`).
    pub build_options: Option<String>,
    /// The source lines of the code, where there is debug information.
    pub lines: LineInfo,
    /// The `version` of `.ze_info`, where there is one.
    pub version: Option<String>,
    /// Which kernel has a name.
    index: HashMap<String, usize>,
}

/// A part of a module that a symbol may lie in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A data section: an index into [`Zebin::data`].
    Data(usize),
    /// Code of functions: an index into [`Zebin::functions`].
    Function(usize),
    /// A kernel's code: an index into [`Zebin::kernels`].
    Kernel(usize),
}

/// A place that depends on where something is put.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Where in its section, in bytes.
    pub offset: u64,
    /// The relocation type: 1 address, 2 its low half, 3 its high half, 4 and others as the zebin specification says.
    pub ty: u32,
    /// Added to the address. Data sections hold a further addend in place.
    pub addend: i64,
    /// The symbol's name.
    pub symbol: String,
    /// The part the symbol is in and its offset there, in bytes; `None` for symbols that the loader knows.
    pub target: Option<(Part, u64)>,
}

/// Code of functions that kernels call by address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSection {
    /// The section's name.
    pub name: String,
    /// Where its code is in the file, in bytes.
    pub range: Range<usize>,
    /// What a loader must fill in.
    pub relocations: Vec<Relocation>,
}

/// A function or kernel that a symbol names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSymbol {
    /// Its name.
    pub name: String,
    /// The part it is in.
    pub part: Part,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub size: u64,
}

/// A data section of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataSection {
    /// The section's name.
    pub name: String,
    /// Whether it is constant.
    pub constant: bool,
    /// Initial contents.
    pub bytes: Vec<u8>,
    /// How many bytes of zeros follow them.
    pub zeros: usize,
    /// What a loader must add to it.
    pub relocations: Vec<Relocation>,
}

impl DataSection {
    /// How long it is, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len().saturating_add(self.zeros)
    }
}

impl Zebin {
    /// Reads a zebin, within the default limits.
    ///
    /// # Errors
    /// The bytes are not an ELF for Gen, a part is missing or out of bounds, `.ze_info` does not say what it must, the
    /// product is not one of the platforms known, or there is more of something than the limits allow.
    pub fn parse(bytes: &[u8]) -> Result<Zebin, ZebinError> {
        Zebin::parse_within(bytes, &Limits::default())
    }

    /// Reads a zebin within limits: those of modules count.
    ///
    /// # Errors
    /// As for [`Self::parse`].
    pub fn parse_within(bytes: &[u8], limits: &Limits) -> Result<Zebin, ZebinError> {
        elf::parse(bytes, limits)
    }

    /// A kernel's information and its index, by name.
    pub fn kernel(&self, name: &str) -> Option<(usize, &KernelInfo)> {
        let index = *self.index.get(name)?;
        Some((index, self.kernels.get(index)?))
    }

    /// Which code section a part is: kernels first, then those of functions. `None` for data.
    pub(crate) fn code_index(&self, part: Part) -> Option<usize> {
        match part {
            Part::Kernel(k) => Some(k),
            Part::Function(f) => Some(self.kernels.len() + f),
            Part::Data(_) => None,
        }
    }

    /// A kernel's code.
    pub fn code<'a>(&self, bytes: &'a [u8], kernel: usize) -> Option<&'a [u8]> {
        bytes.get(self.code.get(kernel)?.clone())
    }

    /// Whether the build options forbid groups smaller than the enqueued group size: an explicit OpenCL C 1.x, or
    /// uniform work-groups asked for.
    pub fn requires_uniform_groups(&self) -> bool {
        self.build_options.as_deref().is_some_and(|o| {
            o.split_ascii_whitespace()
                .any(|w| w == "-cl-uniform-work-group-size" || w.starts_with("-cl-std=CL1"))
        })
    }
}
