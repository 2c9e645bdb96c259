//! `.ze_info` of compiled kernels.

use super::KernelImage;
use crate::ir::memory::SLM_ALIGN;
use crate::ir::{
    Addressing, ArgFact, ArgKind, FuncKind, ImageAccess, ImageFact, ImageShape, Sampler,
    SamplerFact,
};
use crate::target::Target;
use crate::target::abi::{NO_CROSS_BYTES, PACKED_IDS, Slot};
use gantry_zebin as ze;
use gantry_zebin::{
    AccessType, AddrMode, AddrSpace, BindingTableIndex, BufferFact, ExecutionEnv, InlineSampler,
    Kernel, MemoryBuffer, MemoryType, MemoryUsage, PayloadArg, PayloadKind, PerThreadArg,
    PerThreadIds, Pointer, SamplerAddress, SamplerFilter, SamplerType,
};

/// Returns the description of a kernel; `None` for other functions.
pub(super) fn kernel(target: &Target, k: &KernelImage<'_>) -> Option<Kernel> {
    let env = env(target, k)?;
    let has_sampler = target.features().sampler;
    let tables = Tables::new(k);
    let images = if has_sampler {
        tables.images.as_slice()
    } else {
        &[]
    };
    let bound = tables.surfaces.iter().chain(images.iter().map(|i| &i.0));
    let binding_table = (0..).zip(bound);
    let binding_table = binding_table.map(|(bti_value, &arg_index)| BindingTableIndex {
        bti_value,
        arg_index,
    });
    let inline_samplers = (tables.samplers.len() as u32..).zip(&k.func.samplers);
    let inline_samplers = inline_samplers.filter(|_| has_sampler);
    let mut out = Kernel {
        env,
        payload: payload(target, k, &tables),
        binding_table: binding_table.collect(),
        inline_samplers: inline_samplers.map(|(n, s)| inline_sampler(n, s)).collect(),
        ..Kernel::new(&k.func.name)
    };
    if k.payload.local_ids {
        let (kind, size) = if k.payload.packed_ids() {
            (PerThreadIds::Packed, PACKED_IDS)
        } else {
            (PerThreadIds::Local, k.payload.per_thread_bytes())
        };
        out.per_thread.push(PerThreadArg {
            kind,
            offset: 0,
            size,
        });
    }
    if k.scratch > 0 {
        out.memory.push(MemoryBuffer {
            ty: MemoryType::Scratch,
            usage: MemoryUsage::Single,
            size: k.scratch,
            slot: 0,
            is_simt_thread: false,
        });
    }
    Some(out)
}

fn env(target: &Target, k: &KernelImage<'_>) -> Option<ExecutionEnv> {
    let FuncKind::Kernel {
        simd,
        slm_bytes,
        group_size,
        ..
    } = k.func.kind
    else {
        return None;
    };
    let mut images = k.func.images();
    Some(ExecutionEnv {
        barrier_count: k.barriers,
        grf_count: Some(k.grf_count),
        has_fence_for_image_access: target.features().sampler
            && images.any(|(_, a)| a == ImageAccess::ReadWrite),
        // Instructions without a mask, and branches of one thread, must not affect a fused EU.
        require_disable_eufusion: target.features().fused_eus,
        required_work_group_size: group_size,
        offset_to_skip_per_thread_data_load: k.entry,
        simd_size: simd,
        // Local memory that the host sizes comes after it, aligned.
        slm_size: slm_bytes.next_multiple_of(SLM_ALIGN),
        ..ExecutionEnv::default()
    })
}

/// Returns the entries of the cross-thread payload.
fn payload(target: &Target, k: &KernelImage<'_>, tables: &Tables) -> Vec<PayloadArg> {
    let at = |kind, slot: &Slot| PayloadArg {
        kind,
        offset: slot.offset,
        size: slot.bytes,
    };
    // Stateful arguments are in no register.
    let nowhere = |p: Pointer| PayloadArg {
        kind: PayloadKind::Pointer(p),
        offset: 0,
        size: 0,
    };
    let mut out = Vec::new();
    for (index, (kind, slot)) in (0..).zip(&k.payload.args) {
        let pointer = |mode, space| Pointer::new(index, mode, space).access(AccessType::ReadWrite);
        let kind = match kind {
            ArgKind::Image(..) | ArgKind::Sampler => continue,
            ArgKind::Surface if slot.bytes == 0 => continue,
            ArgKind::Surface => PayloadKind::Buffer {
                index,
                fact: BufferFact::Offset,
            },
            ArgKind::Value => PayloadKind::Value {
                index,
                source_offset: 0,
                is_ptr: false,
            },
            ArgKind::Ptr => PayloadKind::Pointer(pointer(AddrMode::Stateless, AddrSpace::Global)),
            ArgKind::Slm => PayloadKind::Pointer(Pointer {
                slm_alignment: Some(Pointer::SLM_ALIGNMENT),
                ..pointer(AddrMode::Slm, AddrSpace::Local)
            }),
        };
        out.push(at(kind, slot));
    }
    for (fact, slot) in &k.payload.facts {
        out.push(at(PayloadKind::Launch(fact.entry()), slot));
    }
    for (of, fact, slot) in &k.payload.arg_facts {
        let of = usize::from(*of);
        let index = match fact {
            ArgFact::Image(_) => tables.images.get(of).map(|i| i.0),
            ArgFact::Sampler(_) => tables.samplers.get(of).copied(),
        };
        let index = index.unwrap_or(0);
        let driver = match fact {
            ArgFact::Image(fact) => {
                image_fact(*fact).map(|fact| PayloadKind::Image { index, fact })
            }
            ArgFact::Sampler(fact) => {
                sampler_fact(*fact).map(|fact| PayloadKind::Sampler { index, fact })
            }
        };
        let kind = match driver {
            Some(kind) if target.features().sampler => kind,
            // A part of the descriptor.
            _ => PayloadKind::Value {
                index,
                source_offset: in_descriptor(*fact),
                is_ptr: *fact == ArgFact::Image(ImageFact::FlatBase),
            },
        };
        out.push(at(kind, slot));
    }
    if k.payload.cross_is_empty() {
        // The driver requires at least one entry.
        out.push(PayloadArg {
            kind: PayloadKind::Launch(ze::LaunchFact::LocalSize),
            offset: 0,
            size: NO_CROSS_BYTES,
        });
    }
    let stateful = |n, space| Pointer::new(n, AddrMode::Stateful, space);
    for &n in &tables.surfaces {
        out.push(nowhere(
            stateful(n, AddrSpace::Global).access(AccessType::ReadWrite),
        ));
    }
    if !target.features().sampler {
        return out;
    }
    for &(n, (shape, access)) in &tables.images {
        out.push(nowhere(Pointer {
            image: Some(image_kind(shape)),
            ..stateful(n, AddrSpace::Image).access(access_type(access))
        }));
    }
    for (index, &n) in (0..).zip(&tables.samplers) {
        out.push(nowhere(Pointer {
            sampler_index: Some(index),
            sampler_type: Some(SamplerType::Texture),
            ..stateful(n, AddrSpace::Sampler).access(AccessType::ReadWrite)
        }));
    }
    out
}

/// Arguments that are in tables.
#[derive(Default)]
struct Tables {
    surfaces: Vec<u32>,
    images: Vec<(u32, (ImageShape, ImageAccess))>,
    samplers: Vec<u32>,
}

impl Tables {
    fn new(k: &KernelImage<'_>) -> Tables {
        let mut out = Tables::default();
        for (n, (kind, _)) in (0..).zip(&k.payload.args) {
            match *kind {
                ArgKind::Surface => out.surfaces.push(n),
                ArgKind::Image(shape, access) => out.images.push((n, (shape, access))),
                ArgKind::Sampler => out.samplers.push(n),
                ArgKind::Value | ArgKind::Ptr | ArgKind::Slm => {}
            }
        }
        out
    }
}

fn inline_sampler(sampler_index: u32, s: &Sampler) -> InlineSampler {
    InlineSampler {
        sampler_index,
        addrmode: match s.addressing {
            Addressing::Border => SamplerAddress::Border,
            Addressing::Edge => SamplerAddress::Edge,
            Addressing::Repeat => SamplerAddress::Repeat,
            Addressing::Mirror => SamplerAddress::Mirror,
        },
        filtermode: if s.linear {
            SamplerFilter::Linear
        } else {
            SamplerFilter::Nearest
        },
        normalized: s.normalized,
    }
}

/// Returns the driver's name of a property; `None` for those that it does not provide.
fn image_fact(fact: ImageFact) -> Option<ze::ImageFact> {
    Some(match fact {
        ImageFact::Width => ze::ImageFact::Width,
        ImageFact::Height => ze::ImageFact::Height,
        ImageFact::Depth => ze::ImageFact::Depth,
        ImageFact::Layers => ze::ImageFact::ArraySize,
        ImageFact::ChannelType => ze::ImageFact::ChannelType,
        ImageFact::ChannelOrder => ze::ImageFact::ChannelOrder,
        ImageFact::Samples => ze::ImageFact::Samples,
        ImageFact::Levels => ze::ImageFact::MipLevels,
        ImageFact::FlatBase => ze::ImageFact::FlatBase,
        ImageFact::FlatWidth => ze::ImageFact::FlatWidth,
        ImageFact::FlatHeight => ze::ImageFact::FlatHeight,
        ImageFact::FlatPitch => ze::ImageFact::FlatPitch,
        ImageFact::LayerRange => return None,
    })
}

/// Returns the driver's name of a property; `None` for those that it does not provide.
fn sampler_fact(fact: SamplerFact) -> Option<ze::SamplerFact> {
    match fact {
        SamplerFact::Addressing => Some(ze::SamplerFact::Address),
        SamplerFact::Normalized => Some(ze::SamplerFact::Normalized),
        SamplerFact::Snap => Some(ze::SamplerFact::SnapWa),
        _ => None,
    }
}

/// Returns the offset of a property in the descriptor of an image or a sampler.
fn in_descriptor(fact: ArgFact) -> u32 {
    use ze::SamplerDescriptor as Descriptor;
    match fact {
        ArgFact::Image(fact) => image_fact(fact)
            .and_then(ze::ImageDescriptor::offset)
            .unwrap_or(ze::ImageDescriptor::LAYER_RANGE),
        ArgFact::Sampler(fact) => match fact {
            SamplerFact::Filter => Descriptor::FILTER,
            SamplerFact::Compare => Descriptor::COMPARE,
            SamplerFact::AddressingV => Descriptor::ADDRESSING_V,
            SamplerFact::AddressingW => Descriptor::ADDRESSING_W,
            SamplerFact::MinFilter => Descriptor::MIN_FILTER,
            SamplerFact::MipFilter => Descriptor::MIP_FILTER,
            SamplerFact::MinLod => Descriptor::MIN_LOD,
            SamplerFact::MaxLod => Descriptor::MAX_LOD,
            SamplerFact::Addressing | SamplerFact::Normalized | SamplerFact::Snap => {
                sampler_fact(fact).map_or(0, Descriptor::offset)
            }
        },
    }
}

pub(super) fn image_kind(shape: ImageShape) -> ze::ImageKind {
    match shape {
        ImageShape::D1 => ze::ImageKind::D1,
        ImageShape::D1Array => ze::ImageKind::D1Array,
        ImageShape::D2 => ze::ImageKind::D2,
        ImageShape::D2Array => ze::ImageKind::D2Array,
        ImageShape::D3 => ze::ImageKind::D3,
        ImageShape::Block => ze::ImageKind::D2MediaBlock,
        ImageShape::Buffer => ze::ImageKind::Buffer,
        ImageShape::D2Msaa => ze::ImageKind::D2Msaa,
        ImageShape::D2ArrayMsaa => ze::ImageKind::D2ArrayMsaa,
        ImageShape::Cube => ze::ImageKind::Cube,
        ImageShape::CubeArray => ze::ImageKind::CubeArray,
    }
}

pub(super) fn access_type(access: ImageAccess) -> AccessType {
    match access {
        ImageAccess::Read => AccessType::Read,
        ImageAccess::Write => AccessType::Write,
        ImageAccess::ReadWrite => AccessType::ReadWrite,
    }
}
