// Images of several samples a texel.
// needs: images
// extension: cl_khr_gl_msaa_sharing
#pragma OPENCL EXTENSION cl_khr_gl_msaa_sharing : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void image_samples(read_only image2d_msaa_t in, read_only image2d_array_msaa_t layers, global float4 *out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int n = get_image_num_samples(in);
    float4 sum = 0.0f;
    for (int s = 0; s < n; s++) sum += read_imagef(in, p, s) * (s + 1);
    sum += read_imagef(layers, (int4)(p, 1, 0), p.x & 1);
    out[p.y * get_global_size(0) + p.x] = sum + get_image_array_size(layers) + get_image_width(in);
}

SG kernel void image_sample_numbers(read_only image2d_msaa_t in, global uint4 *out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    out[p.y * get_global_size(0) + p.x] = read_imageui(in, p, p.x % get_image_num_samples(in));
}

SG kernel void image_depth_samples(read_only image2d_msaa_depth_t in, read_only image2d_array_msaa_depth_t layers, global float *out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    out[p.y * get_global_size(0) + p.x] = read_imagef(in, p, p.y & 3) + 2 * read_imagef(layers, (int4)(p, 2, 0), p.x & 1);
}
