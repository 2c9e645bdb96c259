// Systolic matrix products of elements below a byte, of 16 lanes.
// needs: dpas16
#define SG __attribute__((intel_reqd_sub_group_size(16)))

#define BUILTIN __attribute__((overloadable))
int8 BUILTIN intel_sub_group_i4_i4_matrix_mad_k64(short8, int8, int8);
int4 BUILTIN intel_sub_group_u4_i8_matrix_mad_k32(uchar4, int8, int4);
int BUILTIN intel_sub_group_i2_i2_matrix_mad_k64(char, int4, int);
int2 BUILTIN intel_sub_group_i8_u2_matrix_mad_k32(short2, uint2, int2);

SG kernel void wide_nibbles(global int8 *c, global const short8 *a, global const int8 *b, global int4 *d, global const uchar4 *e) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i4_i4_matrix_mad_k64(a[i], b[i], c[i]);
    d[i] = intel_sub_group_u4_i8_matrix_mad_k32(e[i], b[i], d[i]);
}

SG kernel void wide_crumbs(global int *c, global const char *a, global const int4 *b, global int2 *d, global const short2 *e) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i2_i2_matrix_mad_k64(a[i], b[i], c[i]);
    d[i] = intel_sub_group_i8_u2_matrix_mad_k32(e[i], as_uint2(b[i].lo), d[i]);
}
