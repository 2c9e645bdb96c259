struct Cell { a: array<u32, 5>, b: atomic<i32>, c: vec3<f32> }
var<workgroup> cells: array<Cell, 60>;
var<workgroup> plain: array<u32, 1000>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(40)
fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) w: vec3<u32>) {
    var bits = 0u;
    for (var i = l; i < 60u; i += 40u) {
        for (var n = 0; n < 5; n++) { bits |= cells[i].a[n]; }
        bits |= u32(atomicLoad(&cells[i].b)) | bitcast<u32>(cells[i].c.y);
    }
    for (var i = l; i < 1000u; i += 40u) { bits |= plain[i]; }
    workgroupBarrier();
    // What the next group on this part of the machine would find.
    for (var i = l; i < 1000u; i += 40u) { plain[i] = 0xffffffffu; }
    atomicStore(&cells[l].b, -1);
    out[w.x * 40u + l] = bits + l;
}
