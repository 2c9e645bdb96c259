// Floats of 19 bits in systolic products.
// needs: dpas16
#define SG __attribute__((intel_reqd_sub_group_size(16)))
#define BUILTIN __attribute__((overloadable))
float8 BUILTIN intel_sub_group_tf32_tf32_matrix_mad_k8_f32(short8, int8, float8);
int BUILTIN intel_convert_f32_to_tf32(float);
float BUILTIN intel_convert_tf32_to_f32(int);

SG kernel void tf32_rounding(global int *out, global float *back, global const float *in) {
    size_t i = get_global_id(0);
    int v = intel_convert_f32_to_tf32(in[i]);
    out[i] = v;
    back[i] = intel_convert_tf32_to_f32(v);
}

SG kernel void tf32_product(global float8 *c, global const short8 *a, global const int8 *b) {
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_tf32_tf32_matrix_mad_k8_f32(a[i], b[i], c[i]);
}
