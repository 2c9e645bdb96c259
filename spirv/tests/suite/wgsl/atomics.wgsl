struct All {
    sum: atomic<u32>, difference: atomic<i32>, least: atomic<i32>, most: atomic<u32>,
    every: atomic<u32>, some: atomic<u32>, parity: atomic<u32>, last: atomic<u32>,
}
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> all_: All;
@group(0) @binding(2) var<storage, read_write> seen: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = data[id.x];
    let ticket = atomicAdd(&all_.sum, v % 16u);
    atomicSub(&all_.difference, i32(v % 16u));
    atomicMin(&all_.least, i32(v));
    atomicMax(&all_.most, v);
    atomicAnd(&all_.every, v | 0xff00u);
    atomicOr(&all_.some, v & 0xff0fu);
    atomicXor(&all_.parity, v);
    let before = atomicExchange(&all_.last, id.x + 1u);
    // Each of them is the one before some other's, or the last.
    if before != 0u {
        atomicAdd(&seen[before - 1u], 1u);
    }
    _ = ticket;
}
