//! Queues, events, command lists and memory, on the simulator.

use crate::common::text;
use crate::queue_stress::kernel;
use gantry_isa_gen::Platform;
use gantry_runtime::{
    Arg, Buffer, CommandList, Device, Error, EventState, Grid, HostEvent, HostMemory, MemoryKind,
    OnDrop, Order, Pitch, Queue, QueueOptions, SimOptions,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(20);

fn device() -> Device {
    Device::simulator(SimOptions {
        threads: 2,
        ..SimOptions::default()
    })
}

fn queue(device: &Device, order: Order, on_drop: OnDrop) -> Queue {
    device.queue(QueueOptions {
        order,
        on_drop,
        ..QueueOptions::default()
    })
}

fn one() -> Grid {
    Grid::new([8, 1, 1])
}

#[test]
fn events_tell_what_became_of_commands() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let k = kernel(&d);
    let (x, y) = (d.buffer(32).unwrap(), d.buffer(32).unwrap());
    let gate = HostEvent::new();
    let filled = q.after([&gate.event()]).fill(&x, &[5u32]).unwrap();
    let ran = q.launch(k.launch(one()).arg(&x).arg(&y).arg(1u32)).unwrap();
    assert_eq!(filled.state(), EventState::Waiting);
    assert!(ran.wait_timeout(SOON).is_none());
    assert!(ran.times().is_none());
    gate.set();
    pollster::block_on(ran.clone()).unwrap();
    assert_eq!(
        (filled.state(), ran.state()),
        (EventState::Complete, EventState::Complete)
    );
    assert_eq!(y.read::<u32>().unwrap(), [6; 8]);
    assert_eq!(ran.stats().unwrap().threads, 1);
    let (f, r) = (filled.times().unwrap(), ran.times().unwrap());
    assert!(
        f.start < f.end && f.end <= r.start && r.start < r.end,
        "{f:?} {r:?}"
    );
}

/// A fault fails what comes after it, by name, until the queue is restarted. Other queues go on.
#[test]
fn failures_name_the_command_that_failed_first() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let other = queue(&d, Order::OutOfOrder, OnDrop::Wait);
    let k = kernel(&d);
    let (x, y) = (d.buffer(32).unwrap(), d.buffer(32).unwrap());
    let fault = q
        .launch(k.launch(one()).arg(&x).arg(&y).arg(0xdeadu32))
        .unwrap();
    let copy = q.copy(&x, &y).unwrap();
    let elsewhere = other.after([&copy]).fill(&x, &[1u8]).unwrap();
    let apart = other.fill(&y, &[7u8]).unwrap();
    assert!(matches!(fault.wait(), Err(Error::Fault(_))));
    for (event, name) in [(&copy, "copy"), (&elsewhere, "fill")] {
        let e = event.wait().unwrap_err().to_string();
        let begin = format!("the {name} did not run, since the launch of `t` failed: kernel `t`");
        assert!(e.starts_with(&begin), "{e}");
    }
    apart.wait().unwrap();
    // A barrier stands for all before it, whether they have ended or not.
    assert!(other.barrier().unwrap().wait().is_err());
    other.restart();
    other.barrier().unwrap().wait().unwrap();
    q.restart();
    q.copy(&y, &x).unwrap().wait().unwrap();
    assert_eq!(x.read::<u8>().unwrap(), [7; 32]);
}

#[test]
fn callbacks_that_panic_are_errors() {
    let d = device();
    let q = queue(&d, Order::OutOfOrder, OnDrop::Wait);
    let bad = q
        .call(|| -> Result<(), Error> { panic!("of the {}", "host") })
        .unwrap();
    let e = bad.wait().unwrap_err().to_string();
    assert_eq!(e, "the callback panicked: of the host");
    assert_eq!(*q.call(|| Ok(7)).unwrap().wait().unwrap(), 7);
    let gate = HostEvent::new();
    let late = gate.event();
    drop(gate);
    let e = late.wait().unwrap_err().to_string();
    assert!(e.contains("dropped without being set"), "{e}");
}

#[test]
fn dropped_queues_wait_or_cancel_or_let_go() {
    let d = device();
    for on_drop in [OnDrop::Wait, OnDrop::Cancel, OnDrop::Detach] {
        let q = queue(&d, Order::InOrder, on_drop);
        let ran = Arc::new(AtomicBool::new(false));
        let gate = HostEvent::new();
        let set = ran.clone();
        let call = q.after([&gate.event()]).call(move || {
            set.store(true, Ordering::Relaxed);
            Ok(())
        });
        let event = call.unwrap().event().clone();
        match on_drop {
            OnDrop::Wait => {
                let opener = std::thread::spawn(move || {
                    std::thread::sleep(SOON);
                    gate.set();
                });
                drop(q);
                assert!(ran.load(Ordering::Relaxed));
                opener.join().unwrap();
            }
            OnDrop::Cancel => {
                drop(q);
                assert!(matches!(event.wait(), Err(Error::Cancelled { .. })));
                gate.set();
                assert!(!ran.load(Ordering::Relaxed));
            }
            OnDrop::Detach => {
                drop(q);
                assert_eq!(event.state(), EventState::Waiting);
                gate.set();
                event.wait().unwrap();
                assert!(ran.load(Ordering::Relaxed));
            }
        }
    }
}

/// A launch that would never end is stopped with its queue, and the device goes on.
#[test]
fn cancelled_launches_stop() {
    let d = Device::simulator(SimOptions {
        instruction_limit: u64::MAX,
        threads: 2,
        ..SimOptions::default()
    });
    let info = "kernels:\n  - {name: t, execution_env: {simd_size: 8}}\n";
    let body = "L16:\n(W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n(W) jmpi L16\n";
    let zebin = text::zebin(Platform::Gen9, info, &text::whole(body));
    let k = d.load(&zebin).unwrap().kernel("t").unwrap();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let endless = q.launch(k.launch(one())).unwrap();
    let after = q.barrier().unwrap();
    while endless.state() != EventState::Running {
        std::thread::yield_now();
    }
    q.cancel();
    assert!(matches!(endless.wait(), Err(Error::Stopped { .. })));
    assert!(after.wait().is_err());
    assert!(matches!(q.barrier(), Err(Error::Cancelled { .. })));
    let buffer = d.buffer(8).unwrap();
    let more = queue(&d, Order::InOrder, OnDrop::Wait);
    more.fill(&buffer, &[1u8]).unwrap().wait().unwrap();
}

#[test]
fn queues_are_limited() {
    let d = device();
    let q = d.queue(QueueOptions {
        most_commands: 3,
        ..QueueOptions::default()
    });
    let gate = HostEvent::new();
    for _ in 0..3 {
        q.after([&gate.event()]).barrier().unwrap();
    }
    let e = q.barrier().unwrap_err().to_string();
    assert_eq!(e, "the queue has 3 commands that have not ended, its limit");
    gate.set();
    q.finish();
    q.barrier().unwrap().wait().unwrap();
}

#[test]
fn command_lists_are_submitted_again_with_other_arguments() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let k = kernel(&d);
    let [x, y, z] = [0; 3].map(|_| d.buffer(32).unwrap());
    let mut list = CommandList::new(&d);
    list.fill(&x, &[2u32]).unwrap();
    let step = list
        .launch(k.launch(one()).arg(&x).arg(&y).arg(10u32))
        .unwrap();
    list.copy(&y, &z).unwrap();
    let first = q.replay(&list).submit().unwrap();
    let other = q.replay(&list).arg(step, 2, 100u32).submit().unwrap();
    let last = q.replay(&list).submit().unwrap();
    last.wait().unwrap();
    // 0 -> 12 -> 138 -> 426
    assert_eq!(z.read::<u32>().unwrap(), [426; 8]);
    assert_eq!(other.stats().unwrap(), {
        let mut stats = first.stats().unwrap();
        stats.wall_seconds = other.stats().unwrap().wall_seconds;
        stats
    });
    // Changes that are wrong are refused, and nothing runs.
    assert!(q.replay(&list).arg(step, 9, 1u32).submit().is_err());
    assert!(q.replay(&list).arg(step, 0, 1u32).submit().is_err());
    assert!(q.replay(&list).bind(step, 0, 0, &x).submit().is_err());
    let elsewhere = queue(&device(), Order::InOrder, OnDrop::Wait);
    assert!(elsewhere.replay(&list).submit().is_err());
    assert_eq!(z.read::<u32>().unwrap(), [426; 8]);
}

#[test]
fn the_number_of_groups_is_read_when_the_launch_begins() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let k = kernel(&d);
    let (x, y, groups) = (
        d.buffer(32).unwrap(),
        d.buffer(32).unwrap(),
        d.buffer(32).unwrap(),
    );
    q.fill(&groups.slice(8..20).unwrap(), &[3u32, 2, 1])
        .unwrap();
    let launch = k.launch(one()).arg(&x).arg(&y).arg(1u32);
    let sizes = groups.slice(8..).unwrap();
    let ran = q.launch(launch.clone().groups_from(&sizes)).unwrap();
    ran.wait().unwrap();
    assert_eq!(ran.stats().unwrap().threads, 6);
    let short = groups.slice(..8).unwrap();
    assert!(q.launch(launch.groups_from(&short)).is_err());
}

#[test]
fn launches_wait_for_kernels_that_are_compiled_in_the_background() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let (y, gate) = (d.buffer(8).unwrap(), HostEvent::new());
    let opened = gate.event();
    let info = "kernels:\n  - {name: t, execution_env: {simd_size: 8}}\n";
    let module = d.load_later(move || {
        opened.wait()?;
        Ok(text::zebin(Platform::Gen9, info, &text::whole("")))
    });
    let module = module.unwrap();
    let ran = q
        .launch_with(&module, |m| Ok(m.kernel("t")?.launch(one())))
        .unwrap();
    let wrong = queue(&d, Order::InOrder, OnDrop::Wait);
    let wrong = wrong
        .launch_with(&module, |m| Ok(m.kernel("no")?.launch(one())))
        .unwrap();
    q.fill(&y, &[1u8]).unwrap();
    assert!(ran.wait_timeout(SOON).is_none());
    gate.set();
    ran.wait().unwrap();
    assert!(matches!(wrong.wait(), Err(Error::NoKernel { .. })));
    let none = d
        .load_later(|| Err(Error::Queue("no compiler".to_owned())))
        .unwrap();
    let e = q
        .launch_with(&none, |m| Ok(m.kernel("t")?.launch(one())))
        .unwrap();
    assert!(
        e.wait()
            .unwrap_err()
            .to_string()
            .ends_with("the callback failed: no compiler")
    );
}

#[test]
fn parts_of_buffers_are_arguments() {
    let d = device();
    let k = kernel(&d);
    let all = d.buffer_from(&(0..64u32).collect::<Vec<_>>()).unwrap();
    let (x, y) = (all.slice(32..64).unwrap(), all.slice(128..160).unwrap());
    k.launch(one()).arg(&x).arg(&y).arg(1u32).run().unwrap();
    let got: Vec<u32> = all.read().unwrap();
    for (i, v) in got.into_iter().enumerate() {
        let i = i as u32;
        let new = if (32..40).contains(&i) {
            i * 3 + (i - 24) + 1
        } else {
            i
        };
        assert_eq!(v, new, "{i}");
    }
    // A surface ends where the part does.
    let short = all.slice(..16).unwrap();
    let e = k
        .launch(one())
        .arg(&short)
        .arg(&y)
        .arg(1u32)
        .run()
        .unwrap_err();
    assert!(
        e.to_string()
            .contains("outside the surface's buffer of 0x10 bytes"),
        "{e}"
    );
    let (end, begin) = (4, 8);
    for (range, what) in [
        (0..257, "not within"),
        (begin..end, "ends before it begins"),
    ] {
        let e = all.slice(range).unwrap_err().to_string();
        assert!(e.contains(what), "{e}");
    }
    assert!(x.overlaps(&all) && !x.overlaps(&y) && !x.overlaps(&d.buffer(8).unwrap()));
    assert!(all.copy_from(&x).is_err());
}

/// Kernel that stores a dword of the payload at the address in the two before it.
fn storing() -> Vec<u8> {
    use gantry_isa_gen::message::{AddrModel, Dir, Message, MsgOp, Rgba, Simd};
    let info = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, addrspace: global}
      - {arg_type: arg_byvalue, offset: 8, size: 4, arg_index: 1}
";
    let m = Message {
        op: MsgOp::Untyped {
            dir: Dir::Write,
            addr: AddrModel::FLAT,
            rgba: Rgba::first(1).unwrap(),
            simd: Simd::S8,
        },
        header: false,
        src0_grfs: 2,
        src1_grfs: 1,
        response_grfs: 0,
        eot: false,
    };
    let mut body = "(W) mov (8|M0) r10.0<1>:uq r2.0<0;1,0>:uq\n\
         (W) mov (8|M0) r12.0<1>:ud r2.2<0;1,0>:ud\n"
        .to_owned();
    body += &text::send(Platform::Gen9, &m, 8, "", "null", ["r10", "r12"]);
    text::zebin(Platform::Gen9, info, &text::whole(&body))
}

/// Memory of each kind is reached by its address, also one that the host passes as a number.
#[test]
fn addresses_are_those_of_host_or_device() {
    let d = device();
    let k = d.load(&storing()).unwrap().kernel("t").unwrap();
    let in_place = HostMemory::from_vec(vec![0u32; 9]);
    let own = in_place.start();
    let in_place = d.buffer_in_place(in_place).unwrap();
    assert_eq!(in_place.map().unwrap().as_ptr(), own);
    let kinds = [MemoryKind::Device, MemoryKind::Host, MemoryKind::Shared];
    let all = kinds.map(|kind| d.memory(36, kind).unwrap());
    for b in all.iter().chain([&in_place]) {
        let address = b.device_address() + 8;
        k.launch(one())
            .arg(Arg::Address(address))
            .arg(77u32)
            .run()
            .unwrap();
        k.launch(one())
            .arg(b.slice(16..).unwrap())
            .arg(78u32)
            .run()
            .unwrap();
        assert_eq!(b.read::<u32>().unwrap(), [0, 0, 77, 0, 78, 0, 0, 0, 0]);
        let (found, at) = d.memory_at(address).unwrap();
        assert_eq!(
            (found.device_address(), found.len(), at),
            (b.device_address(), 36, 8)
        );
        assert!(d.memory_at(b.device_address() + 36).is_none());
    }
    let shared = &all[2];
    assert_eq!(shared.kind(), MemoryKind::Shared);
    let mapping = shared.map().unwrap();
    assert_eq!(
        mapping.as_ptr().addr().get() as u64,
        shared.device_address()
    );
    assert!(mapping.is_direct());
    mapping.unmap().unwrap();
    // Memory that is gone is nobody's, and a kernel faults there.
    let address = all[0].device_address();
    drop(all);
    assert!(d.memory_at(address).is_none());
    let gone = k.launch(one()).arg(Arg::Address(address)).arg(1u32).run();
    assert!(matches!(gone, Err(Error::Fault(_))));
}

#[test]
fn copies_of_rows_and_fills() {
    let d = device();
    let q = queue(&d, Order::InOrder, OnDrop::Wait);
    let from = d.buffer_from(&(0..=255u8).collect::<Vec<_>>()).unwrap();
    let to = d.buffer(100).unwrap();
    q.fill(&to, &[1u8, 2, 3]).unwrap();
    let source = Pitch {
        offset: 17,
        row: 16,
        slice: 64,
    };
    let target = Pitch {
        offset: 2,
        row: 5,
        slice: 20,
    };
    q.copy_rows((&from, source), (&to, target), [3, 4, 2])
        .unwrap();
    let got = q.read::<u8>(&to).unwrap();
    let mut model: Vec<u8> = (0..100).map(|i| 1 + i % 3).collect();
    for (slice, row, x) in
        (0..2).flat_map(|s| (0..4).flat_map(move |r| (0..3).map(move |x| (s, r, x))))
    {
        model[2 + slice * 20 + row * 5 + x] = (17 + slice * 64 + row * 16 + x) as u8;
    }
    assert_eq!(*got.wait().unwrap(), model);
    let beyond = Pitch {
        offset: 80,
        ..target
    };
    assert!(
        q.copy_rows((&from, source), (&to, beyond), [3, 4, 2])
            .is_err()
    );
    let overlap = Pitch { row: 2, ..target };
    assert!(
        q.copy_rows((&from, source), (&to, overlap), [3, 4, 2])
            .is_err()
    );
    let far = Pitch {
        slice: usize::MAX,
        ..target
    };
    assert!(q.copy_rows((&from, source), (&to, far), [3, 4, 2]).is_err());
    assert!(
        q.copy_rows((&from, source), (&to, beyond), [0, 4, 2])
            .is_ok()
    );
    assert!(q.fill::<u8>(&to, &[]).is_err());
    assert!(q.copy(&from, &to).is_err());
    let part: Buffer = to.slice(98..).unwrap();
    part.fill(&[9u8, 8, 7]).unwrap();
    assert_eq!(part.read::<u8>().unwrap(), [9, 8]);
}
