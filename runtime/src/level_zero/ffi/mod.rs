//! Safe functions over the Level Zero C interface (`api`), which keep handles typed, check results,
//! and destroy what they create.
//!
//! The GPU may still use resources when a wait for the end of a command fails or is given up. They
//! are neither destroyed nor freed then, since the GPU could access memory that belongs to somebody
//! else by that time. They are kept ([`Gpu::release`]) until all such commands have ended. The
//! host's own memory is never given to the GPU: copies go through memory that can be kept.
#![allow(unsafe_code, reason = "the driver is a C library, found at run time")]

mod image;
mod lane;
mod memory;
mod module;

pub(super) use image::{DriverDesc, DriverImage, TexelBox};
pub(super) use memory::Memory;
pub(super) use module::{Dispatch, DriverArg, DriverModule};

use super::api::{
    Code, ContextDesc, DEVICE_LOST, DeviceProperties, Functions, Handle, check, code_name,
};
use super::clock::Clock;
use super::host::loader;
use crate::control::{Span, StopSignals};
use crate::error::{Error, Stopped};
use gantry_isa_gen::diag::Count;
use lane::{Lane, LaneKind, LaneWait};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Resource that the GPU may use, to be destroyed or freed when it no longer does.
enum QueueResource {
    Kernel(Handle),
    Module(Handle),
    Memory(*mut c_void),
    Image(Handle),
    /// Host side of a copy, which is kept and then dropped.
    Host {
        _bytes: Vec<u8>,
    },
}

/// Reason why a wait for a command's end failed.
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
    /// Resolution of the timer, and the bits of its readings in events.
    timer: (u64, u32),
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
            let mut p = FoundGpu::properties(f, device, DeviceProperties::V1)?;
            // Type 1 is a GPU.
            if p.ty != 1 {
                continue;
            }
            let end = p.name.iter().position(|&b| b == 0).unwrap_or(256);
            let name = String::from_utf8_lossy(p.name.get(..end).unwrap_or(&[])).into_owned();
            // Later versions tell the timer's frequency; before, whole nanoseconds of a tick.
            if let Ok(exact) = FoundGpu::properties(f, device, DeviceProperties::V1_2) {
                p.timer_resolution = exact.timer_resolution;
            }
            all.push(FoundGpu {
                driver,
                device,
                name,
                pci_id: p.device,
                timer: (p.timer_resolution, p.kernel_timestamp_bits),
            });
        }
        Ok(())
    }

    fn properties(f: &Functions, device: Handle, stype: u32) -> Result<DeviceProperties, Error> {
        let mut p = DeviceProperties::empty(stype);
        // SAFETY: the structure is laid out as the header has it, its type is set and its chain is
        // empty.
        check("zeDeviceGetProperties", unsafe {
            (f.device_properties)(device, &mut p)
        })?;
        Ok(p)
    }
}

/// GPU with a context and its lanes.
pub(super) struct Gpu {
    f: Arc<Functions>,
    state: Mutex<GpuState>,
    /// Samplers by addressing mode, filter and kind of coordinates, as the driver numbers them.
    /// Each is made once.
    samplers: Mutex<HashMap<[u32; 3], Handle>>,
    clock: Mutex<Clock>,
    opened: Instant,
    device: Handle,
    context: Handle,
    /// Name that the driver gives it.
    pub(super) name: String,
    /// PCI device id.
    pub(super) pci_id: u32,
}

#[derive(Default)]
struct GpuState {
    /// Lanes that no command has.
    idle: Vec<Lane>,
    /// Lanes whose command may not have ended, since the wait for it failed or was given up.
    at_work: Vec<Lane>,
    /// Resources that those commands may use.
    kept: Vec<QueueResource>,
    /// First call that has told that the device is lost.
    lost: Option<&'static str>,
}

// SAFETY: Level Zero handles may be used from any thread. Calls on lists, events and kernels are
// not thread-safe by the specification: each belongs to one command, and so to one thread.
unsafe impl Send for Gpu {}
// SAFETY: as for `Send`.
unsafe impl Sync for Gpu {}

impl Drop for Gpu {
    fn drop(&mut self) {
        let until = Instant::now() + LAST_WAIT;
        let mut state = std::mem::take(&mut *self.state());
        for lane in &state.at_work {
            let left = until.saturating_duration_since(Instant::now());
            if lane.wait(&self.f, left) != 0 {
                // The GPU still uses resources of the context, and the driver looks after it: all
                // of it stays.
                std::mem::forget(self.f.clone());
                return;
            }
        }
        for resource in state.kept.drain(..) {
            self.destroy(resource);
        }
        for lane in state.idle.drain(..).chain(state.at_work.drain(..)) {
            lane.destroy(&self.f);
        }
        for sampler in self.samplers().drain().map(|(_, sampler)| sampler) {
            // SAFETY: made from this context, and no launch is left that has it.
            unsafe { (self.f.sampler_destroy)(sampler) };
        }
        // SAFETY: made by `open`. Nothing made from it is left, since it would hold an `Arc` of
        // this.
        unsafe { (self.f.context_destroy)(self.context) };
    }
}

impl Gpu {
    fn state(&self) -> MutexGuard<'_, GpuState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys or frees a resource, or keeps it where the GPU may still use it.
    fn release(&self, resource: QueueResource) {
        let mut state = self.state();
        if state.at_work.is_empty() {
            drop(state);
            self.destroy(resource);
        } else {
            state.kept.push(resource);
        }
    }

    /// Destroys or frees a resource that the GPU does not use.
    fn destroy(&self, resource: QueueResource) {
        // SAFETY: each was made from this context, is destroyed once, and nothing uses it: every
        // command that had it has ended.
        unsafe {
            match resource {
                QueueResource::Kernel(k) => (self.f.kernel_destroy)(k),
                QueueResource::Module(m) => (self.f.module_destroy)(m),
                QueueResource::Memory(at) => (self.f.mem_free)(self.context, at),
                QueueResource::Image(image) => (self.f.image_destroy)(image),
                QueueResource::Host { .. } => 0,
            };
        }
    }

    /// Looks which commands that were given up have ended by now. When all have, what was kept for
    /// them is destroyed and freed.
    fn settle(&self) {
        let mut state = self.state();
        if state.at_work.is_empty() {
            return;
        }
        let (ended, at_work): (Vec<_>, Vec<_>) = std::mem::take(&mut state.at_work)
            .into_iter()
            .partition(|lane| lane.wait(&self.f, Duration::ZERO) == 0);
        state.at_work = at_work;
        state.idle.extend(ended);
        if state.at_work.is_empty() {
            let kept = std::mem::take(&mut state.kept);
            drop(state);
            for resource in kept {
                self.destroy(resource);
            }
        }
    }

    /// Takes an idle lane, or creates one.
    fn lane(&self, kind: LaneKind) -> Result<Lane, Error> {
        let mut state = self.state();
        if let Some(call) = state.lost {
            return Err(Gpu::lost(call));
        }
        let idle = state.idle.iter().rposition(|lane| lane.kind == kind);
        let lane = idle.map(|n| state.idle.swap_remove(n));
        drop(state);
        match lane {
            Some(lane) => Ok(lane),
            None => Lane::new(&self.f, self.context, self.device, kind),
        }
    }

    /// Returns the error of a command after a call has told that the device is lost.
    fn lost(call: &'static str) -> Error {
        Error::Driver {
            call,
            code: code_name(DEVICE_LOST),
            log: "the device was lost by an earlier command".to_owned(),
        }
    }

    /// Submits a command by `append`, which gets a list and the event to be signalled, and waits
    /// for its end. Returns the time that it took on the GPU, where the driver tells it. If this
    /// fails, resources that `append` gave to the list must be released, or kept elsewhere.
    fn execute(
        &self,
        kind: LaneKind,
        signals: StopSignals<'_>,
        append: impl FnOnce(Handle, Handle) -> Result<(), Error>,
    ) -> Result<Option<Span>, WaitError> {
        self.settle();
        let lane = self.lane(kind)?;
        if let Err(e) = lane.reset(&self.f) {
            self.state().at_work.push(lane);
            return Err(e.into());
        }
        let end = match append(lane.list, lane.event) {
            Ok(()) => lane.wait_or_stop(&self.f, signals).map_err(|e| match e {
                LaneWait::Stopped(why) => WaitError::Stopped(why),
                LaneWait::Failed(call, code) => WaitError::Error(Error::Driver {
                    call,
                    code: code_name(code),
                    log: String::new(),
                }),
            }),
            Err(e) => {
                // A failure does not mean that nothing was submitted, or that nothing runs.
                lane.close(&self.f);
                Err(WaitError::Error(e))
            }
        };
        let span = match &end {
            Ok(()) => lane.ticks(&self.f).and_then(|ticks| {
                let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
                clock.span(ticks, self.opened.elapsed())
            }),
            Err(_) => None,
        };
        let mut state = self.state();
        match &end {
            Ok(()) => state.idle.push(lane),
            Err(e) => {
                if let WaitError::Error(Error::Driver { call, code, .. }) = e
                    && *code == code_name(DEVICE_LOST)
                {
                    state.lost.get_or_insert(call);
                }
                state.at_work.push(lane);
            }
        }
        drop(state);
        end.map(|()| span)
    }

    /// Runs a copy or a fill, which nobody can stop.
    fn transfer(
        &self,
        append: impl FnOnce(Handle, Handle) -> Result<(), Error>,
    ) -> Result<Option<Span>, Error> {
        self.execute(LaneKind::Asynchronous, StopSignals::default(), append)
            .map_err(WaitError::unstopped)
    }

    /// Copies between memory of the device and memory of the host, which the caller releases
    /// afterwards.
    fn copy(
        &self,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
    ) -> Result<Option<Span>, Error> {
        self.transfer(|list, event| {
            // SAFETY: a list and an event that no other thread has. Both ranges are whole, and live
            // until the list has ended: they are released, not freed.
            check("zeCommandListAppendMemoryCopy", unsafe {
                (self.f.list_copy)(list, to, from, bytes, event, 0, null_mut())
            })
        })
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
            timer: (resolution, bits),
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
        Ok(Gpu {
            f: Arc::new(f),
            state: Mutex::default(),
            samplers: Mutex::default(),
            clock: Mutex::new(Clock::new(resolution, bits)),
            opened: Instant::now(),
            device,
            context,
            name,
            pci_id,
        })
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

#[cfg(test)]
impl Gpu {
    /// Creates a GPU of the fake driver.
    pub(super) fn fake() -> Result<Arc<Gpu>, Error> {
        let found = FoundGpu {
            driver: null_mut(),
            device: null_mut(),
            name: "none".to_owned(),
            pci_id: 0x1912,
            timer: (12_500_000, 32),
        };
        Gpu::on(super::fake::functions(), found).map(Arc::new)
    }

    /// Returns the handle of the context.
    pub(super) fn context(&self) -> Handle {
        self.context
    }
}
