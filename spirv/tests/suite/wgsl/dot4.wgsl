@group(0) @binding(0) var<storage, read> words: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 6>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let a = words[i].x;
    let b = words[i].y;
    out[i][0] = u32(dot4I8Packed(a, b));
    out[i][1] = dot4U8Packed(a, b);
    let s = unpack4xI8(a);
    let u = unpack4xU8(b);
    out[i][2] = pack4xI8(s * 3);
    out[i][3] = pack4xU8(u + 5u);
    out[i][4] = pack4xI8Clamp(s * 2);
    out[i][5] = pack4xU8Clamp(u * 2u);
}
