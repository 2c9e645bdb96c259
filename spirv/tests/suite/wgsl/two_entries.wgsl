@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(1) @binding(0) var<storage, read_write> other: array<u32>;

fn twice(i: u32) {
    data[i] *= 2u;
}

@compute @workgroup_size(32)
fn elsewhere(@builtin(global_invocation_id) id: vec3<u32>) {
    other[id.x] = 1u;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    twice(id.x);
    storageBarrier();
    data[id.x] += 1u;
}
