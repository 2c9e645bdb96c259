//! Modules and kernels of the driver.

use super::super::api::{GroupCount, Handle, KernelDesc, ModuleDesc, check, code_name};
use super::lane::LaneKind;
use super::{Gpu, QueueResource, WaitError};
use crate::control::{Span, StopSignals};
use crate::error::Error;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Module of the driver.
pub(in super::super) struct DriverModule {
    gpu: Arc<Gpu>,
    handle: Handle,
    /// Kernels that no launch uses, by name. Creating one takes longer than a short launch.
    idle: Mutex<HashMap<String, Vec<DriverKernel>>>,
    /// Build log of the driver.
    pub(in super::super) log: String,
}

// SAFETY: modules may be used from any thread.
unsafe impl Send for DriverModule {}
// SAFETY: as for `Send`.
unsafe impl Sync for DriverModule {}

impl Drop for DriverModule {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut *self.idle());
        for kernel in idle.into_values().flatten() {
            self.gpu.release(QueueResource::Kernel(kernel.handle));
        }
        self.gpu.release(QueueResource::Module(self.handle));
    }
}

impl DriverModule {
    /// Gives a native binary to the driver. An error carries the driver's build log.
    pub(in super::super) fn new(gpu: &Arc<Gpu>, binary: &[u8]) -> Result<DriverModule, Error> {
        let desc = ModuleDesc {
            stype: 0x1b,
            next: null(),
            // Native binary.
            format: 1,
            size: binary.len(),
            input: binary.as_ptr(),
            flags: null(),
            constants: null(),
        };
        let mut handle = null_mut();
        let mut create = || {
            let mut log = null_mut();
            // SAFETY: our handles, a whole descriptor whose input lives through the call, and
            // places for both handles.
            let code = unsafe {
                (gpu.f.module_create)(gpu.context, gpu.device, &desc, &mut handle, &mut log)
            };
            (code, build_log(gpu, log))
        };
        let (code, mut text) = create();
        if code != 0 {
            // Intel's driver explains a refusal of a native binary on standard error only, and only
            // when asked to. Where it was asked, the call is repeated with standard error captured.
            if text.trim().is_empty() && driver_prints() {
                text = captured_stderr(|| {
                    create();
                });
            }
            if text.trim().is_empty() {
                text = "nothing (Intel's driver gives its reasons where NEOReadDebugKeys=1 and PrintDebugMessages=1 \
                        are in the environment)"
                    .to_owned();
            }
            return Err(Error::Driver {
                call: "zeModuleCreate",
                code: code_name(code),
                log: text,
            });
        }
        Ok(DriverModule {
            gpu: gpu.clone(),
            handle,
            idle: Mutex::default(),
            log: text,
        })
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<String, Vec<DriverKernel>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a kernel that no launch has, or creates one.
    fn take(&self, name: &str) -> Result<DriverKernel, Error> {
        if let Some(kernel) = self.idle().get_mut(name).and_then(Vec::pop) {
            return Ok(kernel);
        }
        let c_name = CString::new(name).map_err(|_| Error::NoKernel {
            name: name.to_owned(),
            have: Vec::new(),
        })?;
        let f = &self.gpu.f;
        let desc = KernelDesc {
            stype: 0x1d,
            next: null(),
            flags: 0,
            name: c_name.as_ptr(),
        };
        let mut handle = null_mut();
        // SAFETY: our module, a whole descriptor whose name lives through the call, and a place for
        // the handle.
        check("zeKernelCreate", unsafe {
            (f.kernel_create)(self.handle, &desc, &mut handle)
        })?;
        let kernel = DriverKernel {
            handle,
            has_offset: false,
        };
        // SAFETY: a kernel made above.
        let code = unsafe { (f.kernel_indirect)(handle, ANY_MEMORY) };
        if let Err(e) = check("zeKernelSetIndirectAccess", code) {
            self.gpu.release(QueueResource::Kernel(handle));
            return Err(e);
        }
        Ok(kernel)
    }

    /// Launches a kernel. Returns when it has ended or is stopped, with the time that it took on
    /// the GPU. Launches of several threads are with the GPU at once, each with a kernel of its
    /// own: a driver's kernel holds the arguments.
    pub(in super::super) fn launch(
        &self,
        dispatch: &Dispatch<'_>,
        args: &[DriverArg<'_>],
        signals: StopSignals<'_>,
    ) -> Result<Option<Span>, WaitError> {
        let mut kernel = self.take(dispatch.kernel)?;
        let result = self.launch_on(&mut kernel, dispatch, args, signals);
        match &result {
            Ok(_) => {
                let mut idle = self.idle();
                match idle.get_mut(dispatch.kernel) {
                    Some(kernels) => kernels.push(kernel),
                    None => {
                        idle.insert(dispatch.kernel.to_owned(), vec![kernel]);
                    }
                }
            }
            // The GPU may still use it.
            Err(_) => self.gpu.release(QueueResource::Kernel(kernel.handle)),
        }
        result
    }

    fn launch_on(
        &self,
        kernel: &mut DriverKernel,
        dispatch: &Dispatch<'_>,
        args: &[DriverArg<'_>],
        signals: StopSignals<'_>,
    ) -> Result<Option<Span>, WaitError> {
        let f = &self.gpu.f;
        let handle = kernel.handle;
        let [x, y, z] = dispatch.group;
        // SAFETY: a kernel that no other thread has.
        check("zeKernelSetGroupSize", unsafe {
            (f.kernel_group_size)(handle, x, y, z)
        })?;
        let has_offset = dispatch.offset != [0; 3];
        if has_offset || kernel.has_offset {
            let [x, y, z] = dispatch.offset;
            // SAFETY: a kernel that no other thread has.
            check("zeKernelSetGlobalOffsetExp", unsafe {
                (f.kernel_offset)(handle, x, y, z)
            })?;
            kernel.has_offset = has_offset;
        }
        for (i, a) in args.iter().enumerate() {
            let address;
            let object;
            let (size, value): (usize, *const c_void) = match a {
                DriverArg::Unread => continue,
                DriverArg::Object(handle) => {
                    object = *handle;
                    (size_of::<usize>(), (&raw const object).cast())
                }
                DriverArg::Pointer(p) => {
                    address = *p;
                    (size_of::<u64>(), (&raw const address).cast())
                }
                DriverArg::Local(n) => (*n, null()),
                DriverArg::Value(v) => (v.len(), v.as_ptr().cast()),
            };
            // SAFETY: a kernel that no other thread has. The value has `size` bytes and is copied
            // by the call; SLM passes a size and no value.
            check("zeKernelSetArgumentValue", unsafe {
                (f.kernel_argument)(handle, i as u32, size, value)
            })?;
        }
        let kind = if dispatch.prints {
            LaneKind::Synchronous
        } else {
            LaneKind::Asynchronous
        };
        self.gpu.execute(kind, signals, |list, event| {
            let [x, y, z] = dispatch.groups;
            let count = GroupCount { x, y, z };
            // SAFETY: a list and an event that no other thread has, and our kernel; the count is
            // copied by the call; it waits for no events.
            check("zeCommandListAppendLaunchKernel", unsafe {
                (f.list_launch)(list, handle, &count, event, 0, null_mut())
            })
        })
    }
}

/// Kernel of the driver, which one launch at a time uses.
struct DriverKernel {
    handle: Handle,
    /// True if the global offset that it holds is not 0.
    has_offset: bool,
}

/// Kinds of memory that a kernel may access by pointers in memory: host, device and shared.
const ANY_MEMORY: u32 = 7;

/// Kernel and grid of a launch.
pub(in super::super) struct Dispatch<'a> {
    /// Name of the kernel.
    pub(in super::super) kernel: &'a str,
    /// Work-items of a group.
    pub(in super::super) group: [u32; 3],
    /// Number of groups.
    pub(in super::super) groups: [u32; 3],
    /// Global id of the first work-item.
    pub(in super::super) offset: [u32; 3],
    /// True if the kernel prints, which the driver does when a synchronous list has ended.
    pub(in super::super) prints: bool,
}

/// Argument as the driver takes it.
pub(in super::super) enum DriverArg<'a> {
    /// Address of a buffer, or 0.
    Pointer(u64),
    /// Argument that the kernel does not read, and that the driver does not know.
    Unread,
    /// Handle of an image or a sampler.
    Object(usize),
    /// SLM of a size in bytes.
    Local(usize),
    /// Value.
    Value(&'a [u8]),
}

/// Returns a build log's text and destroys the log.
fn build_log(gpu: &Gpu, log: Handle) -> String {
    if log.is_null() {
        return String::new();
    }
    let mut size = 0;
    // SAFETY: a log handle of `zeModuleCreate`, and a place for the size.
    let code = unsafe { (gpu.f.log_string)(log, &mut size, null_mut()) };
    let mut text = vec![0u8; if code == 0 { size } else { 0 }];
    if !text.is_empty() {
        // SAFETY: room for as many bytes as the driver asked for.
        let code = unsafe { (gpu.f.log_string)(log, &mut size, text.as_mut_ptr().cast()) };
        if code != 0 {
            text.clear();
        }
    }
    // SAFETY: the log is used no further.
    unsafe { (gpu.f.log_destroy)(log) };
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    String::from_utf8_lossy(text.get(..end).unwrap_or(&[])).into_owned()
}

/// Returns true if the process's environment tells Intel's driver to print its debug messages.
fn driver_prints() -> bool {
    let on = |name| std::env::var_os(name).is_some_and(|v| v == "1");
    on("NEOReadDebugKeys") && on("PrintDebugMessages")
}

/// Returns what any thread of this process writes to standard error while `f` runs.
#[cfg(unix)]
fn captured_stderr(f: impl FnOnce()) -> String {
    use std::io::{Read, Seek};
    use std::os::fd::AsRawFd;

    unsafe extern "C" {
        safe fn dup(fd: i32) -> i32;
        safe fn dup2(from: i32, to: i32) -> i32;
        safe fn close(fd: i32) -> i32;
    }
    const STDERR: i32 = 2;
    let Ok(mut file) = tempfile::tempfile() else {
        f();
        return String::new();
    };
    let saved = dup(STDERR);
    if saved < 0 {
        f();
        return String::new();
    }
    dup2(file.as_raw_fd(), STDERR);
    f();
    dup2(saved, STDERR);
    close(saved);
    let mut text = Vec::new();
    if file.rewind().is_err() || file.read_to_end(&mut text).is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns nothing on hosts whose file descriptors are not small numbers.
#[cfg(not(unix))]
fn captured_stderr(f: impl FnOnce()) -> String {
    f();
    String::new()
}
