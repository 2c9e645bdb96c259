// Functions of the library in double precision.
// needs: fp64
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define N get_global_size(0)

SG kernel void double_functions(global double *out, global const double *a, global const double *b) {
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    out[i] = sin(x);
    out[N + i] = cos(x);
    out[2 * N + i] = tan(x);
    out[3 * N + i] = pow(y, x);
    out[4 * N + i] = exp2(x);
    out[5 * N + i] = log2(y);
    out[6 * N + i] = log10(y);
    out[7 * N + i] = cbrt(y);
    out[8 * N + i] = rsqrt(y);
    out[9 * N + i] = hypot(x, y);
    out[10 * N + i] = atan2(x, y);
    out[11 * N + i] = asin(x * 0.3);
    out[12 * N + i] = tanh(x);
    out[13 * N + i] = erf(x);
    out[14 * N + i] = expm1(x);
    out[15 * N + i] = log1p(y);
}

SG kernel void double_parts(global double *out, global long *back, global const double *a, global const double *b) {
    size_t i = get_global_id(0);
    double x = a[i], y = b[i], whole;
    int e;
    out[i] = fmod(x, y);
    out[N + i] = remainder(x, y);
    out[2 * N + i] = frexp(x, &e);
    out[3 * N + i] = modf(x, &whole) + whole * 0.5;
    out[4 * N + i] = ldexp(x, 3) + nextafter(x, y);
    out[5 * N + i] = fma(x, y, 1.0) + fmin(x, y) - fmax(x, y) + copysign(x, y);
    out[6 * N + i] = round(x) + rint(y) * 3.0 + trunc(x * y);
    back[i] = e;
    back[N + i] = convert_long_sat(x * 1e15);
    back[2 * N + i] = convert_ulong_sat_rte(y * 1e16);
    back[3 * N + i] = convert_int_sat_rtp(x * 1e3) + (long)convert_short_sat_rtn(y * 1e4);
    back[4 * N + i] = as_int(convert_float_rtp(x)) + (long)as_int(convert_float_rtz(y));
    back[5 * N + i] = isgreater(x, y) + 2 * isfinite(x) + 4 * signbit(x) + 8 * ilogb(y);
}
