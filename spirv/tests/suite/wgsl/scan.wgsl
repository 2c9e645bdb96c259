// Inclusive sums of each group, doubling the distance.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> sums: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    sums[l] = data[id.x];
    workgroupBarrier();
    for (var d = 1u; d < 128u; d *= 2u) {
        var v = sums[l];
        if l >= d {
            v += sums[l - d];
        }
        workgroupBarrier();
        sums[l] = v;
        workgroupBarrier();
    }
    data[id.x] = sums[l];
}
