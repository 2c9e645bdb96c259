// Values that are an argument each launch.
struct Pushed { scale: f32, offset: vec2<f32>, table: array<vec4<u32>, 3>, m: mat2x2<f32> }
var<immediate> pushed: Pushed;
@group(0) @binding(0) var<storage, read_write> data: array<vec4<f32>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) w: vec3<u32>) {
    let v = data[id.x];
    let xy = pushed.m * v.xy * pushed.scale + pushed.offset;
    let row = pushed.table[w.x];
    data[id.x] = vec4(xy, f32(row[id.x % 4u]), f32(pushed.table[id.x % 3u].y));
}
