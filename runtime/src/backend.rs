//! What a device must do; the public types are thin handles over these.

use crate::error::Error;
use crate::launch::{Arg, LaunchStats, Print, Progress, Signals};
use crate::limits::Limits;
use crate::watch::Watch;
use crate::zebin::{KernelInfo, Zebin};
use gantry_isa_gen::{Platform, Product};
use std::sync::Arc;

/// A device.
pub(crate) trait DeviceBackend: Send + Sync {
    /// What it calls itself.
    fn name(&self) -> String;
    /// Whether it computes in this process.
    fn is_simulator(&self) -> bool;
    /// The platform it runs; `None` where it is none known here, and only the driver decides.
    fn platform(&self) -> Option<Platform>;
    /// Which product it is; `None` where none is simulated, or none known here is there.
    fn product(&self) -> Option<&'static Product> {
        None
    }
    /// Whether it runs modules of a platform.
    fn runs(&self, platform: Platform) -> bool {
        self.platform()
            .is_none_or(|own| own.same_generation(platform))
    }
    /// What modules may ask of it.
    fn limits(&self) -> Limits {
        Limits::default()
    }
    /// Which device this is, as its buffers say.
    fn id(&self) -> usize;
    /// Makes a zeroed buffer.
    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BufferBackend>, Error>;
    /// Whether buffers can be looked at as images, tightly packed.
    fn has_images(&self) -> bool {
        false
    }
    /// Loads a module.
    fn load(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Arc<dyn ModuleBackend>, Error>;
    /// What the device itself says against bytes that could not be read here; `None` if it says nothing.
    fn refusal(&self, bytes: &[u8]) -> Option<Error> {
        let _ = bytes;
        None
    }
}

/// Device memory.
pub(crate) trait BufferBackend: Send + Sync {
    /// Bytes.
    fn len(&self) -> usize;
    /// Where kernels see it.
    fn address(&self) -> u64;
    /// Copies out; the range is within the buffer.
    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error>;
    /// Copies in; the range is within the buffer.
    fn write(&self, at: usize, data: &[u8]) -> Result<(), Error>;
    /// Which device it belongs to: [`DeviceBackend::id`].
    fn device(&self) -> usize;
}

/// A loaded module.
pub(crate) trait ModuleBackend: Send + Sync {
    /// Runs a kernel to its end.
    fn launch(&self, request: &Request<'_>) -> Result<LaunchStats, Error>;
}

/// A launch, checked.
pub(crate) struct Request<'a> {
    /// Index of the kernel in the zebin.
    pub(crate) index: usize,
    /// The kernel.
    pub(crate) kernel: &'a KernelInfo,
    /// Work-items.
    pub(crate) global: [u32; 3],
    /// Work-items of a full group.
    pub(crate) local: [u32; 3],
    /// Global id of the first work-item.
    pub(crate) offset: [u32; 3],
    /// 1, 2 or 3.
    pub(crate) dimensions: u32,
    /// One for each argument, of the right kind.
    pub(crate) args: &'a [Arg],
    /// Where progress is counted.
    pub(crate) progress: Option<&'a Progress>,
    /// Where what the kernel prints goes.
    pub(crate) printf: &'a dyn Print,
    /// Who looks at what it does.
    pub(crate) watch: Option<&'a Watch>,
    /// Who may stop it.
    pub(crate) signals: Signals<'a>,
}

impl Request<'_> {
    /// Groups along each dimension; those at the far edges may be smaller than the others.
    pub(crate) fn groups(&self) -> [u32; 3] {
        let [gx, gy, gz] = self.global;
        let [lx, ly, lz] = self.local;
        [gx.div_ceil(lx), gy.div_ceil(ly), gz.div_ceil(lz)]
    }
}
