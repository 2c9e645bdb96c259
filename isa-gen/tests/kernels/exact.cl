// Results that are defined to the bit, one by one, of ordinary and of special values.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void dword_results(global const int *a, global const int *b, global int *o) {
    int i = get_global_id(0);
    int x = a[i], y = b[i];
    uint ux = x, uy = y;
    o += i * 32;
    o[0] = x + y; o[1] = x - y; o[2] = x * y;
    o[3] = x / y; o[4] = x % y;
    o[5] = ux / (uy | 1u); o[6] = ux % (uy | 1u);
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

SG kernel void small_results(global const char *a, global const short *b, global int *o) {
    int i = get_global_id(0);
    char c = a[i]; short s = b[i]; uchar uc = c; ushort us = s;
    o += i * 16;
    o[0] = (char)(c + (char)s); o[1] = (short)(c * s); o[2] = (uchar)(uc + us);
    o[3] = c / ((s & 15) + 1); o[4] = us % (uc | 1); o[5] = add_sat(c, (char)s);
    o[6] = sub_sat(uc, (uchar)us); o[7] = convert_char_sat(s); o[8] = convert_uchar_sat(s);
    o[9] = (short)(s << 3); o[10] = s >> 2; o[11] = us >> 2; o[12] = clz(s);
    o[13] = hadd(c, (char)s); o[14] = mul_hi(s, (short)c); o[15] = abs(s);
}

SG kernel void qword_results(global const long *a, global const long *b, global long *o) {
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

SG kernel void qword_quotients(global const long *a, global const long *b, global long *o) {
    int i = get_global_id(0);
    o += i * 4;
    o[0] = a[i] / b[i]; o[1] = a[i] % b[i];
    o[2] = (ulong)a[i] / (ulong)b[i]; o[3] = (ulong)a[i] % (ulong)b[i];
}

SG kernel void float_results(global const float *a, global const float *b, global const float *c, global float *o) {
    int i = get_global_id(0);
    float x = a[i], y = b[i], z = c[i];
    o += i * 24;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = fma(x, y, z);
    o[4] = floor(x); o[5] = ceil(x); o[6] = rint(x); o[7] = trunc(x);
    o[8] = fabs(x); o[9] = -y; o[10] = copysign(x, y);
    o[11] = fmin(x, y); o[12] = fmax(x, y);
    o[13] = x < y ? 1.0f : 2.0f; o[14] = x >= y ? 1.0f : 2.0f; o[15] = x == y ? 1.0f : 2.0f;
    o[16] = x != y ? 1.0f : 2.0f; o[17] = isnan(x) ? 1.0f : 0.0f; o[18] = isinf(x) + 2 * isfinite(y);
    o[19] = isnan(x) ? 2.0f : clamp(x, 0.0f, 1.0f); o[20] = isless(x, y) + 2 * isunordered(x, y);
    o[21] = fma(-x, y, fabs(z)); o[22] = as_float(as_int(x) & 0x7fffff00); o[23] = signbit(x) != 0;
}

SG kernel void converted(global const float *a, global const int *b, global int *o) {
    int i = get_global_id(0);
    float x = a[i];
    int v = b[i];
    o += i * 18;
    o[0] = convert_int_sat(x); o[1] = convert_uint_sat(x); o[2] = convert_short_sat(x); o[3] = convert_uchar_sat(x);
    o[4] = convert_int_sat_rte(x); o[5] = convert_int_sat_rtp(x); o[6] = convert_int_sat_rtn(x);
    o[7] = as_int(convert_float(v)); o[8] = as_int(convert_float((uint)v));
    o[9] = as_int(convert_float_rtz(v)); o[10] = as_int(convert_float_rtp(v)); o[11] = as_int(convert_float_rtn(v));
    o[12] = as_int((float)(short)v); o[13] = as_int((float)(uchar)v); o[14] = convert_char_sat(x);
    o[15] = convert_ushort_sat(x); o[16] = convert_int_sat_rtz(x * 3); o[17] = convert_uchar_sat_rte(x);
}
