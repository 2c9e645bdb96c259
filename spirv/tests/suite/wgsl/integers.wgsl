@group(0) @binding(0) var<storage, read> data: array<vec2<i32>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<i32, 12>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let a = data[i].x;
    let b = data[i].y;
    let ua = u32(a);
    let ub = u32(b);
    // Of zero and where it overflows, what WGSL says.
    out[i][0] = a / b;
    out[i][1] = a % b;
    out[i][2] = i32(ua / ub);
    out[i][3] = i32(ua % ub);
    out[i][4] = abs(a) + sign(b);
    out[i][5] = min(a, b) - max(a, b);
    out[i][6] = clamp(a, -50, 50);
    out[i][7] = i32(min(ua, ub) ^ max(ua, ub));
    out[i][8] = i32(clamp(ua, 5u, 500u));
    out[i][9] = a * b - (a & b) + (a | b) ^ (~a);
    out[i][10] = -a;
    out[i][11] = select(select(1, 2, a < b), select(4, 8, ua >= ub), a != -b);
}
