// Systolic matrix products whose first matrix is shared by two sub-groups.
// needs: dpas8
#define SG __attribute__((intel_reqd_sub_group_size(8)))

#define BUILTIN __attribute__((overloadable))
int8 BUILTIN intel_sub_group_i8_i8_split_matrix_mad_k32(int4, int8, int8);
int4 BUILTIN intel_sub_group_u8_i8_split_matrix_mad_k32(uint2, int8, int4);
int2 BUILTIN intel_sub_group_i8_u8_split_matrix_mad_k32(int, uint8, int2);
float8 BUILTIN intel_sub_group_f16_f16_split_matrix_mad_k16(int4, int8, float8);
float4 BUILTIN intel_sub_group_bf16_bf16_split_matrix_mad_k16(int2, int8, float4);

SG kernel void split_bytes(global int8 *c, global const int4 *a, global const int8 *b, int n) {
    size_t i = get_global_id(0);
    int8 s = c[i];
    for (int k = 0; k < n; k++) s = intel_sub_group_i8_i8_split_matrix_mad_k32(a[i + k], b[i + k], s);
    c[i] = s;
}

SG kernel void split_fewer_rows(global int4 *c, global int2 *d, global const uint2 *a, global const int *e, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_u8_i8_split_matrix_mad_k32(a[i], b[i], c[i]);
    d[i] = intel_sub_group_i8_u8_split_matrix_mad_k32(e[i], as_uint8(b[i]), d[i]);
}

SG kernel void split_halves(global float8 *c, global const int4 *a, global const int8 *b, global float4 *d, global const int2 *e, global const int8 *f) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_f16_f16_split_matrix_mad_k16(a[i], b[i], c[i]);
    d[i] = intel_sub_group_bf16_bf16_split_matrix_mad_k16(e[i], f[i], d[i]);
}
