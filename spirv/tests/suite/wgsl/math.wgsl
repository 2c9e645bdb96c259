@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 20>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = data[i];
    out[i][0] = sin(x);
    out[i][1] = cos(x);
    out[i][2] = tan(x);
    out[i][3] = asin(x / 20.0);
    out[i][4] = acos(x / 20.0);
    out[i][5] = atan(x);
    out[i][6] = sinh(x * 0.3);
    out[i][7] = cosh(x * 0.3);
    out[i][8] = tanh(x);
    out[i][9] = asinh(x);
    out[i][10] = acosh(abs(x) + 1.0);
    out[i][11] = atanh(x / 20.0);
    out[i][12] = atan2(x, 3.0);
    out[i][13] = pow(abs(x), 1.7);
    out[i][14] = exp(x);
    out[i][15] = log(abs(x));
    out[i][16] = exp2(x);
    out[i][17] = log2(abs(x));
    out[i][18] = sqrt(abs(x));
    out[i][19] = inverseSqrt(abs(x));
}
