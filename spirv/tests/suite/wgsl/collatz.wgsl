@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn steps(n: u32) -> u32 {
    var x = n;
    var i = 0u;
    loop {
        if x <= 1u { break; }
        if x % 2u == 0u {
            x = x / 2u;
        } else {
            if x >= 0x55555555u { return 0xffffffffu; }
            x = 3u * x + 1u;
        }
        i++;
    }
    return i;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] = steps(data[id.x]);
}
