// How much a pixel's brightness differs from its neighbours' (Sobel), by tiles in local memory: each work-item reads one or two pixels of its
// group's tile and the border around it.
struct Size {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> from_: array<u32>;
@group(0) @binding(2) var<storage, read_write> to: array<u32>;

const TILE = 16u;
const EDGE = TILE + 2u;
var<workgroup> tile: array<array<i32, EDGE>, EDGE>;

fn brightness(p: u32) -> i32 {
    let c = unpack4xU8(p);
    return i32((c.x * 77u + c.y * 150u + c.z * 29u) >> 8u);
}

@compute @workgroup_size(TILE, TILE)
fn edges(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) l: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    for (var i = index; i < EDGE * EDGE; i += TILE * TILE) {
        let at = vec2(i % EDGE, i / EDGE);
        let p = vec2<i32>(group.xy * TILE + at) - 1;
        let q = clamp(p, vec2(0), vec2<i32>(vec2(size.width, size.height)) - 1);
        tile[at.y][at.x] = brightness(from_[u32(q.y) * size.width + u32(q.x)]);
    }
    workgroupBarrier();
    var across = 0;
    var down = 0;
    for (var i = 0u; i < 3u; i++) {
        let weight = select(1, 2, i == 1u);
        across += weight * (tile[l.y + i][l.x + 2u] - tile[l.y + i][l.x]);
        down += weight * (tile[l.y + 2u][l.x + i] - tile[l.y][l.x + i]);
    }
    let p = group.xy * TILE + l.xy;
    if p.x < size.width && p.y < size.height {
        let v = u32(min(abs(across) + abs(down), 255));
        to[p.y * size.width + p.x] = v * 0x10101u;
    }
}
