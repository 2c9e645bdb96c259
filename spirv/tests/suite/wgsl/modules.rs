//! Modules of naga, and kernels whose arguments may share memory.

use gantry_codegen::{CompileOptions, Context};
use gantry_spirv::Options;
use gantry_spirv::wgsl::naga::back::PipelineConstants;
use gantry_spirv::wgsl::naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use gantry_spirv::wgsl::naga::{Module, front};
use gantry_spirv::wgsl::{NagaEntry, compile_naga, translate_naga, translate_wgsl};

const TWO: &str = "
override factor: u32;
@id(7) override more: u32 = 1;
override groups: u32 = 64;
var<workgroup> shared_words: array<u32, 64>;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(groups)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    shared_words[id.x % 64] += factor * more;
    data[id.x] = shared_words[id.x % 64];
}
@compute @workgroup_size(8)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = 0; }
@fragment fn shade() -> @location(0) vec4f { return vec4f(1); }
";

fn parsed(text: &str) -> (Module, ModuleInfo) {
    let module = front::wgsl::parse_str(text).unwrap();
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).unwrap();
    (module, info)
}

fn given(constants: &[(&str, f64)]) -> PipelineConstants {
    let all = constants.iter().map(|(n, v)| ((*n).to_owned(), *v));
    all.collect()
}

#[test]
fn an_entry_point_with_its_overrides() {
    let (module, info) = parsed(TWO);
    let mut entry = NagaEntry {
        constants: given(&[("factor", 3.0), ("7", 2.0), ("groups", 16.0)]),
        ..NagaEntry::new(&module, &info, "scale")
    };
    let translated = translate_naga(&entry, &Options::default()).unwrap();
    let [kernel] = translated.kernels.as_slice() else {
        panic!("{:?}", translated.kernels);
    };
    assert_eq!(
        (kernel.name.as_str(), kernel.group_size),
        ("scale", Some([16, 1, 1]))
    );
    let text = translated.module.to_string();
    // The size for the check of the index, and the zeros of workgroup memory.
    assert!(text.contains("size"), "{text}");
    let stores = |text: &str| text.matches(" slm").count();
    entry.zero_workgroup_memory = false;
    let not_zeroed = translate_naga(&entry, &Options::default()).unwrap();
    assert!(
        stores(&not_zeroed.module.to_string()) < stores(&text),
        "{text}"
    );
    for target in ["bdw", "skl", "tgllp", "dg2", "pvc"] {
        let target = CompileOptions::for_target(target).unwrap();
        compile_naga(&entry, &Options::default(), &target, &mut Context::new()).unwrap();
    }
    // It needs no values for overrides of another entry point.
    let clear = NagaEntry::new(&module, &info, "clear");
    let clear = translate_naga(&clear, &Options::default()).unwrap();
    assert_eq!(clear.kernels[0].name, "clear");
}

#[test]
fn errors_name_the_entry_point_and_the_cause() {
    let (module, info) = parsed(TWO);
    let error = |entry: &str, constants: &[(&str, f64)]| {
        let constants = given(constants);
        let entry = NagaEntry {
            constants,
            ..NagaEntry::new(&module, &info, entry)
        };
        translate_naga(&entry, &Options::default())
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (
            error("shade", &[]),
            "`shade`: the module's compute shaders are scale, clear",
        ),
        (error("scale", &[]), "`scale`: Missing value"),
        (
            error("scale", &[("factor", 1.0), ("nothing", 1.0)]),
            "'nothing' not found",
        ),
        (
            error("scale", &[("factor", f64::NAN)]),
            "`scale`: Source f64 value needs",
        ),
        (
            error("scale", &[("factor", -1.0)]),
            "`scale`: Source f64 value doesn't fit",
        ),
        (
            error("scale", &[("factor", 1.0), ("groups", 0.0)]),
            "`scale`: workgroup_size",
        ),
    ];
    for (have, want) in cases {
        assert!(have.contains(want), "{have}");
    }
    let (module, info) = parsed("@fragment fn shade() {}");
    let entry = NagaEntry::new(&module, &info, "main");
    let none = translate_naga(&entry, &Options::default()).unwrap_err();
    assert!(
        none.to_string()
            .contains("`main`: the module has no compute shader"),
        "{none}"
    );
}

/// Checks that a load of one buffer stays behind the store to another one that may be the same.
#[test]
fn buffers_that_share_memory() {
    let text = "
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
    b[g.x] = a[g.x] + 1;
    b[g.x + 16] = a[g.x] + 2;
}
";
    let noalias = |may_alias| {
        let options = Options {
            may_alias,
            ..Options::default()
        };
        let (module, info) = parsed(text);
        let entry = NagaEntry::new(&module, &info, "main");
        let naga = translate_naga(&entry, &options).unwrap().module.to_string();
        let wgsl = translate_wgsl(text, &options).unwrap().module.to_string();
        assert_eq!(naga, wgsl);
        naga.matches("noalias").count()
    };
    assert_eq!((noalias(false), noalias(true)), (2, 0));
}
