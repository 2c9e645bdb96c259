// Atomics of 64 bits on local memory.
// needs: atomic64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void local_quads(global long *out, global const long *in, local atomic_long *l) {
    uint n = get_local_id(0);
    size_t i = get_global_id(0);
    if (n < 6) atomic_init(l + n, n < 5 ? 0 : -1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add(l, in[i]);
    atomic_fetch_max(l + 1, in[i]);
    atomic_fetch_min(l + 2, in[i]);
    atomic_fetch_xor(l + 3, in[i]);
    atomic_fetch_or(l + 4, in[i]);
    atomic_fetch_and(l + 5, in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = atomic_load(l + n % 6);
}
