// Pictures: what one does with images and samplers. OpenCL leaves open in which order `dot` adds, and which products and
// sums are fused; what is written here gives the same picture everywhere.
// needs: images
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void gaussian_blur(read_only image2d_t in, write_only image2d_t out, sampler_t s, constant float *weights) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int y = -2; y <= 2; y++)
        for (int x = -2; x <= 2; x++) sum = fma((float4)(weights[x + 2] * weights[y + 2]), read_imagef(in, s, p + (int2)(x, y)), sum);
    write_imagef(out, p, sum);
}

constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

float brightness(read_only image2d_t in, int2 p) {
    float4 c = read_imagef(in, edge, p);
    return fma(c.x, 0.299f, fma(c.y, 0.587f, c.z * 0.114f));
}

SG kernel void sobel(read_only image2d_t in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float dx = 0.0f, dy = 0.0f;
    for (int k = -1; k <= 1; k++) {
        float weight = k == 0 ? 2.0f : 1.0f;
        dx += weight * (brightness(in, p + (int2)(1, k)) - brightness(in, p + (int2)(-1, k)));
        dy += weight * (brightness(in, p + (int2)(k, 1)) - brightness(in, p + (int2)(k, -1)));
    }
    write_imagef(out, p, (float4)(dx, dy, sqrt(fma(dx, dx, dy * dy)), 1.0f));
}

SG kernel void turn(read_only image2d_t in, write_only image2d_t out, sampler_t s, float4 matrix) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float2 at = (convert_float2(p) + 0.5f) / convert_float2(get_image_dim(out)) - 0.5f;
    float2 from = fma(matrix.xz, (float2)(at.x), matrix.yw * at.y) + 0.5f;
    write_imagef(out, p, read_imagef(in, s, from));
}

SG kernel void brightness_histogram(read_only image2d_t in, global uint *bins) {
    local uint counts[64];
    uint l = get_local_id(0) + get_local_id(1) * get_local_size(0), n = get_local_size(0) * get_local_size(1);
    for (uint k = l; k < 64; k += n) counts[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    uint4 c = read_imageui(in, edge, p);
    atomic_inc(counts + (c.x + 2 * c.y + c.z) / 16);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < 64; k += n) atomic_add(bins + k, counts[k]);
}
