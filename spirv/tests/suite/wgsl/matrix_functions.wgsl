@group(0) @binding(0) var<storage, read> m2: array<mat2x2<f32>>;
@group(0) @binding(1) var<storage, read> m3: array<mat3x3<f32>>;
@group(0) @binding(2) var<storage, read> m4: array<mat4x4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<array<f32, 8>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let a = m2[i];
    let b = m3[i];
    let c = m4[i];
    out[i][0] = determinant(a);
    out[i][1] = determinant(b);
    out[i][2] = determinant(c);
    let v = vec4(1.0, -2.0, 3.0, 0.5);
    let r = v * c;
    out[i][3] = r.x + r.y * r.z - r.w;
    let s = transpose(b) * v.xyz + v.xyz * b;
    out[i][4] = s.x + s.y + s.z;
    var d = c;
    d[1] = v;
    d[2][3] = 7.0;
    let e = d + c;
    out[i][5] = e[1][1] + e[2][3];
    out[i][6] = (a * 0.5)[1].x + (2.0 * a)[0].y;
    out[i][7] = (mat2x2<f32>(v.xy, v.zw) * a)[1][1];
}
