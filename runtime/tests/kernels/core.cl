// Memory, groups, divergence.
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

K void saxpy(__global const float *x, __global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

K void vadd(__global const int *a, __global const int *b, __global int *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

// Each channel loops its own number of times.
K void collatz(__global const uint *in, __global uint *out) {
    size_t i = get_global_id(0);
    uint v = in[i], n = 0;
    while (v != 1) {
        v = (v & 1) ? 3 * v + 1 : v / 2;
        n++;
        if (n > 500) break;
    }
    out[i] = n;
}

// Nested loops with continue, break and early return.
K void nested(__global const int *in, __global int *out, int n) {
    int i = get_global_id(0);
    int v = in[i];
    if (v < 0) { out[i] = -1; return; }
    int sum = 0;
    for (int a = 0; a < n; a++) {
        if (((v + a) & 3) == 1) continue;
        for (int b = 0; b < 20; b++) {
            if (b > (v & 15)) break;
            if ((b ^ a) & 1) continue;
            sum += a * b + (v >> (b & 7));
        }
        if (sum > 5000) break;
        switch ((v + a) % 5) {
            case 0: sum += 1; break;
            case 1: sum ^= 0x55;
            case 2: sum += 7; break;
            case 3: if (sum & 1) { sum -= 3; } else { sum += 11; } break;
            default: sum = sum * 3 & 0xffff;
        }
    }
    out[i] = sum;
}

K void slm_sum(__global const int *x, __global int *out, __local int *tmp) {
    int l = get_local_id(0);
    tmp[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = tmp[0];
}

// Static SLM, two dimensions.
K void transpose(__global const float *in, __global float *out, int w, int h) {
    __local float tile[8][9];
    int x = get_global_id(0), y = get_global_id(1);
    int lx = get_local_id(0), ly = get_local_id(1);
    if (x < w && y < h) tile[ly][lx] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int ox = get_group_id(1) * 8 + lx, oy = get_group_id(0) * 8 + ly;
    if (ox < h && oy < w) out[oy * h + ox] = tile[lx][ly];
}

K void ids(__global uint *out) {
    size_t gx = get_global_size(0), gy = get_global_size(1);
    size_t x = get_global_id(0) - get_global_offset(0);
    size_t y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    __global uint *o = out + ((z * gy + y) * gx + x) * 12;
    o[0] = get_global_id(0); o[1] = get_global_id(1); o[2] = get_global_id(2);
    o[3] = get_local_id(0); o[4] = get_local_id(1); o[5] = get_local_id(2);
    o[6] = get_group_id(0); o[7] = get_group_id(1); o[8] = get_group_id(2);
    o[9] = get_num_groups(0); o[10] = get_local_size(1); o[11] = get_work_dim();
}

K void atomics(__global const int *in, __global int *a, __global uint *u, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    int v = in[i];
    atomic_add(&a[0], v);
    atomic_sub(&a[1], v);
    atomic_inc(&a[2]);
    atomic_dec(&a[3]);
    atomic_min(&a[4], v);
    atomic_max(&a[5], v);
    atomic_and(&a[6], v);
    atomic_or(&a[7], v);
    atomic_xor(&a[8], v);
    atomic_min(&u[0], (uint)v);
    atomic_max(&u[1], (uint)v);
    // A histogram, with the old value used.
    int old = atomic_add(&a[16 + (v & 15)], 1);
    if (old == 0) atomic_inc(&a[9]);
    // A sum by compare and exchange.
    int seen = a[10], was;
    do { was = seen; seen = atomic_cmpxchg(&a[10], was, was + (v & 7)); } while (seen != was);
}

K void local_atomics(__global const uint *in, __global uint *out) {
    __local uint bins[16];
    int l = get_local_id(0);
    if (l < 16) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[in[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) out[get_group_id(0) * 16 + l] = bins[l];
}

// A private array that is too large for registers and indexed by data.
K void private_array(__global const int *in, __global int *out) {
    int a[300];
    int i = get_global_id(0);
    for (int j = 0; j < 300; j++) a[j] = j * i;
    int k = in[i] & 0xff, sum = 0;
    for (int j = 0; j < 40; j++) {
        a[k] += j;
        k = (k * 17 + a[k]) % 300;
        if (k < 0) k += 300;
        sum += a[k];
    }
    out[i] = sum;
}

// A small private array, in registers, indexed by data.
K void register_array(__global const int *in, __global int *out) {
    int a[16];
    int i = get_global_id(0);
    for (int j = 0; j < 16; j++) a[j] = in[i * 16 + j];
    int sum = 0;
    for (int j = 0; j < 16; j++) sum = sum * 3 + a[(in[i * 16 + j] + i) & 15];
    out[i] = sum;
}

typedef struct { int a; float b; char c; short d; long e; float4 f; } S;

K void by_value(__global float *out, S s, float3 v, uchar u) {
    int i = get_global_id(0);
    out[i] = s.a + s.b + s.c + s.d + (float)s.e + s.f.x * 2 + s.f.w + v.x + v.y * 10 + v.z * 100 + u + i;
}

K void vectors(__global const float4 *in, __global float4 *out, __global const uchar4 *bytes, __global short2 *shorts) {
    size_t i = get_global_id(0);
    float4 v = in[i];
    out[i] = v.wzyx * 2.0f + (float4)(1, 2, 3, 4);
    uchar4 b = bytes[i];
    shorts[i] = (short2)(b.x * b.y, b.z - b.w);
}

__constant int table[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

K void constants(__global const int *in, __global int *out) {
    int i = get_global_id(0);
    out[i] = table[in[i] % 20] * 100 + table[i % 20];
}

// The widest loads and stores that the compiler makes.
K void copy16(__global const int16 *in, __global int16 *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] + 1;
}

// Barriers in a loop: neighbours exchange values.
K void exchange(__global int *data, int rounds) {
    __local int t[64];
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

K void out_of_bounds(__global int *p, ulong address) {
    ((__global int *)address)[get_global_id(0)] = p[0];
}

K void endless(__global volatile int *p) {
    while (p[0] == 0) {}
    p[1] = 1;
}

K void half_barrier(__global int *p) {
    if (get_local_id(0) < SIMD) barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = 1;
}

// More values alive at once than there are registers.
K void spill(__global const int *in, __global int *out) {
    int i = get_global_id(0);
    int a[48], b[48];
    #pragma unroll
    for (int j = 0; j < 48; j++) a[j] = in[i + j * 3];
    #pragma unroll
    for (int j = 0; j < 48; j++) b[j] = in[i + j * 5] ^ a[47 - j];
    int s = 0;
    #pragma unroll
    for (int j = 0; j < 48; j++) s = s * 7 + a[(j * 11) % 48] * b[(j * 5) % 48] + a[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int j = 0; j < 48; j++) s = s * 3 + (a[(j * 7) % 48] ^ b[(j * 13) % 48]);
    out[i] = s;
}
