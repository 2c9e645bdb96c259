@group(0) @binding(0) var<storage, read> floats: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 8>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let f = floats[i];
    out[i][0] = u32(i32(f));
    out[i][1] = u32(f);
    out[i][2] = bitcast<u32>(f32(i32(i) - 10));
    out[i][3] = bitcast<u32>(f32(i * 0x10000001u));
    out[i][4] = u32(bool(f)) + 2u * u32(bool(i));
    out[i][5] = bitcast<u32>(f32(f > 1.0));
    let v = vec2<i32>(vec2(f, -f));
    out[i][6] = u32(v.x ^ v.y);
    out[i][7] = bitcast<vec2<u32>>(vec2(f, 1.0)).x + bitcast<u32>(bitcast<i32>(f));
}
