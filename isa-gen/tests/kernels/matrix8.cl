// Systolic matrix products of 8 lanes.
// needs: dpas8
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(8)))

#define BUILTIN __attribute__((overloadable))
float8 BUILTIN intel_sub_group_f16_f16_matrix_mad_k16(int8, int8, float8);
float4 BUILTIN intel_sub_group_bf16_bf16_matrix_mad_k16(int4, int8, float4);
int8 BUILTIN intel_sub_group_i8_i8_matrix_mad_k32(int8, int8, int8);
int8 BUILTIN intel_sub_group_u8_i8_matrix_mad_k32(uint8, int8, int8);
int BUILTIN intel_sub_group_i8_u8_matrix_mad_k32(int, uint8, int);

SG kernel void matrix_half(global float8 *c, global const int8 *a, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_f16_f16_matrix_mad_k16(a[i], b[i], c[i]);
}

SG kernel void matrix_bfloat(global float4 *c, global const int4 *a, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_bf16_bf16_matrix_mad_k16(a[i], b[i], c[i]);
}

SG kernel void matrix_bytes(global int8 *c, global const int8 *a, global const uint8 *u, global const int8 *b, int n) {
    size_t i = get_global_id(0);
    int8 s = c[i];
    for (int k = 0; k < n; k++) {
        s = intel_sub_group_i8_i8_matrix_mad_k32(a[i + k], b[i + k], s);
        s = intel_sub_group_u8_i8_matrix_mad_k32(u[i + k], b[i + k], s);
    }
    c[i] = s;
}

SG kernel void matrix_one_row(global int *c, global const int *a, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i8_u8_matrix_mad_k32(a[i], as_uint8(b[i]), c[i]);
}
