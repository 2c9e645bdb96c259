// Conversions to and from bfloat, and products of tf32.
// needs: bfloat
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define BUILTIN __attribute__((overloadable))
ushort BUILTIN intel_convert_bfloat16_as_ushort(float);
ushort4 BUILTIN intel_convert_bfloat164_as_ushort4(float4);
float BUILTIN intel_convert_as_bfloat16_float(ushort);

SG kernel void bfloat_rounding(global ushort *out, global float *back, global const float *in) {
    size_t i = get_global_id(0);
    out[i] = intel_convert_bfloat16_as_ushort(in[i]);
    back[i] = intel_convert_as_bfloat16_float(as_ushort2(in[i]).x);
}

SG kernel void bfloat_vectors(global ushort4 *out, global const float4 *in) {
    size_t i = get_global_id(0);
    out[i] = intel_convert_bfloat164_as_ushort4(in[i]);
}
