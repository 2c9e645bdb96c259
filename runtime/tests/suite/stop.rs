//! Launches that end before their groups do: cancelled, past a deadline, or with a panic in the
//! middle. Also the threads that launches run on.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_runtime::{
    Cancel, Device, Error, Fault, Grid, LaunchStats, Pool, Progress, SimOptions, Stopped,
    TraceFilter, Watch,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const P: Platform = Platform::Gen9;

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
      barrier_count: 1
";

/// Body without an end.
const ENDLESS: &str = "L16:\n(W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n(W) jmpi L16\n";
/// Body without an end, in turns of few instructions.
const MEETS: &str = "(W) mov (8|M0) r60.0<1>:ud 0:ud\n\
    (W) and (1|M0) r60.2<1>:ud r0.2<0;1,0>:ud 0x0F000000:ud\n\
    L48:\n\
    (W) send (8|M0) null r60 0x3 0x02000004\n\
    wait n0.0<0;1,0>:ud\n\
    (W) jmpi L48\n";
/// Body of thousands of instructions.
const LONG: &str = "(W) mov (1|M0) r10.0<1>:d 0:d\n\
    L32:\n\
    (W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n\
    (W) cmp (1|M0) (lt)f0.0 null<1>:d r10.0<0;1,0>:d 3000:d\n\
    (W&f0.0) jmpi L32\n";

/// Creates a device that ends endless loops only long after the launch should have been stopped.
fn device(threads: usize) -> Device {
    Device::simulator(SimOptions {
        instruction_limit: 100_000_000,
        threads,
        ..SimOptions::default()
    })
}

/// Signals that stop a launch.
#[derive(Default)]
struct StopSignals<'a> {
    cancel: Option<&'a Cancel>,
    deadline: Option<Instant>,
    progress: Option<&'a Progress>,
    watch: Option<&'a Watch>,
}

/// Runs a body in a number of groups of two threads.
fn run(d: &Device, body: &str, groups: u32, how: &StopSignals<'_>) -> Result<LaunchStats, Error> {
    let m = d.load(&text::zebin(P, INFO, &text::whole(body))).unwrap();
    let kernel = m.kernel("t").unwrap();
    let mut launch = kernel.launch(Grid::new([16 * groups, 1, 1]).group([16, 1, 1]));
    if let Some(c) = how.cancel {
        launch = launch.cancel(c);
    }
    if let Some(d) = how.deadline {
        launch = launch.deadline(d);
    }
    if let Some(p) = how.progress {
        launch = launch.progress(p);
    }
    if let Some(w) = how.watch {
        launch = launch.watch(w);
    }
    launch.run()
}

/// Returns the reason why a launch of 5 groups was stopped in its first.
fn stopped(end: Result<LaunchStats, Error>) -> Stopped {
    let e = end.unwrap_err();
    let text = e.to_string();
    match e {
        Error::Stopped {
            kernel,
            why,
            ended: 0,
            groups: 5,
            instructions,
        } => {
            assert_eq!(
                text,
                format!("kernel `{kernel}` {why} after 0 of 5 groups, {instructions} instructions")
            );
            assert!(kernel == "t" && instructions > 0, "{text}");
            why
        }
        e => panic!("{e}"),
    }
}

#[test]
fn deadlines_end_endless_loops() {
    for body in [ENDLESS, MEETS] {
        for threads in [1, 2] {
            let how = StopSignals {
                deadline: Some(Instant::now() + Duration::from_millis(30)),
                ..StopSignals::default()
            };
            let why = stopped(run(&device(threads), body, 5, &how));
            assert_eq!(why, Stopped::Deadline);
        }
    }
}

#[test]
fn progress_is_seen_while_work_runs() {
    let (seen, wait) = std::sync::mpsc::channel();
    let progress = Progress::new();
    let see = |p: &Progress| seen.send(p.total()).unwrap();
    // The work takes as long as it takes to be seen twice, before a launch of 6 threads and after
    // it.
    let got = progress.watch(Duration::from_millis(1), see, || {
        let before = wait.recv().unwrap();
        let stop = StopSignals {
            progress: Some(&progress),
            ..StopSignals::default()
        };
        run(&device(1), LONG, 3, &stop).unwrap();
        let after = wait.iter().find(|n| *n != 0);
        (before, after, progress.done())
    });
    assert_eq!(got, (0, Some(6), 6));
}

#[test]
fn any_thread_cancels() {
    for body in [ENDLESS, MEETS] {
        let cancel = Cancel::new();
        let clone = cancel.clone();
        let progress = Progress::new();
        let end = std::thread::scope(|s| {
            s.spawn(|| {
                // The launch has begun, and is in its first groups.
                while progress.total() == 0 {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(20));
                clone.cancel();
            });
            let how = StopSignals {
                cancel: Some(&cancel),
                progress: Some(&progress),
                ..StopSignals::default()
            };
            run(&device(2), body, 5, &how)
        });
        assert_eq!(stopped(end), Stopped::Cancelled);
        assert_eq!(progress.done(), 0);
    }
}

#[test]
fn what_is_stopped_says_how_far_it_got() {
    // The trace cancels when the tenth group begins.
    let cancel = Cancel::new();
    let clone = cancel.clone();
    let watch = Watch::new().trace(TraceFilter::default(), move |e| {
        if e.group[0] == 9 {
            clone.cancel();
        }
    });
    let how = StopSignals {
        cancel: Some(&cancel),
        watch: Some(&watch),
        ..StopSignals::default()
    };
    let e = run(&device(2), "", 100, &how).unwrap_err();
    let Error::Stopped { ended, groups, .. } = e else {
        panic!("{e}");
    };
    // That group was too short to be stopped in.
    assert!(ended == 9 || ended == 10, "{ended}");
    assert_eq!(groups, 100);
    // Nothing begins any more.
    let how = StopSignals {
        cancel: Some(&cancel),
        ..StopSignals::default()
    };
    let e = run(&device(2), "", 100, &how).unwrap_err().to_string();
    assert_eq!(
        e,
        "kernel `t` was cancelled after 0 of 100 groups, 0 instructions"
    );
}

#[test]
fn launches_that_end_in_time_are_whole() {
    let cancel = Cancel::new();
    let how = StopSignals {
        cancel: Some(&cancel),
        deadline: Some(Instant::now() + Duration::from_secs(3600)),
        ..StopSignals::default()
    };
    assert_eq!(run(&device(2), LONG, 300, &how).unwrap().threads, 600);
    cancel.cancel();
    // An empty launch is at its end.
    assert_eq!(run(&device(2), LONG, 0, &how).unwrap().threads, 0);
}

#[test]
fn a_panic_is_a_fault() {
    let last = Arc::new(AtomicU32::new(0));
    let seen = last.clone();
    let watch = Watch::new().trace(TraceFilter::default(), move |e| {
        seen.store(e.group[0], Ordering::Relaxed);
        assert!((e.group[0], e.thread) != (3, 1), "no more of this");
    });
    let how = StopSignals {
        watch: Some(&watch),
        ..StopSignals::default()
    };
    let e = run(&device(2), "", 100, &how).unwrap_err();
    let Error::Fault(f) = e else {
        panic!("{e}");
    };
    let Fault {
        kernel,
        group,
        thread,
        what,
        ..
    } = *f;
    assert_eq!((kernel.as_str(), group, thread), ("t", [3, 0, 0], 1));
    assert!(
        what.starts_with("the simulator panicked") && what.contains("no more of this"),
        "{what}"
    );
    assert_eq!(last.load(Ordering::Relaxed), 3, "the rest has run");
}

#[test]
fn a_fault_stops_the_groups_of_other_cores() {
    // Group 0 faults, the others have no end.
    let body = "(W) cmp (1|M0) (ne)f0.0 null<1>:ud r0.1<0;1,0>:ud 0:ud\n\
        (W&f0.0) jmpi L64\n\
        illegal\n\
        L64:\n\
        (W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n\
        (W) jmpi L64\n";
    let watch = Watch::new().counts();
    let how = StopSignals {
        watch: Some(&watch),
        ..StopSignals::default()
    };
    let e = run(&device(2), body, 4, &how).unwrap_err();
    let Error::Fault(f) = e else {
        panic!("{e}");
    };
    assert_eq!(f.group, [0; 3], "{f}");
    let report = watch.report();
    let ran: u64 = report.instructions.iter().map(|i| i.amount.executed).sum();
    assert!(ran < 100_000_000, "{ran}");
}

/// Thread pool of a host, where each call is a thread.
#[derive(Default)]
struct Host {
    calls: AtomicUsize,
    /// True if it runs nothing.
    idle: bool,
}

impl Pool for Host {
    fn threads(&self) -> usize {
        3
    }

    fn run(&self, times: usize, work: &(dyn Fn() + Sync)) {
        if self.idle {
            return;
        }
        std::thread::scope(|s| {
            for _ in 0..times {
                self.calls.fetch_add(1, Ordering::Relaxed);
                s.spawn(work);
            }
        });
    }
}

#[test]
fn launches_run_on_the_hosts_threads() {
    let options = SimOptions::default();
    let pool = Arc::new(Host::default());
    let d = Device::simulator_on(options, pool.clone());
    assert_eq!(
        run(&d, LONG, 100, &StopSignals::default()).unwrap().threads,
        200
    );
    assert_eq!(pool.calls.load(Ordering::Relaxed), 3);
    // Only the threads of the pool are used. A pool that does nothing leaves the work to the
    // caller.
    let idle = Host {
        idle: true,
        ..Host::default()
    };
    let d = Device::simulator_on(options, Arc::new(idle));
    assert_eq!(
        run(&d, LONG, 100, &StopSignals::default()).unwrap().threads,
        200
    );
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let d = Device::simulator_on(options, Arc::new(rayon.unwrap()));
    assert_eq!(
        run(&d, LONG, 100, &StopSignals::default()).unwrap().threads,
        200
    );
}

#[test]
fn the_global_pool_is_the_hosts() {
    assert_eq!(
        run(&device(2), LONG, 100, &StopSignals::default())
            .unwrap()
            .threads,
        200
    );
    // The global pool can still be configured, so nobody has used it.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .unwrap();
}
