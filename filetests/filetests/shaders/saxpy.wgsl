test run
test opt
target tgllp

// Buffers by binding, a uniform buffer, and the length of a runtime array.
struct Params { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(1) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(8)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.n {
        y[id.x] = params.a * x[id.x] + y[id.x];
    }
}

@compute @workgroup_size(1)
fn length() {
    y[0] = f32(arrayLength(&y));
}

// run: saxpy groups=2 binds=[0,0: u32[0x40000000, 10], 0,1: f32[0..16], 1,3: f32[1;16]] == [_, _, f32[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 1, 1, 1, 1, 1, 1]]
// run: saxpy groups=2 args=[u32[0x40000000, 2], f32[0..16], f32[1;4]] == [_, _, f32[1, 3, 1, 1]]
// run: length binds=[1,3: f32[0;7]] == [f32[7, 0, 0, 0, 0, 0, 0]]
// run: length groups=1 binds=[1,4: f32[0;7]] error: 1,4
// check: kernel %saxpy(
// check: binding(1, 3) storage 4
