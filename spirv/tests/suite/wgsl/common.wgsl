@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 25>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = data[i];
    out[i][0] = round(x);
    out[i][1] = trunc(x);
    out[i][2] = floor(x);
    out[i][3] = ceil(x);
    out[i][4] = fract(x);
    out[i][5] = sign(x);
    out[i][6] = abs(x);
    out[i][7] = clamp(x, -2.0, 3.5);
    out[i][8] = saturate(x);
    out[i][9] = mix(x, 10.0, 0.25);
    out[i][10] = step(0.5, x);
    out[i][11] = smoothstep(-4.0, 4.0, x);
    out[i][12] = fma(x, 2.0, 1.0);
    out[i][13] = min(x, 1.0) + max(x, -1.0);
    out[i][14] = degrees(x);
    out[i][15] = radians(x);
    out[i][16] = ldexp(x, i32(i % 7u) - 3);
    let m = modf(x);
    out[i][17] = m.fract;
    out[i][18] = m.whole;
    let f = frexp(x);
    out[i][19] = f.fract;
    out[i][20] = f32(f.exp);
    out[i][21] = quantizeToF16(x * 0.3);
    out[i][22] = x % 2.5;
    let v = frexp(vec2(x, 8.0));
    out[i][23] = v.fract.y + f32(v.exp.x);
    out[i][24] = modf(vec3(x, 1.5, -2.25)).whole.z;
}
