//! Traits that a device implements. The public types are thin handles over them.

use crate::arg::Arg;
use crate::buffer::{BufferBackend, MemoryKind};
use crate::control::{LaunchStats, Print, Progress, Span, StopSignals};
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::image::{DriverImage, ImageDesc, ImageFormat};
use crate::limits::Limits;
use crate::watch::Watch;
use crate::zebin::{KernelInfo, Zebin};
use gantry_isa_gen::{DeviceLimits, Platform, Product};
use std::sync::Arc;

/// Device that modules are loaded on.
pub(crate) trait DeviceBackend: Send + Sync {
    /// Returns the device's own name.
    fn name(&self) -> String;
    /// Returns true if kernels run in this process.
    fn is_simulator(&self) -> bool;
    /// Returns the platform that it runs. `None` if it is unknown here and only the driver decides.
    fn platform(&self) -> Option<Platform>;
    /// Returns the product. `None` if none is simulated, or the GPU is unknown here.
    fn product(&self) -> Option<&'static Product> {
        None
    }
    /// Returns true if the device runs modules of a platform.
    fn runs(&self, platform: Platform) -> bool {
        self.platform()
            .is_none_or(|own| own.same_generation(platform))
    }
    /// Returns the GPU's limits for modules of a platform: those of its product, if it runs them as
    /// that.
    fn gpu(&self, module: Platform) -> DeviceLimits {
        match self.product() {
            Some(p) if p.platform.same_generation(module) => p.limits(),
            _ => module.limits(),
        }
    }
    /// Returns the limits on what modules may ask for.
    fn limits(&self) -> Limits {
        Limits::default()
    }
    /// Returns the id of the device, as in its buffers.
    fn id(&self) -> usize;
    /// Allocates zeroed memory.
    fn alloc(&self, bytes: usize, kind: MemoryKind) -> Result<Arc<dyn BufferBackend>, Error>;
    /// Uses memory of the host in place.
    fn adopt(&self, memory: HostMemory) -> Result<Arc<dyn BufferBackend>, Error>;
    /// Returns the memory that an address belongs to.
    fn memory_at(&self, address: u64) -> Option<Arc<dyn BufferBackend>>;
    /// Returns the number of commands that it can run at once.
    fn workers(&self) -> usize;
    /// Returns the time that a launch takes on the device, in nanoseconds.
    fn launch_time(&self, stats: &LaunchStats) -> u64 {
        (stats.wall_seconds * 1e9) as u64
    }
    /// Returns the time that moving some bytes takes on the device, in nanoseconds.
    fn copy_time(&self, bytes: usize) -> u64;
    /// Returns true if buffers can be used as images, tightly packed.
    fn has_images(&self) -> bool {
        false
    }
    /// Allocates an image of the driver. `None` where images are in buffers.
    fn image(
        &self,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Option<Result<Arc<dyn DriverImage>, Error>> {
        let _ = (format, desc);
        None
    }
    /// Loads a module.
    fn load(&self, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Arc<dyn ModuleBackend>, Error>;
    /// Returns the device's own error for bytes that could not be read here, if it has one.
    fn refusal(&self, bytes: &[u8]) -> Option<Error> {
        let _ = bytes;
        None
    }
}

/// Module loaded on a device.
pub(crate) trait ModuleBackend: Send + Sync {
    /// Runs a kernel to its end. Returns its time too, where the device measures it.
    fn launch(&self, request: &LaunchRequest<'_>) -> Result<(LaunchStats, Option<Span>), Error>;
}

/// Launch whose arguments and grid have been checked.
pub(crate) struct LaunchRequest<'a> {
    /// Index of the kernel in the zebin.
    pub(crate) index: usize,
    /// Kernel as the zebin describes it.
    pub(crate) kernel: &'a KernelInfo,
    /// Work-items of the grid.
    pub(crate) global: [u32; 3],
    /// Work-items of a full group.
    pub(crate) local: [u32; 3],
    /// True if neither the host nor the kernel has chosen them.
    pub(crate) any_local: bool,
    /// Global id of the first work-item.
    pub(crate) offset: [u32; 3],
    /// Number of dimensions, 1 to 3.
    pub(crate) dimensions: u32,
    /// Arguments, one for each parameter and of the right kind.
    pub(crate) args: &'a [Arg],
    /// Counter of ended threads.
    pub(crate) progress: Option<&'a Progress>,
    /// Destination of the text that the kernel prints.
    pub(crate) printf: &'a dyn Print,
    /// Observer of the launch.
    pub(crate) watch: Option<&'a Watch>,
    /// Signals that may stop the launch.
    pub(crate) signals: StopSignals<'a>,
}

impl LaunchRequest<'_> {
    /// Returns the groups along each dimension. Those at the far edges may be smaller than the
    /// others.
    pub(crate) fn groups(&self) -> [u32; 3] {
        let [gx, gy, gz] = self.global;
        let [lx, ly, lz] = self.local;
        [gx.div_ceil(lx), gy.div_ceil(ly), gz.div_ceil(lz)]
    }
}
