//! Description of a shader in its zebin, which is all that a host needs: bindings of resources,
//! group size, and sizes that are asked for.

use gantry::codegen::{CompileOptions, Context};
use gantry::runtime::zebin::{ArgRole, Resource};
use gantry::runtime::{CodeCache, Device, DeviceKind, Kernel};
use gantry::spirv::Options;
use gantry::{compile_wgsl_cached, translate_wgsl};

const TEXT: &str = "
struct Params { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(1) @binding(3) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(16, 2)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x + 32u * id.y;
    if n < arrayLength(&y) { y[n] = params.a * x[n] + y[n] * f32(params.n); }
}
";

fn device() -> (Device, CompileOptions) {
    let device = Device::open(DeviceKind::Auto).unwrap();
    let target = CompileOptions::for_device(&device.info()).unwrap();
    (device, target)
}

fn saxpy(device: &Device, target: &CompileOptions) -> Kernel {
    let zebin = gantry::compile_wgsl(TEXT, &Options::default(), target)
        .unwrap()
        .zebin;
    device.load(&zebin).unwrap().kernel("saxpy").unwrap()
}

#[test]
fn by_place_and_by_number() {
    let (device, target) = device();
    let kernel = saxpy(&device, &target);
    assert_eq!(kernel.group_size(), Some([16, 2, 1]));
    let params = device.buffer_from(&[2.0, f32::from_bits(4)]).unwrap();
    let x: Vec<f32> = (0..50).map(|i| i as f32).collect();
    let x = device.buffer_from(&x).unwrap();
    let y = || device.buffer_from(&[3.0f32; 50]).unwrap();
    let want: Vec<f32> = (0..50).map(|i| 2.0 * i as f32 + 12.0).collect();

    let bound = y();
    let launch = kernel.dispatch([2, 1, 1]);
    let launch = launch.bind(1, 3, &bound).bind(0, 1, &x);
    launch.bind(0, 0, &params).run().unwrap();
    assert_eq!(bound.read::<f32>().unwrap(), want);

    let numbered = y();
    let launch = kernel.dispatch([2, 1, 1]);
    let launch = launch.arg(&params).arg(&x).arg(&numbered);
    launch.run().unwrap();
    assert_eq!(numbered.read::<f32>().unwrap(), want);
}

#[test]
fn what_is_bound_wrongly() {
    let (device, target) = device();
    let kernel = saxpy(&device, &target);
    let b = device.buffer(64).unwrap();
    let launch = || kernel.dispatch([1, 1, 1]);
    let all = || launch().bind(0, 0, &b).bind(0, 1, &b).bind(1, 3, &b);
    all().run().unwrap();
    let has = "it has 0,0 \"params\" uniform buffer of 8 bytes or more; 0,1 \"x\" storage buffer of 4 bytes or more; \
               1,3 \"y\" storage buffer of 4 bytes or more";
    let few = device.buffer(4).unwrap();
    for (launch, said) in [
        (
            launch().bind(0, 0, &b).bind(0, 1, &b),
            format!("nothing is bound at binding 1,3: {has}"),
        ),
        (
            all().bind(2, 0, &b),
            format!("it has no binding 2,0: {has}"),
        ),
        (
            all().bind_element(0, 1, 1, &b),
            format!("it has no binding 0,1,1: {has}"),
        ),
        (
            all().push_constants(1u32),
            format!("it has no push constants: {has}"),
        ),
        (
            all().bind(0, 1, &b),
            "two arguments are bound at binding 0,1".to_owned(),
        ),
        (
            all().arg(&b),
            "arguments are given by number and by binding in one launch".to_owned(),
        ),
        (
            launch().bind(0, 0, &few).bind(0, 1, &b).bind(1, 3, &b),
            "4 bytes are too few: 0,0 \"params\" uniform buffer of 8 bytes or more".to_owned(),
        ),
    ] {
        let e = launch.run().unwrap_err().to_string();
        assert_eq!(e, format!("kernel `saxpy`: {said}"));
    }
    let e = launch().bind(0, 0, 1u32).bind(0, 1, &b).bind(1, 3, &b);
    let e = e.run().unwrap_err().to_string();
    assert_eq!(
        e,
        "kernel `saxpy`, argument 0 (`params`): expected a buffer, got a value of 4 bytes"
    );
    let e = launch().arg(&b).run().unwrap_err().to_string();
    assert_eq!(e, "kernel `saxpy` takes 3 arguments, 1 was given");
    let groups = kernel.dispatch([1 << 28, 1, 1]).bind(0, 0, &b);
    let e = groups.bind(0, 1, &b).bind(1, 3, &b).run().unwrap_err();
    assert!(e.to_string().contains("more than 32 bits count"), "{e}");
}

#[test]
fn a_hit_needs_no_front_end() {
    let (device, target) = device();
    let dir = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(dir.path()).unwrap();
    let options = Options::default();
    let compile =
        |text: &str| compile_wgsl_cached(&cache, &mut Context::new(), text, &options, &target);
    let first = compile(TEXT).unwrap();
    let again = compile(TEXT).unwrap();
    assert!(!first.is_hit() && again.is_hit() && first[..] == again[..]);
    let kernel = device.load(&again).unwrap().kernel("saxpy").unwrap();
    let uniform = |r| {
        matches!(
            r,
            ArgRole::Resource(_, Resource::UniformBuffer { least: 8 })
        )
    };
    assert!(kernel.args().iter().any(|a| uniform(a.role)));

    // An entry is found even if no front end accepts its text.
    assert!(compile("no WGSL").is_err());
    let key = gantry::spirv::wgsl_cache_key("no WGSL", &options, &target);
    cache.put(key.as_bytes(), &first).unwrap();
    assert!(compile("no WGSL").unwrap().is_hit());
}

/// The text of the IR has the same information.
#[test]
fn by_way_of_text() {
    let module = translate_wgsl(TEXT, &Options::default()).unwrap().module;
    let text = module.to_string();
    assert!(text.contains("\"x\" binding(0, 1) storage read 4, i32 \"x.size\" size_of 1"));
    assert_eq!(gantry::codegen::text::parse(&text).unwrap().module, module);
}
