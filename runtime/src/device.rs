//! Devices: the simulator, or a GPU through Level Zero.

use crate::backend::DeviceBackend;
use crate::buffer::{Buffer, MemoryKind};
use crate::error::Error;
use crate::graph::{Workers, WorkersHandle};
use crate::host_memory::HostMemory;
use crate::image::{Image, ImageDesc, ImageFormat, ImagePlace, Texels};
use crate::level_zero;
use crate::pool::{OwnPool, Pool};
use crate::sim::{SimOptions, Simulator};
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::{DeviceInfo, PRODUCTS, Platform, Product};
use std::fmt;
use std::sync::Arc;

/// Kind of device to open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DeviceKind {
    /// GPU through Level Zero if there is one of a platform known here, else the simulator.
    #[default]
    Auto,
    /// Embedded simulator.
    Simulator,
    /// First GPU that Level Zero reports. [`Device::named`] opens others.
    LevelZero,
}

impl DeviceKind {
    /// Parses the name of a kind on a command line: `auto`, `sim` or `level-zero`.
    pub fn from_name(name: &str) -> Option<DeviceKind> {
        match name {
            "auto" => Some(DeviceKind::Auto),
            "sim" | "simulator" => Some(DeviceKind::Simulator),
            "level-zero" => Some(DeviceKind::LevelZero),
            _ => None,
        }
    }
}

/// Device that loads modules and holds buffers. A handle: clones are the same device.
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<dyn DeviceBackend>,
    workers: Arc<WorkersHandle>,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`DeviceKind::LevelZero`] without a driver or a GPU. The error names the library
    /// that was looked for.
    pub fn open(kind: DeviceKind) -> Result<Device, Error> {
        match kind {
            DeviceKind::Simulator => Ok(Device::simulator(SimOptions::default())),
            DeviceKind::LevelZero => Device::gpu(0),
            DeviceKind::Auto => match level_zero::open(0) {
                Ok(inner) if inner.platform().is_some() => Ok(Device::of(inner)),
                _ => Ok(Device::simulator(SimOptions::default())),
            },
        }
    }

    /// Opens the GPU of an index among all that the drivers of Level Zero have.
    fn gpu(index: usize) -> Result<Device, Error> {
        let inner = level_zero::open(index)?;
        Ok(Device::of(inner))
    }

    /// Opens all devices: the GPUs that Level Zero has, in its order, then a simulator of each
    /// product. The order is the same every time, as long as the GPUs are. A GPU that fails to open
    /// is left out.
    pub fn all() -> Vec<Device> {
        let gpus = level_zero::count().unwrap_or(0);
        let gpus = (0..gpus).filter_map(|n| Device::gpu(n).ok());
        let simulated = Device::simulated_products();
        gpus.chain(simulated.map(|p| Device::simulator(SimOptions::of(p))))
            .collect()
    }

    /// Opens a device by its index in [`Self::all`].
    ///
    /// # Errors
    /// There are not so many devices.
    pub fn nth(index: usize) -> Result<Device, Error> {
        let gpus = level_zero::count().unwrap_or(0);
        let Some(simulator) = index.checked_sub(gpus) else {
            return Device::gpu(index);
        };
        match Device::simulated_products().nth(simulator) {
            Some(p) => Ok(Device::simulator(SimOptions::of(p))),
            None => Err(Error::NoDevice(format!(
                "the index is {index}, and there are {}",
                Count(gpus + Device::simulated_products().count(), "device")
            ))),
        }
    }

    /// Opens a device by its name: `auto`, `sim`, `level-zero` as in [`DeviceKind`];
    /// `level-zero:1` for a GPU by its index there; the short name of a product (`tgllp`), which is
    /// simulated; a number, which is an index of [`Self::all`].
    ///
    /// ```
    /// use gantry_runtime::Device;
    /// let device = Device::named("dg2")?;
    /// assert_eq!(device.info().limits.map(|l| l.group_threads), Some(128));
    /// # Ok::<(), gantry_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no such device. The error lists the names.
    pub fn named(name: &str) -> Result<Device, Error> {
        if let Some(kind) = DeviceKind::from_name(name) {
            return Device::open(kind);
        }
        let index = name.strip_prefix("level-zero:");
        if let Some(Ok(index)) = index.map(str::parse) {
            return Device::gpu(index);
        }
        if let Ok(index) = name.parse() {
            return Device::nth(index);
        }
        match Device::simulated(name) {
            Some(product) => Ok(Device::simulator(SimOptions::of(product))),
            None => {
                let products = Device::simulated_products().map(Product::name);
                let products = products.collect::<Vec<_>>().join(", ");
                Err(Error::NoDevice(format!(
                    "there is none named `{name}`; there are auto, sim, level-zero, level-zero:N, {products}"
                )))
            }
        }
    }

    /// Returns the simulated product of a short name.
    pub fn simulated(name: &str) -> Option<&'static Product> {
        Product::from_name(name).filter(|p| p.platform > Platform::Gen7p5)
    }

    /// Iterates over the products that are simulated.
    pub fn simulated_products() -> impl Iterator<Item = &'static Product> {
        PRODUCTS.iter().filter(|p| p.platform > Platform::Gen7p5)
    }

    /// Creates a simulator with its own threads for launches.
    pub fn simulator(options: SimOptions) -> Device {
        Device::simulator_on(options, OwnPool::of(options.threads))
    }

    /// Creates a simulator whose launches run on threads of the host. [`SimOptions::threads`] is
    /// ignored.
    pub fn simulator_on(options: SimOptions, pool: Arc<dyn Pool>) -> Device {
        Device::of(Arc::new(Simulator::new(options, pool)))
    }

    fn of(inner: Arc<dyn DeviceBackend>) -> Device {
        Device {
            workers: Arc::new(Workers::open(inner.workers())),
            inner,
        }
    }

    /// Returns the threads that run commands of queues.
    pub(crate) fn workers(&self) -> &Arc<Workers> {
        self.workers.get()
    }

    /// Returns the device's own name.
    pub fn name(&self) -> String {
        self.inner.name()
    }

    /// Returns true for the simulator.
    pub fn is_simulator(&self) -> bool {
        self.inner.is_simulator()
    }

    /// Returns the platform that the device runs, or `None` if only the driver decides.
    pub fn platform(&self) -> Option<Platform> {
        self.inner.platform()
    }

    /// Describes the device for a compiler: `CompileOptions::for_device(&device.info())`.
    pub fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: self.name(),
            product: self.inner.product(),
            platform: self.platform(),
            limits: self.platform().map(|p| self.inner.gpu(p)),
        }
    }

    /// Returns the time on the device's clock, in nanoseconds: the latest end of a command of its
    /// queues. On the simulator it is modelled time.
    pub fn time(&self) -> u64 {
        self.workers().clock()
    }

    /// Allocates a zeroed buffer of a length in bytes.
    ///
    /// # Errors
    /// There is not that much memory.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        self.memory(bytes, MemoryKind::Device)
    }

    /// Allocates zeroed memory of a kind, of a length in bytes.
    ///
    /// # Errors
    /// There is not that much memory, or the device has no memory of this kind.
    pub fn memory(&self, bytes: usize, kind: MemoryKind) -> Result<Buffer, Error> {
        Ok(Buffer::whole(self.inner.alloc(bytes, kind)?))
    }

    /// Creates a buffer over memory of the host, which the device uses in place.
    ///
    /// ```
    /// # use gantry_runtime::{Device, HostMemory, SimOptions};
    /// # fn main() -> Result<(), gantry_runtime::Error> {
    /// let device = Device::simulator(SimOptions::default());
    /// let buffer = device.buffer_in_place(HostMemory::from_vec(vec![1u32, 2, 3]))?;
    /// assert_eq!(buffer.slice(4..)?.read::<u32>()?, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The device cannot access the memory.
    pub fn buffer_in_place(&self, memory: HostMemory) -> Result<Buffer, Error> {
        Ok(Buffer::whole(self.inner.adopt(memory)?))
    }

    /// Returns the memory that an address of the device belongs to, and the offset there. `None` if
    /// there is none.
    pub fn memory_at(&self, address: u64) -> Option<(Buffer, usize)> {
        let memory = Buffer::whole(self.inner.memory_at(address)?);
        let offset = usize::try_from(address - memory.device_address()).ok()?;
        Some((memory, offset))
    }

    /// Creates a buffer that holds a copy of `data`: numbers, or structures of them that are
    /// [`Pod`].
    ///
    /// # Errors
    /// There is not that much memory.
    pub fn buffer_from<T: Pod>(&self, data: &[T]) -> Result<Buffer, Error> {
        let buffer = self.buffer(size_of_val(data))?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Allocates a zeroed image.
    ///
    /// # Errors
    /// A size is 0 or beyond what surface states hold. There is not that much memory. The
    /// driver has no such images: on Level Zero cubes, levels of detail, samples and sRGB, but on
    /// products without a sampler.
    pub fn image(&self, format: ImageFormat, desc: ImageDesc) -> Result<Image, Error> {
        let bytes = Image::bytes(format, desc)?;
        if let Some(image) = self.inner.image(format, desc) {
            let image = Image::over(Texels::Driver(image?), format, desc);
            let zero = vec![0u8; format.texel_bytes() as usize];
            for level in 0..desc.levels() {
                image.fill(ImagePlace::level(level), desc.level_size(level), &zero)?;
            }
            return Ok(image);
        }
        let buffer = self.buffer(bytes)?;
        self.image_of(&buffer, format, desc)
    }

    /// Creates an image over a buffer's memory, tightly packed from its start. Both see what either
    /// writes.
    ///
    /// # Errors
    /// Errors are those of [`Self::image`]. In addition, the buffer may be too small or of another
    /// device, or images may be the driver's.
    pub fn image_of(
        &self,
        buffer: &Buffer,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Result<Image, Error> {
        let need = Image::bytes(format, desc)?;
        if !self.inner.has_images() {
            return Err(Error::Image(format!(
                "images of {} are the driver's, and not over buffers",
                self.name()
            )));
        }
        if buffer.inner.device() != self.id() {
            return Err(Error::Image("the buffer is of another device".to_owned()));
        }
        if buffer.len() < need {
            return Err(Error::Image(format!(
                "a {desc} takes {}, the buffer has {}",
                Count(need, "byte"),
                buffer.len()
            )));
        }
        Ok(Image::over(Texels::Memory(buffer.clone()), format, desc))
    }

    pub(crate) fn id(&self) -> usize {
        self.inner.id()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.name()).finish()
    }
}
