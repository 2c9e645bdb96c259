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
mod strict;
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
use gantry_isa_gen::{Platform, Product};
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
    /// Product that the device reports, if it is of that platform. Its limits on groups then hold,
    /// else those of the platform.
    pub product: Option<&'static Product>,
    /// True if the device refuses what a GPU of its product, or of its platform, and Intel's driver
    /// would:
    ///
    /// - modules of another product, or of another generation where the device has no product;
    /// - kernels of a number of channels or of GRFs that its threads cannot have;
    /// - groups of more work-items than the driver accepts
    ///   ([`DeviceLimits::group_items`](gantry_isa_gen::DeviceLimits::group_items)), or of more
    ///   threads than a subslice holds with the kernel's number of GRFs.
    ///
    /// The following is refused by every simulator: more SLM than a group may have, too large
    /// groups, block messages and atomics at unaligned addresses, instructions that the hardware
    /// forbids, accesses outside of buffers. Hazards are found by a
    /// [`Watch`](crate::Watch).
    pub strict: bool,
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
            product: None,
            strict: false,
            instruction_limit: 50_000_000,
            threads: 0,
            bounds: Bounds::Error,
            limits: Limits::default(),
        }
    }
}

impl SimOptions {
    /// Returns the options of a simulator of a product.
    pub fn of(product: &'static Product) -> SimOptions {
        SimOptions {
            platform: product.platform,
            product: Some(product),
            ..SimOptions::default()
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
        if self.options.strict {
            strict::check_module(self.product(), self.options.platform, &zebin, &self.name())?;
        }
        SimModule::load(self.options, pool, space, zebin, bytes, &self.name())
    }
}

impl DeviceBackend for Simulator {
    fn name(&self) -> String {
        match self.product() {
            Some(product) => format!("simulator ({})", product.name()),
            None => format!("simulator ({})", self.options.platform),
        }
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn platform(&self) -> Option<Platform> {
        Some(self.options.platform)
    }

    fn product(&self) -> Option<&'static Product> {
        let own = self.options.product;
        own.filter(|p| p.platform == self.options.platform)
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
        clock::launch_time(stats, self.gpu(self.options.platform).eus)
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
