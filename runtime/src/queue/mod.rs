//! Queues: commands that run beside the host, on the device's own workers.
//!
//! `commands` has what can be submitted, `images` the copies of images, `list` command lists.

mod commands;
mod images;
mod list;

pub use list::{CommandList, Recorded, Replay};

use crate::control::Cancel;
use crate::device::Device;
use crate::error::Error;
use crate::graph::{Done, Event, Home, Label, Node, Work, Workers};
use gantry_isa_gen::diag::Count;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Order of a queue's commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// Each command begins when the one before it has ended, and fails where that one failed.
    #[default]
    InOrder,
    /// Commands begin in any order, several at once. Barriers and events order them.
    OutOfOrder,
}

/// Effect of dropping the last handle of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OnDrop {
    /// Waits until all commands have ended.
    #[default]
    Wait,
    /// Cancels commands that have not begun, stops launches that run, and waits for these.
    Cancel,
    /// Lets the commands end on their own.
    Detach,
}

/// Options of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueOptions {
    /// Order of the commands.
    pub order: Order,
    /// Effect of dropping the queue.
    pub on_drop: OnDrop,
    /// Limit on the commands that have not ended. A submission beyond it is an error.
    pub most_commands: usize,
}

impl Default for QueueOptions {
    fn default() -> QueueOptions {
        QueueOptions {
            order: Order::default(),
            on_drop: OnDrop::default(),
            most_commands: 1 << 20,
        }
    }
}

/// Queue of a device: launches, copies, fills and callbacks, submitted without waiting. A handle:
/// clones are the same queue.
///
/// ```
/// use gantry_runtime::{Device, Queue, QueueOptions, SimOptions};
///
/// # fn main() -> Result<(), gantry_runtime::Error> {
/// let device = Device::simulator(SimOptions::default());
/// let queue = device.queue(QueueOptions::default());
/// let (x, y) = (device.buffer(1024)?, device.buffer(1024)?);
/// let filled = queue.fill(&x, &[1.5f32])?;
/// queue.copy(&x, &y)?;
/// let ys = queue.read::<f32>(&y)?; // nothing has waited so far
/// assert_eq!(ys.wait()?[255], 1.5);
/// assert!(filled.error().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Queue {
    shared: Arc<Handle>,
    /// Events that commands of this handle wait for.
    after: Vec<Event>,
}

/// Handle that ends the queue when it is dropped.
struct Handle {
    device: Device,
    options: QueueOptions,
    state: Arc<QueueState>,
}

/// Commands of a queue.
struct QueueState {
    open: Mutex<OpenCommands>,
    /// A command has ended, and somebody waits.
    ended: Condvar,
    cancel: Cancel,
    workers: Arc<Workers>,
}

#[derive(Default)]
struct OpenCommands {
    /// Commands that have not ended, by number.
    nodes: BTreeMap<u64, Arc<Node>>,
    next: u64,
    /// Last command that all later ones wait for, and its number.
    last: Option<(u64, Arc<Node>)>,
    /// Commands since then that an out-of-order queue's next barrier waits for: those from this
    /// number on.
    since: u64,
    /// First of those that has failed, and its number.
    failed: Option<(u64, Arc<Node>)>,
    /// Number before which the failures of commands fail no others.
    forgiven: u64,
    /// Numbers of commands before which callers of `finish` wait for all.
    awaited: Vec<u64>,
}

impl OpenCommands {
    /// Returns true if all commands before a number have ended.
    fn have_ended(&self, end: u64) -> bool {
        self.nodes.first_key_value().is_none_or(|(n, _)| *n >= end)
    }
}

impl QueueState {
    fn open(&self) -> MutexGuard<'_, OpenCommands> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self) {
        let mut open = self.open();
        let end = open.next;
        if open.have_ended(end) {
            return;
        }
        open.awaited.push(end);
        while !open.have_ended(end) {
            open = self
                .ended
                .wait(open)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(at) = open.awaited.iter().position(|e| *e == end) {
            open.awaited.swap_remove(at);
        }
    }

    fn cancel_all(&self) {
        self.cancel.cancel();
        let nodes: Vec<Arc<Node>> = self.open().nodes.values().cloned().collect();
        for node in nodes {
            node.cancel();
        }
    }
}

impl Home for QueueState {
    fn ended(&self, id: u64) {
        let mut open = self.open();
        let node = open.nodes.remove(&id);
        let is_first = open.failed.as_ref().is_none_or(|(first, _)| id < *first);
        if let Some(node) = &node
            && is_first
            && id >= open.since.max(open.forgiven)
            && node.has_failed()
        {
            open.failed = Some((id, node.clone()));
        }
        if open.awaited.iter().any(|end| open.have_ended(*end)) {
            self.ended.notify_all();
        }
        drop(open);
        drop(node);
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }
}

impl Device {
    /// Creates a queue.
    pub fn queue(&self, options: QueueOptions) -> Queue {
        Queue {
            shared: Arc::new(Handle {
                device: self.clone(),
                options,
                state: Arc::new(QueueState {
                    open: Mutex::default(),
                    ended: Condvar::new(),
                    cancel: Cancel::new(),
                    workers: self.workers().clone(),
                }),
            }),
            after: Vec::new(),
        }
    }
}

/// Place of a command among those of its queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Command,
    /// Command that waits for all before it, and that all later ones wait for.
    Barrier,
}

impl Queue {
    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// Returns a handle of the same queue, each of whose commands waits for some events too.
    pub fn after<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Queue {
        let mut queue = self.clone();
        queue.after.extend(events.into_iter().cloned());
        queue
    }

    /// Waits until all commands submitted so far, by whatever handle, have ended. Their events tell
    /// if they succeeded. A callback on a queue must not wait so.
    pub fn finish(&self) {
        self.shared.state.finish();
    }

    /// Returns the number of commands that have not ended.
    pub fn len(&self) -> usize {
        self.shared.state.open().nodes.len()
    }

    /// Returns true if all commands have ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cancels the commands that have not begun. Launches that run are stopped. No command can be
    /// submitted afterwards.
    pub fn cancel(&self) {
        self.shared.state.cancel_all();
    }

    /// Lets the queue go on after a command that failed: commands submitted from now on do not fail
    /// with those before because of the queue's order or a barrier, though they still wait for
    /// them.
    pub fn restart(&self) {
        let mut open = self.shared.state.open();
        open.forgiven = open.next;
        open.failed = None;
    }

    /// Submits a command.
    fn submit(&self, place: Place, label: Label, work: Work) -> Result<Event, Error> {
        let Handle { options, state, .. } = &*self.shared;
        let mut open = state.open();
        if state.cancel.is_cancelled() {
            return Err(Error::Cancelled {
                what: label.to_string(),
            });
        }
        if open.nodes.len() >= options.most_commands {
            return Err(Error::Queue(format!(
                "the queue has {} that have not ended, its limit",
                Count(open.nodes.len(), "command")
            )));
        }
        let forgiven = open.forgiven;
        let last = open.last.as_ref();
        let last = last.map(|(n, node)| (node.clone(), *n >= forgiven));
        let mut after: Vec<(Arc<Node>, bool)> = Vec::new();
        let id = open.next;
        open.next += 1;
        let home: Arc<dyn Home> = state.clone();
        let node = Node::command(label, (home, id), work);
        let is_last = options.order == Order::InOrder || place == Place::Barrier;
        if place == Place::Barrier && options.order == Order::OutOfOrder {
            after.extend(open.failed.take().map(|(_, node)| (node, true)));
            let before = open.nodes.range(open.since..);
            after.extend(before.map(|(n, node)| (node.clone(), *n >= forgiven)));
        }
        if is_last {
            open.last = Some((id, node.clone()));
            open.since = id + 1;
        }
        open.nodes.insert(id, node.clone());
        drop(open);
        after.extend(self.after.iter().map(|e| (e.node().clone(), true)));
        match &last {
            // Most commands wait for this alone.
            Some(last) if after.is_empty() => node.submit(std::slice::from_ref(last)),
            _ => {
                after.splice(0..0, last);
                node.submit(&after);
            }
        }
        Ok(Event::of(node))
    }

    /// Submits a command that has no time of its own on the device.
    fn submit_host(
        &self,
        label: &'static str,
        work: impl FnOnce() -> Result<(), Error> + Send + 'static,
    ) -> Result<Event, Error> {
        let work = Box::new(move |_: &Cancel| work().map(|()| Done::default()));
        self.submit(Place::Command, Label::Name(label), work)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.options.on_drop == OnDrop::Cancel {
            self.state.cancel_all();
        }
        // A worker would wait for the command that it runs.
        if self.options.on_drop != OnDrop::Detach && !Workers::is_current() {
            self.state.finish();
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("device", &self.shared.device)
            .field("options", &self.shared.options)
            .field("len", &self.len())
            .finish()
    }
}
