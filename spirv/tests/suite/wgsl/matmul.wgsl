// Tiles of both factors in local memory.
struct Shape { m: u32, n: u32, k: u32 }
@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
const T = 8;
var<workgroup> ta: array<array<f32, T>, T>;
var<workgroup> tb: array<array<f32, T>, T>;

@compute @workgroup_size(T, T)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) {
    var sum = 0.0;
    for (var t = 0u; t < shape.k; t += u32(T)) {
        ta[l.y][l.x] = a[id.y * shape.k + t + l.x];
        tb[l.y][l.x] = b[(t + l.y) * shape.n + id.x];
        workgroupBarrier();
        for (var i = 0; i < T; i++) {
            sum += ta[l.y][i] * tb[i][l.x];
        }
        workgroupBarrier();
    }
    if id.x < shape.n && id.y < shape.m {
        c[id.y * shape.n + id.x] = sum;
    }
}
