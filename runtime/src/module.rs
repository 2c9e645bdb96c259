//! Loaded modules and their kernels.

use crate::backend::ModuleBackend;
use crate::device::Device;
use crate::error::Error;
use crate::zebin::{ArgInfo, KernelInfo, Zebin};
use gantry_zebin::container::{self, Wanted};
use std::fmt;
use std::sync::Arc;

/// Module on a device. A handle: clones are the same module.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

struct Loaded {
    device: Device,
    zebin: Arc<Zebin>,
    backend: Arc<dyn ModuleBackend>,
}

impl Module {
    pub(crate) fn load(device: &Device, zebin: Arc<Zebin>, bytes: &[u8]) -> Result<Module, Error> {
        if !device.inner.runs(zebin.platform) {
            return Err(Error::Platform {
                module: zebin.platform.to_string(),
                device: device.name(),
            });
        }
        let backend = device.inner.load(zebin.clone(), bytes)?;
        Ok(Module(Arc::new(Loaded {
            device: device.clone(),
            zebin,
            backend,
        })))
    }

    pub(crate) fn zebin(&self) -> &Zebin {
        &self.0.zebin
    }

    pub(crate) fn backend(&self) -> &dyn ModuleBackend {
        &*self.0.backend
    }

    /// Returns the device that it is on.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Iterates over the names of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.zebin().kernels.iter().map(|k| k.name.as_str())
    }

    /// Returns a kernel by name.
    ///
    /// # Errors
    /// There is no kernel of that name. The error lists those of the module.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        match self.zebin().kernel(name) {
            Some((index, _)) => Ok(Kernel {
                module: self.clone(),
                index,
            }),
            None => Err(Error::NoKernel {
                name: name.to_owned(),
                have: self.kernels().map(str::to_owned).collect(),
            }),
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("kernels", &self.kernels().collect::<Vec<_>>())
            .finish()
    }
}

impl Device {
    /// Loads a zebin, or the zebin for this device of a container: an archive that `ocloc` writes
    /// for several products, or a program binary of OpenCL.
    ///
    /// The zebin of an archive is that of the device's product, else one of its generation, of the
    /// highest revision.
    ///
    /// # Errors
    /// The zebin is damaged, for another platform, or refused by the driver. The container has none
    /// for the device: the error lists what there is.
    pub fn load(&self, zebin: &[u8]) -> Result<Module, Error> {
        let wanted = match (self.inner.product(), self.platform()) {
            (Some(product), _) => Wanted::Product(product),
            (None, Some(platform)) => Wanted::Platform(platform),
            (None, None) => Wanted::Only,
        };
        let zebin = container::pick(zebin, wanted, &self.inner.limits().zebin())?;
        match Zebin::parse_within(zebin, &self.inner.limits()) {
            Ok(parsed) => Module::load(self, Arc::new(parsed), zebin),
            // The driver's own message says more about its own format.
            Err(e) => Err(self.inner.refusal(zebin).unwrap_or(e.into())),
        }
    }
}

/// Kernel of a module, ready to launch. A handle.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) module: Module,
    pub(crate) index: usize,
}

impl Kernel {
    /// Returns what the zebin says about it. Never `None` for a kernel from [`Module::kernel`].
    pub fn info(&self) -> Option<&KernelInfo> {
        self.module.zebin().kernels.get(self.index)
    }

    /// Returns the error of a kernel that its module does not have.
    pub(crate) fn missing(&self) -> Error {
        Error::NoKernel {
            name: String::new(),
            have: self.module.kernels().map(str::to_owned).collect(),
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        self.info().map_or("", |k| k.name.as_str())
    }

    /// Returns its arguments in order. A launch gives those whose role is not
    /// [`ArgRole::SizeOf`](crate::zebin::ArgRole::SizeOf).
    pub fn args(&self) -> &[ArgInfo] {
        self.info().map_or(&[], |k| k.args.as_slice())
    }

    /// Returns the number of channels of a thread.
    pub fn simd_size(&self) -> u32 {
        self.info().map_or(0, |k| k.env.simd_size)
    }

    /// Returns the work-items of a group, where the kernel requires a number.
    pub fn group_size(&self) -> Option<[u32; 3]> {
        self.info().and_then(|k| k.env.required_work_group_size)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name()).finish()
    }
}
