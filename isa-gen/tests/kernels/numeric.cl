// Numbers and strings, as textbooks compute them.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void sgemm_naive(global float *c, global const float *a, global const float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// A group transforms 64 points: six stages, each from one half of local memory to the other.
SG kernel void fft_64(global float2 *data) {
    local float2 s[2][64];
    uint l = get_local_id(0), from = 0;
    global float2 *d = data + get_group_id(0) * 64;
    s[0][l] = d[l];
    s[0][l + 32] = d[l + 32];
    for (uint half_size = 1; half_size < 64; half_size <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k = l & (half_size - 1);
        float2 a = s[from][l], b = s[from][l + 32];
        float angle = -3.14159265f * (float)k / (float)half_size, re = cos(angle), im = sin(angle);
        float2 t = (float2)(b.x * re - b.y * im, b.x * im + b.y * re);
        uint to = ((l - k) << 1) + k;
        s[from ^ 1][to] = a + t;
        s[from ^ 1][to + half_size] = a - t;
        from ^= 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    d[l] = s[from][l];
    d[l + 32] = s[from][l + 32];
}

SG kernel void scan_blelloch(global uint *data, global uint *sums, local uint *t) {
    uint l = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n;
    t[2 * l] = data[base + 2 * l];
    t[2 * l + 1] = data[base + 2 * l + 1];
    uint step = 1;
    for (uint d = n >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) t[step * (2 * l + 2) - 1] += t[step * (2 * l + 1) - 1];
        step <<= 1;
    }
    if (l == 0) {
        sums[get_group_id(0)] = t[n - 1];
        t[n - 1] = 0;
    }
    for (uint d = 1; d < n; d <<= 1) {
        step >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            uint a = step * (2 * l + 1) - 1, b = step * (2 * l + 2) - 1, x = t[a];
            t[a] = t[b];
            t[b] += x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + 2 * l] = t[2 * l];
    data[base + 2 * l + 1] = t[2 * l + 1];
}

SG kernel void bitonic_step(global uint *data, uint size, uint step) {
    uint i = get_global_id(0);
    uint a = ((i & ~(step - 1)) << 1) | (i & (step - 1)), b = a | step;
    uint x = data[a], y = data[b];
    if ((x > y) == ((a & size) == 0)) {
        data[a] = y;
        data[b] = x;
    }
}

SG kernel void kmeans_update(global float *centres, global const float *points, global const int *label, int n, int dims) {
    int c = get_global_id(0), j = get_global_id(1), count = 0;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (label[i] != c) continue;
        sum += points[i * dims + j];
        count++;
    }
    if (count > 0) centres[c * dims + j] = sum / (float)count;
}

SG kernel void floyd_warshall_step(global float *d, int n, int k) {
    int i = get_global_id(1), j = get_global_id(0);
    d[i * n + j] = fmin(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

SG kernel void crc32(global uint *out, global const uchar *in, int n) {
    size_t i = get_global_id(0);
    uint crc = 0xffffffff;
    for (int k = 0; k < n; k++) {
        crc ^= in[i * n + k];
        for (int b = 0; b < 8; b++) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    out[i] = ~crc;
}

SG kernel void points_in_circle(global uint *hits, uint seed, int n) {
    local uint count;
    if (get_local_id(0) == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s = seed + get_global_id(0), mine = 0;
    for (int k = 0; k < n; k++) {
        s = s * 1664525u + 1013904223u;
        ulong x = s >> 8;
        s = s * 1664525u + 1013904223u;
        ulong y = s >> 8;
        mine += x * x + y * y < (1UL << 48);
    }
    atomic_add(&count, mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(hits, count);
}

SG kernel void heat_3d(global float *out, global const float *in, float k) {
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1, z = get_global_id(2) + 1;
    int w = get_global_size(0) + 2, slice = w * (get_global_size(1) + 2), i = z * slice + y * w + x;
    float around = in[i - 1] + in[i + 1] + in[i - w] + in[i + w] + in[i - slice] + in[i + slice];
    out[i] = in[i] + k * (around - 6.0f * in[i]);
}

SG kernel void string_search(global int *first, global const char *text, constant char *pattern, int m) {
    int i = get_global_id(0), k = 0;
    while (k < m && text[i + k] == pattern[k]) k++;
    if (k == m) atomic_min(first, i);
}

SG kernel void gauss_solve(global float *x, global const float *a) {
    size_t i = get_global_id(0);
    float m[4][5];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 5; c++) m[r][c] = a[i * 20 + r * 5 + c];
    for (int p = 0; p < 4; p++) {
        int best = p;
        for (int r = p + 1; r < 4; r++)
            if (fabs(m[r][p]) > fabs(m[best][p])) best = r;
        for (int c = 0; c < 5; c++) {
            float t = m[p][c];
            m[p][c] = m[best][c];
            m[best][c] = t;
        }
        for (int r = 0; r < 4; r++) {
            if (r == p) continue;
            float f = m[r][p] / m[p][p];
            for (int c = p; c < 5; c++) m[r][c] -= f * m[p][c];
        }
    }
    for (int r = 0; r < 4; r++) x[i * 4 + r] = m[r][4] / m[r][r];
}
