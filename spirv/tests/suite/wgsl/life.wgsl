struct Size { width: i32, height: i32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> from_: array<u32>;
@group(0) @binding(2) var<storage, read_write> to: array<u32>;

fn cell(x: i32, y: i32) -> u32 {
    let w = size.width;
    let h = size.height;
    return from_[((y + h) % h) * w + (x + w) % w];
}

@compute @workgroup_size(8, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = vec2<i32>(id.xy);
    if p.x >= size.width || p.y >= size.height { return; }
    var n = 0u;
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            if dx == 0 && dy == 0 { continue; }
            n += cell(p.x + dx, p.y + dy);
        }
    }
    let alive = cell(p.x, p.y) == 1u;
    to[p.y * size.width + p.x] = u32(n == 3u || (alive && n == 2u));
}
