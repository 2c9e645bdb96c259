//! Devices by product, by name and by index, and what a strict simulator refuses.

use crate::common::{compile_for, have};
use gantry_isa_gen::{Platform, Product};
use gantry_runtime::{Device, Grid, SimOptions};

const COPY: &str = "kernel void copy(global uint *to) { to[get_global_id(0)] = get_local_id(0); }
kernel __attribute__((intel_reqd_sub_group_size(8))) void copy8(global uint *to)
{ to[get_global_id(0)] = get_local_id(0); }";

/// Returns a simulator that refuses what a GPU of the product would.
fn strict(name: &str) -> Device {
    Device::simulator(SimOptions {
        strict: true,
        ..SimOptions::of(Product::from_name(name).unwrap())
    })
}

#[test]
fn devices_are_named_and_counted() {
    let all = Device::all();
    let simulators: Vec<&Device> = all.iter().filter(|d| d.is_simulator()).collect();
    assert_eq!(simulators.len(), Device::simulated_products().count());
    for (d, product) in simulators.iter().zip(Device::simulated_products()) {
        assert_eq!(d.info().product, Some(product));
        assert_eq!(d.platform(), Some(product.platform));
        let named = Device::named(product.name()).unwrap();
        assert_eq!(named.info(), d.info());
    }
    let last = Device::nth(all.len() - 1).unwrap();
    assert_eq!(last.info(), all.last().unwrap().info());
    let by_number = Device::named(&(all.len() - 1).to_string()).unwrap();
    assert_eq!(by_number.info(), last.info());
    let error = Device::nth(all.len()).unwrap_err().to_string();
    assert!(
        error.contains(&format!("there are {} devices", all.len())),
        "{error}"
    );
    for name in ["", "hsw", "level-zero:x", "sim:skl"] {
        let error = Device::named(name).unwrap_err().to_string();
        assert!(error.contains("tgllp"), "{error}");
    }
    let sim = Device::named("sim").unwrap().info();
    assert_eq!((sim.product, sim.platform), (None, Some(Platform::Gen9)));
    assert_eq!(sim.limits.unwrap().group_threads, 64);
}

#[test]
fn groups_fit_the_product() {
    if !have("ocloc") {
        return;
    }
    for (name, threads, items) in [("skl", 56, 256), ("bxt", 36, 256), ("tgllp", 64, 512)] {
        let zebin = compile_for(name, COPY, "");
        let launch = |device: &Device, group: u32| {
            let buffer = device.buffer(4 * group as usize).unwrap();
            let kernel = device.load(&zebin).unwrap().kernel("copy8").unwrap();
            let grid = Grid::new([group, 1, 1]).group([group, 1, 1]);
            kernel.launch(grid).arg(&buffer).run().map(|_| ())
        };
        let device = Device::named(name).unwrap();
        launch(&device, 8 * threads).unwrap();
        let error = launch(&device, 8 * threads + 1).unwrap_err().to_string();
        let expected = format!("at most {threads} threads of 8 channels");
        assert!(error.contains(&expected), "{name}: {error}");
        let device = strict(name);
        launch(&device, items).unwrap();
        if items < 8 * threads {
            let error = launch(&device, items + 8).unwrap_err().to_string();
            assert!(error.contains(&format!("takes {items} at most")), "{error}");
        }
    }
}

#[test]
fn a_strict_device_refuses_what_is_not_its_own() {
    if !have("ocloc") {
        return;
    }
    let zebin = compile_for("kbl", COPY, "");
    strict("kbl").load(&zebin).unwrap();
    let error = strict("skl").load(&zebin).unwrap_err().to_string();
    assert!(error.contains("compiled for kbl"), "{error}");
    // One that has no product runs its generation.
    let of_gen9 = SimOptions {
        strict: true,
        ..SimOptions::default()
    };
    Device::simulator(of_gen9).load(&zebin).unwrap();
    let tgl = compile_for("tgllp", COPY, "");
    let error = Device::simulator(of_gen9)
        .load(&tgl)
        .unwrap_err()
        .to_string();
    assert!(error.contains("compiled for tgllp"), "{error}");
    Device::named("skl").unwrap().load(&tgl).unwrap();
    // Twice the GRFs are half the threads.
    let large = compile_for("dg2", COPY, "-cl-intel-256-GRF-per-thread");
    let device = strict("dg2");
    let kernel = device.load(&large).unwrap().kernel("copy8").unwrap();
    let buffer = device.buffer(4096).unwrap();
    let launch = |group| {
        let grid = Grid::new([group, 1, 1]).group([group, 1, 1]);
        kernel.launch(grid).arg(&buffer).run()
    };
    launch(512).unwrap();
    let error = launch(520).unwrap_err().to_string();
    assert!(error.contains("a subslice holds 64"), "{error}");
}
