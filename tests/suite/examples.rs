//! Hosts of `examples/`, run as they are on whatever device there is.

#[path = "../../examples/builder.rs"]
mod builder;
#[cfg(feature = "wgsl")]
#[path = "../../examples/cache.rs"]
#[expect(
    dead_code,
    reason = "`main` has a directory of its own, tests give `run` one"
)]
mod cache;
#[path = "../../examples/embed.rs"]
mod embed;
#[path = "../../examples/spirv.rs"]
#[expect(
    dead_code,
    reason = "`main` takes a file, which the tests give to `run`"
)]
mod spirv;
#[cfg(feature = "wgsl")]
#[path = "../../examples/wgsl.rs"]
mod wgsl;

#[cfg(feature = "cli")]
#[path = "../../examples/zebin.rs"]
#[expect(
    dead_code,
    reason = "`main` takes a file, which the tests give to `run`"
)]
pub(crate) mod zebin;

/// A host of Gantry fits on a screen.
#[test]
fn are_short() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in ["builder.rs", "cache.rs", "spirv.rs", "wgsl.rs", "zebin.rs"] {
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(text.lines().count() <= 30, "{name}");
    }
}

#[test]
fn the_builder() {
    builder::main().unwrap();
}

#[test]
fn the_least() {
    embed::main().unwrap();
}

#[cfg(feature = "wgsl")]
#[test]
fn wgsl_by_bindings() {
    wgsl::main().unwrap();
}

#[cfg(feature = "wgsl")]
#[test]
fn spirv_from_a_file() {
    let words = gantry::spirv::wgsl::to_spirv(
        "
        @group(0) @binding(0) var<storage, read> x: array<f32, 64>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32, 64>;
        @compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3<u32>) {
            y[id.x] += x[id.x];
        }",
    )
    .unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(spirv::run(&bytes).unwrap(), [2.5; 64]);
    assert!(spirv::run(&bytes[1..]).is_err());
}

#[cfg(feature = "wgsl")]
#[test]
fn cached_code() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!cache::run(dir.path()).unwrap());
    assert!(cache::run(dir.path()).unwrap());
}
