//! Surface and sampler states of a launch's arguments.

use super::super::image::SimImage;
use super::super::memory::Table;
use super::super::sampler::Samplers;
use super::super::surface::{BufferSurface, Surface, Surfaces, bindless_handle};
use crate::arg::Arg;
use crate::backend::LaunchRequest;
use crate::image::Sampler;
use crate::zebin::{BufferFact, PayloadArg, PayloadKind, SamplerSource};
use gantry_isa_gen::Platform;

/// Surface and sampler states of a launch.
pub(in super::super) struct LaunchStates {
    pub(in super::super) surfaces: Surfaces,
    pub(in super::super) samplers: Samplers,
}

impl LaunchStates {
    /// Creates the states of the binding table and the sampler table.
    pub(super) fn new(request: &LaunchRequest<'_>, memory: &Table) -> LaunchStates {
        let arg = |index: u32| request.args.get(index as usize);
        let mut surfaces = Surfaces::default();
        for (bti, index) in &request.kernel.binding_table {
            surfaces.bind(*bti as usize, surface(request, *index, memory));
        }
        let mut samplers = Samplers::default();
        for e in &request.kernel.samplers {
            let sampler = match e.source {
                SamplerSource::Inline(s) => Some(s),
                SamplerSource::Arg(index) => sampler_arg(arg(index)),
            };
            if let Some(s) = sampler {
                samplers.set(e.index as usize, s);
            }
        }
        LaunchStates { surfaces, samplers }
    }

    /// Adds a state for a bindless argument. Returns its offset in the form of the platform's
    /// messages.
    pub(super) fn bindless(
        &mut self,
        request: &LaunchRequest<'_>,
        index: u32,
        memory: &Table,
        platform: Platform,
    ) -> u32 {
        match sampler_arg(request.args.get(index as usize)) {
            Some(s) => self.samplers.add(s),
            None => {
                let state = self.surfaces.add(surface(request, index, memory));
                bindless_handle(platform, state)
            }
        }
    }

    /// Sets a binding table entry to a module's data.
    pub(super) fn bind_data(&mut self, bti: u32, base: u64, memory: &Table) {
        self.surfaces.bind(bti as usize, data_surface(base, memory));
    }

    /// Adds a state for a module's data. Returns its offset in the form of the platform's messages.
    pub(super) fn bindless_data(&mut self, base: u64, memory: &Table, platform: Platform) -> u32 {
        bindless_handle(platform, self.surfaces.add(data_surface(base, memory)))
    }
}

/// Returns the surface of a module's data.
fn data_surface(base: u64, memory: &Table) -> Surface {
    memory.at(base).map_or(Surface::Null, |b| {
        Surface::Buffer(BufferSurface::whole(b.clone()))
    })
}

/// Byte offset of a buffer in its surface, for kernels that ask for it. A driver's surface is that
/// of the allocation which the buffer is a part of. Here the surface's first bytes belong to
/// nothing, so that a kernel which does not add the offset fails.
pub(super) const FRONT: u32 = 256;

/// Returns the surface of an argument.
fn surface(request: &LaunchRequest<'_>, index: u32, memory: &Table) -> Surface {
    let asks = |p: &PayloadArg| {
        p.kind
            == PayloadKind::Buffer {
                index,
                fact: BufferFact::Offset,
            }
    };
    let front = if request.kernel.payload.iter().any(asks) {
        FRONT
    } else {
        0
    };
    match request.args.get(index as usize) {
        Some(Arg::Buffer(b)) => memory.at(b.allocation_address()).map(|block| {
            Surface::Buffer(BufferSurface {
                block: block.clone(),
                at: b.offset() as u64,
                len: b.len() as u64,
                first: front,
            })
        }),
        Some(Arg::Image(i)) => i.memory().and_then(|texels| {
            let block = memory.at(texels.allocation_address())?;
            let image = SimImage::new(i, texels.offset(), block.clone());
            Some(Surface::Image(Box::new(image)))
        }),
        _ => None,
    }
    .unwrap_or(Surface::Null)
}

/// Returns the sampler of an argument.
pub(super) fn sampler_arg(arg: Option<&Arg>) -> Option<Sampler> {
    match arg {
        Some(Arg::Sampler(s)) => Some(*s),
        _ => None,
    }
}
