// What the benchmarks run.
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

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
