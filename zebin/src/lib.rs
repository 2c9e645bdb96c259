//! The zebin format of Intel GPU kernels, read and written.
//!
//! A zebin is an ELF file: code of kernels, their description `.ze_info` in YAML, notes, data,
//! relocations and debug information. Names, numbers and records of the format are stated here
//! once. The compiler writes by them, the runtime reads by them, and tests build by them.
//!
//! The format is specified in intel-graphics-compiler, `IGC/ZEBinWriter/zebin/spec` (`elf.md`,
//! `zeinfo.md`). `.note.gantry.bindings` is Gantry's own; [`Bindings`] describes it.
//!
//! Reading is behind the feature `read`, which is on by default. It never panics, whatever the
//! bytes are, and asks for no more memory than [`Limits`] allow.
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `limits` | limits on input |
//! | `error` | errors |
//! | `names` | names and numbers: sections, symbols, relocations, notes |
//! | `yaml` | YAML, written and parsed |
//! | `record` | records and keywords of YAML, each stated once |
//! | `info` | `.ze_info` |
//! | `descriptor` | images and samplers by value |
//! | `note` | notes of ELF, and the one of compatibility |
//! | `bindings` | the note of bindings |
//! | `elf` | the container |
//! | `container` | archives of zebins, and program binaries of OpenCL |
//! | `module` | whole zebins from a description and code |

mod bindings;
#[cfg(feature = "read")]
pub mod container;
mod descriptor;
pub mod elf;
mod error;
mod info;
mod limits;
mod module;
pub mod names;
mod note;
mod record;
mod yaml;

pub use bindings::{
    ArgRole, BindingPlace, Bindings, BoundArg, KernelBindings, Resource, ResourceKind, Slot,
};
pub use descriptor::{ImageDescriptor, SamplerDescriptor};
pub use error::{WriteError, ZebinError};
pub use info::env::{ExecutionEnv, ThreadScheduling};
pub use info::image::{ImageKind, InlineSampler, SamplerAddress, SamplerFilter, SamplerType};
pub use info::memory::{BindingTableIndex, MemoryBuffer, MemoryType, MemoryUsage};
pub use info::misc::{
    ArgDescription, CachePolicy, DebugEnv, Experimental, FunctionInfo, HostAccess, KernelMisc,
    UserAttributes,
};
pub use info::payload::{
    AccessType, AddrMode, AddrSpace, BufferFact, ImageFact, LaunchFact, OtherFact, PayloadArg,
    PayloadKind, PerThreadArg, PerThreadIds, Pointer, SamplerFact,
};
pub use info::{Kernel, ZeInfo};
pub use limits::{Budget, Excess, Limits, within};
pub use module::{write, write_kernels};
#[cfg(feature = "read")]
pub use note::notes;
pub use note::{Compat, Note, product};

#[cfg(all(doctest, feature = "read"))]
#[doc = include_str!("../README.md")]
struct Readme;
