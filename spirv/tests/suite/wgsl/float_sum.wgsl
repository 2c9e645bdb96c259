// Sums of floats by compare and exchange.
@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>, 4>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let slot = id.x % 4u;
    var old = atomicLoad(&sums[slot]);
    loop {
        let new_ = bitcast<u32>(bitcast<f32>(old) + data[id.x]);
        let r = atomicCompareExchangeWeak(&sums[slot], old, new_);
        if r.exchanged { break; }
        old = r.old_value;
    }
}
