// Atomics of double floats.
// needs: fp64 atomic64
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void double_atomics(global atomic_double *p, global double *out, global const double *in) {
    size_t i = get_global_id(0);
    double x = in[i];
    atomic_fetch_add_explicit(p, x, memory_order_relaxed, memory_scope_device);
    atomic_fetch_min_explicit(p + 1, x, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(p + 2, x, memory_order_relaxed, memory_scope_device);
    out[i] = atomic_fetch_add_explicit(p + 3 + i, x, memory_order_relaxed, memory_scope_device);
}
