@group(0) @binding(0) var<storage, read_write> data: array<i32>;
var<workgroup> part: array<i32, 256>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let base = group.x * 256u;
    part[l] = data[base + l];
    part[l + 128u] = data[base + l + 128u];
    for (var k = 2u; k <= 256u; k <<= 1u) {
        for (var j = k >> 1u; j > 0u; j >>= 1u) {
            workgroupBarrier();
            let i = 2u * l - (l & (j - 1u));
            let up = (i & k) == 0u;
            let a = part[i];
            let b = part[i + j];
            if (a > b) == up {
                part[i] = b;
                part[i + j] = a;
            }
        }
    }
    workgroupBarrier();
    data[base + l] = part[l];
    data[base + l + 128u] = part[l + 128u];
}
