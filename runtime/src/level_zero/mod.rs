//! GPUs through Level Zero. The library `libze_loader.so.1` or `ze_loader.dll` is loaded at run
//! time, never linked.

mod api;
#[cfg(test)]
mod fake;
mod ffi;
mod host;

use crate::arg::Arg;
use crate::backend::{DeviceBackend, LaunchRequest, ModuleBackend};
use crate::buffer::{BufferBackend, MemoryKind};
use crate::control::LaunchStats;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::zebin::Zebin;
use ffi::{DriverArg, DriverModule, Gpu, Memory, WaitError};
use gantry_isa_gen::{Platform, Product};
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
    Ok(Arc::new(LevelZero {
        gpu: Arc::new(Gpu::open(index)?),
        queue: Arc::new(Mutex::new(())),
        buffers: Arc::default(),
    }))
}

struct LevelZero {
    gpu: Arc<Gpu>,
    /// Lock of the queue, which is not thread-safe.
    queue: Arc<Mutex<()>>,
    buffers: Arc<Buffers>,
}

/// Allocations by address.
type Buffers = Mutex<BTreeMap<u64, Weak<LevelZeroBuffer>>>;

fn hold<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn id(&self) -> usize {
        Arc::as_ptr(&self.gpu) as usize
    }

    fn alloc(&self, bytes: usize, kind: MemoryKind) -> Result<Arc<dyn BufferBackend>, Error> {
        let buffer = Arc::new(LevelZeroBuffer {
            memory: Memory::new(&self.gpu, bytes, kind)?,
            queue: self.queue.clone(),
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
        let _held = hold(&self.queue);
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
            module,
            queue: self.queue.clone(),
            _zebin: zebin,
        }))
    }

    fn refusal(&self, bytes: &[u8]) -> Option<Error> {
        let _held = hold(&self.queue);
        DriverModule::new(&self.gpu, bytes).err()
    }
}

struct LevelZeroBuffer {
    memory: Memory,
    queue: Arc<Mutex<()>>,
    device: usize,
    buffers: Arc<Buffers>,
}

impl Drop for LevelZeroBuffer {
    fn drop(&mut self) {
        hold(&self.buffers).remove(&self.memory.address());
    }
}

impl BufferBackend for LevelZeroBuffer {
    fn len(&self) -> usize {
        self.memory.len()
    }

    fn address(&self) -> u64 {
        self.memory.address()
    }

    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        let _held = hold(&self.queue);
        self.memory.read(at, out)
    }

    fn write(&self, at: usize, data: &[u8]) -> Result<(), Error> {
        let _held = hold(&self.queue);
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

    fn fill(&self, at: usize, bytes: usize, pattern: &[u8]) -> Result<(), Error> {
        let times = bytes.div_ceil(pattern.len().max(1));
        let mut data = pattern.repeat(times);
        data.truncate(bytes);
        self.write(at, &data)
    }
}

struct LevelZeroModule {
    module: DriverModule,
    queue: Arc<Mutex<()>>,
    _zebin: Arc<Zebin>,
}

impl ModuleBackend for LevelZeroModule {
    fn launch(&self, r: &LaunchRequest<'_>) -> Result<LaunchStats, Error> {
        let start = Instant::now();
        if r.watch.is_some() {
            return Err(Error::Unsupported {
                kernel: r.kernel.name.clone(),
                what: "to be watched instruction by instruction".to_owned(),
                device: "Level Zero".to_owned(),
            });
        }
        let mut groups = [0; 3];
        for ((n, g), l) in groups.iter_mut().zip(r.global).zip(r.local) {
            if g % l != 0 {
                return Err(Error::Grid {
                    kernel: r.kernel.name.clone(),
                    message: format!(
                        "Level Zero launches whole groups only: the grid {:?} is not a multiple of the group {:?}",
                        r.global, r.local
                    ),
                });
            }
            *n = g / l;
        }
        let args: Vec<DriverArg<'_>> = r
            .args
            .iter()
            .map(|a| match a {
                Arg::Buffer(b) => Ok(DriverArg::Pointer(b.device_address())),
                Arg::Address(a) => Ok(DriverArg::Pointer(*a)),
                Arg::Null => Ok(DriverArg::Pointer(0)),
                Arg::Local(n) => Ok(DriverArg::Local(*n as usize)),
                Arg::Value(v) | Arg::Bytes(v) => Ok(DriverArg::Value(v)),
                Arg::Image(_) | Arg::Sampler(_) => Err(Error::Unsupported {
                    kernel: r.kernel.name.clone(),
                    what: "images and samplers".to_owned(),
                    device: "Level Zero".to_owned(),
                }),
            })
            .collect::<Result<_, _>>()?;
        let items = r.local.iter().map(|&n| u64::from(n)).product::<u64>();
        let threads = groups.iter().map(|&n| u64::from(n)).product::<u64>()
            * items.div_ceil(u64::from(r.kernel.env.simd_size));
        if let Some(p) = r.progress {
            p.begin(threads);
        }
        if threads > 0 {
            let stopped = |why| Error::Stopped {
                kernel: r.kernel.name.clone(),
                why,
                // A GPU does not report how far it is.
                ended: 0,
                groups: groups.iter().map(|&n| u64::from(n)).product(),
                instructions: 0,
            };
            let _held = hold(&self.queue);
            if let Some(why) = r.signals.now() {
                return Err(stopped(why));
            }
            let name = &r.kernel.name;
            self.module
                .launch(name, r.local, groups, r.offset, &args, r.signals)
                .map_err(|end| match end {
                    WaitError::Error(e) => e,
                    WaitError::Stopped(why) => stopped(why),
                })?;
        }
        if let Some(p) = r.progress {
            p.add(threads);
        }
        // A GPU does not count the rest for us.
        Ok(LaunchStats {
            threads,
            wall_seconds: start.elapsed().as_secs_f64(),
            ..LaunchStats::default()
        })
    }
}
