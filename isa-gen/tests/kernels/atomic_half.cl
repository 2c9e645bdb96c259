// Atomics of 16 bits: half floats of an extension, and what Intel's compiler has for integers.
// needs: atomic16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
short __builtin_IB_atomic_add_global_i16(global short *, short);
short __builtin_IB_atomic_sub_global_i16(global short *, short);
short __builtin_IB_atomic_inc_global_i16(global short *);
short __builtin_IB_atomic_xor_global_i16(global short *, short);
short __builtin_IB_atomic_min_global_i16(global short *, short);
ushort __builtin_IB_atomic_max_global_u16(global ushort *, ushort);
short __builtin_IB_atomic_cmpxchg_global_i16(global short *, short, short);
short __builtin_IB_atomic_add_local_i16(local short *, short);
ushort __builtin_IB_atomic_min_local_u16(local ushort *, ushort);
half __builtin_IB_atomic_cmpxchg_global_f16(global half *, half, half);

SG kernel void half_atomics(global atomic_half *p, global half *out, global const half *in) {
    size_t i = get_global_id(0);
    atomic_fetch_min_explicit(p, in[i], memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(p + 1, in[i], memory_order_relaxed, memory_scope_device);
    out[i] = atomic_fetch_max_explicit(p + 2 + i, in[i], memory_order_relaxed, memory_scope_device);
}

SG kernel void half_exchange(global atomic_half *p, global half *out, half k) {
    out[0] = atomic_exchange(p, k);
    out[1] = __builtin_IB_atomic_cmpxchg_global_f16((global half *)p + 1, 2.0h, k);
    out[2] = __builtin_IB_atomic_cmpxchg_global_f16((global half *)p + 2, 2.0h, k);
}

SG kernel void word_atomics(global short *p, global short *out, short k) {
    out[0] = __builtin_IB_atomic_add_global_i16(p, k);
    out[1] = __builtin_IB_atomic_sub_global_i16(p + 1, k);
    out[2] = __builtin_IB_atomic_inc_global_i16(p + 2);
    out[3] = __builtin_IB_atomic_xor_global_i16(p + 3, k);
    out[4] = __builtin_IB_atomic_min_global_i16(p + 4, k);
    out[5] = __builtin_IB_atomic_max_global_u16((global ushort *)p + 5, k);
    out[6] = __builtin_IB_atomic_cmpxchg_global_i16(p + 6, 7, k);
    out[7] = __builtin_IB_atomic_cmpxchg_global_i16(p + 7, 8, k);
}

SG kernel void word_atomics_of_many(global short *p, global short *out, global const short *in, local short *l) {
    size_t i = get_global_id(0);
    uint n = get_local_id(0);
    l[n] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    __builtin_IB_atomic_add_global_i16(p, in[i]);
    out[i] = __builtin_IB_atomic_add_global_i16(p + 2 + i, in[i]);
    out[i] += __builtin_IB_atomic_add_local_i16(l + n, 3);
    out[i] += __builtin_IB_atomic_min_local_u16((local ushort *)l + n, 5);
    out[i] += l[n];
}
