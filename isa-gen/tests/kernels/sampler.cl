// Samplers given as arguments, images of every shape, and what kernels can ask of them.
// needs: images
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void sample_1d(global float4 *out, global const float *at, read_only image1d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imagef(in, s, at[i]);
}

SG kernel void sample_2d(global float4 *out, global const float2 *at, read_only image2d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imagef(in, s, at[i]);
}

SG kernel void sample_3d(global float4 *out, global const float4 *at, read_only image3d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imagef(in, s, at[i]);
}

SG kernel void sample_layers(global float4 *out, global const float4 *at, read_only image2d_array_t in, read_only image1d_array_t line, sampler_t s) {
    int i = get_global_id(0);
    out[2 * i] = read_imagef(in, s, at[i]);
    out[2 * i + 1] = read_imagef(line, s, at[i].xz);
}

SG kernel void sample_signed(global int4 *out, global const float2 *at, read_only image2d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imagei(in, s, at[i]);
}

SG kernel void sample_unsigned(global uint4 *out, global const float2 *at, read_only image2d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imageui(in, s, at[i]);
}

SG kernel void sample_diverged(global float4 *out, global const float2 *at, read_only image2d_t in, read_only image2d_t other, sampler_t s, sampler_t t) {
    int i = get_global_id(0);
    float4 v = (float4)(i);
    if (i % 3 == 0)
        v += read_imagef(in, s, at[i]);
    else if (i % 3 == 1)
        for (int k = 0; k < i % 5; k++) v += read_imagef(other, t, at[i] + (float2)(k));
    out[i] = v;
}

SG kernel void load_2d(global float4 *out, global const int2 *at, read_only image2d_t in, sampler_t s) {
    int i = get_global_id(0);
    out[i] = read_imagef(in, s, at[i]);
}

SG kernel void load_one(global float *out, read_only image2d_t in, sampler_t s) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    out[p.y * get_image_width(in) + p.x] = read_imagef(in, s, p).x + read_imagef(in, p).w;
}

SG kernel void store_float(global const float4 *in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, p, in[p.y * get_image_width(out) + p.x]);
}

SG kernel void store_signed(global const int4 *in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(out, p, in[p.y * get_image_width(out) + p.x]);
}

SG kernel void store_unsigned(global const uint4 *in, write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, p, in[p.y * get_image_width(out) + p.x]);
}

SG kernel void store_some(write_only image2d_t out) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    if ((p.x ^ p.y) & 1) write_imageui(out, p, (uint4)(p.x, p.y, p.x + p.y, 7));
}

SG kernel void store_line(write_only image1d_t out, write_only image1d_array_t lines, write_only image1d_buffer_t buffer) {
    int x = get_global_id(0);
    write_imageui(out, x, (uint4)(x, 1, 2, 3));
    write_imageui(lines, (int2)(x, x % 3), (uint4)(x, 4, 5, 6));
    write_imageui(buffer, x, (uint4)(x, 7, 8, 9));
}

SG kernel void facts(global int *out, read_only image1d_t a, read_only image1d_buffer_t b, read_only image1d_array_t c, read_only image2d_t d, read_only image2d_array_t e, read_only image3d_t f) {
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = get_image_width(c);
    out[3] = get_image_array_size(c);
    out[4] = get_image_width(d);
    out[5] = get_image_height(d);
    out[6] = get_image_width(e);
    out[7] = get_image_height(e);
    out[8] = get_image_array_size(e);
    out[9] = get_image_width(f);
    out[10] = get_image_height(f);
    out[11] = get_image_depth(f);
    out[12] = get_image_channel_order(a);
    out[13] = get_image_channel_data_type(a);
    out[14] = get_image_channel_order(d);
    out[15] = get_image_channel_data_type(d);
    out[16] = get_image_channel_order(f);
    out[17] = get_image_channel_data_type(f);
}

SG kernel void gauss(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
    const float weights[3] = {0.25f, 0.5f, 0.25f};
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = (float4)(0.0f);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) sum = fma((float4)(weights[x] * weights[y]), read_imagef(in, s, p + (int2)(x - 1, y - 1)), sum);
    write_imagef(out, p, sum);
}

// The ratio is exp(-1 / (2 sigma^2)).
SG kernel void gauss_wide(read_only image2d_t in, write_only image2d_t out, sampler_t s, float ratio) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = (float4)(0.0f);
    float weight = 0.0f;
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++) {
            float w = 1.0f;
            for (int k = 0; k < x * x + y * y; k++) w *= ratio;
            sum = fma((float4)(w), read_imagef(in, s, convert_float2(p + (int2)(x, y)) + 0.5f), sum);
            weight += w;
        }
    write_imagef(out, p, sum / weight);
}
