struct Camera {
    view: mat4x4<f32>,
    normal: mat3x3<f32>,
    planes: array<vec4<f32>, 3>,
    offset: vec3<f32>,
    scale: f32,
    two: mat2x2<f32>,
}
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> points: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<array<vec4<f32>, 3>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = points[id.x];
    out[id.x][0] = camera.view * p;
    let n = camera.normal * p.xyz + camera.offset * camera.scale;
    out[id.x][1] = vec4(n, dot(camera.planes[id.x % 3u], p));
    let t = camera.two * p.xy;
    out[id.x][2] = vec4(t, camera.view[id.x % 4u][1], camera.normal[id.x % 3u].z);
}
