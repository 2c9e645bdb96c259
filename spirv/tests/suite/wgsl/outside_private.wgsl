@group(0) @binding(0) var<storage, read> places: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<i32>>;
var<private> mine: array<i32, 5> = array(1, 2, 3, 4, 5);
var<workgroup> ours: array<vec3<i32>, 3>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let at = places[id.x];
    ours[at] = vec3(9);
    workgroupBarrier();
    ours[l] = vec3(i32(l));
    workgroupBarrier();
    mine[at] = 50;
    var table = array<vec2<i32>, 3>(vec2(1, 2), vec2(3, 4), vec2(5, 6));
    table[at][at] += 10;
    out[id.x].x = mine[at];
    out[id.x].y = ours[at].y;
    out[id.x].z = table[at].x + table[at + 1].y;
    out[id.x].w = mine[0] + mine[1] + mine[2] + mine[3] + mine[4];
}
