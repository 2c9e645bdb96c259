//! Command lists: commands recorded once and submitted many times, also with other arguments.

use super::commands::{check_kernel, moved, run};
use super::images::ImageCommand;
use super::{Place, Queue};
use crate::arg::Arg;
use crate::buffer::{Buffer, Pitch};
use crate::control::{Cancel, LaunchStats, Span};
use crate::device::Device;
use crate::error::Error;
use crate::graph::{Done, Event, Label};
use crate::grid::Grid;
use crate::image::{Direction, Image, ImagePlace};
use crate::launch::{Launch, PreparedLaunch};
use crate::zebin::{BindingPlace, Slot};
use bytemuck::Pod;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Launch of a command list, to change its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Recorded(usize);

/// Launch that has been checked.
struct RecordedLaunch {
    /// The launch as it was recorded, to change its arguments.
    launch: Launch<'static>,
    prepared: PreparedLaunch<'static>,
}

/// Command that has been checked.
enum Command {
    Launch(Box<RecordedLaunch>),
    Copy(Buffer, Buffer),
    CopyRows {
        from: (Buffer, Pitch),
        to: (Buffer, Pitch),
        size: [usize; 3],
    },
    Fill(Buffer, Vec<u8>),
    Image(ImageCommand),
}

/// Commands recorded once and submitted many times by [`Queue::replay`]. They run one after the
/// other, and the first that fails ends the list.
#[derive(Clone)]
pub struct CommandList {
    device: Device,
    commands: Vec<Arc<Command>>,
}

impl CommandList {
    /// Creates a list without commands.
    pub fn new(device: &Device) -> CommandList {
        CommandList {
            device: device.clone(),
            commands: Vec::new(),
        }
    }

    /// Returns the number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Returns true if there is no command.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Records a launch.
    ///
    /// # Errors
    /// The arguments or the grid are wrong, or the kernel is of another device.
    pub fn launch(&mut self, launch: Launch<'static>) -> Result<Recorded, Error> {
        check_kernel(launch.kernel(), &self.device)?;
        let prepared = launch.clone().prepare()?;
        let recorded = Recorded(self.commands.len());
        self.add(Command::Launch(Box::new(RecordedLaunch {
            launch,
            prepared,
        })));
        Ok(recorded)
    }

    /// Records a copy, as [`Queue::copy`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::copy`].
    pub fn copy(&mut self, from: &Buffer, to: &Buffer) -> Result<(), Error> {
        to.check_copy(from)?;
        self.add(Command::Copy(from.clone(), to.clone()));
        Ok(())
    }

    /// Records a copy of rows, as [`Queue::copy_rows`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::copy_rows`].
    pub fn copy_rows(
        &mut self,
        source: (&Buffer, Pitch),
        target: (&Buffer, Pitch),
        size: [usize; 3],
    ) -> Result<(), Error> {
        target.0.check_rows(target.1, source.0, source.1, size)?;
        self.add(Command::CopyRows {
            from: (source.0.clone(), source.1),
            to: (target.0.clone(), target.1),
            size,
        });
        Ok(())
    }

    /// Records a fill, as [`Queue::fill`] submits it.
    ///
    /// # Errors
    /// The pattern is empty.
    pub fn fill<T: Pod>(&mut self, buffer: &Buffer, pattern: &[T]) -> Result<(), Error> {
        let pattern: Vec<u8> = bytemuck::cast_slice(pattern).to_vec();
        if pattern.is_empty() {
            return Err(Error::Buffer("a fill by an empty pattern".to_owned()));
        }
        self.add(Command::Fill(buffer.clone(), pattern));
        Ok(())
    }

    /// Records a copy of texels, as [`Queue::copy_image`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::copy_image`].
    pub fn copy_image(
        &mut self,
        source: (&Image, ImagePlace),
        target: (&Image, ImagePlace),
        size: [u32; 3],
    ) -> Result<(), Error> {
        self.add(Command::Image(ImageCommand::copy(source, target, size)?));
        Ok(())
    }

    /// Records a copy of rows to an image, as [`Queue::copy_to_image`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::copy_to_image`].
    pub fn copy_to_image(
        &mut self,
        source: (&Buffer, Pitch),
        target: (&Image, ImagePlace),
        size: [u32; 3],
    ) -> Result<(), Error> {
        let copy = ImageCommand::rows(Direction::ToImage, target, source, size)?;
        self.add(Command::Image(copy));
        Ok(())
    }

    /// Records a copy of texels to rows, as [`Queue::copy_from_image`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::copy_from_image`].
    pub fn copy_from_image(
        &mut self,
        source: (&Image, ImagePlace),
        target: (&Buffer, Pitch),
        size: [u32; 3],
    ) -> Result<(), Error> {
        let copy = ImageCommand::rows(Direction::ToBuffer, source, target, size)?;
        self.add(Command::Image(copy));
        Ok(())
    }

    /// Records a fill of texels, as [`Queue::fill_image`] submits it.
    ///
    /// # Errors
    /// Errors are those of [`Queue::fill_image`].
    pub fn fill_image<T: Pod>(
        &mut self,
        target: (&Image, ImagePlace),
        size: [u32; 3],
        texel: &[T],
    ) -> Result<(), Error> {
        let fill = ImageCommand::fill(target, size, bytemuck::cast_slice(texel))?;
        self.add(Command::Image(fill));
        Ok(())
    }

    fn add(&mut self, command: Command) {
        self.commands.push(Arc::new(command));
    }

    fn launch_at(&self, recorded: Recorded) -> Result<&Launch<'static>, Error> {
        match self.commands.get(recorded.0).map(|c| &**c) {
            Some(Command::Launch(recorded)) => Ok(&recorded.launch),
            _ => Err(Error::Queue(format!(
                "command {} of the list is no launch",
                recorded.0
            ))),
        }
    }
}

impl fmt::Debug for CommandList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandList")
            .field("device", &self.device)
            .field("len", &self.len())
            .finish()
    }
}

/// Submission of a command list under construction: changes of its launches hold for this
/// submission alone.
#[must_use = "a replay does nothing until `submit`"]
pub struct Replay<'q> {
    queue: &'q Queue,
    list: CommandList,
    changed: BTreeMap<Recorded, Launch<'static>>,
    failed: Option<Error>,
}

impl Queue {
    /// Begins a submission of a command list.
    pub fn replay(&self, list: &CommandList) -> Replay<'_> {
        Replay {
            queue: self,
            list: list.clone(),
            changed: BTreeMap::new(),
            failed: None,
        }
    }
}

impl Replay<'_> {
    /// Replaces an argument that was given by number, of those given and counted from 0.
    pub fn arg(self, launch: Recorded, index: usize, arg: impl Into<Arg>) -> Self {
        self.change(launch, |l| l.replace_arg(index, arg.into()))
    }

    /// Replaces a resource that was bound, at a binding of a descriptor set (in WGSL, a group).
    pub fn bind(self, launch: Recorded, set: u32, binding: u32, arg: impl Into<Arg>) -> Self {
        let place = BindingPlace {
            set,
            binding,
            element: 0,
        };
        self.change(launch, |l| l.replace_bound(Slot::At(place), arg.into()))
    }

    /// Replaces the push constants.
    pub fn push_constants(self, launch: Recorded, arg: impl Into<Arg>) -> Self {
        self.change(launch, |l| l.replace_bound(Slot::Pushed, arg.into()))
    }

    /// Replaces the grid.
    pub fn grid(self, launch: Recorded, grid: Grid) -> Self {
        self.change(launch, |l| {
            l.replace_grid(grid);
            Ok(())
        })
    }

    fn change(
        mut self,
        recorded: Recorded,
        change: impl FnOnce(&mut Launch<'static>) -> Result<(), Error>,
    ) -> Self {
        let old = self.changed.remove(&recorded);
        let launch = old.map_or_else(|| self.list.launch_at(recorded).cloned(), Ok);
        let changed = launch.and_then(|mut l| change(&mut l).map(|()| l));
        match changed {
            Ok(launch) => {
                self.changed.insert(recorded, launch);
            }
            Err(e) => {
                self.failed.get_or_insert(e);
            }
        }
        self
    }

    /// Submits the commands. Their statistics are added up.
    ///
    /// # Errors
    /// The list is of another device, a change names no launch or argument, or the changed
    /// arguments are wrong. The event has what goes wrong later.
    pub fn submit(self) -> Result<Event, Error> {
        let Replay {
            queue,
            mut list,
            changed,
            failed,
        } = self;
        if let Some(e) = failed {
            return Err(e);
        }
        if list.device.id() != queue.device().id() {
            let what = "the command list is of another device than the queue";
            return Err(Error::Queue(what.to_owned()));
        }
        for (recorded, launch) in changed {
            let prepared = launch.clone().prepare()?;
            if let Some(place) = list.commands.get_mut(recorded.0) {
                let changed = RecordedLaunch { launch, prepared };
                *place = Arc::new(Command::Launch(Box::new(changed)));
            }
        }
        let work = Box::new(move |cancel: &Cancel| list.run(cancel));
        queue.submit(Place::Command, Label::Name("command list"), work)
    }
}

impl CommandList {
    fn run(&self, cancel: &Cancel) -> Result<Done, Error> {
        let device = &self.device;
        let mut all = Done::default();
        for command in &self.commands {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled {
                    what: "rest of a command list".to_owned(),
                });
            }
            let done = match &**command {
                Command::Launch(recorded) => run(&recorded.prepared, cancel)?,
                Command::Copy(from, to) => {
                    let measured = to.copy_measured(from)?;
                    moved(device, from.len(), measured)
                }
                Command::CopyRows { from, to, size } => {
                    let measured = to.0.copy_rows_measured(to.1, &from.0, from.1, *size)?;
                    moved(device, size.iter().product(), measured)
                }
                Command::Fill(buffer, pattern) => {
                    let measured = buffer.fill_measured(pattern)?;
                    moved(device, buffer.len(), measured)
                }
                Command::Image(image) => image.run(device)?,
            };
            all.measured = Span::join(all.measured, done.measured);
            all.nanoseconds = all.nanoseconds.saturating_add(done.nanoseconds);
            if let Some(stats) = done.stats {
                all.stats
                    .get_or_insert_with(LaunchStats::default)
                    .add(&stats);
            }
        }
        Ok(all)
    }
}
