// Images of other kinds than colors: depth, halves, and those that are read and written.
// needs: images
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
half4 __attribute__((overloadable)) read_imageh(read_only image2d_t, sampler_t, int2);

constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

SG kernel void image_depth(read_only image2d_depth_t in, read_only image2d_array_depth_t layers, write_only image2d_depth_t out, global float *more) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float d = read_imagef(in, nearest, p);
    write_imagef(out, p, d * 0.5f);
    // Half way to the next texel of the row.
    float mean = read_imagef(in, linear, convert_float2(p) + (float2)(1.0f, 0.5f));
    float layer = read_imagef(layers, nearest, (int4)(p, 1, 0));
    more[p.y * get_global_size(0) + p.x] = mean + layer + get_image_channel_data_type(in) + get_image_width(in);
}

SG kernel void image_filter(read_only image2d_t in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, p, read_imagef(in, linear, convert_float2(p) + (float2)(1.0f, 0.5f)));
}

SG kernel void image_half(read_only image2d_t in, write_only image2d_t out, global half4 *more) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    half4 v = read_imageh(in, nearest, p);
    more[p.y * get_global_size(0) + p.x] = v * 2.0h;
    write_imageh(out, p, v.wxyz);
}

SG kernel void image_writes(read_write image3d_t volume, read_write image1d_array_t rows, read_write image2d_array_t layers, read_write image1d_buffer_t buffer) {
    int x = get_global_id(0);
    write_imagei(volume, (int4)(x, 1, 2, 0), read_imagei(volume, (int4)(x, 0, 1, 0)) + 1);
    write_imagei(rows, (int2)(x, 1), read_imagei(rows, (int2)(x, 2)) + 2);
    write_imagei(layers, (int4)(x, 2, 1, 0), read_imagei(layers, (int4)(x, 1, 0, 0)) + 3);
    write_imagei(buffer, x + 32, read_imagei(buffer, x) + 4);
}
