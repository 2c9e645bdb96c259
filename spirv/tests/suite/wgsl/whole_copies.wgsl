// Arrays that are too large for registers, copied as they are: between buffers, workgroup and private memory.
struct Row {
    a: vec3<f32>,
    n: u32,
}
struct Large {
    head: u32,
    rows: array<Row, 80>,
    words: array<array<u32, 100>, 3>,
}

@group(0) @binding(0) var<storage, read> source: array<Large, 2>;
@group(0) @binding(1) var<storage, read_write> target_rows: array<Large, 2>;
var<workgroup> shared_rows: Large;
var<private> own: array<array<u32, 100>, 3>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let me = local.x;
    if me == 3u {
        shared_rows = source[group.x];
    }
    workgroupBarrier();
    own = shared_rows.words;
    own[1][me] += me;
    workgroupBarrier();
    shared_rows.words[1][me] = own[1][me] + own[2][99];
    workgroupBarrier();
    if me == group.x {
        target_rows[1u - group.x] = shared_rows;
    }
}
