// Images of several levels of detail.
// needs: images
// extension: cl_khr_mipmap_image
// extension: cl_khr_mipmap_image_writes
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void image_level_reads(read_only image2d_t in, read_only image3d_t volume, sampler_t s, global float4 *out, float level) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float2 at = (convert_float2(p) + 0.5f) / (float2)(get_global_size(0), get_global_size(1));
    float4 v = read_imagef(in, s, at, level + (p.x & 1));
    // Two texels of the first level a step.
    v += 10 * read_imagef(in, s, at, (float2)(2.0f / get_image_width(in), 0.0f), (float2)(0.0f));
    v += 100 * read_imagef(volume, s, (float4)(at, 0.3f, 0.0f), 1.0f);
    out[p.y * get_global_size(0) + p.x] = v + get_image_num_mip_levels(in);
}

SG kernel void image_level_writes(write_only image2d_t out, write_only image2d_array_t layers) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, p, 1, (uint4)(p.x, p.y, 1, 2));
    write_imageui(layers, (int4)(p, 1, 0), p.x & 1, (uint4)(p.x, p.y, 3, 4));
}
