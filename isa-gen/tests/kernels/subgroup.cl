// Sub-groups: shuffles, reductions.
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void shuffles(global float *out, global const float *in, global const uint *order) {
    size_t i = get_global_id(0);
    float x = in[i];
    uint k = get_sub_group_local_id();
    float r = intel_sub_group_shuffle(x, order[i]) + intel_sub_group_shuffle_xor(x, 5);
    r += intel_sub_group_shuffle_up(x, x * 2, 1) + intel_sub_group_shuffle_down(x, r, k & 3);
    out[i] = r + sub_group_broadcast(x, 2) + sub_group_broadcast(r, order[0]);
}

SG kernel void shuffles_small(global ushort *out, global const uchar *in, global const ulong *wide, global const uint *order) {
    size_t i = get_global_id(0);
    ushort w = out[i];
    out[i] = intel_sub_group_shuffle(w, order[i]) + intel_sub_group_shuffle(in[i], 3)
        + (ushort)intel_sub_group_shuffle(wide[i], order[i]);
}

SG kernel void reductions(global int *out, global const int *in, global const float *f) {
    size_t i = get_global_id(0);
    int x = in[i];
    int r = sub_group_reduce_add(x) + sub_group_reduce_min(x) + sub_group_scan_inclusive_add(x);
    r += sub_group_scan_exclusive_max(x) + (int)sub_group_reduce_max(f[i]) + (int)sub_group_scan_inclusive_add(f[i]);
    out[i] = r + sub_group_any(x > 5) + sub_group_all(x < 7);
}

SG kernel void reductions_wide(global long *out, global const long *in, global const ushort *w) {
    size_t i = get_global_id(0);
    out[i] = sub_group_reduce_add(in[i]) + sub_group_scan_inclusive_max(in[i]) + sub_group_scan_exclusive_add((int)w[i]);
}
