//! Preparing a launch (payload, surfaces, memory) and running its groups on all cores.

use super::memory::{Mapped, Space};
use super::program::Program;
use super::surface::{Surface, Surfaces};
use super::thread::{Counts, Thread};
use super::worker::Worker;
use super::{DataBuffers, SimOptions};
use crate::backend::Request;
use crate::error::{Error, Fault};
use crate::launch::{Arg, LaunchStats};
use crate::watch::Watch;
use crate::zebin::{AddrMode, KernelInfo, PayloadKind, PerThreadArg};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Everything that the groups of a launch share.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Program,
    pub(super) kernel: &'a KernelInfo,
    pub(super) space: &'a Space,
    /// The device's memory.
    pub(super) memory: Vec<Mapped>,
    pub(super) surfaces: Surfaces,
    /// Cross-thread data, but for what differs from group to group.
    pub(super) cross_thread: Vec<u8>,
    pub(super) simd: u32,
    /// Work-items of a thread.
    pub(super) items_per_thread: u32,
    pub(super) threads_per_group: u32,
    pub(super) slm_bytes: u32,
    /// Offset of the first thread's scratch; 0 would make a null offset valid.
    pub(super) scratch_base: u32,
    /// Scratch of a thread, in bytes: a power of two from 1 KB on, or 0.
    pub(super) scratch_bytes: u32,
    pub(super) private_bytes: u32,
    pub(super) instruction_limit: u64,
    /// Who looks at what it does.
    pub(super) watch: Option<&'a Watch>,
    global: [u32; 3],
    local: [u32; 3],
    /// Bytes of a GRF.
    pub(super) grf: u32,
}

/// The largest SLM of a group.
const MAX_SLM: u64 = 64 * 1024;

impl<'a> Plan<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        program: &'a Program,
        space: &'a Space,
        data: &DataBuffers,
        options: &SimOptions,
    ) -> Result<Plan<'a>, Error> {
        let kernel = request.kernel;
        let grf = program.platform.features().grf_bytes;
        let simd = kernel.env.simd_size;
        let unsupported = |what: String| Error::Unsupported {
            kernel: kernel.name.clone(),
            what,
            device: "the simulator".to_owned(),
        };
        let mut cross_thread = vec![0; kernel.cross_thread_bytes(grf) as usize];
        let groups: Vec<u32> = request
            .global
            .iter()
            .zip(request.local)
            .map(|(g, l)| g.div_ceil(l))
            .collect();
        // Local pointers follow each other from 0; the code adds its own static size.
        let mut slm_next = 0u64;
        let memory = space.snapshot();
        let mut surfaces = Surfaces::default();
        for (bti, index) in &kernel.bindings {
            let surface = match request.args.get(*index as usize) {
                Some(Arg::Buffer(b)) => memory
                    .iter()
                    .find(|m| m.base == b.device_address())
                    .map_or(Surface::Null, |m| Surface::Buffer(m.block.clone())),
                _ => Surface::Null,
            };
            surfaces.bind(*bti as usize, surface);
        }
        for p in &kernel.payload {
            let arg = |index: &u32| request.args.get(*index as usize);
            let address = |index: &u32| match arg(index) {
                Some(Arg::Buffer(b)) => b.device_address(),
                _ => 0,
            };
            let triple = |v: &[u32]| v.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
            let value: Vec<u8> = match &p.kind {
                PayloadKind::Pointer {
                    index,
                    mode,
                    slm_alignment,
                    ..
                } => match mode {
                    AddrMode::Stateful => continue,
                    AddrMode::Stateless => address(index).to_le_bytes().to_vec(),
                    AddrMode::Slm => {
                        let align = u64::from(*slm_alignment).max(1).next_power_of_two();
                        slm_next = slm_next.next_multiple_of(align);
                        let at = slm_next;
                        if let Some(Arg::Local(n)) = arg(index) {
                            slm_next += u64::from(*n);
                        }
                        at.to_le_bytes().to_vec()
                    }
                    AddrMode::Bindless => {
                        return Err(unsupported("bindless arguments".to_owned()));
                    }
                },
                PayloadKind::Value {
                    index,
                    source_offset,
                } => match arg(index) {
                    Some(Arg::Value(v)) => v.get(*source_offset as usize..).unwrap_or(&[]).to_vec(),
                    _ => continue,
                },
                PayloadKind::BufferAddress { index } => address(index).to_le_bytes().to_vec(),
                // The surface begins at the buffer.
                PayloadKind::BufferOffset { .. } => vec![0; 4],
                PayloadKind::EnqueuedLocalSize => triple(&request.local),
                PayloadKind::GroupCount => triple(&groups),
                PayloadKind::GlobalSize => triple(&request.global),
                PayloadKind::GlobalIdOffset => triple(&request.offset),
                PayloadKind::WorkDimensions => request.dimensions.to_le_bytes().to_vec(),
                PayloadKind::ConstBase => data.constant.to_le_bytes().to_vec(),
                PayloadKind::GlobalBase => data.global.to_le_bytes().to_vec(),
                // These differ from group to group or from core to core.
                PayloadKind::LocalSize | PayloadKind::PrivateBase => continue,
                PayloadKind::Other(name) => {
                    return Err(unsupported(format!("the `{name}` argument")));
                }
            };
            put(&mut cross_thread, p.offset, p.size, &value);
        }
        let slm_bytes = u64::from(kernel.env.slm_size) + slm_next.next_multiple_of(1024);
        let slm_bytes = if slm_bytes == 0 {
            0
        } else {
            slm_bytes.next_power_of_two().max(1024)
        };
        if slm_bytes > MAX_SLM {
            return Err(Error::Grid {
                kernel: kernel.name.clone(),
                message: format!("{slm_bytes} bytes of SLM; a group has at most {MAX_SLM}"),
            });
        }
        let scratch_bytes = match kernel.scratch_bytes() {
            0 => 0,
            n if n > 2 << 20 => return Err(unsupported(format!("{n} bytes of scratch a thread"))),
            n => n.next_power_of_two().max(1024),
        };
        let private_bytes = kernel.private_bytes();
        if private_bytes > 64 << 20 {
            return Err(unsupported(format!(
                "{private_bytes} bytes of private memory a thread"
            )));
        }
        let items = request.local.iter().product::<u32>();
        let items_per_thread = simd;
        let registers =
            1 + per_thread_grfs(kernel, grf) + (cross_thread.len() as u32).div_ceil(grf);
        if registers * grf > program.grf_end() {
            return Err(unsupported(format!("{registers} registers of payload")));
        }
        Ok(Plan {
            program,
            kernel,
            space,
            memory,
            surfaces,
            cross_thread,
            simd,
            items_per_thread,
            threads_per_group: items.div_ceil(items_per_thread),
            slm_bytes: slm_bytes as u32,
            scratch_base: if scratch_bytes > 0 { 0x1000 } else { 0 },
            scratch_bytes,
            private_bytes,
            instruction_limit: options.instruction_limit,
            watch: request.watch,
            global: request.global,
            local: request.local,
            grf,
        })
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

    /// The cross-thread values that differ from group to group.
    pub(super) fn patch_group(&self, cross: &mut [u8], size: [u32; 3], private: u64) {
        for p in &self.kernel.payload {
            match p.kind {
                PayloadKind::LocalSize => {
                    let [x, y, z] = size.map(u32::to_le_bytes);
                    put(cross, p.offset, p.size, [x, y, z].as_flattened());
                }
                PayloadKind::PrivateBase => {
                    put(cross, p.offset, p.size, &private.to_le_bytes());
                }
                _ => {}
            }
        }
    }

    /// Per-thread and cross-thread data in a thread's registers. `first` is the linear id of its first work-item.
    pub(super) fn payload(
        &self,
        t: &mut Thread,
        cross: &[u8],
        size: [u32; 3],
        first: u32,
        lanes: u32,
    ) {
        let base = self.grf;
        let [sx, sy, _] = size;
        let mut id = [first % sx, first / sx % sy, first / sx / sy];
        let first_id = id;
        let mut next = || {
            let now = id;
            let [x, y, z] = &mut id;
            *x += 1;
            if *x == sx {
                *x = 0;
                *y += 1;
                if *y == sy {
                    *y = 0;
                    *z += 1;
                }
            }
            now
        };
        for p in &self.kernel.per_thread {
            match *p {
                PerThreadArg::LocalId { offset, size } => {
                    let row = size / 3;
                    for lane in 0..lanes {
                        for (d, id) in next().into_iter().enumerate() {
                            let at = base + offset + d as u32 * row + lane * 2;
                            t.regs.set_element(at, 2, u64::from(id));
                        }
                    }
                }
                PerThreadArg::PackedLocalIds { offset, .. } => {
                    for (d, id) in first_id.into_iter().enumerate() {
                        t.regs
                            .set_element(base + offset + d as u32 * 2, 2, u64::from(id));
                    }
                }
            }
        }
        let at = base + per_thread_grfs(self.kernel, self.grf) * self.grf;
        t.regs.get_mut(at, cross.len()).copy_from_slice(cross);
    }
}

/// Registers of per-thread data. A kernel without any still gets one, with nothing of use in it.
fn per_thread_grfs(kernel: &KernelInfo, grf: u32) -> u32 {
    kernel
        .per_thread
        .iter()
        .map(|p| match *p {
            PerThreadArg::LocalId { offset, size }
            | PerThreadArg::PackedLocalIds { offset, size } => {
                offset.saturating_add(size).div_ceil(grf)
            }
        })
        .max()
        .unwrap_or(0)
        .clamp(1, 127)
}

/// Writes at most `size` bytes of a value.
fn put(out: &mut [u8], offset: u32, size: u32, value: &[u8]) {
    if let Some(o) = out.get_mut(offset as usize..(offset + size) as usize) {
        for (o, v) in o.iter_mut().zip(value) {
            *o = *v;
        }
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
    let counts = |g: u32, l: u32| u64::from(g.div_ceil(l));
    let [gx, gy, gz] = request.global;
    let [lx, ly, lz] = request.local;
    let (nx, ny, nz) = (counts(gx, lx), counts(gy, ly), counts(gz, lz));
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
    if let Some((_, f)) = total.fault {
        return Err(Error::Fault(f));
    }
    if let Some(e) = total.failed {
        return Err(Error::Buffer(e));
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
