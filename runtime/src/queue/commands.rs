//! Commands of queues.

use super::{OnDrop, Order, Place, Queue, QueueOptions};
use crate::buffer::{Buffer, Pitch};
use crate::control::{Cancel, Span};
use crate::device::Device;
use crate::error::Error;
use crate::graph::{Done, Event, HostEvent, Label, Pending};
use crate::launch::{Launch, PreparedLaunch};
use crate::module::{Kernel, Module};
use bytemuck::Pod;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Name of a launch in messages.
struct LaunchLabel(Kernel);

impl fmt::Display for LaunchLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "launch of `{}`", self.0.name())
    }
}

/// Runs a launch, and tells how long it took.
pub(super) fn run(launch: &PreparedLaunch<'static>, cancel: &Cancel) -> Result<Done, Error> {
    let (stats, measured) = launch.run(Some(cancel))?;
    let device = launch.device();
    Ok(Done {
        stats: Some(stats),
        nanoseconds: device.inner.launch_time(&stats),
        measured,
    })
}

/// Returns the result of a copy of some bytes, which may have been measured.
pub(super) fn moved(device: &Device, bytes: usize, measured: Option<Span>) -> Done {
    Done {
        stats: None,
        nanoseconds: device.inner.copy_time(bytes),
        measured,
    }
}

impl Queue {
    /// Submits a launch.
    ///
    /// # Errors
    /// The arguments or the grid are wrong, or the kernel is of another device. The event has what
    /// goes wrong later: a fault, a limit, a stop.
    pub fn launch(&self, launch: Launch<'static>) -> Result<Event, Error> {
        self.check_kernel(launch.kernel())?;
        let label = Label::Of(Box::new(LaunchLabel(launch.kernel().clone())));
        let launch = launch.prepare()?;
        let work = Box::new(move |cancel: &Cancel| run(&launch, cancel));
        self.submit(Place::Command, label, work)
    }

    /// Submits a launch of a kernel that is not there yet: it waits for `pending`, from whose value
    /// `make` makes the launch.
    ///
    /// ```no_run
    /// # use gantry_runtime::{Device, Error, Grid, Queue};
    /// # fn f(device: &Device, queue: &Queue, compile: fn() -> Result<Vec<u8>, Error>)
    /// # -> Result<(), Error> {
    /// let module = device.load_later(compile)?;
    /// let end = queue.launch_with(&module, |m| Ok(m.kernel("f")?.launch(Grid::new([64, 1, 1]))))?;
    /// end.wait()
    /// # }
    /// ```
    ///
    /// # Errors
    /// The queue is cancelled or full. The event has what goes wrong later.
    pub fn launch_with<T: Send + Sync + 'static>(
        &self,
        pending: &Pending<T>,
        make: impl FnOnce(&T) -> Result<Launch<'static>, Error> + Send + 'static,
    ) -> Result<Event, Error> {
        let (device, value) = (self.device().clone(), pending.clone());
        let work = Box::new(move |cancel: &Cancel| {
            let launch = make(value.wait()?)?;
            check_kernel(launch.kernel(), &device)?;
            run(&launch.prepare()?, cancel)
        });
        let place = Place::Command;
        self.after([pending.event()])
            .submit(place, Label::Name("launch of a kernel to come"), work)
    }

    /// Submits a copy of all of a buffer to the start of another.
    ///
    /// # Errors
    /// The target is too short, or the buffers have bytes in common.
    pub fn copy(&self, from: &Buffer, to: &Buffer) -> Result<Event, Error> {
        to.check_copy(from)?;
        let (from, to, device) = (from.clone(), to.clone(), self.device().clone());
        let work = Box::new(move |_: &Cancel| {
            let measured = to.copy_measured(&from)?;
            Ok(moved(&device, from.len(), measured))
        });
        self.submit(Place::Command, Label::Name("copy"), work)
    }

    /// Submits a copy of rows: `size` has the bytes of a row, the rows of a slice, and the slices.
    ///
    /// # Errors
    /// Rows are not within their buffer, or overlap. The buffers have bytes in common.
    pub fn copy_rows(
        &self,
        source: (&Buffer, Pitch),
        target: (&Buffer, Pitch),
        size: [usize; 3],
    ) -> Result<Event, Error> {
        let ((from, from_pitch), (to, to_pitch)) = (source, target);
        to.check_rows(to_pitch, from, from_pitch, size)?;
        let (from, to, device) = (from.clone(), to.clone(), self.device().clone());
        let work = Box::new(move |_: &Cancel| {
            let measured = to.copy_rows_measured(to_pitch, &from, from_pitch, size)?;
            Ok(moved(&device, size.iter().product(), measured))
        });
        self.submit(Place::Command, Label::Name("copy of rows"), work)
    }

    /// Submits a fill: the pattern is repeated over the whole buffer, and the last one may be cut.
    ///
    /// # Errors
    /// The pattern is empty.
    pub fn fill<T: Pod>(&self, buffer: &Buffer, pattern: &[T]) -> Result<Event, Error> {
        let pattern: Vec<u8> = bytemuck::cast_slice(pattern).to_vec();
        if pattern.is_empty() {
            return Err(Error::Buffer("a fill by an empty pattern".to_owned()));
        }
        let (buffer, device) = (buffer.clone(), self.device().clone());
        let work = Box::new(move |_: &Cancel| {
            let measured = buffer.fill_measured(&pattern)?;
            Ok(moved(&device, buffer.len(), measured))
        });
        self.submit(Place::Command, Label::Name("fill"), work)
    }

    /// Submits a write of elements, which are copied at once, to the start of a buffer.
    ///
    /// # Errors
    /// The elements do not fit.
    pub fn write<T: Pod>(&self, buffer: &Buffer, elements: &[T]) -> Result<Event, Error> {
        let bytes: Vec<u8> = bytemuck::cast_slice(elements).to_vec();
        buffer.check(0, bytes.len())?;
        let (buffer, device) = (buffer.clone(), self.device().clone());
        let work = Box::new(move |_: &Cancel| {
            let measured = buffer.write_measured(0, &bytes)?;
            Ok(moved(&device, bytes.len(), measured))
        });
        self.submit(Place::Command, Label::Name("write"), work)
    }

    /// Submits a read of a whole buffer as elements.
    ///
    /// # Errors
    /// The queue is cancelled or full.
    pub fn read<T: Pod + Send + Sync>(&self, buffer: &Buffer) -> Result<Pending<Vec<T>>, Error> {
        let (buffer, device) = (buffer.clone(), self.device().clone());
        let value = Arc::new(OnceLock::new());
        let set = value.clone();
        let work = Box::new(move |_: &Cancel| {
            let (elements, measured) = buffer.read_measured::<T>()?;
            // Nobody else sets it.
            let _ = set.set(elements);
            Ok(moved(&device, buffer.len(), measured))
        });
        let event = self.submit(Place::Command, Label::Name("read"), work)?;
        Ok(Pending::of(event, value))
    }

    /// Submits a call of the host's own. It should not wait for commands: it has one of the threads
    /// that run them.
    ///
    /// # Errors
    /// The queue is cancelled or full. The event has the error of the call, and a panic as
    /// [`Error::Callback`].
    pub fn call<T: Send + Sync + 'static>(
        &self,
        callback: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<Pending<T>, Error> {
        let value = Arc::new(OnceLock::new());
        let set = value.clone();
        let event = self.submit_host("callback", move || {
            let _ = set.set(callback()?);
            Ok(())
        })?;
        Ok(Pending::of(event, value))
    }

    /// Submits a barrier: it ends when all commands before it have ended, and commands submitted
    /// later wait for it. With [`Self::after`] they so wait for events.
    ///
    /// # Errors
    /// The queue is cancelled or full.
    pub fn barrier(&self) -> Result<Event, Error> {
        let work = Box::new(|_: &Cancel| Ok(Done::default()));
        self.submit(Place::Barrier, Label::Name("barrier"), work)
    }

    /// Submits the setting of an event that was made before.
    ///
    /// # Errors
    /// The queue is cancelled or full. The event then fails, as it does where a command fails that
    /// this depends on.
    pub fn signal(&self, event: HostEvent) -> Result<Event, Error> {
        self.submit_host("signal", move || {
            event.set();
            Ok(())
        })
    }

    fn check_kernel(&self, kernel: &Kernel) -> Result<(), Error> {
        check_kernel(kernel, self.device())
    }
}

/// Checks that a kernel is of a device.
pub(super) fn check_kernel(kernel: &Kernel, device: &Device) -> Result<(), Error> {
    if kernel.module.device().id() == device.id() {
        return Ok(());
    }
    Err(Error::Queue(format!(
        "kernel `{}` is of another device than the queue",
        kernel.name()
    )))
}

impl Device {
    /// Loads a module whose bytes are computed in the background, as by a compiler.
    ///
    /// # Errors
    /// There are too many such modules at once. The event has what goes wrong later.
    pub fn load_later(
        &self,
        bytes: impl FnOnce() -> Result<Vec<u8>, Error> + Send + 'static,
    ) -> Result<Pending<Module>, Error> {
        let device = self.clone();
        let queue = self.queue(QueueOptions {
            order: Order::OutOfOrder,
            on_drop: OnDrop::Detach,
            ..QueueOptions::default()
        });
        queue.call(move || device.load(&bytes()?))
    }
}
