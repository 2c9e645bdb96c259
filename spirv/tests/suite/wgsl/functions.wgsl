struct Pair { a: i32, b: vec2<f32> }
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<private> depth: i32;
var<workgroup> shared_: array<f32, 32>;

fn swap(x: ptr<function, f32>, y: ptr<function, f32>) {
    let t = *x;
    *x = *y;
    *y = t;
}

fn make(n: i32) -> Pair {
    depth += n;
    return Pair(n * 2, vec2(f32(n), -1.0));
}

fn twice(i: u32) -> f32 {
    let p = &shared_;
    return (*p)[i] * 2.0;
}

fn count(p: ptr<private, i32>) -> i32 {
    *p += 1;
    return *p;
}

fn early(x: f32) -> f32 {
    if x > 10.0 { return 10.0; }
    if x < -10.0 { return -10.0; }
    return x;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    var a = data[id.x];
    var b = a * 0.5;
    swap(&a, &b);
    let p = make(i32(l));
    shared_[l] = b;
    workgroupBarrier();
    let c = count(&depth) + count(&depth);
    data[id.x] = early(a + twice(31u - l)) + p.b.x * p.b.y + f32(c + p.a);
}
