//! Preparing a launch: payload, surfaces, memory; and running its groups.

mod buffers;
mod cross_thread;
mod implicit;
mod payload;
mod run;
mod slm;
mod states;

pub(super) use cross_thread::patch_group;
pub(super) use implicit::{BYTES as IMPLICIT_ARGS_BYTES, ImplicitArgs};
pub(super) use payload::{INDIRECT_BASE, Layout};
pub(super) use run::{Control, run};

use super::memory::{Space, Table};
use super::module::{DataBuffers, SimModule, Whereabouts};
use super::program::Program;
use super::sampler::Samplers;
use super::surface::{Surface, Surfaces};
use super::{Bounds, SimOptions};
use crate::backend::Request;
use crate::error::Error;
use crate::limits::{Limits, within};
use crate::watch::Watch;
use crate::zebin::{KernelInfo, SourceLine};
use buffers::LaunchBuffers;
use cross_thread::CrossThread;
use gantry_isa_gen::Platform;
use states::States;
use std::sync::Arc;

/// Everything that the groups of a launch share.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Program,
    pub(super) kernel: &'a KernelInfo,
    module: &'a SimModule,
    /// The kernel's index in its module.
    index: usize,
    pub(super) space: &'a Arc<Space>,
    /// Buffers of the launch itself.
    buffers: LaunchBuffers,
    /// The device's memory.
    pub(super) memory: Table,
    pub(super) surfaces: Surfaces,
    pub(super) samplers: Samplers,
    /// Cross-thread data, but for what differs from group to group.
    pub(super) cross_thread: Vec<u8>,
    pub(super) implicit: Option<ImplicitArgs>,
    pub(super) simd: u32,
    /// Work-items of a thread.
    pub(super) items_per_thread: u32,
    pub(super) threads_per_group: u32,
    pub(super) layout: Layout,
    pub(super) slm_bytes: u32,
    pub(super) scratch: Scratch,
    /// Private memory of a thread, in bytes.
    pub(super) private_bytes: u32,
    pub(super) instruction_limit: u64,
    pub(super) bounds: Bounds,
    limits: Limits,
    /// Groups that may run at once.
    most_cores: usize,
    /// Who looks at what it does.
    pub(super) watch: Option<&'a Watch>,
    global: [u32; 3],
    local: [u32; 3],
}

/// What a module knows about a kernel's code.
pub(super) struct Code<'a> {
    pub(super) program: &'a Program,
    /// It looks for implicit arguments where `r0.0` points.
    pub(super) implicit_args: bool,
    pub(super) module: &'a SimModule,
}

/// The scratch of a launch's threads.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    /// Of a thread, in bytes: a power of two from 1 KB on, or 0.
    pub(super) bytes: u32,
    /// Before Xe-HP: offset of the first thread's from general state base; 0 would make a null offset valid. From Xe-HP on:
    /// what `r0.5` says, the offset of its surface state in units of 64 bytes, from bit 10 on.
    pub(super) base: u32,
    /// Reached through a surface state, each thread its own part.
    pub(super) surface: bool,
}

impl Scratch {
    fn new(platform: Platform, needed: u32, surfaces: &mut Surfaces) -> Scratch {
        let bytes = match needed {
            0 => 0,
            n => n.next_power_of_two().max(1024),
        };
        let surface = platform >= Platform::XeHp;
        let base = match (bytes, surface) {
            (0, _) => 0,
            (_, true) => (surfaces.add(Surface::Scratch) / 64) << 10,
            (_, false) => 0x1000,
        };
        Scratch {
            bytes,
            base,
            surface,
        }
    }

    /// What a thread's `r0.5` says of it.
    pub(super) fn pointer(&self, number: u32) -> u32 {
        if self.surface {
            self.base
        } else {
            self.base + number * self.bytes
        }
    }
}

/// The largest scratch of a thread, in bytes.
const MAX_SCRATCH: u32 = 2 << 20;
/// The largest indirect data of a group: payloads fit the register file, so this is more than any kernel has.
const MAX_INDIRECT: u64 = 16 << 20;

impl<'a> Plan<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        code: Code<'a>,
        space: &'a Arc<Space>,
        data: &DataBuffers,
        options: &SimOptions,
    ) -> Result<Plan<'a>, Error> {
        let kernel = request.kernel;
        let program = code.program;
        let platform = program.platform;
        let simd = kernel.env.simd_size;
        let unsupported = |what: String| Error::Unsupported {
            kernel: kernel.name.clone(),
            what,
            device: "the simulator".to_owned(),
        };
        if code.implicit_args && platform < Platform::XeHp {
            return Err(unsupported("implicit arguments at r0.0".to_owned()));
        }
        let buffers = LaunchBuffers::new(request, code.implicit_args, space, &options.limits)?;
        let memory = space.snapshot();
        let mut states = States::new(request, &memory);
        let CrossThread {
            bytes: cross_thread,
            local_bytes,
        } = cross_thread::fill(
            request,
            data,
            &buffers.addresses,
            &memory,
            &mut states,
            platform,
        )
        .map_err(unsupported)?;
        let implicit = ImplicitArgs::new(request, code.implicit_args, &buffers.addresses);
        let slm_bytes =
            slm::bytes(platform, kernel.env.slm_size, local_bytes).map_err(|message| {
                Error::Grid {
                    kernel: kernel.name.clone(),
                    message,
                }
            })?;
        let scratch = match kernel.scratch_bytes() {
            n if n > MAX_SCRATCH => {
                return Err(unsupported(format!("{n} bytes of scratch a thread")));
            }
            n => Scratch::new(platform, n, &mut states.surfaces),
        };
        let limits = options.limits;
        let limit = |excess| Error::Limit {
            kernel: kernel.name.clone(),
            excess,
        };
        let private_bytes = kernel.private_bytes();
        within(
            "bytes of private memory a thread",
            private_bytes as usize,
            limits.private_bytes,
        )
        .map_err(limit)?;
        let items = request.local.iter().product::<u32>();
        let items_per_thread = simd;
        let threads_per_group = items.div_ceil(items_per_thread);
        let in_header = if code.implicit_args {
            IMPLICIT_ARGS_BYTES
        } else {
            0
        };
        let layout = Layout::new(platform, kernel, in_header);
        let registers = layout.register_bytes();
        if registers > program.grf_end() {
            return Err(unsupported(format!("{registers} bytes of payload")));
        }
        if layout.indirect_bytes(threads_per_group) > MAX_INDIRECT {
            return Err(unsupported("that much indirect data".to_owned()));
        }
        let of_threads = [scratch.bytes, private_bytes].map(|n| n as usize);
        let of_threads = threads_per_group as usize * of_threads.iter().sum::<usize>();
        let of_group = of_threads + slm_bytes as usize;
        let left = limits.launch_bytes.saturating_sub(buffers.bytes());
        within("bytes of memory for the threads of a group", of_group, left).map_err(limit)?;
        Ok(Plan {
            program,
            kernel,
            module: code.module,
            index: request.index,
            space,
            buffers,
            memory,
            surfaces: states.surfaces,
            samplers: states.samplers,
            cross_thread,
            implicit,
            simd,
            items_per_thread,
            threads_per_group,
            layout,
            slm_bytes,
            scratch,
            private_bytes,
            instruction_limit: options.instruction_limit,
            bounds: options.bounds,
            limits,
            most_cores: left / of_group.max(1),
            watch: request.watch,
            global: request.global,
            local: request.local,
        })
    }

    /// The source line of the instruction at an offset of the kernel's code space.
    pub(super) fn source_line(&self, ip: u32) -> Option<SourceLine> {
        self.module.source_line(self.index, ip)
    }

    /// Where the instruction at an offset of the kernel's code space is.
    pub(super) fn whereabouts(&self, ip: u32) -> Whereabouts {
        self.module.whereabouts(self.index, ip)
    }

    /// Work-items of a group along each dimension: fewer than a full group's at the grid's edges.
    pub(super) fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        let mut size = self.local;
        for ((s, g), i) in size.iter_mut().zip(self.global).zip(id) {
            let first = i.saturating_mul(*s);
            *s = (*s).min(g.saturating_sub(first)).max(1);
        }
        size
    }
}
