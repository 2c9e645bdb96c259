@group(0) @binding(0) var<storage, read> floats: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> packed_: array<array<u32, 5>>;
@group(0) @binding(3) var<storage, read_write> unpacked: array<array<vec4<f32>, 4>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let v = floats[i];
    packed_[i][0] = pack4x8snorm(v);
    packed_[i][1] = pack4x8unorm(v);
    packed_[i][2] = pack2x16snorm(v.xy);
    packed_[i][3] = pack2x16unorm(v.zw);
    packed_[i][4] = pack2x16float(v.yz * 100.0);
    let w = words[i];
    unpacked[i][0] = unpack4x8snorm(w);
    unpacked[i][1] = unpack4x8unorm(w);
    unpacked[i][2] = vec4(unpack2x16snorm(w), unpack2x16unorm(w));
    unpacked[i][3] = vec4(unpack2x16float(w & 0x7bff7bffu), 0.0, 1.0);
}
