//! Preparation of a launch (payload, surfaces, memory), and execution of its groups.

mod buffers;
mod cross_thread;
mod implicit;
mod payload;
mod run;
mod slm;
mod states;

pub(super) use cross_thread::patch_group;
pub(super) use implicit::{BYTES as IMPLICIT_ARGS_BYTES, ImplicitArgs};
pub(super) use payload::{INDIRECT_BASE, PayloadLayout};
pub(super) use run::{LaunchControl, run};

use super::memory::{Space, Table};
use super::module::{CodeLocation, DataBuffers, SimModule};
use super::program::Program;
use super::sampler::Samplers;
use super::surface::{Surface, Surfaces};
use super::{Bounds, SimOptions};
use crate::backend::LaunchRequest;
use crate::error::Error;
use crate::limits::{Limits, within};
use crate::watch::Watch;
use crate::zebin::{KernelInfo, SourceLine};
use buffers::LaunchBuffers;
use cross_thread::CrossThread;
use gantry_isa_gen::Platform;
use states::LaunchStates;
use std::sync::Arc;

/// State that the groups of a launch share.
pub(super) struct LaunchPlan<'a> {
    pub(super) program: &'a Program,
    pub(super) kernel: &'a KernelInfo,
    module: &'a SimModule,
    /// Index of the kernel in its module.
    index: usize,
    pub(super) space: &'a Arc<Space>,
    /// Buffers of the launch itself.
    buffers: LaunchBuffers,
    /// Memory of the device.
    pub(super) memory: Table,
    pub(super) surfaces: Surfaces,
    pub(super) samplers: Samplers,
    /// Cross-thread data, except what differs from group to group.
    pub(super) cross_thread: Vec<u8>,
    pub(super) implicit: Option<ImplicitArgs>,
    pub(super) simd: u32,
    /// Work-items of a thread.
    pub(super) items_per_thread: u32,
    pub(super) threads_per_group: u32,
    pub(super) layout: PayloadLayout,
    pub(super) slm_bytes: u32,
    pub(super) scratch: ScratchLayout,
    /// Private memory of a thread, in bytes.
    pub(super) private_bytes: u32,
    pub(super) instruction_limit: u64,
    pub(super) bounds: Bounds,
    limits: Limits,
    /// Number of groups that may run at once.
    most_cores: usize,
    /// Observer of the launch.
    pub(super) watch: Option<&'a Watch>,
    global: [u32; 3],
    local: [u32; 3],
}

/// Code of a kernel, as its module provides it.
pub(super) struct KernelProgram<'a> {
    pub(super) program: &'a Program,
    /// True if it takes the address of implicit arguments from `r0.0`.
    pub(super) implicit_args: bool,
    pub(super) module: &'a SimModule,
}

/// Scratch of a launch's threads.
#[derive(Clone, Copy)]
pub(super) struct ScratchLayout {
    /// Bytes of a thread: a power of two from 1 KB on, or 0.
    pub(super) bytes: u32,
    /// Before Xe-HP, offset of the first thread's scratch from general state base. It is not 0,
    /// which would make a null offset valid. From Xe-HP on, content of `r0.5`: the offset of its
    /// surface state in units of 64 bytes, from bit 10 on.
    pub(super) base: u32,
    /// True if it is reached through a surface state, where each thread has its own part.
    pub(super) surface: bool,
}

impl ScratchLayout {
    fn new(platform: Platform, needed: u32, surfaces: &mut Surfaces) -> ScratchLayout {
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
        ScratchLayout {
            bytes,
            base,
            surface,
        }
    }

    /// Returns the scratch bits of a thread's `r0.5`.
    pub(super) fn pointer(&self, number: u32) -> u32 {
        if self.surface {
            self.base
        } else {
            self.base + number * self.bytes
        }
    }
}

/// Limit on the scratch of a thread, in bytes.
const MAX_SCRATCH: u32 = 2 << 20;
/// Limit on the indirect data of a group, in bytes. It exceeds any kernel's, since payloads fit the
/// GRF file.
const MAX_INDIRECT: u64 = 16 << 20;

impl<'a> LaunchPlan<'a> {
    pub(super) fn new(
        request: &'a LaunchRequest<'a>,
        code: KernelProgram<'a>,
        space: &'a Arc<Space>,
        data: &DataBuffers,
        options: &SimOptions,
    ) -> Result<LaunchPlan<'a>, Error> {
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
        let mut states = LaunchStates::new(request, &memory);
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
            n => ScratchLayout::new(platform, n, &mut states.surfaces),
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
        let layout = PayloadLayout::new(platform, kernel, in_header);
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
        Ok(LaunchPlan {
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

    /// Returns the source line of the instruction at an offset of the kernel's code space.
    pub(super) fn source_line(&self, ip: u32) -> Option<SourceLine> {
        self.module.source_line(self.index, ip)
    }

    /// Returns the location of the instruction at an offset of the kernel's code space.
    pub(super) fn location(&self, ip: u32) -> CodeLocation {
        self.module.location(self.index, ip)
    }

    /// Returns the work-items of a group along each dimension. At the grid's edges they are fewer
    /// than a full group's.
    pub(super) fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        let mut size = self.local;
        for ((s, g), i) in size.iter_mut().zip(self.global).zip(id) {
            let first = i.saturating_mul(*s);
            *s = (*s).min(g.saturating_sub(first)).max(1);
        }
        size
    }
}
