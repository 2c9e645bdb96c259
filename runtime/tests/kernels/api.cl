// Kernels of the tests of the API: buffers, SLM, values.
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

K void saxpy(__global const float *x, __global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

K void vadd(__global const int *a, __global const int *b, __global int *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

K void slm_sum(__global const int *x, __global int *out, __local int *tmp) {
    int l = get_local_id(0);
    tmp[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = tmp[0];
}

typedef struct { int a; float b; char c; short d; long e; float4 f; } S;

K void by_value(__global float *out, S s, float3 v, uchar u) {
    int i = get_global_id(0);
    out[i] = s.a + s.b + s.c + s.d + (float)s.e + s.f.x * 2 + s.f.w + v.x + v.y * 10 + v.z * 100 + u + i;
}
