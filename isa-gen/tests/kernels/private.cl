// Private memory: arrays, indirect registers, spills, structures.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void small_array(global int *out, global const int *a) {
    size_t i = get_global_id(0);
    int t[8];
    for (int k = 0; k < 8; k++) t[k] = a[i * 8 + k];
    int s = 0;
    for (int k = 0; k < 8; k++) s = s * 3 + t[(a[i] + k) & 7];
    out[i] = s;
}

SG kernel void register_array(global int *out, global const int *a) {
    int i = get_global_id(0);
    int t[16];
    for (int k = 0; k < 16; k++) t[k] = a[i * 16 + k];
    int s = 0;
    for (int k = 0; k < 16; k++) s = s * 3 + t[(a[i * 16 + k] + i) & 15];
    out[i] = s;
}

SG kernel void large_array(global float *out, global const float *a, int n) {
    size_t i = get_global_id(0);
    float t[200];
    for (int k = 0; k < n; k++) t[(k * 7) % 200] = a[i + k];
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += t[(int)a[k] % 200];
    out[i] = s;
}

// Too large for registers, and read and written where data says.
SG kernel void scrambled_array(global int *out, global const int *a) {
    int t[300];
    int i = get_global_id(0);
    for (int k = 0; k < 300; k++) t[k] = k * i;
    int at = a[i] & 0xff, s = 0;
    for (int k = 0; k < 40; k++) {
        t[at] += k;
        at = (at * 17 + t[at]) % 300;
        if (at < 0) at += 300;
        s += t[at];
    }
    out[i] = s;
}

SG kernel void byte_array(global uchar *out, global const uchar *a, int n) {
    size_t i = get_global_id(0);
    uchar t[16];
    ushort w[8];
    for (int k = 0; k < 16; k++) t[k] = a[i + k];
    for (int k = 0; k < 8; k++) w[k] = a[i + k] * 5;
    out[i] = t[n & 15] + t[a[i] & 15] + (uchar)w[a[i + 1] & 7] + (uchar)w[n & 7];
}

SG kernel void spills(global float *out, global const float *a) {
    size_t i = get_global_id(0);
    float v[96];
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = a[i * 96 + k];
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = fma(v[k], v[(k * 37 + 11) % 96], v[(k * 5 + 3) % 96]);
    barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = native_sin(v[k]) + v[(k * 29 + 7) % 96];
#pragma unroll
    for (int k = 0; k < 96; k++) out[i * 96 + k] = v[k];
}

SG kernel void int_spills(global int *out, global const int *a) {
    int i = get_global_id(0);
    int v[48], w[48];
#pragma unroll
    for (int k = 0; k < 48; k++) v[k] = a[i + k * 3];
#pragma unroll
    for (int k = 0; k < 48; k++) w[k] = a[i + k * 5] ^ v[47 - k];
    int s = 0;
#pragma unroll
    for (int k = 0; k < 48; k++) s = s * 7 + v[(k * 11) % 48] * w[(k * 5) % 48] + v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < 48; k++) s = s * 3 + (v[(k * 7) % 48] ^ w[(k * 13) % 48]);
    out[i] = s;
}

typedef struct {
    char kind;
    short weight;
    int id;
    float3 position;
    ulong mask;
} Body;

SG kernel void structures(global Body *bodies, float dt, Body by_value) {
    size_t i = get_global_id(0);
    Body b = bodies[i];
    if (b.kind == by_value.kind) b.position += by_value.position * dt * (float)b.weight;
    b.mask |= 1UL << (b.id & 63);
    b.weight = -b.weight;
    bodies[i] = b;
}

typedef struct {
    int a;
    float b;
    char c;
    short d;
    long e;
    float4 f;
} Mixed;

// Sums of whole numbers and halves, which round nowhere.
SG kernel void values(global float *out, Mixed s, float3 v, uchar u) {
    int i = get_global_id(0);
    out[i] = s.a + s.b + s.c + s.d + (float)s.e + s.f.x * 2 + s.f.w + v.x + v.y * 10 + v.z * 100 + u + i;
}

typedef union {
    uint u;
    uchar4 c;
    float f;
} Pun;

SG kernel void unions(global uint *out, global const float *a) {
    size_t i = get_global_id(0);
    Pun p;
    p.f = a[i];
    p.c.y += p.c.w;
    out[i] = p.u;
}

constant float table[16] = {0.5f, 1.5f, 2.25f, 3.0f, 4.0f, 5.5f, 6.0f, 7.0f, 8.0f, 9.0f, 1.0f, 1.25f, 12.0f, 1.3f, 14.0f, 15.0f};
constant ushort squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

SG kernel void constants(global float *out, global const uint *a, constant float4 *k) {
    size_t i = get_global_id(0);
    out[i] = table[a[i] & 15] * (float)squares[a[i] & 7] + k[a[i] & 3].y + k[2].x;
}

constant int digits[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

SG kernel void constant_ints(global int *out, global const uint *a) {
    uint i = get_global_id(0);
    out[i] = digits[a[i] % 20] * 100 + digits[i % 20];
}

int sum_of(int *p, int n) {
    int s = 0;
    for (int k = 0; k < n; k++) s += p[k];
    return s;
}

SG kernel void generic_pointers(global int *g, local int *l, int which) {
    size_t i = get_global_id(0);
    int t[4] = {g[i], g[i + 1], which, 7};
    l[get_local_id(0)] = g[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = which == 0 ? (int *)(g + i) : which == 1 ? (int *)l : t;
    g[i] = sum_of(p, 4) + (to_local(p) ? 1 : 0);
}

// Pointers in memory, among them none, to whichever memory; atomics through them.
SG kernel void generic_kinds(global int *g, global int *out, local int *l, global atomic_int *sums, local atomic_int *own) {
    size_t n = get_global_id(0);
    uint i = get_local_id(0);
    int t[2] = {g[n] ^ 5, 1};
    l[i] = g[n] * 3;
    if (i == 0) atomic_init(own, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    int *all[4] = {g + n, l + (i ^ 1), t, 0};
    int *p = all[(g[n] + i) & 3];
    int r = 0;
    if (p) {
        r = *p;
        // Who else reads what is in local memory has done so.
        r += (to_global(p) ? 1 : 0) + (to_local(p) ? 2 : 0) + (to_private(p) ? 4 : 0) + (p == all[1] ? 8 : 0);
        if (!to_local(p)) *p = r + 1;
        r += t[0] * 16;
    }
    atomic_int *where = g[n] & 1 ? (atomic_int *)sums : (atomic_int *)own;
    atomic_fetch_add_explicit(where, r, memory_order_relaxed, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[n] = r ^ (i == 0 ? atomic_load(own) : 0);
}

SG kernel void many_arguments(global int *a, global int *b, global int *c, char k0, short k1, int k2, long k3, float k4,
                              int4 k5, uchar3 k6, global int *d, global int *e) {
    size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0) + get_global_id(2) + get_global_offset(0);
    a[i] = b[i] + c[i] * k0 + k1 + k2 + (int)k3 + (int)k4 + k5.x + k5.w + k6.y + d[i] + e[i] + get_work_dim();
}
