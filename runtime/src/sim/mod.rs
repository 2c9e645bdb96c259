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
mod image;
mod launch;
mod memory;
mod operand;
mod program;
mod regs;
mod sampler;
mod send;
mod special;
mod surface;
mod thread;
mod trace;
mod watch;
mod worker;

use crate::backend::{BufferBackend, DeviceBackend, ModuleBackend, Request};
use crate::error::Error;
use crate::launch::LaunchStats;
use crate::zebin::{Relocation, Zebin};
use gantry_isa_gen::Platform;
use memory::{SimBuffer, Space};
use program::Program;
use std::sync::{Arc, OnceLock};

/// How a simulator runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimOptions {
    /// What the device says it is, and compilers make code for. Modules of other platforms run too, each as what it was
    /// compiled for.
    pub platform: Platform,
    /// Instructions that one thread may run before its launch ends as an endless loop.
    pub instruction_limit: u64,
}

impl Default for SimOptions {
    fn default() -> Self {
        SimOptions {
            platform: Platform::Gen9,
            instruction_limit: 50_000_000,
        }
    }
}

/// The simulated device.
pub(crate) struct Simulator {
    options: SimOptions,
    space: Arc<Space>,
}

impl Simulator {
    pub(crate) fn new(options: SimOptions) -> Simulator {
        Simulator {
            options,
            space: Arc::new(Space::new()),
        }
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
        // Constants and globals live as long as the module.
        let mut buffers = Vec::new();
        for d in &zebin.data {
            let b = self.space.alloc(d.bytes.len())?;
            b.block.write(0, &d.bytes);
            buffers.push(b);
        }
        let base = |constant: bool| {
            zebin
                .data
                .iter()
                .zip(&buffers)
                .find(|(d, _)| d.constant == constant)
                .map_or(0, |(_, b)| b.address())
        };
        let data = DataBuffers {
            constant: base(true),
            global: base(false),
            buffers,
        };
        let mut code = Vec::new();
        for (i, k) in zebin.kernels.iter().enumerate() {
            let mut c = zebin.code(bytes, i).unwrap_or(&[]).to_vec();
            let relocations = zebin.relocations.get(i).map_or(&[][..], Vec::as_slice);
            let failed = relocate(&mut c, relocations, &data)
                .err()
                .or_else(|| {
                    zebin
                        .data
                        .iter()
                        .find(|d| d.relocated)
                        .map(|d| format!("relocations in {}", d.name))
                })
                .map(|what| Error::Unsupported {
                    kernel: k.name.clone(),
                    what,
                    device: self.name(),
                });
            code.push(Code {
                bytes: c,
                failed,
                program: OnceLock::new(),
            });
        }
        Ok(Arc::new(SimModule {
            options: self.options,
            platform: zebin.platform,
            space: self.space.clone(),
            data,
            code,
        }))
    }
}

/// A module's constants and globals.
struct DataBuffers {
    constant: u64,
    global: u64,
    buffers: Vec<Arc<SimBuffer>>,
}

/// A kernel's code, decoded when it first runs.
struct Code {
    bytes: Vec<u8>,
    /// Why it cannot run.
    failed: Option<Error>,
    program: OnceLock<Program>,
}

struct SimModule {
    options: SimOptions,
    /// What it was compiled for.
    platform: Platform,
    space: Arc<Space>,
    data: DataBuffers,
    code: Vec<Code>,
}

/// Writes addresses of data into code.
fn relocate(code: &mut [u8], list: &[Relocation], data: &DataBuffers) -> Result<(), String> {
    for r in list {
        let Some((section, offset)) = r.target else {
            return Err(format!("the symbol `{}` of another function", r.symbol));
        };
        let base = data.buffers.get(section).map_or(0, |b| b.address());
        let value = base
            .wrapping_add(offset)
            .wrapping_add(r.addend as u64)
            .to_le_bytes();
        let bytes = match r.ty {
            1 => &value[..],
            2 => &value[..4],
            3 => &value[4..],
            ty => return Err(format!("relocation type {ty} of `{}`", r.symbol)),
        };
        let at = usize::try_from(r.offset).unwrap_or(usize::MAX);
        let place = at
            .checked_add(bytes.len())
            .and_then(|end| code.get_mut(at..end))
            .ok_or_else(|| format!("a relocation at {:#x}, outside the code", r.offset))?;
        place.copy_from_slice(bytes);
    }
    Ok(())
}

impl ModuleBackend for SimModule {
    fn launch(&self, request: &Request<'_>) -> Result<LaunchStats, Error> {
        let code = self
            .code
            .get(request.index)
            .ok_or_else(|| Error::NoKernel {
                name: request.kernel.name.clone(),
                have: Vec::new(),
            })?;
        if let Some(e) = &code.failed {
            return Err(e.clone());
        }
        let program = code.program.get_or_init(|| {
            Program::decode(self.platform, request.kernel.env.grf_count, &code.bytes)
        });
        let plan = launch::Plan::new(request, program, &self.space, &self.data, &self.options)?;
        launch::run(&plan, request)
    }
}
