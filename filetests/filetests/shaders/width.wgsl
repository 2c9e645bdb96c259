test compile
target skl

// Five matrices of a work-item are live over a barrier: 80 values, which fit at SIMD8, not at SIMD16.
@group(0) @binding(0) var<storage, read> m: array<mat4x4<f32>>;
@group(0) @binding(1) var<storage, read_write> r: array<mat4x4<f32>>;

@compute @workgroup_size(64)
fn product(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = 5u * id.x;
    let a = m[i];
    let b = m[i + 1u];
    let c = m[i + 2u];
    let d = m[i + 3u];
    let e = m[i + 4u];
    workgroupBarrier();
    r[id.x] = a * b * c * d * e;
}

// check: mul (8|M0)
// not: mul (16|M0)
