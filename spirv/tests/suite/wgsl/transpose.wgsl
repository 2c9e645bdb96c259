struct Size { width: u32, height: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> from_: array<f32>;
@group(0) @binding(2) var<storage, read_write> to: array<f32>;
override TILE: u32 = 8;
var<workgroup> tile: array<array<f32, 9>, 8>;

@compute @workgroup_size(TILE, 8)
fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) {
    let x = w.x * TILE + l.x;
    let y = w.y * TILE + l.y;
    if x < size.width && y < size.height {
        tile[l.y][l.x] = from_[y * size.width + x];
    }
    workgroupBarrier();
    let tx = w.y * TILE + l.x;
    let ty = w.x * TILE + l.y;
    if tx < size.height && ty < size.width {
        to[ty * size.height + tx] = tile[l.x][l.y];
    }
}
