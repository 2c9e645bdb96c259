// Atomics of C11: integers, flags, floats.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
float __builtin_IB_atomic_cmpxchg_global_f32(global float *, float, float);
#define ADD(p, v) atomic_fetch_add_explicit(p, v, memory_order_relaxed, memory_scope_device)
#define MIN(p, v) atomic_fetch_min_explicit(p, v, memory_order_relaxed, memory_scope_device)
#define MAX(p, v) atomic_fetch_max_explicit(p, v, memory_order_relaxed, memory_scope_device)

SG kernel void c11_ints(global atomic_int *p, global atomic_uint *u, global int *out, global atomic_int *flag, int k) {
    int e = k, r = atomic_fetch_add(p, 1) + atomic_fetch_or(p + 1, k) + atomic_fetch_xor(p + 2, k) + atomic_fetch_and(p + 3, k);
    r += atomic_fetch_min_explicit(p + 4, k, memory_order_acq_rel, memory_scope_work_group) + (int)MAX(u, (uint)k);
    r += atomic_exchange(p + 5, k) + atomic_fetch_sub(p + 7, k) + atomic_load_explicit(p + 9, memory_order_acquire, memory_scope_device);
    r += 2 * atomic_compare_exchange_strong(p + 6, &e, 9) + e;
    r += 4 * atomic_compare_exchange_weak(p + 10, &e, r);
    atomic_store(p + 8, k);
    r += 8 * atomic_flag_test_and_set((global atomic_flag *)flag);
    r += 16 * atomic_flag_test_and_set((global atomic_flag *)flag + 1);
    atomic_flag_clear((global atomic_flag *)flag + 2);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    out[0] = r;
}

SG kernel void c11_local(global int *out, global const int *in, local atomic_int *l) {
    int i = get_local_id(0), e = -1;
    if (i < 4) atomic_init(l + i, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add(l, in[get_global_id(0)]);
    atomic_fetch_max(l + 1, in[get_global_id(0)]);
    // One of them finds 2 there.
    e = 2;
    if (atomic_compare_exchange_strong(l + 2, &e, 77)) atomic_fetch_sub(l + 3, 1000);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load(l + (i & 3));
}

// A lock around what several threads change.
SG kernel void spin_lock(global atomic_int *lock, global int *sum, global const int *in) {
    if (get_sub_group_local_id() == 0) {
        int e = 0;
        while (!atomic_compare_exchange_strong_explicit(lock, &e, 1, memory_order_acquire, memory_order_relaxed, memory_scope_device)) e = 0;
        *(global volatile int *)sum += in[get_global_id(0)];
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
    }
}

SG kernel void float_atomics(global atomic_float *p, global float *out, global const float *in, local atomic_float *l) {
    size_t i = get_global_id(0);
    uint n = get_local_id(0);
    if (n < 3) atomic_init(l + n, 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = in[i];
    ADD(p, x);
    MIN(p + 1, x);
    MAX(p + 2, x);
    out[i] = MAX(p + 3, -x) + MIN(p + 4, x) + atomic_load(p + 5);
    atomic_fetch_add_explicit(l, x, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_min_explicit(l + 1, x, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max_explicit(l + 2, x, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] += atomic_load(l + n % 3);
}

SG kernel void float_atomic_order(global atomic_float *p, global float *out, float k) {
    out[0] = ADD(p, k);
    out[1] = MIN(p + 1, k);
    out[2] = MAX(p + 2, k);
    out[3] = atomic_exchange(p + 3, k);
    out[4] = __builtin_IB_atomic_cmpxchg_global_f32((global float *)p + 4, 2.0f, k);
    out[5] = __builtin_IB_atomic_cmpxchg_global_f32((global float *)p + 5, 2.0f, k);
}
