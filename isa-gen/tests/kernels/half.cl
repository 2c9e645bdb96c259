// Half precision.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void half_arithmetic(global half *out, global const half *a, global const half *b) {
    size_t i = get_global_id(0);
    half x = a[i], y = b[i];
    out[i] = fma(x, y, x - y) + fabs(x) * -y + fmax(x, y) - fmin(x, (half)2.5h);
}

SG kernel void half_math(global half *out, global const half *a, global const half *b) {
    size_t i = get_global_id(0);
    half x = a[i], y = b[i];
    out[i] = sqrt(x) + exp2(y) + log2(x) + sin(y) + cos(x) + x / y + rsqrt(x);
}

SG kernel void half_and_single(global float *out, global half *h, global const float *a) {
    size_t i = get_global_id(0);
    float x = a[i];
    half y = h[i];
    out[i] = x * y + (float)y;
    h[i] = (half)(x + 1.0f) * y;
}

SG kernel void half_conversions(global half *out, global int *n, global uchar *c, global short *s, global float4 *f, global half *h) {
    size_t i = get_global_id(0);
    half x = out[i];
    out[i] = (half)n[i] + (half)c[i] + (half)s[i];
    n[i] = (int)x;
    c[i] = convert_uchar_sat(x);
    s[i] = convert_short_rte(x);
    f[i] = vload_half4(i, h);
    vstore_half4_rtz(f[i] * 2.0f, i, h);
}

SG kernel void half_vectors(global half8 *out, global const half8 *a, global const half4 *b, half k) {
    size_t i = get_global_id(0);
    half8 x = a[i] * k + (half8)(b[i], b[i].wzyx);
    out[i] = select(x, -x, x > a[i]);
    out[i].s0 = dot(b[i], b[i + 1]);
}

SG kernel void half_classes(global short *out, global const half *a) {
    size_t i = get_global_id(0);
    half x = a[i];
    out[i] = isnan(x) | isinf(x) << 1 | (x < 0) << 2 | (short)floor(x) << 3 | as_short(ceil(x)) | (short)rint(x);
}

SG kernel void half_results(global const half *a, global const half *b, global half *o) {
    int i = get_global_id(0);
    half x = a[i], y = b[i];
    o += i * 8;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, (half)1.5h);
    o[4] = fmin(x, y); o[5] = floor(x); o[6] = x < y ? x : -y; o[7] = (half)((float)x * (float)y);
}

SG kernel void half_rounding(global const float *a, global ushort *o) {
    int i = get_global_id(0);
    float x = a[i];
    o += i * 4;
    o[0] = as_ushort(convert_half(x)); o[1] = as_ushort(convert_half_rtz(x));
    o[2] = as_ushort(convert_half_rtp(x)); o[3] = as_ushort(convert_half_rtn(x));
}
