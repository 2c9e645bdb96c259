//! If-conversion and jump threading: which branches remain.

use gantry_spirv::{Options, Simd, wgsl};

/// IR of a shader with the given statements. `x` is the element of the invocation, stored at the
/// end, and `n` is uniform.
fn ir(body: &str) -> String {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @group(0) @binding(1) var<uniform> n: u32;
         @compute @workgroup_size(64)
         fn f(@builtin(global_invocation_id) id: vec3<u32>) {{
             var x = data[id.x];
             {body}
             data[id.x] = x;
         }}"
    );
    let options = Options {
        simd: Simd::Width(16),
        robust: Some(false),
        ..Options::default()
    };
    let translated = wgsl::translate_wgsl(&text, &options).unwrap();
    translated.module.to_string()
}

/// True if there is a divergent branch, true if there is a uniform one, and number of selects.
fn counts(body: &str) -> (bool, bool, usize) {
    let ir = ir(body);
    let selects = ir.matches("= select").count();
    (ir.contains("goto"), ir.contains("brif"), selects)
}

#[test]
fn short_branches_of_channels_are_selections() {
    let one = "if (x > 5u) { x = x * 3u; }";
    assert_eq!(counts(one), (false, false, 1));
    let two = "if (x > 5u) { x = x * 3u; } else { x = x + 7u; }";
    assert_eq!(counts(two), (false, false, 1));
    let nested = "if (x > 5u) { if (x > 9u) { x = x + 1u; } } else { x = x + 7u; }";
    assert_eq!(counts(nested), (false, false, 2));
}

#[test]
fn long_branches_stay() {
    let long = "x = x * (x + 3u) ^ (x >> 2u);".repeat(4);
    let body = format!("if (x > 5u) {{ {long} }}");
    assert!(counts(&body).0);
}

#[test]
fn what_has_an_effect_or_reads_memory_stays() {
    assert!(counts("if (x > 5u) { data[0] = x; }").0);
    assert!(counts("if (x > 5u) { x = data[x]; }").0);
}

#[test]
fn branches_of_the_thread_stay_unless_they_are_shortest() {
    let body = "if (n > 5u) { x = x * 3u + 1u; }";
    assert_eq!(counts(body), (false, true, 0));
    assert_eq!(counts("if (n > 5u) { x = x * 3u; }"), (false, false, 1));
}

#[test]
fn a_flag_of_who_left_a_loop_how_is_not_asked_for() {
    let left = |flag: &str, asked: &str| {
        ir(&format!(
            "var found = 0u;
             var sum = 1u;
             for (var k = 0u; k < n; k++) {{
                 if (data[k] == x) {{ {flag} break; }}
                 sum += k;
             }}
             if ({asked}) {{ data[sum] = x; sum *= 3u; }} else {{ data[x] = sum; }}
             x = sum;"
        ))
    };
    let compares = |ir: &str| ir.matches("= icmp").count();
    let known = left("found = 1u;", "found != 0u");
    // The condition of the loop and the bounds check.
    assert_eq!(compares(&known), 2, "{known}");
    // One more comparison if the flag is not constant.
    let unknown = left("found = data[k + 1];", "found != 0u");
    assert_eq!(compares(&unknown), 3, "{unknown}");
}
