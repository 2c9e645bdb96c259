//! Fake driver that does nothing and returns the codes it is told to, to test the device when waits
//! fail.

use super::api::{Code, NOT_READY};
use super::ffi::{DriverModule, Gpu, Memory, WaitError};
use crate::buffer::MemoryKind;
use crate::control::StopSignals;
use crate::error::Stopped;
use std::cell::{Cell, RefCell};
use std::time::Instant;

const LOST: Code = 0x7000_0001;

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    /// Results of waits for the queue, and of submissions to it.
    static WAITS: Cell<Code> = const { Cell::new(0) };
    static GIVES: Cell<Code> = const { Cell::new(0) };
}

/// Records a call of a driver's function and returns its result.
pub(super) fn called(name: &'static str) -> Code {
    CALLS.with_borrow_mut(|c| c.push(name));
    match name {
        "queue_synchronize" => WAITS.get(),
        "queue_execute" => GIVES.get(),
        _ => 0,
    }
}

/// Takes the calls since the last time that destroy, free or use the queue.
fn calls() -> Vec<&'static str> {
    let all = CALLS.take();
    let matter = |c: &&str| c.ends_with("_destroy") || c.starts_with("queue_") || *c == "mem_free";
    all.into_iter().filter(matter).collect()
}

fn launch(m: &DriverModule, signals: StopSignals<'_>) -> Result<(), WaitError> {
    m.launch("k", [1; 3], [1; 3], [0; 3], &[], signals)
}

#[test]
fn what_the_queue_may_use_outlives_waits_that_fail() {
    let gpu = Gpu::fake();
    let given = ["queue_execute", "queue_synchronize"];
    // Everything succeeds.
    let m = Memory::new(&gpu, 64, MemoryKind::Device).unwrap();
    m.write(0, vec![1; 64]).unwrap();
    assert_eq!(calls(), [&given[..], &["list_destroy"]].concat());
    drop(m);
    assert_eq!(calls(), ["mem_free"]);
    // The wait for a copy fails, or the submission before it: nothing is freed.
    for (gives, waits) in [(0, LOST), (LOST, 0)] {
        let [m, other] = [0; 2].map(|_| Memory::new(&gpu, 64, MemoryKind::Device).unwrap());
        GIVES.set(gives);
        WAITS.set(waits);
        assert!(m.read(0, &mut [0; 64]).is_err());
        drop(m);
        let n = if gives == 0 { 2 } else { 1 };
        assert_eq!(calls(), given[..n]);
        // Waits go on to fail: nothing new is submitted.
        WAITS.set(LOST);
        assert!(other.write(0, vec![1]).is_err());
        assert_eq!(calls(), ["queue_synchronize"]);
        // A wait succeeds: the queue has ended all of it.
        WAITS.set(0);
        GIVES.set(0);
        other.write(0, vec![1]).unwrap();
        let freed = ["queue_synchronize", "list_destroy", "mem_free"];
        assert_eq!(
            calls(),
            [&freed[..], &given[..], &["list_destroy"]].concat()
        );
        drop(other);
        assert_eq!(calls(), ["mem_free"]);
    }
}

#[test]
fn a_launch_that_is_given_up_keeps_what_it_uses() {
    let gpu = Gpu::fake();
    let module = DriverModule::new(&gpu, &[0]).ok().unwrap();
    assert!(launch(&module, StopSignals::default()).is_ok());
    assert_eq!(
        calls(),
        [
            "queue_execute",
            "queue_synchronize",
            "list_destroy",
            "kernel_destroy"
        ]
    );
    WAITS.set(NOT_READY);
    let late = StopSignals {
        deadline: Some(Instant::now()),
        ..StopSignals::default()
    };
    let end = launch(&module, late);
    assert!(matches!(end, Err(WaitError::Stopped(Stopped::Deadline))));
    drop(module);
    let at_work = calls();
    assert!(
        at_work.iter().all(|c| c.starts_with("queue_")),
        "{at_work:?}"
    );
    // The GPU has not ended when its handle is dropped: everything stays.
    drop(gpu);
    assert_eq!(calls(), ["queue_synchronize"]);

    // A GPU that has ended.
    let gpu = Gpu::fake();
    let module = DriverModule::new(&gpu, &[0]).ok().unwrap();
    assert!(launch(&module, late).is_err());
    drop(module);
    calls();
    WAITS.set(0);
    drop(gpu);
    assert_eq!(
        calls(),
        [
            "queue_synchronize",
            "list_destroy",
            "kernel_destroy",
            "module_destroy",
            "queue_destroy",
            "context_destroy"
        ]
    );
}
