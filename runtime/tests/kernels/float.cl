// Floating point of every width.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

// Results that IEEE defines to the bit.
K void exact(__global const float *a, __global const float *b, __global const float *c, __global float *o) {
    int i = get_global_id(0);
    float x = a[i], y = b[i], z = c[i];
    o += i * 24;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, z);
    o[4] = floor(x); o[5] = ceil(x); o[6] = rint(x); o[7] = trunc(x);
    o[8] = fabs(x); o[9] = -y; o[10] = copysign(x, y);
    o[11] = fmin(x, y); o[12] = fmax(x, y);
    o[13] = x < y ? 1.0f : 2.0f; o[14] = x >= y ? 1.0f : 2.0f; o[15] = x == y ? 1.0f : 2.0f;
    o[16] = x != y ? 1.0f : 2.0f; o[17] = isnan(x) ? 1.0f : 0.0f; o[18] = isinf(x) + 2 * isfinite(y);
    o[19] = clamp(x, 0.0f, 1.0f); o[20] = isless(x, y) + 2 * isunordered(x, y);
    o[21] = fma(-x, y, fabs(z)); o[22] = as_float(as_int(x) & 0x7fffff00); o[23] = signbit(x) != 0;
}

K void approximate(__global const float *a, __global float *o) {
    int i = get_global_id(0);
    float x = a[i];
    o += i * 12;
    o[0] = native_sqrt(x); o[1] = native_rsqrt(x); o[2] = native_recip(x);
    o[3] = native_exp2(x * 0.1f); o[4] = native_log2(x); o[5] = native_sin(x * 0.01f); o[6] = native_cos(x * 0.01f);
    o[7] = native_divide(3.0f, x); o[8] = native_powr(x, 1.5f);
    o[9] = sqrt(x); o[10] = 7.0f / x; o[11] = exp(-x * 0.05f) + log(x) + sin(x) + pow(x, 0.3f) + tan(x * 0.01f);
}

K void convert(__global const float *a, __global const int *b, __global int *o) {
    int i = get_global_id(0);
    float x = a[i]; int v = b[i];
    o += i * 24;
    o[0] = convert_int_sat(x); o[1] = convert_uint_sat(x); o[2] = convert_short_sat(x); o[3] = convert_uchar_sat(x);
    o[4] = convert_int_sat_rte(x); o[5] = convert_int_sat_rtp(x); o[6] = convert_int_sat_rtn(x);
    o[7] = as_int(convert_float(v)); o[8] = as_int(convert_float((uint)v));
    o[9] = as_int(convert_float_rtz(v)); o[10] = as_int(convert_float_rtp(v)); o[11] = as_int(convert_float_rtn(v));
    o[12] = as_int((float)(short)v); o[13] = as_int((float)(uchar)v);
    o[14] = convert_char_sat(x); o[15] = (int)(fmod(fabs(x), 1000.0f));
    o[16] = as_ushort(convert_half(x)); o[17] = as_ushort(convert_half_rtz(x)); o[18] = as_int((float)as_half((short)v));
    o[19] = as_ushort(convert_half_rtp(x)); o[20] = as_ushort(convert_half_rtn(x));
    o[21] = convert_ushort_sat(x); o[22] = convert_int_sat_rtz(x * 3); o[23] = as_ushort((half)(float)(v >> 12));
}

K void halves(__global const half *a, __global const half *b, __global half *o) {
    int i = get_global_id(0);
    half x = a[i], y = b[i];
    o += i * 8;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, (half)1.5h);
    o[4] = fmin(x, y); o[5] = floor(x); o[6] = x < y ? x : -y; o[7] = (half)((float)x * (float)y);
}

K void doubles(__global const double *a, __global const double *b, __global double *o, __global int *p) {
    int i = get_global_id(0);
    double x = a[i], y = b[i];
    o += i * 8; p += i * 4;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, 0.25);
    o[4] = fmin(x, y); o[5] = fabs(x) - y; o[6] = x > y ? x : y * 2; o[7] = (double)(float)x;
    p[0] = convert_int_sat(x); p[1] = x < y; p[2] = (int)((float)(y * 1e-3)); p[3] = as_int((float)(x + p[0]));
}

// An escape-time loop: every channel has its own trip count.
K void mandelbrot(__global int *o, int w, float step, int most) {
    int px = get_global_id(0), py = get_global_id(1);
    float cx = fma((float)px, step, -2.2f), cy = fma((float)py, step, -1.2f);
    float x = 0, y = 0;
    int n = 0;
    while (n < most && fma(x, x, y * y) <= 4.0f) {
        float t = fma(x, x, -(y * y)) + cx;
        y = fma(2 * x, y, cy);
        x = t;
        n++;
    }
    o[py * w + px] = n;
}

// A small matrix product through SLM.
K void matmul(__global const float *a, __global const float *b, __global float *c, int n) {
    __local float ta[8][8], tb[8][8];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        ta[ly][lx] = a[y * n + k + lx];
        tb[ly][lx] = b[(k + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 8; j++) sum = fma(ta[ly][j], tb[j][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
