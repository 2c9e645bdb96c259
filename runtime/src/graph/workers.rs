//! Workers of a device: threads that run commands.

use super::node::Node;
use super::sync::{Condvar, Mutex, PoisonError, SPINS, lock, spin, thread};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of commands that a worker runs one after the other, each of which waited for the one
/// before it, while others are ready.
const CHAIN: usize = 64;

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Threads that run the commands of a device, started when there is work for them.
pub(crate) struct Workers {
    state: Mutex<WorkersState>,
    work: Condvar,
    /// True if commands are ready, or the device is closed. A hint for the thread that spins.
    any: AtomicBool,
    /// Limit on the number of threads.
    most: usize,
    /// Latest end of a command on the device's clock, in nanoseconds.
    clock: AtomicU64,
}

#[derive(Default)]
struct WorkersState {
    ready: VecDeque<Arc<Node>>,
    threads: usize,
    /// Threads that wait for work, or that have been woken and have taken none yet.
    idle: usize,
    /// True if a thread looks for work without waiting for it. It needs no waking.
    spins: bool,
    /// True if no handle of the device is left.
    closed: bool,
}

/// Handle of a device's workers. They end with the last of them.
pub(crate) struct WorkersHandle(Arc<Workers>);

impl Workers {
    /// Creates the workers of a device: `most` threads, and one at least.
    pub(crate) fn open(most: usize) -> WorkersHandle {
        WorkersHandle(Arc::new(Workers {
            state: Mutex::new(WorkersState::default()),
            work: Condvar::new(),
            any: AtomicBool::new(false),
            most: most.max(1),
            clock: AtomicU64::new(0),
        }))
    }

    /// Returns the time on the device's clock: the latest end of a command, in nanoseconds.
    pub(crate) fn clock(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(super) fn advance(&self, to: u64) {
        self.clock.fetch_max(to, Ordering::Relaxed);
    }

    /// Adds a command that is ready.
    pub(super) fn push(self: &Arc<Self>, node: Arc<Node>) {
        let mut state = lock(&self.state);
        state.ready.push_back(node);
        self.any.store(true, Ordering::Relaxed);
        let mut alone = false;
        // Commands that no thread takes without being woken.
        let waiting = state.ready.len() - usize::from(state.spins);
        // A worker that has been woken is idle until it takes its command.
        if waiting > state.idle && state.threads < self.most {
            let workers = self.clone();
            let name = format!("gantry-queue-{}", state.threads);
            let spawned = thread::Builder::new()
                .name(name)
                .spawn(move || workers.work());
            match spawned {
                Ok(_) => state.threads += 1,
                // Where the host refuses threads, the caller does the work.
                Err(_) => alone = state.threads == 0,
            }
        }
        let wakes = state.idle > 0 && waiting > 0;
        drop(state);
        if alone {
            self.drain();
        } else if wakes {
            self.work.notify_one();
        }
    }

    /// Returns true if the calling thread is a worker of some device.
    pub(crate) fn is_current() -> bool {
        IS_WORKER.get()
    }

    /// Runs commands until the device is gone.
    fn work(&self) {
        IS_WORKER.set(true);
        while let Some(node) = self.next() {
            self.run(node);
        }
    }

    /// Waits for a command. Returns `None` if the device is gone.
    fn next(&self) -> Option<Arc<Node>> {
        let mut state = lock(&self.state);
        let mut is_new = true;
        loop {
            if let Some(node) = state.ready.pop_front() {
                self.any.store(!state.ready.is_empty(), Ordering::Relaxed);
                return Some(node);
            }
            if state.closed {
                state.threads -= 1;
                return None;
            }
            // Waking a thread takes longer than most commands. So the last of them that works
            // looks for a short while before it waits.
            if is_new && state.idle + 1 == state.threads && !state.spins {
                state.spins = true;
                drop(state);
                for _ in 0..SPINS {
                    if self.any.load(Ordering::Relaxed) {
                        break;
                    }
                    spin();
                }
                state = lock(&self.state);
                state.spins = false;
                is_new = false;
                continue;
            }
            state.idle += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            is_new = true;
        }
    }

    fn drain(&self) {
        loop {
            let node = lock(&self.state).ready.pop_front();
            match node {
                Some(node) => self.run(node),
                None => return,
            }
        }
    }

    /// Runs a command, then one that waited for it, and so on.
    fn run(&self, node: Arc<Node>) {
        let mut next = Some(node);
        let mut length = 0;
        while let Some(node) = next {
            let mut ready = node.run();
            length += 1;
            let goes_on = length < CHAIN || lock(&self.state).ready.is_empty();
            next = ready.take(|n| goes_on && n.is_on(self));
            Node::give(ready);
        }
    }
}

impl WorkersHandle {
    /// Returns the workers.
    pub(crate) fn get(&self) -> &Arc<Workers> {
        &self.0
    }
}

impl Drop for WorkersHandle {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.any.store(true, Ordering::Relaxed);
        self.0.work.notify_all();
    }
}
