//! Kernels of a zebin, as launches see them.

use crate::image_type::ImageType;
use crate::sampler::Sampler;
use gantry_zebin::{ArgRole, ExecutionEnv, MemoryBuffer, MemoryType, PayloadArg, PerThreadArg};

/// Entry of a kernel's sampler table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplerEntry {
    /// Index of the entry.
    pub index: u32,
    /// Source of its state.
    pub source: SamplerSource,
}

/// Source of a sampler's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SamplerSource {
    /// Argument of this index.
    Arg(u32),
    /// Code itself (`inline_samplers`).
    Inline(Sampler),
}

/// Kind of a kernel's argument, as a caller sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgKind {
    /// Pointer to global or constant memory, which takes a buffer.
    Buffer,
    /// Pointer to SLM, which takes a byte count.
    Local,
    /// Value.
    Value {
        /// Size in bytes.
        size: u32,
    },
    /// Image, of this type where the zebin says.
    Image(Option<ImageType>),
    /// Sampler.
    Sampler,
}

/// Argument of a kernel, as a caller sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgInfo {
    /// Kind.
    pub kind: ArgKind,
    /// Name and type in the source, where the zebin has them.
    pub names: Option<ArgNames>,
    /// Interface that a caller gives it through.
    pub role: ArgRole,
}

/// Name and type of an argument in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgNames {
    /// Name of the parameter.
    pub name: String,
    /// Type of the parameter.
    pub ty: String,
}

/// Kernel of a zebin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelInfo {
    /// Name.
    pub name: String,
    /// Requirements of its threads.
    pub env: ExecutionEnv,
    /// GRFs of a thread.
    pub grf_count: u32,
    /// Cross-thread payload.
    pub payload: Vec<PayloadArg>,
    /// Per-thread payload.
    pub per_thread: Vec<PerThreadArg>,
    /// Binding table: (index, argument index).
    pub binding_table: Vec<(u32, u32)>,
    /// Sampler table.
    pub samplers: Vec<SamplerEntry>,
    /// Memory of each thread.
    pub memory: Vec<MemoryBuffer>,
    /// Arguments that a caller gives, in order.
    pub args: Vec<ArgInfo>,
    /// True if the compiler says that launches of parts of a grid, with the offsets of their global
    /// ids, do what one of all does.
    pub divisible: bool,
}

impl KernelInfo {
    /// Returns the bytes of cross-thread data. They reach to the last entry, in units of 32 bytes
    /// whatever the size of a GRF (compute-runtime, `zebin_decoder.cpp`).
    pub fn cross_thread_bytes(&self) -> u32 {
        self.payload
            .iter()
            .map(|p| p.offset + p.size)
            .max()
            .unwrap_or(0)
            .next_multiple_of(32)
    }

    /// Returns the scratch bytes of a thread, for spills and private variables in scratch.
    pub fn scratch_bytes(&self) -> u32 {
        self.memory
            .iter()
            .filter(|m| m.ty != MemoryType::Global)
            .map(|m| m.thread_bytes(self.env.simd_size))
            .max()
            .unwrap_or(0)
    }

    /// Returns the private bytes of a thread in global memory.
    pub fn private_bytes(&self) -> u32 {
        self.memory
            .iter()
            .filter(|m| m.ty == MemoryType::Global)
            .map(|m| m.thread_bytes(self.env.simd_size))
            .max()
            .unwrap_or(0)
    }
}
