@group(0) @binding(0) var<storage, read> data: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = data[id.x];
    var w = v.wzyx;
    w.x = v[id.x % 4u];
    w[id.x % 3u] = 5.0;
    let more = v > vec4(0.0);
    let s = select(w, -v, more);
    let flags = vec3(any(more), all(more), any(v == w));
    let n = select(vec3(0.0), vec3(1.0, 2.0, 4.0), flags);
    out[id.x] = s.yxwz * 2.0 + vec4(n, f32(id.x)).wxyz;
}
