// Systolic matrix products of elements below a byte.
// needs: dpas8
#define SG __attribute__((intel_reqd_sub_group_size(8)))

#define BUILTIN __attribute__((overloadable))
int8 BUILTIN intel_sub_group_i4_i4_matrix_mad_k64(int8, int8, int8);
int4 BUILTIN intel_sub_group_u4_i4_matrix_mad_k64(uint4, int8, int4);
int2 BUILTIN intel_sub_group_i8_u2_matrix_mad_k32(int2, uint2, int2);
int4 BUILTIN intel_sub_group_u4_i8_matrix_mad_k32(ushort4, int8, int4);
int BUILTIN intel_sub_group_i2_i2_matrix_mad_k64(short, int4, int);

SG kernel void matrix_nibbles(global int8 *c, global const int8 *a, global const int8 *b, global int4 *d) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i4_i4_matrix_mad_k64(a[i], b[i], c[i]);
    d[i] = intel_sub_group_u4_i4_matrix_mad_k64(as_uint4(a[i].lo), b[i], d[i]);
}

SG kernel void matrix_crumbs(global int *c, global const short *a, global const int4 *b, global int2 *d, global const int2 *e) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i2_i2_matrix_mad_k64(a[i], b[i], c[i]);
    d[i] = intel_sub_group_i8_u2_matrix_mad_k32(e[i], as_uint2(b[i].lo), d[i]);
}

SG kernel void matrix_mixed(global int4 *c, global const ushort4 *a, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_u4_i8_matrix_mad_k32(a[i], b[i], c[i]);
}
