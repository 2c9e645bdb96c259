struct Many {
    a: mat2x3<f32>,
    b: mat3x2<f32>,
    c: mat4x3<f32>,
    d: array<mat2x2<f32>, 2>,
    e: mat3x4<f32>,
}
struct Result {
    ab: mat3x3<f32>,
    ba: mat2x2<f32>,
    ct: mat3x4<f32>,
    dd: mat2x2<f32>,
    ec: mat4x4<f32>,
    column: vec3<f32>,
    element: f32,
}
@group(0) @binding(0) var<storage, read> many: array<Many>;
@group(0) @binding(1) var<storage, read_write> results: array<Result>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let m = many[id.x];
    results[id.x].ab = m.a * m.b;
    results[id.x].ba = m.b * m.a;
    results[id.x].ct = transpose(m.c);
    results[id.x].dd = m.d[0] * m.d[1] - m.d[1] * 2.0;
    results[id.x].ec = m.e * m.c;
    results[id.x].column = many[id.x].c[id.x % 4u];
    results[id.x].element = many[id.x].e[id.x % 3u][id.x % 4u];
    results[id.x].ec[id.x % 4u][id.x % 3u] = 100.0;
}
