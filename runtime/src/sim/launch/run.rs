//! Execution of a launch's groups on the threads of a pool, until its end, a fault, or a signal
//! that stops it.

use super::super::memory::View;
use super::super::thread::Counts;
use super::super::worker::{GroupError, Worker, WorkerMemory};
use super::LaunchPlan;
use crate::backend::LaunchRequest;
use crate::control::{LaunchStats, StopSignals};
use crate::error::{Error, Fault, Stopped, panic_text};
use crate::pool::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// State that tells if the groups of a launch go on.
pub(in super::super) struct LaunchControl<'a> {
    /// True if they stop, because of a fault or a signal.
    stopped: AtomicBool,
    signals: StopSignals<'a>,
    /// Signal that stopped them.
    why: OnceLock<Stopped>,
}

impl<'a> LaunchControl<'a> {
    pub(in super::super) fn new(signals: StopSignals<'a>) -> LaunchControl<'a> {
        LaunchControl {
            stopped: AtomicBool::new(false),
            signals,
            why: OnceLock::new(),
        }
    }

    /// Returns true if the groups must stop.
    pub(in super::super) fn stops(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let Some(why) = self.signals.now() else {
            return false;
        };
        self.why.get_or_init(|| why);
        self.stop();
        true
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Totals of all cores.
#[derive(Default)]
struct LaunchTotals {
    counts: Counts,
    threads: u64,
    /// Number of groups that ended.
    groups: u64,
    /// Fault of the lowest group that had one.
    fault: Option<(u64, Box<Fault>)>,
    /// Reason why a core could not begin.
    failed: Option<String>,
}

/// Queue of a launch's groups, handed out a few at a time.
struct GroupQueue {
    next: AtomicU64,
    count: u64,
    batch: u64,
    /// Number of groups along x and y.
    size: [u64; 2],
}

impl GroupQueue {
    /// Takes the numbers of the next groups.
    fn take(&self) -> std::ops::Range<u64> {
        let first = self.next.fetch_add(self.batch, Ordering::Relaxed);
        first.min(self.count)..first.saturating_add(self.batch).min(self.count)
    }

    fn id(&self, g: u64) -> [u32; 3] {
        let [nx, ny] = self.size;
        [(g % nx) as u32, (g / nx % ny) as u32, (g / nx / ny) as u32]
    }
}

/// Runs one core's part of a launch. Nothing unwinds from it.
fn part(
    plan: &LaunchPlan<'_>,
    request: &LaunchRequest<'_>,
    groups: &GroupQueue,
    control: &LaunchControl<'_>,
    shared: &Mutex<LaunchTotals>,
) {
    let share = |put: &mut dyn FnMut(&mut LaunchTotals)| {
        put(&mut shared.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let fail = |e: &str| {
        control.stop();
        share(&mut |s| s.failed = Some(e.to_owned()));
    };
    let own = match catch_unwind(AssertUnwindSafe(|| WorkerMemory::new(plan))) {
        Ok(Ok(own)) => own,
        Ok(Err(e)) => return fail(&e),
        Err(p) => return fail(&format!("the simulator panicked: {}", panic_text(&*p))),
    };
    let mut worker = match catch_unwind(AssertUnwindSafe(|| Worker::new(plan, &own))) {
        Ok(Ok(w)) => w,
        Ok(Err(e)) => return fail(&e),
        Err(p) => return fail(&format!("the simulator panicked: {}", panic_text(&*p))),
    };
    let (mut threads, mut ended) = (0, 0);
    let mut fault = None;
    'groups: while !control.stops() {
        let some = groups.take();
        if some.is_empty() {
            break;
        }
        for g in some {
            let id = groups.id(g);
            let run = AssertUnwindSafe(|| worker.run_group(id, control));
            let end = catch_unwind(run).unwrap_or_else(|p| {
                let what = format!(
                    "the simulator panicked here or at an instruction soon after: {}",
                    panic_text(&*p)
                );
                Err(GroupError::Fault(worker.fault(id, what)))
            });
            match end {
                Ok(n) => {
                    threads += n;
                    ended += 1;
                    if let Some(p) = request.progress {
                        p.add(n);
                    }
                }
                Err(GroupError::Stopped) => break 'groups,
                Err(GroupError::Fault(f)) => {
                    control.stop();
                    fault = Some((g, f));
                    break 'groups;
                }
            }
        }
    }
    let counts = match catch_unwind(AssertUnwindSafe(|| worker.finish())) {
        Ok(counts) => counts,
        Err(p) => return fail(&format!("the simulator panicked: {}", panic_text(&*p))),
    };
    share(&mut |s| {
        s.counts.add(&counts);
        s.threads += threads;
        s.groups += ended;
        if let Some((g, f)) = fault.take()
            && s.fault.as_ref().is_none_or(|(h, _)| g < *h)
        {
            s.fault = Some((g, f));
        }
    });
}

/// Runs all groups.
pub(in super::super) fn run(
    plan: &LaunchPlan<'_>,
    request: &LaunchRequest<'_>,
    pool: &dyn Pool,
) -> Result<LaunchStats, Error> {
    let start = Instant::now();
    let [nx, ny, nz] = request.groups().map(u64::from);
    let count = nx * ny * nz;
    let all_threads = count.saturating_mul(u64::from(plan.threads_per_group));
    if let Some(p) = request.progress {
        p.begin(all_threads);
    }
    let cores = pool.threads().min(plan.most_cores).max(1) as u64;
    let groups = GroupQueue {
        next: AtomicU64::new(0),
        count,
        // A batch has several groups, so that the counter is not the bottleneck of small ones.
        batch: (count / (cores * 16)).clamp(1, 64),
        size: [nx, ny],
    };
    let control = LaunchControl::new(request.signals);
    let shared = Mutex::new(LaunchTotals::default());
    let work = || part(plan, request, &groups, &control, &shared);
    // A trace is in order.
    let in_order = request.watch.is_some_and(|w| w.filter.is_some());
    if count > groups.batch && !in_order && cores > 1 {
        pool.run(cores.min(count) as usize, &work);
    }
    // The calling thread runs the groups where no pool is needed, or the pool has done nothing.
    if groups.next.load(Ordering::Relaxed) < count && !control.stops() {
        work();
    }
    let why = control.why.into_inner();
    let total = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    finish(plan, request, total, why, start.elapsed())
}

/// Returns the result of a launch.
fn finish(
    plan: &LaunchPlan<'_>,
    request: &LaunchRequest<'_>,
    total: LaunchTotals,
    why: Option<Stopped>,
    wall: Duration,
) -> Result<LaunchStats, Error> {
    let memory = View::new(&plan.memory, [None; 2]);
    let kernel = || plan.kernel.name.clone();
    // Text printed before a fault is useful.
    let printed = plan.buffers.printed(&memory, &plan.limits);
    if !printed.text.is_empty() {
        request.printf.print(&printed.text);
    }
    if let Some((_, f)) = total.fault {
        return Err(Error::Fault(f));
    }
    if let Some(e) = total.failed {
        return Err(Error::Buffer(e));
    }
    let groups = request.groups().map(u64::from).iter().product::<u64>();
    if let Some(why) = why
        && total.groups < groups
    {
        return Err(Error::Stopped {
            kernel: kernel(),
            why,
            ended: total.groups,
            groups,
            instructions: total.counts.instructions,
        });
    }
    if let Some(message) = plan.buffers.assertion(&memory, &plan.limits) {
        return Err(Error::Assertion {
            kernel: kernel(),
            message,
        });
    }
    if let Some(excess) = printed.excess {
        return Err(Error::Limit {
            kernel: kernel(),
            excess,
        });
    }
    let c = total.counts;
    Ok(LaunchStats {
        threads: total.threads,
        instructions: c.instructions,
        channels: c.channels,
        sends: c.sends,
        bytes_read: c.bytes_read,
        bytes_written: c.bytes_written,
        scratch: c.scratch,
        wall_seconds: wall.as_secs_f64(),
    })
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
mod tests {
    use super::super::super::program::{MicroOp, MicroOpKind, Program};
    use super::super::super::thread::Thread;
    use super::super::super::{SimOptions, Simulator};
    use super::*;
    use crate::backend::DeviceBackend;
    use crate::buffer::MemoryKind;
    use crate::control::Print;
    use crate::pool::OwnPool;
    use crate::zebin::Zebin;
    use gantry_isa_gen::Platform;
    use gantry_isa_gen::text::assemble;
    use gantry_zebin::write_kernels;
    use std::sync::Arc;

    struct Nowhere;

    impl Print for Nowhere {
        fn print(&self, _: &str) {}
    }

    fn broken(_: &mut Thread, _: &MicroOp, _: u32) {
        panic!("a bug of {}", "ours");
    }

    /// A kernel of two instructions, whose second panics in the simulator.
    #[test]
    fn a_panic_on_any_core_is_a_fault() {
        let options = SimOptions::default();
        let text = "mov (8|M0) r10.0<1>:d 1:d\nmov (8|M0) r11.0<1>:d 2:d\n";
        let code = assemble(Platform::Gen9, text).unwrap().bytes;
        let info = "kernels:\n  - {name: t, execution_env: {simd_size: 8}}\n";
        let bytes = write_kernels(Platform::Gen9, info, &[("t", code.clone())]).unwrap();
        let zebin = Arc::new(Zebin::parse(&bytes).unwrap());
        let mut program = Program::decode(Platform::Gen9, 128, &[(0, &code)]);
        program.ops[1].kind = MicroOpKind::Fast(broken);
        let d = Simulator::new(options, OwnPool::of(3));
        let m = d.load_module(zebin.clone(), &bytes).unwrap();
        m.run_instead(0, program);
        let progress = crate::Progress::new();
        let request = LaunchRequest {
            index: 0,
            kernel: &zebin.kernels[0],
            global: [8 * 100_000, 1, 1],
            local: [8, 1, 1],
            any_local: false,
            offset: [0; 3],
            dimensions: 1,
            args: &[],
            progress: Some(&progress),
            printf: &Nowhere,
            watch: None,
            signals: StopSignals::default(),
        };
        let e = crate::backend::ModuleBackend::launch(&m, &request).unwrap_err();
        let Error::Fault(f) = e else {
            panic!("{e}");
        };
        assert!(f.what.contains("panicked"), "{f}");
        assert!(f.what.ends_with(": a bug of ours"), "{f}");
        assert_eq!((f.kernel.as_str(), f.thread), ("t", 0));
        assert_eq!(progress.done(), 0, "groups went on");
        // The device can still be used.
        assert!(d.alloc(16, MemoryKind::Device).is_ok());
    }
}
