//! GPUs through Level Zero. The library `libze_loader.so.1` or `ze_loader.dll` is loaded at run
//! time, never linked.
//!
//! Commands of several threads are with the driver at once. Each has an immediate list and an event
//! of its own, and a launch a kernel too (`ffi`). No lock is held while one waits for its end.

mod api;
mod clock;
#[cfg(test)]
mod fake;
mod ffi;
mod host;
mod image;
mod parts;

use crate::arg::Arg;
use crate::backend::{DeviceBackend, LaunchRequest, ModuleBackend};
use crate::buffer::{BufferBackend, MemoryKind, Pitch};
use crate::control::{LaunchStats, Span};
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::image::{DriverImage, ImageDesc, ImageFormat};
use crate::image_facts;
use crate::zebin::{LaunchFact, PayloadKind, Zebin};
use ffi::{Dispatch, DriverArg, DriverModule, Gpu, Memory, WaitError};
use gantry_isa_gen::{Platform, Product};
use image::LevelZeroImage;
use parts::{GridPart, whole_parts};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// Number of commands that are with the driver at once.
const WORKERS: usize = 4;
/// Bytes of a copy that a nanosecond of a device's clock is said to take.
const BYTES_A_NANOSECOND: u64 = 16;

/// Counts the GPUs of all drivers of Level Zero.
pub(crate) fn count() -> Result<usize, Error> {
    Gpu::count()
}

/// Opens the GPU of an index, counted over the drivers of Level Zero in their order.
pub(crate) fn open(index: usize) -> Result<Arc<dyn DeviceBackend>, Error> {
    Ok(Arc::new(LevelZero::of(Arc::new(Gpu::open(index)?))))
}

struct LevelZero {
    gpu: Arc<Gpu>,
    /// Lock of module creation, whose messages are taken from standard error.
    loads: Mutex<()>,
    buffers: Arc<Buffers>,
}

impl LevelZero {
    fn of(gpu: Arc<Gpu>) -> LevelZero {
        LevelZero {
            gpu,
            loads: Mutex::new(()),
            buffers: Arc::default(),
        }
    }
}

/// Allocations by address.
type Buffers = Mutex<BTreeMap<u64, Weak<LevelZeroBuffer>>>;

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceBackend for LevelZero {
    fn name(&self) -> String {
        format!("{} [{:#06x}] (Level Zero)", self.gpu.name, self.gpu.pci_id)
    }

    fn is_simulator(&self) -> bool {
        false
    }

    fn platform(&self) -> Option<Platform> {
        Platform::from_pci_id(u16::try_from(self.gpu.pci_id).ok()?)
    }

    fn product(&self) -> Option<&'static Product> {
        Product::from_pci_id(u16::try_from(self.gpu.pci_id).ok()?)
    }

    fn workers(&self) -> usize {
        WORKERS
    }

    fn copy_time(&self, bytes: usize) -> u64 {
        bytes as u64 / BYTES_A_NANOSECOND
    }

    /// Kernels of products without a sampler access images as memory, by descriptors among their
    /// arguments. The driver's own images, which samplers access, are not in buffers.
    fn has_images(&self) -> bool {
        self.platform().is_some_and(|p| !p.features().sampler)
    }

    fn image(
        &self,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Option<Result<Arc<dyn DriverImage>, Error>> {
        if self.has_images() {
            return None;
        }
        let own = (self.id(), &self.buffers);
        let image = LevelZeroImage::new(&self.gpu, own, format, desc);
        Some(image.map(|image| Arc::new(image) as Arc<dyn DriverImage>))
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.gpu) as usize
    }

    fn alloc(&self, bytes: usize, kind: MemoryKind) -> Result<Arc<dyn BufferBackend>, Error> {
        let buffer = Arc::new(LevelZeroBuffer {
            memory: Memory::new(&self.gpu, bytes, kind)?,
            device: self.id(),
            buffers: self.buffers.clone(),
        });
        buffer.fill(0, bytes, &[0])?;
        let (address, weak) = (buffer.address(), Arc::downgrade(&buffer));
        hold(&self.buffers).insert(address, weak);
        Ok(buffer)
    }

    fn adopt(&self, _: HostMemory) -> Result<Arc<dyn BufferBackend>, Error> {
        let why = "Level Zero cannot use memory that the host allocated: `MemoryKind::Host` is \
                   memory of both";
        Err(Error::Buffer(why.to_owned()))
    }

    fn memory_at(&self, address: u64) -> Option<Arc<dyn BufferBackend>> {
        let buffers = hold(&self.buffers);
        let (_, found) = buffers.range(..=address).next_back()?;
        let found = found.upgrade();
        drop(buffers);
        let found = found?;
        let inside = address - found.address() < found.len().max(1) as u64;
        inside.then_some(found as Arc<dyn BufferBackend>)
    }

    fn load(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Arc<dyn ModuleBackend>, Error> {
        let _held = hold(&self.loads);
        let module = DriverModule::new(&self.gpu, bytes)?;
        // The driver silently recompiles a zebin with SPIR-V inside when it does not like its code.
        if module.log.contains("recompiled from IR") {
            return Err(Error::Driver {
                call: "zeModuleCreate",
                code: "the native code was refused and the SPIR-V beside it was used".to_owned(),
                log: module.log.clone(),
            });
        }
        Ok(Arc::new(LevelZeroModule {
            gpu: self.gpu.clone(),
            module,
            _zebin: zebin,
        }))
    }

    fn refusal(&self, bytes: &[u8]) -> Option<Error> {
        let _held = hold(&self.loads);
        DriverModule::new(&self.gpu, bytes).err()
    }
}

struct LevelZeroBuffer {
    memory: Memory,
    device: usize,
    buffers: Arc<Buffers>,
}

impl Drop for LevelZeroBuffer {
    fn drop(&mut self) {
        let mut buffers = hold(&self.buffers);
        // The address may be of another allocation by now, which is alive.
        let address = self.memory.address();
        if buffers.get(&address).is_some_and(|b| b.strong_count() == 0) {
            buffers.remove(&address);
        }
    }
}

impl BufferBackend for LevelZeroBuffer {
    fn len(&self) -> usize {
        self.memory.len()
    }

    fn address(&self) -> u64 {
        self.memory.address()
    }

    fn read(&self, at: usize, out: &mut [u8]) -> Result<Option<Span>, Error> {
        self.memory.read(at, out)
    }

    fn write(&self, at: usize, data: &[u8]) -> Result<Option<Span>, Error> {
        self.memory.write(at, data.to_vec())
    }

    fn device(&self) -> usize {
        self.device
    }

    fn kind(&self) -> MemoryKind {
        self.memory.kind()
    }

    fn host_ptr(&self) -> Option<NonNull<u8>> {
        self.memory.host_ptr()
    }

    fn fill(&self, at: usize, bytes: usize, pattern: &[u8]) -> Result<Option<Span>, Error> {
        self.memory.fill(at, bytes, pattern)
    }

    fn copy_rows(
        &self,
        to: Pitch,
        source: u64,
        from: Pitch,
        size: [usize; 3],
    ) -> Option<Result<Option<Span>, Error>> {
        let found = hold(&self.buffers).get(&source)?.upgrade()?;
        if let [bytes, 1, 1] = size {
            let (to, from) = (to.offset, from.offset);
            return Some(self.memory.copy_from(to, &found.memory, from, bytes));
        }
        self.memory.copy_rows_from(to, &found.memory, from, size)
    }
}

struct LevelZeroModule {
    gpu: Arc<Gpu>,
    module: DriverModule,
    _zebin: Arc<Zebin>,
}

impl ModuleBackend for LevelZeroModule {
    fn launch(&self, r: &LaunchRequest<'_>) -> Result<(LaunchStats, Option<Span>), Error> {
        let start = Instant::now();
        if r.watch.is_some() {
            return Err(Error::Unsupported {
                kernel: r.kernel.name.clone(),
                what: "to be watched instruction by instruction".to_owned(),
                device: "Level Zero".to_owned(),
            });
        }
        let local = if r.any_local {
            whole_groups(r.global, r.local)
        } else {
            r.local
        };
        let parts = whole_parts(r.global, local, r.offset);
        let is_cut = r.global.iter().zip(local).any(|(g, l)| g % l != 0);
        if is_cut && (!r.kernel.divisible || r.kernel.env.required_work_group_size.is_some()) {
            // Launches of the edges count their groups from 0 again, which the kernel could see.
            return Err(Error::Grid {
                kernel: r.kernel.name.clone(),
                message: format!(
                    "Level Zero launches whole groups only: the grid {:?} is not a multiple of the group {local:?}, \
                     and the kernel is not known to do the same in launches of parts; \
                     a launch that asks for no group gets one that divides the grid",
                    r.global
                ),
            });
        }
        let by_value: Vec<Option<Vec<u8>>> = (0u32..)
            .zip(r.args)
            .map(|(n, arg)| {
                let is_value =
                    |k: &PayloadKind| matches!(k, PayloadKind::Value { index, .. } if *index == n);
                let passed = r.kernel.payload.iter().any(|p| is_value(&p.kind));
                passed.then(|| image_facts::descriptor(arg)).flatten()
            })
            .collect();
        let is_read = |n: u32| {
            let mut kinds = r.kernel.payload.iter().map(|p| p.kind.arg_index());
            let mut bound = r.kernel.binding_table.iter();
            kinds.any(|index| index == Some(n)) || bound.any(|(_, index)| *index == n)
        };
        let args: Vec<DriverArg<'_>> = (0u32..)
            .zip(r.args)
            .zip(&by_value)
            .map(|((n, a), by_value)| match a {
                _ if !is_read(n) => Ok(DriverArg::Unread),
                Arg::Buffer(b) => Ok(DriverArg::Pointer(b.device_address())),
                Arg::Address(a) => Ok(DriverArg::Pointer(*a)),
                Arg::Null => Ok(DriverArg::Pointer(0)),
                Arg::Local(n) => Ok(DriverArg::Local(*n as usize)),
                Arg::Value(v) | Arg::Bytes(v) => Ok(DriverArg::Value(v)),
                Arg::Image(i) => match (by_value, i.driver()) {
                    (Some(bytes), None) => Ok(DriverArg::Value(bytes)),
                    (None, Some(image)) => Ok(DriverArg::Object(image.handle())),
                    // Kernels for a product with a sampler on one without, or the other way round.
                    _ => Err(Error::Unsupported {
                        kernel: r.kernel.name.clone(),
                        what: "images of products with a sampler, and of those without, in one"
                            .to_owned(),
                        device: "Level Zero".to_owned(),
                    }),
                },
                Arg::Sampler(s) => match by_value {
                    Some(bytes) => Ok(DriverArg::Value(bytes)),
                    None => Ok(DriverArg::Object(image::sampler(&self.gpu, s)?)),
                },
            })
            .collect::<Result<_, _>>()?;
        let count = |n: [u32; 3]| n.iter().map(|&n| u64::from(n)).product::<u64>();
        let simd = u64::from(r.kernel.env.simd_size);
        let of_part = |p: &GridPart| count(p.groups) * count(p.group).div_ceil(simd);
        let threads = parts.iter().map(of_part).sum();
        if let Some(p) = r.progress {
            p.begin(threads);
        }
        let mut measured = None;
        let prints = |k: &PayloadKind| *k == PayloadKind::Launch(LaunchFact::PrintfBuffer);
        let prints = r.kernel.payload.iter().any(|p| prints(&p.kind));
        for part in &parts {
            let stopped = |why| Error::Stopped {
                kernel: r.kernel.name.clone(),
                why,
                // A GPU does not report how far it is.
                ended: 0,
                groups: parts.iter().map(|p| count(p.groups)).sum(),
                instructions: 0,
            };
            if let Some(why) = r.signals.now() {
                return Err(stopped(why));
            }
            let dispatch = Dispatch {
                kernel: &r.kernel.name,
                group: part.group,
                groups: part.groups,
                offset: part.offset,
                prints,
            };
            let ended = self.module.launch(&dispatch, &args, r.signals);
            let time = ended.map_err(|end| match end {
                WaitError::Error(e) => e,
                WaitError::Stopped(why) => stopped(why),
            })?;
            measured = Span::join(measured, time);
        }
        if let Some(p) = r.progress {
            p.add(threads);
        }
        // A GPU does not count the rest for us.
        let stats = LaunchStats {
            threads,
            wall_seconds: start.elapsed().as_secs_f64(),
            ..LaunchStats::default()
        };
        Ok((stats, measured))
    }
}

/// Returns the largest group that divides a grid and is no larger than `most` along x, y and z.
fn whole_groups(grid: [u32; 3], most: [u32; 3]) -> [u32; 3] {
    let mut group = most;
    for (n, grid) in group.iter_mut().zip(grid) {
        // 1 divides all.
        *n = (1..=*n)
            .rev()
            .find(|n| grid.is_multiple_of(*n))
            .unwrap_or(1);
    }
    group
}
