// Vector types, loads and stores of every size.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void swizzles(global float8 *out, global const float8 *a) {
    size_t i = get_global_id(0);
    float8 v = a[i];
    v.s0246 = v.s1357 * v.s7531;
    v.hi = v.lo.wzyx + v.odd;
    out[i] = shuffle(v, (uint8)(7, 6, 5, 4, 0, 1, 2, 3));
}

SG kernel void dynamic_shuffle(global int4 *out, global const uint4 *m) {
    size_t i = get_global_id(0);
    out[i] = shuffle2(out[i], out[i + 1], m[i]);
}

SG kernel void unaligned(global uchar *out, global const uchar *a, int n) {
    size_t i = get_global_id(0);
    uchar3 v = vload3(i, a);
    ushort2 w = vload2(i, (global const ushort *)(a + n));
    float4 f = vload4(i, (global const float *)a);
    vstore3(v.zyx, i, out);
    vstore4(convert_uchar4_sat(f + w.x), i, out + n);
}

SG kernel void select_lanes(global int8 *out, global const int8 *a, global const float4 *f, global float4 *g) {
    size_t i = get_global_id(0);
    int8 x = a[i];
    out[i] = x > out[i] ? x : -x;
    int4 m = f[i] < f[i + 1];
    g[i] = select(f[i], f[i + 1], m) + (float)(any(m) + all(m));
}

SG kernel void long_vectors(global long4 *out, global const int4 *a, global const ulong2 *b) {
    size_t i = get_global_id(0);
    out[i] = convert_long4(a[i]) * out[i] + (long4)(as_long2(b[i]), as_long2(b[i + 1].yx));
}

SG kernel void byte_dot(global int *out, global const char4 *a, global const char4 *b, global const uchar4 *u) {
    size_t i = get_global_id(0);
    int4 p = convert_int4(a[i]) * convert_int4(b[i]);
    int4 q = convert_int4(a[i]) * convert_int4(u[i]);
    out[i] = p.x + p.y + p.z + p.w + q.x + q.y + q.z + q.w;
}

SG kernel void reversed(global float4 *out, global const float4 *a, global short2 *words, global const uchar4 *bytes) {
    size_t i = get_global_id(0);
    out[i] = fma(a[i].wzyx, 2.0f, (float4)(1, 2, 3, 4));
    uchar4 b = bytes[i];
    words[i] = (short2)(b.x * b.y, b.z - b.w);
}

SG kernel void add_to_wide(global const int16 *in, global int16 *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] + 1;
}

SG kernel void wide_copy(global uint16 *out, global const uint16 *in, global ulong8 *q) {
    size_t i = get_global_id(0);
    out[i] = in[i] + 1;
    q[i] = q[i + 1];
}
