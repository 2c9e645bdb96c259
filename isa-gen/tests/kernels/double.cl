// Double precision.
// needs: fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void double_arithmetic(global double *out, global const double *a, global const double *b) {
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    out[i] = fma(x, y, x - y) + fabs(x) * -y + fmax(x, y) - fmin(x, 2.5);
}

SG kernel void double_division(global double *out, global const double *a, global const double *b) {
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i] + sqrt(a[i]);
}

SG kernel void double_conversions(global double *out, global float *f, global int *n, global long *l, global uchar *c) {
    size_t i = get_global_id(0);
    double x = out[i];
    out[i] = f[i] + n[i] + (double)l[i] + c[i];
    f[i] = (float)x;
    n[i] = (int)x;
    l[i] = (long)(x * 2.0);
    c[i] = (uchar)(int)x;
}

SG kernel void double_exponential(global double *out, global const double *a) {
    size_t i = get_global_id(0);
    out[i] = exp(a[i]) + log(a[i] + 1.0);
}

SG kernel void double_rounding(global double *out, global long *bits, global const double *a) {
    size_t i = get_global_id(0);
    double x = a[i];
    out[i] = floor(x) + ceil(x) * trunc(x) + rint(x);
    bits[i] = as_long(x) ^ (isnan(x) ? 1 : 0) ^ (long)(x < 0.0) << 3;
}

SG kernel void double_dot(global double *out, global const double4 *a, global const double4 *b, int n) {
    size_t i = get_global_id(0);
    double s = 0.0;
    for (int k = 0; k < n; k++) s += dot(a[i * n + k], b[k]);
    out[i] = s;
}

SG kernel void double_jacobi(global double *out, global const double *in, int width) {
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    global const double *p = in + y * width + x;
    out[y * width + x] = 0.25 * (p[-1] + p[1] + p[-width] + p[width]);
}

SG kernel void double_results(global const double *a, global const double *b, global double *o, global int *p) {
    int i = get_global_id(0);
    double x = a[i], y = b[i];
    o += i * 8; p += i * 4;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, 0.25);
    o[4] = fmin(x, y); o[5] = fabs(x) - y; o[6] = x > y ? x : y * 2; o[7] = (double)(float)x;
    p[0] = convert_int_sat(x); p[1] = x < y; p[2] = (int)((float)(y * 1e-3)); p[3] = as_int((float)(x + p[0]));
}
