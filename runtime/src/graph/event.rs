//! Handles of nodes: events, and values that commands compute.

use super::node::{Failure, Label, Node, Outcome, Times};
use crate::control::LaunchStats;
use crate::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

/// End of a command, or a point that the host sets. A handle: clones are the same event.
///
/// The host waits by [`Self::wait`] or [`Self::wait_timeout`], or awaits the event, which is a
/// [`Future`] that needs no executor of its own. Commands of any queue wait for it too.
#[derive(Clone)]
pub struct Event {
    node: Arc<Node>,
}

/// State of an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventState {
    /// The command waits for others, or for a worker. The host has not set the event.
    Waiting,
    /// The command runs.
    Running,
    /// The command has succeeded. The host has set the event.
    Complete,
    /// The command failed, was cancelled, or depends on one that did.
    Failed,
}

/// Times of a command on its device's clock, in nanoseconds. On the simulator the clock shows
/// modelled time: it goes on while commands run, by what they would take on the product.
/// On a GPU it is the time of its timer, from the first command on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventTimes {
    /// Submission.
    pub queued: u64,
    /// Begin.
    pub start: u64,
    /// End.
    pub end: u64,
}

impl Event {
    pub(crate) fn of(node: Arc<Node>) -> Event {
        Event { node }
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Returns the state.
    pub fn state(&self) -> EventState {
        match self.node.outcome() {
            Some(Outcome::Done(_)) => EventState::Complete,
            Some(Outcome::Failed(_) | Outcome::DependsOn(_)) => EventState::Failed,
            None if self.node.is_running() => EventState::Running,
            None => EventState::Waiting,
        }
    }

    /// Returns the error of a command that failed.
    pub fn error(&self) -> Option<Error> {
        self.node.outcome().and_then(|o| self.result(o).err())
    }

    /// Returns the statistics of a launch that has succeeded.
    pub fn stats(&self) -> Option<LaunchStats> {
        match self.node.outcome() {
            Some(Outcome::Done(done)) => done.stats,
            _ => None,
        }
    }

    /// Returns the times of a command that has succeeded.
    pub fn times(&self) -> Option<EventTimes> {
        let Some(Outcome::Done(_)) = self.node.outcome() else {
            return None;
        };
        let Times { queued, start, end } = self.node.times();
        Some(EventTimes { queued, start, end })
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// The command failed, was cancelled, or depends on one that did.
    pub fn wait(&self) -> Result<(), Error> {
        self.result(self.node.wait())
    }

    /// Waits for the end, for `time` at most. Returns `None` if it has not come until then.
    ///
    /// # Errors
    /// Errors are those of [`Self::wait`].
    pub fn wait_timeout(&self, time: Duration) -> Option<Result<(), Error>> {
        let outcome = self.node.wait_timeout(time)?;
        Some(self.result(outcome))
    }

    fn result(&self, outcome: Outcome) -> Result<(), Error> {
        match outcome {
            Outcome::Done(_) => Ok(()),
            Outcome::Failed(f) => Err(f.error.clone()),
            Outcome::DependsOn(f) => {
                let Failure { label, error } = &*f;
                Err(Error::Dependency {
                    what: self.node.label(),
                    failed: label.clone(),
                    cause: Box::new(error.clone()),
                })
            }
        }
    }
}

impl Future for Event {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self.node.poll(context.waker()) {
            Some(outcome) => Poll::Ready(self.result(outcome)),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("of", &self.node.label())
            .field("state", &self.state())
            .finish()
    }
}

/// Event that the host sets, once. Dropped without that, it fails.
#[derive(Debug)]
pub struct HostEvent(Event);

impl Default for HostEvent {
    fn default() -> HostEvent {
        HostEvent::new()
    }
}

impl HostEvent {
    /// Creates an event that is not set.
    pub fn new() -> HostEvent {
        HostEvent(Event::of(Node::host(Label::Name("event of the host"))))
    }

    /// Returns the event, for those who wait.
    pub fn event(&self) -> Event {
        self.0.clone()
    }

    /// Sets the event.
    pub fn set(self) {
        self.0.node.set(Ok(()));
    }

    /// Fails the event, and so what depends on it.
    pub fn fail(self, error: Error) {
        self.0.node.set(Err(error));
    }
}

impl Drop for HostEvent {
    fn drop(&mut self) {
        let never = || Error::Queue("it was dropped without being set".to_owned());
        if self.0.state() == EventState::Waiting {
            self.0.node.set(Err(never()));
        }
    }
}

/// Value that a command computes.
#[derive(Debug)]
pub struct Pending<T> {
    event: Event,
    value: Arc<OnceLock<T>>,
}

impl<T> Clone for Pending<T> {
    fn clone(&self) -> Self {
        Pending {
            event: self.event.clone(),
            value: self.value.clone(),
        }
    }
}

impl<T> Pending<T> {
    /// Creates a value that is there when a command has succeeded, which sets it.
    pub(crate) fn of(event: Event, value: Arc<OnceLock<T>>) -> Pending<T> {
        Pending { event, value }
    }

    /// Returns the end of the command.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Returns the value, if it is there.
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// The command failed, was cancelled, or depends on one that did.
    pub fn wait(&self) -> Result<&T, Error> {
        self.event.wait()?;
        let none = || Error::Queue("the command has computed nothing".to_owned());
        self.value.get().ok_or_else(none)
    }
}
