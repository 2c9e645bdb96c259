//! Cross-thread data: every `payload_arguments` entry of a kernel at its offset.
//!
//! The kinds are those of intel-graphics-compiler, `IGC/ZEBinWriter/zebin/spec/zeinfo.md`. They are
//! filled in as compute-runtime does.

use super::super::memory::Table;
use super::super::module::DataBuffers;
use super::super::sampler::Samplers;
use super::implicit::BufferAddresses;
use super::slm;
use super::states::{self, LaunchStates};
use crate::arg::Arg;
use crate::backend::LaunchRequest;
use crate::image_facts;
use crate::zebin::{AddrMode, BufferFact, KernelInfo, LaunchFact, PayloadKind, Pointer};
use gantry_isa_gen::Platform;

/// Cross-thread data of a launch.
pub(super) struct CrossThread {
    /// Bytes, except those that differ from group to group.
    pub(super) bytes: Vec<u8>,
    /// SLM of local pointer arguments, in bytes.
    pub(super) local_bytes: u64,
}

/// Fills in everything that all groups share. An error names an argument that launches do not
/// provide.
pub(super) fn fill(
    request: &LaunchRequest<'_>,
    data: &DataBuffers,
    buffers: &BufferAddresses,
    memory: &Table,
    states: &mut LaunchStates,
    platform: Platform,
) -> Result<CrossThread, String> {
    let kernel = request.kernel;
    let mut bytes = vec![0; kernel.cross_thread_bytes() as usize];
    let groups = request.groups();
    let locals = slm::LocalPointers::new(kernel, request.args);
    // The code adds its own static size to local pointers, unless it asks for that here.
    let static_slm = if kernel.env.slm_runtime_adjusted() {
        u64::from(kernel.env.slm_size)
    } else {
        0
    };
    for p in &kernel.payload {
        let arg = |index: &u32| request.args.get(*index as usize);
        let address = |index: &u32| match arg(index) {
            Some(Arg::Buffer(b)) => b.device_address(),
            Some(Arg::Address(a)) => *a,
            _ => 0,
        };
        let triple = |v: &[u32; 3]| v.map(u32::to_le_bytes).as_flattened().to_vec();
        let value: Vec<u8> = match &p.kind {
            PayloadKind::Pointer(Pointer { index, mode, .. }) => match mode {
                AddrMode::Stateful => continue,
                AddrMode::Stateless => address(index).to_le_bytes().to_vec(),
                AddrMode::Slm => (static_slm + locals.offset(*index)).to_le_bytes().to_vec(),
                AddrMode::Bindless => states
                    .bindless(request, *index, memory, platform)
                    .to_le_bytes()
                    .to_vec(),
            },
            PayloadKind::Value {
                index,
                source_offset,
                ..
            } => match arg(index) {
                Some(Arg::Value(v) | Arg::Bytes(v)) => {
                    v.get(*source_offset as usize..).unwrap_or(&[]).to_vec()
                }
                // Where there is no sampler.
                Some(arg @ (Arg::Image(_) | Arg::Sampler(_))) => {
                    let bytes = image_facts::descriptor(arg).unwrap_or_default();
                    bytes.get(*source_offset as usize..).unwrap_or(&[]).to_vec()
                }
                _ => continue,
            },
            PayloadKind::Buffer { index, fact } => match (fact, arg(index)) {
                (BufferFact::Address, _) => address(index).to_le_bytes().to_vec(),
                (BufferFact::Offset, _) => states::FRONT.to_le_bytes().to_vec(),
                (BufferFact::Size, Some(Arg::Buffer(b))) => (b.len() as u64).to_le_bytes().to_vec(),
                (BufferFact::Size, _) => continue,
            },
            PayloadKind::DataBase {
                constant,
                mode,
                bti,
            } => {
                let base = if *constant {
                    data.constant
                } else {
                    data.global
                };
                if let Some(bti) = bti {
                    states.bind_data(*bti, base, memory);
                }
                match mode {
                    AddrMode::Bindless => states
                        .bindless_data(base, memory, platform)
                        .to_le_bytes()
                        .to_vec(),
                    _ => base.to_le_bytes().to_vec(),
                }
            }
            PayloadKind::Image { index, fact } => match arg(index) {
                Some(Arg::Image(i)) => image_facts::image_fact(i, *fact).to_le_bytes().to_vec(),
                _ => continue,
            },
            PayloadKind::Sampler { index, fact } => match arg(index) {
                Some(Arg::Sampler(s)) => image_facts::sampler_fact(s, *fact).to_le_bytes().to_vec(),
                _ => continue,
            },
            PayloadKind::InlineSampler { sampler } => {
                Samplers::offset(*sampler).to_le_bytes().to_vec()
            }
            PayloadKind::Launch(fact) => match fact {
                LaunchFact::EnqueuedLocalSize => triple(&request.local),
                LaunchFact::GroupCount => triple(&groups),
                LaunchFact::GlobalSize => triple(&request.global),
                LaunchFact::GlobalIdOffset => triple(&request.offset),
                LaunchFact::WorkDimensions => request.dimensions.to_le_bytes().to_vec(),
                LaunchFact::PrintfBuffer => buffers.printf.to_le_bytes().to_vec(),
                LaunchFact::AssertBuffer => buffers.assert.to_le_bytes().to_vec(),
                LaunchFact::SyncBuffer => buffers.sync.to_le_bytes().to_vec(),
                // These differ from group to group or from core to core.
                LaunchFact::LocalSize | LaunchFact::PrivateBase | LaunchFact::ImplicitArgs => {
                    continue;
                }
            },
            PayloadKind::Other(fact) => return Err(format!("the `{}` argument", fact.name())),
        };
        put(&mut bytes, p.offset, p.size, &value);
    }
    Ok(CrossThread {
        bytes,
        local_bytes: locals.bytes,
    })
}

/// Fills in everything that differs from group to group: the group's size, and the addresses of its
/// core's private memory and implicit arguments.
pub(in super::super) fn patch_group(
    kernel: &KernelInfo,
    cross: &mut [u8],
    size: [u32; 3],
    private: u64,
    implicit: u64,
) {
    for p in &kernel.payload {
        let PayloadKind::Launch(fact) = p.kind else {
            continue;
        };
        match fact {
            LaunchFact::LocalSize => {
                put(
                    cross,
                    p.offset,
                    p.size,
                    size.map(u32::to_le_bytes).as_flattened(),
                );
            }
            LaunchFact::PrivateBase => put(cross, p.offset, p.size, &private.to_le_bytes()),
            LaunchFact::ImplicitArgs => put(cross, p.offset, p.size, &implicit.to_le_bytes()),
            _ => {}
        }
    }
}

/// Writes at most `size` bytes of a value.
fn put(out: &mut [u8], offset: u32, size: u32, value: &[u8]) {
    if let Some(o) = out.get_mut(offset as usize..(offset + size) as usize) {
        for (o, v) in o.iter_mut().zip(value) {
            *o = *v;
        }
    }
}
