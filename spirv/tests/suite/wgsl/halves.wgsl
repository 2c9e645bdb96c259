enable f16;
struct Mixed { a: f16, b: vec3<f16>, c: f32, d: array<f16, 3> }
@group(0) @binding(0) var<storage, read> from_: array<Mixed>;
@group(0) @binding(1) var<storage, read_write> to: array<Mixed>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var m = from_[id.x];
    m.a = m.a * 2.0h + m.b.z;
    m.b = m.b.zxy + vec3<f16>(f16(m.c));
    m.c = f32(m.d[id.x % 3u]) * 0.5;
    m.d[1] = sqrt(abs(m.d[1]));
    to[id.x] = m;
}
