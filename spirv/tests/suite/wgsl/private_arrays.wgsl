@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<private> big: array<u32, 100>;
var<private> calls: u32;

fn put(n: u32, v: u32) {
    big[n] = v;
    calls++;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var small = array<u32, 8>();
    var x = data[id.x];
    for (var i = 0u; i < 100u; i++) {
        x = x * 1664525u + 1013904223u;
        small[x >> 29u] += 1u;
        put((x >> 8u) % 100u, i);
    }
    var sum = 0u;
    for (var i = 0u; i < 100u; i++) {
        sum = sum * 31u + big[i];
    }
    data[id.x] = sum ^ small[id.x % 8u] ^ (calls << 24u);
}
