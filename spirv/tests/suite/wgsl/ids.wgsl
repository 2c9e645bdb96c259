@group(0) @binding(0) var<storage, read_write> out: array<array<vec4<u32>, 3>>;

@compute @workgroup_size(4, 3, 2)
fn main(
    @builtin(global_invocation_id) g: vec3<u32>,
    @builtin(local_invocation_id) l: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) w: vec3<u32>,
    @builtin(num_workgroups) n: vec3<u32>,
) {
    let at = ((w.z * n.y + w.y) * n.x + w.x) * 24u + i;
    out[at][0] = vec4(g, i);
    out[at][1] = vec4(l, n.x);
    out[at][2] = vec4(w, n.y * 10u + n.z);
}
