// Integer arithmetic of every width.
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

K void arith(__global const int *a, __global const int *b, __global int *o) {
    int i = get_global_id(0);
    int x = a[i], y = b[i];
    uint ux = x, uy = y;
    o += i * 32;
    o[0] = x + y; o[1] = x - y; o[2] = x * y;
    o[3] = x / y; o[4] = x % y;
    o[5] = ux / uy; o[6] = ux % uy;
    o[7] = mul_hi(x, y); o[8] = mul_hi(ux, uy);
    o[9] = x << (y & 31); o[10] = x >> (y & 31); o[11] = ux >> (uy & 31);
    o[12] = clz(x); o[13] = popcount(ux); o[14] = rotate(x, y);
    o[15] = abs(x); o[16] = abs_diff(x, y);
    o[17] = hadd(x, y); o[18] = rhadd(ux, uy);
    o[19] = add_sat(x, y); o[20] = add_sat(ux, uy); o[21] = sub_sat(x, y); o[22] = sub_sat(ux, uy);
    o[23] = min(x, y); o[24] = max(ux, uy); o[25] = clamp(x, -100, y | 127);
    o[26] = mad24(x & 0xfff, y & 0xfff, 5); o[27] = x & ~y; o[28] = (x ^ y) | 1;
    o[29] = (x < y) + 2 * (ux < uy) + 4 * (x == y) + 8 * (x >= y);
    o[30] = mad_hi(x, y, 3); o[31] = bitselect(x, y, 0x0ff00ff0);
}

K void small(__global const char *a, __global const short *b, __global int *o) {
    int i = get_global_id(0);
    char c = a[i]; short s = b[i]; uchar uc = c; ushort us = s;
    o += i * 16;
    o[0] = (char)(c + (char)s); o[1] = (short)(c * s); o[2] = (uchar)(uc + us);
    o[3] = c / ((s & 15) + 1); o[4] = us % (uc | 1); o[5] = add_sat(c, (char)s);
    o[6] = sub_sat(uc, (uchar)us); o[7] = convert_char_sat(s); o[8] = convert_uchar_sat(s);
    o[9] = (short)(s << 3); o[10] = s >> 2; o[11] = us >> 2; o[12] = clz(s);
    o[13] = hadd(c, (char)s); o[14] = mul_hi(s, (short)c); o[15] = abs(s);
}

K void wide(__global const long *a, __global const long *b, __global long *o) {
    int i = get_global_id(0);
    long x = a[i], y = b[i];
    ulong ux = x, uy = y;
    o += i * 16;
    o[0] = x + y; o[1] = x - y; o[2] = x * y;
    o[3] = x << (y & 63); o[4] = x >> (y & 63); o[5] = ux >> (uy & 63);
    o[6] = min(x, y); o[7] = max(ux, uy); o[8] = x & y; o[9] = x ^ ~y;
    o[10] = (x < y) + 2 * (ux < uy) + 4 * (x == y); o[11] = mul_hi(ux, uy);
    o[12] = abs(x); o[13] = popcount(ux); o[14] = clz(x); o[15] = (long)(int)x + (long)(uint)y;
}

K void wide_div(__global const long *a, __global const long *b, __global long *o) {
    int i = get_global_id(0);
    o += i * 4;
    o[0] = a[i] / b[i]; o[1] = a[i] % b[i];
    o[2] = (ulong)a[i] / (ulong)b[i]; o[3] = (ulong)a[i] % (ulong)b[i];
}

K void wide_atomics(__global long *p, __global const long *v) {
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    int i = get_global_id(0);
    atom_add(&p[0], v[i]);
    atom_sub(&p[1], v[i]);
    atom_inc(&p[2]);
    long seen = p[3], was;
    do { was = seen; seen = atom_cmpxchg(&p[3], was, was ^ v[i]); } while (seen != was);
}

K void subgroups(__global const int *in, __global int *o) {
    int i = get_global_id(0);
    int v = in[i];
    o += i * 8;
    o[0] = sub_group_reduce_add(v);
    o[1] = sub_group_scan_inclusive_add(v);
    o[2] = sub_group_scan_exclusive_max(v);
    o[3] = sub_group_broadcast(v, 3);
    o[4] = intel_sub_group_shuffle(v, (get_sub_group_local_id() * 5 + 1) % SIMD);
    o[5] = sub_group_any(v > 2000000000) + 2 * sub_group_all(v > -2147483647);
    o[6] = intel_sub_group_shuffle_down(v, v, 1);
    o[7] = get_sub_group_id() * 100 + get_sub_group_local_id();
}

#if SIMD < 32
K void blocks(__global const uint *in, __global uint *o) {
    int at = get_group_id(0) * get_local_size(0) + get_sub_group_id() * SIMD;
    uint v = intel_sub_group_block_read(in + at);
    intel_sub_group_block_write(o + at, v * 3 + get_sub_group_local_id());
}
#endif
