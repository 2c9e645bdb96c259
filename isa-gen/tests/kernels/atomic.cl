// Atomics on global and local memory.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void atomic_ints(global volatile int *p, global volatile uint *u, global int *out, int k) {
    size_t i = get_global_id(0);
    int r = atomic_add(p, k) + atomic_sub(p + 1, 3) + atomic_min(p + 2, k) + atomic_max(p + 3, k);
    r += atomic_and(p + 4, k) + atomic_or(p + 5, k) + atomic_xor(p + 6, k) + atomic_xchg(p + 7, k);
    r += atomic_inc(p + 8) + atomic_dec(p + 9) + atomic_cmpxchg(p + 10, k, r);
    r += (int)(atomic_min(u, 3u) + atomic_max(u + 1, (uint)k));
    atomic_add(p + i, r);
    out[i] = r;
}

SG kernel void histogram(global uint *bins, global const uchar *in, local uint *counts, int n) {
    uint l = get_local_id(0);
    for (uint k = l; k < 256; k += get_local_size(0)) counts[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) atomic_inc(counts + in[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < 256; k += get_local_size(0)) atomic_add(bins + k, counts[k]);
}

SG kernel void local_histogram(global uint *out, global const uint *in) {
    local uint bins[16];
    int l = get_local_id(0);
    if (l < 16) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[in[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) out[get_group_id(0) * 16 + l] = bins[l];
}

SG kernel void float_add_by_exchange(global volatile float *sum, global const float *in) {
    float x = in[get_global_id(0)];
    union { uint u; float f; } old, next;
    do {
        old.f = *sum;
        next.f = old.f + x;
    } while (atomic_cmpxchg((global volatile uint *)sum, old.u, next.u) != old.u);
}

SG kernel void float_exchange(global volatile float *p, local volatile float *q, global float *out) {
    size_t i = get_global_id(0);
    *q = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float old = atomic_xchg(p, out[i]);
    out[i] = old + atomic_xchg(q, old);
}

SG kernel void ordered(global atomic_int *flag, global int *data, global atomic_uint *count) {
    size_t i = get_global_id(0);
    data[i] = (int)i;
    atomic_store_explicit(flag + 1, 1, memory_order_release, memory_scope_device);
    int seen = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
    data[i + 1] = seen + (int)atomic_fetch_add_explicit(count, 1u, memory_order_seq_cst, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    int want = 3;
    atomic_compare_exchange_strong(flag + 2, &want, 4);
    data[i + 2] = want;
}

SG kernel void atomics_of_many(global const int *in, global int *a, global uint *u, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    int v = in[i];
    atomic_add(&a[0], v);
    atomic_sub(&a[1], v);
    atomic_inc(&a[2]);
    atomic_dec(&a[3]);
    atomic_min(&a[4], v);
    atomic_max(&a[5], v);
    atomic_and(&a[6], v);
    atomic_or(&a[7], v);
    atomic_xor(&a[8], v);
    atomic_min(&u[0], (uint)v);
    atomic_max(&u[1], (uint)v);
    // A histogram, with the old value used.
    int old = atomic_add(&a[16 + (v & 15)], 1);
    if (old == 0) atomic_inc(&a[9]);
    // A sum by compare and exchange.
    int seen = a[10], was;
    do { was = seen; seen = atomic_cmpxchg(&a[10], was, was + (v & 7)); } while (seen != was);
}
