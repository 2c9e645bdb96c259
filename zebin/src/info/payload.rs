//! Payload of a kernel's threads: entries of the cross-thread and of the per-thread data.

#[cfg(feature = "read")]
use crate::error::ZebinError;
use crate::info::image::{ImageKind, SamplerType};
#[cfg(feature = "read")]
use crate::record::Value;
use crate::record::{Item, keyword, record};
#[cfg(feature = "read")]
use crate::yaml::Node;
use crate::yaml::Text;
use gantry_isa_gen::named_enum;

/// Limit on cross-thread data, in bytes: a whole GRF file, which no hardware could load.
#[cfg(feature = "read")]
const MAX_PAYLOAD: u32 = 4096;

/// Kinds of entries that are arguments, or have fields of their own.
const BY_POINTER: &str = "arg_bypointer";
const BY_VALUE: &str = "arg_byvalue";
const INLINE_SAMPLER: &str = "inline_sampler";

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

/// Content of a payload entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayloadKind {
    /// `arg_bypointer`: memory, an image or a sampler that an argument names.
    Pointer(Pointer),
    /// `arg_byvalue`.
    Value {
        /// Argument index.
        index: u32,
        /// Offset in the argument of the entry's bytes.
        source_offset: u32,
        /// True if it is an address.
        is_ptr: bool,
    },
    /// Property of a pointer argument's buffer.
    Buffer {
        /// Argument index.
        index: u32,
        /// Property.
        fact: BufferFact,
    },
    /// Property of an image argument.
    Image {
        /// Argument index.
        index: u32,
        /// Property.
        fact: ImageFact,
    },
    /// Property of a sampler argument.
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
    /// `const_base` or `global_base`: address of the module's constants or globals.
    DataBase {
        /// True for the constants, false for the globals.
        constant: bool,
        /// Form of the address: 64-bit address, or bindless surface offset.
        mode: AddrMode,
        /// Binding table index of the same memory, where there is one.
        bti: Option<u32>,
    },
    /// Property of the launch.
    Launch(LaunchFact),
    /// Kind that the driver knows and Gantry's launches do not provide.
    Other(OtherFact),
}

/// Memory, image or sampler that an argument names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// Argument index.
    pub index: u32,
    /// Addressing of the memory.
    pub mode: AddrMode,
    /// Address space of the memory.
    pub space: AddrSpace,
    /// Access to the memory.
    pub access: Option<AccessType>,
    /// Alignment of an SLM pointer, in bytes.
    pub slm_alignment: Option<u32>,
    /// Type of an image.
    pub image: Option<ImageKind>,
    /// True if a 3D image may be given as an array of 2D ones.
    pub image_transformable: bool,
    /// Index of a sampler in the sampler table.
    pub sampler_index: Option<u32>,
    /// Type of a sampler.
    pub sampler_type: Option<SamplerType>,
    /// True for a pipe.
    pub is_pipe: bool,
}

impl Pointer {
    /// Alignment of SLM pointers that do not give one (compute-runtime, `zeinfo.h`).
    pub const SLM_ALIGNMENT: u32 = 16;
    /// Greatest alignment that its byte holds.
    pub const MAX_SLM_ALIGNMENT: u32 = 128;

    /// Creates a pointer without further fields.
    pub const fn new(index: u32, mode: AddrMode, space: AddrSpace) -> Pointer {
        Pointer {
            index,
            mode,
            space,
            access: None,
            slm_alignment: None,
            image: None,
            image_transformable: false,
            sampler_index: None,
            sampler_type: None,
            is_pipe: false,
        }
    }

    /// Returns the pointer with an access.
    pub const fn access(mut self, access: AccessType) -> Pointer {
        self.access = Some(access);
        self
    }
}

keyword! {
    /// Addressing of memory by a pointer argument.
    pub enum AddrMode {
        /// Surface of the binding table.
        Stateful = "stateful",
        /// 64-bit address in the payload.
        Stateless = "stateless",
        /// Bindless surface offset in the payload.
        Bindless = "bindless",
        /// SLM offset in the payload.
        Slm = "slm",
    }
}

keyword! {
    /// Address space of a pointer argument.
    pub enum AddrSpace {
        /// Global memory.
        Global = "global",
        /// Constant memory.
        Constant = "constant",
        /// Shared local memory.
        Local = "local",
        /// Image.
        Image = "image",
        /// Sampler.
        Sampler = "sampler",
    }
}

keyword! {
    /// Access to an argument's memory.
    pub enum AccessType {
        /// Reading.
        Read = "readonly",
        /// Writing.
        Write = "writeonly",
        /// Both.
        ReadWrite = "readwrite",
    }
}

named_enum! {
    /// Property of a pointer argument's buffer that the payload holds.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum BufferFact {
        /// 64-bit address.
        Address = "buffer_address",
        /// Byte offset of the pointer in its surface.
        Offset = "buffer_offset",
        /// Bytes of the buffer.
        Size = "buffer_size",
    }
}

named_enum! {
    /// Property of an image that the payload holds.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ImageFact {
        /// Width in texels.
        Width = "image_width",
        /// Height in texels; 0 where the type has none.
        Height = "image_height",
        /// Depth in slices; 0 where the type has none.
        Depth = "image_depth",
        /// Layers; 0 where the type has none.
        ArraySize = "image_array_size",
        /// OpenCL's number of the channels' type.
        ChannelType = "image_channel_data_type",
        /// OpenCL's number of the order of channels.
        ChannelOrder = "image_channel_order",
        /// OpenCL's number of the order of channels where it is an sRGB one, otherwise 0.
        SrgbChannelOrder = "image_srgb_channel_order",
        /// Samples of a texel.
        Samples = "image_num_samples",
        /// Mipmap levels.
        MipLevels = "image_num_mip_levels",
        /// 64-bit address.
        FlatBase = "flat_image_baseoffset",
        /// Bytes of a row, minus one.
        FlatWidth = "flat_image_width",
        /// Rows, minus one.
        FlatHeight = "flat_image_height",
        /// Bytes from row to row, minus one.
        FlatPitch = "flat_image_pitch",
    }
}

named_enum! {
    /// Property of a sampler that the payload holds.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum SamplerFact {
        /// Addressing: 0 none, 1 clamp, 2 clamp to edge, 3 repeat, 4 mirrored repeat.
        Address = "sampler_address",
        /// 8 if coordinates are normalized, otherwise 0.
        Normalized = "sampler_normalized",
        /// All ones where the kernel must move coordinates below 0 to -1 itself (nearest with a
        /// border).
        SnapWa = "sampler_snap_wa",
    }
}

named_enum! {
    /// Property of a launch that the payload holds.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum LaunchFact {
        /// Work-items of this group, three dimensions.
        LocalSize = "local_size",
        /// Work-items of a full group, three dimensions.
        EnqueuedLocalSize = "enqueued_local_size",
        /// Groups, three dimensions.
        GroupCount = "group_count",
        /// Work-items, three dimensions.
        GlobalSize = "global_size",
        /// Offset of global ids, three dimensions.
        GlobalIdOffset = "global_id_offset",
        /// Number of dimensions.
        WorkDimensions = "work_dimensions",
        /// 64-bit address of private memory.
        PrivateBase = "private_base_stateless",
        /// 64-bit address of the buffer that the kernel prints into.
        PrintfBuffer = "printf_buffer",
        /// 64-bit address of the launch's implicit arguments.
        ImplicitArgs = "implicit_arg_buffer",
        /// 64-bit address of the messages of failed assertions.
        AssertBuffer = "assert_buffer",
        /// 64-bit address of zeroed memory that the groups of the launch share.
        SyncBuffer = "sync_buffer",
    }
}

named_enum! {
    /// Property that the driver knows and Gantry's launches do not provide.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum OtherFact {
        /// Parameters of enqueued kernels.
        EnqueueParameters = "device_enqueue_data_parameter_buffer",
        /// Default queue of the device.
        EnqueueQueue = "device_enqueue_default_device_queue",
        /// Events of enqueued kernels.
        EnqueueEvents = "device_enqueue_event_pool",
        /// Largest group of an enqueued kernel.
        EnqueueGroupSize = "device_enqueue_max_workgroup_size",
        /// Event of the kernel that enqueues.
        EnqueueParent = "device_enqueue_parent_event",
        /// Multiple of work-items that suits an enqueued kernel.
        EnqueueMultiple = "device_enqueue_prefered_workgroup_multiple",
        /// Address of indirect data.
        IndirectData = "indirect_data_pointer",
        /// Multiple of work-items that suits the kernel.
        GroupMultiple = "preferred_workgroup_multiple",
        /// Barrier of a region of groups.
        RegionBarrier = "region_group_barrier_buffer",
        /// Dimension along which groups are cut into regions.
        RegionDimension = "region_group_dimension",
        /// Size of a region of groups.
        RegionSize = "region_group_size",
        /// Groups of a region.
        RegionGroups = "region_group_wg_count",
        /// Data of video motion estimation.
        InlineVme = "regular_inline_vme_data",
        /// Address of globals of ray tracing.
        RayTracing = "rt_global_buffer",
        /// Address of scratch.
        Scratch = "scratch_pointer",
        /// Blocks of video motion estimation.
        VmeBlockType = "vme_mb_block_type",
        /// Precision of video motion estimation.
        VmeSubpixel = "vme_subpixel_mode",
    }
}

named_enum! {
    /// Base address of module data, with its older name.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum BaseName {
        /// Constants.
        Const = "const_base",
        /// Globals.
        Global = "global_base",
        /// Constants.
        DataConst = "data_const_buffer",
        /// Globals.
        DataGlobal = "data_global_buffer",
    }
}

impl BufferFact {
    /// Returns the sizes in bytes that an entry may have.
    #[cfg(feature = "read")]
    const fn sizes(self) -> &'static [u32] {
        match self {
            BufferFact::Address | BufferFact::Size => &[4, 8],
            BufferFact::Offset => &[4],
        }
    }
}

impl LaunchFact {
    /// Returns the sizes in bytes that an entry may have.
    #[cfg(feature = "read")]
    const fn sizes(self) -> &'static [u32] {
        match self {
            // Fewer bytes are fewer dimensions.
            LaunchFact::LocalSize
            | LaunchFact::EnqueuedLocalSize
            | LaunchFact::GroupCount
            | LaunchFact::GlobalSize
            | LaunchFact::GlobalIdOffset => &[4, 8, 12],
            LaunchFact::WorkDimensions => &[4],
            LaunchFact::PrintfBuffer => &[4, 8],
            LaunchFact::PrivateBase
            | LaunchFact::ImplicitArgs
            | LaunchFact::AssertBuffer
            | LaunchFact::SyncBuffer => &[8],
        }
    }
}

impl PayloadKind {
    /// Returns the name of the kind (`arg_type`).
    pub const fn name(&self) -> &'static str {
        match self {
            PayloadKind::Pointer(_) => BY_POINTER,
            PayloadKind::Value { .. } => BY_VALUE,
            PayloadKind::Buffer { fact, .. } => fact.name(),
            PayloadKind::Image { fact, .. } => fact.name(),
            PayloadKind::Sampler { fact, .. } => fact.name(),
            PayloadKind::InlineSampler { .. } => INLINE_SAMPLER,
            PayloadKind::DataBase { constant: true, .. } => BaseName::Const.name(),
            PayloadKind::DataBase { .. } => BaseName::Global.name(),
            PayloadKind::Launch(fact) => fact.name(),
            PayloadKind::Other(fact) => fact.name(),
        }
    }

    /// Returns the index of the argument that it is of.
    pub const fn arg_index(&self) -> Option<u32> {
        match self {
            PayloadKind::Pointer(Pointer { index, .. })
            | PayloadKind::Value { index, .. }
            | PayloadKind::Buffer { index, .. }
            | PayloadKind::Image { index, .. }
            | PayloadKind::Sampler { index, .. } => Some(*index),
            _ => None,
        }
    }

    #[cfg(feature = "read")]
    fn read(n: &Node<'_>, size: u32) -> Result<PayloadKind, ZebinError> {
        let ty = n.need("arg_type")?.string()?;
        let name = ty.as_str();
        let index = || n.need("arg_index").and_then(|v| v.u32());
        let exactly = |want: &[u32]| {
            if want.contains(&size) {
                Ok(())
            } else {
                Err(n.error(&format!("`{name}` cannot have size {size}")))
            }
        };
        if let Some(fact) = LaunchFact::from_name(name) {
            exactly(fact.sizes())?;
            return Ok(PayloadKind::Launch(fact));
        }
        if let Some(fact) = BufferFact::from_name(name) {
            exactly(fact.sizes())?;
            let index = index()?;
            return Ok(PayloadKind::Buffer { index, fact });
        }
        if let Some(fact) = ImageFact::from_name(name) {
            exactly(match fact {
                ImageFact::FlatBase => &[8],
                _ => &[4],
            })?;
            let index = index()?;
            return Ok(PayloadKind::Image { index, fact });
        }
        if let Some(fact) = SamplerFact::from_name(name) {
            exactly(&[4])?;
            let index = index()?;
            return Ok(PayloadKind::Sampler { index, fact });
        }
        if let Some(base) = BaseName::from_name(name) {
            return Ok(PayloadKind::DataBase {
                constant: matches!(base, BaseName::Const | BaseName::DataConst),
                mode: optional(n, "addrmode")?.unwrap_or(AddrMode::Stateless),
                bti: bti(n)?,
            });
        }
        if let Some(fact) = OtherFact::from_name(name) {
            return Ok(PayloadKind::Other(fact));
        }
        Ok(match name {
            BY_POINTER => {
                exactly(&[0, 4, 8])?;
                PayloadKind::Pointer(Pointer::read(n, index()?)?)
            }
            BY_VALUE => PayloadKind::Value {
                index: index()?,
                source_offset: n.u32_or("source_offset", 0)?,
                is_ptr: n.flag("is_ptr")?,
            },
            INLINE_SAMPLER => PayloadKind::InlineSampler {
                sampler: n.need("sampler_index")?.u32()?,
            },
            _ => return Err(n.error(&format!("unknown arg_type `{name}`"))),
        })
    }
}

/// Returns a key's value, if it is there.
#[cfg(feature = "read")]
fn optional<T: Value>(n: &Node<'_>, key: &str) -> Result<Option<T>, ZebinError> {
    let value = n.get(key)?;
    value.map(|v| T::read(n, key, &v)).transpose()
}

/// Returns the binding table index of data that has one.
#[cfg(feature = "read")]
fn bti(n: &Node<'_>) -> Result<Option<u32>, ZebinError> {
    use crate::info::MAX_BTI;
    match n.get("bti_value")?.map(|v| v.string()).transpose()? {
        None => Ok(None),
        Some(v) if v.starts_with('-') => Ok(None),
        Some(_) => match n.need("bti_value")?.u32()? {
            bti if bti > MAX_BTI => Err(n.error(&format!("bti_value {bti} is above {MAX_BTI}"))),
            bti => Ok(Some(bti)),
        },
    }
}

#[cfg(feature = "read")]
impl Pointer {
    fn read(n: &Node<'_>, index: u32) -> Result<Pointer, ZebinError> {
        let need = |key| n.need(key);
        let space = AddrSpace::read(n, "addrspace", &need("addrspace")?)?;
        let access = optional(n, "access_type")?;
        let mode = AddrMode::read(n, "addrmode", &need("addrmode")?)?;
        let slm_alignment = match optional(n, "slm_alignment")? {
            Some(a) if !u32::is_power_of_two(a) || a > Pointer::MAX_SLM_ALIGNMENT => {
                return Err(n.error(&format!(
                    "slm_alignment {a} is no power of two from 1 to {}",
                    Pointer::MAX_SLM_ALIGNMENT
                )));
            }
            a => a,
        };
        let mut out = Pointer {
            access,
            slm_alignment,
            is_pipe: n.flag("is_pipe")?,
            ..Pointer::new(index, mode, space)
        };
        if space == AddrSpace::Image {
            out.image = optional(n, "image_type")?;
            out.image_transformable = n.flag("image_transformable")?;
        }
        if space == AddrSpace::Sampler {
            out.sampler_index = optional(n, "sampler_index")?;
            out.sampler_type = optional(n, "sampler_type")?;
        }
        Ok(out)
    }
}

impl Item for PayloadArg {
    #[cfg(feature = "read")]
    fn read(n: &Node<'_>) -> Result<Self, ZebinError> {
        let offset = n.u32_or("offset", 0)?;
        let size = n.u32_or("size", 0)?;
        if offset.checked_add(size).is_none_or(|end| end > MAX_PAYLOAD) {
            return Err(n.error(&format!(
                "offset {offset} and size {size} do not fit the register file"
            )));
        }
        let kind = PayloadKind::read(n, size)?;
        Ok(PayloadArg { kind, offset, size })
    }

    fn write(&self, out: &mut Text) {
        out.entry("arg_type", self.kind.name());
        out.entry("offset", self.offset);
        out.entry("size", self.size);
        if let Some(index) = self.kind.arg_index() {
            out.entry("arg_index", index);
        }
        let mut name = |key: &str, name: Option<&str>| {
            if let Some(name) = name {
                out.entry(key, name);
            }
        };
        match &self.kind {
            PayloadKind::Pointer(p) => {
                name("addrmode", Some(p.mode.name()));
                name("addrspace", Some(p.space.name()));
                name("access_type", p.access.map(AccessType::name));
                if let Some(index) = p.sampler_index {
                    out.entry("sampler_index", index);
                }
                if let Some(align) = p.slm_alignment {
                    out.entry("slm_alignment", align);
                }
                if let Some(image) = p.image {
                    out.entry("image_type", image.name());
                }
                if p.image_transformable {
                    out.entry("image_transformable", true);
                }
                if let Some(ty) = p.sampler_type {
                    out.entry("sampler_type", ty.name());
                }
                if p.is_pipe {
                    out.entry("is_pipe", true);
                }
            }
            PayloadKind::Value {
                source_offset,
                is_ptr,
                ..
            } => {
                // An address is a part of an argument, and drivers want the offset of each part.
                if *source_offset != 0 || *is_ptr {
                    out.entry("source_offset", source_offset);
                }
                if *is_ptr {
                    out.entry("is_ptr", true);
                }
            }
            PayloadKind::InlineSampler { sampler } => {
                name("addrmode", Some(AddrMode::Bindless.name()));
                name("addrspace", Some(AddrSpace::Sampler.name()));
                out.entry("sampler_index", sampler);
            }
            PayloadKind::DataBase { mode, bti, .. } => {
                name("addrmode", Some(mode.name()));
                if let Some(bti) = bti {
                    out.entry("bti_value", bti);
                }
            }
            _ => {}
        }
    }
}

record! {
    /// Entry of the per-thread payload.
    pub struct PerThreadArg {
        /// Content.
        need kind("arg_type"): PerThreadIds,
        /// Byte offset in the per-thread data.
        kept offset: u32,
        /// Size in bytes.
        kept size: u32,
    }
}

keyword! {
    /// Content of an entry of the per-thread payload.
    pub enum PerThreadIds {
        /// x, y and z of each channel as words.
        Local = "local_id",
        /// x, y, z of the thread (SIMD1) as three words.
        Packed = "packed_local_ids",
    }
}

#[cfg(feature = "read")]
impl PerThreadArg {
    /// Returns what is wrong with its position, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let PerThreadArg { kind, offset, size } = self;
        let beyond = offset
            .checked_add(*size)
            .is_none_or(|end| end > MAX_PAYLOAD);
        (*kind == PerThreadIds::Packed && (beyond || *size > 12))
            .then(|| format!("packed_local_ids cannot be {size} bytes at {offset}"))
    }
}
