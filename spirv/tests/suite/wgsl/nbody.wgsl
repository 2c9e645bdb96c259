struct Body { place: vec3<f32>, mass: f32, speed: vec3<f32> }
@group(0) @binding(0) var<storage, read> from_: array<Body>;
@group(0) @binding(1) var<storage, read_write> to: array<Body>;
var<workgroup> near: array<vec4<f32>, 32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let me = from_[id.x];
    var pull = vec3(0.0);
    let n = arrayLength(&from_);
    for (var t = 0u; t < n; t += 32u) {
        let other = from_[t + l];
        near[l] = vec4(other.place, other.mass);
        workgroupBarrier();
        for (var i = 0u; i < 32u; i++) {
            let d = near[i].xyz - me.place;
            let r2 = dot(d, d) + 0.01;
            pull += d * (near[i].w / (r2 * sqrt(r2)));
        }
        workgroupBarrier();
    }
    var next = me;
    next.speed += pull * 0.01;
    next.place += next.speed * 0.01;
    to[id.x] = next;
}
