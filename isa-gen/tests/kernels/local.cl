// Shared local memory, barriers and work-group functions.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void block_sum(global const float *in, global float *out, local float *part) {
    uint l = get_local_id(0), n = get_local_size(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = n / 2; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}

SG kernel void scan_hillis(global const uint *in, global uint *out, local uint *a, local uint *b) {
    uint l = get_local_id(0), n = get_local_size(0);
    a[l] = in[get_global_id(0)];
    for (uint s = 1; s < n; s <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        b[l] = l >= s ? a[l] + a[l - s] : a[l];
        local uint *t = a;
        a = b;
        b = t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[l];
}

SG kernel void transpose(global float *out, global const float *in, int width, int height) {
    local float tile[16][17];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    if (x < width && y < height) tile[ly][lx] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int ox = get_group_id(1) * 16 + lx, oy = get_group_id(0) * 16 + ly;
    if (ox < height && oy < width) out[oy * height + ox] = tile[lx][ly];
}

SG kernel void bitonic(global uint *data, local uint *keys) {
    uint l = get_local_id(0), n = get_local_size(0);
    keys[l] = data[get_global_id(0)];
    for (uint size = 2; size <= n; size <<= 1)
        for (uint step = size >> 1; step > 0; step >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = l ^ step;
            if (other > l) {
                uint a = keys[l], b = keys[other];
                bool up = (l & size) == 0;
                if ((a > b) == up) {
                    keys[l] = b;
                    keys[other] = a;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = keys[l];
}

SG kernel void group_functions(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int x = in[i];
    int s = work_group_reduce_add(x) + work_group_scan_inclusive_max(x) + work_group_scan_exclusive_add(x);
    s += work_group_broadcast(x, 3) + work_group_all(x > 0) + 2 * work_group_any(x < 0);
    out[i] = s;
}

SG kernel void local_small_types(global uchar *out, global const ushort *in, local uchar *bytes, local ushort *words, local ulong *quads) {
    uint l = get_local_id(0);
    bytes[l] = (uchar)in[l];
    words[l] = in[l] * 3;
    quads[l] = (ulong)in[l] << 40;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint o = get_local_size(0) - 1 - l;
    out[get_global_id(0)] = bytes[o] + (uchar)words[o] + (uchar)(quads[o] >> 40);
}

SG kernel void local_vectors(global float4 *out, global const float4 *in, local float4 *v) {
    uint l = get_local_id(0);
    v[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = v[l ^ 1] + v[l ^ 2].wzyx;
}

// Barriers in a loop: neighbours exchange values.
SG kernel void exchange(global int *data, int rounds) {
    local int t[64];
    int l = get_local_id(0), g = get_global_id(0);
    int v = data[g];
    for (int r = 0; r < rounds; r++) {
        t[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += t[(l + 1) % 64] ^ r;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[g] = v;
}
