// Buffers of which nothing else reaches what is written, and the same without that promise.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

// A row for each work-item.
SG kernel void rows_scaled(global int *restrict out, global const int *restrict in, global const int *restrict by, int n) {
    int row = get_global_id(0) * n;
    for (int i = 0; i < n; i++) out[row + i] = in[row + i] * by[i & 7] + i;
}

SG kernel void rows_filled(global int *out, int n) {
    int row = get_global_id(0) * n;
    for (int i = 0; i < n; i++) out[row + i] = i * i + row;
}

// Of which nothing is promised: what is loaded may be what was stored just before.
SG kernel void rows_running(global int *out, global const int *in, int n) {
    int row = get_global_id(0) * (n + 1);
    for (int i = 0; i < n; i++) out[row + i + 1] = in[row + i] * 3 + 1;
}

// Four loads and four stores by turns.
SG kernel void turns(global int *restrict out, global const int *restrict in) {
    size_t i = get_global_id(0) * 4;
    out[i] = in[i] + 1;
    out[i + 1] = in[i + 1] ^ 2;
    out[i + 2] = in[i + 2] - 3;
    out[i + 3] = in[i + 3] * 4;
}

// The scale is loaded once, and the first store is dead.
SG kernel void scaled(global float *restrict out, global const float *restrict in, global const float *restrict scale, int n) {
    size_t i = get_global_id(0);
    out[i] = 0.0f;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        sum += in[i] * scale[0];
        out[i] = sum;
    }
}

// What is loaded behind a barrier is loaded again.
SG kernel void again(global int *restrict to, global const int *restrict from) {
    size_t i = get_global_id(0);
    to[i] = from[i ^ 1] * 2 + (int)i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    to[i] += from[i ^ 1];
}
