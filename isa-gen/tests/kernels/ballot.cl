// Sub-groups of the Khronos extensions: ballots, votes, and reductions of those lanes that are there.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void ballots(global uint *out, global const uint *in) {
    size_t i = get_global_id(0);
    uint x = in[i], lane = get_sub_group_local_id();
    // No ballot is empty.
    uint4 b = sub_group_ballot((x & 1) || lane == 3);
    uint r = b.x + 3 * (b.y | b.z | b.w) + sub_group_ballot_bit_count(b);
    r += 5 * sub_group_ballot_inclusive_scan(b) + 7 * sub_group_ballot_exclusive_scan(b);
    r += 11 * sub_group_ballot_find_lsb(b) + 13 * sub_group_ballot_find_msb(b);
    r += 17 * sub_group_inverse_ballot(b) + 19 * sub_group_ballot_bit_extract(b, x & 7);
    r ^= get_sub_group_eq_mask().x * 3 ^ get_sub_group_ge_mask().x * 5 ^ get_sub_group_gt_mask().x * 7;
    out[i] = r ^ get_sub_group_le_mask().x * 9 ^ get_sub_group_lt_mask().x * 11;
}

SG kernel void votes(global uint *out, global const uint *in) {
    size_t i = get_global_id(0);
    uint x = in[i], r = 0;
    if (x & 2) {
        r = 1 + 2 * (sub_group_elect() != 0) + 4 * (sub_group_non_uniform_all(x & 4) != 0);
        r += 8 * (sub_group_non_uniform_any((x & 56) == 0) != 0) + 16 * (sub_group_non_uniform_all_equal(x & 6) != 0);
        r += 32 * sub_group_broadcast_first(x) + sub_group_ballot(x & 8).x;
    }
    out[i] = r;
}

SG kernel void reductions_of_some(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int x = in[i], r = 0;
    if (x & 1) {
        r = sub_group_non_uniform_reduce_add(x) ^ 3 * sub_group_non_uniform_reduce_mul(x | 1);
        r ^= 5 * sub_group_non_uniform_reduce_min(x) ^ 7 * sub_group_non_uniform_reduce_max(x);
        r ^= 9 * sub_group_non_uniform_reduce_and(x) ^ 11 * sub_group_non_uniform_reduce_or(x) ^ 13 * sub_group_non_uniform_reduce_xor(x);
        r += (sub_group_non_uniform_reduce_logical_and(x & 6) != 0) + 2 * (sub_group_non_uniform_reduce_logical_or((x & 62) == 0) != 0);
        r += 4 * (sub_group_non_uniform_reduce_logical_xor(x & 4) != 0);
    }
    out[i] = r;
}

SG kernel void scans_of_some(global int *out, global const int *in, global float *f) {
    size_t i = get_global_id(0);
    int x = in[i], r = 0;
    if (x & 1) {
        r = sub_group_non_uniform_scan_inclusive_add(x) ^ 3 * sub_group_non_uniform_scan_exclusive_mul(x | 1);
        r ^= 5 * sub_group_non_uniform_scan_exclusive_min(x) ^ 7 * sub_group_non_uniform_scan_inclusive_max(x);
        r ^= 9 * sub_group_non_uniform_scan_exclusive_and(x) ^ 11 * sub_group_non_uniform_scan_inclusive_or(x);
        r ^= 13 * sub_group_non_uniform_scan_exclusive_xor(x);
        r += sub_group_non_uniform_scan_exclusive_logical_or(x & 64) != 0;
        f[i] = sub_group_non_uniform_scan_exclusive_add(f[i]) + sub_group_non_uniform_scan_inclusive_min(f[i]);
    }
    out[i] = r;
}

SG kernel void clusters(global int *out, global const int *in, global ushort *w) {
    size_t i = get_global_id(0);
    int x = in[i];
    int r = sub_group_clustered_reduce_add(x, 4) ^ 3 * sub_group_clustered_reduce_max(x, 2);
    r ^= 5 * sub_group_clustered_reduce_and(x, 8) ^ 7 * sub_group_clustered_reduce_mul(x | 1, SIMD);
    out[i] = r + (sub_group_clustered_reduce_logical_or((x & 7) == 0, 4) != 0) + sub_group_clustered_reduce_xor(x, 1);
    w[i] = sub_group_clustered_reduce_min(w[i], 4) + sub_group_clustered_reduce_add(w[i], 2);
}

SG kernel void khr_shuffles(global long *out, global const int *in, global const short *s) {
    size_t i = get_global_id(0);
    uint lane = get_sub_group_local_id();
    int x = in[i];
    long r = sub_group_shuffle(x, (lane + 3) % 8) + 3 * sub_group_shuffle_xor(x, 5);
    int up = sub_group_shuffle_up(x, 2), down = sub_group_shuffle_down(x, 1);
    r += lane >= 2 ? 5 * up : 0;
    r += lane < SIMD - 1 ? 7 * down : 0;
    out[i] = r * 1000 + sub_group_shuffle(s[i], lane ^ 1) + sub_group_shuffle((long)x << 33, lane & 3);
}

SG kernel void small_reductions(global short *out, global const char *c, global const ushort *w, global ulong *q, global half *h) {
    size_t i = get_global_id(0);
    out[i] = sub_group_reduce_add(c[i]) + sub_group_scan_inclusive_max(c[i]) + (short)sub_group_scan_exclusive_add(w[i]);
    q[i] = (sub_group_reduce_max(q[i]) ^ sub_group_scan_exclusive_add(q[i])) + sub_group_broadcast(q[i], 5);
    h[i] = sub_group_reduce_max(h[i]) + sub_group_scan_inclusive_add(h[i]) + sub_group_broadcast(h[i], 1);
}

SG kernel void vector_broadcasts(global float4 *out, global const float4 *in, global const char2 *c, global short4 *s) {
    size_t i = get_global_id(0);
    float4 v = sub_group_broadcast(in[i], 3);
    char2 b = sub_group_broadcast(c[i], 1);
    short4 w = sub_group_broadcast(s[i], 2);
    out[i] = v.wzyx + convert_float(b.x - b.y);
    s[i] = w.zxwy;
}
