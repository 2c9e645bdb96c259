// Atomics of 64 bits.
// needs: atomic64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void atomic_quads(global volatile long *p, global volatile ulong *u, global long *out, long k) {
    size_t i = get_global_id(0);
    long r = atom_add(p, k) + atom_xchg(p + 1, k) + atom_cmpxchg(p + 2, k, 1L) + atom_min(p + 3, k) + atom_or(p + 4, k);
    out[i] = r + (long)atom_max(u, 3UL) + atom_inc(p + 5);
}

SG kernel void atomics_of_many_quads(global long *p, global const long *v) {
    int i = get_global_id(0);
    atom_add(&p[0], v[i]);
    atom_sub(&p[1], v[i]);
    atom_inc(&p[2]);
    long seen = p[3], was;
    do { was = seen; seen = atom_cmpxchg(&p[3], was, was ^ v[i]); } while (seen != was);
}
