struct Header { count: u32, scale: f32, items: array<vec3<u32>> }
struct Small { a: u32, data: array<u32> }
@group(0) @binding(0) var<storage, read_write> headed: Header;
@group(0) @binding(1) var<storage, read> small: Small;
@group(0) @binding(2) var<storage, read> pairs: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) l: u32) {
    let n = arrayLength(&headed.items);
    for (var i = l; i < n; i += 8u) {
        headed.items[i] = vec3(i, n, headed.count);
    }
    if l == 0u {
        out[0] = n;
        out[1] = arrayLength(&small.data);
        out[2] = arrayLength(&pairs);
        out[3] = small.data[out[1] - 1u] + small.a;
    }
}
