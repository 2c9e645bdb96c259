// printf of every kind of argument.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void print_numbers(global const int *a, global const float *b, global const char *c) {
    size_t i = get_global_id(0);
    if (a[i] > 3) printf("%d of %u: %f, %x and %c\n", a[i], (uint)i, b[i], a[i], c[i]);
}

SG kernel void print_vectors(global const int4 *a, global const float2 *b) {
    size_t i = get_global_id(0);
    printf("%v4hld %v2hlf %s %lu\n", a[i], b[i], "text", (ulong)i);
}
