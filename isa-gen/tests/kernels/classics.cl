// What everyone writes.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void saxpy(global const float *x, global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = fma(a, x[i], y[i]);
}

SG kernel void vadd(global const int *a, global const int *b, global int *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

SG kernel void sgemm(global float *c, global const float *a, global const float *b, int n) {
    local float ta[16][16], tb[16][16];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        ta[ly][lx] = a[y * n + k + lx];
        tb[ly][lx] = b[(k + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++) sum = mad(ta[ly][j], tb[j][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

SG kernel void nbody(global float4 *pos, global float4 *vel, int n, float dt) {
    int i = get_global_id(0);
    float4 p = pos[i];
    float3 acc = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 q = pos[j];
        float3 d = q.xyz - p.xyz;
        float r = native_rsqrt(dot(d, d) + 1e-4f);
        acc += d * (q.w * r * r * r);
    }
    vel[i].xyz += acc * dt;
    pos[i].xyz = p.xyz + vel[i].xyz * dt;
}

SG kernel void fft_radix2(global float2 *data, int stage) {
    uint i = get_global_id(0), half_size = 1u << stage;
    uint k = i & (half_size - 1), base = ((i >> stage) << (stage + 1)) + k;
    float angle = -3.14159265f * (float)k / (float)half_size;
    float2 w = (float2)(native_cos(angle), native_sin(angle));
    float2 a = data[base], b = data[base + half_size];
    float2 t = (float2)(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    data[base] = a + t;
    data[base + half_size] = a - t;
}

constant uint rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

SG kernel void sha256_block(global uint *state, global const uint *block) {
    size_t i = get_global_id(0);
    uint w[16], s[8];
    for (int k = 0; k < 16; k++) w[k] = block[i * 16 + k];
    for (int k = 0; k < 8; k++) s[k] = state[i * 8 + k];
#pragma unroll 16
    for (int k = 0; k < 64; k++) {
        if (k >= 16) {
            uint a = w[(k + 1) & 15], b = w[(k + 14) & 15];
            uint sa = rotate(a, 25u) ^ rotate(a, 14u) ^ (a >> 3), sb = rotate(b, 15u) ^ rotate(b, 13u) ^ (b >> 10);
            w[k & 15] += sa + w[(k + 9) & 15] + sb;
        }
        uint e = rotate(s[4], 26u) ^ rotate(s[4], 21u) ^ rotate(s[4], 7u);
        uint t1 = s[7] + e + bitselect(s[6], s[5], s[4]) + rounds[k] + w[k & 15];
        uint a = rotate(s[0], 30u) ^ rotate(s[0], 19u) ^ rotate(s[0], 10u);
        uint t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t1;
        s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++) state[i * 8 + k] += s[k];
}

float normal_cdf(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    p *= 0.3989422804f * exp(-0.5f * x * x);
    return x < 0.0f ? p : 1.0f - p;
}

SG kernel void black_scholes(global float *call, global float *put, global const float *price, global const float *strike,
                             global const float *years, float rate, float vol) {
    size_t i = get_global_id(0);
    float root = sqrt(years[i]);
    float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * vol * vol) * years[i]) / (vol * root);
    float d2 = d1 - vol * root;
    float discounted = strike[i] * exp(-rate * years[i]);
    call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1);
}

SG kernel void spmv(global float *y, global const float *values, global const int *cols, global const int *rows, global const float *x) {
    int i = get_global_id(0);
    float s = 0.0f;
    for (int k = rows[i]; k < rows[i + 1]; k++) s += values[k] * x[cols[k]];
    y[i] = s;
}

SG kernel void kmeans_assign(global int *label, global const float *points, global const float *centres, int k, int dims) {
    int i = get_global_id(0), best = -1;
    float least = INFINITY;
    for (int c = 0; c < k; c++) {
        float d = 0.0f;
        for (int j = 0; j < dims; j++) {
            float t = points[i * dims + j] - centres[c * dims + j];
            d += t * t;
        }
        if (d < least) {
            least = d;
            best = c;
        }
    }
    label[i] = best;
}

SG kernel void conv2d(global float *out, global const float *in, constant float *k, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
#pragma unroll
    for (int j = -2; j <= 2; j++)
#pragma unroll
        for (int i = -2; i <= 2; i++) {
            int cx = clamp(x + i, 0, w - 1), cy = clamp(y + j, 0, h - 1);
            s += in[cy * w + cx] * k[(j + 2) * 5 + i + 2];
        }
    out[y * w + x] = s;
}

SG kernel void mandelbrot(global uchar *out, int w, int h, int most) {
    int px = get_global_id(0), py = get_global_id(1);
    float cx = 3.0f * px / w - 2.0f, cy = 2.0f * py / h - 1.0f, x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < most && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        n++;
    }
    out[py * w + px] = (uchar)(n * 255 / most);
}

SG kernel void xorshift(global uint *out, uint seed, int n) {
    ulong s = seed + get_global_id(0) * 0x9e3779b97f4a7c15UL;
    uint acc = 0;
    for (int k = 0; k < n; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        acc += (uint)(s >> 32);
    }
    out[get_global_id(0)] = acc;
}

SG kernel void levenshtein_row(global uchar *out, global const char *a, global const char *b, int n) {
    uchar row[32];
    for (int k = 0; k < 32; k++) row[k] = k;
    for (int i = 1; i < n; i++) {
        uchar prev = row[0];
        row[0] = i;
        for (int j = 1; j < 32; j++) {
            uchar t = row[j];
            row[j] = min(min((uchar)(row[j] + 1), (uchar)(row[j - 1] + 1)), (uchar)(prev + (a[i] != b[j])));
            prev = t;
        }
    }
    out[get_global_id(0)] = row[31];
}

SG kernel void game_of_life(global uchar *next, global const uchar *now, int w) {
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    int n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) n += now[(y + j) * w + x + i];
    uchar alive = now[y * w + x];
    next[y * w + x] = (n == 3 || (n == 4 && alive)) ? 1 : 0;
}

SG kernel void ray_spheres(global float *out, constant float4 *spheres, int n, int w, int h) {
    int px = get_global_id(0), py = get_global_id(1);
    float3 dir = normalize((float3)((float)px / w - 0.5f, (float)py / h - 0.5f, 1.0f));
    float nearest = 1e30f;
    for (int k = 0; k < n; k++) {
        float3 c = spheres[k].xyz;
        float b = dot(c, dir), d = b * b - dot(c, c) + spheres[k].w * spheres[k].w;
        if (d > 0.0f) nearest = fmin(nearest, b - sqrt(d));
    }
    out[py * w + px] = nearest < 1e29f ? 1.0f / nearest : 0.0f;
}
