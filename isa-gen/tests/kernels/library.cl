// Functions of the library that other files leave out: each has its own part of the result.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define N get_global_size(0)

SG kernel void inverse_functions(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    out[i] = acospi(x);
    out[N + i] = asinpi(x);
    out[2 * N + i] = atan(y);
    out[3 * N + i] = atanpi(y);
    out[4 * N + i] = atan2pi(x, y);
    out[5 * N + i] = tanpi(x * 0.45f);
    out[6 * N + i] = atan2(y, x);
}

SG kernel void other_exponents(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    int s;
    out[i] = exp10(x);
    out[N + i] = powr(y, x);
    out[2 * N + i] = logb(y);
    out[3 * N + i] = lgamma_r(x, &s);
    out[4 * N + i] = s;
    out[5 * N + i] = ilogb(y);
    out[6 * N + i] = degrees(x);
    out[7 * N + i] = radians(x);
    out[8 * N + i] = sign(x);
    out[9 * N + i] = maxmag(x, y);
    out[10 * N + i] = minmag(x, -y);
    out[11 * N + i] = pow(y, 3.7f);
}

SG kernel void rough_functions(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    out[i] = half_cos(x);
    out[N + i] = half_divide(x, y);
    out[2 * N + i] = half_exp(x);
    out[3 * N + i] = half_exp2(x);
    out[4 * N + i] = half_exp10(x);
    out[5 * N + i] = half_log(y);
    out[6 * N + i] = half_log2(y);
    out[7 * N + i] = half_log10(y);
    out[8 * N + i] = half_powr(y, x);
    out[9 * N + i] = half_recip(y);
    out[10 * N + i] = half_rsqrt(y);
    out[11 * N + i] = half_sin(x);
    out[12 * N + i] = half_sqrt(y);
    out[13 * N + i] = half_tan(x);
    out[14 * N + i] = fast_distance((float2)(x, y), (float2)(y, 1.0f));
    out[15 * N + i] = fast_length((float4)(x, y, x, 2.0f));
    out[16 * N + i] = fast_normalize((float3)(x, y, 1.0f)).y;
}

SG kernel void half_stores(global half *out, global const float *a, global float *back) {
    size_t i = get_global_id(0);
    float x = a[i];
    vstore_half(x, i, out);
    vstore_half_rte(x, N + i, out);
    vstore_half_rtz(x, 2 * N + i, out);
    vstore_half_rtp(x, 3 * N + i, out);
    vstore_half_rtn(x, 4 * N + i, out);
    vstorea_half3_rtn((float3)(x, -x, 1.0f), i, out + 5 * N);
    vstore_half2_rtp((float2)(-x, x), i, out + 9 * N);
    back[i] = vload_half(N - 1 - i, out) * 0.0f + vloada_half4(0, out).y * 0.0f;
}

SG kernel void long_conversions(global float *out, global const long *a, global long *back, global const float *f) {
    size_t i = get_global_id(0);
    long x = a[i];
    out[i] = convert_float(x);
    out[N + i] = convert_float_rtz(x);
    out[2 * N + i] = convert_float_rtp(x);
    out[3 * N + i] = convert_float_rtn(x);
    out[4 * N + i] = convert_float((ulong)x);
    out[5 * N + i] = convert_float_rtz((ulong)x);
    out[6 * N + i] = convert_float_rtn((ulong)x);
    back[i] = convert_long_sat(f[i]);
    back[N + i] = convert_long_sat_rte(f[i]);
    back[2 * N + i] = convert_ulong_sat(f[i]);
    back[3 * N + i] = convert_ulong_sat_rtp(f[i]);
    back[4 * N + i] = convert_long_rtn(f[i] * 1e-6f);
    back[5 * N + i] = convert_int_sat(x) + (long)convert_short_sat((ulong)x) + convert_uint_sat(x);
}

SG kernel void comparisons(global int *out, global const float4 *a, global const float4 *b, global const long2 *q) {
    size_t i = get_global_id(0);
    float4 x = a[i], y = b[i];
    int4 r = isequal(x, y) + isnotequal(x, y) * 2 + isgreater(x, y) * 4 + islessequal(x, y) * 8;
    r += islessgreater(x, y) * 16 + isordered(x, y) * 32 + signbit(x) * 64 + isfinite(x) * 128;
    long2 c = (q[i] > q[i].yx) + (q[i] == (long2)(0)) * 2 + (q[i] <= (long2)(7, -7)) * 4;
    out[i] = r.x + r.y * 3 + r.z * 5 + r.w * 7 + (int)(c.x * 11 + c.y * 13) + all(x < y) + any(q[i] < 0);
}
