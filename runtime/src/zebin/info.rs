//! `.ze_info`: what a zebin says about its kernels.

use crate::image::{ImageType, Sampler};

/// What a kernel's threads need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecutionEnv {
    /// Channels of a thread: 1, 8, 16 or 32.
    pub simd_size: u32,
    /// GRFs of a thread.
    pub grf_count: u32,
    /// Barriers a group uses.
    pub barrier_count: u32,
    /// SLM that the code itself uses, in bytes (local pointer arguments come on top).
    pub slm_size: u32,
    /// Whether local pointers count from the end of the code's own SLM (`slm_alloc_mode` 1) instead of from 0.
    pub slm_runtime_adjusted: bool,
    /// Bytes of cross-thread data that registers hold when a thread starts (Xe-HP and later; the rest is in memory).
    pub inline_data_payload_size: u32,
    /// Where threads start that find their local ids in registers, in bytes from the kernel's start (Xe-HP and later).
    pub offset_to_skip_per_thread_data_load: u32,
    /// Whether it calls functions that keep their variables on a stack, in scratch and private memory.
    pub has_stack_calls: bool,
    /// The only group size allowed, where there is one.
    pub required_work_group_size: Option<[u32; 3]>,
}

/// How a pointer argument reaches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddrMode {
    /// Through a surface of the binding table.
    Stateful,
    /// By a 64-bit address in the payload.
    Stateless,
    /// Through a bindless surface offset in the payload.
    Bindless,
    /// By an SLM offset in the payload.
    Slm,
}

/// The address space of a pointer argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddrSpace {
    /// Global memory.
    Global,
    /// Constant memory.
    Constant,
    /// Shared local memory.
    Local,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

/// What a payload entry holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayloadKind {
    /// `arg_bypointer`.
    Pointer {
        /// Argument index.
        index: u32,
        /// How memory is reached.
        mode: AddrMode,
        /// Which memory.
        space: AddrSpace,
        /// Alignment of an SLM pointer, in bytes.
        slm_alignment: u32,
    },
    /// `arg_byvalue`.
    Value {
        /// Argument index.
        index: u32,
        /// Which bytes of the argument, from here.
        source_offset: u32,
    },
    /// `buffer_address`: the 64-bit address of a pointer argument.
    BufferAddress {
        /// Argument index.
        index: u32,
    },
    /// `buffer_offset`: the byte offset of a pointer argument in its surface.
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
    /// `const_base` / `data_const_buffer` and `global_base` / `data_global_buffer`: where the module's constants or globals
    /// are.
    DataBase {
        /// The constants; else the globals.
        constant: bool,
        /// As a 64-bit address, or as a bindless surface offset.
        mode: AddrMode,
        /// The binding table index that names them too, where there is one.
        bti: Option<u32>,
    },
    /// A fact about an image argument, four bytes.
    Image {
        /// Argument index.
        index: u32,
        /// Which fact.
        fact: ImageFact,
    },
    /// A fact about a sampler argument, four bytes.
    Sampler {
        /// Argument index.
        index: u32,
        /// Which fact.
        fact: SamplerFact,
    },
    /// `inline_sampler`: the bindless offset of a sampler of the code's own.
    InlineSampler {
        /// Which: its place in the sampler table.
        sampler: u32,
    },
    /// `printf_buffer`: 64-bit address of what the kernel prints.
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
    /// A kind that launches do not provide, by its name.
    Other(String),
}

/// A fact about an image that the payload holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageFact {
    /// `image_width`, in texels.
    Width,
    /// `image_height`, in texels; 0 where the shape has none.
    Height,
    /// `image_depth`, in slices; 0 where the shape has none.
    Depth,
    /// `image_array_size`, in layers; 0 where the shape has none.
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
    /// `flat_image_baseoffset`: the 64-bit address.
    FlatBase,
    /// `flat_image_width`: bytes of a row, minus one.
    FlatWidth,
    /// `flat_image_height`: rows, minus one.
    FlatHeight,
    /// `flat_image_pitch`: bytes from row to row, minus one.
    FlatPitch,
}

impl ImageFact {
    /// The fact of an `arg_type`.
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

/// A fact about a sampler that the payload holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SamplerFact {
    /// `sampler_address`: 0 none, 1 clamp, 2 clamp to edge, 3 repeat, 4 mirrored repeat.
    Address,
    /// `sampler_normalized`: 8 if it is, otherwise 0.
    Normalized,
    /// `sampler_snap_wa`: all ones where the kernel must move coordinates below 0 to -1 itself (nearest with a border).
    SnapWa,
}

impl SamplerFact {
    /// The fact of an `arg_type`.
    pub(super) fn from_name(name: &str) -> Option<SamplerFact> {
        Some(match name {
            "sampler_address" => SamplerFact::Address,
            "sampler_normalized" => SamplerFact::Normalized,
            "sampler_snap_wa" => SamplerFact::SnapWa,
            _ => return None,
        })
    }
}

/// An entry of a kernel's sampler table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplerEntry {
    /// Which entry.
    pub index: u32,
    /// Where its state comes from.
    pub source: SamplerSource,
}

/// Where a sampler comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SamplerSource {
    /// An argument, by index.
    Arg(u32),
    /// The code itself (`inline_samplers`).
    Inline(Sampler),
}

/// One entry of the cross-thread payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayloadArg {
    /// What it holds.
    pub kind: PayloadKind,
    /// Where in the cross-thread data, in bytes.
    pub offset: u32,
    /// How many bytes; 0 for stateful pointers, which are in no register.
    pub size: u32,
}

/// Per-thread payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PerThreadArg {
    /// `local_id`: x, y and z of each channel as words.
    LocalId {
        /// Where in the per-thread data, in bytes.
        offset: u32,
        /// How many bytes.
        size: u32,
    },
    /// `packed_local_ids`: x, y, z of the thread (SIMD1) as three words.
    PackedLocalIds {
        /// Where in the per-thread data, in bytes.
        offset: u32,
        /// How many bytes.
        size: u32,
    },
}

/// Memory of each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryBuffer {
    /// In global memory (addressed through `private_base_stateless`); else scratch.
    pub global: bool,
    /// Bytes: of a thread, or of a channel if `per_channel`.
    pub size: u32,
    /// Whether `size` counts for each channel.
    pub per_channel: bool,
}

/// What an argument of a kernel is to a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgKind {
    /// A pointer to global or constant memory: takes a buffer.
    Buffer,
    /// A pointer to SLM: takes a byte count.
    Local,
    /// By value, of so many bytes.
    Value {
        /// Bytes.
        size: u32,
    },
    /// An image, of this type where the zebin says.
    Image(Option<ImageType>),
    /// A sampler.
    Sampler,
}

/// An argument of a kernel, as a caller sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgInfo {
    /// What it is.
    pub kind: ArgKind,
    /// What the source calls it, where the zebin says.
    pub names: Option<ArgNames>,
    /// How a caller finds it.
    pub role: ArgRole,
}

/// How a caller finds an argument: what Gantry's compiler says of shaders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgRole {
    /// By its number.
    Argument,
    /// By its place among a shader's resources.
    Resource(BindingPlace, Resource),
    /// It is a shader's push constants.
    PushConstants,
    /// It is the size in bytes of the buffer that is the argument of this number: launches fill it in.
    SizeOf(u32),
}

/// A place of a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BindingPlace {
    /// The descriptor set; of WGSL, the group.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The element, where it is an array of resources.
    pub element: u32,
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Resource {
    /// A storage buffer.
    StorageBuffer {
        /// Bytes that it must have: what is always there, and one element of the array that it ends in.
        least: u32,
        /// Whether the shader only reads it.
        read_only: bool,
    },
    /// A uniform buffer.
    UniformBuffer {
        /// Bytes that it must have.
        least: u32,
    },
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

impl Resource {
    /// Bytes that a buffer must have; 0 of what is none.
    pub const fn least(self) -> u32 {
        match self {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            Resource::Image | Resource::Sampler => 0,
        }
    }
}

/// Source names of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgNames {
    /// The parameter's name.
    pub name: String,
    /// The parameter's type.
    pub ty: String,
}

/// A kernel of a zebin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// What its threads need.
    pub env: ExecutionEnv,
    /// The cross-thread payload.
    pub payload: Vec<PayloadArg>,
    /// The per-thread payload.
    pub per_thread: Vec<PerThreadArg>,
    /// Binding table: (index, argument index).
    pub binding_table: Vec<(u32, u32)>,
    /// Sampler table.
    pub samplers: Vec<SamplerEntry>,
    /// Memory of each thread.
    pub memory: Vec<MemoryBuffer>,
    /// The arguments a caller gives, in order.
    pub args: Vec<ArgInfo>,
}

impl KernelInfo {
    /// Bytes of cross-thread data: up to the last entry, in units of 32 bytes whatever the size of a GRF (compute-runtime,
    /// `zebin_decoder.cpp`).
    pub fn cross_thread_bytes(&self) -> u32 {
        self.payload
            .iter()
            .map(|p| p.offset + p.size)
            .max()
            .unwrap_or(0)
            .next_multiple_of(32)
    }

    /// Scratch bytes of a thread, for spills and private variables in scratch.
    pub fn scratch_bytes(&self) -> u32 {
        self.memory
            .iter()
            .filter(|m| !m.global)
            .map(|m| self.thread_bytes(m))
            .max()
            .unwrap_or(0)
    }

    /// Private bytes of a thread in global memory.
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
