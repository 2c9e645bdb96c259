//! Preparing a launch (payload, surfaces, memory) and running its groups on all cores.

mod buffers;
mod cross_thread;
mod implicit;
mod payload;
mod slm;
mod states;

pub(super) use cross_thread::patch_group;
pub(super) use implicit::{BYTES as IMPLICIT_ARGS_BYTES, ImplicitArgs};
pub(super) use payload::{INDIRECT_BASE, Layout};

use super::SimOptions;
use super::memory::{Mapped, Space, View};
use super::module::{DataBuffers, SimModule, Whereabouts};
use super::program::Program;
use super::sampler::Samplers;
use super::surface::{Surface, Surfaces};
use super::thread::Counts;
use super::worker::Worker;
use crate::backend::Request;
use crate::error::{Error, Fault};
use crate::launch::LaunchStats;
use crate::watch::Watch;
use crate::zebin::{KernelInfo, SourceLine};
use buffers::LaunchBuffers;
use cross_thread::CrossThread;
use gantry_isa_gen::Platform;
use states::States;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Everything that the groups of a launch share.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Program,
    pub(super) kernel: &'a KernelInfo,
    module: &'a SimModule,
    /// The kernel's index in its module.
    index: usize,
    pub(super) space: &'a Space,
    /// Buffers of the launch itself.
    buffers: LaunchBuffers,
    /// The device's memory.
    pub(super) memory: Vec<Mapped>,
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
        let buffers = LaunchBuffers::new(request, code.implicit_args, space)?;
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
        let private_bytes = kernel.private_bytes();
        if private_bytes > 64 << 20 {
            return Err(unsupported(format!(
                "{private_bytes} bytes of private memory a thread"
            )));
        }
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

/// What all cores did.
#[derive(Default)]
struct Total {
    counts: Counts,
    threads: u64,
    /// The fault of the lowest group that had one.
    fault: Option<(u64, Box<Fault>)>,
    /// A core could not begin.
    failed: Option<String>,
}

/// Runs all groups.
pub(super) fn run(plan: &Plan<'_>, request: &Request<'_>) -> Result<LaunchStats, Error> {
    let start = Instant::now();
    let [nx, ny, nz] = request.groups().map(u64::from);
    let total = nx * ny * nz;
    if let Some(p) = request.progress {
        p.begin(total * u64::from(plan.threads_per_group));
    }
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let shared = Mutex::new(Total::default());
    // A few groups at a time, so that the counter is not the bottleneck of small ones.
    let workers = rayon::current_num_threads().max(1) as u64;
    let batch = (total / (workers * 16)).clamp(1, 64);
    let work = || {
        let mut worker = match Worker::new(plan) {
            Ok(w) => w,
            Err(e) => {
                let mut s = shared.lock().unwrap_or_else(PoisonError::into_inner);
                s.failed = Some(e);
                return;
            }
        };
        let mut threads = 0;
        let mut fault = None;
        'groups: while !stop.load(Ordering::Relaxed) {
            let first = next.fetch_add(batch, Ordering::Relaxed);
            if first >= total {
                break;
            }
            for g in first..(first + batch).min(total) {
                let id = [(g % nx) as u32, (g / nx % ny) as u32, (g / nx / ny) as u32];
                match worker.run_group(id, &stop) {
                    Ok(n) => {
                        threads += n;
                        if let Some(p) = request.progress {
                            p.add(n);
                        }
                    }
                    Err(f) => {
                        stop.store(true, Ordering::Relaxed);
                        fault = Some((g, f));
                        break 'groups;
                    }
                }
            }
        }
        let counts = worker.finish();
        let mut s = shared.lock().unwrap_or_else(PoisonError::into_inner);
        s.counts.add(&counts);
        s.threads += threads;
        if let Some((g, f)) = fault
            && s.fault.as_ref().is_none_or(|(h, _)| g < *h)
        {
            s.fault = Some((g, f));
        }
    };
    // A trace is in order.
    let in_order = request.watch.is_some_and(|w| w.filter.is_some());
    if total <= batch || in_order {
        if total > 0 {
            work();
        }
    } else {
        rayon::scope(|scope| {
            for _ in 0..workers.min(total) {
                scope.spawn(|_| work());
            }
        });
    }
    let total = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let c = total.counts;
    let memory = View::new(plan.memory.clone());
    // What came before a fault is worth seeing.
    if let Some(text) = plan.buffers.printed(&memory) {
        request.printf.print(&text);
    }
    if let Some((_, f)) = total.fault {
        return Err(Error::Fault(f));
    }
    if let Some(e) = total.failed {
        return Err(Error::Buffer(e));
    }
    if let Some(message) = plan.buffers.assertion(&memory) {
        return Err(Error::Assertion {
            kernel: plan.kernel.name.clone(),
            message,
        });
    }
    Ok(LaunchStats {
        threads: total.threads,
        instructions: c.instructions,
        channels: c.channels,
        sends: c.sends,
        bytes_read: c.bytes_read,
        bytes_written: c.bytes_written,
        wall_seconds: start.elapsed().as_secs_f64(),
    })
}
