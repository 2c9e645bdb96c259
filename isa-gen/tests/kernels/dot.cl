// Dot products of packed bytes.
// needs: dp4a
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void packed_dots(global int *out, global const uint *a, global const uint *b) {
    size_t i = get_global_id(0);
    char4 sa = as_char4(a[i]), sb = as_char4(b[i]);
    uchar4 ua = as_uchar4(a[i]), ub = as_uchar4(b[i]);
    int r = dot_acc_sat(sa, sb, 1000);
    uint u = dot_acc_sat(ua, ub, 100u);
    out[i] = dot_acc_sat(sa, ub, r) + dot_acc_sat(sa, sb, -5) + (int)u;
}

SG kernel void byte_convolution(global int *out, global const char4 *a, constant char4 *k, int n) {
    int i = get_global_id(0), s = 0;
    for (int j = 0; j < n; j++) s = dot_acc_sat(a[i + j], k[j], s);
    out[i] = s;
}
