//! Nodes: commands, what they wait for, and how they end.

use super::few::Few;
use super::sync::{Condvar, Mutex, PoisonError, lock};
use super::workers::Workers;
use crate::control::{Cancel, LaunchStats, Span};
use crate::error::{Error, panic_text};
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// Name of a command in messages.
pub(crate) enum Label {
    Name(&'static str),
    Of(Box<dyn fmt::Display + Send + Sync>),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Name(name) => f.write_str(name),
            Label::Of(what) => what.fmt(f),
        }
    }
}

/// Effect of a command. It is called once, with the signal that cancels its queue.
pub(crate) type Work = Box<dyn FnOnce(&Cancel) -> Result<Done, Error> + Send>;

/// Result of a command that has succeeded.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Done {
    /// Statistics of a launch.
    pub(crate) stats: Option<LaunchStats>,
    /// Time on the device, in nanoseconds, where none was measured.
    pub(crate) nanoseconds: u64,
    /// Time that the device has measured.
    pub(crate) measured: Option<Span>,
}

/// Owner of nodes, which is told of each end: a queue.
pub(crate) trait Home: Send + Sync {
    /// A node has ended.
    fn ended(&self, id: u64);
    /// Returns the signal that cancels all nodes.
    fn cancel(&self) -> &Cancel;
    /// Returns the threads that run its nodes.
    fn workers(&self) -> &Arc<Workers>;
}

/// Command that failed, and why. Commands that depend on it have it as their own failure.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) label: String,
    pub(super) error: Error,
}

/// Result of a node.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Done(Done),
    /// The node's own failure.
    Failed(Arc<Failure>),
    /// Failure of a node that it depends on.
    DependsOn(Arc<Failure>),
}

impl Outcome {
    fn failure(&self) -> Option<&Arc<Failure>> {
        match self {
            Outcome::Done(_) => None,
            Outcome::Failed(f) | Outcome::DependsOn(f) => Some(f),
        }
    }
}

/// Times of a node on its device's clock, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Times {
    /// Submission.
    pub(super) queued: u64,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Progress of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Others must end before.
    Waiting,
    /// A worker may run it.
    Ready,
    Running,
    Ended,
}

/// Edge to a node that waits.
struct Edge {
    to: Arc<Node>,
    /// Number among the nodes that it waits for.
    index: usize,
    /// True if it fails where this fails; false if only the order matters.
    fails: bool,
}

/// Command, or event of the host.
pub(crate) struct Node {
    label: Label,
    /// Queue that it is on, and its number there. `None` for an event of the host.
    home: Option<(Arc<dyn Home>, u64)>,
    state: Mutex<NodeState>,
    ended: Condvar,
}

struct NodeState {
    stage: Stage,
    /// Number of nodes that must end before, and one while it is submitted.
    waits: usize,
    work: Option<Work>,
    /// Failure of the first node that failed, by its number.
    failure: Option<(usize, Arc<Failure>)>,
    edges: Few<Edge>,
    wakers: Vec<Waker>,
    /// True once a thread waits for the end. A notification is a system call also without one.
    awaited: bool,
    times: Times,
    outcome: Option<Outcome>,
}

impl Node {
    /// Creates a command that is not yet submitted.
    pub(crate) fn command(label: Label, home: (Arc<dyn Home>, u64), work: Work) -> Arc<Node> {
        let queued = home.0.workers().clock();
        Node::new(label, Some(home), Some(work), queued)
    }

    /// Creates an event that the host ends.
    pub(super) fn host(label: Label) -> Arc<Node> {
        Node::new(label, None, None, 0)
    }

    fn new(
        label: Label,
        home: Option<(Arc<dyn Home>, u64)>,
        work: Option<Work>,
        queued: u64,
    ) -> Arc<Node> {
        Arc::new(Node {
            label,
            home,
            state: Mutex::new(NodeState {
                stage: Stage::Waiting,
                waits: 1,
                work,
                failure: None,
                edges: Few::default(),
                wakers: Vec::new(),
                awaited: false,
                times: Times {
                    queued,
                    start: queued,
                    end: queued,
                },
                outcome: None,
            }),
            ended: Condvar::new(),
        })
    }

    /// Submits the node: it runs when all of `after` have ended, and fails if one of them failed
    /// whose flag is true.
    pub(crate) fn submit(self: &Arc<Node>, after: &[(Arc<Node>, bool)]) {
        lock(&self.state).waits += after.len();
        let mut ready = Few::default();
        for (index, (before, fails)) in after.iter().enumerate() {
            let mut state = lock(&before.state);
            if state.stage != Stage::Ended {
                state.edges.push(Edge {
                    to: self.clone(),
                    index,
                    fails: *fails,
                });
                continue;
            }
            let failed = state.outcome.as_ref().and_then(Outcome::failure).cloned();
            let end = state.times.end;
            drop(state);
            self.arrive(index, failed.filter(|_| *fails), end, &mut ready);
        }
        self.arrive(0, None, 0, &mut ready);
        Node::give(ready);
    }

    /// Counts the end of a node that this waits for. Adds this to `ready` where it was the last.
    fn arrive(
        self: &Arc<Node>,
        index: usize,
        failed: Option<Arc<Failure>>,
        end: u64,
        ready: &mut Few<Arc<Node>>,
    ) {
        let mut state = lock(&self.state);
        state.waits -= 1;
        state.times.start = state.times.start.max(end);
        if let Some(f) = failed
            && state
                .failure
                .as_ref()
                .is_none_or(|(first, _)| index < *first)
        {
            state.failure = Some((index, f));
        }
        if state.waits == 0 && state.stage == Stage::Waiting {
            state.stage = Stage::Ready;
            ready.push(self.clone());
        }
    }

    /// Gives nodes that wait for nothing to their workers.
    pub(super) fn give(ready: Few<Arc<Node>>) {
        for node in ready {
            if let Some(workers) = node.workers().cloned() {
                workers.push(node);
            }
        }
    }

    /// Runs the node, if it has not been cancelled. Returns the nodes that waited for it alone.
    pub(super) fn run(self: &Arc<Node>) -> Few<Arc<Node>> {
        let mut state = lock(&self.state);
        if state.stage != Stage::Ready {
            return Few::default();
        }
        state.stage = Stage::Running;
        let (work, failure) = (state.work.take(), state.failure.take());
        drop(state);
        let outcome = match (failure, work, &self.home) {
            (Some((_, f)), ..) => Outcome::DependsOn(f),
            (None, Some(work), Some((home, _))) => {
                let called = catch_unwind(AssertUnwindSafe(|| work(home.cancel())));
                match called {
                    Ok(Ok(done)) => Outcome::Done(done),
                    Ok(Err(e)) => self.failed(e),
                    Err(panic) => self.failed(Error::Callback {
                        what: self.label.to_string(),
                        message: panic_text(&*panic).to_owned(),
                    }),
                }
            }
            _ => Outcome::Done(Done::default()),
        };
        self.end(outcome)
    }

    fn failed(&self, error: Error) -> Outcome {
        Outcome::Failed(Arc::new(Failure {
            label: self.label.to_string(),
            error,
        }))
    }

    /// Ends the node. Returns the nodes that waited for it alone.
    fn end(self: &Arc<Node>, outcome: Outcome) -> Few<Arc<Node>> {
        let mut state = lock(&self.state);
        if state.stage == Stage::Ended {
            return Few::default();
        }
        state.stage = Stage::Ended;
        let (begin, time) = match &outcome {
            Outcome::Done(done) => match done.measured {
                Some(m) => (m.start, m.end.saturating_sub(m.start)),
                None => (0, done.nanoseconds),
            },
            Outcome::Failed(_) | Outcome::DependsOn(_) => (0, 0),
        };
        // A command begins after those that it waited for, whatever a timer says.
        state.times.start = state.times.start.max(begin);
        state.times.end = state.times.start.saturating_add(time);
        let end = state.times.end;
        let failed = outcome.failure().cloned();
        state.outcome = Some(outcome);
        let edges = mem::take(&mut state.edges);
        let wakers = mem::take(&mut state.wakers);
        // What a command holds is dropped outside of the lock, since that may be anything.
        let work = state.work.take();
        let is_awaited = state.awaited;
        drop(state);
        drop(work);
        if let Some(workers) = self.workers() {
            workers.advance(end);
        }
        if is_awaited {
            self.ended.notify_all();
        }
        for waker in wakers {
            waker.wake();
        }
        if let Some((home, id)) = &self.home {
            home.ended(*id);
        }
        let mut ready = Few::default();
        for edge in edges {
            let failed = failed.clone().filter(|_| edge.fails);
            edge.to.arrive(edge.index, failed, end, &mut ready);
        }
        ready
    }

    /// Ends an event of the host, if it has not ended.
    pub(super) fn set(self: &Arc<Node>, result: Result<(), Error>) {
        let outcome = match result {
            Ok(()) => Outcome::Done(Done::default()),
            Err(e) => self.failed(e),
        };
        Node::give(self.end(outcome));
    }

    /// Ends the node as cancelled, if it does not run.
    pub(crate) fn cancel(self: &Arc<Node>) {
        let mut state = lock(&self.state);
        if matches!(state.stage, Stage::Running | Stage::Ended) {
            return;
        }
        // From here on no worker runs it.
        state.stage = Stage::Running;
        drop(state);
        let error = Error::Cancelled {
            what: self.label.to_string(),
        };
        Node::give(self.end(self.failed(error)));
    }

    /// Returns true if the node is a command for these workers.
    pub(super) fn is_on(&self, workers: &Workers) -> bool {
        self.workers().is_some_and(|w| std::ptr::eq(&**w, workers))
    }

    /// Returns the threads that run the node, unless it is an event of the host.
    fn workers(&self) -> Option<&Arc<Workers>> {
        self.home.as_ref().map(|(home, _)| home.workers())
    }

    /// Returns the name in messages.
    pub(super) fn label(&self) -> String {
        self.label.to_string()
    }

    /// Returns the outcome, if the node has ended.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        lock(&self.state).outcome.clone()
    }

    /// Returns true if the node has failed, or depends on one that did.
    pub(crate) fn has_failed(&self) -> bool {
        let state = lock(&self.state);
        state.outcome.as_ref().and_then(Outcome::failure).is_some()
    }

    /// Returns true if the node runs.
    pub(super) fn is_running(&self) -> bool {
        lock(&self.state).stage == Stage::Running
    }

    pub(super) fn times(&self) -> Times {
        lock(&self.state).times
    }

    /// Waits for the end.
    pub(super) fn wait(&self) -> Outcome {
        let mut state = lock(&self.state);
        state.awaited = true;
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.clone();
            }
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end, for `time` at most.
    pub(super) fn wait_timeout(&self, time: Duration) -> Option<Outcome> {
        let until = Instant::now().checked_add(time);
        let mut state = lock(&self.state);
        state.awaited = true;
        loop {
            if let Some(outcome) = &state.outcome {
                return Some(outcome.clone());
            }
            let left = until.map_or(Duration::MAX, |u| {
                u.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return None;
            }
            (state, _) = self
                .ended
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the outcome, or calls `waker` at the end.
    pub(super) fn poll(&self, waker: &Waker) -> Option<Outcome> {
        let mut state = lock(&self.state);
        if state.outcome.is_none() && !state.wakers.iter().any(|w| w.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
        state.outcome.clone()
    }
}
