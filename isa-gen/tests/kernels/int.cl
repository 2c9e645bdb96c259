// Integers of every size.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void bytes(global uchar *out, global const uchar *a, global const char *b) {
    size_t i = get_global_id(0);
    uchar x = a[i];
    char y = b[i];
    out[i] = add_sat(x, (uchar)y) + hadd(x, (uchar)7) * (x >> 2) - abs_diff(x, (uchar)y) + rotate(x, (uchar)3)
        + (uchar)mul_hi(y, (char)x) + clz(x) + popcount(x) + sub_sat(x, (uchar)y);
}

SG kernel void byte_vectors(global uchar16 *out, global const uchar16 *a, global const char4 *b) {
    size_t i = get_global_id(0);
    uchar16 x = a[i];
    x.s0246 += as_uchar4(b[i]);
    out[i] = max(x, a[i + 1]) ^ x.sfedcba9876543210;
}

SG kernel void words(global ushort *out, global const ushort *a, global const short *b) {
    size_t i = get_global_id(0);
    ushort x = a[i];
    short y = b[i];
    out[i] = add_sat(x, (ushort)y) + rhadd(x, (ushort)7) * x - abs_diff(x, (ushort)y) + rotate(x, (ushort)y)
        + (ushort)mul_hi(y, (short)x) + clz(x) + popcount(x) + (ushort)mad_sat(y, y, (short)3) + x / 7 + y % 5;
}

SG kernel void dwords(global uint *out, global const uint *a, global const int *b) {
    size_t i = get_global_id(0);
    uint x = a[i];
    int y = b[i];
    out[i] = add_sat(x, (uint)y) + hadd(x, 7u) * x - abs_diff(x, (uint)y) + rotate(x, (uint)y) + mul_hi(x, (uint)y)
        + (uint)mul_hi(y, 12345) + clz(x) + popcount(x) + (uint)mad_sat(y, y, 3) + mad24(y, y, 4) + mul24(x, x)
        + upsample((ushort)x, (ushort)y) + (uint)abs(y) + ctz(x);
}

SG kernel void int_division(global int *out, global const int *a, global const int *b, global uint *u, int k) {
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i] + a[i] % b[i] + a[i] / 10 + a[i] / k;
    u[i] = u[i] / (uint)b[i] + u[i] % (uint)k + u[i] / 10u;
}

SG kernel void quads(global ulong *out, global const ulong *a, global const long *b) {
    size_t i = get_global_id(0);
    ulong x = a[i];
    long y = b[i];
    out[i] = x * (ulong)y + (x >> 7) - (ulong)(y >> (x & 63)) + (x << 3) + min(x, (ulong)y) + (ulong)max(y, -5L)
        + (x & 0xffff0000ffffUL) + (x == (ulong)y ? ~x : x ^ 77);
}

SG kernel void quads_wide(global ulong *out, global const ulong *a, global const long *b) {
    size_t i = get_global_id(0);
    ulong x = a[i];
    long y = b[i];
    out[i] = mul_hi(x, (ulong)y) + add_sat(x, (ulong)y) + clz(x) + popcount(x) + rotate(x, 13UL) + abs(y)
        + sub_sat(x, (ulong)y) + hadd(x, (ulong)y);
}

SG kernel void quad_division(global ulong *out, global const ulong *a, global const long *b) {
    size_t i = get_global_id(0);
    out[i] = a[i] / 1000UL + (ulong)(b[i] % 77L) + a[i] / (ulong)b[i];
}

SG kernel void int_conversions(global long *q, global int *d, global short *w, global char *c, global float *f) {
    size_t i = get_global_id(0);
    long x = q[i];
    int y = d[i];
    short z = w[i];
    char b = c[i];
    q[i] = y + (long)z + b;
    d[i] = (int)x + z * b;
    w[i] = convert_short_sat(y) + convert_short_sat(x);
    c[i] = convert_char_sat(z) + convert_char_sat(y) + (char)x;
    f[i] = (float)x + (float)y + (float)z + (float)b + (float)(uint)y + (float)(ulong)x;
}

SG kernel void from_floats(global ulong *q, global uint *d, global ushort *w, global uchar *c, global const float *f) {
    size_t i = get_global_id(0);
    float x = f[i];
    q[i] = (ulong)x;
    d[i] = convert_uint_sat(x);
    w[i] = convert_ushort_sat_rte(x);
    c[i] = convert_uchar_sat(x);
}

SG kernel void bit_fields(global uint *out, global const uint *a) {
    size_t i = get_global_id(0);
    uint x = a[i];
    uint field = (x >> 5) & 0x3ff;
    int sfield = (int)(x << 9) >> 20;
    uint r = 0;
    for (int k = 0; k < 32; k++) r |= ((x >> k) & 1) << (31 - k);
    out[i] = field + (uint)sfield + r + ((x & 0xff0000ff) | (field << 12)) + bitselect(x, r, field);
}

SG kernel void carries(global uint4 *out, global const uint4 *a, global const uint4 *b) {
    size_t i = get_global_id(0);
    uint4 x = a[i], y = b[i], s;
    uint c = 0;
    s.x = x.x + y.x; c = s.x < x.x;
    s.y = x.y + y.y + c; c = s.y < x.y || (c && s.y == x.y);
    s.z = x.z + y.z + c; c = s.z < x.z || (c && s.z == x.z);
    s.w = x.w + y.w + c;
    out[i] = s;
}

SG kernel void three_adds(global int *out, global const int *a, global const int *b, global const short *c, int k) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i] + k + (a[i] - b[i] + c[i]) * 3 + (a[i] & b[i] | ~k) + (a[i] ^ b[i] & k);
}
