//! Launches: their grid, their arguments, and the statistics that they return.

use crate::backend::LaunchRequest;
use crate::bind::{self, Slot};
use crate::buffer::{Buffer, Plain};
use crate::error::{Error, Stopped};
use crate::image::{Image, Sampler};
use crate::module::Kernel;
use crate::watch::Watch;
use crate::zebin::{ArgKind, BindingPlace};
use bytemuck::Pod;
use gantry_isa_gen::Platform;
use std::fmt;
use std::io::Write;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Number of work-items of a launch, and their grouping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    size: GridSize,
    group: Option<[u32; 3]>,
    offset: [u32; 3],
}

/// GridSize of a grid along x, y and z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GridSize {
    Items([u32; 3]),
    Groups([u32; 3]),
}

impl Grid {
    /// Creates a grid of work-items along x, y and z.
    pub const fn new(global: [u32; 3]) -> Grid {
        Grid::of(GridSize::Items(global))
    }

    /// Creates a grid of work-groups along x, y and z, as shaders are dispatched.
    pub const fn groups(groups: [u32; 3]) -> Grid {
        Grid::of(GridSize::Groups(groups))
    }

    const fn of(size: GridSize) -> Grid {
        Grid {
            size,
            group: None,
            offset: [0; 3],
        }
    }

    /// Sets the work-items of a group. The default is what the kernel requires, or one thread's
    /// channels along x.
    pub const fn group(mut self, group: [u32; 3]) -> Grid {
        self.group = Some(group);
        self
    }

    /// Sets the global id of the first work-item.
    pub const fn offset(mut self, offset: [u32; 3]) -> Grid {
        self.offset = offset;
        self
    }
}

/// SLM for a local pointer argument, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local(
    /// Bytes.
    pub u32,
);

/// Argument of a launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Arg {
    /// Buffer, passed by its address.
    Buffer(Buffer),
    /// Null pointer.
    Null,
    /// SLM of a size in bytes.
    Local(u32),
    /// Value in the device's bytes, as many as the kernel declares.
    Value(Vec<u8>),
    /// Value of any size. Bytes that the kernel declares beyond these are zero, and bytes beyond
    /// its declaration are dropped, as Intel's driver does.
    Bytes(Vec<u8>),
    /// Image.
    Image(Image),
    /// Sampler.
    Sampler(Sampler),
}

impl Arg {
    /// Passes a value of any size as the device's bytes ([`Arg::Bytes`]).
    pub fn bytes(bytes: &[u8]) -> Arg {
        Arg::Bytes(bytes.to_vec())
    }

    /// Passes a structure by value, of the size that the kernel declares.
    pub fn value<T: Pod>(value: &T) -> Arg {
        Arg::Value(bytemuck::bytes_of(value).to_vec())
    }

    fn describe(&self) -> String {
        match self {
            Arg::Buffer(b) => format!("a buffer of {} bytes", b.len()),
            Arg::Null => "a null pointer".to_owned(),
            Arg::Local(n) => format!("{n} bytes of SLM"),
            Arg::Value(v) | Arg::Bytes(v) => format!("a value of {} bytes", v.len()),
            Arg::Image(i) => format!("a {}", i.desc()),
            Arg::Sampler(_) => "a sampler".to_owned(),
        }
    }
}

impl From<&Buffer> for Arg {
    fn from(b: &Buffer) -> Arg {
        Arg::Buffer(b.clone())
    }
}

impl From<Buffer> for Arg {
    fn from(b: Buffer) -> Arg {
        Arg::Buffer(b)
    }
}

impl From<&Image> for Arg {
    fn from(i: &Image) -> Arg {
        Arg::Image(i.clone())
    }
}

impl From<Image> for Arg {
    fn from(i: Image) -> Arg {
        Arg::Image(i)
    }
}

impl From<Sampler> for Arg {
    fn from(s: Sampler) -> Arg {
        Arg::Sampler(s)
    }
}

impl From<Local> for Arg {
    fn from(l: Local) -> Arg {
        Arg::Local(l.0)
    }
}

impl<T: Plain> From<T> for Arg {
    fn from(v: T) -> Arg {
        Arg::value(&v)
    }
}

impl<T: Plain, const N: usize> From<[T; N]> for Arg {
    fn from(v: [T; N]) -> Arg {
        Arg::Value(bytemuck::cast_slice(&v).to_vec())
    }
}

/// Counts of scratch block messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScratchStats {
    /// Messages that read.
    pub reads: u64,
    /// Messages that wrote.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// End of the highest byte of a thread's scratch that a message accessed, as an offset.
    pub end: u64,
}

/// Statistics of a launch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LaunchStats {
    /// Hardware threads that ran.
    pub threads: u64,
    /// Instructions executed, per hardware thread, summed.
    pub instructions: u64,
    /// Instructions times enabled channels.
    pub channels: u64,
    /// Send instructions executed.
    pub sends: u64,
    /// Bytes read from memory (global, SLM and scratch).
    pub bytes_read: u64,
    /// Bytes written to memory (global, SLM and scratch).
    pub bytes_written: u64,
    /// Scratch block messages of the data ports before the load/store cache. They are fills and
    /// spills, where a kernel has no private memory.
    pub scratch: ScratchStats,
    /// Time from launch to end, in seconds.
    pub wall_seconds: f64,
}

/// Counter of a launch's ended threads, to be read from another thread while the launch runs.
/// Clones count the same launch.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<ProgressInner>);

#[derive(Debug, Default)]
struct ProgressInner {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Creates a counter at zero.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Returns the number of threads that have ended.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Returns the number of threads in all; 0 before the launch begins.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Runs work and, on a thread beside it, calls `seen` after each `step` until the work is done.
    /// Work that takes less than a step is not seen.
    ///
    /// ```
    /// use gantry_runtime::Progress;
    /// use std::time::Duration;
    ///
    /// let seen = |p: &Progress| eprintln!("{} of {} threads", p.done(), p.total());
    /// let sum = Progress::new().watch(Duration::from_secs(1), seen, || 1 + 1);
    /// assert_eq!(sum, 2);
    /// ```
    pub fn watch<T>(
        &self,
        step: Duration,
        mut seen: impl FnMut(&Progress) + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        thread::scope(|s| {
            let (running, ended) = mpsc::channel::<()>();
            s.spawn(move || {
                // The channel closes when the work is done.
                while ended.recv_timeout(step) == Err(RecvTimeoutError::Timeout) {
                    seen(self);
                }
            });
            let out = work();
            drop(running);
            out
        })
    }

    pub(crate) fn begin(&self, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, n: u64) {
        self.0.done.fetch_add(n, Ordering::Relaxed);
    }
}

/// Signal that stops launches, from any thread and at any time. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a signal that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops the launches that have this signal, and those that are yet to begin.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the signal is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Signals that may stop a launch.
#[derive(Clone, Copy, Default)]
pub(crate) struct StopSignals<'a> {
    pub(crate) cancel: Option<&'a Cancel>,
    pub(crate) deadline: Option<Instant>,
}

impl StopSignals<'_> {
    /// Returns the reason why the launch must stop now, if there is one.
    pub(crate) fn now(&self) -> Option<Stopped> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Some(Stopped::Cancelled);
        }
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        late.then_some(Stopped::Deadline)
    }
}

/// Destination of the text that a kernel prints.
pub(crate) trait Print: Send + Sync {
    /// Takes a piece of text.
    fn print(&self, text: &str);
}

/// Destination of printed text: standard output, or a callback of the caller.
#[derive(Default)]
struct PrintSink<'k>(Option<Mutex<PrintFn<'k>>>);

type PrintFn<'k> = Box<dyn FnMut(&str) + Send + 'k>;

impl Print for PrintSink<'_> {
    fn print(&self, text: &str) {
        match &self.0 {
            Some(sink) => sink.lock().unwrap_or_else(PoisonError::into_inner)(text),
            // An error means that standard output was closed, and then nobody wants the text.
            None => {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
        }
    }
}

impl fmt::Debug for PrintSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = if self.0.is_some() { "sink" } else { "stdout" };
        f.debug_tuple("PrintSink").field(&to).finish()
    }
}

/// Launch under construction. It owns the kernel, arguments and watch, so it can be sent to another
/// thread and run there. Only a callback for printed text may borrow.
#[derive(Debug)]
#[must_use = "a launch does nothing until `run`"]
pub struct Launch<'k> {
    kernel: Kernel,
    grid: Grid,
    args: Vec<Arg>,
    bound: Vec<(Slot, Arg)>,
    progress: Option<Progress>,
    printf: PrintSink<'k>,
    watch: Option<Watch>,
    cancel: Option<Cancel>,
    deadline: Option<Instant>,
}

impl<'k> Launch<'k> {
    pub(crate) fn new(kernel: &Kernel, grid: Grid) -> Self {
        Launch {
            kernel: kernel.clone(),
            grid,
            args: Vec::new(),
            bound: Vec::new(),
            progress: None,
            printf: PrintSink::default(),
            watch: None,
            cancel: None,
            deadline: None,
        }
    }

    /// Adds the next argument: a `&Buffer`, an `&Image`, a [`Sampler`], a number, an array of
    /// numbers (a vector), [`Local`], or an [`Arg`]. Sizes of a shader's buffers are left out.
    pub fn arg(mut self, arg: impl Into<Arg>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds further arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = Arg>) -> Self {
        self.args.extend(args);
        self
    }

    /// Binds a resource of a shader at a binding of a descriptor set (in WGSL, a group). It is a
    /// `&Buffer`, an `&Image` or a [`Sampler`]. The sizes of buffers that shaders ask for are
    /// filled in.
    pub fn bind(self, set: u32, binding: u32, arg: impl Into<Arg>) -> Self {
        self.bind_element(set, binding, 0, arg)
    }

    /// Binds an element of an array of resources, as [`Self::bind`] does.
    pub fn bind_element(
        mut self,
        set: u32,
        binding: u32,
        element: u32,
        arg: impl Into<Arg>,
    ) -> Self {
        let place = BindingPlace {
            set,
            binding,
            element,
        };
        self.bound.push((Slot::At(place), arg.into()));
        self
    }

    /// Sets a shader's push constants: a number, an array of numbers, or an [`Arg::value`] or
    /// [`Arg::bytes`].
    pub fn push_constants(mut self, arg: impl Into<Arg>) -> Self {
        self.bound.push((Slot::Pushed, arg.into()));
        self
    }

    /// Counts ended threads in `progress`.
    pub fn progress(mut self, progress: &Progress) -> Self {
        self.progress = Some(progress.clone());
        self
    }

    /// Gives the text that the kernel prints to `sink` when the launch ends, also after a fault.
    /// Without a sink it goes to standard output. On Level Zero the driver prints it, to standard
    /// output.
    pub fn printf(mut self, sink: impl FnMut(&str) + Send + 'k) -> Self {
        self.printf = PrintSink(Some(Mutex::new(Box::new(sink))));
        self
    }

    /// Observes the launch. Only the simulator can.
    pub fn watch(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// Lets `cancel` stop the launch while it runs, with [`Error::Stopped`]. What the launch has
    /// written so far stays. A GPU cannot stop: see [`Self::deadline`].
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Stops the launch at a time, with [`Error::Stopped`]. What it has written so far stays.
    ///
    /// On Level Zero the wait ends and the GPU goes on. What the launch uses is kept until the GPU
    /// has ended. The next launch or copy on the device waits for that.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets [`Self::deadline`] to a time from now.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.deadline = Instant::now().checked_add(time);
        self
    }

    /// Runs the kernel to its end.
    ///
    /// # Errors
    /// The arguments or the grid are wrong, or the device cannot run the kernel. The
    /// launch needs more than the device's limits allow, faults, or is stopped.
    pub fn run(mut self) -> Result<LaunchStats, Error> {
        let (given, bound) = (mem::take(&mut self.args), mem::take(&mut self.bound));
        self.args = bind::resolve(&self.kernel, given, bound)?;
        let Some(info) = self.kernel.info() else {
            return Err(Error::NoKernel {
                name: String::new(),
                have: Vec::new(),
            });
        };
        let grid_error = |message: String| Error::Grid {
            kernel: info.name.clone(),
            message,
        };
        self.check_args()?;
        let required = info.env.required_work_group_size;
        let local = match (self.grid.group, required) {
            (Some(l), Some(r)) if l != r => {
                return Err(grid_error(format!(
                    "a group of {l:?} work-items was asked for, the kernel requires {r:?}"
                )));
            }
            (Some(l), _) => l,
            (None, Some(r)) => r,
            (None, None) => [info.env.simd_size, 1, 1],
        };
        let global = match self.grid.size {
            GridSize::Items(items) => items,
            GridSize::Groups(groups) => {
                let mut items = [0; 3];
                for ((items, groups), local) in items.iter_mut().zip(groups).zip(local) {
                    *items = groups.checked_mul(local).ok_or_else(|| {
                        grid_error(format!(
                            "{groups} groups of {local} work-items are more than 32 bits count"
                        ))
                    })?;
                }
                items
            }
        };
        if local.contains(&0) {
            return Err(grid_error(format!(
                "a group of {local:?} work-items is empty"
            )));
        }
        let items = local.iter().map(|&n| u64::from(n)).product::<u64>();
        let platform = self.kernel.module.zebin.platform;
        let most_threads = if platform >= Platform::XeHp { 128 } else { 64 };
        let most = most_threads * u64::from(info.env.simd_size);
        if local.iter().any(|&n| n > 1024) || items > most {
            return Err(grid_error(format!(
                "a group of {local:?} work-items is too large: at most {most_threads} threads of {} channels",
                info.env.simd_size
            )));
        }
        let offset = self.grid.offset;
        if global
            .iter()
            .zip(offset)
            .any(|(g, o)| g.checked_add(o).is_none())
        {
            return Err(grid_error(format!(
                "the grid {global:?} from {offset:?} on has global ids of more than 32 bits"
            )));
        }
        let whole = global.iter().zip(local).all(|(g, l)| g % l == 0);
        if !whole && self.kernel.module.zebin.requires_uniform_groups() {
            return Err(grid_error(format!(
                "the grid {global:?} is not a multiple of the group {local:?}, and the kernel was compiled for whole groups"
            )));
        }
        let threads = global
            .iter()
            .zip(local)
            .map(|(&g, l)| u64::from(g.div_ceil(l)))
            .try_fold(1u64, u64::checked_mul)
            .filter(|&n| n <= 1 << 40);
        if threads.is_none() {
            return Err(grid_error(format!("the grid {global:?} is too large")));
        }
        let dimensions = if global[2] > 1 || local[2] > 1 {
            3
        } else if global[1] > 1 || local[1] > 1 {
            2
        } else {
            1
        };
        self.kernel.module.inner.launch(&LaunchRequest {
            index: self.kernel.index,
            kernel: info,
            global,
            local,
            offset,
            dimensions,
            args: &self.args,
            progress: self.progress.as_ref(),
            printf: &self.printf,
            watch: self.watch.as_ref(),
            signals: StopSignals {
                cancel: self.cancel.as_ref(),
                deadline: self.deadline,
            },
        })
    }

    fn check_args(&self) -> Result<(), Error> {
        let expected = self.kernel.args();
        if expected.len() != self.args.len() {
            return Err(Error::ArgCount {
                kernel: self.kernel.name().to_owned(),
                expected: expected.len(),
                given: self.args.len(),
            });
        }
        for (index, (info, arg)) in expected.iter().zip(&self.args).enumerate() {
            let wrong = |expected: String, given: String| Error::Arg {
                kernel: self.kernel.name().to_owned(),
                index,
                name: info.names.as_ref().map(|n| n.name.clone()),
                expected,
                given,
            };
            let given = || arg.describe();
            let own = |b: &Buffer, what: &str| {
                if b.inner.device() == self.kernel.module.device().id() {
                    return Ok(());
                }
                Err(wrong(
                    format!("{what} of this device"),
                    format!("{what} of another"),
                ))
            };
            match (info.kind, arg) {
                (ArgKind::Buffer, Arg::Buffer(b)) => own(b, "a buffer")?,
                (ArgKind::Image(ty), Arg::Image(i)) => {
                    own(&i.texels, "an image")?;
                    if let Some(ty) = ty
                        && ty != i.desc().ty()
                    {
                        return Err(wrong(format!("a {ty}"), given()));
                    }
                }
                (ArgKind::Sampler, Arg::Sampler(_)) => {}
                (ArgKind::Buffer, Arg::Null) => {}
                (ArgKind::Local, Arg::Local(_)) => {}
                (ArgKind::Value { .. }, Arg::Bytes(_)) => {}
                (ArgKind::Value { size }, Arg::Value(v)) => {
                    // A three-element vector of the device takes four elements. GridSize 0 is an
                    // argument that nothing reads.
                    if size != 0 && v.len() != size as usize {
                        return Err(wrong(format!("a value of {size} bytes"), given()));
                    }
                }
                (ArgKind::Buffer, _) => return Err(wrong("a buffer".to_owned(), given())),
                (ArgKind::Local, _) => {
                    return Err(wrong("an SLM size (`Local`)".to_owned(), given()));
                }
                (ArgKind::Value { size: 0 }, _) => {}
                (ArgKind::Value { size }, _) => {
                    return Err(wrong(format!("a value of {size} bytes"), given()));
                }
                (ArgKind::Image(ty), _) => {
                    let what = ty.map_or("an image".to_owned(), |ty| format!("a {ty}"));
                    return Err(wrong(what, given()));
                }
                (ArgKind::Sampler, _) => return Err(wrong("a sampler".to_owned(), given())),
            }
        }
        Ok(())
    }
}
