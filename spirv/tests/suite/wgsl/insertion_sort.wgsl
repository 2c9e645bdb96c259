@group(0) @binding(0) var<storage, read_write> rows: array<array<f32, 12>>;

fn sort(a: ptr<function, array<f32, 12>>) {
    for (var i = 1; i < 12; i++) {
        let v = (*a)[i];
        var j = i - 1;
        while j >= 0 && (*a)[j] > v {
            (*a)[j + 1] = (*a)[j];
            j--;
        }
        (*a)[j + 1] = v;
    }
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var row = rows[id.x];
    sort(&row);
    rows[id.x] = row;
}
