//! Safe functions over the Level Zero C interface (`api`), which keep handles typed, check results,
//! and destroy what they create.
//!
//! The queue may still use resources when a wait for its end fails or is given up. They are neither
//! destroyed nor freed then, since the GPU could access memory that belongs to somebody else by
//! that time. They are kept ([`Gpu::release`]) until a later wait on the queue succeeds. The host's
//! own memory is never given to the queue: copies go through memory that can be kept.
#![allow(unsafe_code, reason = "the driver is a C library, found at run time")]

use super::api::{
    Code, ContextDesc, DeviceMemDesc, DeviceProperties, Functions, GroupCount, Handle, HostMemDesc,
    KernelDesc, ListDesc, ModuleDesc, NOT_READY, QueueDesc, check, code_name,
};
use super::host::loader;
use crate::buffer::MemoryKind;
use crate::control::StopSignals;
use crate::error::{Error, Stopped};
use gantry_isa_gen::diag::Count;
use std::ffi::{CString, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Resource that the queue may use, to be destroyed or freed when it no longer does.
enum QueueResource {
    List(Handle),
    Kernel(Handle),
    Module(Handle),
    Memory(*mut c_void),
    /// Host side of a copy, which is kept and then dropped.
    Host {
        _bytes: Vec<u8>,
    },
}

/// Reason why a wait for the queue's end failed.
pub(super) enum WaitError {
    Error(Error),
    /// The launch was stopped.
    Stopped(Stopped),
}

impl From<Error> for WaitError {
    fn from(e: Error) -> WaitError {
        WaitError::Error(e)
    }
}

impl WaitError {
    /// Returns the error of a wait that nobody can stop.
    fn unstopped(self) -> Error {
        match self {
            WaitError::Error(e) => e,
            WaitError::Stopped(why) => Error::NoDevice(format!("Level Zero: a copy {why}")),
        }
    }
}

/// Time of one wait for the queue where a signal may stop the launch.
const WAIT: Duration = Duration::from_millis(2);
/// Alignment of allocations, in bytes.
const ALIGN: usize = 64;
/// Time that a dropped GPU may take to end its work.
const LAST_WAIT: Duration = Duration::from_millis(100);

/// GPU that a driver names.
struct FoundGpu {
    driver: Handle,
    device: Handle,
    /// Name that the driver gives it.
    name: String,
    /// PCI device id.
    pci_id: u32,
}

impl FoundGpu {
    /// Lists the GPUs of all drivers.
    ///
    /// # Errors
    /// There is no driver. No driver has a GPU, and one fails to list its devices.
    fn all(f: &Functions) -> Result<Vec<FoundGpu>, Error> {
        let name = loader(&target_lexicon::HOST)?;
        // SAFETY: no pointers; flag 0 is the default.
        let code = unsafe { (f.init)(0) };
        if code != 0 {
            return Err(Error::NoDevice(format!(
                "{name} is here, but zeInit failed with {}: no Level Zero driver, or no device that it runs",
                code_name(code)
            )));
        }
        let drivers = list("zeDriverGet", |n, p| {
            // SAFETY: `list` passes a count and room for that many handles, or null.
            unsafe { (f.driver_get)(n, p) }
        })?;
        let (mut all, mut failed) = (Vec::new(), None);
        for driver in &drivers {
            if let Err(e) = FoundGpu::of_driver(f, *driver, &mut all) {
                failed.get_or_insert(e);
            }
        }
        match failed {
            _ if !all.is_empty() => Ok(all),
            Some(e) => Err(e),
            None => Err(Error::NoDevice(format!(
                "{name} names {} drivers, none with a GPU",
                drivers.len()
            ))),
        }
    }

    /// Adds the GPUs of a driver.
    fn of_driver(f: &Functions, driver: Handle, all: &mut Vec<FoundGpu>) -> Result<(), Error> {
        let devices = list("zeDeviceGet", |n, p| {
            // SAFETY: `list` passes a count and room for that many handles, or null; the driver's
            // handle was just returned.
            unsafe { (f.device_get)(driver, n, p) }
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
            // SAFETY: the structure is laid out as the header has it, its type is set and its
            // chain is empty.
            check("zeDeviceGetProperties", unsafe {
                (f.device_properties)(device, &mut p)
            })?;
            // Type 1 is a GPU.
            if p.ty != 1 {
                continue;
            }
            let end = p.name.iter().position(|&b| b == 0).unwrap_or(256);
            let name = String::from_utf8_lossy(p.name.get(..end).unwrap_or(&[])).into_owned();
            all.push(FoundGpu {
                driver,
                device,
                name,
                pci_id: p.device,
            });
        }
        Ok(())
    }
}

/// GPU with a context and a queue.
pub(super) struct Gpu {
    f: Arc<Functions>,
    /// Resources that the queue may still use, since a wait for its end failed or was given up;
    /// `None` where none did.
    kept: Mutex<Option<Vec<QueueResource>>>,
    device: Handle,
    context: Handle,
    queue: Handle,
    /// Name that the driver gives it.
    pub(super) name: String,
    /// PCI device id.
    pub(super) pci_id: u32,
}

// SAFETY: Level Zero handles may be used from any thread. Calls on queues, lists and kernels are
// not thread-safe by the specification. They are made under the caller's lock or on objects of one
// thread.
unsafe impl Send for Gpu {}
// SAFETY: as for `Send`.
unsafe impl Sync for Gpu {}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.kept().is_some() {
            let ended = self.wait(LAST_WAIT) == 0;
            if !ended {
                // The GPU still uses resources of the context, and the driver looks after it: all
                // of it stays.
                std::mem::forget(self.f.clone());
                return;
            }
            self.release_kept();
        }
        // SAFETY: both were made by `open`. Nothing made from them is left, since it would hold an
        // `Arc` of this.
        unsafe {
            (self.f.queue_destroy)(self.queue);
            (self.f.context_destroy)(self.context);
        }
    }
}

impl Gpu {
    fn kept(&self) -> MutexGuard<'_, Option<Vec<QueueResource>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys or frees a resource, or keeps it where the queue may still use it.
    fn release(&self, resource: QueueResource) {
        match self.kept().as_mut() {
            Some(kept) => kept.push(resource),
            None => self.destroy(resource),
        }
    }

    /// Destroys or frees a resource that the queue does not use.
    fn destroy(&self, resource: QueueResource) {
        // SAFETY: each was made from this context, is destroyed once, and nothing uses it. The
        // queue has never had it, or a wait for the queue's end has succeeded since.
        unsafe {
            match resource {
                QueueResource::List(l) => (self.f.list_destroy)(l),
                QueueResource::Kernel(k) => (self.f.kernel_destroy)(k),
                QueueResource::Module(m) => (self.f.module_destroy)(m),
                QueueResource::Memory(at) => (self.f.mem_free)(self.context, at),
                QueueResource::Host { .. } => 0,
            };
        }
    }

    /// Destroys and frees the kept resources, after a wait for the queue's end has succeeded.
    fn release_kept(&self) {
        let kept = self.kept().take();
        for resource in kept.into_iter().flatten() {
            self.destroy(resource);
        }
    }

    /// Waits for the queue's end, for `time` at most.
    fn wait(&self, time: Duration) -> Code {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: our queue.
        unsafe { (self.f.queue_synchronize)(self.queue, nanoseconds) }
    }

    /// Waits for the queue's end, or for a signal that stops the launch.
    fn synchronize(&self, signals: StopSignals<'_>) -> Result<(), WaitError> {
        loop {
            let time = match (signals.deadline, signals.cancel.or(signals.queue)) {
                (None, None) => Duration::MAX,
                (Some(d), _) => d.saturating_duration_since(Instant::now()).min(WAIT),
                (None, Some(_)) => WAIT,
            };
            match self.wait(time) {
                NOT_READY => {
                    if let Some(why) = signals.now() {
                        return Err(WaitError::Stopped(why));
                    }
                }
                code => return Ok(check("zeCommandQueueSynchronize", code)?),
            }
        }
    }

    /// Counts the GPUs of all drivers.
    pub(super) fn count() -> Result<usize, Error> {
        Ok(FoundGpu::all(&Functions::load()?)?.len())
    }

    /// Opens a GPU by its index among those of all drivers, in the drivers' order.
    pub(super) fn open(index: usize) -> Result<Gpu, Error> {
        let f = Functions::load()?;
        let mut all = FoundGpu::all(&f)?;
        if index >= all.len() {
            return Err(Error::NoDevice(format!(
                "{} names {}; there is none of index {index}",
                loader(&target_lexicon::HOST)?,
                Count(all.len(), "GPU")
            )));
        }
        Gpu::on(f, all.swap_remove(index))
    }

    fn on(f: Functions, found: FoundGpu) -> Result<Gpu, Error> {
        let FoundGpu {
            driver,
            device,
            name,
            pci_id,
        } = found;
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
            f: Arc::new(f),
            kept: Mutex::new(None),
            device,
            context,
            queue,
            name,
            pci_id,
        })
    }

    /// Fills a command list with `fill`, executes it and waits for its end. Callers hold the
    /// queue's lock. If this fails, resources that `fill` gave to the list must be released, or
    /// kept elsewhere.
    fn execute(
        &self,
        signals: StopSignals<'_>,
        fill: impl FnOnce(Handle) -> Result<(), Error>,
    ) -> Result<(), WaitError> {
        if self.kept().is_some() {
            self.synchronize(signals)?;
            self.release_kept();
        }
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
        let filled = fill(list).and_then(|()| {
            // SAFETY: the list was made above and is open.
            check("zeCommandListClose", unsafe { (self.f.list_close)(list) })
        });
        let result = filled.map_err(WaitError::Error).and_then(|()| {
            // SAFETY: one closed list, no fence.
            let code = unsafe { (self.f.queue_execute)(self.queue, 1, &mut list, null_mut()) };
            let ended = check("zeCommandQueueExecuteCommandLists", code)
                .map_err(WaitError::Error)
                .and_then(|()| self.synchronize(signals));
            if ended.is_err() {
                // A failure does not mean that nothing was submitted, or that nothing runs.
                self.kept().get_or_insert_default();
            }
            ended
        });
        self.release(QueueResource::List(list));
        result
    }
}

impl Gpu {
    /// Copies between memory of the device and memory of the host, which the caller releases
    /// afterwards. Callers hold the queue's lock.
    fn copy(&self, to: *mut c_void, from: *const c_void, bytes: usize) -> Result<(), Error> {
        let result = self.execute(StopSignals::default(), |list| {
            // SAFETY: both ranges are whole, and live until the queue has ended: they are released,
            // not freed.
            check("zeCommandListAppendMemoryCopy", unsafe {
                (self.f.list_copy)(list, to, from, bytes, null_mut(), 0, null_mut())
            })
        });
        result.map_err(WaitError::unstopped)
    }
}

/// Lists handles by two calls: the first returns their number, the second the handles.
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
    kind: MemoryKind,
}

// SAFETY: the address is of memory that only the driver's calls touch, and who is given it by
// `host_ptr`.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`; copies are made under the caller's lock.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        self.gpu.release(QueueResource::Memory(self.at));
    }
}

impl Memory {
    /// Allocates memory of a length in bytes, with undefined contents.
    pub(super) fn new(gpu: &Arc<Gpu>, len: usize, kind: MemoryKind) -> Result<Memory, Error> {
        let (f, context, device) = (&gpu.f, gpu.context, gpu.device);
        let desc = DeviceMemDesc {
            stype: 0x15,
            next: null(),
            flags: 0,
            ordinal: 0,
        };
        let host = HostMemDesc {
            stype: 0x16,
            next: null(),
            flags: 0,
        };
        let mut at = null_mut();
        let (size, to) = (len.max(1), &raw mut at);
        // SAFETY: our handles, whole descriptors and a place for the address; a size of at least 1
        // byte.
        let (call, code) = unsafe {
            match kind {
                MemoryKind::Device => (
                    "zeMemAllocDevice",
                    (f.mem_alloc)(context, &desc, size, ALIGN, device, to),
                ),
                MemoryKind::Host => (
                    "zeMemAllocHost",
                    (f.mem_alloc_host)(context, &host, size, ALIGN, to),
                ),
                MemoryKind::Shared => (
                    "zeMemAllocShared",
                    (f.mem_alloc_shared)(context, &desc, &host, size, ALIGN, device, to),
                ),
            }
        };
        check(call, code)?;
        Ok(Memory {
            gpu: gpu.clone(),
            at,
            len,
            kind,
        })
    }

    pub(super) fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// Returns the address for the host, where the host can access the memory.
    pub(super) fn host_ptr(&self) -> Option<NonNull<u8>> {
        let at = NonNull::new(self.at.cast())?;
        (self.kind != MemoryKind::Device).then_some(at)
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
    pub(super) fn write(&self, at: usize, bytes: Vec<u8>) -> Result<(), Error> {
        let to = self.range(at, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let from = bytes.as_ptr().cast();
        let result = self.gpu.copy(to, from, bytes.len());
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }

    /// Copies from the device. Callers hold the queue's lock.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        let from = self.range(at, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let mut bytes = vec![0; out.len()];
        let to = bytes.as_mut_ptr().cast();
        let result = self.gpu.copy(to, from.cast_const(), bytes.len());
        if result.is_ok() {
            out.copy_from_slice(&bytes);
        }
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }
}

/// Module of the driver.
pub(super) struct DriverModule {
    gpu: Arc<Gpu>,
    handle: Handle,
    /// Build log of the driver.
    pub(super) log: String,
}

// SAFETY: modules may be used from any thread.
unsafe impl Send for DriverModule {}
// SAFETY: as for `Send`.
unsafe impl Sync for DriverModule {}

impl Drop for DriverModule {
    fn drop(&mut self) {
        // Its kernels were released before.
        self.gpu.release(QueueResource::Module(self.handle));
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
            log: text,
        })
    }

    /// Creates a kernel, sets its arguments and launches it. Returns when it has ended or is
    /// stopped. Callers hold the queue's lock.
    pub(super) fn launch(
        &self,
        name: &str,
        group: [u32; 3],
        groups: [u32; 3],
        offset: [u32; 3],
        args: &[DriverArg<'_>],
        signals: StopSignals<'_>,
    ) -> Result<(), WaitError> {
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
        // SAFETY: our module, a whole descriptor whose name lives through the call, and a place for
        // the handle.
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
                // SAFETY: the value has `size` bytes and is copied by the call; SLM passes a size
                // and no value.
                check("zeKernelSetArgumentValue", unsafe {
                    (f.kernel_argument)(kernel, i as u32, size, value)
                })?;
            }
            self.gpu.execute(signals, |list| {
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
        self.gpu.release(QueueResource::Kernel(kernel));
        result
    }
}

/// Argument as the driver takes it.
pub(super) enum DriverArg<'a> {
    /// Address of a buffer, or 0.
    Pointer(u64),
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

#[cfg(test)]
impl Gpu {
    /// Creates a GPU without a driver.
    pub(super) fn fake() -> Arc<Gpu> {
        Arc::new(Gpu {
            f: Arc::new(Functions::fake()),
            kept: Mutex::new(None),
            device: null_mut(),
            context: null_mut(),
            queue: null_mut(),
            name: "none".to_owned(),
            pci_id: 0,
        })
    }
}
