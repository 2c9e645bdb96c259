// Named barriers of sub-groups, and functions of groups of several dimensions.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

// Pairs of sub-groups, each with a barrier of its own.
SG kernel void named_barriers(global int *out, global const int *in, local int *l) {
    local NamedBarrier_t *first = named_barrier_init(2);
    local NamedBarrier_t *second = named_barrier_init(2);
    uint i = get_local_id(0);
    int r = 0;
    for (int k = 0; k < 3; k++) {
        l[i] = in[get_global_id(0)] + k;
        if (get_sub_group_id() < 2) work_group_named_barrier(first, CLK_LOCAL_MEM_FENCE);
        else work_group_named_barrier(second, CLK_LOCAL_MEM_FENCE);
        r = r * 3 + l[i ^ SIMD];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = r;
}

SG kernel void group_functions_2d(global long *out, global const int *in) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int x = in[at];
    long r = work_group_reduce_add((long)x << 20) + work_group_scan_inclusive_add((long)x);
    r += work_group_broadcast(x, 1, 2) + 3 * work_group_reduce_min(x) + (long)work_group_reduce_max((float)(x & 1023));
    r += work_group_scan_exclusive_max(x) + 2 * work_group_any(x == 77) + 4 * work_group_all(x != 77);
    out[at] = r + get_local_linear_id() + get_global_linear_id() * 3 + get_sub_group_id() + get_enqueued_num_sub_groups();
}
