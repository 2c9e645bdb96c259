// Operations whose code differs most between platforms: DOUBLES, BYTES, SYSTOLIC say what the device has.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void quotients(global const float *a, global const float *b, global float *o) {
    size_t i = get_global_id(0);
    o[2 * i] = a[i] / b[i];
    o[2 * i + 1] = sqrt(a[i]);
}

#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void doubles(global const double *a, global const double *b, global double *o) {
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    o[8 * i] = x / y;
    o[8 * i + 1] = sqrt(x);
    o[8 * i + 2] = fma(x, y, x);
    o[8 * i + 3] = x + y;
    o[8 * i + 4] = x * y;
    o[8 * i + 5] = rint(x);
    o[8 * i + 6] = (double)(float)x;
    o[8 * i + 7] = (double)convert_long_sat(x);
}
#endif

kernel void products(global const int *a, global const int *b, global int *o) {
    size_t i = get_global_id(0);
    int x = a[i], y = b[i];
    o += 10 * i;
    o[0] = x * y;
    o[1] = mul_hi(x, y);
    o[2] = mul_hi((uint)x, (uint)y);
    o[3] = mad_sat(x >> 8, y >> 24, x);
    o[4] = x / y;
    o[5] = x % y;
    o[6] = rotate(x, y);
    o[7] = rotate((ushort)x, (ushort)5);
    o[8] = (short)x * (short)y + x;
    o[9] = (x & y) ^ (~x | (y >> 3));
}

// In a kernel of its own: for dg2 the compiler takes an unsigned quotient to be the signed one of the same operands.
kernel void unsigned_quotients(global const uint *a, global const uint *b, global uint *o) {
    size_t i = get_global_id(0);
    o[2 * i] = a[i] / b[i];
    o[2 * i + 1] = a[i] % b[i];
}

kernel void longs(global const long *a, global const long *b, global long *o) {
    size_t i = get_global_id(0);
    long x = a[i], y = b[i];
    o += 12 * i;
    o[0] = x * y;
    o[1] = mul_hi(x, y);
    o[2] = mul_hi((ulong)x, (ulong)y);
    o[3] = x + y;
    o[4] = x - y;
    o[5] = add_sat(x, y);
    o[6] = x << (y & 63);
    o[7] = x >> (y & 63);
    o[8] = (ulong)x >> (y & 63);
    o[9] = x < y ? x : y;
    o[10] = x / y;
    o[11] = (ulong)x % (ulong)y;
}

kernel void halves(global const half *a, global const half *b, global half *o) {
    size_t i = get_global_id(0);
    half x = a[i], y = b[i];
    o += 8 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = fma(x, y, x);
    o[3] = fmin(x, y);
    o[4] = fmax(x, y);
    o[5] = floor(x);
    o[6] = (half)((float)x * 3.0f + (float)y);
    o[7] = (half)(int)x;
}

#ifdef BYTES
// The compiler's own names.
int __builtin_IB_dp4a_ss(int c, int a, int b);
int __builtin_IB_dp4a_uu(int c, int a, int b);
int __builtin_IB_dp4a_su(int c, int a, int b);
int __builtin_IB_dp4a_us(int c, int a, int b);
kernel void bytes(global const int *a, global const int *b, global int *o) {
    size_t i = get_global_id(0);
    o += 4 * i;
    o[0] = __builtin_IB_dp4a_ss(b[i], a[i], b[i]);
    o[1] = __builtin_IB_dp4a_uu(0, a[i], b[i]);
    o[2] = __builtin_IB_dp4a_su(7, a[i], b[i]);
    o[3] = __builtin_IB_dp4a_us(a[i], a[i], b[i]);
}
#endif

#ifdef SYSTOLIC
#if SYSTOLIC == 8
int4 __attribute__((overloadable)) intel_sub_group_i8_i8_matrix_mad_k32(int4 rows, int8 columns, int4 acc);
#else
int4 __attribute__((overloadable)) intel_sub_group_i8_i8_matrix_mad_k32(short4 rows, int8 columns, int4 acc);
#endif
kernel __attribute__((intel_reqd_sub_group_size(SYSTOLIC)))
void matrices(global const int *a, global const int *b, global int *o) {
    size_t lane = get_sub_group_local_id();
    int4 acc = (int4)(1, 2, 3, 4);
#if SYSTOLIC == 8
    int4 rows = (int4)(a[lane], a[lane + 8], a[lane + 16], a[lane + 24]);
#else
    short4 rows = as_short4((uint2)(a[lane], a[lane + 16]));
#endif
    int8 columns;
    int *c = (int *)&columns;
    for (int k = 0; k < 8; k++)
        c[k] = b[k * SYSTOLIC + lane];
    int4 r = intel_sub_group_i8_i8_matrix_mad_k32(rows, columns, acc);
    vstore4(r, lane, o);
}
#endif
