//! Launches: their grid, their arguments, and the statistics that they return.

use crate::arg::Arg;
use crate::backend::LaunchRequest;
use crate::bind;
use crate::buffer::Buffer;
use crate::control::{Cancel, LaunchStats, Print, Progress, StopSignals};
use crate::error::Error;
use crate::module::Kernel;
use crate::watch::Watch;
use crate::zebin::{ArgKind, BindingPlace, Slot};
use gantry_isa_gen::diag::Count;
use std::fmt;
use std::io::Write;
use std::mem;
use std::sync::{Mutex, PoisonError};
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
            args: Vec::new(),
            bound: Vec::new(),
            progress: None,
            printf: PrintSink::default(),
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
        let device = &self.kernel.module.device().inner;
        let most_threads = device.gpu(platform).group_threads;
        let most = u64::from(most_threads) * u64::from(info.env.simd_size);
        if local.iter().any(|&n| n > 1024) || items > most {
            return Err(grid_error(format!(
                "a group of {local:?} work-items is too large: at most {most_threads} threads of {}",
                Count(info.env.simd_size, "channel")
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
