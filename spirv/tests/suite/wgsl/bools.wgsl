@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> flags: array<bool, 64>;
var<workgroup> any_: bool;
var<private> mine: array<bool, 9>;
struct Two { a: bool, b: vec3<bool> }
var<workgroup> two: Two;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let v = data[id.x];
    flags[l] = v % 3u == 0u;
    if v == 77u { any_ = true; }
    if l == 5u { two = Two(v > 8u, vec3(true, v % 2u == 0u, false)); }
    workgroupBarrier();
    for (var i = 0u; i < 9u; i++) {
        mine[(v + i * i) % 9u] = flags[(l + i) % 64u] != (i == 4u);
    }
    var bits = 0u;
    for (var i = 0u; i < 9u; i++) {
        bits |= u32(mine[i]) << i;
    }
    let b = two.b;
    out[id.x] = bits + 1000u * u32(any_) + 10000u * u32(two.a) + 100000u * u32(b.x && !b.z)
        + 1000000u * u32(b.y);
}
