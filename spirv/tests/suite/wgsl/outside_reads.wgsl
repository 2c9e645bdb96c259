struct S { head: vec4<u32>, rows: array<vec4<u32>, 4>, tail: u32 }
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<uniform> s: S;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<array<u32, 6>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = places[id.x];
    out[id.x][0] = data[at];
    out[id.x][1] = s.rows[at].y;
    out[id.x][2] = s.rows[at % 4u][at];
    out[id.x][3] = s.head[at];
    out[id.x][4] = data[i32(at) - 5];
    // One for the whole thread.
    out[id.x][5] = data[places[100000u] + arrayLength(&data) + s.tail] + 1u;
}
