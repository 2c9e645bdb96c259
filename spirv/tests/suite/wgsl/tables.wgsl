// A constant table by an index, and a hash of words.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
const K = array<u32, 16>(
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
);
const GRID = array<array<vec2<i32>, 2>, 3>(
    array(vec2(0, 1), vec2(2, 3)), array(vec2(4, 5), vec2(6, 7)), array(vec2(8, 9), vec2(10, 11)),
);

fn rotate(x: u32, n: u32) -> u32 {
    return (x << n) | (x >> (32u - n));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var h = data[id.x];
    for (var i = 0u; i < 64u; i++) {
        h = rotate(h, 5u) ^ K[(h + i) % 16u];
        h += K[i % 16u];
    }
    let g = GRID[h % 3u][id.x & 1u];
    data[id.x] = h + u32(g.x * 100 + g.y);
}
