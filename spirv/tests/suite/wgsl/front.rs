//! Interface to naga: directives, overrides, duplicate types, constant arrays, and panics.

use crate::wgsl::case::{Case, Tolerance};
use gantry_spirv::wgsl::{WgslError, is_in_naga, translate_wgsl};
use gantry_spirv::{Options, SpecValue};

fn run(case: Case) {
    for (target, simd) in [("skl", 16), ("dg2", 8)] {
        case.run(target, simd, true).unwrap();
    }
}

fn refused(text: &str, constants: &[(&str, SpecValue)]) -> String {
    let options = Options {
        constants: constants
            .iter()
            .map(|(n, v)| ((*n).to_owned(), *v))
            .collect(),
        ..Options::default()
    };
    translate_wgsl(text, &options)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn subgroups_by_their_name() {
    let text = "// enable f16;
enable /* subgroups */ subgroups;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
    o[g.x] = subgroupAdd(1u) + g.x;
}
";
    let by_width = |simd: u32| {
        let want: Vec<u8> = (0..32u32).flat_map(|i| (i + simd).to_le_bytes()).collect();
        vec![(0, want)]
    };
    let mut case = Case::new("subgroups", text, [1, 1, 1]).output(0, &[0u32; 32], Tolerance::Exact);
    case.by_width = Some(by_width);
    run(case);
    // Errors name the line of the original text.
    let wrong = refused(&text.replace("+ g.x", "+ g.y2"), &[]);
    assert!(
        wrong.contains("wgsl:6:") && wrong.contains("g.y2"),
        "{wrong}"
    );
}

/// Checks that other stages are ignored, which naga would reject with operations of compute
/// shaders.
#[test]
fn other_stages_are_not_looked_at() {
    let text = "
enable subgroups;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn sum(n: u32) -> u32 { return subgroupAdd(n); }
@fragment fn fragment() { o[1] = sum(1u); }
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {
    o[l] = sum(2u);
}
";
    let by_width = |simd: u32| {
        let sum = 2 * simd.min(8);
        vec![(0, (0..8).flat_map(|_| sum.to_le_bytes()).collect())]
    };
    let mut case = Case::new("stages", text, [1, 1, 1]).output(0, &[0u32; 8], Tolerance::Exact);
    case.by_width = Some(by_width);
    run(case);
}

const OVERRIDES: &str = "
override N: u32;
override scale: f32 = 2.0;
@id(4) override add: i32 = 7;
override unused: u32;
var<workgroup> s: array<u32, N>;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(N)
fn main(@builtin(local_invocation_index) l: u32) {
    s[l] = l;
    workgroupBarrier();
    o[l] = f32(s[N - 1u - l]) * scale + f32(add);
}
";

#[test]
fn overrides_by_name() {
    let want = |n: u32, scale: f32, add: f32| -> Vec<f32> {
        (0..n).map(|l| (n - 1 - l) as f32 * scale + add).collect()
    };
    let case = |n: u32, scale: f32, add: f32| {
        let want = want(n, scale, add);
        Case::new("overrides", OVERRIDES, [1, 1, 1]).output(0, &want, Tolerance::Exact)
    };
    run(case(16, 2.0, 7.0).with(&[("N", 16)]));
    run(case(24, 0.5, -3.0)
        .with(&[("N", 24)])
        .with(&[("scale", 0.5)])
        .with(&[("4", -3)]));
    run(case(8, 2.0, 1.0).with(&[("N", 8), ("add", 1)]));
}

#[test]
fn overrides_that_are_wrong() {
    let missing = refused(OVERRIDES, &[]);
    assert!(missing.contains("'N'"), "{missing}");
    let n = ("N", SpecValue::Int(16));
    let unknown = refused(OVERRIDES, &[n, ("M", 3.into())]);
    assert_eq!(
        unknown,
        "no specialization constant `M`; there are 4, N, scale, unused"
    );
    let negative = refused(OVERRIDES, &[("N", SpecValue::Int(-1))]);
    assert!(
        negative.contains("`N`: -1 is no value of an unsigned integer"),
        "{negative}"
    );
    let large = refused(OVERRIDES, &[n, ("scale", SpecValue::Float(1e39))]);
    assert!(
        large.contains("`scale`: 1e39 is no value of a float of 32 bits"),
        "{large}"
    );
    assert!(refused(OVERRIDES, &[n, ("add", SpecValue::Int(1 << 31))]).contains("`4`: "));
}

/// Checks that an alias works, whose type naga declares a second time.
#[test]
fn equal_types_are_one() {
    let text = "
alias Four = array<i32, 4>;
struct S { a: array<i32, 4> }
@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(1) fn main() {
  let src: Four = Four(4, 5, 6, 9);
  var s: S;
  s.a = src;
  o[0] = s.a[2] + s.a[3];
}
";
    run(Case::new("alias", text, [1, 1, 1]).output(0, &[15u32], Tolerance::Exact));
}

#[test]
fn large_constant_arrays() {
    let entry = |n: u32| n.wrapping_mul(40503) & 0xffff;
    let all: Vec<String> = (0..1100).map(|n| format!("{}u", entry(n))).collect();
    let text = format!(
        "const T = array<u32, 1100>({});
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) g: vec3<u32>) {{
  o[g.x] = T[(g.x * 67u) % 1100u];
}}
",
        all.join(", ")
    );
    let want: Vec<u32> = (0..32).map(|i| entry(i * 67 % 1100)).collect();
    run(Case::new("table", text.leak(), [2, 1, 1]).output(0, &want, Tolerance::Exact));
}

/// Checks that a large value without uses is not loaded.
#[test]
fn large_values_that_nobody_reads() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage> v: array<u32, 100000>;
var<private> p = array<bool, 3000>();
@compute @workgroup_size(1) fn main() { _ = v; _ = p; o[0] = v[70000] + 1u; }
";
    let mut data = vec![0u32; 100_000];
    data[70_000] = 41;
    let case = Case::new("phony", text, [1, 1, 1]).output(0, &[42u32], Tolerance::Exact);
    run(case.input(1, &data));
}

/// Checks that a panic of naga becomes an error, and that a panic hook can tell. Its writer panics
/// at a pointer to a part as an argument.
#[test]
fn panics_of_naga_are_errors() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
var<private> m: mat2x2<f32>;
fn put(p: ptr<private, vec2<f32>>) { *p = vec2<f32>(3.0, 4.0); }
@compute @workgroup_size(1) fn main() { put(&m[1]); o[0] = m[1].y; }
";
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !is_in_naga() {
            print(info);
        }
    }));
    let done = translate_wgsl(text, &Options::default());
    assert!(!is_in_naga());
    // A later naga may accept it, or report an error.
    match done {
        Err(WgslError::Panic(what)) => assert!(!what.is_empty()),
        Err(WgslError::Spirv(e)) => panic!("{e}"),
        _ => {}
    }
}
