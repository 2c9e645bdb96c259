@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> olds: array<vec4<u32>>;
var<workgroup> slots: array<atomic<i32>, 4>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = places[id.x];
    var old: vec4<u32>;
    old.x = atomicAdd(&counts[at], 1u) & 0x80000000u;
    atomicStore(&counts[at + 1000000u], 77u);
    old.y = atomicLoad(&counts[at + 1000000u]);
    let c = atomicCompareExchangeWeak(&counts[at + 500000u], 0u, 5u);
    old.z = c.old_value;
    atomicAdd(&slots[at], 1);
    workgroupBarrier();
    old.w = u32(atomicLoad(&slots[id.x % 4u]) + atomicMax(&slots[at + 4u], 3));
    olds[id.x] = old;
}
