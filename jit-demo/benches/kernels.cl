// The demo's kernels in OpenCL C, for the comparison with Intel's compiler.
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void saxpy(__global const float *x, __global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n)
        y[i] = fma(a, x[i], y[i]);
}

__attribute__((intel_reqd_sub_group_size(16)))
__kernel void mandelbrot(__global int *out, int width, int limit, float left, float top, float step) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width)
        return;
    float cr = fma((float)x, step, left), ci = fma((float)y, step, top);
    float r = 0, i = 0;
    int n = 0;
    while (r * r + i * i <= 4.0f && n < limit) {
        float next = r * r - i * i + cr;
        i = fma(r + r, i, ci);
        r = next;
        n++;
    }
    out[y * width + x] = n;
}

// A work-item a byte: OpenCL C has no whole-thread style.
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void linear(__global const uchar *src, __global uchar *dst, int src_pitch, int dst_pitch) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += src[(y + dy) * src_pitch + x + 3 * dx];
    dst[y * dst_pitch + x] = convert_uchar_sat(fma(sum, 1.0f / 9.0f, 0.5f));
}
