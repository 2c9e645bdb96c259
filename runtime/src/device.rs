//! Devices: the simulator, or a GPU through Level Zero.

use crate::backend::DeviceBackend;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::image::{Image, ImageDesc, ImageFormat};
use crate::level_zero;
use crate::pool::{OwnPool, Pool};
use crate::sim::{SimOptions, Simulator};
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::{DeviceInfo, Platform};
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
    /// First GPU that Level Zero reports.
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
            DeviceKind::LevelZero => Ok(Device {
                inner: level_zero::open()?,
            }),
            DeviceKind::Auto => match level_zero::open() {
                Ok(inner) if inner.platform().is_some() => Ok(Device { inner }),
                _ => Ok(Device::simulator(SimOptions::default())),
            },
        }
    }

    /// Creates a simulator with its own threads for launches.
    pub fn simulator(options: SimOptions) -> Device {
        Device::simulator_on(options, OwnPool::of(options.threads))
    }

    /// Creates a simulator whose launches run on threads of the host. [`SimOptions::threads`] is
    /// ignored.
    pub fn simulator_on(options: SimOptions, pool: Arc<dyn Pool>) -> Device {
        Device {
            inner: Arc::new(Simulator::new(options, pool)),
        }
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
        }
    }

    /// Allocates a zeroed buffer of a length in bytes.
    ///
    /// # Errors
    /// There is not that much memory.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        Ok(Buffer {
            inner: self.inner.alloc(bytes)?,
        })
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
    /// device has no images here (Level Zero).
    pub fn image(&self, format: ImageFormat, desc: ImageDesc) -> Result<Image, Error> {
        let buffer = self.buffer(Image::bytes(format, desc)?)?;
        self.image_of(&buffer, format, desc)
    }

    /// Creates an image over a buffer's memory, tightly packed from its start. Both see what either
    /// writes.
    ///
    /// # Errors
    /// Errors are those of [`Self::image`]. In addition, the buffer may be too small or of another
    /// device.
    pub fn image_of(
        &self,
        buffer: &Buffer,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Result<Image, Error> {
        let need = Image::bytes(format, desc)?;
        if !self.inner.has_images() {
            return Err(Error::Image(format!("{} has no images here", self.name())));
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
        Ok(Image::over(buffer.clone(), format, desc))
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
