//! Launches in progress: statistics, progress, cancellation, printed text.

use crate::error::Stopped;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

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

impl LaunchStats {
    /// Adds the statistics of another launch.
    pub(crate) fn add(&mut self, more: &LaunchStats) {
        self.threads += more.threads;
        self.instructions += more.instructions;
        self.channels += more.channels;
        self.sends += more.sends;
        self.bytes_read += more.bytes_read;
        self.bytes_written += more.bytes_written;
        self.scratch.reads += more.scratch.reads;
        self.scratch.writes += more.scratch.writes;
        self.scratch.bytes_read += more.scratch.bytes_read;
        self.scratch.bytes_written += more.scratch.bytes_written;
        self.scratch.end = self.scratch.end.max(more.scratch.end);
        self.wall_seconds += more.wall_seconds;
    }
}

/// Time in which the device was seen to be at work on a command, in nanoseconds of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    /// Returns the time from the begin of the first part of a command to the end of the last.
    pub(crate) fn join(a: Option<Span>, b: Option<Span>) -> Option<Span> {
        match (a, b) {
            (Some(a), Some(b)) => Some(Span {
                start: a.start.min(b.start),
                end: a.end.max(b.end),
            }),
            (a, b) => a.or(b),
        }
    }
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
    /// Signal of the queue that the launch is on.
    pub(crate) queue: Option<&'a Cancel>,
    pub(crate) deadline: Option<Instant>,
}

impl StopSignals<'_> {
    /// Returns the reason why the launch must stop now, if there is one.
    pub(crate) fn now(&self) -> Option<Stopped> {
        let cancels = [self.cancel, self.queue];
        if cancels.into_iter().flatten().any(Cancel::is_cancelled) {
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
