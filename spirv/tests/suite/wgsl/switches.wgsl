@group(0) @binding(0) var<storage, read> from_: array<i32>;
@group(0) @binding(1) var<storage, read_write> to: array<i32>;

fn kind(x: i32) -> i32 {
    switch x & 7 {
        case 0, 3: { return 10; }
        case 1: {
            if x > 100 { return 11; }
        }
        case 2, default: {
            return x % 5;
        }
        case 5: {}
    }
    return -1;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = from_[id.x];
    var sum = 0;
    for (var i = 0; i < 6; i++) {
        switch kind(x) {
            case 10: { sum += 1; continue; }
            case -1: {
                sum += 100;
                if sum > 300 { break; }
                sum += 7;
            }
            default: { x = x * 3 + i; }
        }
        x += 13;
    }
    switch i32(id.x) {
        default: { sum ^= x; }
    }
    to[id.x] = sum;
}
