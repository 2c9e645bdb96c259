//! Intel's own driver, without a GPU, as an oracle for zebins and for the Level Zero device.
//!
//! The driver reads its environment when it is loaded, so each question is asked in a process of
//! its own. The process is this test binary, run again with one test and the driver's variables
//! set.

use crate::common::{self, driven, have};
use crate::queue_stress;
use gantry_runtime::{
    AddressMode, Arg, ChannelOrder, ChannelType, Device, DeviceKind, Error, FilterMode, Grid,
    ImageDesc, ImageFormat, ImagePlace, ImageType, ImageView, Local, MemoryKind, Pitch,
    QueueOptions, Sampler,
};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const CHILD: &str = "GANTRY_LEVEL_ZERO_CHILD";

/// Runs one test of this file again, in a scratch directory, under the driver without a GPU.
/// Returns its output.
fn child(test: &str, prints: bool) -> Option<String> {
    if !have("ocloc") {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = driven::again("skl");
    if prints {
        command.env("PrintDebugMessages", "1");
    }
    let text = run(command, test, dir.path());
    let aub = std::fs::read_dir(dir.path())
        .unwrap()
        .any(|e| e.unwrap().path().extension().is_some_and(|e| e == "aub"));
    if text.contains("skipped") {
        return None;
    }
    assert!(aub, "the driver recorded nothing: {text}");
    Some(text)
}

/// Runs one test of this file in a folder, by a command that loads the driver.
fn run(command: Command, test: &str, dir: &Path) -> String {
    driven::run(command, &format!("level_zero::{test}"), (CHILD, "1"), dir)
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Disables a zebin's SPIR-V by changing the section's name and type, so that the driver cannot
/// compile it again.
fn without_spirv(mut zebin: Vec<u8>) -> Vec<u8> {
    let word = |b: &[u8], at: usize, n: usize| {
        b[at..at + n]
            .iter()
            .rev()
            .fold(0usize, |a, b| a << 8 | usize::from(*b))
    };
    let table = word(&zebin, 40, 8);
    for i in 0..word(&zebin, 60, 2) {
        let header = table + i * 64;
        if word(&zebin, header + 4, 4) == 0xff00_0009 {
            // Every reader skips an empty note.
            zebin[header + 4..header + 8].copy_from_slice(&7u32.to_le_bytes());
            zebin[header + 32..header + 40].fill(0);
        }
    }
    zebin
}

fn core_zebin(simd: u32) -> Vec<u8> {
    without_spirv(common::compile("api.cl", simd, "-cl-std=CL2.0"))
}

#[test]
fn takes_launches_of_compiled_kernels() {
    if !is_child() {
        child("takes_launches_of_compiled_kernels", false);
        return;
    }
    let Some(d) = driven::open() else { return };
    assert!(!d.is_simulator());
    assert!(d.name().contains("Level Zero"), "{}", d.name());
    assert_eq!(d.platform(), Some(gantry_isa_gen::Platform::Gen9));
    assert!(!Device::open(DeviceKind::Auto).unwrap().is_simulator());
    for simd in common::WIDTHS {
        let m = d.load(&core_zebin(simd)).unwrap();
        let x = d.buffer_from(&[1f32; 256]).unwrap();
        let y = d.buffer(1024).unwrap();
        let stats = m
            .kernel("saxpy")
            .unwrap()
            .launch(Grid::new([256, 1, 1]).group([64, 1, 1]))
            .arg(&x)
            .arg(&y)
            .arg(2.0f32)
            .arg(256i32)
            .timeout(Duration::from_secs(3600))
            .run()
            .unwrap();
        assert_eq!(u64::from(256 / simd), stats.threads);
        m.kernel("slm_sum")
            .unwrap()
            .launch(Grid::new([256, 1, 1]).group([64, 1, 1]))
            .arg(&x)
            .arg(&y)
            .arg(Local(256))
            .run()
            .unwrap();
        m.kernel("by_value")
            .unwrap()
            .launch(Grid::new([64, 1, 1]).group([64, 1, 1]).offset([64, 0, 0]))
            .arg(&y)
            .arg(Arg::bytes(&[0; 48]))
            .arg([1.0f32, 2.0, 3.0, 0.0])
            .arg(7u8)
            .run()
            .unwrap();
        // The driver takes whole groups only.
        let e = m
            .kernel("vadd")
            .unwrap()
            .launch(Grid::new([100, 1, 1]).group([64, 1, 1]))
            .arg(&x)
            .arg(&x)
            .arg(&y)
            .run()
            .unwrap_err();
        assert!(matches!(e, Error::Grid { .. }), "{e}");
        assert_eq!(y.read::<u8>().unwrap().len(), 1024);
    }
}

/// Graphs of queues on the driver end as the model of `queue_stress` says, but for contents.
#[test]
fn random_graphs_end_on_the_driver() {
    if !is_child() {
        if have("ocloc") {
            let dir = tempfile::tempdir().unwrap();
            let mut command = driven::again("skl");
            // Recording what the GPU would do takes most of the time.
            command
                .env("AUBDumpSubCaptureMode", "2")
                .env("AUBDumpToggleCaptureOnOff", "0");
            println!(
                "{}",
                run(command, "random_graphs_end_on_the_driver", dir.path())
            );
        }
        return;
    }
    let Some(d) = driven::open() else { return };
    graphs_on(&d, "skl");
}

/// The same on Intel's driver of 2026.
#[test]
fn random_graphs_end_on_the_driver_of_2026() {
    const TEST: &str = "random_graphs_end_on_the_driver_of_2026";
    if is_child() {
        let d = Device::open(DeviceKind::LevelZero).unwrap();
        graphs_on(&d, "tgllp");
        return;
    }
    of_2026(TEST, "tgllp");
}

/// Runs one test of this file under the driver of 2026.
fn of_2026(test: &str, product: &str) {
    if !have("ocloc") {
        return;
    }
    let Some(command) = driven::of_2026(product) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    println!("{}", run(command, test, dir.path()));
}

fn graphs_on(d: &Device, product: &str) {
    let source = "kernel void t(global uint *from, global uint *to, uint number) {
        size_t i = get_global_id(0);
        to[i] = to[i] * 3 + from[i] + number;
    }";
    let module = d.load(&without_spirv(common::compile_for(product, source, "")));
    queue_stress::on_driver(d, &module.unwrap().kernel("t").unwrap());
}

/// Images and samplers of products that have samplers are the driver's own: copied, viewed and
/// bound by its calls. It computes nothing here, so contents are not compared.
#[test]
fn images_and_samplers_are_the_drivers() {
    if !is_child() {
        child("images_and_samplers_are_the_drivers", false);
        return;
    }
    let Some(d) = driven::open() else { return };
    images_on(&d, "skl");
}

/// The same on Intel's driver of 2026.
#[test]
fn images_and_samplers_are_those_of_the_driver_of_2026() {
    const TEST: &str = "images_and_samplers_are_those_of_the_driver_of_2026";
    if is_child() {
        let d = Device::open(DeviceKind::LevelZero).unwrap();
        images_on(&d, "tgllp");
        return;
    }
    of_2026(TEST, "tgllp");
}

fn images_on(d: &Device, product: &str) {
    use {ChannelOrder as O, ChannelType as T};
    let format = |order, channel| ImageFormat::new(order, channel).unwrap();
    let queue = d.queue(QueueOptions::default());
    let formats = [O::R, O::Rg, O::Rgba].into_iter().flat_map(|order| {
        let channels = T::ALL.into_iter();
        channels.filter_map(move |channel| ImageFormat::new(order, channel).ok())
    });
    let shapes = [
        ImageDesc::d1(9),
        ImageDesc::d1_array(9, 3),
        ImageDesc::d2(9, 5),
        ImageDesc::d2_array(9, 5, 3),
        ImageDesc::d3(9, 5, 3),
    ];
    let buffer = d.buffer(8192).unwrap();
    for (n, format) in formats.enumerate() {
        let shape = shapes[n % shapes.len()];
        let image = d.image(format, shape).unwrap();
        let bytes = format.texel_bytes() as usize;
        image.write(&vec![1u8; image.byte_len()]).unwrap();
        image.write(&vec![1u8; bytes]).unwrap();
        assert_eq!(image.read::<u8>().unwrap().len(), image.byte_len());
        let size = [
            shape.width(),
            shape.height(),
            shape.depth() * shape.layers(),
        ];
        let place = ImagePlace::default();
        let last = place.at(size.map(|n| n - 1));
        let row = 9 * bytes;
        for pitch in [(row, row * 5), (row + bytes, row * 10)] {
            let pitch = Pitch {
                offset: 16,
                row: pitch.0,
                slice: pitch.1 / pitch.0 * pitch.0,
            };
            queue
                .copy_to_image((&buffer, pitch), (&image, place), size)
                .unwrap();
            queue
                .copy_from_image((&image, place), (&buffer, pitch), size)
                .unwrap();
        }
        queue
            .copy_image((&image, place), (&image, last), [1; 3])
            .unwrap();
        queue
            .fill_image((&image, last), [1; 3], &vec![3u8; bytes])
            .unwrap();
        let copy = d.image(format, shape).unwrap();
        queue
            .copy_image((&image, place), (&copy, place), size)
            .unwrap();
    }
    let end = queue.barrier().unwrap();
    end.wait().unwrap();

    // Views of all texels.
    let array = d
        .image(ImageFormat::RGBA8, ImageDesc::d2_array(8, 8, 1))
        .unwrap();
    let words = format(O::R, T::UnsignedInt32);
    let view = array
        .view(&ImageView::new().ty(ImageType::D2).format(words))
        .unwrap();
    assert_eq!(view.desc(), ImageDesc::d2(8, 8));
    let row = [8, 1, 1];
    let (top, bottom) = (ImagePlace::default(), ImagePlace::default().at([0, 7, 0]));
    array.copy_from(top, &view, bottom, row).unwrap();
    let same = array
        .copy_from(top, &view, top, row)
        .unwrap_err()
        .to_string();
    assert!(same.contains("overlap"), "{same}");

    // What the driver has not.
    let two = d
        .image(ImageFormat::RGBA8, ImageDesc::d2_array(8, 8, 2))
        .unwrap();
    let srgb = format(O::Srgba, T::UnormInt8);
    for (refused, said) in [
        (
            d.image(ImageFormat::RGBA8, ImageDesc::d2(8, 8).with_levels(2)),
            "no levels of detail",
        ),
        (
            d.image(ImageFormat::RGBA8, ImageDesc::cube(8)),
            "no cube image",
        ),
        (d.image(srgb, ImageDesc::d2(8, 8)), "no images of sRGBA"),
        (
            two.view(&ImageView::new().layers(1..)),
            "no views of some of the layers",
        ),
        (d.image_of(&buffer, words, ImageDesc::d2(8, 8)), "images of"),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }

    let source = include_str!("../../../isa-gen/tests/kernels/image.cl");
    let zebin = common::compile_for(product, source, "-cl-std=CL2.0 -DSIMD=16");
    let module = d.load(&without_spirv(zebin)).unwrap();
    let kernel = module.kernel("image_blur").unwrap();
    let grid = Grid::new([16, 8, 1]).group([8, 8, 1]);
    let pictures = [0; 2].map(|_| d.image(ImageFormat::RGBA8, ImageDesc::d2(16, 8)).unwrap());
    let [from, to] = &pictures;
    for sampler in [
        Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest),
        Sampler::new(AddressMode::Clamp, FilterMode::Nearest),
        Sampler::new(AddressMode::Mirror, FilterMode::Linear).normalized(),
        Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest),
    ] {
        let launch = kernel.launch(grid).arg(from).arg(to).arg(sampler);
        assert_eq!(launch.run().unwrap().threads, 8);
    }
    let volume = format(O::Rgba, T::UnsignedInt8);
    let volumes = [0; 2].map(|_| d.image(volume, ImageDesc::d3(8, 4, 4)).unwrap());
    let launch = module
        .kernel("image_3d")
        .unwrap()
        .launch(Grid::new([8, 4, 4]));
    launch.arg(&volumes[0]).arg(&volumes[1]).run().unwrap();
    let launch = queue.launch(
        kernel
            .launch(grid)
            .arg(to)
            .arg(from)
            .arg(Sampler::new(AddressMode::Repeat, FilterMode::Linear)),
    );
    // The images live as long as the launch needs them.
    drop(pictures);
    launch.unwrap().wait().unwrap();
}

/// A grid that no group of the default size divides is launched in smaller ones.
#[test]
fn default_groups_divide_the_grid() {
    if !is_child() {
        child("default_groups_divide_the_grid", false);
        return;
    }
    let Some(d) = driven::open() else { return };
    let kernel = d.load(&core_zebin(16)).unwrap().kernel("vadd").unwrap();
    let x = d.buffer(1024).unwrap();
    for (items, groups) in [(100, 10), (96, 6), (97, 97)] {
        let launch = kernel.launch(Grid::new([items, 1, 1]));
        let stats = launch.arg(&x).arg(&x).arg(&x).run().unwrap();
        assert_eq!(stats.threads, groups);
    }
}

/// A device lets commands of several queues go on, copies among its memory, and measures them.
#[test]
fn copies_and_fills_are_the_drivers() {
    if !is_child() {
        child("copies_and_fills_are_the_drivers", false);
        return;
    }
    let Some(d) = driven::open() else { return };
    let queue = d.queue(QueueOptions::default());
    let kinds = [MemoryKind::Device, MemoryKind::Host, MemoryKind::Shared];
    let buffers = kinds.map(|k| d.memory(4096, k).unwrap());
    for to in &buffers {
        for pattern in [&[1u8][..], &[1, 2], &[1, 2, 3], &[5; 16], &[6; 32]] {
            queue.fill(to, pattern).unwrap();
        }
        for from in &buffers {
            if from.overlaps(to) {
                continue;
            }
            let part = from.slice(64..1000).unwrap();
            queue.copy(&part, to).unwrap();
            let rows = |offset, row, slice| Pitch { offset, row, slice };
            for (a, b, size) in [
                (rows(0, 64, 1024), rows(8, 32, 256), [16, 4, 3]),
                (rows(0, 64, 1024), rows(8, 32, 100), [16, 4, 2]),
                (rows(3, 0, 0), rows(5, 0, 0), [7, 1, 1]),
            ] {
                queue.copy_rows((from, a), (to, b), size).unwrap();
            }
        }
    }
    let end = queue.barrier().unwrap();
    end.wait().unwrap();
    let times = end.times().unwrap();
    assert!(times.start <= times.end && times.end <= d.time());
}

#[test]
fn a_broken_zebin_is_refused_in_the_drivers_words() {
    if !is_child() {
        child("a_broken_zebin_is_refused_in_the_drivers_words", true);
        return;
    }
    let Some(d) = driven::open() else { return };
    let good = core_zebin(16);
    assert!(d.load(&good).is_ok());
    let broken = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = good
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        let mut b = good.clone();
        b[at..at + from.len()].copy_from_slice(to.as_bytes());
        d.load(&b).unwrap_err()
    };
    for (from, to, said) in [
        (
            "arg_bypointer",
            "arg_bypointex",
            "Unhandled \"arg_bypointex\" argument type",
        ),
        ("simd_size:", "simd_sizx:", "Invalid simd size"),
    ] {
        let e = broken(from, to);
        assert!(
            matches!(
                e,
                Error::Driver {
                    call: "zeModuleCreate",
                    ..
                }
            ),
            "{e}"
        );
        assert!(e.to_string().contains(said), "{e}");
    }
}

#[test]
fn without_a_driver_the_error_says_what_was_looked_for() {
    // The process has no debug keys: on a machine without a GPU nothing opens.
    if Path::new("/dev/dri").exists() {
        println!("skipped: this machine may have a GPU");
        return;
    }
    match Device::open(DeviceKind::LevelZero) {
        Ok(_) if is_child() || std::env::var_os("NEOReadDebugKeys").is_some() => {}
        Ok(d) => panic!("{} opened", d.name()),
        Err(e) => assert!(e.to_string().contains("ze_loader"), "{e}"),
    }
    let auto = Device::open(DeviceKind::Auto).unwrap();
    if std::env::var_os("NEOReadDebugKeys").is_none() {
        assert!(auto.is_simulator());
    }
}

/// A driver of several GPUs: each is found and opened, by index and by name.
#[test]
fn every_gpu_is_found() {
    if !is_child() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = driven::again("skl");
        command.env("CreateMultipleRootDevices", "3");
        println!("{}", run(command, "every_gpu_is_found", dir.path()));
        return;
    }
    if driven::open().is_none() {
        return;
    }
    let all = Device::all();
    let gpus = all.iter().filter(|d| !d.is_simulator()).count();
    assert_eq!(gpus, 3);
    for (n, gpu) in all.iter().take(gpus).enumerate() {
        let named = Device::named(&format!("level-zero:{n}")).unwrap();
        assert_eq!(named.name(), gpu.name());
        assert!(!Device::nth(n).unwrap().is_simulator());
        let buffer = gpu.buffer(64).unwrap();
        assert_eq!(buffer.len(), 64);
    }
    assert!(Device::nth(gpus).unwrap().is_simulator());
    let error = Device::named("level-zero:3").unwrap_err().to_string();
    assert!(
        error.contains("3 GPUs; there is none of index 3"),
        "{error}"
    );
}
