//! Tests of the device on the fake driver.

use super::super::api::{DEVICE_LOST, Handle, NOT_READY};
use super::super::ffi::{
    Dispatch, DriverArg, DriverDesc, DriverImage, DriverModule, Gpu, Memory, TexelBox, WaitError,
};
use super::{alive, of};
use crate::buffer::{MemoryKind, Pitch};
use crate::control::{Cancel, Span, StopSignals};
use crate::error::Stopped;
use crate::image::Direction;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn launch(
    m: &DriverModule,
    memory: &Memory,
    signals: StopSignals<'_>,
) -> Result<Option<Span>, WaitError> {
    m.launch(&DISPATCH, &[DriverArg::Pointer(memory.address())], signals)
}

const DISPATCH: Dispatch<'static> = Dispatch {
    kernel: "k",
    group: [1; 3],
    groups: [1; 3],
    offset: [0; 3],
    prints: false,
};

/// Returns signals that stop a wait at once.
fn late() -> StopSignals<'static> {
    StopSignals {
        deadline: Some(Instant::now()),
        ..StopSignals::default()
    }
}

fn opened() -> (Arc<Gpu>, Handle) {
    let gpu = Gpu::fake().unwrap();
    let context = gpu.context();
    (gpu, context)
}

fn memory(gpu: &Arc<Gpu>) -> Memory {
    Memory::new(gpu, 64, MemoryKind::Device).unwrap()
}

fn right(context: Handle) {
    let mistakes = of(context, |b| b.mistakes.clone());
    assert!(mistakes.is_empty(), "{mistakes:?}");
}

fn whole_context(context: Handle) {
    right(context);
    assert_eq!(alive(context), [""; 0]);
}

#[test]
fn kernels_and_lists_are_made_once() {
    let (gpu, context) = opened();
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    let memory = memory(&gpu);
    let mut last = 0;
    for _ in 0..10 {
        let measured = launch(&m, &memory, StopSignals::default()).ok().flatten();
        let measured = measured.unwrap();
        assert!(measured.start >= last && measured.end > measured.start);
        last = measured.end;
        memory.write(0, vec![1; 64]).unwrap();
        memory.fill(0, 64, &[1, 2, 3, 4]).unwrap();
        memory.read(0, &mut [0; 64]).unwrap();
    }
    let created = of(context, |b| b.created.clone());
    for kind in ["kernel", "list", "event", "event pool", "module"] {
        assert_eq!(created.get(kind), Some(&1), "{kind}: {created:?}");
    }
    drop((m, memory, gpu));
    whole_context(context);
}

#[test]
fn what_a_launch_uses_outlives_a_wait_that_is_given_up() {
    let (gpu, context) = opened();
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    let [used, other] = [0; 2].map(|_| memory(&gpu));
    let wait = |code| of(context, |b| b.waits = code);
    wait(NOT_READY);
    let end = launch(&m, &used, late());
    assert!(matches!(end, Err(WaitError::Stopped(Stopped::Deadline))));
    let cancel = Cancel::new();
    cancel.cancel();
    let cancelled = StopSignals {
        queue: Some(&cancel),
        ..StopSignals::default()
    };
    let end = launch(&m, &used, cancelled);
    assert!(matches!(end, Err(WaitError::Stopped(Stopped::Cancelled))));
    drop((m, used));
    assert_eq!(of(context, |b| b.destroyed.clone()), [""; 0]);
    // The GPU has ended both: the next command sees it.
    wait(0);
    other.write(0, vec![1]).unwrap();
    let destroyed = of(context, |b| b.destroyed.clone());
    assert_eq!(destroyed, ["kernel", "kernel", "module", "memory"]);
    drop((other, gpu));
    whole_context(context);

    // The GPU has not ended when its last handle is dropped: everything stays.
    let (gpu, context) = opened();
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    let used = memory(&gpu);
    of(context, |b| b.waits = NOT_READY);
    assert!(launch(&m, &used, late()).is_err());
    drop((m, used, gpu));
    right(context);
    let left = alive(context);
    for kind in ["kernel", "list", "memory", "module", "context"] {
        assert!(left.contains(&kind), "{kind} of {left:?}");
    }
}

#[test]
fn failures_name_the_call_and_a_lost_device_stays_lost() {
    let (gpu, context) = opened();
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    let memory = memory(&gpu);
    of(context, |b| b.submits = 0x7000_0003);
    let error = memory.write(0, vec![1]).unwrap_err().to_string();
    let said = ["zeCommandListAppendMemoryCopy", "OUT_OF_DEVICE_MEMORY"];
    assert!(said.iter().all(|s| error.contains(s)), "{error}");
    let Err(WaitError::Error(error)) = launch(&m, &memory, StopSignals::default()) else {
        panic!("a launch that was not submitted has ended");
    };
    let said = "zeCommandListAppendLaunchKernel";
    assert!(error.to_string().contains(said), "{error}");
    // What was refused has ended: the device goes on.
    of(context, |b| b.submits = 0);
    memory.write(0, vec![1]).unwrap();
    of(context, |b| b.waits = DEVICE_LOST);
    for _ in 0..2 {
        let error = memory.read(0, &mut [0]).unwrap_err().to_string();
        let said = ["zeEventHostSynchronize", "DEVICE_LOST"];
        assert!(said.iter().all(|s| error.contains(s)), "{error}");
        of(context, |b| b.waits = 0);
    }
    drop((m, memory, gpu));
    whole_context(context);

    // A submission may be what finds it.
    let (gpu, context) = opened();
    let memory = self::memory(&gpu);
    of(context, |b| b.submits = DEVICE_LOST);
    assert!(memory.write(0, vec![1]).is_err());
    of(context, |b| b.submits = 0);
    let error = memory.write(0, vec![1]).unwrap_err().to_string();
    assert!(error.contains("lost by an earlier command"), "{error}");
    drop((memory, gpu));
    whole_context(context);
}

/// Images, views and samplers are arguments and copied, and outlive what uses them.
#[test]
fn images_are_copied_and_outlive_what_uses_them() {
    let (gpu, context) = opened();
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    let memory = self::memory(&gpu);
    // An array of four rows of 4 texels, of 4 bytes each.
    let rows = DriverDesc {
        ty: 1,
        layout: 4,
        component: 2,
        swizzle: [0, 1, 2, 3],
        size: [4, 1, 1],
        layers: 4,
    };
    let image = Arc::new(DriverImage::new(&gpu, rows).unwrap());
    let whole = TexelBox {
        origin: [0; 3],
        size: [4, 4, 1],
    };
    let row = |y| TexelBox {
        origin: [0, y, 0],
        size: [4, 1, 1],
    };
    image.write(whole, vec![7; 64]).unwrap();
    image.read(whole, &mut [0; 64]).unwrap();
    for direction in [Direction::ToImage, Direction::ToBuffer] {
        image
            .copy_packed(direction, whole, (&memory, 0, 64))
            .unwrap();
        image
            .copy_packed(direction, row(3), (&memory, 48, 16))
            .unwrap();
        let beyond = image.copy_packed(direction, row(0), (&memory, 49, 16));
        assert!(beyond.is_err());
    }
    image.copy_from(row(0), &image, row(2)).unwrap();
    let words = DriverDesc {
        layout: 2,
        component: 0,
        ..rows
    };
    let view = image.view(words).unwrap();
    assert_eq!(view.texels(), image.texels());
    assert_ne!(view.handle(), image.handle());
    let sampler = gpu.sampler([2, 1, 1]).unwrap();
    assert_eq!(gpu.sampler([2, 1, 1]).unwrap(), sampler);
    assert_ne!(gpu.sampler([2, 0, 1]).unwrap(), sampler);

    let args = [
        DriverArg::Object(view.handle()),
        DriverArg::Object(sampler),
        DriverArg::Pointer(memory.address()),
    ];
    assert!(m.launch(&DISPATCH, &args, StopSignals::default()).is_ok());
    of(context, |b| b.waits = NOT_READY);
    assert!(m.launch(&DISPATCH, &args, late()).is_err());
    drop((view, image));
    let destroyed = of(context, |b| b.destroyed.clone());
    assert!(!destroyed.contains(&"image"), "{destroyed:?}");
    of(context, |b| b.waits = 0);
    memory.write(0, vec![1]).unwrap();
    let destroyed = of(context, |b| b.destroyed.clone());
    let images = destroyed.iter().filter(|kind| **kind == "image").count();
    assert_eq!(images, 2, "{destroyed:?}");
    drop((m, memory, gpu));
    whole_context(context);
}

/// Threads that launch, copy and give up, over a driver that is slow.
#[test]
fn commands_of_several_threads_are_with_the_driver_at_once() {
    let (gpu, context) = opened();
    of(context, |b| b.slow = 3);
    let m = DriverModule::new(&gpu, &[0]).unwrap();
    std::thread::scope(|s| {
        for thread in 0..4u64 {
            let (gpu, m) = (&gpu, &m);
            s.spawn(move || {
                for n in 0..200 {
                    let [a, b] = [0; 2].map(|_| memory(gpu));
                    let given_up = (n + thread) % 7 == 0;
                    let signals = StopSignals {
                        deadline: given_up.then(Instant::now),
                        ..StopSignals::default()
                    };
                    let end = launch(m, &a, signals);
                    assert!(end.is_ok() || given_up);
                    b.copy_from(0, &a, 0, 64).unwrap();
                    let rows = Pitch {
                        offset: 0,
                        row: 16,
                        slice: 64,
                    };
                    let copied = b.copy_rows_from(rows, &a, rows, [8, 4, 1]);
                    assert!(copied.unwrap().is_ok());
                    b.fill(0, 60, &[1, 2, 3]).unwrap();
                    b.read(0, &mut [0; 64]).unwrap();
                }
            });
        }
    });
    let (most, created) = of(context, |b| (b.most_at_once, b.created.clone()));
    assert!(most > 1, "{most}");
    // As many lists as commands at once, those given up among them, and no more.
    assert!(created["list"] < 400, "{created:?}");
    std::thread::sleep(Duration::from_millis(1));
    drop((m, gpu));
    whole_context(context);
}
