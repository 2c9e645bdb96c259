//! Surface and sampler states of a launch's arguments, and the image and sampler properties in the
//! payload.

use super::super::image::SimImage;
use super::super::memory::Table;
use super::super::sampler::Samplers;
use super::super::surface::{BufferSurface, Surface, Surfaces, bindless_handle};
use crate::arg::Arg;
use crate::backend::LaunchRequest;
use crate::image::{AddressMode, FilterMode, Image, ImageType, Sampler};
use crate::zebin::{BufferFact, ImageFact, PayloadArg, PayloadKind, SamplerFact, SamplerSource};
use gantry_isa_gen::Platform;
use gantry_zebin::{ImageDescriptor, SamplerDescriptor};

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
        Some(Arg::Image(i)) => {
            let block = memory.at(i.texels.allocation_address());
            block.map(|b| Surface::Image(Box::new(SimImage::new(i, b.clone()))))
        }
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

/// Returns the bytes of an image or a sampler that is passed by value.
pub(super) fn descriptor(arg: &Arg) -> Option<Vec<u8>> {
    match arg {
        Arg::Image(i) => {
            let fact = |f| image_fact(i, f) as u32;
            let image = ImageDescriptor {
                base: image_fact(i, ImageFact::FlatBase),
                width: fact(ImageFact::Width),
                height: fact(ImageFact::Height),
                depth: fact(ImageFact::Depth),
                layers: fact(ImageFact::ArraySize),
                channel_type: fact(ImageFact::ChannelType),
                channel_order: fact(ImageFact::ChannelOrder),
                samples: fact(ImageFact::Samples),
                levels: fact(ImageFact::MipLevels),
                flat_width: fact(ImageFact::FlatWidth),
                flat_height: fact(ImageFact::FlatHeight),
                flat_pitch: fact(ImageFact::FlatPitch),
            };
            Some(image.bytes())
        }
        Arg::Sampler(s) => {
            let sampler = SamplerDescriptor {
                addressing: sampler_fact(s, SamplerFact::Address),
                normalized: sampler_fact(s, SamplerFact::Normalized),
                snap: sampler_fact(s, SamplerFact::SnapWa),
                filter: u32::from(s.filter == FilterMode::Linear),
                compare: s.compare as u32,
            };
            Some(sampler.bytes())
        }
        _ => None,
    }
}

/// Returns a property of an image as the payload has it.
pub(super) fn image_fact(image: &Image, fact: ImageFact) -> u64 {
    let (d, f) = (image.desc(), image.format());
    let ty = d.ty();
    let row = d.width() * f.texel_bytes();
    u64::from(match fact {
        ImageFact::Width => d.width(),
        ImageFact::Height => match ty {
            ImageType::D1 | ImageType::D1Buffer | ImageType::D1Array => 0,
            _ => d.height(),
        },
        ImageFact::Depth => match ty {
            ImageType::D3 => d.depth(),
            _ => 0,
        },
        ImageFact::ArraySize => {
            if ty == ImageType::CubeArray {
                d.layers() / 6
            } else if ty.is_array() {
                d.layers()
            } else {
                0
            }
        }
        ImageFact::ChannelType => f.channel().number(),
        ImageFact::ChannelOrder => f.order().number(),
        ImageFact::SrgbChannelOrder => {
            if f.order().is_srgb() {
                f.order().number()
            } else {
                0
            }
        }
        // The driver gives 0 for images that have one sample or level.
        ImageFact::Samples if ty.is_msaa() => d.samples(),
        ImageFact::MipLevels if d.levels() > 1 => d.levels(),
        ImageFact::Samples | ImageFact::MipLevels => 0,
        ImageFact::FlatBase => return image.texels.device_address(),
        ImageFact::FlatWidth | ImageFact::FlatPitch => row.wrapping_sub(1),
        ImageFact::FlatHeight => d.height().wrapping_sub(1),
    })
}

/// Returns a property of a sampler as the payload has it (numbers of Intel's driver,
/// `sampler_patch_values.h`).
pub(super) fn sampler_fact(s: &Sampler, fact: SamplerFact) -> u32 {
    match fact {
        SamplerFact::Address => match s.address {
            AddressMode::None => 0,
            AddressMode::Clamp => 1,
            AddressMode::ClampToEdge => 2,
            AddressMode::Repeat => 3,
            AddressMode::Mirror => 4,
        },
        SamplerFact::Normalized => u32::from(s.normalized) * 8,
        SamplerFact::SnapWa => {
            if s.filter == FilterMode::Nearest && s.address == AddressMode::Clamp {
                u32::MAX
            } else {
                0
            }
        }
    }
}
