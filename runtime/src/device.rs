//! Devices: the simulator, or a GPU through Level Zero.

use crate::backend::DeviceBackend;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::image::{Image, ImageDesc, ImageFormat};
use crate::level_zero;
use crate::module::Module;
use crate::pool::{OwnPool, Pool};
use crate::sim::{SimOptions, Simulator};
use crate::zebin::Zebin;
use bytemuck::Pod;
use gantry_isa_gen::{DeviceInfo, Platform};
use std::fmt;
use std::sync::Arc;

/// Which device to open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DeviceKind {
    /// A GPU through Level Zero if there is one of a platform known here, else the simulator.
    #[default]
    Auto,
    /// The embedded simulator.
    Simulator,
    /// The first GPU that Level Zero names.
    LevelZero,
}

impl DeviceKind {
    /// The kind of a name on a command line: `auto`, `sim` or `level-zero`.
    pub fn from_name(name: &str) -> Option<DeviceKind> {
        match name {
            "auto" => Some(DeviceKind::Auto),
            "sim" | "simulator" => Some(DeviceKind::Simulator),
            "level-zero" => Some(DeviceKind::LevelZero),
            _ => None,
        }
    }
}

/// A device that loads modules and holds buffers. A handle: clones are the same device.
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<dyn DeviceBackend>,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`DeviceKind::LevelZero`] without a driver or a GPU: the error says what was looked for.
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

    /// A simulator of its own, with options. Its launches run on threads of its own.
    pub fn simulator(options: SimOptions) -> Device {
        Device::simulator_on(options, OwnPool::of(options.threads))
    }

    /// A simulator of its own, whose launches run on threads of the host's: [`SimOptions::threads`] counts for nothing.
    pub fn simulator_on(options: SimOptions, pool: Arc<dyn Pool>) -> Device {
        Device {
            inner: Arc::new(Simulator::new(options, pool)),
        }
    }

    /// What the device calls itself.
    pub fn name(&self) -> String {
        self.inner.name()
    }

    /// Whether this is the simulator.
    pub fn is_simulator(&self) -> bool {
        self.inner.is_simulator()
    }

    /// The platform it runs; `None` where the driver alone decides.
    pub fn platform(&self) -> Option<Platform> {
        self.inner.platform()
    }

    /// What compilers ask of it: `CompileOptions::for_device(&device.info())`.
    pub fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: self.name(),
            product: self.inner.product(),
            platform: self.platform(),
        }
    }

    /// Loads a zebin.
    ///
    /// # Errors
    /// The zebin is damaged, for another platform, or refused by the driver.
    pub fn load(&self, zebin: &[u8]) -> Result<Module, Error> {
        match Zebin::parse_within(zebin, &self.inner.limits()) {
            Ok(parsed) => Module::load(self, Arc::new(parsed), zebin),
            // A driver's own words say more about its own format.
            Err(e) => Err(self.inner.refusal(zebin).unwrap_or(e.into())),
        }
    }

    /// Makes a zeroed buffer of so many bytes.
    ///
    /// # Errors
    /// There is not that much memory.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        Ok(Buffer {
            inner: self.inner.alloc(bytes)?,
        })
    }

    /// Makes a buffer that holds a copy of `data`: numbers, or structures of them that are [`Pod`].
    ///
    /// # Errors
    /// There is not that much memory.
    pub fn buffer_from<T: Pod>(&self, data: &[T]) -> Result<Buffer, Error> {
        let buffer = self.buffer(size_of_val(data))?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Makes a zeroed image.
    ///
    /// # Errors
    /// A size is 0 or beyond what surfaces hold, there is not that much memory, or the device has no images here
    /// (Level Zero).
    pub fn image(&self, format: ImageFormat, desc: ImageDesc) -> Result<Image, Error> {
        let buffer = self.buffer(Image::bytes(format, desc)?)?;
        self.image_of(&buffer, format, desc)
    }

    /// Makes an image of a buffer's memory, tightly packed from its start: both see what either writes.
    ///
    /// # Errors
    /// As [`Self::image`], or the buffer is too small or another device's.
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
                "a {desc} takes {need} bytes, the buffer has {}",
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
