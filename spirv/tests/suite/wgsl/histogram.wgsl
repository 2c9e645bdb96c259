@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 256>;
var<workgroup> local_counts: array<atomic<u32>, 256>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    // Local memory begins with zeros.
    if id.x < arrayLength(&words) {
        var w = words[id.x];
        for (var n = 0; n < 4; n++) {
            atomicAdd(&local_counts[w & 255u], 1u);
            w >>= 8u;
        }
    }
    workgroupBarrier();
    for (var n = l; n < 256u; n += 64u) {
        let count = atomicLoad(&local_counts[n]);
        if count != 0u {
            atomicAdd(&counts[n], count);
        }
    }
}
