// Dot products of packed bytes.
// needs: dp4a
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void packed_dots(global int *out, global const uint *a, global const uint *b) {
    size_t i = get_global_id(0);
    int r = dot_4x8packed_ss_int(a[i], b[i]) + dot_4x8packed_su_int(a[i], b[i]);
    out[i] = r + (int)dot_4x8packed_uu_uint(a[i], b[i]) + dot_acc_sat_4x8packed_ss_int(a[i], b[i], r);
}

SG kernel void byte_convolution(global int *out, global const char4 *a, constant char4 *k, int n) {
    int i = get_global_id(0), s = 0;
    for (int j = 0; j < n; j++) s = dot_acc_sat(a[i + j], k[j], s);
    out[i] = s;
}
