// Images and samplers.
// needs: images
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;

SG kernel void image_copy(read_only image2d_t in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, p, read_imagef(in, nearest, p).zyxw);
}

SG kernel void image_blur(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += read_imagef(in, s, p + (int2)(x, y));
    write_imagef(out, p, sum / 9.0f);
}

SG kernel void image_resize(read_only image2d_t in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float2 at = (convert_float2(p) + 0.5f) / convert_float2(get_image_dim(out));
    write_imagef(out, p, read_imagef(in, linear, at));
}

SG kernel void image_3d(read_only image3d_t in, write_only image3d_t out) {
    int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    uint4 v = read_imageui(in, nearest, p) + read_imageui(in, p + (int4)(1, 0, 0, 0));
    write_imageui(out, p, v + (uint)get_image_depth(in));
}

SG kernel void image_1d(read_only image1d_t in, read_only image1d_buffer_t buffer, write_only image1d_t out) {
    int x = get_global_id(0);
    write_imagei(out, x, read_imagei(in, nearest, x) + read_imagei(buffer, x) + get_image_width(in));
}

SG kernel void image_arrays(read_only image2d_array_t in, read_only image1d_array_t line, write_only image2d_array_t out) {
    int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    float4 v = read_imagef(in, linear, convert_float4(p)) + read_imagef(line, nearest, p.xy);
    write_imagef(out, p, v * (float)get_image_array_size(in));
}

SG kernel void image_read_write(read_write image2d_t img) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    uint4 v = read_imageui(img, p);
    write_imageui(img, p, v ^ get_image_channel_order(img));
}
