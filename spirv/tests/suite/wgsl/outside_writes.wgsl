@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> fixed: array<vec2<u32>, 8>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = places[id.x];
    data[at] = id.x + 1u;
    if at >= 64u {
        fixed[at] = vec2(7u, 9u);
        data[arrayLength(&data)] = 5u;
        data[max(at, arrayLength(&data))] = 6u;
    }
    if id.x < 8u {
        fixed[id.x].y = at;
        fixed[id.x][at] = 3u;
    }
}
