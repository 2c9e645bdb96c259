@group(0) @binding(0) var<storage, read> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
var<workgroup> part: array<i32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) l: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    var sum = 0;
    var i = group.x * 256u + l;
    while i < arrayLength(&data) {
        sum += data[i];
        i += groups.x * 256u;
    }
    part[l] = sum;
    workgroupBarrier();
    for (var d = 128u; d > 0u; d /= 2u) {
        if l < d {
            part[l] += part[l + d];
        }
        workgroupBarrier();
    }
    if l == 0u {
        sums[group.x] = part[0];
    }
}
