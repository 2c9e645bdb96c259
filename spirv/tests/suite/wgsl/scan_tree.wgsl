// Exclusive sums up and down a tree.
@group(0) @binding(0) var<storage, read> from_: array<u32>;
@group(0) @binding(1) var<storage, read_write> to: array<u32>;
const N = 64u;
var<workgroup> tree: array<u32, 2 * N>;

@compute @workgroup_size(N)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let l = local.x;
    let base = group.x * 2u * N;
    tree[2u * l] = from_[base + 2u * l];
    tree[2u * l + 1u] = from_[base + 2u * l + 1u];
    var offset = 1u;
    for (var d = N; d > 0u; d >>= 1u) {
        workgroupBarrier();
        if l < d {
            let a = offset * (2u * l + 1u) - 1u;
            let b = offset * (2u * l + 2u) - 1u;
            tree[b] += tree[a];
        }
        offset *= 2u;
    }
    if l == 0u {
        tree[2u * N - 1u] = 0u;
    }
    for (var d = 1u; d <= N; d *= 2u) {
        offset >>= 1u;
        workgroupBarrier();
        if l < d {
            let a = offset * (2u * l + 1u) - 1u;
            let b = offset * (2u * l + 2u) - 1u;
            let t = tree[a];
            tree[a] = tree[b];
            tree[b] += t;
        }
    }
    workgroupBarrier();
    to[base + 2u * l] = tree[2u * l];
    to[base + 2u * l + 1u] = tree[2u * l + 1u];
}
