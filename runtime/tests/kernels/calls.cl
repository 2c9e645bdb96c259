// Subroutines.
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

__attribute__((noinline)) int twice(int x, int y) { return x * 2 + (y > x ? y : x); }

K void calls(__global const int *in, __global int *o) {
    int i = get_global_id(0);
    int v = in[i];
    if (v & 1) v = twice(v, i);
    o[i] = twice(v, 7);
}
