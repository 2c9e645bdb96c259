// The math box, and the library's functions around it.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void native_math(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    float s = native_sin(x) + native_cos(y) * native_exp2(x) - native_log2(y);
    s += native_sqrt(x) + native_rsqrt(y) + native_recip(x + y) + native_powr(x, y);
    s += native_divide(x, y) + native_tan(x) + native_exp10(y) + native_log10(x) + native_log(y) + native_exp(x);
    out[i] = s;
}

SG kernel void exponentials(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    out[i] = exp(x) + log(y) + pow(x, y) + pown(x, 3) + rootn(y, 5) + exp2(x) + log10(y) + expm1(x) + log1p(y);
}

SG kernel void trigonometry(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i], c;
    float s = sincos(x, &c);
    out[i] = s * c + tan(y) + atan2(x, y) + asin(x) + acos(y) + sinpi(x) + cospi(y);
}

SG kernel void hyperbolic(global float *out, global const float *a) {
    size_t i = get_global_id(0);
    float x = a[i];
    out[i] = sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(fabs(x) + 1.0f) + atanh(x);
}

SG kernel void special_functions(global float *out, global const float *a) {
    size_t i = get_global_id(0);
    float x = a[i];
    out[i] = erf(x) + erfc(x) + tgamma(x) + lgamma(x) + cbrt(x);
}

SG kernel void exact_division(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i] + sqrt(a[i]) + rsqrt(b[i]) + hypot(a[i], b[i]);
}

SG kernel void rounding(global float *out, global int *ints, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    float whole;
    float part = modf(x, &whole);
    int e;
    float m = frexp(y, &e);
    out[i] = floor(x) + ceil(y) + trunc(x) + rint(y) + round(x) + part * whole + ldexp(m, e + 1) + fract(x, &whole);
    ints[i] = convert_int_rte(x) + convert_int_rtp(y) + convert_int_rtn(x) + convert_int_sat(y) + ilogb(x);
}

SG kernel void remainders(global float *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    int q;
    out[i] = fmod(a[i], b[i]) + remainder(b[i], a[i]) + remquo(a[i], b[i], &q) + q + nextafter(a[i], b[i]);
}

SG kernel void float_classes(global int *out, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    int r = isnan(x) | isinf(y) << 1 | isnormal(x) << 2 | signbit(y) << 3 | isfinite(x) << 4 | isunordered(x, y) << 5;
    r |= isless(x, y) << 6 | isgreaterequal(x, y) << 7 | islessgreater(x, y) << 8;
    out[i] = r + (int)fmax(x, y) + (int)fmin(x, y) + (int)fdim(x, y) + (int)copysign(x, y) + (int)clamp(x, 0.0f, 1.0f);
}

SG kernel void blends(global float4 *out, global const float4 *a, global const float4 *b, float t) {
    size_t i = get_global_id(0);
    out[i] = mix(a[i], b[i], t) + smoothstep(a[i], b[i], t) + step(a[i], b[i]) + normalize(a[i]) * dot(a[i], b[i])
        + cross(a[i], b[i]) + length(a[i]) + distance(a[i], b[i]) + fma(a[i], b[i], (float4)(t)) + mad(a[i], b[i], t);
}
