//! Threads of the host that launches on the simulator run on.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// Thread pool that simulators run launches on. A host with threads of its own hands them to
/// [`Device::simulator_on`](crate::Device::simulator_on). A `rayon::ThreadPool` is one.
pub trait Pool: Send + Sync {
    /// Returns the number of calls that can run at once.
    fn threads(&self) -> usize;

    /// Calls `work` up to `times` times, in parallel where possible, and returns when every call
    /// has returned. The calls share the groups of one launch, so fewer calls do the same more
    /// slowly. `work` never panics.
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

/// Thread pool of one device, started when a launch first has work for several threads.
pub(crate) struct OwnPool {
    threads: usize,
    /// Pool, or `None` where the host refuses threads.
    pool: OnceLock<Option<rayon::ThreadPool>>,
}

impl OwnPool {
    /// Creates a pool of so many threads; 0 means one for each core that the process may use.
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
