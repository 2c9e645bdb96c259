//! Description of a zebin's kernels, as `.ze_info` has it.

use crate::image_type::ImageType;
use crate::sampler::Sampler;

/// Requirements of a kernel's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecutionEnv {
    /// Channels of a thread: 1, 8, 16 or 32.
    pub simd_size: u32,
    /// GRFs of a thread.
    pub grf_count: u32,
    /// Barriers that a group uses.
    pub barrier_count: u32,
    /// SLM that the code itself uses, in bytes. Local pointer arguments come on top.
    pub slm_size: u32,
    /// True if local pointers count from the end of the code's own SLM (`slm_alloc_mode` 1) instead
    /// of from 0.
    pub slm_runtime_adjusted: bool,
    /// Bytes of cross-thread data in registers when a thread starts (Xe-HP and later). The rest is
    /// in memory.
    pub inline_data_payload_size: u32,
    /// Byte offset from the kernel's start where threads begin that have their local ids in
    /// registers (Xe-HP and later).
    pub offset_to_skip_per_thread_data_load: u32,
    /// True if it calls functions that keep their variables on a stack, in scratch and private
    /// memory.
    pub has_stack_calls: bool,
    /// Only group size allowed, where there is one.
    pub required_work_group_size: Option<[u32; 3]>,
}

/// Addressing of memory by a pointer argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddrMode {
    /// Surface of the binding table.
    Stateful,
    /// 64-bit address in the payload.
    Stateless,
    /// Bindless surface offset in the payload.
    Bindless,
    /// SLM offset in the payload.
    Slm,
}

/// Address space of a pointer argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddrSpace {
    /// Global memory.
    Global,
    /// Constant memory.
    Constant,
    /// Shared local memory.
    Local,
    /// Image.
    Image,
    /// Sampler.
    Sampler,
}

/// Content of a payload entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayloadKind {
    /// `arg_bypointer`.
    Pointer {
        /// Argument index.
        index: u32,
        /// Addressing of the memory.
        mode: AddrMode,
        /// Address space of the memory.
        space: AddrSpace,
        /// Alignment of an SLM pointer, in bytes.
        slm_alignment: u32,
    },
    /// `arg_byvalue`.
    Value {
        /// Argument index.
        index: u32,
        /// Offset in the argument of the entry's bytes.
        source_offset: u32,
    },
    /// `buffer_address`: 64-bit address of a pointer argument.
    BufferAddress {
        /// Argument index.
        index: u32,
    },
    /// `buffer_offset`: byte offset of a pointer argument in its surface.
    BufferOffset {
        /// Argument index.
        index: u32,
    },
    /// `local_size`: work-items of this group, three dimensions.
    LocalSize,
    /// `enqueued_local_size`: work-items of a full group, three dimensions.
    EnqueuedLocalSize,
    /// `group_count`, three dimensions.
    GroupCount,
    /// `global_size`, three dimensions.
    GlobalSize,
    /// `global_id_offset`, three dimensions.
    GlobalIdOffset,
    /// `work_dimensions`.
    WorkDimensions,
    /// `private_base_stateless`: 64-bit address of private memory.
    PrivateBase,
    /// `const_base` / `data_const_buffer` and `global_base` / `data_global_buffer`: address of the
    /// module's constants or globals.
    DataBase {
        /// True for the constants, false for the globals.
        constant: bool,
        /// Form of the address: 64-bit address, or bindless surface offset.
        mode: AddrMode,
        /// Binding table index of the same memory, where there is one.
        bti: Option<u32>,
    },
    /// Property of an image argument, four bytes.
    Image {
        /// Argument index.
        index: u32,
        /// Property.
        fact: ImageFact,
    },
    /// Property of a sampler argument, four bytes.
    Sampler {
        /// Argument index.
        index: u32,
        /// Property.
        fact: SamplerFact,
    },
    /// `inline_sampler`: bindless offset of a sampler of the code's own.
    InlineSampler {
        /// Index in the sampler table.
        sampler: u32,
    },
    /// `printf_buffer`: 64-bit address of the buffer that the kernel prints into.
    PrintfBuffer,
    /// `implicit_arg_buffer`: 64-bit address of the launch's implicit arguments.
    ImplicitArgs,
    /// `assert_buffer`: 64-bit address of the messages of failed assertions.
    AssertBuffer,
    /// `sync_buffer`: 64-bit address of zeroed memory that the groups of the launch share.
    SyncBuffer,
    /// `buffer_size`: bytes of a pointer argument's buffer.
    BufferSize {
        /// Argument index.
        index: u32,
    },
    /// Kind that launches do not provide, by its name.
    Other(String),
}

/// Property of an image that the payload holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageFact {
    /// `image_width`, in texels.
    Width,
    /// `image_height`, in texels; 0 where the type has none.
    Height,
    /// `image_depth`, in slices; 0 where the type has none.
    Depth,
    /// `image_array_size`, in layers; 0 where the type has none.
    ArraySize,
    /// `image_channel_data_type`: OpenCL's number.
    ChannelType,
    /// `image_channel_order`: OpenCL's number.
    ChannelOrder,
    /// `image_srgb_channel_order`: OpenCL's number where the order is an sRGB one, otherwise 0.
    SrgbChannelOrder,
    /// `image_num_samples`.
    Samples,
    /// `image_num_mip_levels`.
    MipLevels,
    /// `flat_image_baseoffset`: 64-bit address.
    FlatBase,
    /// `flat_image_width`: bytes of a row, minus one.
    FlatWidth,
    /// `flat_image_height`: rows, minus one.
    FlatHeight,
    /// `flat_image_pitch`: bytes from row to row, minus one.
    FlatPitch,
}

impl ImageFact {
    /// Parses the name of an `arg_type`.
    pub(super) fn from_name(name: &str) -> Option<ImageFact> {
        Some(match name {
            "image_width" => ImageFact::Width,
            "image_height" => ImageFact::Height,
            "image_depth" => ImageFact::Depth,
            "image_array_size" => ImageFact::ArraySize,
            "image_channel_data_type" => ImageFact::ChannelType,
            "image_channel_order" => ImageFact::ChannelOrder,
            "image_srgb_channel_order" => ImageFact::SrgbChannelOrder,
            "image_num_samples" => ImageFact::Samples,
            "image_num_mip_levels" => ImageFact::MipLevels,
            "flat_image_baseoffset" => ImageFact::FlatBase,
            "flat_image_width" => ImageFact::FlatWidth,
            "flat_image_height" => ImageFact::FlatHeight,
            "flat_image_pitch" => ImageFact::FlatPitch,
            _ => return None,
        })
    }
}

/// Property of a sampler that the payload holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SamplerFact {
    /// `sampler_address`: 0 none, 1 clamp, 2 clamp to edge, 3 repeat, 4 mirrored repeat.
    Address,
    /// `sampler_normalized`: 8 if it is, otherwise 0.
    Normalized,
    /// `sampler_snap_wa`: all ones where the kernel must move coordinates below 0 to -1 itself
    /// (nearest with a border).
    SnapWa,
}

impl SamplerFact {
    /// Parses the name of an `arg_type`.
    pub(super) fn from_name(name: &str) -> Option<SamplerFact> {
        Some(match name {
            "sampler_address" => SamplerFact::Address,
            "sampler_normalized" => SamplerFact::Normalized,
            "sampler_snap_wa" => SamplerFact::SnapWa,
            _ => return None,
        })
    }
}

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

/// Entry of the cross-thread payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayloadArg {
    /// Content.
    pub kind: PayloadKind,
    /// Byte offset in the cross-thread data.
    pub offset: u32,
    /// Size in bytes; 0 for stateful pointers, which are in no register.
    pub size: u32,
}

/// Entry of the per-thread payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PerThreadArg {
    /// `local_id`: x, y and z of each channel as words.
    LocalId {
        /// Byte offset in the per-thread data.
        offset: u32,
        /// Size in bytes.
        size: u32,
    },
    /// `packed_local_ids`: x, y, z of the thread (SIMD1) as three words.
    PackedLocalIds {
        /// Byte offset in the per-thread data.
        offset: u32,
        /// Size in bytes.
        size: u32,
    },
}

/// Memory of each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryBuffer {
    /// True for global memory (addressed through `private_base_stateless`), false for scratch.
    pub global: bool,
    /// Size in bytes of a thread, or of a channel if `per_channel`.
    pub size: u32,
    /// True if `size` counts for each channel.
    pub per_channel: bool,
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

/// Interface that a caller gives an argument through. Gantry's compiler records it for shaders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgRole {
    /// Argument list, by number.
    Argument,
    /// Resources of a shader, by binding.
    Resource(BindingPlace, Resource),
    /// Push constants of a shader.
    PushConstants,
    /// Size in bytes of the buffer argument of this number. Launches fill it in.
    SizeOf(u32),
}

/// Location of a resource in a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BindingPlace {
    /// Descriptor set; in WGSL, the group.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for an array of resources.
    pub element: u32,
}

/// Resource of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Resource {
    /// Storage buffer.
    StorageBuffer {
        /// Bytes that it must have: the fixed part, and one element of the array that it ends in.
        least: u32,
        /// True if the shader only reads it.
        read_only: bool,
    },
    /// Uniform buffer.
    UniformBuffer {
        /// Bytes that it must have.
        least: u32,
    },
    /// Image.
    Image,
    /// Sampler.
    Sampler,
}

impl Resource {
    /// Returns the bytes that a buffer must have; 0 for other resources.
    pub const fn least(self) -> u32 {
        match self {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            Resource::Image | Resource::Sampler => 0,
        }
    }
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
            .filter(|m| !m.global)
            .map(|m| self.thread_bytes(m))
            .max()
            .unwrap_or(0)
    }

    /// Returns the private bytes of a thread in global memory.
    pub fn private_bytes(&self) -> u32 {
        self.memory
            .iter()
            .filter(|m| m.global)
            .map(|m| self.thread_bytes(m))
            .max()
            .unwrap_or(0)
    }

    fn thread_bytes(&self, m: &MemoryBuffer) -> u32 {
        if m.per_channel {
            m.size.saturating_mul(self.env.simd_size)
        } else {
            m.size
        }
    }
}
