test run simd16
target skl

// Workgroup memory, a barrier, and an array of buffers.
enable wgpu_binding_array;
struct Words { n: array<u32> }
@group(0) @binding(2) var<storage, read_write> many: binding_array<Words, 2>;
var<workgroup> last: array<u32, 16>;

@compute @workgroup_size(16)
fn reverse(@builtin(local_invocation_id) id: vec3<u32>) {
    last[id.x] = many[0].n[id.x];
    workgroupBarrier();
    many[1].n[id.x] = last[15u - id.x];
}

// run: reverse groups=1 binds=[0,2,1: u32[0;16], 0,2: u32[0..16]] == [u32[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], _]
