//! Observation of launches: traces and counts.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_runtime::{Device, Grid, SimOptions, TraceFilter, Watch};
use std::sync::{Arc, Mutex};

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 16
";

/// Body of a loop of three rounds, in every thread.
const LOOP: &str = "\
    (W) mov (1|M0) r10.0<1>:d 0:d\n\
    L16:\n\
    (W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n\
    (W) cmp (1|M0) (lt)f0.0 null<1>:d r10.0<0;1,0>:d 3:d\n\
    (W&f0.0) jmpi L16\n\
    mov (16|M0) r12.0<1>:f 1.5:f\n\
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n\
    (W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n";

fn launch(watch: &Watch, items: u32) {
    let d = Device::simulator(SimOptions::default());
    let m = d.load(&text::zebin(Platform::Gen9, INFO, LOOP)).unwrap();
    m.kernel("t")
        .unwrap()
        .launch(Grid::new([items, 1, 1]).group([16, 1, 1]))
        .watch(watch)
        .run()
        .unwrap();
}

#[test]
fn counts_are_by_instruction() {
    let watch = Watch::new().counts();
    // Twenty-one groups of a thread, of which the last has five channels.
    launch(&watch, 325);
    let report = watch.report();
    let executed: Vec<u64> = report
        .instructions
        .iter()
        .map(|i| i.amount.executed)
        .collect();
    assert_eq!(executed, [21, 63, 63, 63, 21, 21, 21]);
    let opcodes = report.by_opcode();
    let of = |name: &str| opcodes.iter().find(|t| t.name == name).unwrap().amount;
    assert_eq!((of("mov").executed, of("add").executed), (63, 63));
    // One channel, the enabled of sixteen, and eight.
    assert_eq!(of("mov").channels, 21 + 325 + 21 * 8);
    let messages = report.by_message();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0].amount.executed, 21);
}

#[test]
fn modelled_time_follows_the_way_that_threads_take() {
    let cycles = |items: u32| {
        let watch = Watch::new().cycles();
        launch(&watch, items);
        watch.report().cycles
    };
    // One thread and twenty threads: each has an EU of its own.
    let (one, many) = (cycles(16), cycles(320));
    assert_eq!((20 * one.alone, 20 * one.busy), (many.alone, many.busy));
    // The loop runs three times, not the eight that are assumed without running it. Nothing waits
    // for the message.
    assert!(
        (20..200).contains(&one.alone) && one.busy < one.alone,
        "{one:?}"
    );
}

/// Returns the lines of a trace.
fn trace(filter: TraceFilter, items: u32) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let watch = Watch::new().trace(filter, move |e| sink.lock().unwrap().push(e.to_string()));
    launch(&watch, items);
    let lines = lines.lock().unwrap();
    lines.clone()
}

#[test]
fn traces_have_values() {
    let lines = trace(
        TraceFilter {
            group: Some([1, 0, 0]),
            thread: Some(0),
            ..TraceFilter::default()
        },
        37,
    );
    assert_eq!(lines.len(), 13);
    assert_eq!(
        lines[1],
        "t (1,0,0) t0 0x0010 [00000001] (W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n    \
         src0 :d 0\n    src1 :d 1\n    dst  :d 1"
    );
    assert!(
        lines[2].ends_with("src0 :d 1\n    src1 :d 3\n    flag :uw 1"),
        "{}",
        lines[2]
    );
    // The third group, of five work-items, has five channels.
    let lines = trace(
        TraceFilter {
            group: Some([2, 0, 0]),
            ip: Some(0x40..=0x40),
            ..TraceFilter::default()
        },
        37,
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].ends_with("src0 :f 1.5*5 -*11\n    dst  :f 1.5*5 -*11"),
        "{}",
        lines[0]
    );
}

#[test]
fn traces_are_in_order() {
    let lines = trace(
        TraceFilter {
            kernel: Some("t".to_owned()),
            ip: Some(0..=0),
            ..TraceFilter::default()
        },
        1600,
    );
    let groups: Vec<String> = (0..100).map(|g| format!("t ({g},0,0)")).collect();
    assert_eq!(lines.len(), 100);
    for (line, group) in lines.iter().zip(groups) {
        assert!(line.starts_with(&group), "{line}");
    }
    let none = trace(
        TraceFilter {
            kernel: Some("u".to_owned()),
            ..TraceFilter::default()
        },
        16,
    );
    assert!(none.is_empty());
}
