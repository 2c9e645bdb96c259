//! Simulator: a Gen device in this process, which executes a zebin's own bytes.
//!
//! A module's kernels are decoded once into micro-operations (`program`). A launch builds the
//! payload as Intel's driver does (`launch`) and hands thread groups to all cores (`worker`).
//!
//! A thread runs its channels as host SIMD loops (`thread`, `alu`, `fast`), with an instruction
//! pointer per channel for divergence. Operations compute what `isa-gen`'s semantics define. Memory
//! is bounds-checked (`memory`, `send`). Errors in the code end the launch with a
//! [`Fault`](crate::Fault), never the process.

mod alu;
mod barrier;
mod clock;
mod cube;
mod fast;
mod hazard;
mod host;
mod image;
mod launch;
mod memory;
mod module;
mod operand;
mod pace;
mod printf;
mod program;
mod regs;
mod relocate;
mod sampler;
mod send;
mod special;
mod surface;
mod thread;
mod trace;
mod watch;
mod worker;

use crate::backend::{DeviceBackend, ModuleBackend};
use crate::buffer::{BufferBackend, MemoryKind};
use crate::control::LaunchStats;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::limits::Limits;
use crate::pool::Pool;
use crate::zebin::Zebin;
use gantry_isa_gen::Platform;
use memory::Space;
use module::SimModule;
use std::sync::Arc;

/// Result of an access outside of a surface's buffer. Access by address is always a fault there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bounds {
    /// Fault, as for access by address. A compiler's choice to use surfaces does not make a program
    /// correct. Reads that begin inside may go beyond the end, where they return zeros.
    #[default]
    Error,
    /// Behavior of the hardware: reads return zeros, and writes are dropped.
    Drop,
}

/// Options of a simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimOptions {
    /// Platform that the device reports and that compilers generate code for. Modules of other
    /// platforms run too, each as its own platform.
    pub platform: Platform,
    /// Instructions that one thread may run before its launch ends as an endless loop.
    pub instruction_limit: u64,
    /// Threads of the host that the device starts for its launches; 0 means one for each core.
    /// Concurrent launches share them.
    pub threads: usize,
    /// Result of accesses outside of surfaces.
    pub bounds: Bounds,
    /// Limits on what modules and launches may ask of the host.
    pub limits: Limits,
}

impl Default for SimOptions {
    fn default() -> Self {
        SimOptions {
            platform: Platform::Gen9,
            instruction_limit: 50_000_000,
            threads: 0,
            bounds: Bounds::Error,
            limits: Limits::default(),
        }
    }
}

/// Simulated device.
pub(crate) struct Simulator {
    options: SimOptions,
    pool: Arc<dyn Pool>,
    space: Arc<Space>,
}

impl Simulator {
    pub(crate) fn new(options: SimOptions, pool: Arc<dyn Pool>) -> Simulator {
        Simulator {
            options,
            pool,
            space: Arc::new(Space::new()),
        }
    }

    fn load_module(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<SimModule, Error> {
        let (pool, space) = (self.pool.clone(), self.space.clone());
        SimModule::load(self.options, pool, space, zebin, bytes, &self.name())
    }
}

impl DeviceBackend for Simulator {
    fn name(&self) -> String {
        format!("simulator ({})", self.options.platform)
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn platform(&self) -> Option<Platform> {
        Some(self.options.platform)
    }

    fn runs(&self, _: Platform) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        self.options.limits
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.space) as usize
    }

    fn alloc(&self, bytes: usize, kind: MemoryKind) -> Result<Arc<dyn BufferBackend>, Error> {
        Ok(match kind {
            MemoryKind::Device => self.space.alloc(bytes)?,
            MemoryKind::Host | MemoryKind::Shared => self.space.shared(bytes, kind)?,
        })
    }

    fn adopt(&self, memory: HostMemory) -> Result<Arc<dyn BufferBackend>, Error> {
        Ok(self.space.of_host(memory)?)
    }

    fn memory_at(&self, address: u64) -> Option<Arc<dyn BufferBackend>> {
        let found = self.space.buffer_at(address)?;
        Some(found)
    }

    fn workers(&self) -> usize {
        self.pool.threads()
    }

    fn launch_time(&self, stats: &LaunchStats) -> u64 {
        clock::launch_time(stats)
    }

    fn copy_time(&self, bytes: usize) -> u64 {
        clock::copy_time(bytes as u64)
    }

    fn has_images(&self) -> bool {
        true
    }

    fn load(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Arc<dyn ModuleBackend>, Error> {
        Ok(Arc::new(self.load_module(zebin, bytes)?))
    }
}
