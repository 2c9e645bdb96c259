//! Launches of our kernels by Intel's own driver, without a GPU: with images, which are the
//! driver's where there is a sampler and in memory where there is none, and on grids that are no
//! multiple of the group. The driver computes nothing here.
//!
//! The driver reads its environment when it is loaded, so each product runs in a process of its
//! own. The process is this test binary, run again.

use crate::driven;
use gantry_codegen::ir::Module;
use gantry_codegen::{CompileOptions, Target, compile, text};
use gantry_runtime::{
    AddressMode, Device, Error, FilterMode, Grid, ImageDesc, ImageFormat, ImageType, ImageView,
    Sampler, SimOptions,
};
use std::process::Command;

const CHILD: &str = "GANTRY_LAUNCHED_CHILD";

/// Kernels. `global_id` stands for the instructions that compute it along an axis: to `v8`, `v16`
/// or `v24`.
const KERNELS: &str = "
kernel %blur(i32 image2d read, i32 sampler, i32 image2d write) simd16 {
block0(v0: i32, v1: i32, v2: i32):
    v3 = vconst.i32x4 [0, 1, 0, 1]
    v4 = vconst.i32x4 [0, 0, 1, 1]
    v5 = image_load.f32x16 image 0 (v3, v4)
    v6 = vconst.f32x4 [0.5, 0.25, 0.75, 0.5]
    v7 = sample.f32x16 image 0 sampler 0 (v6, v6)
    v8 = fadd v5, v7
    image_store image 1 (v3, v4), v8
    return
}

; Neither the image nor the sampler is read.
kernel %unread(i64 ptr, i32 image2d read, i32 sampler, i32) simd16 {
block0(v0: i64, v1: i32, v2: i32, v3: i32):
    bstore v3, v0
    return
}

; What a work-item does depends on its global id alone.
kernel %fill(i64 ptr) simd16 {
block0(v0: i64):
    global_id x
    v9 = sextend.i64x16 v8
    v10 = iconst.i64x16 2
    v11 = ishl v9, v10
    v12 = rdregion.i64x16 v0, <0;1,0>, 0
    v13 = iadd v12, v11
    v14 = dispatch_mask.b1x16
    store v8, v13, mask v14
    return
}

; Global and local ids, in all dimensions.
kernel %items(i64 ptr) simd16 {
block0(v0: i64):
    global_id x
    global_id y
    global_id z
    v25 = iconst.i32x16 32
    v26 = iconst.i32x16 8
    v27 = imad v24, v26, v16
    v28 = imad v27, v25, v8
    v29 = iconst.i32x16 16
    v30 = imad v23, v29, v15
    v31 = imad v30, v29, v7
    v32 = iconst.i32x16 65536
    v33 = imad v31, v32, v28
    v34 = sextend.i64x16 v28
    v35 = iconst.i64x16 2
    v36 = ishl v34, v35
    v37 = rdregion.i64x16 v0, <0;1,0>, 0
    v38 = iadd v37, v36
    v39 = dispatch_mask.b1x16
    store v33, v38, mask v39
    return
}

; And here on the number of its group.
kernel %groups(i64 ptr) simd16 {
block0(v0: i64):
    v1 = group_id.i32 x
    bstore v1, v0
    return
}
";

fn kernels() -> Module {
    let mut source = KERNELS.to_owned();
    for (axis, v) in [("x", 1), ("y", 9), ("z", 17)] {
        let [size, offset, first, all, local, wide, id] = [1, 2, 3, 4, 5, 6, 7].map(|n| v + n);
        let id = format!(
            "v{v} = group_id.i32 {axis}
             v{size} = local_size.i32 {axis}
             v{offset} = global_offset.i32 {axis}
             v{first} = imad v{v}, v{size}, v{offset}
             v{all} = rdregion.i32x16 v{first}, <0;1,0>, 0
             v{local} = local_id.i16x16 {axis}
             v{wide} = uextend.i32x16 v{local}
             v{id} = iadd v{all}, v{wide}"
        );
        source = source.replace(&format!("global_id {axis}\n"), &format!("{id}\n"));
    }
    text::parse(&source).unwrap().module
}

/// Launches the kernels on the driver's device.
fn launch_all(name: &str) {
    let Some(d) = driven::open() else { return };
    let target = Target::lookup(name).unwrap();
    let module = kernels();
    let compiled = compile(&module, &CompileOptions::new(target.clone())).unwrap();
    let m = d.load(&compiled.zebin).unwrap();

    let in_memory = !target.features().sampler;
    let [from, to] = [0; 2].map(|_| d.image(ImageFormat::RGBA8, ImageDesc::d2(8, 8)).unwrap());
    let sampler = Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear).normalized();
    let blur = m.kernel("blur").unwrap();
    let grid = Grid::new([16, 1, 1]);
    blur.launch(grid)
        .arg(&from)
        .arg(sampler)
        .arg(&to)
        .run()
        .unwrap();
    // Views of images in memory are of any levels and layers.
    let desc = ImageDesc::d2_array(8, 8, 3);
    if in_memory {
        let array = d.image(ImageFormat::RGBA8, desc.with_levels(3)).unwrap();
        let view = ImageView::new().ty(ImageType::D2).layers(1..2).levels(1..);
        let part = array.view(&view).unwrap();
        blur.launch(grid)
            .arg(&part)
            .arg(sampler)
            .arg(&to)
            .run()
            .unwrap();
    } else {
        let error = d
            .image(ImageFormat::RGBA8, desc.with_levels(3))
            .unwrap_err();
        assert!(error.to_string().contains("levels"), "{error}");
    }

    let out = d.buffer(8192).unwrap();
    let unread = m.kernel("unread").unwrap().launch(grid);
    unread
        .arg(&out)
        .arg(&from)
        .arg(sampler)
        .arg(7i32)
        .run()
        .unwrap();
    let fill = m.kernel("fill").unwrap();
    for (items, group, threads) in [(100, 32, 7), (100, 64, 7), (7, 16, 1), (64, 32, 4)] {
        let grid = Grid::new([items, 1, 1])
            .group([group, 1, 1])
            .offset([8, 0, 0]);
        let stats = fill.launch(grid).arg(&out).run().unwrap();
        assert_eq!(stats.threads, threads, "{name}: {items} by {group}");
    }
    let edges = Grid::new([21, 3, 5]).group([4, 2, 2]);
    // Two sizes along each dimension: as many threads as groups.
    let items = m.kernel("items").unwrap();
    let stats = items.launch(edges).arg(&out).run().unwrap();
    assert_eq!(stats.threads, 6 * 2 * 3, "{name}");
    let groups = m.kernel("groups").unwrap();
    let grid = Grid::new([100, 1, 1]).group([32, 1, 1]);
    let error = groups.launch(grid).arg(&out).run().unwrap_err();
    assert!(matches!(error, Error::Grid { .. }), "{error}");
    let said = "not known to do the same in launches of parts";
    assert!(error.to_string().contains(said), "{error}");
    println!("{name}: the driver launches");
}

/// Launches of parts of a grid do together what one launch of all does.
#[test]
fn parts_of_a_grid_do_what_one_launch_does() {
    let module = kernels();
    let (all, group, offset) = ([21, 3, 5], [4, 2, 2], [3, 1, 2]);
    for target in Target::all() {
        let name = target.name();
        let compiled = compile(&module, &CompileOptions::new(target.clone())).unwrap();
        let d = Device::simulator(SimOptions {
            platform: target.platform(),
            ..SimOptions::default()
        });
        let m = d.load(&compiled.zebin).unwrap();
        let kernel = m.kernel("items").unwrap();
        let [one, parts] = [0; 2].map(|_| d.buffer(4 * 32 * 8 * 8).unwrap());
        let launch = |grid: Grid, out| kernel.launch(grid).arg(out).run().unwrap();
        launch(Grid::new(all).group(group).offset(offset), &one);
        let cut = |n: usize| {
            let edge = all[n] % group[n];
            let whole = all[n] - edge;
            [(whole, group[n], 0), (edge, edge, whole)]
        };
        for x in cut(0) {
            for y in cut(1) {
                for z in cut(2) {
                    let at = [x.2 + offset[0], y.2 + offset[1], z.2 + offset[2]];
                    let grid = Grid::new([x.0, y.0, z.0]).group([x.1, y.1, z.1]);
                    launch(grid.offset(at), &parts);
                }
            }
        }
        let [one, parts] = [one, parts].map(|b| b.read::<u32>().unwrap());
        assert_eq!(one, parts, "{name}");
        let written = one.iter().filter(|v| **v != 0).count();
        assert_eq!(written as u32, all.iter().product::<u32>(), "{name}");
    }
}

fn is_child() -> bool {
    match std::env::var(CHILD) {
        Ok(name) => {
            launch_all(&name);
            true
        }
        Err(_) => false,
    }
}

/// Runs a test of this file again by a command that loads the driver.
fn run(command: Command, test: &str, name: &str) {
    let test = format!("driver_launches::{test}");
    driven::run_for_line(command, &test, (CHILD, name), "the driver launches");
}

#[test]
fn images_and_edges_are_launched() {
    if is_child() {
        return;
    }
    for name in driven::DRIVEN {
        run(driven::again(name), "images_and_edges_are_launched", name);
    }
}

/// The same on Intel's driver of 2026, which has no products before Xe.
#[test]
fn images_and_edges_are_launched_by_the_driver_of_2026() {
    if is_child() {
        return;
    }
    for name in ["tgllp", "dg2", "pvc"] {
        if let Some(command) = driven::of_2026(name) {
            run(
                command,
                "images_and_edges_are_launched_by_the_driver_of_2026",
                name,
            );
        }
    }
}
