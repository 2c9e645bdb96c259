@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x];
    var count = 0u;
    loop {
        if x % 7u == 3u {
            x += 5u;
            continue;
        }
        if count > 40u { break; }
        x = x / 2u + count;
        continuing {
            count += 1u;
            let stop = x < 2u;
            break if stop || count == 50u;
        }
    }
    var outer = 0u;
    loop {
        var inner = 0u;
        loop {
            if inner == x % 4u { break; }
            inner++;
            if outer * inner == 6u { data[id.x] = x + 1000000u; return; }
        }
        outer++;
        if outer > 4u { break; }
    }
    data[id.x] = x * 100u + count;
}
