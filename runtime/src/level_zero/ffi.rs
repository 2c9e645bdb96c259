//! The Level Zero C interface: every unsafe line of the device is here, behind functions that keep handles typed,
//! check results, and destroy what they made.
//!
//! Facts: `level_zero/ze_api.h` of the oneAPI Level Zero loader, version 1.
#![allow(unsafe_code, reason = "the driver is a C library, found at run time")]

use crate::error::Error;
use libloading::Library;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// What the loader is called.
pub(super) const LOADER: &str = if cfg!(windows) {
    "ze_loader.dll"
} else {
    "libze_loader.so.1"
};

type Handle = *mut c_void;
type Code = u32;

#[repr(C)]
struct ContextDesc {
    stype: u32,
    next: *const c_void,
    flags: u32,
}

#[repr(C)]
struct ModuleDesc {
    stype: u32,
    next: *const c_void,
    format: u32,
    size: usize,
    input: *const u8,
    flags: *const c_char,
    constants: *const c_void,
}

#[repr(C)]
struct KernelDesc {
    stype: u32,
    next: *const c_void,
    flags: u32,
    name: *const c_char,
}

#[repr(C)]
struct ListDesc {
    stype: u32,
    next: *const c_void,
    ordinal: u32,
    flags: u32,
}

#[repr(C)]
struct QueueDesc {
    stype: u32,
    next: *const c_void,
    ordinal: u32,
    index: u32,
    flags: u32,
    mode: u32,
    priority: u32,
}

#[repr(C)]
struct DeviceMemDesc {
    stype: u32,
    next: *const c_void,
    flags: u32,
    ordinal: u32,
}

#[repr(C)]
struct GroupCount {
    x: u32,
    y: u32,
    z: u32,
}

#[repr(C)]
struct DeviceProperties {
    stype: u32,
    next: *mut c_void,
    ty: u32,
    vendor: u32,
    device: u32,
    flags: u32,
    subdevice: u32,
    core_clock: u32,
    max_alloc: u64,
    max_contexts: u32,
    max_priority: u32,
    threads_per_eu: u32,
    simd_width: u32,
    eus_per_subslice: u32,
    subslices_per_slice: u32,
    slices: u32,
    timer_resolution: u64,
    timestamp_bits: u32,
    kernel_timestamp_bits: u32,
    uuid: [u8; 16],
    name: [u8; 256],
}

macro_rules! api {
    ($($field:ident = $name:literal : fn($($arg:ty),*);)*) => {
        /// The functions used, looked up once; the library stays loaded as long as they do.
        struct Functions {
            $($field: unsafe extern "C" fn($($arg),*) -> Code,)*
            _library: Library,
        }

        impl Functions {
            fn load() -> Result<Functions, Error> {
                // SAFETY: loading the Level Zero loader runs its initialisers, which are made to run in any process.
                let library = unsafe { Library::new(LOADER) }
                    .map_err(|e| Error::NoDevice(format!("looked for {LOADER}: {e}")))?;
                $(
                    // SAFETY: the signature is the one that ze_api.h declares for this name.
                    let $field = *unsafe {
                        library.get::<unsafe extern "C" fn($($arg),*) -> Code>($name)
                    }
                    .map_err(|e| Error::NoDevice(format!("{LOADER}: {e}")))?;
                )*
                Ok(Functions { $($field,)* _library: library })
            }
        }
    };
}

api! {
    init = b"zeInit\0": fn(u32);
    driver_get = b"zeDriverGet\0": fn(*mut u32, *mut Handle);
    device_get = b"zeDeviceGet\0": fn(Handle, *mut u32, *mut Handle);
    device_properties = b"zeDeviceGetProperties\0": fn(Handle, *mut DeviceProperties);
    context_create = b"zeContextCreate\0": fn(Handle, *const ContextDesc, *mut Handle);
    context_destroy = b"zeContextDestroy\0": fn(Handle);
    queue_create = b"zeCommandQueueCreate\0": fn(Handle, Handle, *const QueueDesc, *mut Handle);
    queue_destroy = b"zeCommandQueueDestroy\0": fn(Handle);
    queue_execute = b"zeCommandQueueExecuteCommandLists\0": fn(Handle, u32, *mut Handle, Handle);
    queue_synchronize = b"zeCommandQueueSynchronize\0": fn(Handle, u64);
    list_create = b"zeCommandListCreate\0": fn(Handle, Handle, *const ListDesc, *mut Handle);
    list_destroy = b"zeCommandListDestroy\0": fn(Handle);
    list_close = b"zeCommandListClose\0": fn(Handle);
    list_copy = b"zeCommandListAppendMemoryCopy\0":
        fn(Handle, *mut c_void, *const c_void, usize, Handle, u32, *mut Handle);
    list_launch = b"zeCommandListAppendLaunchKernel\0":
        fn(Handle, Handle, *const GroupCount, Handle, u32, *mut Handle);
    list_barrier = b"zeCommandListAppendBarrier\0": fn(Handle, Handle, u32, *mut Handle);
    mem_alloc = b"zeMemAllocDevice\0":
        fn(Handle, *const DeviceMemDesc, usize, usize, Handle, *mut *mut c_void);
    mem_free = b"zeMemFree\0": fn(Handle, *mut c_void);
    module_create = b"zeModuleCreate\0":
        fn(Handle, Handle, *const ModuleDesc, *mut Handle, *mut Handle);
    module_destroy = b"zeModuleDestroy\0": fn(Handle);
    log_string = b"zeModuleBuildLogGetString\0": fn(Handle, *mut usize, *mut c_char);
    log_destroy = b"zeModuleBuildLogDestroy\0": fn(Handle);
    kernel_create = b"zeKernelCreate\0": fn(Handle, *const KernelDesc, *mut Handle);
    kernel_destroy = b"zeKernelDestroy\0": fn(Handle);
    kernel_argument = b"zeKernelSetArgumentValue\0": fn(Handle, u32, usize, *const c_void);
    kernel_group_size = b"zeKernelSetGroupSize\0": fn(Handle, u32, u32, u32);
    kernel_offset = b"zeKernelSetGlobalOffsetExp\0": fn(Handle, u32, u32, u32);
}

/// A result code's name.
fn code_name(code: Code) -> String {
    let name = match code {
        0x7000_0001 => "ZE_RESULT_ERROR_DEVICE_LOST",
        0x7000_0002 => "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
        0x7000_0003 => "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
        0x7000_0004 => "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        0x7000_0005 => "ZE_RESULT_ERROR_MODULE_LINK_FAILURE",
        0x7802_0000 | 0x7002_0000 => "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE",
        0x7800_0001 => "ZE_RESULT_ERROR_UNINITIALIZED",
        0x7800_0002 => "ZE_RESULT_ERROR_UNSUPPORTED_VERSION",
        0x7800_0003 => "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        0x7800_0004 => "ZE_RESULT_ERROR_INVALID_ARGUMENT",
        0x7800_0005 => "ZE_RESULT_ERROR_INVALID_NULL_HANDLE",
        0x7800_0007 => "ZE_RESULT_ERROR_INVALID_NULL_POINTER",
        0x7800_0008 => "ZE_RESULT_ERROR_INVALID_SIZE",
        0x7800_0009 => "ZE_RESULT_ERROR_UNSUPPORTED_SIZE",
        0x7800_000c => "ZE_RESULT_ERROR_INVALID_ENUMERATION",
        0x7800_000f => "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY",
        0x7800_0011 => "ZE_RESULT_ERROR_INVALID_KERNEL_NAME",
        0x7800_0013 => "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION",
        0x7800_0014 => "ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION",
        0x7800_0015 => "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX",
        0x7800_0016 => "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE",
        0x7800_0018 => "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED",
        0x7fff_fffe => "ZE_RESULT_ERROR_UNKNOWN",
        _ => return format!("{code:#010x}"),
    };
    format!("{name} ({code:#010x})")
}

fn check(call: &'static str, code: Code) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    Err(Error::Driver {
        call,
        code: code_name(code),
        log: String::new(),
    })
}

/// A GPU with a context and a queue on it.
pub(super) struct Gpu {
    f: Functions,
    device: Handle,
    context: Handle,
    queue: Handle,
    /// The driver's name for it.
    pub(super) name: String,
    /// PCI device id.
    pub(super) pci_id: u32,
}

// SAFETY: Level Zero handles may be used from any thread; the calls that the specification does not make thread-safe
// (on queues, lists and kernels) are made under the caller's lock or on objects of one thread.
unsafe impl Send for Gpu {}
// SAFETY: as for `Send`.
unsafe impl Sync for Gpu {}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: both were made by `open` and nothing made from them is left: those hold an `Arc` of this.
        unsafe {
            (self.f.queue_destroy)(self.queue);
            (self.f.context_destroy)(self.context);
        }
    }
}

impl Gpu {
    /// The first GPU of the first driver that has one.
    pub(super) fn open() -> Result<Gpu, Error> {
        let f = Functions::load()?;
        // SAFETY: no pointers; flag 0 is the default.
        let code = unsafe { (f.init)(0) };
        if code != 0 {
            return Err(Error::NoDevice(format!(
                "{LOADER} is here, but zeInit failed with {}: no Level Zero driver, or no device that it runs",
                code_name(code)
            )));
        }
        let drivers = list("zeDriverGet", |n, p| {
            // SAFETY: `list` passes a count and room for that many handles, or null.
            unsafe { (f.driver_get)(n, p) }
        })?;
        for driver in &drivers {
            let devices = list("zeDeviceGet", |n, p| {
                // SAFETY: as above, on a driver handle just returned.
                unsafe { (f.device_get)(*driver, n, p) }
            })?;
            for device in devices {
                let mut p = DeviceProperties {
                    stype: 3,
                    next: null_mut(),
                    ty: 0,
                    vendor: 0,
                    device: 0,
                    flags: 0,
                    subdevice: 0,
                    core_clock: 0,
                    max_alloc: 0,
                    max_contexts: 0,
                    max_priority: 0,
                    threads_per_eu: 0,
                    simd_width: 0,
                    eus_per_subslice: 0,
                    subslices_per_slice: 0,
                    slices: 0,
                    timer_resolution: 0,
                    timestamp_bits: 0,
                    kernel_timestamp_bits: 0,
                    uuid: [0; 16],
                    name: [0; 256],
                };
                // SAFETY: the structure is laid out as the header has it, its type is set and its chain is empty.
                check("zeDeviceGetProperties", unsafe {
                    (f.device_properties)(device, &mut p)
                })?;
                // 1 is a GPU.
                if p.ty != 1 {
                    continue;
                }
                let end = p.name.iter().position(|&b| b == 0).unwrap_or(256);
                let name = String::from_utf8_lossy(p.name.get(..end).unwrap_or(&[])).into_owned();
                return Gpu::on(f, *driver, device, name, p.device);
            }
        }
        Err(Error::NoDevice(format!(
            "{LOADER} names {} drivers, none with a GPU",
            drivers.len()
        )))
    }

    fn on(
        f: Functions,
        driver: Handle,
        device: Handle,
        name: String,
        pci_id: u32,
    ) -> Result<Gpu, Error> {
        let mut context = null_mut();
        let desc = ContextDesc {
            stype: 0xd,
            next: null(),
            flags: 0,
        };
        // SAFETY: a driver handle, a whole descriptor and a place for the handle.
        check("zeContextCreate", unsafe {
            (f.context_create)(driver, &desc, &mut context)
        })?;
        let desc = QueueDesc {
            stype: 0xe,
            next: null(),
            ordinal: 0,
            index: 0,
            flags: 0,
            mode: 0,
            priority: 0,
        };
        let mut queue = null_mut();
        // SAFETY: handles of the same driver, a whole descriptor and a place for the handle.
        let code = unsafe { (f.queue_create)(context, device, &desc, &mut queue) };
        if let Err(e) = check("zeCommandQueueCreate", code) {
            // SAFETY: made above, and nothing else was made of it.
            unsafe { (f.context_destroy)(context) };
            return Err(e);
        }
        Ok(Gpu {
            f,
            device,
            context,
            queue,
            name,
            pci_id,
        })
    }

    /// Makes a command list with `fill`, executes it and waits for its end. Callers hold the queue's lock.
    fn execute(&self, fill: impl FnOnce(Handle) -> Result<(), Error>) -> Result<(), Error> {
        let desc = ListDesc {
            stype: 0xf,
            next: null(),
            ordinal: 0,
            flags: 0,
        };
        let mut list = null_mut();
        // SAFETY: our handles, a whole descriptor and a place for the handle.
        check("zeCommandListCreate", unsafe {
            (self.f.list_create)(self.context, self.device, &desc, &mut list)
        })?;
        let result = fill(list).and_then(|()| {
            // SAFETY: the list was made above and is open.
            check("zeCommandListClose", unsafe { (self.f.list_close)(list) })?;
            // SAFETY: one closed list, no fence.
            check("zeCommandQueueExecuteCommandLists", unsafe {
                (self.f.queue_execute)(self.queue, 1, &mut list, null_mut())
            })?;
            // SAFETY: our queue; the longest wait.
            check("zeCommandQueueSynchronize", unsafe {
                (self.f.queue_synchronize)(self.queue, u64::MAX)
            })
        });
        // SAFETY: made above; the queue has finished with it, or never had it.
        unsafe { (self.f.list_destroy)(list) };
        result
    }
}

/// The two-call way of listing handles: how many, then which.
fn list(
    call: &'static str,
    mut get: impl FnMut(*mut u32, *mut Handle) -> Code,
) -> Result<Vec<Handle>, Error> {
    let mut n = 0;
    check(call, get(&mut n, null_mut()))?;
    let mut handles = vec![null_mut(); n as usize];
    check(call, get(&mut n, handles.as_mut_ptr()))?;
    handles.truncate(n as usize);
    Ok(handles)
}

/// Memory of a GPU.
pub(super) struct Memory {
    gpu: Arc<Gpu>,
    at: *mut c_void,
    len: usize,
}

// SAFETY: the address is of device memory, which only the driver's calls touch.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`; copies are made under the caller's lock.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` from this context, freed once; launches are synchronous, so nothing uses it.
        unsafe { (self.gpu.f.mem_free)(self.gpu.context, self.at) };
    }
}

impl Memory {
    /// Allocates so many bytes; what they hold is not defined.
    pub(super) fn new(gpu: &Arc<Gpu>, len: usize) -> Result<Memory, Error> {
        let desc = DeviceMemDesc {
            stype: 0x15,
            next: null(),
            flags: 0,
            ordinal: 0,
        };
        let mut at = null_mut();
        // SAFETY: our handles, a whole descriptor and a place for the address; a size of at least 1 byte.
        check("zeMemAllocDevice", unsafe {
            (gpu.f.mem_alloc)(gpu.context, &desc, len.max(1), 64, gpu.device, &mut at)
        })?;
        Ok(Memory {
            gpu: gpu.clone(),
            at,
            len,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn address(&self) -> u64 {
        self.at as u64
    }

    fn range(&self, at: usize, n: usize) -> Result<*mut c_void, Error> {
        match at.checked_add(n) {
            Some(end) if end <= self.len => Ok(self.at.wrapping_byte_add(at)),
            _ => Err(Error::Buffer(format!(
                "{n} bytes at {at} are outside the buffer"
            ))),
        }
    }

    /// Copies to the device. Callers hold the queue's lock.
    pub(super) fn write(&self, at: usize, data: &[u8]) -> Result<(), Error> {
        let to = self.range(at, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        self.gpu.execute(|list| {
            // SAFETY: both ranges are whole, and live until the copy has been waited for.
            check("zeCommandListAppendMemoryCopy", unsafe {
                (self.gpu.f.list_copy)(
                    list,
                    to,
                    data.as_ptr().cast(),
                    data.len(),
                    null_mut(),
                    0,
                    null_mut(),
                )
            })
        })
    }

    /// Copies from the device. Callers hold the queue's lock.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        let from = self.range(at, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        self.gpu.execute(|list| {
            // SAFETY: both ranges are whole, and live until the copy has been waited for.
            check("zeCommandListAppendMemoryCopy", unsafe {
                (self.gpu.f.list_copy)(
                    list,
                    out.as_mut_ptr().cast(),
                    from.cast_const(),
                    out.len(),
                    null_mut(),
                    0,
                    null_mut(),
                )
            })
        })
    }
}

/// A module of the driver.
pub(super) struct DriverModule {
    gpu: Arc<Gpu>,
    handle: Handle,
    /// What the driver said while it built the module.
    pub(super) log: String,
}

// SAFETY: modules may be used from any thread.
unsafe impl Send for DriverModule {}
// SAFETY: as for `Send`.
unsafe impl Sync for DriverModule {}

impl Drop for DriverModule {
    fn drop(&mut self) {
        // SAFETY: made by `new`, destroyed once; kernels made of it are gone at the end of their launch.
        unsafe { (self.gpu.f.module_destroy)(self.handle) };
    }
}

impl DriverModule {
    /// Gives a native binary to the driver. An error carries the driver's build log.
    pub(super) fn new(gpu: &Arc<Gpu>, binary: &[u8]) -> Result<DriverModule, Error> {
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
            // SAFETY: our handles, a whole descriptor whose input lives through the call, and places for both handles.
            let code = unsafe {
                (gpu.f.module_create)(gpu.context, gpu.device, &desc, &mut handle, &mut log)
            };
            (code, build_log(gpu, log))
        };
        let (code, mut text) = create();
        if code != 0 {
            // Intel's driver says what it has against a native binary on standard error only, and only when asked to:
            // where it was asked, it is made to say it again where it can be read.
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
            log: text,
        })
    }

    /// Makes a kernel, sets its arguments and launches it; returns when it has ended. Callers hold the queue's lock.
    pub(super) fn launch(
        &self,
        name: &str,
        group: [u32; 3],
        groups: [u32; 3],
        offset: [u32; 3],
        args: &[DriverArg<'_>],
    ) -> Result<(), Error> {
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
        let mut kernel = null_mut();
        // SAFETY: our module, a whole descriptor whose name lives through the call, and a place for the handle.
        check("zeKernelCreate", unsafe {
            (f.kernel_create)(self.handle, &desc, &mut kernel)
        })?;
        let run = || {
            let [x, y, z] = group;
            // SAFETY: a kernel made above.
            check("zeKernelSetGroupSize", unsafe {
                (f.kernel_group_size)(kernel, x, y, z)
            })?;
            if offset != [0, 0, 0] {
                let [x, y, z] = offset;
                // SAFETY: a kernel made above.
                check("zeKernelSetGlobalOffsetExp", unsafe {
                    (f.kernel_offset)(kernel, x, y, z)
                })?;
            }
            for (i, a) in args.iter().enumerate() {
                let address;
                let (size, value): (usize, *const c_void) = match a {
                    DriverArg::Pointer(p) => {
                        address = *p;
                        (size_of::<u64>(), (&raw const address).cast())
                    }
                    DriverArg::Local(n) => (*n, null()),
                    DriverArg::Value(v) => (v.len(), v.as_ptr().cast()),
                };
                // SAFETY: the value has `size` bytes and is copied by the call; SLM passes a size and no value.
                check("zeKernelSetArgumentValue", unsafe {
                    (f.kernel_argument)(kernel, i as u32, size, value)
                })?;
            }
            self.gpu.execute(|list| {
                let [x, y, z] = groups;
                let count = GroupCount { x, y, z };
                // SAFETY: our list and kernel; the count is copied by the call; no events.
                check("zeCommandListAppendLaunchKernel", unsafe {
                    (f.list_launch)(list, kernel, &count, null_mut(), 0, null_mut())
                })?;
                // SAFETY: our list; no events.
                check("zeCommandListAppendBarrier", unsafe {
                    (f.list_barrier)(list, null_mut(), 0, null_mut())
                })
            })
        };
        let result = run();
        // SAFETY: made above; `execute` has waited for the launch.
        unsafe { (f.kernel_destroy)(kernel) };
        result
    }
}

/// An argument as the driver takes it.
pub(super) enum DriverArg<'a> {
    /// The address of a buffer, or 0.
    Pointer(u64),
    /// SLM of so many bytes.
    Local(usize),
    /// By value.
    Value(&'a [u8]),
}

/// A build log's text; the log is destroyed.
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

/// Whether Intel's driver was told, when the process began, to print its debug messages.
fn driver_prints() -> bool {
    let on = |name| std::env::var_os(name).is_some_and(|v| v == "1");
    on("NEOReadDebugKeys") && on("PrintDebugMessages")
}

/// What is written to standard error, by anyone in this process, while `f` runs.
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

/// Not where descriptors are not small numbers.
#[cfg(not(unix))]
fn captured_stderr(f: impl FnOnce()) -> String {
    f();
    String::new()
}
