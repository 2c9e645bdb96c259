//! Launches: their grid and their arguments.

use crate::arg::Arg;
use crate::backend::LaunchRequest;
use crate::bind;
use crate::buffer::Buffer;
use crate::control::{Cancel, LaunchStats, Print, Progress, Span, StopSignals};
use crate::device::Device;
use crate::error::Error;
use crate::grid::{CheckedGrid, Grid};
use crate::module::Kernel;
use crate::watch::Watch;
use crate::zebin::{ArgKind, BindingPlace, Slot};
use gantry_isa_gen::diag::Count;
use std::fmt;
use std::io::Write;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Callback of the caller for printed text.
struct PrintSink<'k>(Mutex<PrintFn<'k>>);

/// Destination of printed text without a callback.
struct StandardOutput;

type PrintFn<'k> = Box<dyn FnMut(&str) + Send + 'k>;

impl Print for PrintSink<'_> {
    fn print(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(text);
    }
}

impl Print for StandardOutput {
    fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // An error means that standard output was closed, and then nobody wants the text.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl fmt::Debug for PrintSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PrintSink").finish()
    }
}

/// Launch under construction. It owns the kernel, arguments and watch, so it can be sent to another
/// thread and run there. Only a callback for printed text may borrow.
#[derive(Clone, Debug)]
#[must_use = "a launch does nothing until `run`"]
pub struct Launch<'k> {
    kernel: Kernel,
    grid: Grid,
    /// Buffer that has the number of groups, instead of the grid.
    indirect: Option<Buffer>,
    args: Vec<Arg>,
    bound: Vec<(Slot, Arg)>,
    progress: Option<Progress>,
    printf: Option<Arc<PrintSink<'k>>>,
    watch: Option<Watch>,
    cancel: Option<Cancel>,
    deadline: Option<Instant>,
}

impl Kernel {
    /// Begins a launch of work-groups, each of the size that the kernel requires, as shaders are
    /// dispatched. Give its resources by [`Launch::bind`], then [`Launch::run`].
    pub fn dispatch<'k>(&self, groups: [u32; 3]) -> Launch<'k> {
        self.launch(Grid::groups(groups))
    }

    /// Begins a launch. Give its arguments in order, then [`Launch::run`].
    pub fn launch<'k>(&self, grid: Grid) -> Launch<'k> {
        Launch::new(self, grid)
    }
}

impl<'k> Launch<'k> {
    pub(crate) fn new(kernel: &Kernel, grid: Grid) -> Self {
        Launch {
            kernel: kernel.clone(),
            grid,
            indirect: None,
            args: Vec::new(),
            bound: Vec::new(),
            progress: None,
            printf: None,
            watch: None,
            cancel: None,
            deadline: None,
        }
    }

    /// Adds the next argument: a `&Buffer`, an `&Image`, a [`Sampler`](crate::Sampler), a number,
    /// an array of numbers (a vector), [`Local`](crate::Local), or an [`Arg`]. Sizes of a shader's
    /// buffers are left out.
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
    /// `&Buffer`, an `&Image` or a [`Sampler`](crate::Sampler). The sizes of buffers that shaders
    /// ask for are filled in.
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
        self.printf = Some(Arc::new(PrintSink(Mutex::new(Box::new(sink)))));
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
    /// has ended. Other commands do not wait for that, and may see the launch still write.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets [`Self::deadline`] to a time from now.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.deadline = Instant::now().checked_add(time);
        self
    }

    /// Takes the number of groups from three `u32` at the start of `groups`, which are read when
    /// the launch begins. It replaces the grid's size.
    pub fn groups_from(mut self, groups: &Buffer) -> Self {
        self.indirect = Some(groups.clone());
        self
    }

    /// Runs the kernel to its end.
    ///
    /// # Errors
    /// The arguments or the grid are wrong, or the device cannot run the kernel. The
    /// launch needs more than the device's limits allow, faults, or is stopped.
    pub fn run(self) -> Result<LaunchStats, Error> {
        Ok(self.prepare()?.run(None)?.0)
    }

    /// Checks the arguments and the grid.
    pub(crate) fn prepare(mut self) -> Result<PreparedLaunch<'k>, Error> {
        let (given, bound) = (mem::take(&mut self.args), mem::take(&mut self.bound));
        self.args = bind::resolve(&self.kernel, given, bound)?;
        self.check_args()?;
        let grid = match &self.indirect {
            None => PreparedGrid::Known(self.grid.check(&self.kernel)?),
            Some(groups) => {
                groups.check(0, size_of::<[u32; 3]>())?;
                PreparedGrid::Indirect(self.grid, groups.clone())
            }
        };
        Ok(PreparedLaunch { launch: self, grid })
    }

    /// Replaces an argument that was given by number.
    pub(crate) fn replace_arg(&mut self, index: usize, arg: Arg) -> Result<(), Error> {
        let given = self.args.len();
        let name = self.kernel.name();
        let place = self.args.get_mut(index).ok_or_else(|| Error::ArgCount {
            kernel: name.to_owned(),
            expected: index.saturating_add(1),
            given,
        })?;
        *place = arg;
        Ok(())
    }

    /// Replaces what is bound at a place.
    pub(crate) fn replace_bound(&mut self, slot: Slot, arg: Arg) -> Result<(), Error> {
        let is_sampler = |arg: &Arg| matches!(arg, Arg::Sampler(_));
        // An image and its sampler may be at one place.
        let same = |(s, old): &&mut (Slot, Arg)| *s == slot && is_sampler(old) == is_sampler(&arg);
        let Some((_, old)) = self.bound.iter_mut().find(same) else {
            return Err(Error::Binding {
                kernel: self.kernel.name().to_owned(),
                message: format!("nothing was bound at {slot}"),
            });
        };
        *old = arg;
        Ok(())
    }

    /// Replaces the grid.
    pub(crate) fn replace_grid(&mut self, grid: Grid) {
        self.grid = grid;
        self.indirect = None;
    }

    /// Returns the kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
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
            let own = |device: usize, what: &str| {
                if device == self.kernel.module.device().id() {
                    return Ok(());
                }
                Err(wrong(
                    format!("{what} of this device"),
                    format!("{what} of another"),
                ))
            };
            match (info.kind, arg) {
                (ArgKind::Buffer, Arg::Buffer(b)) => own(b.inner.device(), "a buffer")?,
                (ArgKind::Image(ty), Arg::Image(i)) => {
                    own(i.device(), "an image")?;
                    if let Some(ty) = ty
                        && ty != i.desc().ty()
                    {
                        return Err(wrong(format!("a {ty}"), given()));
                    }
                }
                (ArgKind::Sampler, Arg::Sampler(_)) => {}
                (ArgKind::Buffer, Arg::Null | Arg::Address(_)) => {}
                (ArgKind::Local, Arg::Local(_)) => {}
                (ArgKind::Value { .. }, Arg::Bytes(_)) => {}
                (ArgKind::Value { size }, Arg::Value(v)) => {
                    // A three-element vector of the device takes four elements. GridSize 0 is an
                    // argument that nothing reads.
                    if size != 0 && v.len() != size as usize {
                        return Err(wrong(
                            format!("a value of {}", Count(size, "byte")),
                            given(),
                        ));
                    }
                }
                (ArgKind::Buffer, _) => return Err(wrong("a buffer".to_owned(), given())),
                (ArgKind::Local, _) => {
                    return Err(wrong("an SLM size (`Local`)".to_owned(), given()));
                }
                (ArgKind::Value { size: 0 }, _) => {}
                (ArgKind::Value { size }, _) => {
                    return Err(wrong(
                        format!("a value of {}", Count(size, "byte")),
                        given(),
                    ));
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

/// Launch whose arguments have been checked.
#[derive(Debug)]
pub(crate) struct PreparedLaunch<'k> {
    launch: Launch<'k>,
    grid: PreparedGrid,
}

#[derive(Debug)]
enum PreparedGrid {
    Known(CheckedGrid),
    /// Grid whose number of groups is in a buffer.
    Indirect(Grid, Buffer),
}

impl PreparedLaunch<'_> {
    /// Returns the device that it runs on.
    pub(crate) fn device(&self) -> &Device {
        self.launch.kernel.module.device()
    }

    /// Runs the kernel to its end, or until the launch's own signals or `cancel` stop it. Returns
    /// its time too, where the device measures it.
    pub(crate) fn run(
        &self,
        cancel: Option<&Cancel>,
    ) -> Result<(LaunchStats, Option<Span>), Error> {
        let launch = &self.launch;
        let kernel = &launch.kernel;
        let Some(info) = kernel.info() else {
            return Err(kernel.missing());
        };
        let grid = match &self.grid {
            PreparedGrid::Known(grid) => *grid,
            PreparedGrid::Indirect(grid, groups) => {
                let mut sizes = [0u32; 3];
                groups.read_into(0, &mut sizes)?;
                grid.of_groups(sizes).check(kernel)?
            }
        };
        let printf: &dyn Print = match &launch.printf {
            Some(sink) => &**sink,
            None => &StandardOutput,
        };
        kernel.module.backend().launch(&LaunchRequest {
            index: kernel.index,
            kernel: info,
            global: grid.global,
            local: grid.local,
            any_local: grid.any_local,
            offset: grid.offset,
            dimensions: grid.dimensions,
            args: &launch.args,
            progress: launch.progress.as_ref(),
            printf,
            watch: launch.watch.as_ref(),
            signals: StopSignals {
                cancel: launch.cancel.as_ref(),
                queue: cancel,
                deadline: launch.deadline,
            },
        })
    }
}
