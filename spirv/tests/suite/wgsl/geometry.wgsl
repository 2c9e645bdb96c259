@group(0) @binding(0) var<storage, read> a: array<vec3<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec3<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<array<vec4<f32>, 4>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let u = a[i];
    let v = b[i];
    let n = normalize(v);
    out[i][0] = vec4(cross(u, v), dot(u, v));
    out[i][1] = vec4(n, length(u));
    out[i][2] = vec4(reflect(u, n), distance(u, v));
    let r = refract(normalize(u), n, 0.75);
    let f = faceForward(n, u, v);
    out[i][3] = vec4(r.xy + f.xy, r.z, f.z + dot(u.xy, v.yz) + length(-3.5));
}
