//! The host's threads that launches on the simulator run on.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// Threads of the host that simulators may use: a host that has some of its own hands them to
/// [`Device::simulator_on`](crate::Device::simulator_on). A `rayon::ThreadPool` is one.
pub trait Pool: Send + Sync {
    /// How many calls can run at once.
    fn threads(&self) -> usize;

    /// Calls `work` up to `times` times, at once where it can, and returns when every call has returned. Calls share one launch's
    /// groups between them, so fewer calls do the same more slowly. `work` never panics.
    fn run(&self, times: usize, work: &(dyn Fn() + Sync));
}

impl Pool for rayon::ThreadPool {
    fn threads(&self) -> usize {
        self.current_num_threads()
    }

    fn run(&self, times: usize, work: &(dyn Fn() + Sync)) {
        self.scope(|scope| {
            for _ in 0..times {
                scope.spawn(|_| work());
            }
        });
    }
}

/// Threads of a device's own, started when a launch first has work for several.
pub(crate) struct OwnPool {
    threads: usize,
    /// `None` where the host gives no threads.
    pool: OnceLock<Option<rayon::ThreadPool>>,
}

impl OwnPool {
    /// So many threads; 0 is one for each core that the process may use.
    pub(crate) fn of(threads: usize) -> Arc<dyn Pool> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Arc::new(OwnPool {
            threads: if threads == 0 { cores() } else { threads },
            pool: OnceLock::new(),
        })
    }
}

impl Pool for OwnPool {
    fn threads(&self) -> usize {
        self.threads
    }

    fn run(&self, times: usize, work: &(dyn Fn() + Sync)) {
        let start = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .thread_name(|i| format!("gantry-sim-{i}"))
                .build()
                .ok()
        };
        match self.pool.get_or_init(start) {
            Some(pool) if times > 1 && self.threads > 1 => Pool::run(pool, times, work),
            _ => work(),
        }
    }
}
