//! The simulator: a Gen device in this process, which executes a zebin's own bytes.
//!
//! A module's kernels are decoded once into micro-operations (`program`). A launch builds the payload as Intel's driver
//! does (`launch`) and hands thread groups to all cores (`worker`); a thread runs its channels as host SIMD loops
//! (`thread`, `alu`, `fast`), with per-channel instruction pointers for divergence, and `isa-gen`'s semantics for what
//! operations compute. Memory is bounds-checked (`memory`, `send`). Whatever the code does wrong ends the launch with a
//! [`Fault`](crate::Fault), never the process.

mod alu;
mod barrier;
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

use crate::backend::{BufferBackend, DeviceBackend, ModuleBackend};
use crate::error::Error;
use crate::limits::Limits;
use crate::pool::Pool;
use crate::zebin::Zebin;
use gantry_isa_gen::Platform;
use memory::Space;
use module::SimModule;
use std::sync::Arc;

/// Outcome of an access outside of a surface's buffer. By address, it is always a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bounds {
    /// A fault, as by address: whether a compiler makes surfaces of buffers, and hides a mistake by that, says nothing of a program. Reads that
    /// begin inside may go beyond the end, where they give zeros.
    #[default]
    Error,
    /// The hardware's way: reads give zeros, and writes are dropped.
    Drop,
}

/// How a simulator runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimOptions {
    /// What the device says it is, and compilers make code for. Modules of other platforms run too, each as what it was
    /// compiled for.
    pub platform: Platform,
    /// Instructions that one thread may run before its launch ends as an endless loop.
    pub instruction_limit: u64,
    /// Threads of the host that the device starts for its launches; 0 is one for each core. Launches at once share them.
    pub threads: usize,
    /// What accesses outside of surfaces come to.
    pub bounds: Bounds,
    /// What modules and launches may ask of the host.
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

/// The simulated device.
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

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BufferBackend>, Error> {
        Ok(self.space.alloc(bytes)?)
    }

    fn has_images(&self) -> bool {
        true
    }

    fn load(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Arc<dyn ModuleBackend>, Error> {
        Ok(Arc::new(self.load_module(zebin, bytes)?))
    }
}
