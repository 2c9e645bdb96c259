@group(0) @binding(0) var<storage, read> data: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = data[id.x];
    let a = (u64(v.x) << 32u) | u64(v.y);
    let p = a * 0x9e3779b97f4a7c15lu + u64(id.x);
    let s = i64(p) >> 7u;
    let m = select(p, u64(s), s < 0li);
    out[id.x] = vec4(u32(p), u32(p >> 32u), u32(m & 0xfffffffflu), u32(max(a, p) >> 32u));
}
